"""Deals from a key: the same for ever, each from a stream of its own, all orders alike."""

from __future__ import annotations

import hashlib
import hmac
from collections import Counter
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.games.cards import text
from referee.games.registry import make_rules
from referee.games.shuffle import Stream, deck, derive, seed64

KEY = bytes(range(32))
KNAVE_DECK = (
    "AH QH 9D AS AD 3S 6S 5D JH 8D 6C 7C 7S 4S 5S 9C 6H JS 4C 3D 4D 3C 5C KH TH 7H 8C QC TC "
    "JD 2C 6D 2H 8S 2D 9S JC AC 3H KD TD KS 9H QS QD TS 8H 4H 2S 7D 5H KC"
)
NINETY_NINE_DECK = (
    "7S AD 7H KH 7C JD 5S KC 7D 5D 8H QD 9H AC AH KS 5C 9C 9D QH KD TH JC TC QC JS 5H 9S 8C "
    "TD QS TS 8D JH AS 8S"
)
DERIVED = "e2c306a6d364c019a1d986a4b29d8dcd64f158fa0d5e388322443cd2ee6cad53"
parts = st.lists(
    st.one_of(st.text("ab1", max_size=2), st.binary(max_size=2), st.integers(-2, 2)), max_size=3
)


def chi_square(counts: Counter[object], cells: int) -> float:
    expected = sum(counts.values()) / cells
    assert len(counts) <= cells
    return sum((counts[cell] - expected) ** 2 / expected for cell in counts) + expected * (
        cells - len(counts)
    )


def test_what_a_key_gives_never_changes() -> None:
    """Published keys must deal the same cards for ever: never mend this by a new expectation."""
    assert text(deck(KEY, 0, make_rules("knave").pack)) == KNAVE_DECK
    assert text(deck(KEY, 1, make_rules("ninety-nine").pack)) == NINETY_NINE_DECK
    assert derive(KEY, "epoch", 0).hex() == DERIVED
    assert seed64(KEY, "epoch", 0) == int(DERIVED[:16], 16)


def test_a_stream_is_hmac_in_counter_mode() -> None:
    stream = Stream(KEY, b"label")
    drawn = bytes(stream.below(256) for _ in range(70))
    blocks = (
        hmac.new(KEY, b"label" + counter.to_bytes(8, "big"), hashlib.sha256).digest()
        for counter in range(3)
    )
    assert drawn == b"".join(blocks)[:70]


def test_a_shuffle_is_fisher_yates_from_the_end() -> None:
    stream, again = Stream(KEY, b"x"), Stream(KEY, b"x")
    order = list(range(10))
    for last in range(9, 0, -1):
        chosen = again.below(last + 1)
        order[last], order[chosen] = order[chosen], order[last]
    assert stream.shuffled(range(10)) == tuple(order)


def test_values_past_the_last_multiple_are_rejected() -> None:
    stream = Stream(KEY, b"reject")
    raw = Stream(KEY, b"reject")
    accepted = [byte % 171 for byte in (raw.below(256) for _ in range(500)) if byte < 171]
    assert [stream.below(171) for _ in accepted] == accepted


@pytest.mark.parametrize("n", [2, 3, 52, 171, 1000])
def test_numbers_below_are_equally_likely(n: int) -> None:
    """With n - 1 degrees of freedom, 5 standard deviations above the mean."""
    stream = Stream(KEY, b"uniform")
    drawn: Counter[object] = Counter(stream.below(n) for _ in range(20 * n))
    assert chi_square(drawn, n) < (n - 1) + 5 * (2 * (n - 1)) ** 0.5


def test_orders_are_equally_likely() -> None:
    orders: Counter[object] = Counter(deck(KEY, number, (0, 1, 2, 3)) for number in range(2400))
    assert set(orders) == set(permutations(range(4)))
    assert chi_square(orders, 24) < 23 + 5 * 46**0.5


@given(n=st.integers(1, 2**70), label=st.binary(max_size=8))
def test_numbers_are_below(n: int, label: bytes) -> None:
    stream = Stream(KEY, label)
    assert all(0 <= stream.below(n) < n for _ in range(5))


@pytest.mark.parametrize("n", [0, -3])
def test_there_is_no_number_below_one_that_counts_from_nought(n: int) -> None:
    with pytest.raises(ValueError, match="there is no number"):
        Stream(KEY, b"").below(n)


def test_decks_differ_by_number_and_by_key() -> None:
    pack = make_rules("ninety-nine").pack
    decks = {deck(key, number, pack) for key in (KEY, b"other") for number in range(100)}
    assert len(decks) == 200
    assert all(sorted(cards) == list(pack) for cards in decks)


@given(parts, parts)
def test_no_two_lists_of_parts_give_the_same_key(
    one: list[str | int | bytes], other: list[str | int | bytes]
) -> None:
    same = [*map(type, one), *one] == [*map(type, other), *other]
    assert (derive(KEY, *one) == derive(KEY, *other)) == same


def test_parts_are_told_apart_by_their_bounds_and_types() -> None:
    lists: list[tuple[str | int | bytes, ...]] = [
        ("ab", "c"),
        ("a", "bc"),
        ("abc",),
        (b"abc",),
        ("1",),
        (1,),
        (-1,),
        (b"1",),
        (),
        ("",),
    ]
    assert len({derive(KEY, *parts) for parts in lists}) == len(lists)
    assert all(len(derive(KEY, *parts)) == 32 for parts in lists)
    assert len({seed64(KEY, *parts) for parts in lists}) == len(lists)
    assert all(0 <= seed64(KEY, *parts) < 2**64 for parts in lists)

"""Cards as numbers, text and masks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.games.cards import (
    CARDS,
    RANKS,
    SUITS,
    card_text,
    cards,
    cards_in,
    mask,
    pack_of,
    pack_set,
    parse_card,
    rank_of,
    suit_of,
    text,
)


def test_numbers_are_thirteen_times_suit_plus_rank() -> None:
    assert cards("2C AC 2D TH JS AS") == (0, 12, 13, 34, 48, 51)
    assert [13 * SUITS.index(suit) + RANKS.index(rank) for rank, suit in ("7H", "QS")] == list(
        cards("7H QS")
    )


def test_every_card_survives_text() -> None:
    assert [parse_card(card_text(card)) for card in range(CARDS)] == list(range(CARDS))
    assert text(cards("7H QS 2C")) == "7H QS 2C"
    assert text(()) == ""
    assert cards("") == ()


@pytest.mark.parametrize("name", ["", "H7", "10H", "7h", "1C", "7H ", "joker"])
def test_text_that_is_no_card_says_how_to_write_one(name: str) -> None:
    with pytest.raises(ValueError, match="is no card: write one of 23456789TJQKA"):
        parse_card(name)


@pytest.mark.parametrize("card", [-1, 52])
def test_a_number_that_is_no_card_has_no_text(card: int) -> None:
    with pytest.raises(ValueError, match=f"{card} is no card: cards are 0 to 51"):
        card_text(card)


@given(st.sets(st.integers(0, CARDS - 1)))
def test_masks_hold_sets_of_cards(held: set[int]) -> None:
    assert mask(held).bit_count() == len(held)
    assert cards_in(mask(held)) == tuple(sorted(held))


def test_suits_and_ranks() -> None:
    assert suit_of(parse_card("TH")) == SUITS.index("H")
    assert rank_of(parse_card("TH")) == RANKS.index("T")


def test_a_pack_is_in_order_of_suits_then_ranks() -> None:
    aces_and_kings = (RANKS.index("K"), RANKS.index("A"))
    assert text(pack_of(aces_and_kings)) == "KC AC KD AD KH AH KS AS"
    assert pack_of(tuple(range(13))) == tuple(range(CARDS))
    assert pack_set(aces_and_kings) == set(pack_of(aces_and_kings))

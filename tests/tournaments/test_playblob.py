import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tournaments.playblob import VERSION, KeptDeal, PlayError, decode, encode

often = settings(max_examples=60, deadline=None, derandomize=True)

times = st.one_of(st.integers(0, 300), st.integers(0, 2**63 - 1))


@st.composite
def kept_deals(draw: st.DrawFn) -> KeptDeal:
    decisions = draw(st.integers(0, 60))
    same = st.lists(times, min_size=decisions, max_size=decisions).map(tuple)
    moves = draw(st.binary(max_size=300))
    return KeptDeal(draw(st.integers(0, 3)), moves, draw(same), draw(same))


def knave_match() -> tuple[KeptDeal, ...]:
    charged = tuple(37 * n % 21_000 for n in range(51))
    queued = tuple(7919 * n % 260_000 for n in range(51))
    return tuple(KeptDeal(n % 3, bytes(range(51)), charged, queued) for n in range(10))


@often
@given(st.lists(kept_deals(), max_size=4).map(tuple))
def test_what_is_kept_comes_back(deals: tuple[KeptDeal, ...]) -> None:
    assert decode(encode(deals)) == deals


@often
@given(st.lists(kept_deals(), min_size=1, max_size=2), st.data())
def test_play_cut_short_or_longer_is_refused(deals: list[KeptDeal], data: st.DataObject) -> None:
    blob = encode(deals)
    with pytest.raises(PlayError):
        decode(blob[: data.draw(st.integers(0, len(blob) - 1))])
    with pytest.raises(PlayError, match="goes on after its end"):
        decode(blob + b"\0")


@often
@given(st.binary(max_size=40).map(lambda tail: bytes((VERSION,)) + tail))
@example(bytes((VERSION, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1)))
@example(bytes((VERSION, 1, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F)))
def test_any_bytes_are_deals_or_an_error(blob: bytes) -> None:
    try:
        deals = decode(blob)
    except PlayError:
        return
    assert decode(encode(deals)) == deals


def test_the_bytes_of_version_1() -> None:
    deals = (KeptDeal(2, b"\5\6", (3, 300), (0, 2**21)),)
    assert encode(deals).hex(" ") == "01 01 02 02 05 06 02 03 ac 02 00 80 80 80 01"


def test_another_version_is_refused_by_its_number() -> None:
    with pytest.raises(PlayError, match="play of version 9: this Knavery reads version 1"):
        decode(b"\x09\0")


@pytest.mark.parametrize("wrong", [-1, 2**63])
def test_impossible_times_are_not_kept(wrong: int) -> None:
    with pytest.raises(ValueError, match="cannot be kept"):
        encode([KeptDeal(0, b"", (wrong,), (0,))])


def test_times_come_in_pairs() -> None:
    with pytest.raises(ValueError, match="as many charged times"):
        encode([KeptDeal(0, b"", (1, 2), (0,))])


def test_a_match_is_small_and_quick_to_keep() -> None:
    match = knave_match()
    assert len(encode(match)) < 350 * len(match)
    best = min(_seconds(match) for _ in range(20))
    assert best < 0.002  # measured: 0.0001


def _seconds(match: tuple[KeptDeal, ...]) -> float:
    begin = time.perf_counter()
    encode(match)
    return time.perf_counter() - begin

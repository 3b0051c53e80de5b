"""Following suit and winning a trick."""

from __future__ import annotations

from itertools import permutations

import pytest

from referee.games import tricks
from referee.games.cards import SUITS, cards, cards_in, mask, rank_of, suit_of


def legal(hand: str, led: str | None) -> tuple[int, ...]:
    return cards_in(tricks.legal(mask(cards(hand)), None if led is None else SUITS.index(led)))


def winner(trick: str, trump: str | None) -> int:
    return tricks.winner_index(cards(trick), None if trump is None else SUITS.index(trump))


def test_the_suit_led_is_followed() -> None:
    assert legal("7H QS", led="H") == cards("7H")
    assert legal("2H 7H AH QS 2C", led="H") == cards("2H 7H AH")


def test_without_the_suit_led_any_card_will_do() -> None:
    assert legal("7H QS", led="C") == cards("7H QS")


def test_a_leader_may_lead_anything() -> None:
    assert legal("7H QS", led=None) == cards("7H QS")


@pytest.mark.parametrize(
    ("trick", "trump", "index"),
    [
        ("9H KH 2H", None, 1),
        ("5D AS KC", None, 0),
        ("AH 5S KH", "S", 1),
        ("AH 5S 6S", "S", 2),
        ("8H KD JH", "H", 2),
        ("2S AH AD AC", "S", 0),
        ("2C 3C 4C 5C", "D", 3),
    ],
)
def test_the_highest_trump_or_else_the_highest_of_the_suit_led_wins(
    trick: str, trump: str | None, index: int
) -> None:
    assert winner(trick, trump) == index


def test_who_wins_agrees_with_the_rule_read_aloud() -> None:
    few = cards("9C AC 9D AD 9H AH")
    for trick in permutations(few, 3):
        for trump in (None, 0, 1, 2, 3):
            trumps = [card for card in trick if suit_of(card) == trump]
            followers = [card for card in trick if suit_of(card) == suit_of(trick[0])]
            best = max(trumps or followers, key=rank_of)
            assert trick[tricks.winner_index(trick, trump)] == best

"""Cards and suits as a bot's author writes them. Design, section 3 (numbers) and 9.

A `Card` is an int underneath, `13 * suit + rank`, so that `min(cards)` and `sorted(cards)` go by
suit and then by rank; use `key=lambda card: card.rank` to go by rank.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import NoReturn

from referee.games import cards as numbers


class Suit(enum.IntEnum):
    """A suit; prints as its letter."""

    CLUBS = 0
    DIAMONDS = 1
    HEARTS = 2
    SPADES = 3

    def __str__(self) -> str:
        return numbers.SUITS[self]

    __repr__ = __str__


CLUBS, DIAMONDS, HEARTS, SPADES = Suit
TWO, THREE, FOUR, FIVE, SIX, SEVEN, EIGHT, NINE, TEN, JACK, QUEEN, KING, ACE = range(13)


class Card(int):
    """One of the 52 cards: `Card("AS")` or `Card(51)`.

    Every card exists once, so `is` would do, and making one is a look-up. ValueError for a text
    or a number that names no card.
    """

    suit: Suit
    rank: int
    """0 to 12, `TWO` to `ACE`."""

    def __new__(cls, card: int | str) -> Card:
        number = numbers.parse_card(card) if isinstance(card, str) else card
        if not 0 <= number < numbers.CARDS:
            raise ValueError(f"{number} is no card: cards are 0 to {numbers.CARDS - 1}")
        return CARDS[number]

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"cards do not change: {name} cannot be set")

    def __repr__(self) -> str:
        return numbers.card_text(int(self))

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return format(repr(self), spec)

    def __reduce__(self) -> tuple[type[Card], tuple[int]]:
        return Card, (int(self),)


def _make(number: int) -> Card:
    card = int.__new__(Card, number)
    card.__dict__.update(suit=Suit(numbers.suit_of(number)), rank=numbers.rank_of(number))
    return card


CARDS: tuple[Card, ...] = tuple(map(_make, range(numbers.CARDS)))
"""Every card, at its number."""


def cards(names: str) -> tuple[Card, ...]:
    """The cards that a text such as "7H QS" names, in its order; ValueError for other texts."""
    return tuple(map(Card, names.split()))


def text(hand: Iterable[int]) -> str:
    """Cards as text, in the order given: "7H QS"."""
    return numbers.text(hand)

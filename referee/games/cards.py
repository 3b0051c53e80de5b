"""Cards as small ints, hands as bit masks; parsing and printing.

A card is `13 * suit + rank`: suits clubs 0, diamonds 1, hearts 2, spades 3; rank 0 is the two,
12 the ace. In text it is rank then suit, `T` for ten: `AS`, `TH`, `2D`. A hand is a mask with
bit `card` set for each card it holds.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import chain
from operator import getitem

SUITS = "CDHS"
RANKS = "23456789TJQKA"
SUIT_NAMES = ("clubs", "diamonds", "hearts", "spades")
CLUBS, DIAMONDS, HEARTS, SPADES = range(4)
TWO, THREE, FOUR, FIVE, SIX, SEVEN, EIGHT, NINE, TEN, JACK, QUEEN, KING, ACE = range(13)
CARDS = 52

SUIT_MASKS = tuple(0x1FFF << 13 * suit for suit in range(4))
_TEXTS = tuple(rank + suit for suit in SUITS for rank in RANKS)
_BY_TEXT = {name: card for card, name in enumerate(_TEXTS)}
_BITS = tuple(1 << card for card in range(CARDS))


def suit_of(card: int) -> int:
    """The suit of a card, 0 to 3."""
    return card // 13


def rank_of(card: int) -> int:
    """The rank of a card, 0 (the two) to 12 (the ace)."""
    return card % 13


def card_text(card: int) -> str:
    """A card's two letters; ValueError for a number that is no card."""
    if not 0 <= card < CARDS:
        raise ValueError(f"{card} is no card: cards are 0 to {CARDS - 1}")
    return _TEXTS[card]


def parse_card(name: str) -> int:
    """The card that two letters name; ValueError for any other text."""
    card = _BY_TEXT.get(name)
    if card is None:
        raise ValueError(
            f"{name!r} is no card: write one of {RANKS} and then one of {SUITS}, as in TH"
        )
    return card


def cards(names: str) -> tuple[int, ...]:
    """The cards that a text such as "7H QS" names, in its order."""
    return tuple(map(parse_card, names.split()))


def text(hand: Iterable[int]) -> str:
    """Cards as text, in the order given: "7H QS"."""
    return " ".join(map(card_text, hand))


def mask(hand: Iterable[int]) -> int:
    """The mask of distinct cards."""
    return sum(map(_BITS.__getitem__, hand))


def _subsets(first: int) -> list[tuple[int, ...]]:
    """All subsets of eight cards from the first on, each at the index that is its mask."""
    table: list[tuple[int, ...]] = [()]
    for card in range(first, first + 8):
        table += [(*subset, card) for subset in table]
    return table


_OF_BYTE = [_subsets(first) for first in range(0, CARDS, 8)]


def cards_in(hand: int) -> tuple[int, ...]:
    """The cards of a mask, ascending."""
    return tuple(chain.from_iterable(map(getitem, _OF_BYTE, hand.to_bytes(7, "little"))))


@lru_cache
def pack_of(ranks: tuple[int, ...]) -> tuple[int, ...]:
    """Every card of these ranks: clubs in the ranks' order, then diamonds, hearts, spades."""
    return tuple(13 * suit + rank for suit in range(4) for rank in ranks)


@lru_cache
def pack_set(ranks: tuple[int, ...]) -> frozenset[int]:
    """The same as a set."""
    return frozenset(pack_of(ranks))

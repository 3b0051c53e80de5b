"""Following suit and winning a trick: rules that every game here shares.

Rules 6 and 7 of docs/rules.md, section 1: follow the suit led if you can, otherwise play any card;
the highest trump takes the trick, or else the highest card of the suit led.
"""

from __future__ import annotations

from collections.abc import Sequence

from referee.games.cards import CARDS, SUIT_MASKS, rank_of, suit_of

NO_TRUMP = 4
"""Where a table indexed by trump keeps "no suit is trump"."""


def legal(hand: int, led: int | None) -> int:
    """The cards of a hand (a mask) that may be played when `led` is the suit led, if any."""
    if led is None:
        return hand
    return hand & SUIT_MASKS[led] or hand


def _powers(trump: int, led: int) -> tuple[int, ...]:
    """How strong each card is in a trick: 0 when it cannot win, otherwise higher wins."""
    base = {led: 1, trump: 14}
    return tuple(
        base[suit_of(card)] + rank_of(card) if suit_of(card) in base else 0 for card in range(CARDS)
    )


POWERS = tuple(tuple(_powers(trump, led) for led in range(4)) for trump in range(NO_TRUMP + 1))
"""`POWERS[trump][led][card]`: a card's strength, with `NO_TRUMP` for none; 0 cannot win."""


def winner_index(trick: Sequence[int], trump: int | None) -> int:
    """Which card of a trick takes it, as its index; the card at 0 was led."""
    powers = POWERS[NO_TRUMP if trump is None else trump][suit_of(trick[0])]
    strengths = [powers[card] for card in trick]
    return strengths.index(max(strengths))

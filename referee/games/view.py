"""What one seat may know when it decides, and nothing else (docs/rules.md, section 5)."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from referee.games.rules import Rules


class Phase(IntEnum):
    """What a deal is waiting for."""

    BID = 1
    PLAY = 2
    DONE = 3


class View(NamedTuple):
    """All that a seat may know of a deal. Card lists are ascending unless said otherwise."""

    rules: Rules
    phase: Phase
    seat: int
    """The seat whose view this is."""
    dealer: int
    hand: tuple[int, ...]
    """The seat's cards now; a bid's cards have left it."""
    legal: tuple[int, ...]
    """The cards it may choose from now: the hand for a bid, none when it need not act."""
    played: tuple[int, ...]
    """Every card played in this deal, in order."""
    leaders: tuple[int, ...]
    """The seat that leads each trick, the one under way included."""
    trick: tuple[int, ...]
    """The cards of the trick under way, in order."""
    tricks_won: tuple[int, ...]
    """Tricks won so far, by seat."""
    trump: int | None
    """The trump suit; None when there is none or the seat may not know it."""
    trump_known: bool
    """Whether the seat knows what is trump, "none" included."""
    last_dealt: int | None
    """The card that makes trump: for the dealer of Ninety-Nine only."""
    bid: tuple[int, ...] | None
    """The seat's own bid, once made."""
    bids: tuple[tuple[int, ...] | None, ...]
    """By seat, the bids of the others that are turned up; None where there is none to see."""

"""A finished deal as a list of moments: what stood on the table after each decision.

Pure, and for showing to people: it knows every card. The deal is played again from its record
(`referee.games.record`), so what a frame says follows from the rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from referee.games.cards import cards_in
from referee.games.deal import Deal
from referee.games.record import DealRecord, steps
from referee.games.rules import Rules
from referee.games.view import Phase
from referee.match import Fault, Note

Cards = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Decision:
    """A bid or a card: who chose what, out of what (ascending), and what it took.

    `trick` is None for a bid. `ms` is the time charged, in milliseconds. `faults` holds more than
    one only where a seat was put out of the match in the same trick."""

    seat: int
    trick: int | None
    cards: Cards
    legal: Cards
    ms: float
    faults: tuple[Fault, ...]
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True)
class Frame:
    """A deal after `last`, a decision; None before the first. Tuples over seats are by seat."""

    last: Decision | None
    phase: Phase
    trick: int | None
    """The trick that lies on the table, the last one also when it is complete."""
    leader: int | None
    """The seat that led it."""
    table: Cards
    """Its cards so far, from the leader's on."""
    winner: int | None
    """Who took it, once it is complete."""
    hands: tuple[Cards, ...]
    """Cards held, ascending."""
    bids: tuple[Cards | None, ...]
    """Bids made so far, ascending."""
    won: tuple[int, ...]
    """Tricks won so far."""
    points: tuple[int, ...] | None
    """Points won so far in this deal; None while its end alone decides."""
    turn: int | None
    """The seat that decides next."""
    legal: Cards
    """What it may choose from, ascending: its hand for a bid."""


def frames(
    rules: Rules,
    record: DealRecord,
    charged_us: Sequence[int],
    faults: Iterable[Fault] = (),
    notes: Iterable[Note] = (),
    name: str = "deal",
) -> tuple[Frame, ...]:
    """Every moment of a deal, the first before anybody has decided.

    `charged_us` has a time for each decision, in microseconds; faults and notes are those of this
    deal. RecordError, naming the deal, unless the record is one."""
    faults, notes = tuple(faults), tuple(notes)
    found: list[Frame] = []
    last: Decision | None = None
    deal: Deal
    for deal, seat, chosen in steps(rules, record, name):
        found.append(_frame(deal, last, seat))
        trick = None if deal.phase is Phase.BID else len(deal.leaders) - 1
        last = Decision(
            seat=seat,
            trick=trick,
            cards=chosen,
            legal=tuple(deal.choices(seat)),
            ms=charged_us[len(found) - 1] / 1000,
            faults=tuple(each for each in faults if (each.seat, each.trick) == (seat, trick)),
            notes=tuple(each for each in notes if (each.seat, each.trick) == (seat, trick)),
        )
    return (*found, _frame(deal, last, None))


def _frame(deal: Deal, last: Decision | None, turn: int | None) -> Frame:
    n, count = deal.rules.players, len(deal.played)
    trick = (count - 1) // n if count else None
    table = tuple(deal.played[n * trick :]) if trick is not None else ()
    return Frame(
        last=last,
        phase=deal.phase,
        trick=trick,
        leader=None if trick is None else deal.leaders[trick],
        table=table,
        winner=deal.winners[trick] if trick is not None and len(table) == n else None,
        hands=tuple(map(cards_in, deal.hands)),
        bids=tuple(deal.bids),
        won=tuple(deal.tricks_won),
        points=deal.points_so_far,
        turn=turn,
        legal=() if turn is None else tuple(deal.choices(turn)),
    )

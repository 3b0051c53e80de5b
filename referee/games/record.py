"""A finished deal as plain data, and playing it again from that data."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from referee.games.deal import Deal, IllegalMove
from referee.games.rules import Rules
from referee.games.view import Phase


class RecordError(ValueError):
    """A record that is no deal by its rules; the message says where and why."""


@dataclass(frozen=True, slots=True)
class DealRecord:
    """All that a finished deal consists of; with the rules it gives the deal again."""

    dealer: int
    deck: tuple[int, ...]
    """The pack in the order dealt."""
    moves: bytes
    """A byte a card: each seat's bid, by seat, ascending; then every card played, in order."""


def record(deal: Deal) -> DealRecord:
    """The record of a finished deal; ValueError before it is done."""
    if deal.phase != Phase.DONE:
        raise ValueError("the deal is not done: it cannot be recorded yet")
    bids = (card for bid in deal.bids if bid for card in bid)
    return DealRecord(deal.dealer, deal.deck, bytes((*bids, *deal.played)))


def replay(rules: Rules, record: DealRecord, name: str = "deal") -> Deal:
    """The finished deal that a record tells of; RecordError, naming it, unless it is one.

    `name` is what errors call the deal: "deal 4".
    """
    ((deal, _, _),) = deque(steps(rules, record, name), maxlen=1)
    return deal


def steps(
    rules: Rules, record: DealRecord, name: str = "deal"
) -> Iterator[tuple[Deal, int, tuple[int, ...]]]:
    """A recorded deal decision by decision: the deal as it stands before it, always the same
    object, the seat that decides, and what it chose. Bids come by seat. The deal is finished when
    the steps are over; RecordError as for `replay`.
    """
    try:
        deal = rules.deal(record.dealer, record.deck)
    except ValueError as exc:
        raise RecordError(f"{name}: {exc}") from exc
    bids_end = rules.bid_cards * rules.players
    expected = bids_end + rules.tricks * rules.players
    if len(record.moves) != expected:
        raise RecordError(f"{name}: {len(record.moves)} cards are recorded, not {expected}")
    yield from _bids(deal, record.moves[:bids_end], name)
    for card in record.moves[bids_end:]:
        seat = deal.pending[0]
        yield deal, seat, (card,)
        try:
            deal.act(seat, (card,))
        except IllegalMove as exc:
            trick = len(deal.leaders) - 1
            raise RecordError(f"{name}, trick {trick}, seat {seat}: {exc}") from exc


def _bids(deal: Deal, moves: bytes, name: str) -> Iterator[tuple[Deal, int, tuple[int, ...]]]:
    size = deal.rules.bid_cards
    for seat in range(deal.rules.players if size else 0):
        bid = tuple(moves[size * seat : size * seat + size])
        yield deal, seat, bid
        try:
            deal.act(seat, bid)
        except IllegalMove as exc:
            raise RecordError(f"{name}, bid of seat {seat}: {exc}") from exc
        if deal.bids[seat] != bid:
            raise RecordError(f"{name}, bid of seat {seat}: its cards are not ascending")

"""What a bot is told and need not answer: the values handed to the hooks of `Bot`.

The protocol's messages `MatchStarted`, `DealFinished`, `FaultNotice` and `MatchFinished` as
frozen values. Design, section 3.
"""

from __future__ import annotations

from dataclasses import dataclass

from knavery.card import Card, Suit
from knavery.v1 import referee_pb2 as pb
from knavery.view import Seat, Trick, finished_tricks, last_winner, to_cards, to_suit
from referee.games.rules import Rules
from referee.wire_rules import rules_from


@dataclass(frozen=True, slots=True)
class MatchInfo:
    """The match and the seat that a `Bot` object plays."""

    match: str
    rules: Rules
    seat: Seat
    time_limit: float
    """Seconds a decision may take without touching the bank."""
    bank: float
    """Seconds in the bank when this object sat down."""
    increment: float
    """Seconds that each answered decision gives back to the bank."""
    seed: int
    """What `Bot.rng` is seeded with."""
    fault_limit: int
    """More faults than this in the match forfeit it."""
    faults: int
    """Faults of this seat before this object sat down."""
    resumed: bool
    """Whether the match was under way by then, with a process that crashed."""
    measure: str = "wall"
    """What the times are: "wall", or "cpu" for the processor time of the bot's processes."""


@dataclass(frozen=True, slots=True)
class FinishedDeal:
    """A deal that is over, with all cards shown. Tuples are by seat unless they say otherwise."""

    deal: int
    dealer: Seat
    hands: tuple[tuple[Card, ...], ...]
    """Each hand in the order dealt."""
    undealt: tuple[Card, ...]
    """The cards that nobody had, not by seat."""
    bids: tuple[tuple[Card, ...], ...]
    """Empty in Knave."""
    trump: Suit | None
    tricks: tuple[Trick, ...]
    """All tricks in order, not by seat."""
    tricks_won: tuple[int, ...]
    scores: tuple[int, ...]
    """Points of this deal."""
    totals: tuple[int, ...]
    """Points of the match after it."""


@dataclass(frozen=True, slots=True)
class FaultNotice:
    """This seat failed to decide, and the referee played for it."""

    kind: str
    """ "illegal", "malformed", "exception", "late", "crashed" or "absent"."""
    cause: str
    played: tuple[Card, ...]
    """What the referee played instead: one card, or a bid."""
    faults: int
    """Faults in this match so far, this one included."""
    forfeit: bool
    """Whether the match is forfeit: this seat is not asked again in it."""


@dataclass(frozen=True, slots=True)
class MatchEnd:
    """The final result of a match, by seat."""

    totals: tuple[int, ...]
    places: tuple[int, ...]
    """1 is first; equal totals share the better place."""
    forfeits: tuple[Seat, ...]
    """Seats that forfeited, not by seat."""


def match_info(message: pb.MatchStarted) -> MatchInfo:
    """ValueError for a game that this version does not know."""
    return MatchInfo(
        match=message.match,
        rules=rules_from(message.rules),
        seat=message.seat,
        time_limit=message.limit_ms / 1000,
        bank=message.bank_ms / 1000,
        increment=message.increment_ms / 1000,
        measure="cpu" if message.measure == pb.CLOCK_MEASURE_CPU else "wall",
        seed=message.seed,
        fault_limit=message.fault_limit,
        faults=message.resumed.faults,
        resumed=message.HasField("resumed"),
    )


def finished_deal(message: pb.DealFinished) -> FinishedDeal:
    """The value of a message."""
    played, leaders = to_cards(message.played), tuple(message.leaders)
    players, trump = len(message.hands), to_suit(message.trump)
    winners = (*leaders[1:], last_winner(played, leaders, trump, players))
    return FinishedDeal(
        deal=message.deal,
        dealer=message.dealer,
        hands=tuple(to_cards(hand.cards) for hand in message.hands),
        undealt=to_cards(message.undealt),
        bids=tuple(to_cards(bid.cards) for bid in message.bids),
        trump=trump,
        tricks=finished_tricks(played, leaders, winners, players),
        tricks_won=tuple(message.tricks_won),
        scores=tuple(message.scores),
        totals=tuple(message.totals),
    )


def fault_notice(message: pb.FaultNotice) -> FaultNotice:
    """The value of a message; a kind that is new to this version is named by its number."""
    names = pb.FaultKind.DESCRIPTOR.values_by_number
    known = names.get(message.kind)
    return FaultNotice(
        kind=known.name.removeprefix("FAULT_KIND_").lower() if known else f"kind {message.kind}",
        cause=message.cause,
        played=to_cards(message.played),
        faults=message.faults,
        forfeit=message.forfeit,
    )


def match_end(message: pb.MatchFinished) -> MatchEnd:
    """The value of a message."""
    return MatchEnd(tuple(message.totals), tuple(message.places), tuple(message.forfeits))

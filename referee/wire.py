"""Domain values <-> protobuf: the only place that knows both. Design, section 3.

What is sent about a match is built from `Deal.view(seat)` and from events of `match.py`, which
hold nothing that their seat may not know.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from knavery.v1 import game_pb2 as game
from knavery.v1 import referee_pb2 as pb
from referee import decisions
from referee.decisions import milliseconds
from referee.games.rules import Rules
from referee.games.view import Phase
from referee.match import (
    CPU,
    WALL,
    ClockRules,
    DealOver,
    Event,
    Faulted,
    Match,
    MatchOver,
    Started,
    clip,
)
from referee.player import Batch, Move, Withdraw
from referee.wire_limits import MAX_CARDS
from referee.wire_rules import rules_message

PROTOCOL = 1
TEXT_BYTES = 100
"""How much of a bot's own words about itself is kept."""

_TRUMPS = (game.TRUMP_CLUBS, game.TRUMP_DIAMONDS, game.TRUMP_HEARTS, game.TRUMP_SPADES)
_MEASURES = {WALL: pb.CLOCK_MEASURE_WALL, CPU: pb.CLOCK_MEASURE_CPU}


# From the referee to a bot.


def envelope(batch: Batch) -> bytes:
    """The encoded `FromReferee` that carries a batch."""
    events = [decisions.event(_event(each)) for each in batch.events]
    asks = decisions.decisions(batch.asks, _lasting)
    return decisions.envelope(b"".join(events + asks))


def event_messages(batch: Batch) -> Sequence[pb.Event]:
    """The events of a batch, as the bot reads them."""
    return pb.FromReferee.FromString(envelope(batch)).envelope.events


def _lasting(match: Match, seat: int) -> bytes:
    """What a seat's decisions have in common while it bids, or while it plays out a deal."""
    view = match.deal.view(seat)
    message = game.Decision(
        match=match.job.public_id,
        deal=match.number,
        deals_left=match.rules.max_deals - match.number - 1,
        seat=view.seat,
        dealer=view.dealer,
        trump=_trump(view.trump) if view.trump_known else game.TRUMP_UNKNOWN,
        last_dealt=view.last_dealt,
        bids=[
            game.RevealedBid(seat=other, cards=bid)
            for other, bid in enumerate(view.bids)
            if bid is not None
        ],
        scores=match.totals,
        limit_ms=milliseconds(match.job.clock.limit),
        increment_ms=milliseconds(match.job.clock.increment),
        startup_ms=milliseconds(match.job.clock.startup),
    )
    if view.bid is not None:
        message.bid.cards.extend(view.bid)
    if view.phase is Phase.BID:
        message.bid_request.choose = match.rules.bid_cards
    return _rules_field(match.rules) + message.SerializeToString()


@lru_cache(maxsize=64)
def _rules_field(rules: Rules) -> bytes:
    return game.Decision(rules=rules_message(rules)).SerializeToString()


def _trump(suit: int | None) -> game.Trump:
    return game.TRUMP_NONE if suit is None else _TRUMPS[suit]


def _fill_started(message: pb.Event, event: Started) -> None:
    job = event.match.job
    started = message.match_started
    started.match = job.public_id
    started.rules.CopyFrom(rules_message(job.rules))
    started.seat = event.seat
    started.limit_ms = milliseconds(job.clock.limit)
    started.bank_ms = milliseconds(event.match.banks[event.seat])
    started.increment_ms = milliseconds(job.clock.increment)
    started.seed = job.seeds[event.seat]
    started.measure = _MEASURES[job.clock.measure]
    started.fault_limit = job.faults.allowed
    if event.resumed is not None:
        started.resumed.faults = event.match.fault_counts[event.seat]
        for deal in event.resumed:
            started.resumed.deals.add().CopyFrom(_deal_message(deal))


def _deal_message(event: DealOver) -> pb.DealFinished:
    deal = event.deal
    return pb.DealFinished(
        match=event.match.job.public_id,
        deal=event.number,
        dealer=deal.dealer,
        hands=[game.Cards(cards=hand) for hand in deal.dealt],
        undealt=deal.undealt,
        bids=[game.Cards(cards=bid) for bid in deal.bids if bid is not None],
        trump=_trump(deal.trump),
        played=deal.played,
        leaders=deal.leaders,
        tricks_won=deal.tricks_won,
        scores=deal.scores,
        totals=event.totals,
    )


def _fill_fault(message: pb.Event, event: Faulted) -> None:
    notice = message.fault
    notice.match = event.match.job.public_id
    if event.ask is not None and event.ask.id:
        notice.decision = event.ask.id
    notice.kind = event.fault.kind.value  # type: ignore[assignment]  # the numbers are the same
    notice.cause = event.fault.detail
    notice.played.extend(event.fault.played)
    notice.faults = event.count
    notice.forfeit = event.forfeit


def _fill_withdraw(message: pb.Event, event: Withdraw) -> None:
    message.withdrawn.decision = event.decision


def _fill_over(message: pb.Event, event: MatchOver) -> None:
    finished = message.match_finished
    finished.match = event.match.job.public_id
    finished.totals.extend(event.result.totals)
    finished.places.extend(event.result.places)
    finished.forfeits.extend(event.result.forfeits)


_FILL: Mapping[type[Any], Callable[[pb.Event, Any], None]] = {
    Started: _fill_started,
    Faulted: _fill_fault,
    Withdraw: _fill_withdraw,
    MatchOver: _fill_over,
}


def _event(event: Event | Withdraw) -> bytes:
    if isinstance(event, DealOver):
        return _deal_event(event)
    message = pb.Event()
    _FILL[type(event)](message, event)
    return message.SerializeToString()


@lru_cache(maxsize=1024)
def _deal_event(event: DealOver) -> bytes:
    """Each seat is told the same, so it is encoded once."""
    return pb.Event(deal_finished=_deal_message(event)).SerializeToString()


def welcome(clock: ClockRules, max_tables: int | None, max_batch: int, size: int) -> pb.Welcome:
    """The answer to a good hello; `size` in bytes."""
    return pb.Welcome(
        protocol=PROTOCOL,
        max_tables=max_tables,
        max_batch=max_batch,
        max_message_bytes=size,
        measure=_MEASURES[clock.measure],
        startup_ms=milliseconds(clock.startup),
    )


def goodbye(reason: str) -> pb.FromReferee:
    """The last message of a stream."""
    event = pb.Event(goodbye=pb.Goodbye(reason=reason))
    return pb.FromReferee(envelope=pb.Envelope(events=[event]))


# From a bot to the referee.


def objection(hello: pb.Hello, name: str) -> str | None:
    """Why a hello cannot be accepted, in words with the mend; None if it can. `name`: the game."""
    if hello.protocol != PROTOCOL:
        return (
            f"the bot speaks protocol {hello.protocol}, this referee speaks {PROTOCOL}: "
            "use an SDK of the same version"
        )
    if hello.games and name not in hello.games:
        return f"the bot says that it does not play {name}: add it to the games of its Hello"
    for field in ("max_tables", "max_batch"):
        if hello.HasField(field) and getattr(hello, field) == 0:
            return f"Hello.{field} is 0: leave it out, or make it at least 1"
    return None


def least(own: int | None, hello: pb.Hello, field: str) -> int | None:
    """The smaller of two limits, each of which may be absent."""
    said = getattr(hello, field) if hello.HasField(field) else None
    return min((limit for limit in (own, said) if limit is not None), default=None)


def moves(message: pb.Moves) -> list[Move]:
    """The answers of a message, not yet checked against what is open, nor against the rules."""
    return [
        Move(each.decision, cards, None, each.note)
        if (cards := tuple(each.cards.cards[:MAX_CARDS]))
        else _without_cards(each)
        for each in message.moves
    ]


def _without_cards(message: pb.Move) -> Move:
    if message.HasField("cards"):
        return Move(message.decision, (), None, message.note)
    error = None
    if message.HasField("error"):
        error = clip(message.error, 2048) or "no reason given"
    return Move(message.decision, None, error, message.note)

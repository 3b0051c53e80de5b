"""The information-leak certificate: what a seat was sent tells nothing that it may not know.

For decisions of finished matches the cards hidden from the seat are dealt again in ways that the
rules allow (redeal.py), the match is played once more with them, and everything that the seat is
sent up to that decision is built anew by the referee's own code. It must be the same, byte for byte
(design, section 6; docs/proof.md). What a file does not keep of a message, the number of a decision
and what is left of a bank, is filled in alike.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from random import Random
from typing import Final

from knavery.v1 import referee_pb2 as pb
from referee import wire
from referee.games.record import DealRecord, steps
from referee.games.shuffle import deck
from referee.games.view import Phase
from referee.match import Ask, FaultKind, Match, MatchJob, Output, RefereeBug, Tell
from referee.player import Batch
from referee.retrial import Key, Record, key_of, turn
from tournaments.redeal import Moment, Redealing, World

WORLDS: Final = 8
"""Other worlds that each decision is looked at in, unless said otherwise."""


@dataclass(frozen=True, slots=True)
class Leak:
    """A decision at which a seat could tell one world from another, and by what."""

    match: str
    key: Key
    what: str

    def __str__(self) -> str:
        deal, seat, trick = self.key
        where = "bid" if trick is None else f"trick {trick}"
        return f"match {self.match}, deal {deal}, {where}, seat {seat}: {self.what}"


@dataclass(slots=True)
class Audited:
    """What was looked at. `worlds` counts those that differed from the true one, `hidden` the
    decisions at which anything was hidden; `size` is in bytes."""

    decisions: int = 0
    hidden: int = 0
    worlds: int = 0
    size: int = 0
    leak: Leak | None = None


def keys(record: Record) -> list[Key]:
    """The decisions of a match that a bot was asked, in order: none of a seat that was out."""
    asked: list[Key] = []
    faults: Counter[int] = Counter()
    out = {seat: turn(fault.deal, fault.trick) for seat, fault in record.out.items()}
    for key, then in record.decisions.items():
        now = turn(key[0], key[2])
        if then.fault is not None:
            faults[key[1]] += 1
            if then.fault.kind is FaultKind.ABSENT:
                out.setdefault(key[1], now)
        if now < out.get(key[1], (now[0] + 1, 0)):
            asked.append(key)
        if faults[key[1]] > record.job.faults.allowed:
            out.setdefault(key[1], now)
    return asked


def audit_decisions(
    record: Record, wanted: Sequence[Key], draw: Random, found: Audited, worlds: int = WORLDS
) -> Iterator[Key]:
    """Looks at decisions of a match, given in its order, until one leaks; yields each that it has
    looked at. What comes of it is added to `found`."""
    seats = range(record.job.rules.players)
    has_faults = any(then.fault is not None for then in record.decisions.values())
    for alike in [(seat,) for seat in seats] if has_faults else [seats]:
        going = _Played(record, alike[0])
        for key in (each for each in wanted if each[1] in alike):
            going.reach(key[0] - 1)
            _audit(going, key, draw, found, worlds)
            yield key
            if found.leak is not None:
                return


def _audit(before: _Played, key: Key, draw: Random, found: Audited, worlds: int) -> None:
    """Looks at one decision; `before` is its match when the deal before began."""
    moment = moment_of(before.record, key)
    sent = before.messages(key, moment.true)
    redealing = Redealing(moment)
    found.decisions += 1
    found.size += sum(map(len, sent))
    found.hidden += redealing.hidden > 0
    for _ in range(worlds if redealing.hidden else 0):
        other = redealing.world(draw)
        found.worlds += other != moment.true
        again = before.messages(key, other)
        if again != sent:
            found.leak = Leak(before.record.job.id, key, difference(sent, again))
            return


def moment_of(record: Record, key: Key) -> Moment:
    """The deal as it stood when that decision was asked for."""
    job, (number, seat, trick) = record.job, key
    rules = job.rules
    true = World(deck(job.deals_key, number, rules.pack), _bids(record, number))
    dealer = number % rules.players
    if trick is None:
        return Moment(rules, dealer, seat, true, bidding=True)
    kept = DealRecord(dealer, true.deck, _moves(record, number, true))
    for deal, who, _ in steps(rules, kept, f"deal {number}"):
        if deal.phase is Phase.PLAY and (who, len(deal.leaders) - 1) == (seat, trick):
            played, leaders = tuple(deal.played), tuple(deal.leaders)
            return Moment(rules, dealer, seat, true, played, leaders)
    raise LookupError(key)


def _bids(record: Record, number: int) -> tuple[tuple[int, ...], ...]:
    rules = record.job.rules
    if not rules.bid_cards:
        return ()
    return tuple(record.decisions[number, seat, None].cards for seat in range(rules.players))


def _moves(record: Record, number: int, true: World) -> bytes:
    played = [
        then.cards[0]
        for (deal, _, trick), then in record.decisions.items()
        if deal == number and trick is not None
    ]
    return bytes((*(card for bid in true.bids for card in bid), *played))


class _Redealt(Match):
    """A match one deal of which is dealt otherwise."""

    def __init__(self, job: MatchJob) -> None:
        self._otherwise: dict[int, Sequence[int]] = {}
        super().__init__(job)

    def redeal(self, number: int, cards: Sequence[int]) -> None:
        """A deal that is still to come will be dealt so."""
        assert number > self.number
        self._otherwise[number] = cards

    def deck(self, number: int) -> Sequence[int]:
        return self._otherwise.get(number) or super().deck(number)

    def lasting(self) -> list[object]:
        """What will not change any more, whatever is played."""
        return [self.job, self.rules, *self.finished_deals, *self._plays, *self._faults]


class _Played:
    """A match played again as it was, for what one seat is told: the same for all seats until one
    of them makes a fault, of which it alone is told."""

    def __init__(self, record: Record, seat: int) -> None:
        self.record = record
        self._seat = seat
        self._match = _Redealt(record.job)
        self._bids: dict[int, tuple[tuple[int, ...], ...]] = {}
        self._outputs: deque[Output] = deque()
        self._asked = 0

    def reach(self, number: int) -> None:
        """Plays on to the first decision of a deal; of the first one, until before it is dealt."""
        if number > 0:
            deque(self._until(lambda key: key[0] >= number), maxlen=0)

    def messages(self, last: Key, world: World) -> list[bytes]:
        """Everything that a seat is sent from now on up to a decision of its, with the cards of
        that deal lying so; the match itself stays as it stands."""
        there = deepcopy(self, {id(each): each for each in (self.record, *self._match.lasting())})
        there._match.redeal(last[0], world.deck)
        there._bids[last[0]] = world.bids
        there._seat = last[1]
        sent = [wire.envelope(batch) for batch in there._until(lambda key: key == last)]
        ask = there._outputs[0]
        assert isinstance(ask, Ask)
        return [*sent, wire.envelope(there._asking(ask))]

    def _until(self, stop: Callable[[Key], bool]) -> Iterator[Batch]:
        """What the seat is sent before that decision, each to be encoded before the next is
        taken."""
        if self._match.number < 0:
            self._outputs.extend(self._match.start())
        while self._outputs:
            output = self._outputs[0]
            if isinstance(output, Tell):
                if self._seat in output.seats:
                    yield Batch((output.event,), ())
                self._outputs.popleft()
                continue
            key = key_of(output)
            if stop(key):
                return
            if output.seat == self._seat:
                yield self._asking(output)
            self._outputs.popleft()
            self._outputs.extend(self._as_then(output, key))
        raise RefereeBug(f"{self._match.job.id}: a decision was not asked for")

    def _asking(self, ask: Ask) -> Batch:
        self._asked += 1
        ask.id = self._asked
        return Batch((), (ask,))

    def _as_then(self, ask: Ask, key: Key) -> list[Output]:
        """The decision as it was made then. What the others failed at is nothing that the seat
        knows of: it saw their cards."""
        match, then = self._match, self.record.decisions[key]
        if then.fault is not None and ask.seat == self._seat:
            return match.fault(ask, then.fault.kind, then.fault.detail)
        cards = then.cards
        if key[0] in self._bids and key[2] is None:
            cards = self._bids[key[0]][ask.seat]
        if key[0] in self._bids and (problem := match.deal.objection(ask.seat, cards)):
            raise RefereeBug(f"{match.job.id}: dealt again against the rules: {problem}")
        return match.answer(ask, cards)


def difference(sent: Sequence[bytes], again: Sequence[bytes]) -> str:
    """By what two lists of messages differ first, in words."""
    if len(sent) != len(again):
        return f"it was sent {len(sent)} messages; where hidden cards lie otherwise, {len(again)}"
    number, (one, other) = next(
        (n, pair) for n, pair in enumerate(zip(sent, again, strict=True)) if pair[0] != pair[1]
    )
    name = _first_field(pb.FromReferee.FromString(one), pb.FromReferee.FromString(other))
    what = f"the field {name} of what it was sent" if name else "the bytes that it was sent"
    return f"{what} (message {number}) is another where hidden cards lie otherwise"


def _first_field(one: pb.FromReferee, other: pb.FromReferee) -> str | None:
    """The name of the first field of an event that differs, "decision.trump"."""
    for a, b in zip(one.envelope.events, other.envelope.events, strict=False):
        kind = a.WhichOneof("event") or "event"
        if a == b:
            continue
        if kind != b.WhichOneof("event"):
            return kind
        left, right = getattr(a, kind), getattr(b, kind)
        for field in left.DESCRIPTOR.fields:
            if getattr(left, field.name) != getattr(right, field.name):
                return f"{kind}.{field.name}"
    return None


def sampled(counts: Sequence[int], size: int, draw: Random) -> list[tuple[int, int]]:
    """So many different decisions, at the most, of matches that have so many each: the match's
    place and the decision's, in order; each decision as likely as any other."""
    total = sum(counts)
    chosen = sorted(draw.sample(range(total), min(size, total)))
    found: list[tuple[int, int]] = []
    first, match = 0, 0
    for number in chosen:
        while number >= first + counts[match]:
            first += counts[match]
            match += 1
        found.append((match, number - first))
    return found

"""One bot asked again what it was asked in a match that is over: for its author, hunting a bug.

Only that bot is started. The match is played again as it was (`Then`), whatever the bot answers
now; it hears what its seat heard, one decision a message, with the match's own seed. No clock runs,
so a debugger may hold it as long as it likes. What a process was told that took over from one that
had crashed is told again to a new one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeVar

import trio

from knavery.v1 import game_pb2 as game
from referee import leftovers, wire
from referee.bots import Prepared
from referee.endings import EXIT_GRACE, GOODBYE_GRACE, clear, last_words
from referee.games.view import Phase
from referee.house import House, Line
from referee.match import Ask, Event, Fault, FaultKind, Match, MatchJob, Output
from referee.player import Batch, Move
from referee.process import Process, StartError
from referee.server import MAX_MESSAGE_BYTES, BadMessage, HungUp

T = TypeVar("T")
Key = tuple[int, int, int | None]
"""A decision of a match: deal, seat, trick (None for a bid)."""


@dataclass(frozen=True, slots=True)
class Then:
    """What came of a decision when it was played; `cards` are the referee's where there is a
    fault. Milliseconds."""

    cards: tuple[int, ...]
    ms: float
    fault: Fault | None = None


@dataclass(frozen=True, slots=True)
class Now:
    """What the bot answers now: cards, or `problem` and the words for it, or both where the cards
    are illegal. Milliseconds."""

    cards: tuple[int, ...] | None
    problem: FaultKind | None = None
    words: str = ""
    note: str = ""
    ms: float = 0.0


@dataclass(frozen=True, slots=True)
class Record:
    """A match that is over. `out` are the faults that put a seat out while it was not asked."""

    job: MatchJob
    decisions: Mapping[Key, Then]
    out: Mapping[int, Fault] = field(default_factory=dict)


class Watcher(Protocol):
    """Who is told how it goes."""

    def started(self, pid: int) -> None:
        """A process runs, and says hello next."""

    def asking(self, key: Key, decision: game.Decision) -> None:
        """The bot is asked next; it is sent when this returns."""

    def answered(self, key: Key, then: Then, now: Now) -> None:
        """This came of it, then and now."""


async def retry(
    house: House, prepared: Prepared, record: Record, seat: int, last: Key, watcher: Watcher
) -> str:
    """Asks the bot in this seat each decision of a match, up to `last`; what its last process
    printed."""
    talk = _Talk(house, prepared, record.job, watcher)
    try:
        await _Retrial(record, seat, talk, watcher).run(last)
        await talk.part()
        return talk.printed
    finally:
        await talk.end(0.0)


class _Retrial:
    """The match as it was, with one seat listened to."""

    def __init__(self, record: Record, seat: int, talk: _Talk, watcher: Watcher) -> None:
        self._record = record
        self._seat = seat
        self._talk = talk
        self._watcher = watcher
        self._match = Match(record.job)
        self._events: list[Event] = []
        self._asked = 0

    async def run(self, last: Key) -> None:
        outputs: deque[Output] = deque(self._match.start())
        while outputs:
            output = outputs.popleft()
            if not isinstance(output, Ask):
                if self._seat in output.seats:
                    self._events.append(output.event)
                continue
            key = key_of(output)
            if output.seat == self._seat and not self._is_out(key):
                await self._ask(output, key)
                if key == last:
                    return
            outputs.extend(self._as_then(output, key))

    async def _ask(self, ask: Ask, key: Key) -> None:
        self._asked += 1
        ask.id = self._asked
        (event,) = wire.event_messages(Batch((), (ask,)))
        problem = await self._talk.ready()
        self._watcher.asking(key, event.decision)
        now = problem or await self._talk.ask(Batch(tuple(self._events), (ask,)))
        self._events.clear()
        if now.cards is not None and now.problem is None:
            objection = self._match.deal.objection(ask.seat, now.cards)
            if objection is not None:
                now = Now(now.cards, FaultKind.ILLEGAL, objection, now.note, now.ms)
        then = self._record.decisions[key]
        self._watcher.answered(key, then, now)
        if then.fault is not None and then.fault.kind is FaultKind.CRASHED:
            await self._talk.end(0.0)
        if not self._talk.alive:
            self._events.append(self._match.resume(self._seat))

    def _is_out(self, key: Key) -> bool:
        fault = self._record.out.get(key[1])
        return fault is not None and turn(fault.deal, fault.trick) < turn(key[0], key[2])

    def _as_then(self, ask: Ask, key: Key) -> list[Output]:
        """The decision as it was made then."""
        match, then = self._match, self._record.decisions[key]
        fault = self._record.out[ask.seat] if self._is_out(key) else then.fault
        if fault is None:
            return match.answer(ask, then.cards)
        if fault.kind is FaultKind.ABSENT:
            return match.forfeit(ask.seat, fault.kind, fault.detail)
        return match.fault(ask, fault.kind, fault.detail)


def key_of(ask: Ask) -> Key:
    """The decision that is asked for."""
    deal, rules = ask.match.deal, ask.match.rules
    trick = None if deal.phase is Phase.BID else len(deal.played) // rules.players
    return ask.match.number, ask.seat, trick


def turn(deal: int, trick: int | None) -> tuple[int, int]:
    """Bids come before tricks."""
    return deal, -1 if trick is None else trick


class _Gone(Exception):  # noqa: N818
    """The process is no more, or was never there to talk to; the text says why."""


class _Talk:
    """A process of the bot, and another one when it has ended."""

    def __init__(self, house: House, prepared: Prepared, job: MatchJob, watcher: Watcher) -> None:
        self.printed = ""
        self._house = house
        self._prepared = prepared
        self._job = job
        self._watcher = watcher
        self._scratch: Path | None = None
        self._post: Line | None = None
        self._process: Process | None = None

    @property
    def alive(self) -> bool:
        return self._process is not None

    async def ready(self) -> Now | None:
        """Sees that there is a process, which has said hello; else what is wrong with it."""
        if self._process is None:
            try:
                await self._start()
            except _Gone as gone:
                return await self._crashed(gone)
        return None

    async def ask(self, batch: Batch) -> Now:
        """Sends a decision with the events before it, and waits for its answer."""
        try:
            return await self._while_it_lives(lambda: self._exchange(batch))
        except _Gone as gone:
            return await self._crashed(gone)

    async def _crashed(self, gone: _Gone) -> Now:
        await self.end(0.0)
        return Now(None, FaultKind.CRASHED, str(gone))

    async def part(self) -> None:
        """Says goodbye, and waits for the process to exit."""
        if self._post is not None:
            with suppress(HungUp):
                await self._post.send(wire.goodbye("this was all that was to be asked"))
            await self.end(GOODBYE_GRACE)

    async def end(self, grace: float) -> None:
        """Ends the process, after `grace` seconds to exit by itself."""
        process, self._process = self._process, None
        post, self._post = self._post, None
        if self._scratch is not None:
            await clear(post, process, self._scratch, grace)
        if process is not None:
            self.printed = process.log_tail()

    async def _start(self) -> None:
        self._scratch = leftovers.scratch()
        post = self._post = await self._house.door.listen()
        try:
            self._process = await self._house.start("bot", self._prepared, post, self._scratch)
        except StartError as problem:
            raise _Gone(f"could not be started: {problem}") from problem
        await self._while_it_lives(self._admit)

    async def _admit(self) -> None:
        assert self._post is not None
        assert self._process is not None
        hello = await self._post.hello()
        self._watcher.started(self._process.program)
        if reason := wire.objection(hello, self._house.game):
            await self._post.reject(reason)
            raise _Gone(f"rejected: {reason}")
        await self._post.welcome(wire.welcome(self._job.clock, None, 1, MAX_MESSAGE_BYTES))

    async def _exchange(self, batch: Batch) -> Now:
        assert self._post is not None
        (ask,) = batch.asks
        sent = self._house.now()
        await self._post.send(wire.envelope(batch))
        while True:
            try:
                at, message = await self._post.receive()
            except BadMessage as bad:
                return Now(None, FaultKind.MALFORMED, str(bad))
            for move in wire.moves(message):
                if move.decision == ask.id:
                    return _said(move, (at - sent) * 1000)

    async def _while_it_lives(self, do: Callable[[], Awaitable[T]]) -> T:
        """What comes of this; _Gone when the process or its stream ends before."""
        found: list[T] = []
        gone: _Gone | None = None
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._watch)
                found.append(await do())
                nursery.cancel_scope.cancel()
        except* _Gone as group:
            gone = _first(group)
        except* HungUp as group:
            gone = await self._exit(_Gone(str(group.exceptions[0])))
        if found:
            return found[0]
        assert gone is not None
        raise gone

    async def _watch(self) -> None:
        assert self._process is not None
        exit_ = await self._process.wait()
        raise _Gone(f"its process ended: {exit_.words}{last_words(self._process)}")

    async def _exit(self, otherwise: _Gone) -> _Gone:
        """Why the process ended, which says more than that its stream has."""
        try:
            with trio.move_on_after(EXIT_GRACE):
                await self._watch()
        except _Gone as gone:
            return gone
        return otherwise


def _said(move: Move, ms: float) -> Now:
    if move.cards:
        return Now(move.cards, note=move.note, ms=ms)
    if move.error is not None:
        return Now(None, FaultKind.EXCEPTION, move.error, move.note, ms)
    return Now(None, FaultKind.MALFORMED, "a move without cards", move.note, ms)


def _first(group: BaseExceptionGroup[_Gone]) -> _Gone:
    first = group.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first

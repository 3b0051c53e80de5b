"""One generation: a process for each player, and all its matches played to the end.

The only place where the pure parts (`tables.py`, `player.py`) meet processes and streams. Each
player has one task, which lives through its processes one after the other; in each life one
task reads, one writes and keeps the time, and one waits for the process to end.
"""

import gc
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Protocol

import trio

from knavery.v1.referee_pb2 import FromReferee, Hello, Moves, Welcome
from referee import bots, wire
from referee.match import Ask, ClockRules, FaultRules, RefereeBug
from referee.player import Move, Player
from referee.process import Launcher, Process, StartError, open_launcher
from referee.server import MAX_MESSAGE_BYTES, BadMessage, HungUp, open_door
from referee.tables import Tables

GOODBYE_GRACE = 2.0
"""Seconds that a process has to exit after its goodbye."""
COLLECT_EVERY = 100_000
"""New objects between searches for garbage in cycles. What a decision leaves behind is freed by
reference counts; Python's own 700 spent 7 % of the referee's time on searching."""
EXIT_GRACE = 0.5
"""Seconds in which a process whose stream ended is expected to end too."""


class Line(Protocol):
    """What a process is talked to through: a `Post`, or one that a rehearsal listens in on."""

    address: str
    token: str
    refused: list[str]

    async def hello(self) -> Hello: ...
    async def welcome(self, welcome: Welcome) -> None: ...
    async def reject(self, reason: str) -> None: ...
    async def send(self, message: FromReferee | bytes) -> None: ...
    async def receive(self) -> tuple[float, Moves]: ...
    async def close(self) -> None: ...


class Listener(Protocol):
    """What makes lines: a `Door`, as a rule."""

    async def listen(self) -> Line: ...


@dataclass(frozen=True, slots=True)
class Contestant:
    """A player and what to start for it; `max_tables` is what its bot.toml says."""

    player: Player
    prepared: bots.Prepared
    max_tables: int | None = None


@dataclass(frozen=True, slots=True)
class House:
    """What a whole run shares: where bots connect, who starts them, and the rules for both.

    `starts` lets as many processes start at once as there are cores; `leaving` is where those
    of the last generation say goodbye while the next one begins."""

    door: Listener
    launcher: Launcher
    game: str
    clock: ClockRules
    faults: FaultRules
    starts: trio.CapacityLimiter
    leaving: trio.Nursery


class Watcher(Protocol):
    """Who is told of the processes of a generation as they come and go."""

    def starting(self, player: Player, restart: int) -> None:
        """Called before a process is started; `restart` counts those before it."""

    def arrived(self, player: Player) -> None:
        """A process said hello and was let in."""

    def lost(self, player: Player, cause: str) -> None:
        """A process ended when it should not have."""

    def given_up(self, player: Player, cause: str) -> None:
        """The player's processes failed too often: it is out of this generation."""


@asynccontextmanager
async def open_house(
    game: str, clock: ClockRules, faults: FaultRules, log_dir: Path
) -> AsyncIterator[House]:
    """A house for a block; at its end no process, socket or file of it is left but the logs."""
    thresholds = gc.get_threshold()
    gc.set_threshold(COLLECT_EVERY, *thresholds[1:])
    try:
        async with (
            open_launcher(log_dir) as launcher,
            open_door() as door,
            trio.open_nursery() as leaving,
        ):
            starts = trio.CapacityLimiter(cores())
            yield House(door, launcher, game, clock, faults, starts, leaving)
    finally:
        gc.set_threshold(*thresholds)


async def play_generation(
    house: House,
    contestants: Sequence[Contestant],
    tables: Tables,
    watcher: Watcher,
    companions: Sequence[Player] = (),
) -> None:
    """Plays all matches of the tables, with a fresh process for each contestant.

    Companions have none: what is asked of them is answered here, with the smallest legal cards."""
    generation = _Generation(house, tables, watcher)
    desks = [_Desk(generation, each) for each in contestants]
    everybody = [*desks, *(_Companion(generation, player) for player in companions)]
    generation.desks.update((desk.player, desk) for desk in everybody)
    for desk in desks:
        watcher.starting(desk.player, 0)
    tables.fill(perf_counter())
    async with trio.open_nursery() as nursery:
        for each in everybody:
            nursery.start_soon(each.run)
    if not tables.done:
        raise RefereeBug("a generation ended with matches open")


@dataclass(slots=True)
class _Generation:
    house: House
    tables: Tables
    watcher: Watcher
    desks: "dict[Player, _Place]" = field(default_factory=dict)

    def wake(self) -> None:
        """Lets everybody look who may have something to send, or all when all is over."""
        if self.tables.done:
            self.tables.touched.update(self.desks)
        for player in self.tables.touched & self.desks.keys():
            self.desks[player].news.set()
        self.tables.touched.clear()


class _Died(Exception):  # noqa: N818
    """This life of a player's process is over; the text says why."""


class _Place:
    """Where one player is served."""

    def __init__(self, generation: _Generation, player: Player) -> None:
        self.player = player
        self.news = trio.Event()
        self._generation = generation
        self._tables = generation.tables

    async def run(self) -> None:
        """Until all is played."""
        raise NotImplementedError

    async def _rest(self) -> None:
        """Until there is news, or something becomes late."""
        now = perf_counter()
        deadline = self._tables.deadline(self.player, now)
        if deadline is None:
            await self.news.wait()
            return
        with trio.move_on_after(max(0.0, deadline - now)) as patience:
            await self.news.wait()
        if patience.cancelled_caught:
            await trio.lowlevel.checkpoint()  # an answer that has come already goes first


class _Companion(_Place):
    """A player without a process."""

    async def run(self) -> None:
        self._tables.arrived(self.player, None, None)
        while not self._tables.done:
            self.news = trio.Event()
            batch = self._tables.next_batch(self.player, perf_counter())
            if batch is None:
                await self._rest()
                continue
            if batch.asks:
                self.player.sent(perf_counter())
                self._tables.received(self.player, perf_counter(), map(_smallest, batch.asks))
            self._generation.wake()


def _smallest(ask: Ask) -> Move:
    return Move(ask.id, ask.match.deal.stand_in(ask.seat))


class _Desk(_Place):
    """The place of a player that has a process."""

    def __init__(self, generation: _Generation, contestant: Contestant) -> None:
        super().__init__(generation, contestant.player)
        self._contestant = contestant
        self._house = generation.house
        self._watcher = generation.watcher

    async def run(self) -> None:
        """Process after process, until all is played or too many have died."""
        restarts = self._house.faults.restarts
        cause = ""
        for restart in range(restarts + 1):
            if restart:
                self._watcher.starting(self.player, restart)
            try:
                await self._live()
            except* _Died as died:
                cause = str(_first(died))
            if self._tables.done:
                return
            self._watcher.lost(self.player, cause)
            self._tables.lost(self.player, perf_counter(), cause)
            self._generation.wake()
        self._watcher.given_up(self.player, cause)
        self._tables.give_up(self.player, perf_counter(), f"{cause}; restarted {restarts} times")
        self._generation.wake()

    async def _live(self) -> None:
        """One life, from start to goodbye. Raises a group of `_Died`."""
        scratch = Path(tempfile.mkdtemp(prefix="knavery-scratch-"))
        post: Line | None = None
        process: Process | None = None
        try:
            post = await self._house.door.listen()
            async with self._house.starts:
                process = await self._start(post, scratch)
                await self._welcome(post, process)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._watch, process)
                nursery.start_soon(self._read, post, process)
                await self._write(post)
                nursery.cancel_scope.cancel()
        except BaseException:
            with trio.CancelScope(shield=True):
                await _clear(post, process, scratch, grace=0.0)
            raise
        self._house.leaving.start_soon(_clear, post, process, scratch, GOODBYE_GRACE)

    async def _start(self, post: Line, scratch: Path) -> Process:
        prepared = self._contestant.prepared
        environment = bots.environment(post.address, post.token, scratch, prepared.variables)
        try:
            return await self._house.launcher.start(
                self.player.name, prepared.argv, prepared.cwd, environment
            )
        except StartError as problem:
            raise _died(f"could not be started: {problem}") from problem

    async def _welcome(self, post: Line, process: Process) -> None:
        """Waits for the hello of a process that has just been started, and answers it."""
        limit = self._house.clock.startup
        with trio.move_on_after(limit) as patience:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._watch, process)
                hello = await post.hello()
                nursery.cancel_scope.cancel()
        if patience.cancelled_caught:
            refused = "".join(f"; it was sent away: {reason}" for reason in post.refused[-1:])
            words = f"no hello within {limit:g} s of its start{refused}{_last_words(process)}"
            raise _died(words)
        try:
            await self._admit(post, hello)
        except HungUp as end:
            raise _died(str(end)) from end
        self._generation.wake()

    async def _admit(self, post: Line, hello: Hello) -> None:
        if reason := wire.objection(hello, self._house.game):
            await post.reject(reason)
            raise _died(f"rejected: {reason}")
        max_tables = _least(self._contestant.max_tables, hello, "max_tables")
        max_batch = _least(None, hello, "max_batch")
        self._watcher.arrived(self.player)
        self._tables.arrived(self.player, max_tables, max_batch)
        await post.welcome(
            wire.welcome(self._house.clock, max_tables, self.player.max_batch, MAX_MESSAGE_BYTES)
        )

    async def _watch(self, process: Process) -> None:
        exit_ = await process.wait()
        raise _Died(f"its process ended: {exit_.words}{_last_words(process)}")

    async def _read(self, post: Line, process: Process) -> None:
        while True:
            try:
                stamp, moves = await post.receive()
            except BadMessage:
                self.player.babble()
            except HungUp as end:
                with trio.move_on_after(EXIT_GRACE):  # its exit, if it comes, says more
                    await self._watch(process)
                raise _Died(str(end)) from end
            else:
                self._tables.received(self.player, stamp, wire.moves(moves))
                self._generation.wake()
            self._check()

    async def _write(self, post: Line) -> None:
        """Sends what there is to send and keeps the time, until all matches are over."""
        try:
            while not self._tables.done:
                self.news = trio.Event()
                self._tables.tick(self.player, perf_counter())
                self._check()
                batch = self._tables.next_batch(self.player, perf_counter())
                self._generation.wake()
                if batch is None:
                    await self._rest()
                    continue
                message = wire.envelope(batch)
                if batch.asks:
                    self.player.sent(perf_counter())
                await self._send(post, message)
            await self._part(post)
        except HungUp:
            await trio.sleep_forever()  # the reader, or the process's end, says why

    async def _send(self, post: Line, message: FromReferee | bytes) -> None:
        """Sends, unless the bot has stopped reading: what it does not take blocks this."""
        clock = self._house.clock
        with trio.move_on_after(clock.limit + clock.bank + clock.hang_limit) as patience:
            await post.send(message)
        if patience.cancelled_caught:
            raise _Died("does not read what it is sent")

    async def _part(self, post: Line) -> None:
        last = self.player.next_events(float("inf"))
        if last is not None:
            await self._send(post, wire.envelope(last))
        await self._send(post, wire.goodbye("all matches are played"))

    def _check(self) -> None:
        if self.player.condemned:
            raise _Died(self.player.condemned)


def _died(cause: str) -> BaseExceptionGroup[_Died]:
    return BaseExceptionGroup("the process is gone", [_Died(cause)])


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first exception of a group that may hold groups."""
    first = group.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first


def _least(own: int | None, hello: Hello, field: str) -> int | None:
    """The smaller of two limits, each of which may be absent."""
    said = getattr(hello, field) if hello.HasField(field) else None
    return min((limit for limit in (own, said) if limit is not None), default=None)


def _last_words(process: Process) -> str:
    """The last line that the bot printed, to go behind a cause."""
    lines = [line for line in process.log_tail().splitlines() if line.strip()]
    return f"; its last words: {lines[-1].strip()[:300]}" if lines else ""


async def _clear(post: Line | None, process: Process | None, scratch: Path, grace: float) -> None:
    """Ends a process and all that belongs to it; `grace` in seconds, to exit by itself."""
    with trio.CancelScope(shield=True):
        if post is not None:
            await post.close()
        if process is not None:
            with trio.move_on_after(grace):
                await process.wait()
            await process.stop()
        shutil.rmtree(scratch, ignore_errors=True)


def cores() -> int:
    """Processor cores that this process may use."""
    return len(os.sched_getaffinity(0))

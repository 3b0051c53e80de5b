"""One generation: a process for each player, and all its matches played to the end.

The only place where the pure parts (`tables.py`, `player.py`) meet processes and streams. Each
player has one task, which lives through its processes one after the other; in each life one
task reads, one writes and keeps the time, and one waits for the process to end.

Generations come in turn. While one drains, the processes of the next are started, up to their
hello; its matches begin when the one before is over (design, section 4). A player that has nothing
left to play is let go at once, so that its place among the processes is free.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Protocol

import trio

from knavery.v1.referee_pb2 import FromReferee, Hello
from referee import bots, leftovers, wire
from referee.companions import Companion
from referee.endings import (
    EXIT_GRACE,
    GOODBYE_GRACE,
    Died,
    clear,
    death,
    first_of,
    last_words,
)
from referee.house import House, Line, Turn, cores
from referee.match import RefereeBug
from referee.player import Player
from referee.process import Process, StartError
from referee.restarts import Backoff
from referee.server import MAX_MESSAGE_BYTES, BadMessage, HungUp
from referee.tables import Tables
from referee.timing import Timing, in_time

START_SLOT = 3.0
"""Seconds for which a process that does not say hello keeps others from starting. What takes longer
either waits for something or is worth sharing the cores with."""


@dataclass(frozen=True, slots=True)
class Contestant:
    """A player and what to start for it; `max_tables` is what its bot.toml says. One that is not
    `early` is started only when the matches begin."""

    player: Player
    prepared: bots.Prepared
    max_tables: int | None = None
    early: bool = True
    desk: "Callable[[Generation, Contestant], Desk] | None" = None
    """Where it is served, if not by a process that is started for it."""


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


async def play_generation(
    house: House,
    contestants: Sequence[Contestant],
    tables: Tables,
    watcher: Watcher,
    companions: Sequence[Companion] = (),
    turn: Turn | None = None,
    absent: Callable[[], Mapping[Player, str]] = dict,
) -> None:
    """Plays all matches of the tables, with a fresh process for each contestant, which is started
    at once; matches begin when it is this generation's turn, and then `absent` says who is out of
    it, and why.

    Companions have none: what is asked of them is answered here."""
    turn = turn or Turn()
    generation = Generation(house, tables, watcher, turn)
    desks = [(each.desk or Desk)(generation, each) for each in contestants]
    everybody = [*desks, *(_Chair(generation, each) for each in companions)]
    generation.desks.update((desk.player, desk) for desk in everybody)
    if not turn.is_mine:
        house.starts.total_tokens = max(1, cores() - 1)
    async with trio.open_nursery() as nursery:
        for each in everybody:
            nursery.start_soon(each.run)
        await turn.comes()
        house.starts.total_tokens = cores()
        for player, cause in absent().items():
            tables.give_up(player, house.now(), cause)
        tables.fill(house.now())
        generation.playing.set()
        generation.wake()
    if not tables.done:
        raise RefereeBug("a generation ended with matches open")


@dataclass(slots=True)
class Generation:
    house: House
    tables: Tables
    watcher: Watcher
    turn: Turn
    desks: "dict[Player, Place]" = field(default_factory=dict)
    playing: trio.Event = field(default_factory=trio.Event)

    def wake(self) -> None:
        """Lets everybody look who may have something to send, or to end."""
        if self.tables.draining:
            self.turn.draining.set()
        for player in self.tables.touched & self.desks.keys():
            self.desks[player].news.set()
        self.tables.touched.clear()


class Place:
    """Where one player is served."""

    def __init__(self, generation: Generation, player: Player) -> None:
        self.player = player
        self.news = trio.Event()
        self._generation = generation
        self._house = generation.house
        self._tables = generation.tables

    @property
    def _over(self) -> bool:
        return self._tables.over(self.player)

    async def run(self) -> None:
        """Until it has nothing left to play."""
        raise NotImplementedError

    async def _rest(self) -> None:
        """Until there is news, or something becomes late."""
        now = self._house.now()
        deadline = self._tables.deadline(self.player, now)
        if deadline is None:
            await self.news.wait()
            return
        with trio.move_on_after(max(0.0, deadline - now)):
            await self.news.wait()


class _Chair(Place):
    """The place of a companion."""

    def __init__(self, generation: Generation, companion: Companion) -> None:
        super().__init__(generation, companion.player)
        self.player.freezes = False
        self._answer = companion.answer

    async def run(self) -> None:
        self._tables.arrived(self.player, None, None)
        while not self._over:
            self.news = trio.Event()
            batch = self._tables.next_batch(self.player, self._house.now())
            if batch is None:
                await self._rest()
                continue
            if batch.asks:
                self.player.sent(self._house.now())
            moves = await self._answer(batch)
            if batch.asks:
                self._tables.received(self.player, self._house.now(), moves)
            self._generation.wake()
        last = self.player.next_events(float("inf"))
        if last is not None:
            await self._answer(last)


class Desk(Place):
    """The place of a player that has a process."""

    def __init__(self, generation: Generation, contestant: Contestant) -> None:
        super().__init__(generation, contestant.player)
        self._contestant = contestant
        self._watcher = generation.watcher
        self._has_been_here = False
        self._leaves = False
        self._timing = Timing(self.player, generation.house)
        self._began = 0.0

    async def run(self) -> None:
        """Waits for a place among the processes that live, and keeps it until it is over."""
        if not self._contestant.early:
            await self._generation.playing.wait()
        places = self._house.places
        await places.acquire_on_behalf_of(self)
        try:
            await self._lives()
        finally:
            if not self._leaves:
                places.release_on_behalf_of(self)

    async def _lives(self) -> None:
        """Process after process, until all is played or too many have died."""
        restarts = self._house.faults.restarts
        backoff = Backoff(self._house.faults.backoff)
        cause = ""
        for restart in range(restarts + 1):
            if self._over:
                return
            self._watcher.starting(self.player, restart)
            try:
                await self._live()
            except* Died as died:
                cause = str(first_of(died))
            self._house.vouch()
            if self._over:
                return
            self._watcher.lost(self.player, cause)
            self._tables.lost(self.player, self._house.now(), cause)
            self._generation.wake()
            if restart < restarts:
                await self._pause(backoff.pause(self._house.now() - self._began))
        self._watcher.given_up(self.player, cause)
        self._tables.give_up(self.player, self._house.now(), f"{cause}; restarted {restarts} times")
        self._generation.wake()

    async def _pause(self, seconds: float) -> None:
        """So long, or until it has nothing left to play."""
        with trio.move_on_after(seconds):
            while not self._over:
                self.news = trio.Event()
                await self.news.wait()

    async def _live(self) -> None:
        """One life, from start to goodbye. Raises a group of `Died`."""
        scratch = leftovers.scratch()
        post: Line | None = None
        process: Process | None = None
        hello: Hello | None = None
        try:
            post = await self._house.door.listen()
            async with self._house.starts:
                process = await self._start(post, scratch)
                hearing = partial(self._hello, post, process)
                limit = self._house.clock.startup
                due = self._house.now() + limit
                with trio.move_on_after(min(limit, START_SLOT)):
                    hello = await hearing()
            hello = hello or await in_time(self._house, due, post.caught_up, hearing)
            await self._welcome(post, process, hello)
            self._timing.begin(post, process, adapted=self._contestant.prepared.adapted)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._watch, process)
                nursery.start_soon(self._read, post, process)
                await self._write(post)
                nursery.cancel_scope.cancel()
        except BaseException:
            self._timing.freeze(False)
            with trio.CancelScope(shield=True):
                await clear(post, process, scratch, grace=0.0)
            raise
        self._leaves = True
        self._house.leaving.start_soon(self._leave, post, process, scratch)

    async def _leave(self, post: Line, process: Process, scratch: Path) -> None:
        await clear(post, process, scratch, GOODBYE_GRACE)
        self._house.places.release_on_behalf_of(self)

    async def _start(self, post: Line, scratch: Path) -> Process:
        prepared = self._contestant.prepared
        self._began = self._house.now()
        try:
            return await self._house.start(self.player.name, prepared, post, scratch)
        except StartError as problem:
            raise death(f"could not be started: {problem}") from problem

    async def _hello(self, post: Line, process: Process) -> Hello:
        """The hello of a process that has been started."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._watch, process)
            hello = await post.hello()
            nursery.cancel_scope.cancel()
        return hello

    async def _welcome(self, post: Line, process: Process, hello: Hello | None) -> None:
        """Answers the hello of a process that has just been started."""
        if hello is None:
            limit = self._house.clock.startup
            refused = "".join(f"; it was sent away: {reason}" for reason in post.refused[-1:])
            words = f"no hello within {limit:g} s of its start{refused}{last_words(process)}"
            raise death(words)
        self._house.start_times.append(trio.current_time() - process.started_at)
        if not self._has_been_here:
            self._has_been_here = True
            self._generation.turn.arrived()
        try:
            await self._admit(post, hello)
        except HungUp as end:
            raise death(str(end)) from end
        self._generation.wake()

    async def _admit(self, post: Line, hello: Hello) -> None:
        if reason := wire.objection(hello, self._house.game):
            await post.reject(reason)
            raise death(f"rejected: {reason}")
        max_tables = wire.least(self._contestant.max_tables, hello, "max_tables")
        max_batch = wire.least(None, hello, "max_batch")
        self._watcher.arrived(self.player)
        self._tables.arrived(self.player, max_tables, max_batch)
        await post.welcome(
            wire.welcome(self._house.clock, max_tables, self.player.max_batch, MAX_MESSAGE_BYTES)
        )

    async def _watch(self, process: Process) -> None:
        exit_ = await process.wait()
        raise Died(f"its process ended: {exit_.words}{last_words(process)}")

    async def _read(self, post: Line, process: Process) -> None:
        while True:
            try:
                stamp, moves = await post.receive()
            except BadMessage:
                self.player.babble()
            except HungUp as end:
                with trio.move_on_after(EXIT_GRACE):  # its exit, if it comes, says more
                    await self._watch(process)
                raise Died(str(end)) from end
            else:
                self._tables.received(self.player, stamp, wire.moves(moves), post.cpu)
                self._generation.wake()
            self._check()

    async def _write(self, post: Line) -> None:
        """Sends what there is to send and keeps the time, until nothing is left to play."""
        try:
            while not self._over:
                self.news = trio.Event()
                if self.player.looks_late(self._house.now()):
                    await self._timing.catch_up(post)
                self._tables.tick(self.player, self._house.now())
                self._check()
                batch = self._tables.next_batch(self.player, self._house.now())
                self._generation.wake()
                if batch is None:
                    self._timing.freeze(self.player.resting)
                    await self._rest()
                    continue
                message = wire.envelope(batch)
                self._timing.freeze(False)
                if batch.asks:
                    self.player.sent(self._house.now())
                await self._send(post, message)
            self._timing.freeze(False)
            await self._part(post)
        except HungUp:
            await trio.sleep_forever()  # the reader, or the process's end, says why

    async def _send(self, post: Line, message: FromReferee | bytes) -> None:
        """Sends, unless the bot has stopped reading: what it does not take blocks this."""
        clock = self._house.clock
        longest = (clock.limit + clock.bank) * clock.backstop + clock.hang_limit

        async def taken() -> bool:
            await post.send(message)
            return True

        if not await in_time(self._house, self._house.now() + longest, post.caught_up, taken):
            raise Died("does not read what it is sent")

    async def _part(self, post: Line) -> None:
        last = self.player.next_events(float("inf"))
        if last is not None:
            await self._send(post, wire.envelope(last))
        await self._send(post, wire.goodbye("all matches are played"))

    def _check(self) -> None:
        if self.player.condemned:
            raise Died(self.player.condemned)

"""Players whose programs the referee does not start: they come by themselves, and may come again.

A program stays connected from generation to generation, since none of its deals comes twice
(design, section 4). So decisions are numbered on: a late answer to one of the last generation
answers none of this one. Its connection may be lost: the decisions that it has open stay open and
their time runs on, and when it is back within the start-up limit it is told all that it needs, for
it may be another process that knows nothing. After that it is out of this generation.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

import trio

from referee import bots, wire
from referee.endings import Died, first_of
from referee.generation import Contestant, Desk, Generation
from referee.house import Line
from referee.player import Player
from referee.server import BadMessage, Guest, HungUp, Visit
from referee.timing import in_time

ELSEWHERE: Final = bots.Prepared(argv=(), cwd=Path())
"""How a bot is started that the referee does not start."""


class Lost(Died):
    """The connection of a remote program ended, for which nobody is blamed at once."""


class Absent(Died):
    """A remote program did not come, or did not come back, in time."""


def contestant(
    player: Player, guest: Guest, say: Callable[[str], None] = lambda _: None
) -> Contestant:
    """A player whose program connects as this guest; `say` is told when it goes and comes."""
    return Contestant(player, ELSEWHERE, desk=partial(RemoteDesk, guest=guest, say=say))


class RemoteDesk(Desk):
    """The place of a player whose program somebody else runs."""

    def __init__(
        self,
        generation: Generation,
        contestant: Contestant,
        guest: Guest,
        say: Callable[[str], None],
    ) -> None:
        super().__init__(generation, contestant)
        self._guest = guest
        self._say = say
        self._losses = 0

    async def run(self) -> None:
        """From when matches begin, for its program has but one stream for all generations."""
        await self._generation.playing.wait()
        self.player.last_id = self._guest.last_id
        try:
            await self._lives()
        finally:
            self._guest.last_id = self.player.last_id

    async def _lives(self) -> None:
        """Until all is played, or it has done wrong too often, or has not come in time."""
        last: BaseException = Died()
        for life in range(self._house.faults.restarts + 1):
            if self._over:
                return
            self._watcher.starting(self.player, life)
            try:
                await self._live()
            except* Died as died:
                last = first_of(died)
            self._house.vouch()
            if self._over:
                return
            self._watcher.lost(self.player, str(last))
            self._tables.lost(self.player, self._house.now(), str(last))
            self._generation.wake()
            if isinstance(last, Absent):
                break
        self._watcher.given_up(self.player, str(last))
        self._tables.give_up(self.player, self._house.now(), str(last))
        self._generation.wake()

    async def _live(self) -> None:
        """What one program plays, over one connection or several. Raises a group of `Died`."""
        away = ""
        while (visit := await self._arrival(away)) is not None:
            try:
                await self._converse(visit, again=bool(away))
                return
            except* Lost as lost:
                away = str(first_of(lost))
            self.player.away()
            self._losses += 1
            if self._losses > self._house.faults.restarts:
                raise _absent(f"lost its connection {self._losses} times in a generation")
            left = f"it has {self._house.clock.startup:g} s to come back"
            self._say(f"has lost its connection ({away}); {left}")

    async def _arrival(self, away: str) -> Visit | None:
        """Its stream, when it is here; None when nothing is left to play. Its time runs on."""
        limit = self._house.clock.startup
        due = self._house.now() + limit
        visit = await in_time(self._house, due, self._guest.caught_up, self._visit)
        if visit is None and not self._over:
            raise _absent(
                f"{away}, and it did not come back within {limit:g} s"
                if away
                else f"did not connect within {limit:g} s"
            )
        if away and visit is not None:
            self._say("is back")
        return visit

    async def _visit(self) -> Visit | None:
        """Its stream, as soon as there is one; None when nothing is left to play."""
        visit: Visit | None = None
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._keep_time, nursery.cancel_scope)
            visit = await self._guest.visit()
            nursery.cancel_scope.cancel()
        return visit

    async def _keep_time(self, until: trio.CancelScope) -> None:
        """Says what is late of what it has open, until nothing is left to play."""
        while not self._over:
            self.news = trio.Event()
            if self.player.looks_late(self._house.now()):
                await self._guest.caught_up()
            self._tables.tick(self.player, self._house.now())
            if self.player.condemned:
                raise Absent(self.player.condemned)
            self._generation.wake()
            await self._rest()
        until.cancel()

    async def _converse(self, visit: Visit, again: bool) -> None:
        """Over one stream, until all is played. Raises a group of `Died`."""
        try:
            await self._admit(visit, await visit.hello())
            self._generation.wake()
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._listen, visit)
                if again:
                    await self._tell_all(visit)
                await self._write(visit)
                nursery.cancel_scope.cancel()
        except HungUp as end:
            raise BaseExceptionGroup("the stream is gone", [Lost(str(end))]) from end
        except BaseExceptionGroup as group:
            if not isinstance(first_of(group), Lost):
                await visit.close()
            raise

    async def _tell_all(self, visit: Visit) -> None:
        """What it has to know that may have forgotten everything."""
        batch = self.player.back()
        if batch.events or batch.asks:
            with suppress(HungUp):  # the listener says why
                await self._send(visit, wire.envelope(batch))

    async def _listen(self, visit: Visit) -> None:
        while True:
            try:
                stamp, moves = await visit.receive()
            except BadMessage:
                self.player.babble()
            except HungUp as end:
                raise Lost(str(end)) from end
            else:
                self._tables.received(self.player, stamp, wire.moves(moves), visit.cpu)
                self._generation.wake()
            self._check()

    async def _part(self, post: Line) -> None:
        """The last events only: it stays for the next generation."""
        last = self.player.next_events(float("inf"))
        if last is not None:
            await self._send(post, wire.envelope(last))


def _absent(cause: str) -> BaseExceptionGroup[Absent]:
    return BaseExceptionGroup("it is not here", [Absent(cause)])

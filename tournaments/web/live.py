"""A tournament's file as the server sees it: looked at again when it has changed, once for
everybody who watches.

The file is opened for the moment of each look. So a run that ends finds nobody reading, and leaves
one file; and a file that is replaced is seen as it is now.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

import trio

from referee.games.rules import Rules
from referee.match import FaultKind
from referee.process import printable
from tournaments.epochs import schedules
from tournaments.history import History, history
from tournaments.kept import Tally
from tournaments.ownership import writer
from tournaments.schedule import Entrant
from tournaments.search import FoundMatch, Query, Running, Search
from tournaments.standings import Standings
from tournaments.store import StoreError
from tournaments.table import computed

POLL: Final = 0.5
"""Seconds between looks at whether the file has changed."""
SHARE: Final = 4
"""A look through the file is followed by this many times its own time without one."""
SHOWN: Final = 12
"""Matches under way, and latest results, that are shown."""

T = TypeVar("T")
_Signature = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What is said of a tournament as a whole, at one moment. `number` counts what was told.

    `matches` and `blocks` are how many the present epoch has; `finished` counts matches of it.
    `state` is "running", "finished", "stopped" (there is more to play) or "empty"."""

    number: int
    title: str
    rules: Rules
    clock: str
    entrants: tuple[Entrant, ...]
    names: tuple[str, ...]
    field: frozenset[int]
    standings: Standings
    history: History
    tally: Tally
    fault_counts: Mapping[int, Counter[FaultKind]]
    matches: int
    finished: int
    blocks: int
    state: str
    running_count: int
    running: tuple[Running, ...]
    latest: tuple[FoundMatch, ...]


def snapshot(store: Search, *, being_written: bool, open_blocks: bool) -> Snapshot:
    """What a file says as it is now."""
    epoch, schedule = store.epochs()[-1], schedules(store)[-1]
    entrants, counts = store.entrants(), schedule.counts()
    finished = store.finished_in(epoch.number)
    running_count, running = store.running(SHOWN) if being_written else (0, ())
    return Snapshot(
        number=0,
        title=printable(epoch.tournament.name),
        rules=epoch.tournament.rules,
        clock=epoch.tournament.clock.measure,
        entrants=entrants,
        names=tuple(printable(each.name) for each in entrants),
        field=frozenset(epoch.field),
        standings=computed(store),
        history=history(store, open_blocks=open_blocks),
        tally=store.tally(),
        fault_counts=store.fault_counts(),
        matches=counts.matches,
        finished=finished,
        blocks=counts.blocks,
        state=_state(finished, counts.matches, being_written),
        running_count=running_count,
        running=running,
        latest=store.page_of_matches(Query(), limit=SHOWN).items,
    )


def _state(finished: int, matches: int, being_written: bool) -> str:
    if being_written:
        return "running"
    if finished >= matches:
        return "finished"
    return "stopped" if finished else "empty"


class Live:
    """A file and who watches it. `open_blocks`: cards of unfinished blocks may be shown."""

    def __init__(self, path: Path, *, open_blocks: bool = False) -> None:
        self.path = path
        self.open_blocks = open_blocks
        self.now: Snapshot
        """The latest snapshot, from `begin` on."""
        self.trouble: str | None = None
        """Why the file could not be read the last time."""
        self._news = trio.Event()
        self._one = trio.CapacityLimiter(1)
        self._seen: _Signature = ()

    async def begin(self) -> None:
        """Read the file for the first time; StoreError if that cannot be."""
        await self._look()

    async def watch(self) -> None:
        """Look at the file whenever it has changed, for ever."""
        while True:
            began = trio.current_time()
            trouble = None
            try:
                if self._signature() != self._seen:
                    await self._look()
            except StoreError as problem:
                trouble = str(problem)
            if trouble != self.trouble:
                self.trouble = trouble
                self._tell(self.now)
            await trio.sleep(max(POLL, SHARE * (trio.current_time() - began)))

    async def after(self, number: int) -> Snapshot:
        """The first snapshot later than one of this number."""
        while self.now.number <= number:
            await self._news.wait()
        return self.now

    def announce(self) -> int:
        """Have pages change though the file has not; the number of the snapshot that tells it."""
        self._tell(self.now)
        return self.now.number

    async def read(self, look: Callable[[Search], T]) -> T:
        """What `look` finds in the file, which is as it is at one moment, in a thread."""
        return await trio.to_thread.run_sync(self._read, look, limiter=self._one)

    def _read(self, look: Callable[[Search], T]) -> T:
        with Search.open(self.path, write=False) as store, store.moment():
            return look(store)

    async def _look(self) -> None:
        seen = self._signature()
        alive = writer(self.path) is not None
        look = partial(snapshot, being_written=alive, open_blocks=self.open_blocks)
        self._tell(await self.read(look))
        self._seen = seen

    def _tell(self, now: Snapshot) -> None:
        """Let everybody who watches see this, the next thing to be told."""
        self.now = replace(now, number=self.now.number + 1 if self._seen else 1)
        news, self._news = self._news, trio.Event()
        news.set()

    def _signature(self) -> _Signature:
        """What is not the same once the file has changed, or whoever writes it has come or gone."""
        parts: list[object] = [writer(self.path)]
        for name in (self.path.name, f"{self.path.name}-wal"):
            try:
                facts = self.path.with_name(name).stat()
            except OSError:
                parts.append(None)
            else:
                parts.append((facts.st_ino, facts.st_mtime_ns, facts.st_size))
        return tuple(parts)

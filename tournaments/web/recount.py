"""What was played, in figures, for a server's pages: counted on while the tournament runs.

Figures need every deal played again. So matches are counted once, a few at a time, in between
other looks at the file; pages tell of those that are counted, and say how many are still to come.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import trio

from tournaments.course import Course, course
from tournaments.epochs import counting, schedules
from tournaments.export import judged
from tournaments.figures import Figures
from tournaments.played import Played
from tournaments.replays import MatchReplay, placed
from tournaments.search import Search
from tournaments.store import StoreError
from tournaments.web.live import Live

STEP: Final = 40
"""Matches that are played again between two other looks at the file."""


@dataclass(frozen=True, slots=True)
class Recounted:
    """What is known by now. `missing` matches of those that count are not in the figures yet; the
    course is that of the last time when none was missing."""

    figures: Figures
    course: Course | None = None
    missing: int = 0


class Recount:
    """The figures of a file's complete blocks, as the standings count them."""

    def __init__(self, live: Live) -> None:
        self.now = Recounted(Figures(live.now.rules))
        self.trouble: str | None = None
        """Why it could not go on the last time."""
        self.steps = 0
        """How often they have changed."""
        self.lock = trio.Lock()
        """Held while they change; whoever reads them holds it."""
        self._live = live
        self._counted: set[tuple[str, int]] = set()

    async def keep_up(self) -> None:
        """Count whatever becomes complete, for ever; then pages change."""
        while True:
            number, trouble = self._live.now.number, None
            try:
                changed = await self.catch_up()
            except StoreError as problem:
                changed, trouble = False, str(problem)
            if changed or trouble != self.trouble:
                self.trouble = trouble
                number = self._live.announce()
            await self._live.after(number)

    async def catch_up(self) -> bool:
        """Count all that is complete; whether there was any."""
        changed, began = False, trio.current_time()
        while await self._step():
            changed = True
            await trio.sleep(trio.current_time() - began)  # others want to read, or to close it
            began = trio.current_time()
        return changed

    async def _step(self) -> bool:
        """Count a few matches; whether there were any."""
        async with self.lock:
            changed = await self._live.read(self._count)
            self.steps += changed
        return changed

    def _count(self, store: Search) -> bool:
        completed = store.completed()
        counts = list(counting(store, completed))
        names = {(each.block, each.seating) for each in counts}
        figures = self.now.figures
        if not self._counted <= names:  # the field has changed, or the file is another one
            self._counted, figures = set(), Figures(store.tournament().rules)
        some = sorted(names - self._counted)[:STEP]
        _add(store, figures, some)
        self._counted.update(some)
        missing = len(names) - len(self._counted)
        if some or figures is not self.now.figures:
            drawn = self.now.course if missing else self._course(counts, completed)
            self.now = Recounted(figures, drawn, missing)
            return True
        return False

    def _course(self, counts: list[Played], completed: tuple[str, ...]) -> Course:
        now = self._live.now
        return course(counts, completed, len(now.names), now.standings.ratings.anchor)


def _add(store: Search, figures: Figures, matches: list[tuple[str, int]]) -> None:
    """Some matches, by block and seating, into the figures."""
    plans = schedules(store) if matches else ()
    names = [entrant.name for entrant in store.entrants()]
    for name, seating in matches:
        block, _ = placed(f"{name}/s{seating}")
        kept = store.match(block, seating, open_blocks=True)  # it is complete: spare looking
        if kept is None:
            raise StoreError(f"{store.path}: is damaged: match {name}/s{seating} is gone")
        with judged(store, kept.id):
            figures.add(kept, MatchReplay(kept, plans[block.epoch], names).deals)

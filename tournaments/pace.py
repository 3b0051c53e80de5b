"""How far a run goes: to the end, or as many whole blocks as fit a budget of time.

A budget is spent on half of what still seems to fit at a time, so that bots that turn out slower
are noticed; and each time on so many blocks that everybody has played equally often after them.
"""

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain, islice

from tournaments import estimate
from tournaments.schedule import Block, Schedule

Wave = tuple[Block, ...]


class Pace:
    """What one run over a schedule plays, wave by wave, and how long that takes.

    `done` names the matches that are finished, `budget` is in seconds (None: without end), `say`
    takes a line for people, `clock` tells seconds.
    """

    def __init__(
        self,
        schedule: Schedule,
        done: Collection[str] = (),
        budget: float | None = None,
        *,
        say: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.out_of_time = False
        """Whether the budget ended before the schedule did."""
        self._schedule = schedule
        self._done = {name for name in done if name.startswith(f"e{schedule.epoch}/")}
        self._say = say
        self._clock = clock
        self._end = None if budget is None else clock() + budget
        self._left = schedule.counts().matches - len(self._done)
        self._load = schedule.load()
        self._played = 0
        self._spent = 0.0

    def __call__(self, waves: Iterable[Wave]) -> Iterator[Wave]:
        """The waves to play. Whoever asks for the next one has played the last one."""
        for wave in waves if self._end is None else self._cut(waves, self._end):
            began = self._clock()
            yield wave
            self._measure(sum(map(self._due, wave)), self._clock() - began)

    def _cut(self, waves: Iterable[Wave], end: float) -> Iterator[Wave]:
        """The same blocks in waves that fit, as far as they do."""
        todo, most = self._todo(waves)
        coming: list[Block] = []
        while coming := [*coming, *islice(todo, most - len(coming))]:
            size = self._size(coming, end - self._clock())
            if not size:
                self.out_of_time = True
                return
            self._load.update(chain.from_iterable(block.group for block in coming[:size]))
            yield tuple(coming[:size])
            coming = coming[size:]

    def _todo(self, waves: Iterable[Wave]) -> tuple[Iterator[Block], int]:
        """The blocks that are not complete, and how many a wave may have: as many as the first,
        but enough for everybody to play equally often."""
        rest = iter(waves)
        first = next(rest, ())
        blocks = chain(first, chain.from_iterable(rest))
        return self._not_complete(blocks), max(len(first), len(self._schedule.entrants))

    def _not_complete(self, blocks: Iterable[Block]) -> Iterator[Block]:
        for block in blocks:
            if self._due(block):
                yield block
            else:
                self._load.update(block.group)

    def _due(self, block: Block) -> int:
        """How many matches of a block are still to be played."""
        names = (f"{block.id}/s{n}" for n in range(self._schedule.generations))
        return sum(name not in self._done for name in names)

    def _size(self, coming: Sequence[Block], left: float) -> int:
        """How many of the coming blocks to play next; 0 where no fair number fits. The first time
        it is the smallest fair number, to see how fast these bots are."""
        fair = self._fair(coming)
        if not self._played:
            return fair[0]
        matches = max(0.0, left) * self._played / max(self._spent, 1e-9)
        fits = matches / self._schedule.generations
        able = [size for size in fair if size <= fits]
        return max((size for size in able if size <= fits / 2), default=min(able, default=0))

    def _fair(self, coming: Sequence[Block]) -> list[int]:
        """After how many of these blocks everybody has played, and equally often; where that does
        not come out, after how many the differences are least. Newcomers catch up: there it is
        enough that the differences are no larger than ever before."""
        load = self._load.copy()
        least = _spread(load)
        spreads, fair = [], []
        for size, block in enumerate(coming, 1):
            load.update(block.group)
            spreads.append(_spread(load))
            least = min(least, spreads[-1])
            if spreads[-1] == least and min(load.values()):
                fair.append(size)
        return fair or [size for size, spread in enumerate(spreads, 1) if spread == min(spreads)]

    def _measure(self, matches: int, seconds: float) -> None:
        first = not self._played
        self._played += matches
        self._spent += seconds
        self._left -= matches
        budget = None if self._end is None else self._end - self._clock()
        if first and matches and self._left and (budget is None or budget > 0):
            ahead = estimate.within(estimate.after(matches, seconds, self._left), budget)
            self._say(f"after the first {matches:,} matches: {ahead} more")


def _spread(load: Counter[int]) -> int:
    """How much more often than anybody else somebody has played."""
    return max(load.values()) - min(load.values())

"""How a run cuts its blocks into waves, and how far it goes: to the end, or as many whole blocks
as fit a budget of time.

Waves are sized by what was measured in this run (waves.py), and hold no more entrants than may
have processes at once (pools.py). Nothing of it is bound by the commitment: whatever the waves,
the matches are the same. A budget is spent on half of what still seems to fit at a time, so that
bots that turn out slower are noticed; and each time on so many blocks that everybody has played
equally often after them.
"""

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import islice
from statistics import fmean

from tournaments import estimate, waves
from tournaments.pools import Pools
from tournaments.schedule import Block, Schedule
from tournaments.waves import Speed

Wave = tuple[Block, ...]


class Pace:
    """What one run over a schedule plays, wave by wave, and how long that takes.

    `done` names the matches that are finished, `budget` is in seconds (None: without end), `say`
    takes a line for people, `clock` tells seconds; `cores` is how many this machine has, and
    `max_processes` how many may live at once.
    """

    def __init__(
        self,
        schedule: Schedule,
        done: Collection[str] = (),
        budget: float | None = None,
        *,
        say: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
        cores: int = 1,
        max_processes: int | None = None,
    ) -> None:
        self.out_of_time = False
        """Whether the budget ended before the schedule did."""
        self.start_times: Sequence[float] = ()
        """How long the processes of this run took to start, in seconds; filled by who plays."""
        self._schedule = schedule
        self._say = say
        self._clock = clock
        self._end = None if budget is None else clock() + budget
        self._played = 0
        self._spent = 0.0
        self._started = 0
        self._cores = cores
        self._most = None if max_processes is None else max_processes // schedule.members
        self._told = False
        self._wave: Wave = ()
        self._began = 0.0
        self._pools: Pools | None = None
        self.again(done)

    def again(self, done: Collection[str]) -> None:
        """What is to be played begins anew, without these matches; what was measured stays."""
        self._done = {name for name in done if name.startswith(f"e{self._schedule.epoch}/")}
        self._left = self._schedule.counts().matches - len(self._done)
        self._load = self._schedule.load()

    def __call__(self, blocks: Iterable[Block]) -> Iterator[Wave]:
        """The waves to play, of those of the blocks that are not complete. Whoever asks for the
        next one has played the last one, but for what drains."""
        todo = self._not_complete(blocks)
        for wave in self._sized(todo) if self._end is None else self._cut(todo, self._end):
            self._wave, self._began = wave, self._clock()
            yield wave
            self._started += self._processes(wave) * self._schedule.generations
            self._measure(sum(map(self._due, self._wave)), self._clock() - self._began)

    def more(self, played: int) -> Wave:
        """What the first wave holds beside the blocks that it began with, now that its first
        generation has played so many matches of these and shown their speed. Asked for once;
        nothing where a budget, or a lack of room for processes, decides."""
        if self._played or self._pools is None or self._pools.limited:
            return ()
        start, seatings = self._speed().start, self._schedule.generations
        processes = self._processes(self._wave)
        spent = self._clock() - self._began
        playing = max(spent - processes * start, spent / 2)
        speed = Speed(max(playing, 1e-9) / played, start)
        size = waves.following(self._blocks_left(), processes, seatings, speed)
        more = self._pools.take(max(0, size - len(self._wave)))
        self._wave = (*self._wave, *more)
        self._started += self._processes(more)
        if more:
            self._tell(played, playing, self._left - played)
        return more

    def _sized(self, todo: Iterator[Block]) -> Iterator[Wave]:
        """Waves that play much longer than they start."""
        self._pools = pools = Pools(todo, self._most, self._load)
        while wave := pools.take(self._blocks_of_a_wave()):
            yield wave

    def _blocks_of_a_wave(self) -> int:
        """How many blocks the next wave should have."""
        seatings = self._schedule.generations
        processes = self._schedule.counts().processes
        if self._most is not None:
            processes = min(processes, self._most * self._schedule.members)
        size = waves.following if self._played else waves.first
        return size(self._blocks_left(), processes, seatings, self._speed())

    def _blocks_left(self) -> int:
        return max(1, -(-self._left // self._schedule.generations))

    def _speed(self) -> Speed:
        """As measured in this run so far, as far as it was; else what is hoped for. Some starts
        are hidden behind the play of others, and what is left counts as play at least by a half."""
        hoped = estimate.quick(self._schedule, self._cores)
        start = fmean(self.start_times) / self._cores if self.start_times else hoped.start
        if not self._played:
            return Speed(hoped.match, start)
        playing = max(self._spent - self._started * start, self._spent / 2)
        return Speed(max(playing, 1e-9) / self._played, start)

    def _processes(self, wave: Wave) -> int:
        """What a generation of this wave starts."""
        return len({entrant for block in wave for entrant in block.group}) * self._schedule.members

    def _cut(self, todo: Iterator[Block], end: float) -> Iterator[Wave]:
        """The same blocks in waves that fit, as far as they do."""
        coming: list[Block] = []
        while coming := [*coming, *islice(todo, max(0, self._most_to_weigh() - len(coming)))]:
            size = self._size(coming, end - self._clock())
            if not size:
                self.out_of_time = True
                return
            pools = Pools(coming[:size], self._most, self._load)
            while wave := pools.take(size):
                yield wave
            coming = coming[size:]

    def _most_to_weigh(self) -> int:
        """How many blocks a wave may have: enough for everybody to play equally often."""
        return max(self._blocks_of_a_wave(), len(self._schedule.entrants))

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
        if first and matches and self._left and not self._told:
            self._tell(matches, seconds, self._left)

    def _tell(self, matches: int, seconds: float, left: int) -> None:
        """Says once how long the matches that are left will take, by those played first."""
        self._told = True
        budget = None if self._end is None else self._end - self._clock()
        if budget is None or budget > 0:
            ahead = estimate.within(estimate.after(matches, seconds, left), budget)
            self._say(f"after the first {matches:,} matches: {ahead} more")


def _spread(load: Counter[int]) -> int:
    """How much more often than anybody else somebody has played."""
    return max(load.values()) - min(load.values())

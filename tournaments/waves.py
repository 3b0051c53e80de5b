"""How large a wave is (design, section 4): numbers in, a number of blocks out.

A wave fills the tables in flight and plays about 20 times as long as it starts; where starting is
quick it aims at ten minutes. The first one begins cautiously, for nobody has seen the bots yet:
its first generation plays a few blocks, and then, knowing how fast it was, what the wave lacks.
"""

import math
from dataclasses import dataclass
from typing import Final

AIM: Final = 600.0
"""Seconds that a wave should take, starts and all."""
RATIO: Final = 20.0
"""Seconds of play for each second of starting, at least."""
FIRST_RATIO: Final = 5.0
"""The same of the blocks that a first wave begins with, whose bots may turn out slow: enough to
fill the tables with quick bots, and to see how fast they are."""


@dataclass(frozen=True, slots=True)
class Speed:
    """What things cost the whole machine, in seconds: a match, and the start of a process."""

    match: float
    start: float


def first(left: int, processes: int, seatings: int, speed: Speed) -> int:
    """Blocks that a run's first wave begins with, at the speed that is hoped for.

    `left` are the blocks to be played, `processes` what a generation starts, `seatings` how many
    matches a block has."""
    playing = FIRST_RATIO * processes * seatings * speed.start
    return _evenly(left, playing / (seatings * speed.match))


def following(left: int, processes: int, seatings: int, speed: Speed) -> int:
    """Blocks of a wave, at the speed that was measured; arguments as for `first`."""
    starting = processes * seatings * speed.start
    playing = max(AIM - starting, RATIO * starting)
    return _evenly(left, playing / (seatings * speed.match))


def expected(left: int, processes: int, seatings: int, speed: Speed) -> int:
    """How many waves there will be, if that is the speed."""
    return math.ceil(left / following(left, processes, seatings, speed)) if left else 0


def begins_cautiously(left: int, processes: int, seatings: int, speed: Speed) -> bool:
    """Whether the first generation will be started twice."""
    sizes = (size(left, processes, seatings, speed) for size in (first, following))
    return next(sizes) < next(sizes)


def _evenly(left: int, size: float) -> int:
    """About so many blocks, so that what is left comes out in waves of one size."""
    if not left:
        return 0
    return math.ceil(left / max(1, round(left / max(1.0, size))))

"""How large a wave is (design, section 4): numbers in, a number of blocks out.

A wave fills the tables in flight and plays about 20 times as long as it starts; where starting is
quick it aims at ten minutes. The first one is cautious: nobody has seen the bots yet.
"""

import math
from dataclasses import dataclass
from typing import Final

AIM: Final = 600.0
"""Seconds that a wave should take, starts and all."""
RATIO: Final = 20.0
"""Seconds of play for each second of starting, at least."""
FIRST_RATIO: Final = 5.0
"""The same of a first wave, whose bots may turn out slow: enough to fill the tables with quick
bots, and to see how fast they are."""


@dataclass(frozen=True, slots=True)
class Speed:
    """What things cost the whole machine, in seconds: a match, and the start of a process."""

    match: float
    start: float


def first(left: int, processes: int, seatings: int, speed: Speed) -> int:
    """Blocks of a run's first wave, at the speed that is hoped for.

    `left` are the blocks to be played, `processes` what a generation starts, `seatings` how many
    matches a block has."""
    playing = FIRST_RATIO * processes * seatings * speed.start
    return _evenly(left, playing / (seatings * speed.match))


def following(left: int, processes: int, seatings: int, speed: Speed) -> int:
    """Blocks of a later wave, at the speed that was measured; arguments as for `first`."""
    starting = processes * seatings * speed.start
    playing = max(AIM - starting, RATIO * starting)
    return _evenly(left, playing / (seatings * speed.match))


def expected(left: int, processes: int, seatings: int, speed: Speed) -> int:
    """How many waves there will be, if that is the speed."""
    if not left:
        return 0
    rest = left - first(left, processes, seatings, speed)
    return 1 + (math.ceil(rest / following(rest, processes, seatings, speed)) if rest else 0)


def _evenly(left: int, size: float) -> int:
    """About so many blocks, so that what is left comes out in waves of one size."""
    if not left:
        return 0
    return math.ceil(left / max(1, round(left / max(1.0, size))))

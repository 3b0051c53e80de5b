"""The referee's own time: that on the wall, less the time in which the referee did not run.

A referee that is stopped, starved or swapped out stamps messages late, and no bot is to pay for it.
So the thread that stamps them keeps a heartbeat. When it comes late by more than a bot is spared
anyway (`clock.GRACE`), time stood still meanwhile: what is measured by `now` leaves it out, be it a
charge, a deadline or a silence. Design, section 5.
"""

from collections.abc import Callable
from time import perf_counter

BEAT = 0.05
"""Seconds between two beats."""
STALL = 0.15
"""Seconds without a beat after which the referee has stood still."""
SLACK = 0.1
"""Seconds that a stall counts more than it took, in which to read what came meanwhile."""


class Heartbeat:
    """Seconds, of `clock`. `beat` is called by one thread, `now` by any."""

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        self._clock = clock
        self._last = clock()
        self._lost = 0.0
        self.stalled: Callable[[], None] = lambda: None
        """Called when the referee has stood still."""

    def now(self) -> float:
        """The referee's own time. It goes back when a stall is noticed."""
        return self._clock() - self._lost

    def beat(self) -> float:
        """The same, in the thread that has to run in time; a look whether it did."""
        now = self._clock()
        gap, self._last = now - self._last, now
        if gap > STALL:
            self._lost += gap + SLACK
            self.stalled()
        return now - self._lost

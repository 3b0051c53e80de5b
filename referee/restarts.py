"""When a bot's process that has ended is started again (design, section 5). No I/O.

At once, if it has lived for a while. One that dies young, again and again, waits twice as long each
time, so that it does not take the machine's time from others; what is played at tables where it
does not sit goes on meanwhile.
"""

from typing import Final

YOUNG: Final = 5.0
"""Seconds from its start before which a process dies young."""
LONGEST: Final = 10.0
"""The longest pause, in seconds."""


class Backoff:
    """The pauses of one player in one generation; `first` in seconds."""

    def __init__(self, first: float) -> None:
        self._first = first
        self._next = first

    def pause(self, lived: float) -> float:
        """Seconds until the next start, after a life of so many seconds."""
        if lived >= YOUNG:
            self._next = self._first
            return 0.0
        pause, self._next = self._next, min(LONGEST, 2 * self._next)
        return min(LONGEST, pause)

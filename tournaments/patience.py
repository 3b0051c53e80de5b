"""A line now and then, while something takes long that prints its result at its end only."""

import sys
import time
from collections.abc import Callable
from typing import TextIO

from tournaments.duration import told
from tournaments.progress import LINE_EVERY


class Patience:
    """Says how far it is, on stderr; nothing if it is soon done. `what` is counted: "decisions"."""

    def __init__(
        self,
        what: str,
        file: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._what = what
        self._file = file or sys.stderr
        self._clock = clock
        self._began = self._spoke = clock()

    def tell(self, done: int, total: int) -> None:
        """So many of so many are done, one at least."""
        now = self._clock()
        if now - self._spoke < LINE_EVERY:
            return
        self._spoke = now
        left = told((now - self._began) / done * (total - done))
        line = f"{done:,} of {total:,} {self._what}, about {left} left"
        print(line, file=self._file, flush=True)

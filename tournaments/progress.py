"""How a run is shown while it goes on: a bar on a terminal, plain lines elsewhere."""

import sys
import time
from typing import TextIO

from tqdm import tqdm

from referee.match import MatchResult

LINE_EVERY = 10.0
"""Seconds between plain lines."""


class Bar:
    """Matches done, decisions a second, and the time left, on stderr."""

    def __init__(self, total: int, done: int = 0, file: TextIO | None = None) -> None:
        self._file = file or sys.stderr
        self._total = total
        self._done = self._before = done
        self._decisions = 0
        self._began = self._spoke = time.monotonic()
        self._bar = (
            tqdm(total=total, initial=done, unit="match", file=self._file, leave=False)
            if self._file.isatty()
            else None
        )

    def finished(self, result: MatchResult) -> None:
        """One more match is over."""
        self._done += 1
        self._decisions += sum(len(deal.charged_us) for deal in result.deals)
        if self._bar is not None:
            self._bar.set_postfix_str(f"{self._rate():,.0f} decisions/s", refresh=False)
            self._bar.update()
        elif time.monotonic() - self._spoke >= LINE_EVERY:
            self._line()

    def say(self, line: str) -> None:
        """A line that stays."""
        if self._bar is not None:
            self._bar.write(line, file=self._file)
        else:
            print(line, file=self._file, flush=True)

    def close(self) -> None:
        """The end of the run, complete or not."""
        if self._bar is not None:
            self._bar.close()
        self._line()

    def _rate(self) -> float:
        return self._decisions / max(1e-9, time.monotonic() - self._began)

    def _line(self) -> None:
        self._spoke = time.monotonic()
        seconds = self._spoke - self._began
        played = self._done - self._before
        left = seconds / played * (self._total - self._done) if played else 0.0
        ending = f"about {left:,.0f} s left" if left else f"{seconds:,.1f} s"
        print(
            f"{self._done:,} of {self._total:,} matches, {self._rate():,.0f} decisions/s, {ending}",
            file=self._file,
            flush=True,
        )

"""How a run is shown while it goes on: a bar on a terminal, plain lines elsewhere."""

import sys
import time
from collections.abc import Iterable
from typing import Never, TextIO

from tqdm import tqdm

from referee.match import MatchResult
from tournaments.board import Board
from tournaments.duration import told
from tournaments.nobody import nobody_came
from tournaments.plain import counted
from tournaments.played import Played
from tournaments.schedule import Schedule, Scheduled

LINE_EVERY = 10.0
"""Seconds between plain lines."""
LEADERS_EVERY = 5.0
"""Seconds between looks at who leads."""


class Bar:
    """Matches done, blocks, decisions a second, the time left, and who leads, on stderr.

    `names` are the entrants', by index; `before` are the matches that earlier runs finished;
    `budget` is how long this run may take, in seconds."""

    def __init__(
        self,
        schedule: Schedule,
        names: list[str],
        before: list[Played],
        budget: float | None = None,
        file: TextIO | None = None,
    ) -> None:
        self._file = file or sys.stderr
        self._total = schedule.counts().matches
        self._sides = schedule.group_size
        self._budget = budget
        self._board = Board(names, schedule.generations)
        for match in before:
            self._board.add(match.block, match.entrants, match.places)
        self._done = self._before = len(before)
        self._decisions = 0
        self._empty = True
        self._leading = ""
        self._began = self._spoke = self._looked = time.monotonic()
        self._bar = self._new_bar() if self._file.isatty() else None

    def _new_bar(self) -> "tqdm[Never]":
        return tqdm(
            total=self._total,
            initial=self._done,
            unit="match",
            file=self._file,
            leave=False,
            dynamic_ncols=True,
            bar_format="{percentage:3.0f}% |{bar:10}| {n:,}/{total:,} matches{postfix}",
        )

    def remember(self, matches: Iterable[Played]) -> None:
        """Matches of earlier epochs, which say who leads and are no part of this schedule."""
        for match in matches:
            self._board.rate(match.entrants, match.places)

    @property
    def complete(self) -> int:
        """Blocks that are finished under every seating."""
        return self._board.complete

    @property
    def nobody_came(self) -> bool:
        """Whether matches were played, and no bot came to any of them."""
        return self._empty and self._done > self._before

    def finished(self, match: Scheduled, result: MatchResult) -> None:
        """One more match is over."""
        self._done += 1
        self._empty = self._empty and nobody_came([result])
        self._decisions += sum(len(deal.charged_us) for deal in result.deals)
        entrants = [seat.entrant for seat in match.seats[: self._sides]]
        self._board.add(match.block.id, entrants, result.places[: self._sides])
        if self._bar is not None:
            self._bar.set_postfix_str(self._state(), refresh=False)
            self._bar.update()
        elif time.monotonic() - self._spoke >= LINE_EVERY:
            self._line(self._state())

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
        seconds = time.monotonic() - self._began
        self._line(f"{self._blocks()}, {self._rate():,.0f} decisions/s, {seconds:,.1f} s")

    def _state(self) -> str:
        """What stands behind the count of matches while they are played."""
        if not self._leading or time.monotonic() - self._looked >= LEADERS_EVERY:
            self._looked = time.monotonic()
            best = ", ".join(f"{name} {rating:.0f}" for name, rating in self._board.leaders())
            self._leading = f"leading so far: {best}"
        left = told(self._seconds_left())
        rate = f"{self._rate():,.0f} decisions/s"
        return f"{self._blocks()}, {rate}, about {left} left; {self._leading}"

    def _blocks(self) -> str:
        return f"{counted(self._board.complete, 'block')} complete, {self._board.open:,} open"

    def _rate(self) -> float:
        return self._decisions / max(1e-9, time.monotonic() - self._began)

    def _seconds_left(self) -> float:
        spent = time.monotonic() - self._began
        left = spent / (self._done - self._before) * (self._total - self._done)
        return left if self._budget is None else max(0.0, min(left, self._budget - spent))

    def _line(self, state: str) -> None:
        self._spoke = time.monotonic()
        print(
            f"{self._done:,} of {self._total:,} matches, {state}",
            file=self._file,
            flush=True,
        )

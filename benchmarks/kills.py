"""A tournament killed (SIGKILL) at moments drawn from a seed, and resumed, ends as one that nobody
disturbed: the same matches, plays and table, `verify` agrees, nothing is left running.

`python -m benchmarks.kills COUNT [--seed N]`: COUNT tournaments of four bots, each killed up to
three times. A moment is a size of the file and its log of changes: the referee dies as soon as its
writes have got there, be that between two batches or in the middle of a change.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tournaments import standings
from tournaments.store import Store
from tournaments.table import computed
from tournaments.verify import verify

BOTS = ("random", "lowest", "highest", "greedy")
KEY = bytes(range(32)).hex()
MOST_KILLS = 3
LOOK_EVERY = 0.001
"""Seconds between two looks at the file."""
PATIENCE = 120.0
"""Seconds after which a command that should have ended has failed."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is the same however often a tournament was killed. `matches` is by match: totals,
    places, forfeits, each deal's moves, and the faults; `table` the standings as CSV."""

    matches: dict[str, tuple[object, ...]]
    table: str


class Arena:
    """A folder in which one tournament's description lies and is played, over and over.

    Bots must be deterministic. `newcomers` come when the others have finished, and it is their
    epoch that is disturbed. The folder's path should be short, for the referee's sockets."""

    settings = ""
    """What else its description says."""

    def __init__(
        self,
        folder: Path,
        bots: Sequence[str],
        rounds: int = 4,
        newcomers: Sequence[str] = (),
        max_deals: int = 1,
    ) -> None:
        self.file = folder / "t.knavery"
        self.folder = folder
        self._config = folder / "t.toml"
        self._bots = bots
        self._newcomers = newcomers
        self._rounds = rounds
        self._max_deals = max_deals

    def _begin(self) -> None:
        """All that is played before anything is disturbed."""
        self._configure(self._bots)
        if self._newcomers:
            self._run("run", self._config, kill_after=None)
            self._configure([*self._bots, *self._newcomers])

    def _configure(self, bots: Sequence[str]) -> None:
        head = f'[tournament]\ngame = "knave"\nseatings = "cyclic"\nrounds = {self._rounds}\n'
        entrants = "".join(map(_entrant, bots))
        rest = f'key = "{KEY}"\nrules = {{ max_deals = {self._max_deals} }}\n{self.settings}\n'
        self._config.write_text(head + rest + entrants)

    def _go_on(self) -> tuple[str, Path]:
        """The command that finishes what was begun; an epoch that is not in the file has not."""
        with Store.open(self.file, write=False) as store:
            begun = len(store.epochs()) == 1 + bool(self._newcomers)
        return ("resume", self.file) if begun else ("run", self._config)

    def undisturbed(self) -> tuple[Outcome, int]:
        """The outcome of a run to its end, and how many bytes it wrote."""
        self._begin()
        written = self._run("run", self._config, kill_after=None)
        assert written is not None
        return self._take(), written

    def disturbed(self, draw: random.Random, written: int) -> tuple[Outcome, int]:
        """The outcome after some kills at random moments, and how many there were."""
        self._begin()
        kills = 0
        words: tuple[str, Path] = ("run", self._config)
        for _ in range(draw.randint(1, MOST_KILLS)):
            if self._run(*words, kill_after=draw.randrange(written)) is not None:
                break
            kills += 1
            words = self._go_on()
            self._checked(finished=False)
        self._run(*self._go_on(), kill_after=None)
        return self._take(), kills

    def _run(self, *words: str | Path, kill_after: int | None) -> int | None:
        """The bytes that a command wrote; None if it was killed after so many."""
        process = self._start(*words)
        start, largest, killed = self._size(), 0, False
        deadline = time.monotonic() + PATIENCE
        while process.poll() is None:
            assert time.monotonic() < deadline, f"{words} does not end"
            largest = max(largest, self._size() - start)
            killed = kill_after is not None and self.file.exists() and largest >= kill_after
            if killed:
                process.kill()
                break
            time.sleep(LOOK_EVERY)
        _, errors = process.communicate(timeout=PATIENCE)
        assert "Traceback" not in errors, errors
        assert process.returncode == (-signal.SIGKILL if killed else 0), errors
        self._all_gone()
        return None if killed else largest

    def _start(self, *words: str | Path) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "tournaments.cli", *map(str, words)],
            env=os.environ | {"TMPDIR": str(self.folder)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
            text=True,
        )

    def _size(self) -> int:
        """Bytes of the file and of its log of changes."""
        paths = (self.file, self.file.with_name(self.file.name + "-wal"))
        return sum(path.stat().st_size for path in paths if path.exists())

    def _all_gone(self) -> None:
        """Waits for the end of every process that got this folder in its environment."""
        deadline = time.monotonic() + PATIENCE
        while left := self._running():
            assert time.monotonic() < deadline, f"still running: {left}"
            time.sleep(LOOK_EVERY)

    def _running(self) -> list[str]:
        """The commands of the processes that got this folder in their environment."""
        mark = str(self.folder).encode()
        left = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if mark in (process / "environ").read_bytes():
                    left.append((process / "cmdline").read_text().replace("\0", " "))
            except OSError:  # gone, or another user's
                continue
        return left

    def _checked(self, *, finished: bool) -> None:
        with Store.open(self.file, write=False) as store:
            report = verify(store)
        assert report.problem is None, report.problem
        if finished:
            assert len(report.epochs) == 1 + bool(self._newcomers)
            for epoch in report.epochs:
                assert epoch.finished == epoch.begun == epoch.matches
            assert report.attempts["done"] == sum(epoch.finished for epoch in report.epochs)
            assert report.attempts["open"] == 0

    def _take(self) -> Outcome:
        """The outcome in the file, which is checked and removed."""
        self._checked(finished=True)
        with Store.open(self.file, write=False) as store:
            matches = {
                match.id: (
                    match.totals,
                    match.places,
                    match.forfeits,
                    tuple(deal.moves for deal in match.deals),
                    match.faults,
                )
                for match in store.matches()
            }
            table = standings.as_csv(computed(store).rows)
        assert [each.name for each in self.folder.glob("t.knavery*")] == ["t.knavery"]
        self.file.unlink()
        return Outcome(matches, table)


def _entrant(bot: str) -> str:
    name, named, path = bot.rpartition("=")
    return f'[[entrants]]\npath = "{path}"\n' + (f'name = "{name}"\n' if named else "")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kills", description=__doc__)
    parser.add_argument("count", type=int, help="tournaments to play")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--bots", nargs="+", default=BOTS, help="deterministic bots")
    arguments = parser.parse_args()
    total = 0
    with tempfile.TemporaryDirectory(prefix="kills-") as folder:
        arena = Arena(Path(folder), arguments.bots)
        expected, written = arena.undisturbed()
        for number in range(arguments.count):
            seed = f"{arguments.seed}/{number}"
            outcome, kills = arena.disturbed(random.Random(seed), written)
            assert outcome == expected, f"seed {seed}: another outcome"
            total += kills
            print(f"{number + 1} of {arguments.count}: killed {kills} times, the same", flush=True)
    matches = len(expected.matches)
    print(f"{arguments.count} tournaments of {matches} matches, {total} kills: all ended alike")


if __name__ == "__main__":
    main()

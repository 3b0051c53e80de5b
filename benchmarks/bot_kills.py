"""Single bots killed (SIGKILL) at random moments of a tournament: only the matches that they then
had open carry a fault, all the others are as if nothing had happened, and the file agrees.

`python -m benchmarks.bot_kills COUNT [--seed N]`: as many tournaments of four bots as it takes to
kill COUNT times a bot that had something to play.
"""

import argparse
import os
import random
import signal
import tempfile
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from benchmarks.kills import PATIENCE, Arena, Outcome
from referee.match import FaultKind
from referee.proc import descendants
from tournaments.store import Store

PENSIVE = Path(__file__).resolve().parent.parent / "tests/bots/pensive.py"
BOTS = (*(f"{name}={PENSIVE}" for name in ("alice", "bob", "carol")), "lowest")
"""Three that mostly have a decision open, and one that hardly ever has."""
REST = 0.6
"""Seconds between two kills, on average."""


@dataclass(frozen=True, slots=True)
class Hunted:
    """What kills of bots came to. `kills` is how many were sent; `crashes` how many processes the
    referee lost by them, the others having said goodbye; `faults` and `touched` are decisions and
    matches that carry a fault, of so many `matches`."""

    kills: int
    crashes: int
    faults: int
    touched: int
    matches: int


class Hunt(Arena):
    """An arena whose bots are killed while they play, and never forfeit for it."""

    settings = "[faults]\nlimit = 1000000\nrestarts = 1000000\nbackoff = 0"

    def hunted(self, draw: random.Random, most: int, expected: Outcome) -> Hunted:
        """One tournament in which up to so many processes are killed."""
        self._begin()
        process, kills = self._start("run", self._config), 0
        deadline = time.monotonic() + PATIENCE
        while process.poll() is None:
            assert time.monotonic() < deadline, "it does not end"
            time.sleep(draw.expovariate(1 / REST))
            bots = sorted(filter(_is_bot, descendants(process.pid)))
            if bots and kills < most:
                with suppress(ProcessLookupError):
                    os.kill(draw.choice(bots), signal.SIGKILL)
                    kills += 1
        _, errors = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, errors
        self._all_gone()
        found = self._found(kills, expected)
        self._take()
        return found

    def _found(self, kills: int, expected: Outcome) -> Hunted:
        """What the file says; only what was open when a process ended may carry a fault."""
        faults = touched = 0
        with Store.open(self.file, write=False) as store:
            crashes = store.crash_times()
            spans = store.spans()
            matches = list(store.matches())
        for match in matches:
            plays = tuple(deal.moves for deal in match.deals)
            facts = (match.totals, match.places, match.forfeits, plays, match.faults)
            if not match.faults:
                assert facts == expected.matches[match.id], f"{match.id} was touched"
            for fault in match.faults:
                assert fault.kind is FaultKind.CRASHED, fault
                began, ended = spans[match.id]
                mine = (at for entrant, at in crashes if entrant == match.entrants[fault.seat])
                assert any(began <= at <= ended for at in mine), f"{match.id} was not open"
            faults += len(match.faults)
            touched += bool(match.faults)
        assert len(crashes) <= kills
        return Hunted(kills, len(crashes), faults, touched, len(matches))


def _is_bot(pid: int) -> bool:
    """Whether a process below the referee is a bot's, be it in a sandbox."""
    with suppress(OSError):
        return b"KNAVERY_TOKEN=" in Path(f"/proc/{pid}/environ").read_bytes()
    return False


def total(parts: Iterable[Hunted]) -> Hunted:
    """All of them together."""
    rows = [(p.kills, p.crashes, p.faults, p.touched, p.matches) for p in parts]
    return Hunted(*map(sum, zip(*rows, strict=True)))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bot_kills", description=__doc__)
    parser.add_argument("count", type=int, help="processes to kill")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    found: list[Hunted] = []
    with tempfile.TemporaryDirectory(prefix="kills-") as folder:
        hunt = Hunt(Path(folder), BOTS, max_deals=3)
        expected, _ = hunt.undisturbed()
        while not found or total(found).crashes < arguments.count:
            draw = random.Random(f"{arguments.seed}/{len(found)}")
            found.append(hunt.hunted(draw, 20, expected))
            print(f"{len(found)}: {found[-1]}", flush=True)
    print(f"{len(found)} tournaments: {total(found)}: nothing else was touched")


if __name__ == "__main__":
    main()

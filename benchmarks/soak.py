"""A long run with ten misbehaving bots among twenty: what the referee uses stays flat, nobody
else's results are touched, and the file agrees with its key and its rules.

`python -m benchmarks.soak [--seconds 3600] [--folder FOLDER]` plays, stops the referee with SIGINT
as a user would, verifies what was played, and prints a table; exit status 1 where something is
wrong.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from benchmarks.machine import described
from tournaments.store import Store
from tournaments.verify import verify

ROOT = Path(__file__).resolve().parent.parent
GOOD = ("random", "greedy", "cautious", "lowest", "highest")
"""Shipped bots, each entered twice."""
UNRULY = {
    "crash": 300,
    "hang": 2000,
    "hoard": 500,
    "flood": 50,
    "lie": 20,
    "illegal": 20,
    "leak": 10,
    "log": 10,
    "never-read": 2000,
    "slow-start": 1,
}
"""Ways to misbehave, each with the number of batches in which it happens once."""
EVERY = 5.0
"""Seconds between two looks at the referee."""
MOST_GROWTH = 1.2
"""How much higher the floor of what the referee uses may be in the last quarter of a run than in
the second: what grows without end has no floor."""
PATIENCE = 300.0
"""Seconds that the referee may take to stop."""


@dataclass(frozen=True, slots=True)
class Sample:
    """What the referee's own process used at one moment; memory in bytes."""

    seconds: float
    memory: int
    files: int
    threads: int


@dataclass(slots=True)
class Soaked:
    """What came of a run. `problems` is empty if all is well; counts by bot are by its name."""

    seconds: float = 0.0
    samples: list[Sample] = field(default_factory=list)
    matches: int = 0
    decisions: int = 0
    processes: int = 0
    crashes: int = 0
    void: int = 0
    faults: dict[str, dict[str, int]] = field(default_factory=dict)
    forfeits: dict[str, int] = field(default_factory=dict)
    sandbox: str = ""
    problems: list[str] = field(default_factory=list)


def soak(
    folder: Path, seconds: float, good: Sequence[str], unruly: Sequence[str], matches: int = 0
) -> Soaked:
    """Plays for so many seconds in a folder, and until so many matches are finished; `good` are
    shipped bots, all the others are not."""
    config, file = folder / "soak.toml", folder / "soak.knavery"
    config.write_text(_config(folder, good, unruly))
    found = Soaked()
    command = [sys.executable, "-m", "tournaments.cli", "run", str(config), "--yes"]
    with (folder / "output.txt").open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, cwd=folder)
        try:
            _watch(process, seconds, found, lambda: _finished(file) >= matches)
            process.send_signal(signal.SIGINT)
            status = process.wait(PATIENCE)
        finally:
            process.kill()
    if status not in (0, 1):
        found.problems.append(f"the referee ended with status {status}: {folder}/output.txt")
    _judge(file, found, set(_names(good)))
    return found


def _names(good: Sequence[str]) -> Iterator[str]:
    for number, name in enumerate(good):
        yield f"{name}-{number}"


def _config(folder: Path, good: Sequence[str], unruly: Sequence[str]) -> str:
    lines = ["[tournament]", 'game = "knave"', "rounds = 1000"]
    lines += ["rules = { max_deals = 3 }", "tables = 200", "[clock]", "hang = 1"]
    lines += ["[faults]", "restarts = 1000000"]
    for name, path in zip(_names(good), good, strict=True):
        lines += ["[[entrants]]", f'name = "{name}"', f'path = "{path}"']
    for how in unruly:
        place = folder / "bots" / how
        place.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "tests/bots/unruly.py", place / "bot.py")
        words = ["python", "bot.py", "--how", how, "--every", str(UNRULY[how])]
        run = ", ".join(f'"{word}"' for word in words)
        (place / "bot.toml").write_text(f'name = "{how}"\nrun = [{run}]\n')
        lines += ["[[entrants]]", f'path = "{place}"']
    return "\n".join(lines) + "\n"


def _watch(
    process: "subprocess.Popen[bytes]", seconds: float, found: Soaked, enough: Callable[[], bool]
) -> None:
    """Looks at the referee until the time is over and it has played enough."""
    began = time.monotonic()
    while (left := began + seconds - time.monotonic()) > 0 or not enough():
        time.sleep(min(max(left, 0.0), EVERY) or EVERY)
        if process.poll() is not None or left < -PATIENCE:
            found.problems.append(f"the referee ended by itself: status {process.returncode}")
            break
        found.samples.append(_sample(process.pid, time.monotonic() - began))
    found.seconds = time.monotonic() - began


def _finished(file: Path) -> int:
    if not file.exists():
        return -1
    with Store.open(file, write=False) as store:
        return store.tally().finished


def _sample(pid: int, seconds: float) -> Sample:
    proc = Path(f"/proc/{pid}")
    status = dict(line.split(":", 1) for line in (proc / "status").read_text().splitlines())
    memory = 1024 * int(status["VmRSS"].split()[0])
    return Sample(seconds, memory, len(os.listdir(proc / "fd")), int(status["Threads"]))


def _judge(file: Path, found: Soaked, good: set[str]) -> None:
    """What the file holds, and whether all is as it should be."""
    with Store.open(file, write=False) as store:
        report = verify(store)
        names = [entrant.name for entrant in store.entrants()]
        tally = store.tally()
        found.sandbox = store.sandbox()
        found.matches, found.processes = tally.finished, tally.processes
        found.crashes, found.void = tally.crashes, tally.void_attempts
        found.decisions = report.cards
        found.faults = {
            names[entrant]: {kind.name.lower(): count for kind, count in kinds.items()}
            for entrant, kinds in store.fault_counts().items()
        }
        found.forfeits = {names[each]: count for each, count in store.forfeit_counts().items()}
    if report.problem is not None:
        found.problems.append(f"the file does not agree: {report.problem}")
    for name in sorted(good & (found.faults.keys() | found.forfeits.keys())):
        found.problems.append(f"{name} did nothing wrong, and has {found.faults.get(name)}")
    _flat(found)


def _flat(found: Soaked) -> None:
    """Whether memory and open files are no more at the end than when all had been seen once."""
    quarters = _quarters(found.samples)
    if not all(quarters):
        found.problems.append("the run was too short to say whether anything grows")
        return
    for what in ("memory", "files"):
        early, late = (min(getattr(each, what) for each in quarters[n]) for n in (1, 3))
        if late > early * MOST_GROWTH:
            found.problems.append(f"{what}: {early:,} in the second quarter, {late:,} in the last")


def _quarters(samples: Sequence[Sample]) -> list[Sequence[Sample]]:
    size = len(samples) // 4
    return [samples[n * size : (n + 1) * size] for n in range(4)]


def table(found: Soaked) -> str:
    """The figures, for docs/reliability.md."""
    lines = [f"{described()}; sandbox: {found.sandbox}", ""]
    lines.append(
        f"{found.seconds:,.0f} s: {found.matches:,} matches, {found.decisions:,} decisions, "
        f"{found.processes:,} processes started, {found.crashes:,} of which ended badly, "
        f"{found.void:,} attempts void"
    )
    lines += ["", "| quarter | memory of the referee, MiB | open files | threads |"]
    lines.append("|---|---|---|---|")
    for number, samples in enumerate(_quarters(found.samples), 1):
        cells = [
            _range([each.memory / 2**20 for each in samples]),
            _range([each.files for each in samples]),
            _range([each.threads for each in samples]),
        ]
        lines.append(f"| {number} | {' | '.join(cells)} |")
    lines += ["", "| bot | faults | forfeits |", "|---|---|---|"]
    for name in sorted(found.faults.keys() | found.forfeits.keys()):
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in found.faults[name].items())
        lines.append(f"| {name} | {kinds} | {found.forfeits.get(name, 0):,} |")
    lines += ["", *(found.problems or ["no problem was found"])]
    return "\n".join(lines)


def _range(values: Sequence[float]) -> str:
    """Least, median and most."""
    if not values:
        return "-"
    return f"{min(values):,.0f} / {median(values):,.0f} / {max(values):,.0f}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=3600.0, help="how long (3600)")
    parser.add_argument("--folder", type=Path, help="where to play, and leave what was played")
    arguments = parser.parse_args()
    if arguments.folder is not None:
        arguments.folder.mkdir(parents=True, exist_ok=True)
        found = soak(arguments.folder, arguments.seconds, 2 * GOOD, tuple(UNRULY))
    else:
        with tempfile.TemporaryDirectory(prefix="soak-") as folder:
            found = soak(Path(folder), arguments.seconds, 2 * GOOD, tuple(UNRULY))
    print(table(found))
    return 1 if found.problems else 0


if __name__ == "__main__":
    sys.exit(main())

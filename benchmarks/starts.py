"""What starting processes costs a whole tournament of twelve bots that answer at once.

`python -m benchmarks.starts [ROUNDS]` plays classic Knave of random bots, every group so many
rounds. Processor time is that of the whole machine, which should do nothing else. The wall's share
is the time that generations waited for their processes when it was their turn; other starts were
hidden behind the play of the generation before.
"""

import os
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import trio

from referee.house import Turn, cores, open_house
from referee.match import MatchResult
from tournaments import launch, runner
from tournaments.launch import Plan
from tournaments.pace import Pace
from tournaments.schedule import Scheduled, Seat
from tournaments.size import processes
from tournaments.store import Store

BOTS = 12
ROUNDS = 6


@dataclass(frozen=True, slots=True)
class Measured:
    """`seconds` and `cpu` are of the whole tournament, `waited` of turns that waited for starts,
    `start_cpu` of one start."""

    matches: int
    waves: int
    starts: int
    seconds: float
    cpu: float
    waited: float
    start_cpu: float

    def __str__(self) -> str:
        return (
            f"{self.matches:,} matches in {self.seconds:,.0f} s, {self.waves} waves, "
            f"{self.starts} process starts of {1000 * self.start_cpu:.0f} ms of processor time: "
            f"{self.starts * self.start_cpu / self.cpu:.1%} of all processor time, and "
            f"{self.waited / self.seconds:.1%} of the time on the wall"
        )


class _Silent:
    """Progress that nobody looks at, but for a bot's failure."""

    def finished(self, match: Scheduled, result: MatchResult) -> None: ...

    def say(self, line: str) -> None:
        if "forfeit" in line:
            raise RuntimeError(f"a benchmark's bot failed: {line}")


class _Arrivals:
    """A recorder that only waits for all processes of a generation to say hello."""

    def __init__(self, count: int) -> None:
        self.all_here = trio.Event()
        self._left = count

    def arrived(self, seat: Seat) -> None:  # noqa: ARG002
        self._left -= 1
        if not self._left:
            self.all_here.set()

    def process(self, seat: Seat, restart: int) -> None: ...
    def crash(self, seat: Seat, cause: str) -> None: ...
    def given_up(self, seat: Seat, cause: str) -> None: ...
    def begin(self, matches: Sequence[Scheduled]) -> None: ...
    def finish(self, match: Scheduled, result: MatchResult) -> None: ...


def measure(rounds: int) -> Measured:
    """Plays the tournament."""
    paths = [f"bot{n}=random" for n in range(BOTS)]
    made = launch.plan(launch.of_bots("starts", paths, "knave", rounds=rounds))
    most = processes(made.tournament)
    pace = Pace(made.schedule, say=_Silent().say, cores=cores(), max_processes=most)
    with tempfile.TemporaryDirectory(prefix="knavery-bench-") as name:
        start_cpu = _cpu_of_a_start(made, Path(name))
        path = Path(name) / "bench.knavery"
        with Store.create(path, made.tournament, made.key, made.entrants, made.commitment) as store:
            run = runner.Run(store, made.schedule, made.field, _Silent(), None, pace, most)
            began, began_cpu = time.perf_counter(), _cpu()
            trio.run(run.play, Path(name) / "logs")
            seconds, cpu = time.perf_counter() - began, _cpu() - began_cpu
            tally = store.tally()
            return Measured(
                tally.finished,
                store.next_wave(),
                tally.processes,
                seconds,
                cpu,
                run.waited,
                start_cpu,
            )


def _cpu_of_a_start(made: Plan, folder: Path) -> float:
    """The processor time from a bot's exec to its hello and its end, of a generation that never
    plays; the referee's part is in it."""
    matches = list(made.schedule.generation(list(made.schedule.blocks()), 0))
    arrivals = _Arrivals(BOTS)

    async def main() -> None:
        async with (
            open_house("knave", made.schedule.clock, made.schedule.faults, folder / "log") as house,
            trio.open_nursery() as nursery,
        ):

            async def play() -> None:
                turn = Turn(Turn())
                await runner.play_matches(house, made.field, matches, arrivals, turn=turn)

            nursery.start_soon(play)
            await arrivals.all_here.wait()
            nursery.cancel_scope.cancel()

    began = _cpu()
    trio.run(main)
    return (_cpu() - began) / BOTS


def _cpu() -> float:
    """Processor seconds that the whole machine has been busy: what a bot has used that ends with
    its sandbox is added to no other process's account."""
    name, user, nice, system, _idle, _iowait, irq, softirq, *_ = (
        Path("/proc/stat").read_text().splitlines()[0].split()
    )
    assert name == "cpu"
    return sum(map(int, (user, nice, system, irq, softirq))) / os.sysconf("SC_CLK_TCK")


def report(rounds: int) -> None:
    """Plays and prints."""
    print(f"Process starts: Knave, {BOTS} random bots, {rounds} rounds")
    print(measure(rounds))


if __name__ == "__main__":
    report(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS)

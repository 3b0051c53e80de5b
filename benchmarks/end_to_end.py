"""Decisions per second of the whole thing: real bot processes, real streams, a real store.

Every line plays with random bots. Time runs from the first bot's hello to the last result, so most
of the bots are still being started; results are written to a store as they come. The referee's
processor time is that of its own process, all threads.
"""

import math
import multiprocessing
import secrets
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import trio
from tabulate import tabulate

from referee import bots
from referee.match import MatchResult
from tournaments import launch, runner
from tournaments.schedule import Schedule, Scheduled, Seat, commitment
from tournaments.store import Store

ONE_BY_ONE = Path(__file__).with_name("one_by_one")


@dataclass(frozen=True, slots=True)
class Case:
    """One line: `tables` matches in flight (None: the default), of bots started from `bot`."""

    game: str
    bots: int
    tables: int | None
    bot: str = "random"

    @property
    def words(self) -> tuple[str, int, str | int, str]:
        tables = "default" if self.tables is None else self.tables
        return self.game, self.bots, tables, "256" if self.bot == "random" else "1"


@dataclass(slots=True)
class Measured:
    """What came out: decisions, wall and processor seconds of the referee, its memory in MiB."""

    decisions: int = 0
    seconds: float = 0.0
    cpu: float = 0.0
    memory: float = 0.0


TABLES: tuple[int | None, ...] = (1, 16, 64, 256, None)
CASES = (
    *(Case("knave", count, tables) for count in (3, 12) for tables in TABLES),
    *(
        Case("knave", count, tables, str(ONE_BY_ONE))
        for count in (3, 12)
        for tables in (1, 64, None)
    ),
    Case("ninety-nine", 3, None),
    Case("ninety-nine", 12, None),
)
GUESS = {1: 700, 16: 3_000, 64: 6_000, 256: 10_000, None: 10_000}
"""Decisions a second, roughly, at so many tables: only to play for about as long as asked."""
AT_DEFAULT = 1_000_000
"""Decisions at the default number of tables, which adapts: three bots have 768 under way, some
390,000 decisions, and with no more than those there would be nothing between beginning and end."""
LENGTH = {"knave": 510, "ninety-nine": 1_300}
"""Decisions of a match, roughly."""


class _Recorder(runner.StoreRecorder):
    """Also keeps the time, from the first hello to the last result."""

    def __init__(self, store: Store) -> None:
        super().__init__(store, 0, 0, self)
        self.measured = Measured()
        self._began = self._began_cpu = 0.0

    def arrived(self, seat: Seat) -> None:  # noqa: ARG002
        if not self._began:
            self._began, self._began_cpu = time.perf_counter(), time.process_time()

    def finished(self, match: Scheduled, result: MatchResult) -> None:  # noqa: ARG002
        if result.faults:
            raise RuntimeError(f"a benchmark's bot failed: {result.faults[0]}")
        self.measured.decisions += sum(len(deal.charged_us) for deal in result.deals)
        self.measured.seconds = time.perf_counter() - self._began
        self.measured.cpu = time.process_time() - self._began_cpu

    def say(self, line: str) -> None:
        raise RuntimeError(f"a benchmark's bot failed: {line}")


def measure(case: Case, seconds: float) -> Measured:
    """Plays about so many seconds."""
    entered = [bots.load(f"bot{n}={case.bot}") for n in range(case.bots)]
    field = launch.ready(entered)
    tournament = launch.of_bots("bench", [case.bot] * case.bots, case.game)
    schedule = tournament.schedule(secrets.token_bytes(32), range(case.bots))
    entrants = launch.entrants_of(entered)
    bound = commitment(schedule, entrants)
    with tempfile.TemporaryDirectory(prefix="knavery-bench-") as name:
        path = Path(name) / "bench.knavery"
        with Store.create(path, tournament, schedule.key, entrants, bound) as store:
            recorder = _Recorder(store)
            matches = list(_matches(schedule, case, seconds))
            trio.run(_play, case, schedule, field, matches, recorder, Path(name))
    recorder.measured.memory = _peak_memory()
    return recorder.measured


def _matches(schedule: Schedule, case: Case, seconds: float) -> Iterator[Scheduled]:
    """Enough matches, each with its own deals: one seating of block after block."""
    speed = GUESS[case.tables] if case.bot == "random" else GUESS[1]
    fills = AT_DEFAULT if case.bot == "random" else 0
    least = case.tables or math.ceil(fills / LENGTH[case.game])
    wanted = max(math.ceil(speed * seconds / LENGTH[case.game]), least)
    rounds = math.ceil(wanted / schedule.counts().blocks)
    longer = Schedule(
        rules=schedule.rules,
        entrants=schedule.entrants,
        key=schedule.key,
        rounds=rounds,
        seatings=schedule.seatings,
        clock=schedule.clock,
        faults=schedule.faults,
    )
    for _, block in zip(range(wanted), longer.blocks(), strict=False):
        yield longer.match(block, block.number % longer.generations)


async def _play(
    case: Case,
    schedule: Schedule,
    field: dict[int, runner.Entered],
    matches: list[Scheduled],
    recorder: _Recorder,
    folder: Path,
) -> None:
    async with runner.open_house(
        case.game, schedule.clock, schedule.faults, folder / "logs"
    ) as house:
        await runner.play_matches(house, field, matches, recorder, in_flight=case.tables)


def _peak_memory() -> float:
    """The most that this process has held, in MiB."""
    with open("/proc/self/status", encoding="ascii") as lines:
        peak = next(line for line in lines if line.startswith("VmHWM"))
    return int(peak.split()[1]) / 1024


def report(seconds: float) -> None:
    """Measures every case in a process of its own and prints the table."""
    rows = []
    context = multiprocessing.get_context("spawn")
    for case in CASES:
        with context.Pool(1) as pool:
            measured = pool.apply(measure, (case, seconds))
        rows.append(
            (
                *case.words,
                measured.decisions,
                measured.decisions / measured.seconds,
                1e6 * measured.cpu / measured.decisions,
                measured.memory,
            )
        )
    headers = (
        "game",
        "bots",
        "tables",
        "decisions a message",
        "decisions",
        "decisions/s",
        "referee CPU, us a decision",
        "referee memory, MiB",
    )
    print("End to end: random bots, from the first hello to the last result kept")
    print(tabulate(rows, headers=headers, floatfmt=",.0f", intfmt=","))

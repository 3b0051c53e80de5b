"""What time costs real bots, on a machine that has other things to do (design, section 5).

The bots use known amounts of processor time (tests/bots/timed.py). The deals are short: five ranks,
so that each seat decides six times.
"""

import json
import shutil
import signal
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import trio

from referee import bots
from referee.games import record, shuffle
from referee.games.registry import make_rules
from referee.house import cores, open_house
from referee.match import ClockRules, FaultKind, FaultRules, MatchResult
from tests.referee.test_generation import Log
from tournaments.runner import Entered, play_matches
from tournaments.schedule import Schedule, Scheduled, Seatings

BOTS = Path(__file__).parents[1] / "bots"
RANKS = (8, 9, 10, 11, 12)
DECISIONS = 6
"""Of each seat in a deal."""
LIMIT, BANK = 0.1, 0.1
CPU = ClockRules(LIMIT, BANK, startup=60.0, measure="cpu")


@dataclass
class Played:
    """What a field did in one generation; entrants are numbered as they were given."""

    log: Log
    charged: dict[int, list[float]]
    """By entrant: the seconds that each of its decisions was charged."""

    def kinds(self, entrant: int) -> list[FaultKind]:
        return [kind for kind, _ in self.log.faults(entrant)]


def bot(folder: Path, number: int, how: str) -> Entered:
    """A bot whose command is `timed.py HOW SECONDS`, both in `how`."""
    place = folder / f"{number}"
    place.mkdir()
    for name in ("timed.py", "faulty.py"):
        shutil.copy(BOTS / name, place)
    words = ", ".join(f'"{word}"' for word in ("python", "timed.py", *how.split()))
    (place / "bot.toml").write_text(f'name = "bot{number}"\nrun = [{words}]\n')
    made = bots.load(str(place))
    return Entered(made.name, bots.prepare(made, folder / "cache"), made.max_tables)


def play(
    folder: Path,
    field: list[str],
    clock: ClockRules = CPU,
    *,
    matches: int = 2,
    in_flight: int | None = None,
    log: Log | None = None,
) -> Played:
    """Matches of one deal between three bots."""
    made = Schedule(
        rules=make_rules("knave", max_deals=1, ranks=RANKS),
        entrants=(0, 1, 2),
        key=bytes(32),
        rounds=matches,
        seatings=Seatings.ALL,
        clock=clock,
        faults=FaultRules(limit=10_000, restarts=0),
    )
    log = log or Log()
    entered = {number: bot(folder, number, how) for number, how in enumerate(field)}

    async def main() -> None:
        with trio.fail_after(120):
            async with open_house("knave", clock, made.faults, folder / "logs") as house:
                games = list(made.generation(list(made.blocks()), 0))
                await play_matches(house, entered, games, log, in_flight=in_flight)

    trio.run(main)
    assert len(log.results) == matches
    return Played(log, charges(log))


def charges(log: Log) -> dict[int, list[float]]:
    """What was charged, by entrant."""
    charged: dict[int, list[float]] = {}
    for name, result in log.results.items():
        match = log.matches[name]
        for seat, seconds in _of_match(match, result):
            charged.setdefault(match.seats[seat].entrant, []).append(seconds)
    return charged


def _of_match(match: Scheduled, result: MatchResult) -> Iterator[tuple[int, float]]:
    rules = match.job.rules
    for number, deal in enumerate(result.deals):
        deck = shuffle.deck(match.job.deals_key, number, rules.pack)
        steps = record.steps(rules, record.DealRecord(deal.dealer, deck, deal.moves))
        for (_, seat, _), spent in zip(steps, deal.charged_us, strict=True):
            yield seat, spent / 1e6


@contextmanager
def busy(count: int) -> Iterator[None]:
    """So many processes that compute all the time."""
    spin = [sys.executable, "-I", "-S", "-c", "while True: pass"]
    spinners = [subprocess.Popen(spin) for _ in range(count)]
    try:
        yield
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()


# The clock of processor time.


@pytest.mark.parametrize("in_flight", [1, cores(), 4 * cores()])
def test_on_a_busy_machine_only_overruns_are_late(tmp_path: Path, in_flight: int) -> None:
    field, matches = ["each 0.045", "hard 0.3", "each 0"], max(3, in_flight)
    with busy(cores()):
        played = play(tmp_path, field, matches=matches, in_flight=in_flight)
    assert played.kinds(0) == []
    assert statistics.median(played.charged[0]) == pytest.approx(0.045, abs=0.015)
    assert set(played.kinds(1)) == {FaultKind.LATE}
    assert matches // 2 <= len(played.kinds(1)) <= matches, "a stall may hide some"
    assert played.kinds(2) == []


def test_a_message_is_judged_by_all_that_it_answers(tmp_path: Path) -> None:
    clock = ClockRules(LIMIT, BANK, startup=60.0, measure="cpu", hang=60.0)
    field = ["pooled 0.045", "pooled 0.25", "each 0"]
    with busy(cores()):
        played = play(tmp_path, field, clock, matches=2, in_flight=2)
    assert played.kinds(0) == []
    assert set(played.kinds(1)) == {FaultKind.LATE}


def test_children_count_reaped_or_not(tmp_path: Path) -> None:
    played = play(tmp_path, ["child 0.05", "daemon 0.05", "each 0.05"])
    for entrant in range(3):
        assert played.kinds(entrant) == []
        assert statistics.median(played.charged[entrant]) == pytest.approx(0.05, abs=0.025)


def test_what_is_burnt_off_turn_is_the_bots_own_cost_and_freezing_bounds_it(
    tmp_path: Path,
) -> None:
    field = ["off-turn 0", "each 0.1", "each 0.1"]
    charged = []
    for ponder in (False, True):
        clock = ClockRules(1.0, 1.0, startup=60.0, measure="cpu", ponder=ponder)
        folder = tmp_path / f"{ponder}"
        folder.mkdir()
        played = play(folder, field, clock, matches=1)
        charged.append(statistics.median(played.charged[0]))
        assert played.kinds(0) == []
    frozen, pondering = charged
    assert 0.01 < frozen < 0.75 * pondering


def test_a_hoarded_decision_is_late_and_a_silent_bot_is_ended(tmp_path: Path) -> None:
    clock = ClockRules(LIMIT, 0.0, startup=60.0, measure="cpu", hang=0.5)
    played = play(tmp_path, ["hoard 0.05", "each 0", "each 0"], clock, matches=4, in_flight=4)
    assert Counter(played.kinds(0)) == {FaultKind.LATE: 1, FaultKind.ABSENT: 4}
    assert any("hung" in cause for _, cause in played.log.crashes)
    assert played.kinds(1) == played.kinds(2) == []


# A referee that stands still.


@dataclass
class SlowDisk(Log):
    """A recorder whose every result takes longer to be written than a decision may take."""

    def finish(self, match: Scheduled, result: MatchResult) -> None:
        time.sleep(0.8)
        super().finish(match, result)


def test_a_slow_disk_is_charged_to_nobody(tmp_path: Path) -> None:
    clock = ClockRules(limit=0.5, bank=0.0, startup=60.0)
    field = ["doze 0.03", "doze 0.05", "each 0"]
    played = play(tmp_path, field, clock, matches=4, in_flight=2, log=SlowDisk())
    assert [played.kinds(entrant) for entrant in range(3)] == [[], [], []]
    assert max(map(max, played.charged.values())) < 0.5


STALLED = {
    "wall": (ClockRules(0.5, 0.0, startup=60.0), "doze 0.1"),
    "cpu": (ClockRules(0.1, 0.0, startup=60.0, measure="cpu"), "each 0.04"),
}
"""The clock, and two bots that would be late if a pause counted."""


@dataclass
class Announced(Log):
    """A recorder that says when play begins."""

    def begin(self, matches: Sequence[Scheduled]) -> None:
        super().begin(matches)
        print("playing", flush=True)


def referee(folder: Path, measure: str) -> None:
    """A whole referee, in a process of its own: prints the faults, and the largest charge."""
    clock, how = STALLED[measure]
    played = play(folder, [how, how, "each 0"], clock, matches=4, in_flight=4, log=Announced())
    faults = [cause for entrant in range(3) for _, cause in played.log.faults(entrant)]
    print(json.dumps([faults, max(map(max, played.charged.values()))]))


@pytest.mark.parametrize("measure", STALLED)
def test_a_referee_that_is_stopped_for_a_while_charges_it_to_nobody(
    tmp_path: Path, measure: str
) -> None:
    words = (
        "import sys; from tests.referee.test_time import Path, referee;"
        "referee(Path(sys.argv[1]), sys.argv[2])"
    )
    command = [sys.executable, "-c", words, str(tmp_path), measure]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as made:
        assert made.stdout is not None
        try:
            assert made.stdout.readline() == "playing\n"
            for _ in range(4):
                time.sleep(0.2)
                made.send_signal(signal.SIGSTOP)
                time.sleep(1.0)
                made.send_signal(signal.SIGCONT)
            line = next(line for line in made.stdout if line != "playing\n")
        finally:
            made.kill()
    faults, most = json.loads(line)
    assert faults == []
    assert most < STALLED[measure][0].limit + 0.1

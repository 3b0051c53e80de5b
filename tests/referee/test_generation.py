"""Whole generations with real bot processes over real streams: what one bot does wrong costs
nobody else anything.

Four bots play all four groups of three; the faulty one sits in three of them. The three others are
deterministic, so the match without the faulty one, and every fault-free result, is known exactly.
"""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import trio

from referee import bots
from referee.games.registry import make_rules
from referee.house import House, open_house
from referee.match import ClockRules, FaultKind, FaultRules, Match, MatchResult
from tests.referee.process_helpers import running_in
from tests.referee.scripted import asks
from tournaments.runner import Entered, play_matches
from tournaments.schedule import Schedule, Scheduled, Seat, Seatings

HERE = Path(__file__).resolve().parent
FAULTY = HERE.parent / "bots" / "faulty.py"
PATIENT = ClockRules(limit=10.0, startup=30.0)
"""For what is not about time: nobody is late, however busy the machine is."""
QUICK = ClockRules(limit=1.0, bank=0.5, startup=30.0, hang=0.3)


@dataclass
class Log:
    """A recorder that keeps everything."""

    results: dict[str, MatchResult] = field(default_factory=dict)
    matches: dict[str, Scheduled] = field(default_factory=dict)
    crashes: list[tuple[int, str]] = field(default_factory=list)
    out: list[tuple[int, str]] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)

    def process(self, seat: Seat, restart: int) -> None:
        assert self.starts.count(seat.entrant) == restart
        self.starts.append(seat.entrant)

    def arrived(self, seat: Seat) -> None: ...

    def crash(self, seat: Seat, cause: str) -> None:
        self.crashes.append((seat.entrant, cause))

    def given_up(self, seat: Seat, cause: str) -> None:
        self.out.append((seat.entrant, cause))

    def begin(self, matches: Sequence[Scheduled]) -> None:
        self.matches |= {match.job.id: match for match in matches}

    def finish(self, match: Scheduled, result: MatchResult) -> None:
        assert match.job.id not in self.results
        self.results[match.job.id] = result

    def faults(self, entrant: int) -> list[tuple[FaultKind, str]]:
        return [
            (fault.kind, fault.detail)
            for name, result in self.results.items()
            for fault in result.faults
            if self.matches[name].seats[fault.seat].entrant == entrant
        ]

    def forfeits(self, entrant: int) -> int:
        return sum(
            self.matches[name].seats[seat].entrant == entrant
            for name, result in self.results.items()
            for seat in result.forfeits
        )


def folder_bot(folder: Path, name: str, source: Path, *arguments: str) -> Entered:
    """A bot's folder with one Python file, prepared."""
    place = folder / name
    place.mkdir()
    shutil.copy(source, place / "bot.py")
    words = ", ".join(f'"{word}"' for word in ("python", "bot.py", *arguments))
    (place / "bot.toml").write_text(f'name = "{name}"\nrun = [{words}]\n')
    bot = bots.load(str(place))
    return Entered(name, bots.prepare(bot, folder / "cache"), bot.max_tables)


def schedule(game: str, clock: ClockRules, faults: FaultRules, rounds: int = 1) -> Schedule:
    return Schedule(
        rules=make_rules(game, max_deals=2),
        entrants=(0, 1, 2, 3),
        key=bytes(32),
        rounds=rounds,
        seatings=Seatings.ALL,
        clock=clock,
        faults=faults,
    )


def play(
    tmp_path: Path,
    fault: str,
    *,
    game: str = "knave",
    clock: ClockRules | None = None,
    faults: FaultRules | None = None,
    rounds: int = 1,
) -> Log:
    """One generation: entrant 0 is faulty, the others play their smallest cards."""
    made = schedule(game, clock or PATIENT, faults or FaultRules(limit=10_000), rounds)
    names = ("bad", "good1", "good2", "good3")
    entered = {
        n: folder_bot(tmp_path, name, FAULTY, "--fault", fault if n == 0 else "none")
        for n, name in enumerate(names)
    }
    matches = list(made.generation(list(made.blocks()), 0))
    log = Log()

    async def main() -> None:
        with trio.fail_after(60):
            async with open_house(game, made.clock, made.faults, tmp_path / "logs") as house:
                await play_matches(house, entered, matches, log)

    trio.run(main)
    assert len(log.results) == len(matches)
    for entrant in (1, 2, 3):
        assert log.faults(entrant) == []
        assert log.forfeits(entrant) == 0
        assert log.starts.count(entrant) == 1
    for name, result in log.results.items():
        if 0 not in {seat.entrant for seat in log.matches[name].seats}:
            assert moves(result) == moves(expected(log.matches[name]))
    return log


def moves(result: MatchResult) -> list[bytes]:
    return [deal.moves for deal in result.deals]


def expected(match: Scheduled) -> MatchResult:
    """The match as played by bots that choose their smallest cards."""
    played = Match(match.job)
    waiting = asks(played.start())
    while waiting:
        ask = waiting.pop()
        waiting += asks(played.answer(ask, played.deal.stand_in(ask.seat)))
    assert played.result is not None
    return played.result


def all_as_expected(log: Log) -> bool:
    """Whether even the faulty bot's matches went as without a fault: stand-ins play alike."""
    return all(
        moves(result) == moves(expected(log.matches[name])) for name, result in log.results.items()
    )


@pytest.mark.parametrize("game", ["knave", "ninety-nine"])
def test_without_a_fault_all_goes_as_in_memory(tmp_path: Path, game: str) -> None:
    log = play(tmp_path, "none", game=game, rounds=3)
    assert log.faults(0) == []
    assert log.crashes == []
    assert all_as_expected(log)


@pytest.mark.parametrize(
    ("fault", "kind", "words"),
    [
        ("illegal", FaultKind.ILLEGAL, "not in the hand"),
        ("two-cards", FaultKind.ILLEGAL, "cards chosen: 2"),
        ("no-cards", FaultKind.ILLEGAL, "cards chosen: 0"),
        ("neither", FaultKind.MALFORMED, "neither cards nor an error"),
        ("error", FaultKind.EXCEPTION, "no idea"),
    ],
)
def test_a_bad_answer_costs_that_decision_and_no_other(
    tmp_path: Path, fault: str, kind: FaultKind, words: str
) -> None:
    log = play(tmp_path, fault)
    found = log.faults(0)
    assert {kind for kind, _ in found} == {kind}
    if fault != "two-cards":
        assert len(found) == 3 * 2 * 17
    assert all(words in detail for _, detail in found)
    assert log.crashes == []


def test_too_many_faults_forfeit_the_match(tmp_path: Path) -> None:
    log = play(tmp_path, "illegal", faults=FaultRules(limit=2))
    assert log.forfeits(0) == 3
    assert len(log.faults(0)) == 3 * 3


@pytest.mark.parametrize("fault", ["twice", "wrong-ids", "chatter"])
def test_what_is_not_an_answer_changes_nothing(tmp_path: Path, fault: str) -> None:
    log = play(tmp_path, fault)
    assert log.faults(0) == []
    assert all_as_expected(log)


def test_a_crash_is_a_fault_where_a_decision_was_open_and_the_next_process_goes_on(
    tmp_path: Path,
) -> None:
    log = play(tmp_path, "crash", rounds=3)
    kinds = {kind for kind, _ in log.faults(0)}
    assert FaultKind.CRASHED in kinds
    entrants, causes = zip(*log.crashes, strict=True)
    assert set(entrants) == {0}
    assert all("SIGKILL" in cause and "about to die" in cause for cause in causes)
    assert log.starts.count(0) == min(4, len(causes) + 1)


def test_a_bot_that_always_crashes_forfeits_after_its_restarts(tmp_path: Path) -> None:
    log = play(tmp_path, "crash-always", faults=FaultRules(limit=100, restarts=2))
    assert log.starts.count(0) == 3
    assert log.forfeits(0) == 3
    ((entrant, cause),) = log.out
    assert entrant == 0
    assert "exited with status 1" in cause
    assert "cannot do this" in cause


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("exit-at-once", "exited with status 3"),
        ("no-hello", "no hello within 8 s"),
        ("wrong-games", "does not play knave"),
    ],
)
def test_a_bot_that_never_starts_forfeits_and_is_told_why(
    tmp_path: Path, fault: str, words: str
) -> None:
    clock = ClockRules(startup=8.0 if fault == "no-hello" else 30.0)
    log = play(tmp_path, fault, clock=clock, faults=FaultRules(restarts=0))
    assert log.forfeits(0) == 3
    assert {kind for kind, _ in log.faults(0)} == {FaultKind.ABSENT}
    assert all(words in detail for _, detail in log.faults(0))
    assert log.starts.count(0) == 1


def test_a_bot_that_hangs_is_late_and_then_ended(tmp_path: Path) -> None:
    log = play(tmp_path, "stall", clock=QUICK, faults=FaultRules(limit=100, restarts=1))
    kinds = {kind for kind, _ in log.faults(0)}
    assert FaultKind.LATE in kinds
    assert any("hung" in cause for _, cause in log.crashes)


def test_a_bot_that_is_too_slow_is_late_and_lives_on(tmp_path: Path) -> None:
    clock = ClockRules(limit=0.5, bank=0.1, startup=30.0, hang=10.0)
    log = play(tmp_path, "slow", clock=clock, faults=FaultRules(limit=1))
    assert {kind for kind, _ in log.faults(0)} == {FaultKind.LATE}
    assert log.forfeits(0) == 3
    assert log.crashes == []


def test_a_bot_that_hoards_a_decision_is_late_with_it(tmp_path: Path) -> None:
    log = play(tmp_path, "hoard", clock=QUICK, faults=FaultRules(limit=1))
    assert FaultKind.LATE in {kind for kind, _ in log.faults(0)}


def test_a_flood_ends_the_process_that_sends_it(tmp_path: Path) -> None:
    log = play(tmp_path, "flood", faults=FaultRules(limit=100, restarts=1))
    assert any("flooded" in cause for _, cause in log.crashes)


def test_a_bot_that_closes_its_stream_is_ended(tmp_path: Path) -> None:
    log = play(tmp_path, "deaf", faults=FaultRules(limit=100, restarts=0))
    assert log.starts.count(0) == 1
    assert log.forfeits(0) == 3
    assert FaultKind.CRASHED in {kind for kind, _ in log.faults(0)}


def test_a_bot_that_will_not_exit_is_ended(tmp_path: Path) -> None:
    log = play(tmp_path, "slow-exit")
    assert log.faults(0) == []
    assert running_in(tmp_path) == []


def test_a_bot_that_is_idle_for_long_lives(tmp_path: Path) -> None:
    """The one test that waits: trio retires idle threads after 10 s, and nothing may hang on
    one of them."""
    clock = ClockRules(limit=30.0)
    log = play(tmp_path, "think-long", clock=clock)
    assert log.faults(0) == []
    assert all_as_expected(log)


def test_many_short_lived_programs_start_while_streams_are_busy(tmp_path: Path) -> None:
    made = schedule("knave", ClockRules(), FaultRules(), rounds=10)
    entered = {n: folder_bot(tmp_path, f"good{n}", FAULTY, "--fault", "none") for n in range(4)}
    matches = list(made.generation(list(made.blocks()), 0))
    log = Log()
    statuses: list[int | None] = []

    async def start(house: House) -> None:
        process = await house.launcher.start("short", ["/bin/true"], tmp_path, {})
        statuses.append((await process.wait()).status)

    async def main() -> None:
        with trio.fail_after(120):
            async with (
                open_house("knave", made.clock, made.faults, tmp_path / "logs") as house,
                trio.open_nursery() as nursery,
            ):
                for _ in range(300):
                    nursery.start_soon(start, house)
                await play_matches(house, entered, matches, log)

    trio.run(main)
    assert statuses == [0] * 300
    assert len(log.results) == len(matches)
    assert not any(log.faults(n) for n in range(4))

"""The teaching mode: the first fault forfeits, and the person who watches is told why at once."""

from pathlib import Path

import pytest

from referee.match import FORFEIT_AT_ONCE, STAND_IN, Fault, FaultKind, FaultRules
from tests.tournaments.playing import tournament
from tests.tournaments.test_runner import Quiet, entrant, plan, play
from tournaments.forfeits import TOLD, Announcer, told
from tournaments.store import Store
from tournaments.verify import verify


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KNAVERY_CACHE", str(tmp_path / "cache"))


def test_only_the_stand_in_policy_allows_faults() -> None:
    assert FaultRules(limit=5, policy=STAND_IN).allowed == 5
    assert FaultRules(limit=5, policy=FORFEIT_AT_ONCE).allowed == 0


def test_a_fault_is_told_with_its_place_kind_cause_and_what_was_played() -> None:
    fault = Fault(2, 1, "play", 4, FaultKind.ILLEGAL, (13,), "2H does not follow\x1b[31m clubs")
    assert told(fault) == (
        "deal 2, trick 4, seat 1: illegal: 2H does not follow clubs; 2D was played for it"
    )
    bid = Fault(0, 0, "bid", None, FaultKind.ABSENT, (), "bot.py, line 3\n  KeyError: 'x'")
    assert told(bid) == "deal 0, bid, seat 0: absent: bot.py, line 3\n      KeyError: 'x'"


def test_a_bot_that_always_fails_is_told_of_a_few_times() -> None:
    schedule = tournament().schedule(bytes(32), (0, 1, 2))
    match = schedule.match(next(schedule.blocks()), 0)
    lines: list[str] = []
    announcer = Announcer({0: "al\x1bice", 1: "bob", 2: "carol"}, lines.append)
    fault = Fault(0, 0, "play", 0, FaultKind.LATE, (), "no answer")
    for _ in range(10):
        announcer.forfeited(match, fault)
    assert len(lines) == TOLD + 1
    assert "\x1b" not in "".join(lines)


def test_the_first_fault_forfeits_and_says_why_while_the_tournament_goes_on(
    tmp_path: Path,
) -> None:
    wrong = entrant(tmp_path, "wrong", "faulty.py", "--fault", "error")
    good = [entrant(tmp_path, f"good{n}", "faulty.py") for n in range(2)]
    made = plan(wrong, *good, faults=FaultRules(policy=FORFEIT_AT_ONCE), max_deals=1)
    progress = Quiet()
    assert play(made, tmp_path / "t.knavery", progress)
    first = progress.lines[0]
    assert first.startswith("wrong forfeits match e0/g0-1-2/b0/s")
    assert ": exception: no idea" in first
    assert first.endswith(" was played for it")
    assert sum("wrong forfeits" in line for line in progress.lines) == TOLD
    with Store.open(tmp_path / "t.knavery", write=False) as store:
        assert store.forfeit_counts() == {0: 6}
        assert store.fault_counts() == {0: {FaultKind.EXCEPTION: 6}}
        assert store.tournament().faults.policy == FORFEIT_AT_ONCE
        assert verify(store).problem is None
        assert store.tally().finished == 6


def test_a_bot_that_dies_at_once_is_not_started_in_a_tight_loop(tmp_path: Path) -> None:
    broken = entrant(tmp_path, "broken", "faulty.py", "--fault", "exit-at-once")
    good = [entrant(tmp_path, f"good{n}", "faulty.py") for n in range(2)]
    faults = FaultRules(restarts=2, backoff=0.5)
    made = plan(broken, *good, faults=faults, max_deals=1)
    path = tmp_path / "t.knavery"
    assert play(made, path)
    with Store.open(path, write=False) as store:
        crashes = dict(store._rows("SELECT process, happened FROM crashes"))
        starts = list(
            store._rows(
                "SELECT generation, restart, process, started FROM processes"
                " WHERE entrant = 0 ORDER BY generation, restart"
            )
        )
        assert [(g, r) for g, r, _, _ in starts] == [(g, r) for g in (0, 1) for r in (0, 1, 2)]
        for number, pause in ((0, 0.5), (1, 1.0), (3, 0.5), (4, 1.0)):
            died, again = crashes[starts[number][2]], starts[number + 1][3]
            assert again - died >= pause - 0.05
        assert store.forfeit_counts() == {0: 6}

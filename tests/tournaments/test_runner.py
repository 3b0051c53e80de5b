"""Whole tournaments of real bot processes, into a real file."""

import os
import re
import shutil
import signal
from collections import Counter
from pathlib import Path

import pytest
import trio

from referee import bots
from referee.games.registry import make_rules
from referee.limits import AUTO, SandboxRules
from referee.match import ClockRules, FaultRules, MatchResult
from tests.referee.test_turns import living
from tournaments import launch, waves
from tournaments.config import EntrantSpec, Tournament
from tournaments.launch import Plan
from tournaments.reception import Listening
from tournaments.runner import Run
from tournaments.schedule import Scheduled, Seatings, usual_seatings
from tournaments.store import Store
from tournaments.verify import verify

BOTS = Path(__file__).resolve().parent.parent / "bots"
KEY = bytes(range(32))


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KNAVERY_CACHE", str(tmp_path / "cache"))


class Quiet:
    """Progress shown to nobody; sends a signal to this process after some matches."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.lines: list[str] = []
        self._left = stop_after

    def finished(self, match: Scheduled, result: MatchResult) -> None:  # noqa: ARG002
        if self._left is not None:
            self._left -= 1
            if self._left == 0:
                os.kill(os.getpid(), signal.SIGINT)

    def say(self, line: str) -> None:
        self.lines.append(line)


def entrant(folder: Path, name: str, source: str, *arguments: str) -> EntrantSpec:
    place = folder / "entrants" / name
    place.mkdir(parents=True)
    shutil.copy(BOTS / source, place / "bot.py")
    words = ", ".join(f'"{word}"' for word in ("python", "bot.py", *arguments))
    (place / "bot.toml").write_text(f'name = "{name}"\nrun = [{words}]\n')
    return EntrantSpec(None, str(place))


def plan(
    *entrants: EntrantSpec,
    rounds: int = 1,
    game: str = "knave",
    faults: FaultRules | None = None,
    seatings: Seatings | None = None,
    max_deals: int = 2,
    mode: str = AUTO,
    here: Listening | None = None,
) -> Plan:
    rules = make_rules(game, max_deals=max_deals)
    return launch.plan(
        Tournament(
            name="test",
            rules=rules,
            entrants=entrants,
            rounds=rounds,
            seatings=seatings or usual_seatings(rules),
            key=KEY,
            clock=ClockRules(limit=5.0),
            faults=faults or FaultRules(),
            sandbox=SandboxRules(mode),
        ),
        here,
    )


def play(
    made: Plan, path: Path, progress: Quiet | None = None, max_processes: int | None = None
) -> bool:
    """Plays into a file, new or not."""
    if path.exists():
        store = Store.open(path, write=True)
    else:
        store = Store.create(path, made.tournament, made.key, made.entrants, made.commitment)
    with store:
        run = Run(
            *(store, made.schedule, made.field, progress or Quiet()),
            max_processes=max_processes,
            sandbox=made.tournament.sandbox,
        )
        return trio.run(run.play, path.with_suffix(".logs"))


def facts(path: Path) -> dict[str, tuple[object, ...]]:
    """What was played, times apart."""
    with Store.open(path, write=False) as store:
        return {
            match.id: (match.totals, match.places, tuple(deal.moves for deal in match.deals))
            for match in store.matches(open_blocks=True)
        }


def table(path: Path) -> list[tuple[str, float | None]]:
    from tournaments.table import computed

    with Store.open(path, write=False) as store:
        return [(row.name, row.rating) for row in computed(store).rows]


def four(folder: Path) -> tuple[EntrantSpec, ...]:
    return tuple(entrant(folder, f"bot{n}", "faulty.py") for n in range(4))


def test_every_seating_of_every_block_is_played_and_kept(tmp_path: Path) -> None:
    made = plan(*four(tmp_path))
    assert play(made, tmp_path / "t.knavery")
    with Store.open(tmp_path / "t.knavery", write=False) as store:
        tally = store.tally()
        assert (tally.finished, tally.blocks_complete, tally.blocks_open) == (24, 4, 0)
        assert tally.processes == 4 * 6
        assert store.epochs()[0].published is not None
        seats = Counter(
            (index, seat) for played in store.played() for seat, index in enumerate(played.entrants)
        )
    assert set(seats.values()) == {24 * 3 // 12}
    assert not list(tmp_path.glob("t.knavery-*")), "a closed file is one file"


def test_no_process_meets_the_same_cards_twice(tmp_path: Path) -> None:
    spy = entrant(tmp_path, "spy", "memory.py")
    made = plan(spy, *four(tmp_path)[:2], rounds=3)
    assert play(made, tmp_path / "t.knavery")
    seen: Counter[str] = Counter()
    logs = list((tmp_path / "t.logs").glob("*spy*.log"))
    assert len(logs) == 6
    for log in logs:
        deals = re.findall(r"^deal .*$", log.read_text(), re.MULTILINE)
        assert len(deals) == 3 * 2, "three blocks of two deals"
        assert len(set(deals)) == len(deals), f"{log.name} saw a deal twice"
        seen.update(deals)
    assert set(seen.values()) == {6}, "each deal is met once in each of six lives"


def test_a_stopped_tournament_goes_on_with_exactly_what_is_missing(tmp_path: Path) -> None:
    made = plan(*four(tmp_path)[:3], rounds=4, game="ninety-nine")
    whole, parts = tmp_path / "whole.knavery", tmp_path / "parts.knavery"
    assert play(made, whole)
    assert not play(made, parts, Quiet(stop_after=3))
    assert not list(tmp_path.glob("parts.knavery-*")), "a stopped file is one file too"
    after_first = facts(parts)
    assert 3 <= len(after_first) < 24
    assert not play(made, parts, Quiet(stop_after=9))
    assert play(made, parts)
    assert facts(parts) == facts(whole)
    assert table(parts) == table(whole)
    assert after_first.items() <= facts(parts).items()
    with Store.open(parts, write=False) as store:
        assert store.tally().abandoned_attempts > 0
        processes = store.tally().processes
    assert play(made, parts), "nothing is missing"
    with Store.open(parts, write=False) as store:
        assert store.tally().processes == processes


class Crowd(Quiet):
    """Also counts the bots' processes whenever a match is over, and when blocks are complete."""

    def __init__(
        self, folder: Path, seatings: int, finished: Counter[str], stop_after: int | None
    ) -> None:
        super().__init__(stop_after)
        self.most = 0
        self.most_open = 0
        self._folder = folder
        self._seatings = seatings
        self._finished = finished

    def finished(self, match: Scheduled, result: MatchResult) -> None:
        self.most = max(self.most, living(self._folder))
        self._finished[match.block.id] += 1
        unfinished = sum(count < self._seatings for count in self._finished.values())
        self.most_open = max(self.most_open, unfinished)
        super().finished(match, result)


def test_waves_of_few_processes_play_the_same_with_a_stop_in_between(tmp_path: Path) -> None:
    made = plan(*four(tmp_path), seatings=Seatings.CYCLIC)
    whole, parts = tmp_path / "whole.knavery", tmp_path / "parts.knavery"
    assert play(made, whole)
    finished = Counter[str]()
    crowds = [Crowd(tmp_path / "cache", 3, finished, stop) for stop in (5, None)]
    assert [play(made, parts, crowd, max_processes=3) for crowd in crowds] == [False, True]
    assert facts(parts) == facts(whole)
    assert table(parts) == table(whole)
    for crowd in crowds:
        assert 1 <= crowd.most <= 3
        assert crowd.most_open == 1, "each wave completes its block before the next one begins"
    with Store.open(parts, write=False) as store:
        assert verify(store).problem is None


def test_a_first_wave_that_grows_plays_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = plan(*four(tmp_path), rounds=3, max_deals=1, seatings=Seatings.CYCLIC)
    whole, grown = tmp_path / "whole.knavery", tmp_path / "grown.knavery"
    assert play(made, whole)
    monkeypatch.setattr(waves, "FIRST_RATIO", 0.02)
    assert play(made, grown)
    assert facts(grown) == facts(whole)
    assert table(grown) == table(whole)
    with Store.open(grown, write=False) as store:
        assert store.tally().processes == (1 + 3) * 4, "only the first generation starts twice"
        assert verify(store).problem is None


def test_a_bot_that_never_starts_is_suspended_and_the_others_play_on(tmp_path: Path) -> None:
    broken = entrant(tmp_path, "broken", "faulty.py", "--fault", "exit-at-once")
    made = plan(*four(tmp_path)[:2], broken, faults=FaultRules(restarts=1))
    progress = Quiet()
    path = tmp_path / "t.knavery"
    assert play(made, path, progress)
    assert any("broken is suspended" in line for line in progress.lines)
    with Store.open(path, write=False) as store:
        assert store.suspended(0) == {2}
        starts = store.tally().processes
        assert starts == 2 * 6 + 2 * 2, "two generations of two starts, and then no more"
        assert store.forfeit_counts() == {2: 6}
    assert [name for name, _ in table(path)][-1] == "broken"


def test_a_changed_bot_is_not_resumed(tmp_path: Path) -> None:
    from tournaments.store import StoreError

    entrants = four(tmp_path)[:3]
    made = plan(*entrants)
    path = tmp_path / "t.knavery"
    assert not play(made, path, Quiet(stop_after=2))
    Path(entrants[1].path, "bot.py").write_text("print('another')\n")
    with pytest.raises(StoreError, match=r"bot1 is not what it was when .*put .* back"):
        launch.go_on(path)
    assert bots.load(entrants[0].path).name == "bot0"

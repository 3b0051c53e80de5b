"""Every variant of every game, and every joining of them, in a tournament of real bots: played to
its end, proved, rated, exported and judged by the rules alone."""

import math
from itertools import combinations
from pathlib import Path

import pytest
import trio

from referee.games.registry import GAMES, joined_variants, make_rules, variants
from referee.match import ClockRules, FaultRules
from tests.tournaments.rescorer import check_tournament
from tournaments import launch
from tournaments.config import EntrantSpec, Tournament
from tournaments.export import replays
from tournaments.launch import Plan
from tournaments.runner import Run
from tournaments.schedule import Seatings, group_size
from tournaments.store import Store
from tournaments.table import computed
from tournaments.verify import verify

QUEENS = (-1, -1, -2, -2)
NAMED: list[tuple[str, str, dict[str, object]]] = [
    (game, variant, {}) for game in GAMES for variant in joined_variants(game)
]
VARIANTS = [
    *NAMED,
    ("knave", "positive", {"queens": QUEENS}),
    ("knave", "positive+four", {"queens": QUEENS}),
]
"""Positive and double have no common name: what queens cost is set by hand (K-07)."""
BOTS = ("advice", "random", "greedy", "highest", "lowest")


class Quiet:
    """Progress shown to nobody."""

    def finished(self, match: object, result: object) -> None: ...

    def say(self, line: str) -> None: ...


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KNAVERY_CACHE", str(tmp_path / "cache"))


def plan(
    game: str, variant: str, *first: str, fields: dict[str, object] | None = None, more: int = 0
) -> Plan:
    """A tournament of as many bots as a table needs, these first, or of some more."""
    rules = make_rules(game, variant, max_deals=2, **(fields or {}))
    chosen = (*first, *BOTS)[: group_size(rules) + more]
    return launch.plan(
        Tournament(
            name="variants",
            rules=rules,
            entrants=tuple(EntrantSpec(None, bot) for bot in chosen),
            rounds=2,
            seatings=Seatings.TEAMS if rules.teams else Seatings.CYCLIC,
            key=bytes(32),
            clock=ClockRules(limit=10.0),
            faults=FaultRules(restarts=0),
        )
    )


def test_nothing_that_is_registered_is_left_out() -> None:
    assert {game for game, *_ in NAMED} == set(GAMES)
    for game in GAMES:
        played = {variant for one, variant, _ in NAMED if one == game}
        names = variants(game)[1:]
        assert set(names) < played
        for pair in combinations(names, 2):
            assert "+".join(pair) in played or pair == ("double", "positive")


@pytest.mark.parametrize(("game", "variant", "fields"), VARIANTS)
def test_bots_play_it_and_the_file_is_proved(
    tmp_path: Path, game: str, variant: str, fields: dict[str, object]
) -> None:
    made = plan(game, variant, fields=fields)
    path = tmp_path / "t.knavery"
    with Store.create(path, made.tournament, made.key, made.entrants, made.commitment) as store:
        assert trio.run(Run(store, made.schedule, made.field, Quiet()).play, tmp_path / "logs")
    with Store.open(path, write=False) as store:
        report = verify(store)
        result = computed(store)
        lines = list(replays(store))
    (epoch,) = report.epochs
    assert report.problem is None
    assert (epoch.complete, epoch.missing, report.faults) == (2, 0, 0)
    assert report.processes == made.schedule.generations * made.schedule.rules.players
    assert sorted(row.name for row in result.rows) == sorted(each.name for each in made.entrants)
    assert all(row.matches == epoch.matches and row.rating is not None for row in result.rows)
    assert check_tournament(lines) == epoch.matches


@pytest.mark.parametrize(
    ("game", "variant"),
    [("knave", "classic"), ("knave", "four"), ("ninety-nine", "short+partnership")],
)
def test_two_epochs_are_proved(tmp_path: Path, game: str, variant: str) -> None:
    path = tmp_path / "t.knavery"
    assert launch.start(plan(game, variant), path) == 0
    made = plan(game, variant, more=1)
    assert launch.start(made, path) == 0
    groups = math.comb(len(made.entrants), made.schedule.group_size)
    with Store.open(path, write=False) as store:
        report = verify(store)
        rows = computed(store).rows
        lines = list(replays(store))
    assert (report.problem, report.missing) == (None, 0)
    assert [epoch.complete for epoch in report.epochs] == [2, 2 * (groups - 1)]
    assert len({row.matches for row in rows}) == 1
    assert len(rows) == len(made.entrants)
    assert check_tournament(lines) == sum(epoch.matches for epoch in report.epochs)


@pytest.mark.parametrize(
    ("game", "variant"), [("knave", "classic"), ("ninety-nine", "partnership")]
)
def test_a_bot_that_never_starts_forfeits_and_the_file_is_proved(
    tmp_path: Path, game: str, variant: str
) -> None:
    (tmp_path / "broken.py").write_text("raise SystemExit(3)\n")
    made = plan(game, variant, str(tmp_path / "broken.py"))
    path = tmp_path / "t.knavery"
    with Store.create(path, made.tournament, made.key, made.entrants, made.commitment) as store:
        assert trio.run(Run(store, made.schedule, made.field, Quiet()).play, tmp_path / "logs")
    with Store.open(path, write=False) as store:
        report = verify(store)
        rows = computed(store).rows
    assert report.problem is None
    (epoch,) = report.epochs
    assert (epoch.complete, epoch.missing) == (2, 0)
    assert [row.forfeits for row in rows if row.name == "broken"] == [epoch.matches]
    assert rows[-1].name == "broken"
    assert report.forfeits == epoch.matches * (2 if made.schedule.rules.teams else 1)

"""Each template, built by its own tools, plays real matches."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
import trio

from benchmarks.languages import CACHE, PATIENT, tournament
from referee import bots
from referee.bots import load
from referee.games.registry import make_rules
from tests.languages.templates import BUILD_SECONDS, ROOT, TEMPLATES, Template
from tournaments import quick
from tournaments.config import EntrantSpec
from tournaments.runner import Entered

pytestmark = pytest.mark.languages
FILLERS = ("advice", "random", "greedy")
MATCHES = (
    ("knave", "double+four"),
    ("knave", "positive"),
    ("ninety-nine", "revelation+short"),
    ("ninety-nine", "partnership"),
    ("ninety-nine", "revelation+short+partnership"),
)


def play(template: Template, game: str, variant: str, matches: int, max_deals: int) -> None:
    """Matches against shipped bots, all of them at once; nobody may commit a fault."""
    rules = make_rules(game, variant, max_deals=max_deals)
    seats = 2 if rules.teams else rules.players
    field = {0: Entered("starter", template.prepared())}
    for seat, name in enumerate(FILLERS[: seats - 1], 1):
        field[seat] = Entered(name, bots.prepare(load(name), CACHE))

    async def run() -> list[quick.Match]:
        return await quick.play(field, rules, matches=matches, clock=PATIENT)

    played = trio.run(run)
    assert len(played) == matches
    assert [match.result.faults for match in played if match.result.faults] == []


def test_its_own_tests_pass(template: Template) -> None:
    template.require()
    _, *blocks = template.blocks()
    for command in blocks[0]:
        done = subprocess.run(
            command,
            shell=True,
            cwd=template.copied(),
            capture_output=True,
            text=True,
            timeout=BUILD_SECONDS,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"


def test_the_three_commands_of_its_readme_work(template: Template) -> None:
    folder = template.copied()
    slow = {"check": ["--limit=20", "--startup=120"], "play": ["--matches=1"]}
    for command in template.blocks()[0]:
        program, verb, *rest = command.split()
        assert program == "knavery"
        done = subprocess.run(
            [sys.executable, "-m", "tournaments.cli", verb, *rest, *slow.get(verb, [])],
            cwd=folder,
            env=os.environ | {"KNAVERY_CACHE": str(CACHE), "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=BUILD_SECONDS,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    assert load(str(folder)).version == load(str(template.folder)).version, "built once for both"


@pytest.mark.parametrize(("game", "variant"), MATCHES)
def test_it_plays_without_a_fault(template: Template, game: str, variant: str) -> None:
    play(template, game, variant, matches=6, max_deals=6)


def test_it_plays_many_tables_at_once(template: Template) -> None:
    play(template, "knave", "classic", matches=150, max_deals=1)


@pytest.mark.parametrize("game", ["knave", "ninety-nine"])
def test_it_beats_random_with_intervals_that_do_not_overlap(
    template: Template, game: str, tmp_path: Path
) -> None:
    template.require()
    entrants = (
        EntrantSpec(None, str(template.folder)),
        EntrantSpec("random", "random"),
        EntrantSpec("other", "random"),
    )
    table = tournament(tmp_path / "t.knavery", game, entrants, rounds=4)
    best, *others = table.rows
    assert best.name == f"starter-{template.language}"
    assert best.points_low is not None
    for other in others:
        assert other.points_high is not None
        assert best.points_low > other.points_high


def test_the_code_that_go_commits_is_fresh(tmp_path: Path) -> None:
    (template,) = (each for each in TEMPLATES if each.language == "go")
    template.require()
    spec = importlib.util.spec_from_file_location("generate", ROOT / "protos/generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.generate_go(tmp_path, ROOT / ".cache/go-tools")
    made = sorted((tmp_path / "knaverypb").iterdir())
    assert len(made) == 3
    for path in made:
        assert path.read_text() == (template.folder / "knaverypb" / path.name).read_text()

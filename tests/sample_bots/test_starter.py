"""The folder that a Python bot's author begins with."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

import knavery
from referee.games.registry import GAMES, make_rules, variants

FOLDER = Path(__file__).resolve().parents[2] / "sample_bots/python-starter"


@pytest.fixture(scope="module")
def starter() -> type[knavery.Bot]:
    spec = importlib.util.spec_from_file_location("starter_bot", FOLDER / "bot.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: type[knavery.Bot] = module.Starter
    return found


@pytest.mark.parametrize(("game", "variant"), [(g, v) for g in GAMES for v in variants(g)])
def test_it_plays_every_variant_without_a_fault(
    starter: type[knavery.Bot], game: str, variant: str
) -> None:
    result = knavery.play([starter] * make_rules(game, variant).players, game, variant)
    assert (result.faults, result.trouble) == ((), ())


def test_it_beats_random(starter: type[knavery.Bot]) -> None:
    for game in GAMES:
        result = knavery.play([starter, "random", "random"], game, matches=20, seed=1)
        own, *others = result.points_per_deal
        assert own > max(others), game


def test_its_own_tests_pass() -> None:
    done = subprocess.run(
        [sys.executable, "-B", "-m", "unittest"], cwd=FOLDER, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "OK" in done.stderr

"""`kill -9` of the referee at seeded moments: what is resumed ends as if nothing had happened."""

import random
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.bot_kills import BOTS, Hunt
from benchmarks.kills import Arena, Outcome
from tests.cli.conftest import ROOT

POINTS = 3


@pytest.fixture(scope="module")
def arena(bot_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    """Two shipped bots, one of which draws by its match's seed, and one that forfeits: whatever
    it answers is illegal."""
    place = tmp_path_factory.mktemp("bots") / "wrong"
    place.mkdir()
    shutil.copy(ROOT / "tests/bots/faulty.py", place / "bot.py")
    run = '["python", "bot.py", "--fault", "illegal"]'
    (place / "bot.toml").write_text(f'name = "wrong"\nrun = {run}\n')
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setenv("KNAVERY_CACHE", str(bot_cache))
        yield Arena(Path(folder), ("random", "greedy", str(place)))


@pytest.fixture(scope="module")
def undisturbed(arena: Arena) -> tuple[Outcome, int]:
    return arena.undisturbed()


@pytest.mark.parametrize("point", range(POINTS))
def test_a_killed_tournament_goes_on_to_the_same_end(
    arena: Arena, undisturbed: tuple[Outcome, int], point: int
) -> None:
    expected, written = undisturbed
    assert len(expected.matches) == 12
    assert any(forfeits for _, _, forfeits, *_ in expected.matches.values())
    outcome, kills = arena.disturbed(random.Random(point), written)
    assert kills >= 1
    assert outcome == expected


def test_a_newcomers_epoch_that_is_killed_goes_on_to_the_same_end(bot_cache: Path) -> None:
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setenv("KNAVERY_CACHE", str(bot_cache))
        arena = Arena(Path(folder), ("random", "greedy", "lowest"), 1, newcomers=("highest",))
        expected, written = arena.undisturbed()
        assert len(expected.matches) == 12
        outcome, kills = arena.disturbed(random.Random(1), written)
    assert kills >= 1
    assert outcome == expected


def test_bots_that_are_killed_leave_a_fault_in_their_open_matches_only(bot_cache: Path) -> None:
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setenv("KNAVERY_CACHE", str(bot_cache))
        hunt = Hunt(Path(folder), BOTS, 1, max_deals=3)
        expected, _ = hunt.undisturbed()
        found = hunt.hunted(random.Random(0), 12, expected)
    assert found.matches == len(expected.matches) == 12
    assert found.kills >= found.crashes >= 1
    assert found.faults >= found.touched

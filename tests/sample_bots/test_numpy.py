"""The sample bot that needs a package from the index."""

import os
from pathlib import Path

import pytest
import trio

from referee.bots import BotError, load, prepare
from referee.games.registry import make_rules
from tournaments import quick
from tournaments.runner import Entered

FOLDER = Path(__file__).resolve().parents[2] / "sample_bots/python-numpy"


@pytest.fixture(scope="module")
def entered(tmp_path_factory: pytest.TempPathFactory) -> Entered:
    bot = load(str(FOLDER))
    try:
        return Entered(bot.name, prepare(bot, tmp_path_factory.mktemp("cache")), bot.max_tables)
    except BotError as error:
        if os.environ.get("CI") or "(from versions: none)" not in str(error):
            raise
        pytest.skip(f"this machine reaches no package index: {error}")


@pytest.mark.parametrize(
    ("game", "variant"),
    [("knave", "classic"), ("knave", "four"), ("ninety-nine", "short+partnership")],
)
def test_it_plays_with_its_own_numpy(entered: Entered, game: str, variant: str) -> None:
    assert "environments" in entered.prepared.argv[0]
    rules = make_rules(game, variant)
    count = 2 if rules.teams else rules.players
    (match,) = trio.run(quick.play, dict.fromkeys(range(count), entered), rules)
    assert match.result.faults == ()

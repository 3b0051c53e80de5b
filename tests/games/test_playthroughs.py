"""One golden playthrough for each registered variant and joining, in playthroughs/.

`UPDATE_GOLDEN=1 pytest tests/games/test_playthroughs.py` writes them anew; read the difference.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from referee.games.rules import Rules
from tests.games.playthrough import playthrough
from tests.games.table import every_rules, named

FOLDER = Path(__file__).with_name("playthroughs")


def path_of(rules: Rules) -> Path:
    return FOLDER / f"{rules.game}.{rules.variant}.txt"


@pytest.mark.parametrize("rules", every_rules(), ids=named)
def test_a_playthrough_is_as_it_was(rules: Rules) -> None:
    path, played = path_of(rules), playthrough(rules)
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(played)
    assert path.exists(), f"{path.name} is missing: run with UPDATE_GOLDEN=1 and read what it wrote"
    assert played == path.read_text()


def test_there_is_one_for_each_variant_and_no_other() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {
        path_of(rules).name for rules in every_rules()
    }

"""All six languages at one table."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks import languages
from referee.games.registry import GAMES
from tests.languages.templates import TEMPLATES


@pytest.mark.languages
@pytest.mark.parametrize("game", GAMES)
def test_a_tournament_of_all_six_has_no_fault_and_is_proved(tmp_path: Path, game: str) -> None:
    for template in TEMPLATES:
        template.require()
    result = languages.tournament(tmp_path / "t.knavery", game, languages.field())
    assert len(result.rows) == 6
    assert {row.matches for row in result.rows} == {30}
    assert result.rows[0].name == "advice-python"


def test_the_page_shows_a_table_for_each_game_with_every_language() -> None:
    page = languages.PAGE.read_text(encoding="utf-8")
    shown = page[page.index("<!-- tables -->") :]
    assert re.findall(r"^(\S+): 20 blocks complete", shown, re.MULTILINE) == list(GAMES)
    for name in [*(f"starter-{each.language}" for each in TEMPLATES), "advice-python"]:
        rows = re.findall(rf"^\d+ +{name} .*$", shown, re.MULTILINE)
        assert [row.split()[-2:] for row in rows] == [["0", "0"]] * 2, name


def test_the_tournament_has_every_template() -> None:
    assert set(languages.LANGUAGES) == {each.language for each in TEMPLATES}

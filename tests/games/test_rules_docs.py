"""docs/rules.md tells of every variant, field and decision that there is."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from referee.games.registry import GAMES, joined_variants

DOCS = (Path(__file__).parents[2] / "docs" / "rules.md").read_text()


@pytest.mark.parametrize("game", GAMES)
def test_every_variant_and_joining_is_named(game: str) -> None:
    assert [name for name in joined_variants(game) if f"`{name}`" not in DOCS] == []


@pytest.mark.parametrize("game", GAMES)
def test_every_field_is_explained(game: str) -> None:
    names = [field.name for field in fields(GAMES[game]) if field.name != "variant"]
    assert [name for name in names if f"| `{name}` |" not in DOCS] == []


def test_every_decision_is_listed_once_and_in_order() -> None:
    listed = re.findall(r"^\| ([KN]-\d\d) \|", DOCS, re.MULTILINE)
    knave = [f"K-{number:02}" for number in range(1, 17)]
    assert listed == [*knave, *(f"N-{number:02}" for number in range(1, 22))]


def test_every_decision_cited_is_listed() -> None:
    code = Path(__file__).parents[2] / "referee" / "games"
    cited = {
        number
        for path in code.glob("*.py")
        for number in re.findall(r"\b[KN]-\d\d\b", path.read_text())
    }
    assert cited
    assert cited <= set(re.findall(r"^\| ([KN]-\d\d) \|", DOCS, re.MULTILINE))


def test_what_is_not_included_is_said() -> None:
    assert "not included yet" in DOCS
    for missing in ("phillips", "parlett"):
        assert f"`{missing}`" in DOCS
        assert not any(missing in joined_variants(game) for game in GAMES)

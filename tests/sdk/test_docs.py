"""What docs/writing-a-bot.md shows is so."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import knavery
from knavery import View

DOCS = Path(__file__).resolve().parents[2] / "docs" / "writing-a-bot.md"
TEXT = DOCS.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def shown() -> dict[str, Any]:
    """The names that the page's Python code makes, run from the first block to the last."""
    names: dict[str, Any] = {"__name__": "my_bot"}
    for block in re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL):
        exec(compile(block, "my_bot.py", "exec"), names)
    return names


def test_its_code_runs_and_its_bots_play(shown: dict[str, Any]) -> None:
    bots = [shown[name] for name in ("MyBot", "Watchful", "Neural")]
    for game in ("knave", "ninety-nine"):
        result = knavery.play(bots, game)
        assert (result.faults, result.trouble) == ((), ())
    assert {note.text for match in result.matches for note in match.notes} == {"batched"}


def test_its_table_names_every_attribute_of_a_view() -> None:
    table = TEXT[TEXT.index("| what | meaning |") : TEXT.index("Each is worked out")]
    named = set(re.findall(r"`([a-z_]+)(?:\(card\))?`", table.replace("`, `", "` `")))
    assert {name for name in vars(View) if not name.startswith("_")} <= named

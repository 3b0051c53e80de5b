"""docs/faults.md names every kind of fault, and tests that are there."""

import ast
import re
from pathlib import Path

import pytest

from referee.match import FaultKind

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs/faults.md").read_text()
NAMED = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", TEXT)


@pytest.mark.parametrize("kind", FaultKind, ids=lambda kind: kind.name)
def test_every_kind_has_a_row_with_a_cause_a_culprit_and_a_test(kind: FaultKind) -> None:
    (row,) = (line for line in TEXT.splitlines() if line.startswith(f"| `{kind.name.lower()}` |"))
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert len(cells) == 5
    assert all(cells)
    assert re.fullmatch(r"`tests/[\w/]+\.py::\w+`", cells[4])


@pytest.mark.parametrize(("file", "name"), sorted(set(NAMED)))
def test_the_tests_that_are_named_are_there(file: str, name: str) -> None:
    tree = ast.parse((ROOT / file).read_text())
    assert name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}

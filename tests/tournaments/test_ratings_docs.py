from __future__ import annotations

import doctest
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs" / "ratings.md"


def test_examples_in_the_docs_are_true() -> None:
    result = doctest.testfile(str(DOCS), module_relative=False)
    assert result.attempted >= 10
    assert result.failed == 0

"""A tournament of 20,000 deals: what makes its pages open at once, however slow the machine.
(benchmarks/pages.py says how long they take.)"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from benchmarks.pages import DEALS, PATHS, build
from tests.web.asking import Asker, asker
from tests.web.served import served
from tournaments.search import PAGE, Query, Search, faults_query, matches_query
from tournaments.web.asking import MOST

BYTES = 300_000
"""Of a page, at the most."""


@pytest.fixture(scope="session")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("large") / "large.knavery"
    assert build(path) >= DEALS
    return path


@pytest.fixture(scope="module")
def ask(large: Path) -> Asker:
    return asker(large)


@pytest.fixture(scope="module")
def search(large: Path) -> Iterator[Search]:
    with Search.open(large, write=False) as opened:
        yield opened


def match(search: Search) -> str:
    return search.page_of_matches(Query(), limit=1).items[0].id


@pytest.mark.parametrize("path", PATHS)
def test_a_page_holds_no_more_than_a_page(ask: Asker, path: str) -> None:
    answer = ask(path)
    assert answer.status_code == 200
    assert len(answer.content) < BYTES
    assert answer.text.count("<tr>") <= 2 * PAGE + 40


@pytest.mark.parametrize("path", ["/api/matches", "/api/faults", "/api/running"])
def test_an_answer_holds_no_more_than_was_asked_for(ask: Asker, path: str) -> None:
    assert len(ask(path).json()["items"]) <= PAGE
    assert len(ask(f"{path}?limit={MOST}").json()["items"]) <= MOST
    assert len(ask(f"{path}?limit={MOST}").content) < BYTES


class Steps:
    """Counts what SQLite does for a query, in steps of its machine."""

    def __init__(self, store: Search) -> None:
        self.count = 0
        self._db: Any = store._db

    def __enter__(self) -> "Steps":
        self._db.set_progress_handler(self._step, 100)
        return self

    def _step(self) -> int:
        self.count += 100
        return 0

    def __exit__(self, *exc: object) -> None:
        self._db.set_progress_handler(None, 0)


@pytest.mark.parametrize(
    "query", [Query(), Query(bot=3), Query(faulty=True), Query(bot=3, match="b0/s2")], ids=str
)
def test_a_page_is_found_by_walking_an_index(search: Search, query: Query) -> None:
    """Bounded work: the same for the first page as for one far back."""
    for made, bounds in ((matches_query, [9, 51]), (faults_query, [9, 9, 9, 51])):
        sql, values = made(query)
        plan = search._rows(f"EXPLAIN QUERY PLAN {sql}", 6, *values, *bounds)
        steps = [row["detail"] for row in plan]
        assert not [step for step in steps if "B-TREE" in step or step.startswith("SCAN jobs")]
    with Steps(search) as first:
        page = search.page_of_matches(query)
    with Steps(search) as later:
        search.page_of_matches(query, page.after and "500")
    assert first.count < 100_000
    assert later.count < 100_000


def test_one_match_is_found_without_the_others(search: Search) -> None:
    with Steps(search) as steps:
        assert search.look_up(match(search), open_blocks=False) is not None
    assert steps.count < 30_000


def test_its_pages_open_in_a_browser(large: Path, search: Search, desktop: Page) -> None:
    name = match(search)
    with served(large.parent, large.name) as server:
        for path in (*PATHS, f"/matches/{name}"):
            desktop.goto(server.url + path)
            expect(desktop.locator("h1")).to_be_visible()
        desktop.goto("about:blank")

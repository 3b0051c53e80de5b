"""Pages as HTML, and as a browser shows them."""

import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.tournaments.playing import create, play_all, tournament
from tests.web.conftest import Check, chromium
from tournaments.anonymous import Cast
from tournaments.table import computed
from tournaments.web.pages import message_page, standings_page
from tournaments.web.site import Folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pages of a played tournament."""
    place = tmp_path_factory.mktemp("pages")
    store, schedule = create(place / "x.knavery", tournament(max_deals=2), 4)
    with store:
        list(play_all(store, schedule, faults=0.01))
        result = computed(store)
        names = Cast.of(store.entrants()).labels()
    site = Folder(title="friday", game="knave", variant="classic", names=names)
    (place / "index.html").write_text(standings_page(site, result))
    (place / "message.html").write_text(message_page(site, "Nothing", "There is nothing yet."))
    return place


def test_the_standings_are_the_terminals(folder: Path, desktop: Page) -> None:
    desktop.goto((folder / "index.html").as_uri())
    names = desktop.locator("#standings .bot").all_inner_texts()
    assert sorted(names) == ["alice", "bob", "carol", "dave"]
    assert "4 blocks complete" in desktop.locator("#about").inner_text()


@pytest.mark.parametrize("name", ["index.html", "message.html"])
def test_anybody_can_read_it(folder: Path, page: Page, accessible: Check, name: str) -> None:
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.goto((folder / name).as_uri())
        accessible(page)


def test_a_missing_browser_fails_where_everything_must_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="apt-get install chromium"):
        chromium()
    monkeypatch.delenv("CI")
    with pytest.raises(pytest.skip.Exception):
        chromium()


def test_what_is_heavy_is_imported_when_it_is_needed() -> None:
    """Other commands, and pages without a chart, start without waiting for it."""
    modules = "tournaments.cli, tournaments.table, tournaments.web.pages"
    asks = f"import sys, {modules}; print(*{{'matplotlib', 'jinja2'}} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", asks], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""

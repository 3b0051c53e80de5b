"""Pages as HTML, and as a browser shows them."""

import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.web.conftest import Check, chromium
from tests.web.files import NAMES, eventful
from tournaments.report import Choice, write_report
from tournaments.search import Search
from tournaments.web.pages import message_page
from tournaments.web.site import Folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a tournament to which much has happened, and a page with a message."""
    place = tmp_path_factory.mktemp("pages")
    with Search.open(eventful(place / "x.knavery"), write=False) as store:
        write_report(store, place / "out", Choice())
    site = Folder(title="friday", game="knave", variant="classic", names=())
    message = message_page(site, "Nothing", "There is nothing yet.")
    (place / "out" / "message.html").write_text(message)
    return place / "out"


def test_the_standings_say_who_is_who(folder: Path, desktop: Page) -> None:
    desktop.goto((folder / "index.html").as_uri())
    rows = sorted(
        row.split("\t")[1].strip() for row in desktop.locator("#standings tr").all_inner_texts()
    )
    assert rows == [
        "alice aaaaaaa",
        "bob (fffffff)",
        "carol ccccccc",
        "dave remote",
        f"{NAMES[4][:79]}… eeeeeee suspended",
    ]


def test_a_page_tells_what_has_happened(folder: Path, desktop: Page) -> None:
    desktop.goto((folder / "index.html").as_uri())
    lines = desktop.locator(".events li").all_inner_texts()
    assert "rounds: 2, was 1" in lines
    assert "bob (fffffff) takes the place of bob (bbbbbbb)" in lines
    assert "carol leaves" in lines
    assert "carol is there again" in lines
    assert lines[-2] == (
        "alice failed too often in epoch 0: it was suspended, and forfeited what was left.\n"
        "its last words: <b>no idea"
    )
    assert lines[-1].endswith("forfeited what was left."), "that epoch goes on"
    text = desktop.locator("main").inner_text()
    assert "2 times a match was void" in text
    assert "1 match was broken off" in text
    desktop.get_by_role("link", name="bob (bbbbbbb)").click()
    assert "bob (fffffff) has taken its place" in desktop.locator(".lead").inner_text()
    desktop.get_by_role("link", name="bob (fffffff)").first.click()
    assert "in place of bob (bbbbbbb)" in desktop.locator("main").inner_text()
    desktop.goto((folder / "bot-3.html").as_uri())
    assert "A remote entrant" in desktop.locator("main").inner_text()


@pytest.mark.parametrize("name", ["index.html", "bot-5.html", "message.html"])
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

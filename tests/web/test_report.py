"""A report on disk, in a real browser: what it shows, that it leads nowhere else, and that anybody
can read it."""

import html
import re
from itertools import islice
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.tournaments.playing import KEY, create, play_all, tournament
from tests.web.conftest import DESKTOP, PHONE, Check, opened
from tournaments.report import Choice, write_report
from tournaments.schedule import Entrant, commitment
from tournaments.search import Query, Search
from tournaments.standings import header
from tournaments.store import Store
from tournaments.table import computed

MATCH = "match-e0-g0-1-2-b0-s4.html"
KINDS = (
    *("index.html", "meetings.html", "play.html", "matches.html", "faults.html"),
    *("bot-0.html", MATCH),
)


def written(file: Path, folder: Path, **choice: object) -> Path:
    with Search.open(file, write=False) as store:
        assert write_report(store, folder, Choice(**choice)) == len(list(folder.glob("*.html")))
    return folder


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tournament of Knave with faults and notes."""
    path = tmp_path_factory.mktemp("knave") / "x.knavery"
    store, schedule = create(path, tournament(max_deals=2), 4)
    with store:
        list(play_all(store, schedule, faults=0.02))
    return path


@pytest.fixture(scope="module")
def report(file: Path) -> Path:
    return written(file, file.parent / "report", replays="all")


@pytest.fixture(scope="module")
def bidding(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a tournament of Ninety-Nine."""
    path = tmp_path_factory.mktemp("bids") / "x.knavery"
    store, schedule = create(path, tournament("ninety-nine", max_deals=2))
    with store:
        list(play_all(store, schedule, faults=0.02))
    return written(path, path.parent / "report", replays="all")


@pytest.mark.parametrize("name", KINDS)
def test_anybody_can_read_it(report: Path, page: Page, accessible: Check, name: str) -> None:
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.goto((report / name).as_uri())
        accessible(page)


@pytest.mark.parametrize("name", ["play.html", "bot-0.html", MATCH])
def test_anybody_can_read_of_bids(bidding: Path, page: Page, accessible: Check, name: str) -> None:
    page.goto((bidding / name).as_uri())
    accessible(page)


def test_it_leads_nowhere_else(report: Path) -> None:
    names = {path.name for path in report.glob("*.html")}
    for path in report.glob("*.html"):
        text = path.read_text()
        links = set(re.findall(r'(?:href|src)="([^"]*)"', text))
        foreign = {link for link in links if not link.startswith(("#", "data:image/svg"))}
        assert {link.partition("#")[0] for link in foreign} <= names, path.name
        assert "default-src 'none'" in html.unescape(text)
        assert "fetch(" not in text


def test_the_standings_are_the_terminals(file: Path, report: Path, desktop: Page) -> None:
    with Store.open(file, write=False) as store:
        result = computed(store)
    desktop.goto((report / "index.html").as_uri())
    assert desktop.locator("#about").inner_text() == header(result)
    rows = [row.inner_text().split() for row in desktop.locator("#standings tr").all()]
    assert [row[1] for row in rows] == [row.name for row in result.rows]
    assert [row[3] for row in rows] == [f"{row.rating:.0f}" for row in result.rows]


def test_all_kinds_of_figures_are_there(report: Path, bidding: Path, desktop: Page) -> None:
    for folder, words in ((report, "Tricks and jacks"), (bidding, "Bids and success")):
        desktop.goto((folder / "play.html").as_uri())
        headings = desktop.locator("h2").all_inner_texts()
        assert headings == ["Seat and dealer", words, "Decision times"]
        assert desktop.locator("svg.chart").count() == 2
    desktop.goto((report / "meetings.html").as_uri())
    assert desktop.locator("h2").all_inner_texts() == ["Who beat whom", "Likelihood of superiority"]
    desktop.goto((report / "bot-0.html").as_uri())
    titles = desktop.locator("svg.chart title").all_text_contents()
    assert titles == ["Tricks won", "Decision times"]
    desktop.goto((report / "index.html").as_uri())
    assert "Ratings over the tournament" in desktop.locator("svg.chart title").text_content()


def test_who_was_put_out_is_marked(file: Path, report: Path, desktop: Page) -> None:
    with Search.open(file, write=False) as store:
        found = store.page_of_matches(Query(), limit=200).items
        forfeits = store.forfeit_counts()
    out = sum(len(each.forfeits) for each in found)
    desktop.goto((report / "matches.html").as_uri())
    assert desktop.locator("main table").get_by_text("put out").count() == out > 0
    desktop.goto((report / "bot-0.html").as_uri())
    assert f"forfeits\n{forfeits[0]}" in desktop.locator(".facts").inner_text()


def test_without_scripts_the_tables_are_there(report: Path, browser: Browser) -> None:
    for page in opened(browser, DESKTOP, java_script_enabled=False):
        page.goto((report / MATCH).as_uri())
        assert page.locator("#viewer").is_hidden()
        first = page.locator("details.deal table").first
        assert first.is_visible()
        assert first.locator("tbody tr").count() == 1 + 17 + 2
        assert re.search(r"[2-9JQKA][♣♦♥♠]", first.inner_text())


def said(page: Page) -> str:
    return page.locator("#said").inner_text()


def where(page: Page) -> str:
    return page.evaluate("location.hash")


def test_keys_step_through_a_match(report: Path, desktop: Page) -> None:
    desktop.goto((report / MATCH).as_uri())
    assert "leads next" in said(desktop)
    assert desktop.locator("#scene .card").count() == 52
    desktop.keyboard.press("ArrowRight")
    assert " plays " in said(desktop)
    assert where(desktop) == "#0:0:1"
    desktop.keyboard.press("ArrowLeft")
    assert where(desktop) == "#0:0"
    desktop.locator("button", has_text="trick ⇥").focus()
    desktop.keyboard.press("ArrowDown")
    assert "wins the trick" in said(desktop)
    assert where(desktop) == "#0:1"
    desktop.keyboard.press("End")
    assert "The deal is over" in said(desktop)
    desktop.keyboard.press("n")
    assert where(desktop) == "#1:0"
    desktop.keyboard.press("ArrowLeft")
    assert "The deal is over" in said(desktop)


def test_a_link_leads_to_its_moment(report: Path, desktop: Page) -> None:
    for fragment in ("1:3:2", "e0/g0-1-2/b0/s4:1:3:2"):
        desktop.goto(f"{(report / MATCH).as_uri()}#{fragment}")
        assert "deal 1 of 0 to 1, trick 3, step 11 of 51" in desktop.locator("#where").inner_text()
        assert desktop.locator("#scene .card").count() == 3 * 17 - 9 + 1, "and the one undealt"
        desktop.goto("about:blank")
    desktop.goto((report / MATCH).as_uri())
    desktop.evaluate("location.hash = '#1:16:3'")
    desktop.wait_for_function("document.getElementById('said').textContent.includes('over')")
    desktop.evaluate("location.hash = '#99:99:99'")
    desktop.wait_for_function("document.getElementById('where').textContent.includes('deal 1 of')")


def test_bids_are_stepped_through_too(bidding: Path, desktop: Page) -> None:
    desktop.goto((bidding / MATCH).as_uri())
    assert "Seat 0 bids next" in said(desktop)
    desktop.keyboard.press("ArrowRight")
    assert re.search(r"bids \S+ \S+ \S+ = \d", said(desktop))
    assert desktop.locator("#scene .bid").count() == 3
    desktop.goto(f"{(bidding / MATCH).as_uri()}#0:8:3")
    desktop.reload()
    assert "The deal is over" in said(desktop)


def test_fingers_do_the_same(report: Path, phone: Page) -> None:
    phone.goto((report / MATCH).as_uri())
    scene = phone.locator("#scene")
    scene.tap()
    assert where(phone) == "#0:0:1"
    box = scene.bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    for start, end, place in ((300, 100, "#0:0:2"), (100, 300, "#0:0:1")):
        phone.mouse.move(start, middle)
        phone.mouse.down()
        phone.mouse.move(end, middle)
        phone.mouse.up()
        assert where(phone) == place
    phone.locator("button", has_text="forward").tap()
    assert where(phone) == "#0:0:2"
    phone.locator("#deal").select_option("1")
    assert where(phone) == "#1:0"


def test_the_picture_is_the_same_on_a_phone(report: Path, browser: Browser) -> None:
    pictures = []
    for size in (DESKTOP, PHONE):
        for page in opened(browser, size):
            page.goto(f"{(report / MATCH).as_uri()}#1:5:2")
            pictures.append(page.locator("#scene").inner_html())
            box = page.locator("#scene").bounding_box()
            assert box is not None
            assert box["width"] <= size["width"]
    assert pictures[0] == pictures[1]


def test_what_went_wrong_is_told_at_its_step(report: Path, desktop: Page) -> None:
    desktop.goto((report / "faults.html").as_uri())
    first = desktop.locator("table").last.locator("tbody tr").first
    kind = first.locator("td.bad").inner_text()
    first.locator("a").first.click()
    desktop.locator("button", has_text="next fault").click()
    assert f", {kind}: " in desktop.locator("#told").inner_text()


HOSTILE = (
    "<script>document.title='owned'</script>",
    "</script><img src=x onerror=\"document.title='owned'\">",
    "\u202egnihtyna\u2066 $x^2$ {{ 7 * 7 }} 漢字",
    "x" * 200_000,
)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a tournament whose bots are called what they should not be."""
    path = tmp_path_factory.mktemp("hostile") / "x.knavery"
    plan = tournament(max_deals=1)
    field = tuple(Entrant(name, f"{n:064}", "/x", ("x",)) for n, name in enumerate(HOSTILE))
    schedule = plan.schedule(KEY, range(4))
    with Store.create(path, plan, KEY, field, commitment(schedule, field)) as store:
        list(play_all(store, schedule, faults=0.05))
    return written(path, path.parent / "report", replays="all")


@pytest.mark.parametrize("name", [*KINDS, "bot-2.html"])
def test_nothing_that_a_bot_wrote_runs(hostile: Path, desktop: Page, name: str) -> None:
    desktop.goto((hostile / name).as_uri())
    assert not desktop.title().startswith("owned")
    assert desktop.locator("main img, main script:not([type='application/json'])").count() == 0
    text = desktop.content()
    assert "\u202e" not in text
    assert "\u2066" not in text
    assert (hostile / name).stat().st_size < 300_000


def test_hostile_names_are_shown_as_they_are(hostile: Path, page: Page, accessible: Check) -> None:
    page.goto((hostile / "index.html").as_uri())
    shown = page.locator("#standings .bot").all_inner_texts()
    assert HOSTILE[0] in shown
    assert any("{{ 7 * 7 }}" in name for name in shown)
    accessible(page)


def test_the_same_file_gives_the_same_pages(file: Path, report: Path, tmp_path: Path) -> None:
    again = written(file, tmp_path / "again", replays="all")
    for path in report.glob("*.html"):
        assert path.read_bytes() == (again / path.name).read_bytes(), path.name


def test_pages_are_small(tmp_path: Path) -> None:
    for game in ("knave", "ninety-nine"):
        store, schedule = create(tmp_path / f"{game}.knavery", tournament(game))
        with store:
            list(islice(play_all(store, schedule), 6))
        folder = written(store.path, tmp_path / game, replays="all")
        for path in folder.glob("*.html"):
            deals = path.read_text().count('<details class="deal"')
            assert path.stat().st_size < 60_000 + 3_500 * deals, path.name

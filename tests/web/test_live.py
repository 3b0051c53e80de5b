"""A tournament that runs in one process, seen in a real browser through another."""

import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from referee.match import FaultKind
from tests.tournaments.playing import create, play_all, tournament
from tests.web.conftest import Check
from tests.web.files import NAMES, SCRIPT, hostile
from tests.web.served import PATIENCE, Served, served
from tournaments.search import Query, Search
from tournaments.web.events import CLIENTS

LONG = 300_000
"""Milliseconds for what another process does, on a machine that may be busy."""
TOML = """
[tournament]
name = "watched"
game = "knave"
rules = {{ max_deals = 1 }}
rounds = {rounds}
""" + "".join(f"[[entrants]]\npath = '{name}'\n" for name in ("lowest", "highest", "random"))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tournament of hostile names, of which some blocks are open."""
    folder = tmp_path_factory.mktemp("live")
    hostile(folder / "hostile.knavery", 57)
    return folder


@pytest.fixture(scope="module")
def server(files: Path) -> Iterator[Served]:
    with served(files, "hostile.knavery") as running:
        yield running
        assert running.end() == (0, "knavery serve: ended\n")
    assert sorted(each.name for each in files.glob("hostile.knavery*")) == ["hostile.knavery"]


def test_pages_change_while_matches_finish(
    tmp_path: Path, desktop: Page, environment: dict[str, str]
) -> None:
    """The page is never loaded again: what it shows is what the server told it of."""
    (tmp_path / "watched.toml").write_text(TOML.format(rounds=1))
    command = [sys.executable, "-m", "tournaments.cli", "run", "watched.toml"]
    first = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, timeout=LONG / 1000, check=True
    )
    assert first.returncode == 0
    with served(tmp_path, "watched.knavery", environment=environment) as server:
        desktop.goto(server.url)
        now = desktop.locator("[data-live=now]")
        expect(now).to_contain_text("6 of 6 matches")
        expect(now).to_contain_text("Finished")
        expect(desktop.locator("html")).to_have_attribute("data-watching", "yes")
        desktop.evaluate("document.body.dataset.same = 'page'")
        (tmp_path / "watched.toml").write_text(TOML.format(rounds=3))
        with subprocess.Popen(
            command,
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as run:
            expect(now).to_contain_text("Running", timeout=LONG)
            expect(now).to_contain_text("12 of 12 matches", timeout=LONG)
            assert run.wait(LONG / 1000) == 0
        expect(now).to_contain_text("Finished", timeout=LONG)
        expect(desktop.locator("#about")).to_contain_text("3 blocks complete")
        expect(desktop.locator("#standings tr").first).to_contain_text("18")
        assert desktop.evaluate("document.body.dataset.same") == "page"
        desktop.goto("about:blank")
        assert server.end() == (0, "knavery serve: ended\n")
    left = {each.name for each in tmp_path.glob("watched.knavery*")}
    assert left == {"watched.knavery"}, "a reader must not keep the file from being one"


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/meetings",
        "/play",
        "/matches",
        "/faults?fault=late",
        "/bots/0",
        "/matches/",
        "/nothing",
    ],
)
def test_anybody_can_read_it(server: Served, page: Page, accessible: Check, path: str) -> None:
    if path == "/matches/":
        page.goto(f"{server.url}/matches")
        path = page.locator("a.name").first.get_attribute("href") or ""
    if path == "/nothing":
        page.route("**/nothing", lambda route: route.fulfill(response=route.fetch(), status=200))
    page.goto(server.url + path)
    accessible(page)


def test_names_are_text_in_a_browser(server: Served, desktop: Page) -> None:
    for path in ("/", "/meetings", "/play", "/matches", "/faults", "/bots/0", "/bots/1"):
        desktop.goto(server.url + path)
        assert desktop.title() != "owned"
        assert desktop.evaluate("document.images.length") == 0
        assert desktop.evaluate("[...document.scripts].every(s => s.src || s.type)")
    desktop.goto(server.url)
    shown = desktop.locator("#standings .bot").all_inner_texts()
    assert SCRIPT in shown
    assert NAMES[2] in shown


def test_a_search_narrows_and_goes_on(server: Served, desktop: Page, files: Path) -> None:
    desktop.goto(f"{server.url}/matches?limit=20")
    rows = desktop.locator("main table tbody tr")
    assert rows.count() == 20
    desktop.get_by_role("link", name="after").click()
    assert 0 < rows.count() <= 50
    desktop.goto(f"{server.url}/matches")
    desktop.get_by_label("bot").fill(SCRIPT)
    desktop.get_by_label("fault").select_option("late")
    desktop.get_by_role("button", name="Search").click()
    with Search.open(files / "hostile.knavery", write=False) as store:
        found = store.page_of_matches(Query(bot=0, kind=FaultKind.LATE)).items
    assert [row.split()[0] for row in rows.all_inner_texts()] == [each.id for each in found]
    desktop.get_by_role("link", name="show all").click()
    assert rows.count() == 50


def test_a_match_is_looked_at_once_its_block_is_complete(
    server: Served, desktop: Page, files: Path
) -> None:
    with Search.open(files / "hostile.knavery", write=False) as store:
        found = store.page_of_matches(Query(), limit=100).items
    whole = next(each for each in found if each.complete)
    part = next(each for each in found if not each.complete)
    desktop.goto(f"{server.url}/matches/{whole.id}#1:3")
    expect(desktop.locator("#where")).to_contain_text("deal 1")
    desktop.keyboard.press("ArrowRight")
    expect(desktop.locator("#where")).to_contain_text("trick 3")
    answer = desktop.request.get(f"{server.url}/matches/{part.id}")
    assert answer.status == 403
    assert "others still have to play its cards" in answer.text()
    assert 'class="card' not in answer.text()
    assert all(f'href="/bots/{entrant}"' in answer.text() for entrant in part.entrants)


def listen(url: str) -> socket.socket:
    """A client of the stream of events."""
    where = urlsplit(url)
    client = socket.create_connection((where.hostname, where.port), timeout=PATIENCE)
    client.sendall(f"GET /events HTTP/1.1\r\nHost: {where.netloc}\r\n\r\n".encode())
    return client


def test_clients_are_bounded_and_let_go(server: Served) -> None:
    clients = [listen(server.url) for _ in range(CLIENTS)]
    try:
        assert all(client.recv(200).startswith(b"HTTP/1.1 200") for client in clients)
        with listen(server.url) as one_more:
            assert one_more.recv(200).startswith(b"HTTP/1.1 503")
    finally:
        for client in clients:
            client.close()
    for _ in range(500):  # a client that has gone is noticed, each time a little later
        with listen(server.url) as again:
            if again.recv(200).startswith(b"HTTP/1.1 200"):
                return
    raise AssertionError("clients that have gone are still counted")


def test_an_empty_tournament_has_pages(tmp_path: Path, page: Page, accessible: Check) -> None:
    store, schedule = create(tmp_path / "empty.knavery", tournament(max_deals=1), 3)
    store.close()
    with served(tmp_path, "empty.knavery") as server:
        for path, said in (
            ("/", "no match is finished yet"),
            ("/matches", "No match is finished yet."),
            ("/faults", "There is no fault."),
            ("/meetings", "No match is finished yet."),
            ("/bots/0", "None"),
        ):
            page.goto(server.url + path)
            expect(page.locator("main")).to_contain_text(said)
            accessible(page)
        with type(store).open(tmp_path / "empty.knavery", write=True) as writing:
            page.goto(server.url)
            list(play_all(writing, schedule))
        expect(page.locator("[data-live=now]")).to_contain_text("6 of 6", timeout=LONG)
        page.goto("about:blank")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("none.knavery",), "none.knavery: there is no such file"),
        (("foreign.knavery",), "is not a Knavery file"),
        ((), "name one tournament's file"),
        (("a", "b"), "name one tournament's file"),
        (("x", "--game", "knave"), "add --play"),
        (("--play", "--open-blocks"), "leave it or --play out"),
        (("--play", "nobody"), "nobody"),
        (("--play", "lowest", "lowest", "lowest", "lowest"), "4 bots for 3 places"),
        (("--play", "--game", "whist"), "there is no game 'whist'"),
        (("real.knavery", "--port", "99999"), "ports are 0 to 65535"),
        (("real.knavery", "--host", "no.such.host.invalid"), "there is no such address"),
    ],
)
def test_what_cannot_be_served_is_one_line(
    tmp_path: Path, environment: dict[str, str], words: tuple[str, ...], said: str
) -> None:
    (tmp_path / "foreign.knavery").write_text("no database" * 100)
    if "real.knavery" in words:
        create(tmp_path / "real.knavery", tournament(), 3)[0].close()
    done = subprocess.run(
        [sys.executable, "-m", "tournaments.cli", "serve", *words],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert len([line for line in done.stderr.splitlines() if "WARNING" not in line]) == 1


def test_a_port_that_is_taken_is_one_line(
    tmp_path: Path, server: Served, environment: dict[str, str]
) -> None:
    create(tmp_path / "real.knavery", tournament(), 3)[0].close()
    port = str(urlsplit(server.url).port)
    done = subprocess.run(
        [sys.executable, "-m", "tournaments.cli", "serve", "real.knavery", "--port", port],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 2
    assert re.search("another program has it: name another with --port", done.stderr)


def test_other_machines_are_warned_of(tmp_path: Path, environment: dict[str, str]) -> None:
    create(tmp_path / "real.knavery", tournament(), 3)[0].close()
    with served(tmp_path, "real.knavery", "--host", "0.0.0.0", environment=environment) as server:
        status, said = server.end()
    assert status == 0
    assert "WARNING: 0.0.0.0 can be reached from other machines" in said


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("KNAVERY_")}
    return kept | {"KNAVERY_CACHE": str(tmp_path_factory.mktemp("cache"))}

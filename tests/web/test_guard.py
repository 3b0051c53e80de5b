"""What lets nothing foreign in: headers, hosts, origins, and pages of bots with hostile names."""

import re
from argparse import ArgumentParser
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
import trio

from tests.web.asking import Asker, asker
from tests.web.files import SCRIPT, hostile
from tournaments.commands import serve
from tournaments.web import serving
from tournaments.web.app import application
from tournaments.web.guard import HEADERS, POLICY
from tournaments.web.listening import CannotServe, listening
from tournaments.web.live import Live
from tournaments.web.recount import Recount

PATHS = ("/", "/matches", "/faults", "/nothing", "/api/progress", "/api/nothing", "/assets/live.js")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hostile(tmp_path_factory.mktemp("guard") / "hostile.knavery", 20)


@pytest.fixture(scope="module")
def ask(file: Path) -> Asker:
    return asker(file)


@pytest.mark.parametrize("path", PATHS)
def test_every_answer_carries_the_headers(ask: Asker, path: str) -> None:
    answer = ask(path)
    for name, value in HEADERS.items():
        if name != "Cache-Control":
            assert answer.headers[name] == value
    assert answer.headers["cache-control"] in ("no-store", "no-cache")
    assert "server" not in answer.headers


def test_the_policy_runs_no_script_of_a_page() -> None:
    rules = dict(rule.strip().split(" ", 1) for rule in POLICY.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == "'self'"
    assert rules["frame-ancestors"] == "'none'"
    assert "http" not in POLICY
    assert "*" not in POLICY


@pytest.mark.parametrize("path", ["/", "/matches", "/faults", f"/matches?bot={SCRIPT}&match=e0"])
def test_names_are_text(ask: Asker, path: str) -> None:
    page = ask(path).text
    assert "<script>document" not in page
    assert "<img" not in page
    assert "&lt;script&gt;document" in page
    assert "\x1b" not in page
    for tag in page.split("<script")[1:]:
        assert tag.startswith(' src="/assets/')


@pytest.mark.parametrize(
    ("host", "served", "status"),
    [
        ("127.0.0.1:8160", "127.0.0.1", 200),
        ("localhost:1", "127.0.0.1", 200),
        ("[::1]:8160", "::1", 200),
        ("LOCALHOST", "127.0.0.1", 200),
        ("evil.example", "127.0.0.1", 400),
        ("192.168.0.7:8160", "127.0.0.1", 400),
        ("127.0.0.1.evil.example", "127.0.0.1", 400),
        ("", "127.0.0.1", 400),
        ("[", "127.0.0.1", 400),
        ("192.168.0.7:8160", "0.0.0.0", 200),
        ("evil.example", "0.0.0.0", 400),
        ("table.example:80", "table.example", 200),
    ],
)
def test_only_known_hosts_are_answered(file: Path, host: str, served: str, status: int) -> None:
    answer = asker(file, host=served)("/api/progress", headers={"Host": host})
    assert answer.status_code == status
    if status == 400:
        assert answer.json()["error"] == "This server answers to its own address only."


def test_an_address_of_ipv6_is_served_and_printed_as_it_is_typed_in_a_browser(file: Path) -> None:
    """`--host ::1`, with brackets or without: neither is a reason to warn of others."""
    parser = ArgumentParser()
    serve.arguments(parser)
    assert {parser.parse_args(["--host", host]).host for host in ("::1", "[::1]")} == {"::1"}
    try:
        listening("::1", 0).close()
    except CannotServe:
        pytest.skip("this machine has no IPv6")
    answers: dict[str, int] = {}

    async def main() -> None:
        live, over, where = Live(file), trio.Event(), list[str]()
        await live.begin()
        app, _ = application(live, Recount(live), "::1")
        async with trio.open_nursery() as nursery, httpx.AsyncClient() as client:
            listens = trio.Event()

            def started(url: str) -> None:
                where.append(url)
                listens.set()

            nursery.start_soon(serving.serve, app, "::1", 0, over.wait, started)
            await listens.wait()
            (url,) = where
            assert re.fullmatch(r"http://\[::1\]:\d+", url)
            for host in (urlsplit(url).netloc, "[::1]", "localhost", "[fe80::1]", "::1"):
                got = await client.get(f"{url}/api/progress", headers={"Host": host})
                answers[host] = got.status_code
            over.set()

    trio.run(main)
    assert list(answers.values()) == [200, 200, 200, 400, 400]


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:8160", "Sec-Fetch-Site": "cross-site"},
        {"Origin": "http://127.0.0.1:8161"},
    ],
)
def test_only_a_page_of_this_server_may_change_something(
    ask: Asker, headers: dict[str, str]
) -> None:
    answer = ask("/", "POST", headers=headers)
    assert answer.status_code == 403
    assert answer.json()["error"] == "Only a page of this server may ask for this."


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("/nothing", 404, "/nothing is not a page of this server."),
        ("/<b>", 404, "/&lt;b&gt; is not a page"),
        ("/matches?bot=<b>", 400, "there is no bot &#39;&lt;b&gt;&#39;"),
        ("/faults?limit=x", 400, "limit must be"),
        ("/faults?match=e9", 200, "No fault is like that."),
        ("/matches?match=e9&fault=late", 200, "No finished match is like that."),
        ("/assets/none.js", 404, "no such file"),
        ("/assets/..%2Fapp.py", 404, "is not a page"),
    ],
)
def test_what_is_wrong_is_a_page(ask: Asker, path: str, status: int, said: str) -> None:
    answer = ask(path)
    assert answer.status_code == status
    assert answer.headers["content-type"].startswith("text/html")
    assert said in answer.text


def test_a_search_that_makes_no_sense_can_be_mended(ask: Asker) -> None:
    for page in ("/matches", "/faults"):
        text = ask(f"{page}?bot=nobody&match=e0").text
        assert 'name="bot" list="bots" value="nobody"' in text
        assert "there is no bot &#39;nobody&#39; in this tournament" in text


def test_a_bug_is_told_without_its_traceback(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ask = asker(file)
    monkeypatch.setattr("tournaments.web.app.standings_page", lambda *_: 1 / 0)
    answer = ask("/")
    assert answer.status_code == 500
    assert "ZeroDivisionError" in answer.text
    assert "line" not in answer.text
    said = capsys.readouterr().err
    assert said.startswith("knavery serve: '/': a bug in Knavery, ZeroDivisionError")
    assert "Traceback" not in said


def test_a_file_that_goes_is_told(tmp_path: Path) -> None:
    path = hostile(tmp_path / "goes.knavery", 1)
    ask = asker(path)
    path.unlink()
    answer = ask("/matches")
    assert answer.status_code == 503
    assert "there is no such file" in answer.text
    assert ask("/").status_code == 200

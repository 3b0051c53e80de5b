"""The JSON endpoints: what they say against what is in the file, and against their description."""

import json
from pathlib import Path
from typing import Any

import pytest
from openapi_schema_validator import OAS31Validator

from tests.tournaments.playing import create, tournament
from tests.web.asking import Asker, asker
from tests.web.files import NAMES, eventful, hostile
from tournaments.export import replays
from tournaments.search import Query, Search
from tournaments.web.api import MATCH, Api
from tournaments.web.live import Live
from tournaments.web.openapi import description

MATCHES = 57


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hostile(tmp_path_factory.mktemp("api") / "hostile.knavery", MATCHES)


@pytest.fixture(scope="module")
def ask(file: Path) -> Asker:
    return asker(file)


@pytest.fixture(scope="module")
def names(file: Path) -> dict[bool, str]:
    """A finished match of a complete block, and one of a block that is not."""
    with Search.open(file, write=False) as store:
        found = store.page_of_matches(Query(), limit=100).items
    return {each.complete: each.id for each in found}


def every(ask: Asker, path: str) -> list[Any]:
    """The items of all pages."""
    items: list[Any] = []
    after = ""
    while True:
        page = ask(f"{path}{'&' if '?' in path else '?'}limit=20&after={after}").json()
        items += page["items"]
        if page["after"] is None:
            return items
        after = page["after"]


def validate(schema: Any, value: Any) -> None:
    whole = {**schema, "components": description()["components"]}
    OAS31Validator(whole).validate(value)


def asked(path: str, names: dict[bool, str]) -> str:
    """A real path for one of the description."""
    of_match = "/".join("{" + part + "}" for part in ("epoch", "group", "block", "seating"))
    filled = path.replace(of_match, names[True])
    return filled.replace("{deal}", "1").replace("{bot}", "0")


@pytest.mark.parametrize("path", description()["paths"])
def test_a_real_answer_is_as_described(ask: Asker, names: dict[bool, str], path: str) -> None:
    answer = ask(asked(path, names))
    assert answer.status_code == 200
    described = description()["paths"][path]["get"]["responses"]["200"]
    validate(described["content"]["application/json"]["schema"], answer.json())


def test_every_route_is_described(file: Path) -> None:
    routes = {route.path for route in Api(Live(file)).routes()}
    assert routes == set(description()["paths"])
    assert ask_methods(file) == {"GET", "HEAD"}
    assert f"/api/matches/{MATCH}" in routes


def ask_methods(file: Path) -> set[str]:
    return {method for route in Api(Live(file)).routes() for method in route.methods or ()}


def test_the_description_is_a_document_of_openapi() -> None:
    document = description()
    assert document["openapi"].startswith("3.1")
    for operations in document["paths"].values():
        for answer in operations["get"]["responses"].values():
            OAS31Validator.check_schema(answer["content"]["application/json"]["schema"])
    for schema in document["components"]["schemas"].values():
        OAS31Validator.check_schema(schema)


def test_progress_counts_what_is_there(ask: Asker) -> None:
    told = ask("/api/progress").json()
    assert told["state"] == "stopped"
    assert told["matches"] == {"finished": MATCHES, "all": 60}
    assert told["blocks"]["complete"] + told["blocks"]["open"] == 10


def test_all_matches_come_on_some_page(ask: Asker, file: Path) -> None:
    found = every(ask, "/api/matches")
    with Search.open(file, write=False) as store:
        kept = {match.id: match for match in store.matches(open_blocks=True)}
    assert {each["match"] for each in found} == set(kept)
    assert all(tuple(each["totals"]) == kept[each["match"]].totals for each in found)
    alike = ask(f"/api/matches/{found[0]['match']}").json()
    assert alike == found[0]


def test_filters_narrow(ask: Asker) -> None:
    of_bot = every(ask, "/api/matches?bot=2")
    assert 0 < len(of_bot) < MATCHES
    assert all(2 in [seat["entrant"] for seat in each["seats"]] for each in of_bot)
    assert every(ask, "/api/matches?fault=any&bot=2")
    late = every(ask, "/api/faults?fault=late")
    assert late
    assert {each["kind"] for each in late} == {"late"}
    assert {each["entrant"] for each in every(ask, "/api/faults?bot=1")} == {1}
    assert len(every(ask, "/api/matches?match=g0-1-2/b0")) <= 6


def test_bots_that_are_elsewhere_or_suspended_are_marked(tmp_path: Path) -> None:
    ask = asker(eventful(tmp_path / "x.knavery"))
    marks = [(bot["remote"], bot["plays"], bot["suspended"]) for bot in every(ask, "/api/bots")]
    assert marks[1] == (False, False, False), "an old version"
    assert marks[3] == (True, True, False)
    assert marks[5] == (False, True, True)
    bobs = every(ask, "/api/matches?bot=bob")
    assert bobs == every(ask, "/api/matches?bot=4"), "the newest of two versions"
    assert every(ask, "/api/matches?bot=ALIC") == every(ask, "/api/matches?bot=0")
    assert "'o' is a part of several names: bob, carol, bob" in ask("/api/matches?bot=o").text


def test_bots_are_found_by_a_part_of_their_name(ask: Asker) -> None:
    assert len(every(ask, "/api/bots")) == len(NAMES)
    (found,) = ask("/api/bots?name=SCRIPT").json()["items"]
    assert found["entrant"] == 0
    assert ask("/api/bots/0").json() == found
    page = ask("/api/bots?limit=2").json()
    assert [each["entrant"] for each in page["items"]] == [0, 1]
    assert page["after"] == "2"


def test_a_deal_is_the_line_that_export_writes(
    ask: Asker, file: Path, names: dict[bool, str]
) -> None:
    with Search.open(file, write=False) as store:
        lines = {(line["match"], line["deal"]): line for line in replays(store)}
    answer = ask(f"/api/matches/{names[True]}/deals/1")
    assert answer.json() == json.loads(json.dumps(lines[names[True], 1]))


def test_no_card_of_an_open_block_is_told(file: Path, names: dict[bool, str]) -> None:
    path = f"/api/matches/{names[False]}/deals/0"
    shut = asker(file)(path)
    assert shut.status_code == 403
    assert "others still have to play its cards" in shut.json()["error"]
    opened = asker(file, open_blocks=True)
    assert opened(path).json()["match"] == names[False]
    assert all(each["detail"] is not None for each in every(opened, "/api/faults"))
    closed = every(asker(file), "/api/faults")
    assert all((each["detail"] is None) == (not each["complete"]) for each in closed)
    assert all((each["played"] is None) or each["complete"] for each in closed)


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("/api/nothing", 404, "not a page"),
        ("/api/", 404, "not a page"),
        ("/api/matches?limit=0", 400, "limit must be a whole number from 1 to 200"),
        ("/api/matches?limit=201", 400, "limit must be"),
        ("/api/matches?limit=1e2", 400, "limit must be"),
        ("/api/matches?limit=%D9%A3", 400, "limit must be"),
        ("/api/matches?after=x", 400, "where a page goes on"),
        ("/api/faults?after=1", 400, "where a page goes on"),
        ("/api/matches?fault=rude", 400, "there is no fault 'rude'"),
        ("/api/matches?bot=nobody", 400, "there is no bot 'nobody'"),
        ("/api/matches?bot=99", 400, "there is no bot '99'"),
        ("/api/matches?match=x", 400, "no match's name"),
        ("/api/matches/e0/g0-1-2/b9/s0", 404, "no match e0/g0-1-2/b9/s0 has begun"),
        ("/api/matches/e0/g0-1-2/b0/x", 400, "no match's name"),
        ("/api/matches/e0/g0-1-2/b0/s0/deals/x", 400, "deals are numbers"),
        ("/api/matches/e0/g0-1-2/b9/s0/deals/0", 404, "no match"),
        ("/api/bots/x", 400, "bots are numbers"),
        ("/api/bots/99", 404, "there is no bot 99"),
        ("/api/bots?after=x", 400, "after must be"),
        ("/api/running?limit=x", 400, "limit must be"),
    ],
)
def test_what_is_wrong_is_said(ask: Asker, path: str, status: int, said: str) -> None:
    answer = ask(path)
    assert answer.status_code == status
    assert said in answer.json()["error"]
    assert answer.json()["status"] == status
    validate({"$ref": "#/components/schemas/Error"}, answer.json())


def test_a_deal_that_is_not_there(ask: Asker, names: dict[bool, str]) -> None:
    answer = ask(f"/api/matches/{names[True]}/deals/7")
    assert (answer.status_code, answer.json()["error"]) == (
        404,
        f"match {names[True]} has no deal 7: they are 0 to 1",
    )


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_nothing_can_be_changed(ask: Asker, method: str) -> None:
    foreign = ask("/api/matches", method)
    assert foreign.status_code == 403
    own = ask("/api/matches", method, headers={"Origin": "http://127.0.0.1:8160"})
    assert own.status_code == 405
    assert own.json()["error"] == f"{method} is not possible here."
    assert own.headers["allow"]


def test_an_empty_tournament_has_answers_too(tmp_path: Path) -> None:
    store, _ = create(tmp_path / "empty.knavery", tournament(), 3)
    store.close()
    ask = asker(tmp_path / "empty.knavery")
    assert ask("/api/progress").json()["state"] == "empty"
    assert ask("/api/matches").json() == {"items": [], "after": None}
    assert ask("/api/running").json() == {"count": 0, "items": []}
    names = {True: "e0/g0-1-2/b0/s0"}
    for path, operations in description()["paths"].items():
        answer = ask(asked(path, names))
        if answer.status_code == 200:
            schema = operations["get"]["responses"]["200"]["content"]["application/json"]["schema"]
            validate(schema, answer.json())
        else:
            assert (answer.status_code, "{epoch}" in path) == (404, True)


def test_a_running_match_is_named(tmp_path: Path) -> None:
    store, schedule = create(tmp_path / "runs.knavery", tournament(), 3)
    with store:
        match = schedule.match(next(iter(schedule.blocks())), 2)
        store.start_attempt(match, 0)
        ask = asker(tmp_path / "runs.knavery")
        told = ask("/api/running").json()
        assert told["count"] == 1
        assert told["items"][0]["match"] == match.job.id
        assert ask("/api/progress").json()["state"] == "running"
        answer = ask(f"/api/matches/{match.job.id}")
        assert (answer.status_code, "has begun" in answer.json()["error"]) == (404, True)

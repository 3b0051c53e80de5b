"""A person's table: everything that a browser is sent, with real bots in the other seats."""

import json
import re
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
import trio
import trio.testing

from referee.bots import load
from referee.games.registry import GAMES, joined_variants, make_rules
from referee.match import Fault, FaultKind
from tests.web.asking import HOST
from tournaments.launch import ready
from tournaments.web.chair import TOLD, Chair, NotNow
from tournaments.web.playing import HEADER, OFFERS, WAIT, Table, application
from tournaments.web.rule_words import rule_words

BOTS = Path(__file__).parent.parent / "bots"
State = dict[str, Any]
PATIENCE = 60.0


class Browser:
    """Asks a table's application as the person's page does, and keeps what it was sent."""

    def __init__(self, table: Table) -> None:
        transport = httpx.ASGITransport(application(table, "127.0.0.1"))
        self.client = httpx.AsyncClient(
            transport=transport, base_url=HOST, timeout=PATIENCE, headers={"Origin": HOST}
        )
        self.seen: list[State] = []
        self._table = table

    async def sit_down(self) -> None:
        """Open the address that the terminal shows, and read the page's token."""
        answer = await self.client.get(f"/?seat={self._table.key}")
        assert answer.status_code == 303
        page = await self.client.get("/")
        found = re.search('data-token="([^"]+)"', page.text)
        assert found is not None
        self.client.headers[HEADER] = found[1]

    async def post(self, path: str, **what: Any) -> httpx.Response:
        answer = await self.client.post(path, json=what)
        if answer.status_code == 200:
            self.seen.append(answer.json())
        return answer

    async def until(self, *stages: str) -> State:
        """The first state with one of these stages, from now on."""
        while not self.seen or self.seen[-1]["stage"] not in stages:
            after = self.seen[-1]["version"] if self.seen else ""
            self.seen.append((await self.client.get(f"/state?after={after}")).json())
        return self.seen[-1]

    async def play(self, state: State) -> httpx.Response:
        view = state["view"]
        cards = view["legal"][: view["choose"]]
        return await self.post("/move", decision=view["decision"], cards=cards)

    async def play_deals(self, count: int) -> None:
        """Play the first legal cards until so many deals are over; stay at the last one's end."""
        while True:
            state = await self.until("asked", "review", "over", "failed")
            if state["stage"] != "asked":
                assert state["stage"] == "review", state["why"]
                if state["finished"]["deal"] == count - 1:
                    return
                await self.post("/next", match=state["match"], deal=state["finished"]["deal"])
            else:
                assert (await self.play(state)).status_code == 200


def at_table(
    script: Callable[[Browser], Awaitable[None]], *bots: str, chosen: tuple[str, str] | None = None
) -> Browser:
    """What a browser has seen when it has done this."""
    table = Table(list(ready([load(spec) for spec in bots]).values()), chosen)
    browser = Browser(table)

    async def run() -> None:
        with trio.fail_after(PATIENCE):
            async with trio.open_nursery() as nursery, browser.client:
                nursery.start_soon(table.run)
                await browser.sit_down()
                await script(browser)
                nursery.cancel_scope.cancel()

    trio.run(run)
    return browser


TRIO = ("lowest", "highest", "random")


def cards_of(value: Any, key: str = "") -> set[int]:
    """Every card that a state names, wherever: lists of numbers under names of cards."""
    if isinstance(value, dict):
        return set().union(*(cards_of(each, name) for name, each in value.items()), set())
    if key in ("hand", "legal", "cards", "mine", "undealt", "last_dealt"):
        return set(value) if isinstance(value, list) else set() if value is None else {value}
    if isinstance(value, list):
        return set().union(*(cards_of(each) for each in value), set())
    return set()


@pytest.mark.parametrize(("game", "variant"), [("knave", "classic"), ("ninety-nine", "revelation")])
def test_a_browser_is_sent_no_card_that_its_seat_may_not_see(game: str, variant: str) -> None:
    async def script(browser: Browser) -> None:
        assert (await browser.post("/start", game=game, variant=variant)).status_code == 200
        await browser.play_deals(1)

    seen = at_table(script, *TRIO).seen
    rules = make_rules(game, variant)
    end = seen[-1]["finished"]
    line = [card for trick in end["tricks"] for card in trick["cards"]]
    bids = [card for bid in end["bids"] or [] for card in bid["cards"]]
    before = [state for state in seen if state.get("view") and not state["finished"]]
    assert len([state for state in before if state["stage"] == "asked"]) >= rules.tricks
    first = before[0]["view"]
    own = set(first["hand"]) | set(first["mine"])
    assert len(own) == rules.hand_size
    for state in before:
        view = state["view"]
        count = len(view["tricks"]) * rules.players + len(view["trick"]["cards"])
        public = set(line[:count])
        if rules.bid_cards and view["phase"] == "play":
            public |= set(bids)
        shown = cards_of(state)
        assert shown <= own | public, "a card that is somebody else's"
        text = json.dumps(view)
        assert "hands" not in text
        assert "undealt" not in text
    assert cards_of(seen[-1]) >= set(line)


def viewed(page: str) -> Any:
    """What a page's replay viewer draws."""
    found = re.search('id="play">(.*?)</script>', page)
    assert found is not None
    return json.loads(found[1])


@pytest.mark.parametrize("game", GAMES)
def test_a_finished_deal_can_be_looked_at_again(game: str) -> None:
    pages: list[str] = []

    async def script(browser: Browser) -> None:
        await browser.post("/start", game=game, variant="classic")
        assert (await browser.client.get("/review")).status_code == 404
        await browser.play_deals(2)
        pages.append((await browser.client.get("/review")).text)

    seen = at_table(script, *TRIO).seen
    played = viewed(pages[0])
    assert played["names"] == seen[-1]["names"]
    last, end = played["deals"][-1], seen[-1]["finished"]
    assert len(played["deals"]) == 2
    assert last["after"] == end["totals"]
    line = [card for trick in end["tricks"] for card in trick["cards"]]
    bids = 3 if end["bids"] else 0
    assert last["chosen"][bids:] == line
    assert last["ms"] is None


def test_bids_stay_face_down_in_the_classic_game() -> None:
    async def script(browser: Browser) -> None:
        await browser.post("/start", game="ninety-nine", variant="classic")
        await browser.play_deals(1)

    for state in at_table(script, *TRIO).seen:
        view = state.get("view")
        if view and not state["finished"]:
            others = [bid for seat, bid in enumerate(view["bids"]) if seat != view["seat"]]
            assert others == [None, None]
            dealer = view["seat"] == view["dealer"]
            assert view["trump_known"] == (dealer or view["phase"] == "play")
            assert (view["last_dealt"] is not None) == dealer


def test_a_match_to_its_end_and_another_one() -> None:
    async def script(browser: Browser) -> None:
        await browser.post("/start", game="ninety-nine", variant="short+partnership")
        again = await browser.post("/start", game="knave", variant="classic")
        assert (again.status_code, again.json()["error"]) == (
            409,
            "You sit at a table already: leave it first.",
        )
        asked = await browser.until("asked")
        assert asked["names"].count("you") == 1
        assert len(asked["names"]) == 4
        assert asked["view"]["partner"] == (asked["view"]["seat"] + 2) % 4
        wrong = await browser.post("/move", decision=-1, cards=[0, 1, 2])
        assert (wrong.status_code, "not asked any more" in wrong.text) == (409, True)
        decision = asked["view"]["decision"]
        for cards in ([0], [99, 1, 2], "x", [True, 1, 2], asked["view"]["hand"][:2]):
            wrong = await browser.post("/move", decision=decision, cards=cards)
            assert wrong.status_code == 400
        assert (await browser.post("/next", match=asked["match"], deal=0)).status_code == 409
        left = await browser.post("/leave")
        assert left.json()["stage"] == "empty"
        assert (await browser.post("/move", decision=1, cards=[1])).status_code == 409
        await browser.post("/start", game="ninety-nine", variant="short")
        state = await browser.until("asked")
        assert state["names"] != asked["names"]
        assert state["view"]["partner"] is None

    at_table(script, *TRIO)


@pytest.fixture
def crashing(tmp_path: Path) -> str:
    """A bot whose process ends at its first decision, always."""
    folder = tmp_path / "crasher"
    folder.mkdir()
    (folder / "bot.py").write_text((BOTS / "faulty.py").read_text())
    (folder / "bot.toml").write_text(
        'name = "crasher"\nrun = ["python", "bot.py", "--fault", "crash"]\n'
    )
    return str(folder)


def test_a_bots_death_is_told_and_the_game_goes_on(crashing: str) -> None:
    pages: list[str] = []

    async def script(browser: Browser) -> None:
        await browser.post("/start", game="knave", variant="classic")
        await browser.play_deals(1)
        pages.append((await browser.client.get("/review")).text)

    end = at_table(script, crashing, "lowest", "highest").seen[-1]
    words = [each["text"] for each in end["told"]]
    assert "ended when it should not have, and is started again" in words
    assert "crashed: the referee decided for it" in words
    assert {end["names"][each["seat"]] for each in end["told"]} == {"crasher"}
    assert sum(end["finished"]["won"]) == 17
    (deal,) = viewed(pages[0])["deals"]
    (words,) = deal["told"][str(deal["faults"][0])]
    assert re.match(r"fault of seat \d, crashed: the referee played ..\n  its process end", words)


def test_what_a_bot_wrote_is_not_told_while_the_deal_goes_on() -> None:
    chair = Chair(make_rules("knave"), ["ann", "ben"])
    chair.seated((1, 0, 2))
    for bot in (1, 2):
        chair.arrived(bot)
    for trick in range(TOLD + 5):
        fault = Fault(0, 0, "play", trick, FaultKind.EXCEPTION, (5,), "my hand is AS TH")
        chair.faulted(1, fault, out=False)
    for _ in range(3):
        chair.lost(2, "exit 1, its last words: AS TH")
    chair.given_up(2, "AS TH")
    told = json.dumps(chair.state())
    assert "AS" not in told
    assert len(chair.state()["told"]) == TOLD
    assert [line["seat"] for line in chair.state()["told"]].count(2) == 2, "the same once"
    assert chair.state()["told"][-1] == {
        "seat": 2,
        "deal": 0,
        "trick": None,
        "text": "failed too often: it is out of the match, and the referee plays for it",
        "cause": "",
    }


def test_why_a_bot_does_not_start_is_told_at_once() -> None:
    """It has seen no card."""
    chair = Chair(make_rules("knave"), ["ann", "ben"])
    chair.seated((1, 0, 2))
    chair.lost(1, "exit 1, its last words: SyntaxError")
    assert chair.state()["told"][0]["cause"].endswith("SyntaxError")


def test_a_match_that_cannot_go_on_says_why() -> None:
    chair = Chair(make_rules("knave"), ["ann", "ben"])
    chair.fail("no space left")
    assert (chair.state()["stage"], chair.state()["why"]) == ("failed", "no space left")
    assert not chair.is_open
    with pytest.raises(NotNow):
        chair.move(0, [1])
    with pytest.raises(NotNow):
        chair.next(0, 0)


async def ask(table: Table, method: str, path: str, **options: Any) -> httpx.Response:
    transport = httpx.ASGITransport(application(table, "127.0.0.1"))
    async with httpx.AsyncClient(transport=transport, base_url=HOST) as client:
        return await client.request(method, path, **options)


def test_an_older_page_decides_nothing_in_the_next_match() -> None:
    async def script(browser: Browser) -> None:
        await browser.post("/start", game="knave", variant="classic")
        old = await browser.until("asked")
        await browser.post("/leave")
        await browser.post("/start", game="knave", variant="classic")
        new = await browser.until("asked")
        decision, cards = old["view"]["decision"], new["view"]["legal"][:1]
        assert (await browser.post("/move", decision=decision, cards=cards)).status_code == 409
        assert (await browser.play(new)).status_code == 200

    at_table(script, *TRIO)


def test_a_page_that_waits_for_news_is_told_that_the_table_is_left() -> None:
    """At once: its next match would begin behind its back otherwise."""

    async def script(browser: Browser) -> None:
        await browser.post("/start", game="knave", variant="classic")
        version = (await browser.until("asked"))["version"]
        stages: list[str] = []

        async def wait() -> None:
            began = trio.current_time()
            stages.append((await browser.client.get(f"/state?after={version}")).json()["stage"])
            assert trio.current_time() - began < WAIT

        async with trio.open_nursery() as nursery:
            nursery.start_soon(wait)
            await trio.testing.wait_all_tasks_blocked(0.05)
            await browser.post("/leave")
        assert stages == ["empty"]

    at_table(script, *TRIO)


def test_two_tables_of_one_host_know_their_own_persons() -> None:
    first, second = Table([]), Table([])
    both = {"Cookie": f"{first.cookie}={first.key}; {second.cookie}={second.key}"}
    for table in (first, second):
        assert trio.run(partial(ask, headers=both), table, "GET", "/state").status_code == 200


def test_a_page_is_told_in_json_why_it_sees_nothing() -> None:
    asking = partial(ask, headers={"Accept": "application/json"})
    answer = trio.run(asking, Table([]), "GET", "/state")
    assert (answer.status_code, "somebody's seat" in answer.json()["error"]) == (403, True)


@pytest.mark.parametrize("length", ["4097", "1" * 9, "0" * 9 + "1" * 9, "-1", "1e3", ""])
def test_a_body_without_bounds_is_not_read(length: str) -> None:
    async def script(browser: Browser) -> None:
        answer = await browser.client.post(
            "/move", content=b"{}", headers={"Content-Length": length}
        )
        assert answer.status_code == 413

    at_table(script)


@pytest.mark.parametrize("path", ["/", "/state", "/?seat=wrong", "/?seat=", "/review"])
def test_nobody_else_sees_the_table(path: str) -> None:
    answer = trio.run(ask, Table([]), "GET", path)
    assert answer.status_code == 403
    assert "open the address that the terminal shows" in answer.text


@pytest.mark.parametrize("path", ["/start", "/move", "/next", "/leave"])
def test_nobody_else_moves(path: str) -> None:
    table = Table([])

    async def run() -> list[httpx.Response]:
        own, cookie = {"Origin": HOST}, {"Cookie": f"{table.cookie}={table.key}"}
        return [
            await ask(table, "POST", path, headers=headers)
            for headers in (
                {},
                own,
                cookie,
                cookie | {"Origin": "http://evil.example"},
                own | cookie,
                own | cookie | {HEADER: "guess"},
            )
        ]

    answers = trio.run(run)
    assert [answer.status_code for answer in answers] == [403] * 6
    assert "load it again" in answers[-1].json()["error"]
    assert trio.run(ask, table, "GET", path).status_code == 405


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"x", 400),
        (b"[1]", 400),
        (b'{"game": "whist"}', 400),
        (b'{"game": "\\ud800"}', 400),
        (b'{"game": "knave", "variant": "double+positive"}', 400),
        (b"[" * 4000, 400),
        (b"x" * 10_000, 413),
    ],
)
def test_what_makes_no_sense_begins_no_game(body: bytes, status: int) -> None:
    async def script(browser: Browser) -> None:
        answer = await browser.client.post("/start", content=body)
        assert answer.status_code == status
        assert answer.json()["error"]

    at_table(script)


def test_beginners_are_offered_practice_and_the_short_game_first() -> None:
    assert [offer.name for offer in OFFERS[:2]] == ["Practice", "Short game"]
    assert make_rules(OFFERS[0].game, OFFERS[0].variant).open_bids  # type: ignore[attr-defined]
    assert make_rules(OFFERS[1].game, OFFERS[1].variant).target == 50

    async def script(browser: Browser) -> None:
        page = (await browser.client.get("/")).text
        places = [page.index(f"<strong>{name}") for name in ("As you asked", "Practice", "Knave")]
        assert places == sorted(places)
        for game in GAMES:
            assert all(f'value="{game} {name}"' in page for name in joined_variants(game))

    at_table(script, chosen=("knave", "double"))


@pytest.mark.parametrize("game", GAMES)
def test_the_rules_are_told_for_every_variant(game: str) -> None:
    told = {
        variant: "\n".join(rule_words(make_rules(game, variant)))
        for variant in joined_variants(game)
    }
    assert len(set(told.values())) == len(told)
    assert all(
        f"{make_rules(game, name).hand_size} cards each" in text for name, text in told.items()
    )

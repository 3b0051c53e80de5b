"""`knavery serve --play`: a table in the browser, one person and bots.

The person's browser shows the key that the terminal printed, once, and then has a cookie: nobody
else on this machine sees the cards, a bot least of all.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import trio
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from referee.games.registry import GAMES, joined_variants, make_rules
from referee.games.rules import RulesError
from referee.process import printable
from tournaments import seat
from tournaments.errors import in_one_line
from tournaments.runner import Entered
from tournaments.web import static
from tournaments.web.chair import Chair, NotNow
from tournaments.web.errors import HANDLERS, Refused
from tournaments.web.guard import Guard
from tournaments.web.render import render
from tournaments.web.review import review
from tournaments.web.rule_words import NAMES
from tournaments.web.site import Site

MOST_BOTS: Final = 3
"""At the largest table there is."""
COOKIE: Final = "knavery-seat"
HEADER: Final = "X-Knavery-Token"
WAIT: Final = 20.0
"""Seconds for which a page may wait for news in one request."""
WAITING: Final = 16
"""Requests that may wait at a time."""
BODY: Final = 4096
"""Bytes of a request."""

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Offer:
    """A way to play: its name, what it is, and for whom."""

    name: str
    game: str
    variant: str
    words: str


OFFERS: Final = (
    Offer(
        "Practice",
        "ninety-nine",
        "revelation",
        "Ninety-Nine with open bids: everybody sees what the others want. The best way to begin.",
    ),
    Offer("Short game", "ninety-nine", "short", "Ninety-Nine to 50 points: over in a lunch break."),
    Offer(
        "Ninety-Nine",
        "ninety-nine",
        "classic",
        "Bid with three cards, then take exactly so many tricks. To 100 points.",
    ),
    Offer("Knave", "knave", "classic", "Take tricks, flee jacks. Ten deals."),
)
"""What a person is offered, beginners first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSite(Site):
    """The pages of a table."""

    assets: ClassVar[str | None] = "/assets"
    styles: ClassVar[tuple[str, ...]] = ("live.css", "table.css")

    @property
    def sections(self) -> dict[str, str]:
        return {}

    def page(self, section: str, number: int = 0) -> str:  # noqa: ARG002
        return "/"

    def bot(self, entrant: int) -> str:  # noqa: ARG002
        return "/"

    def match(self, name: str, place: str = "") -> str | None:  # noqa: ARG002
        return None


SITE: Final = TableSite(title="Knavery", game="your seat", variant="a table of bots", names=())


class Table:
    """The table of one server. `chosen` are game and variant that were named when it started."""

    def __init__(self, bots: Sequence[Entered], chosen: tuple[str, str] | None = None) -> None:
        """`bots` are as many as the largest table has seats for."""
        self.key = secrets.token_urlsafe(24)
        """What a browser shows to sit down."""
        self.cookie = f"{COOKIE}-{secrets.token_hex(4)}"
        """Where the browser keeps it: a host's cookies are those of all its ports, and there may
        be a second table."""
        self.chair: Chair | None = None
        self._bots = bots
        self._chosen = chosen
        self._token = secrets.token_urlsafe(24)
        self._waiting = 0
        self._games = 0
        self._scope = trio.CancelScope()
        self._send, self._orders = trio.open_memory_channel[tuple[Chair, trio.CancelScope]](0)

    async def run(self) -> None:
        """Play what is asked for, one match after the other, for ever."""
        async for chair, scope in self._orders:
            with scope:
                await self._play(chair)

    async def _play(self, chair: Chair) -> None:
        bots = self._bots[: chair.rules.players - 1]
        try:
            await seat.play(bots, chair.rules, chair, onlooker=chair)
        except Exception as problem:
            chair.fail(in_one_line(problem))

    def routes(self) -> list[Route]:
        return [
            Route("/", self.page),
            Route("/state", self.state),
            Route("/review", self.review),
            Route("/start", self.start, methods=["POST"]),
            Route("/move", self.move, methods=["POST"]),
            Route("/next", self.next, methods=["POST"]),
            Route("/leave", self.leave, methods=["POST"]),
            *static.routes(),
        ]

    # Pages.

    async def page(self, request: Request) -> Response:
        shown = request.query_params.get("seat")
        if shown is not None and secrets.compare_digest(shown.encode(), self.key.encode()):
            answer = RedirectResponse("/", 303)
            answer.set_cookie(self.cookie, self.key, httponly=True, samesite="strict")
            return answer
        self._admit(request)
        return HTMLResponse(
            render(
                "table.html",
                SITE,
                scripts=("cards.js", "table.js"),
                here="table",
                offers=self._offers(),
                names=NAMES,
                variants={game: joined_variants(game) for game in GAMES},
                token=self._token,
            )
        )

    async def review(self, request: Request) -> Response:
        """The deals that are over, step by step."""
        self._admit(request)
        chair = self.chair
        if chair is None or not chair.finished:
            raise Refused(404, "There is no finished deal to look at.")
        return HTMLResponse(
            render(
                "review.html",
                SITE,
                scripts=("cards.js", "replay.js"),
                here="review",
                script=review(chair.rules, chair.names, chair.finished, chair.faults),
            )
        )

    def _offers(self) -> tuple[Offer, ...]:
        if self._chosen is None:
            return OFFERS
        game, variant = self._chosen
        mine = Offer("As you asked", game, variant, f"{NAMES[game]}, {variant}.")
        return mine, *OFFERS

    async def state(self, request: Request) -> Response:
        """What the page shows, once it is newer than what it has."""
        self._admit(request)
        after = request.query_params.get("after", "")
        chair = self.chair
        if chair is not None and after == f"{self._games}-{chair.version}":
            if self._waiting >= WAITING:
                raise Refused(503, "Too many pages look at this table: close some.")
            self._waiting += 1
            try:
                with trio.move_on_after(WAIT):
                    await chair.after(chair.version)
            finally:
                self._waiting -= 1
        return self._now()

    def _now(self) -> Response:
        if self.chair is None:
            return JSONResponse({"stage": "empty", "version": f"{self._games}-0"})
        state = self.chair.state()
        return JSONResponse({**state, "version": f"{self._games}-{state['version']}"})

    # What the person does.

    async def start(self, request: Request) -> Response:
        asked = await self._asked(request)
        if self.chair is not None and self.chair.is_open:
            raise Refused(409, "You sit at a table already: leave it first.")
        try:
            rules = make_rules(str(asked.get("game")), str(asked.get("variant")))
        except RulesError as problem:
            raise Refused(400, str(problem)) from problem
        self._games += 1
        names = [printable(bot.name) for bot in self._bots[: rules.players - 1]]
        self.chair, self._scope = Chair(rules, names, self._games), trio.CancelScope()
        await self._send.send((self.chair, self._scope))
        return self._now()

    async def move(self, request: Request) -> Response:
        asked = await self._asked(request)
        return self._done(lambda chair: chair.move(asked.get("decision"), asked.get("cards")))

    async def next(self, request: Request) -> Response:
        asked = await self._asked(request)
        return self._done(lambda chair: chair.next(asked.get("match"), asked.get("deal")))

    def _done(self, act: Callable[[Chair], None]) -> Response:
        if self.chair is None:
            raise Refused(409, "You sit at no table: begin a game first.")
        try:
            act(self.chair)
        except NotNow as problem:
            raise Refused(409, str(problem)) from problem
        except ValueError as problem:
            raise Refused(400, str(problem)) from problem
        return self._now()

    async def leave(self, request: Request) -> Response:
        await self._asked(request)
        self._scope.cancel()
        self._games += 1
        chair, self.chair = self.chair, None
        if chair is not None:
            chair.left()
        return self._now()

    def _admit(self, request: Request) -> None:
        """Refused, unless this browser has been shown the key."""
        shown = request.cookies.get(self.cookie, "")
        if not secrets.compare_digest(shown.encode(), self.key.encode()):
            raise Refused(403, "This is somebody's seat: open the address that the terminal shows.")

    async def _asked(self, request: Request) -> Json:
        """What the page sends; Refused unless this page may send it, and it is an object."""
        self._admit(request)
        token = request.headers.get(HEADER, "")
        if not secrets.compare_digest(token.encode(), self._token.encode()):
            raise Refused(403, "This page is older than the server: load it again.")
        length = request.headers.get("content-length", "")
        if not (length.isdecimal() and len(length) < 10 and int(length) <= BODY):
            raise Refused(413, f"A page sends {BODY} bytes at the most, and says how many.")
        try:
            asked = json.loads(await request.body() or b"{}")
        except (ValueError, RecursionError) as problem:
            raise Refused(400, "What was sent is no JSON.") from problem
        if not isinstance(asked, dict):
            raise Refused(400, "What was sent is no object.")
        return asked


def application(table: Table, host: str) -> Starlette:
    """The server of a table, listening on `host`."""
    app = Starlette(
        routes=table.routes(),
        middleware=[Middleware(Guard, host=host)],
        exception_handlers=HANDLERS,
    )
    app.router.redirect_slashes = False
    return app

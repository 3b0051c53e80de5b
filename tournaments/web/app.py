"""The pages of a tournament as a server gives them: those of the report, live, and a search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Final
from urllib.parse import quote, urlencode

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from tournaments.anonymous import Cast
from tournaments.web import asking, static
from tournaments.web.api import Api
from tournaments.web.errors import HANDLERS, Refused
from tournaments.web.events import Feed
from tournaments.web.guard import Guard
from tournaments.web.live import Live, Snapshot
from tournaments.web.pages import standings_page
from tournaments.web.render import render
from tournaments.web.site import Site

SECTIONS: Final = {"standings": "Standings", "matches": "Matches", "faults": "Faults"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Server(Site):
    """Pages that a server gives. `now` is the snapshot that they tell of."""

    live: ClassVar[bool] = True
    assets: ClassVar[str | None] = "/assets"
    now: Snapshot
    open_blocks: bool = False
    trouble: str | None = None

    @property
    def sections(self) -> dict[str, str]:
        return SECTIONS

    def page(self, section: str, number: int = 0) -> str:
        name = "" if section == "standings" else section
        return f"/{name}?page={number}" if number else f"/{name}"

    def bot(self, entrant: int) -> str:
        return f"/bots/{entrant}"

    def match(self, name: str, place: str = "") -> str | None:
        return f"/matches/{quote(name)}" + (place and f"#{place}")


def site_of(live: Live) -> Server:
    """The site as it is now."""
    now = live.now
    return Server(
        title=now.title,
        game=now.rules.game,
        variant=now.rules.variant,
        names=Cast.of(now.entrants).labels(),
        now=now,
        open_blocks=live.open_blocks,
        trouble=live.trouble,
    )


class Pages:
    """Answers with pages about one tournament."""

    def __init__(self, live: Live, feed: Feed) -> None:
        self._live = live
        self._feed = feed
        self._site: Callable[..., Server] = lru_cache(maxsize=1)(lambda *_: site_of(live))
        self._standings: Callable[[Server], str] = lru_cache(maxsize=1)(
            lambda site: standings_page(site, site.now.standings)
        )

    @property
    def site(self) -> Server:
        """As it is now."""
        return self._site(self._live.now.number, self._live.trouble)

    def routes(self) -> list[Route]:
        return [
            Route("/", self.standings),
            Route("/matches", self.matches),
            Route("/faults", self.faults),
            Route("/events", self.events),
            *static.routes(),
        ]

    async def standings(self, _: Request) -> Response:
        return HTMLResponse(self._standings(self.site))

    async def matches(self, request: Request) -> Response:
        site = self.site
        query = asking.query(request, site.names)
        after, limit = asking.after(request), asking.limit(request)
        page = await self._live.read(lambda store: store.page_of_matches(query, after, limit))
        return self._found(request, "matches", page)

    async def faults(self, request: Request) -> Response:
        site, show = self.site, self._live.open_blocks
        query = asking.query(request, site.names)
        after, limit = asking.after(request), asking.limit(request)
        page = await self._live.read(
            lambda store: store.page_of_faults(query, after, limit, open_blocks=show)
        )
        return self._found(request, "faults", page)

    def _found(self, request: Request, section: str, page: object) -> Response:
        asked = {
            name: request.query_params.get(name, "").strip() for name in ("bot", "match", "fault")
        }
        kept = {name: value for name, value in asked.items() if value}
        return HTMLResponse(
            render(
                f"search_{section}.html",
                self.site,
                here=section,
                page=page,
                asked=asked,
                kinds=asking.KINDS,
                more=lambda after: f"/{section}?{urlencode({**kept, 'after': after})}",
                newest=f"/{section}?{urlencode(kept)}",
                is_first="after" not in request.query_params,
            )
        )

    async def events(self, request: Request) -> Response:
        if self._feed.full:
            raise Refused(503, f"{self._feed.clients} pages are being watched: reload later")
        last = request.headers.get("last-event-id", "")
        since = int(last) if last.isdecimal() and len(last) < 10 else self._live.now.number
        return self._feed.stream(since)


def application(live: Live, host: str) -> tuple[Starlette, Feed]:
    """The server of a tournament's file, listening on `host`; and its streams."""

    async def news(since: int) -> tuple[int, dict[str, object]]:
        now = await live.after(since)
        return now.number, {"number": now.number, "state": now.state}

    feed = Feed(news)
    app = Starlette(
        routes=[*Pages(live, feed).routes(), *Api(live).routes()],
        middleware=[Middleware(Guard, host=host)],
        exception_handlers=HANDLERS,
        max_body_size=0,
    )
    app.router.redirect_slashes = False
    return app, feed

"""The pages of a tournament as a server gives them: those of the report, live, and a search."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import ClassVar, Final
from urllib.parse import quote, urlencode

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from tournaments.anonymous import Cast
from tournaments.replays import MatchReplay, replay_of
from tournaments.search import FoundFault, FoundMatch, Page, Query, Search
from tournaments.standings import Standings
from tournaments.web import asking, static
from tournaments.web.api import MATCH, Api, match_name, nothing, secret
from tournaments.web.errors import HANDLERS, Refused
from tournaments.web.events import Feed
from tournaments.web.guard import Guard
from tournaments.web.live import Live, Snapshot
from tournaments.web.pages import (
    Pager,
    bot_page,
    faults_page,
    match_page,
    matches_page,
    meetings_page,
    message_page,
    standings_page,
)
from tournaments.web.render import counted
from tournaments.web.site import Site

SECTIONS: Final = {
    "standings": "Standings",
    "meetings": "Head to head",
    "matches": "Matches",
    "faults": "Faults",
}
OWN: Final = 40
"""Matches and faults on a bot's page."""
_NOTHING: Final = {"bot": "", "match": "", "fault": ""}


@dataclass(frozen=True, slots=True, kw_only=True)
class Server(Site):
    """Pages that a server gives. `now` is the snapshot that they tell of, `asked` what is looked
    for on this one."""

    live: ClassVar[bool] = True
    assets: ClassVar[str | None] = "/assets"
    styles: ClassVar[tuple[str, ...]] = ("live.css",)
    kinds: ClassVar[tuple[str, ...]] = asking.KINDS
    now: Snapshot
    trouble: str | None = None
    asked: Mapping[str, str] = field(default_factory=lambda: _NOTHING)

    @property
    def sections(self) -> dict[str, str]:
        return SECTIONS

    def page(self, section: str, number: int = 0) -> str:  # noqa: ARG002  # lists go on by a name
        return "/" if section == "standings" else f"/{section}"

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
        trouble=live.trouble,
    )


class Pages:
    """Answers with pages about one tournament."""

    def __init__(self, live: Live, feed: Feed) -> None:
        self._live = live
        self._feed = feed
        self._site: Callable[..., Server] = lru_cache(maxsize=1)(lambda *_: site_of(live))
        self._made: Callable[..., str] = lru_cache(maxsize=2)(self._make)

    @property
    def _moment(self) -> tuple[int, str | None]:
        """What tells one state of the pages from another."""
        return self._live.now.number, self._live.trouble

    @property
    def site(self) -> Server:
        """As it is now."""
        return self._site(*self._moment)

    def _make(self, make: Callable[[Site, Standings], str], *_: object) -> str:
        return make(self.site, self.site.now.standings)

    def routes(self) -> list[Route]:
        return [
            Route("/", self.standings),
            Route("/meetings", self.meetings),
            Route("/matches", self.matches),
            Route(f"/matches/{MATCH}", self.match),
            Route("/bots/{bot}", self.bot),
            Route("/faults", self.faults),
            Route("/events", self.events),
            *static.routes(),
        ]

    async def standings(self, _: Request) -> Response:
        return HTMLResponse(self._made(standings_page, *self._moment))

    async def meetings(self, _: Request) -> Response:
        return HTMLResponse(self._made(meetings_page, *self._moment))

    async def matches(self, request: Request) -> Response:
        site, query = self._asked(request)
        after, limit = asking.after(request), asking.limit(request)
        page = await self._live.read(lambda store: store.page_of_matches(query, after, limit))
        finished = counted(site.now.tally.finished, "match", "matches")
        about = f"{finished} finished. Cards are shown once a whole block is complete."
        none = "No finished match is like that."
        if site.asked == _NOTHING:
            none = "No match is finished yet."
        pager = self._pager(request, site, "matches", page)
        return HTMLResponse(matches_page(site, page.items, about, none, pager))

    async def faults(self, request: Request) -> Response:
        site, query = self._asked(request)
        after, limit, show = asking.after(request), asking.limit(request), self._live.open_blocks
        page = await self._live.read(
            lambda store: store.page_of_faults(query, after, limit, open_blocks=show)
        )
        counts = site.now.fault_counts if site.asked == _NOTHING and after is None else {}
        pager = self._pager(request, site, "faults", page)
        return HTMLResponse(faults_page(site, page.items, counts, pager))

    def _asked(self, request: Request) -> tuple[Server, Query]:
        """The site with what is looked for."""
        asked = {name: request.query_params.get(name, "").strip() for name in _NOTHING}
        return replace(self.site, asked=asked), asking.query(request, self.site.names)

    def _pager(
        self,
        request: Request,
        site: Server,
        section: str,
        page: Page[FoundMatch] | Page[FoundFault],
    ) -> Pager:
        """Where a list goes on, and where its beginning is."""

        def at(**more: str) -> str:
            kept = {name: value for name, value in {**site.asked, **more}.items() if value}
            return f"{site.page(section)}?{urlencode(kept)}" if kept else site.page(section)

        return Pager(
            at() if "after" in request.query_params else None,
            at(after=page.after) if page.after else None,
            counted(len(page.items), "row"),
        )

    async def match(self, request: Request) -> Response:
        site, name = self.site, match_name(request)
        found = await self._live.read(lambda store: self._replay(store, name))
        if found is None:
            raise await nothing(self._live, name)
        if isinstance(found, FoundMatch):
            return HTMLResponse(message_page(site, f"Match {name}", secret(name)), 403)
        return HTMLResponse(match_page(site, found))

    def _replay(self, store: Search, name: str) -> MatchReplay | FoundMatch | None:
        found = store.look_up(name, open_blocks=self._live.open_blocks)
        if found is None or isinstance(found, FoundMatch):
            return found
        return replay_of(store, found)

    async def bot(self, request: Request) -> Response:
        site, show = self.site, self._live.open_blocks
        entrant = asking.entrant(request.path_params["bot"], len(site.names))
        query = Query(bot=entrant)
        found, faults = await self._live.read(
            lambda store: (
                store.page_of_matches(query, limit=OWN).items,
                store.page_of_faults(query, limit=OWN, open_blocks=show).items,
            )
        )
        result = site.now.standings
        return HTMLResponse(bot_page(site, entrant, result, None, found, faults))

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
    )
    app.router.redirect_slashes = False
    return app, feed

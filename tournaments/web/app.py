"""The pages of a tournament as a server gives them: those of the report, live, and a search."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import ClassVar, Final, TypeVar
from urllib.parse import quote, urlencode

import trio
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from tournaments.anonymous import Cast
from tournaments.replays import MatchReplay, replay_of
from tournaments.search import FoundFault, FoundMatch, Page, Query, Search, SearchError
from tournaments.web import asking, static
from tournaments.web.api import MATCH, Api, match_name, nothing, secret
from tournaments.web.errors import HANDLERS, Refused
from tournaments.web.events import Feed
from tournaments.web.guard import Guard
from tournaments.web.live import Live, Snapshot
from tournaments.web.pages import (
    NO_FAULT,
    OWN,
    Pager,
    bot_page,
    faults_page,
    match_page,
    matches_page,
    meetings_page,
    message_page,
    play_page,
    standings_page,
)
from tournaments.web.recount import Recount, Recounted
from tournaments.web.render import counted
from tournaments.web.site import Site

MADE: Final = 3
"""Pages that are kept as they were made: those with figures of the whole tournament."""
T = TypeVar("T")
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

    def page(self, section: str, number: int = 0) -> str:  # noqa: ARG002  # lists go on by a name
        return "/" if section == "standings" else f"/{section}"

    def bot(self, entrant: int) -> str:
        return f"/bots/{entrant}"

    def match(self, name: str, place: str = "") -> str | None:
        return f"/matches/{quote(name)}" + (place and f"#{place}")


def site_of(now: Snapshot, trouble: str | None) -> Server:
    """The site as it is now."""
    return Server(
        title=now.title,
        game=now.rules.game,
        variant=now.rules.variant,
        names=Cast.of(now.entrants).labels(),
        now=now,
        trouble=trouble,
    )


class Pages:
    """Answers with pages about one tournament."""

    def __init__(self, live: Live, recount: Recount, feed: Feed) -> None:
        self._live = live
        self._recount = recount
        self._feed = feed
        self._site: Callable[..., Server] = lru_cache(maxsize=1)(self._see)
        self._made: Callable[..., str] = lru_cache(maxsize=MADE)(self._make)

    @property
    def _moment(self) -> tuple[int, str | None]:
        """What tells one state of the pages from another."""
        return self._live.now.number, self._live.trouble or self._recount.trouble

    def _see(self, _: int, trouble: str | None) -> Server:
        return site_of(self._live.now, trouble)

    @property
    def site(self) -> Server:
        """As it is now."""
        return self._site(*self._moment)

    def _make(self, make: Callable[[Server, Recounted], str], *_: object) -> str:
        return make(self.site, self._recount.now)

    async def _page(self, make: Callable[[Server, Recounted], str]) -> Response:
        """A page with figures: made once, and out of the way of other requests, since charts take
        their time."""
        async with self._recount.lock:
            state = (*self._moment, self._recount.steps)
            return HTMLResponse(await trio.to_thread.run_sync(self._made, make, *state))

    def routes(self) -> list[Route]:
        return [
            Route("/", self.standings),
            Route("/meetings", self.meetings),
            Route("/play", self.play),
            Route("/matches", self.matches),
            Route(f"/matches/{MATCH}", self.match),
            Route("/bots/{bot}", self.bot),
            Route("/faults", self.faults),
            Route("/events", self.events),
            *static.routes(),
        ]

    async def standings(self, _: Request) -> Response:
        return await self._page(_standings)

    async def meetings(self, _: Request) -> Response:
        return await self._page(_meetings)

    async def play(self, _: Request) -> Response:
        return await self._page(_play)

    async def matches(self, request: Request) -> Response:
        site = self._asked(request)
        page, why = await self._found(request, Search.page_of_matches)
        finished = counted(site.now.tally.finished, "match", "matches")
        about = f"{finished} finished. Cards are shown once a whole block is complete."
        none = "No match is finished yet."
        if site.asked != _NOTHING:
            none = "No finished match is like that."
        pager = self._pager(request, site, "matches", page)
        return HTMLResponse(matches_page(site, page.items, about, why or none, pager), _status(why))

    async def faults(self, request: Request) -> Response:
        site = self._asked(request)
        look = partial(Search.page_of_faults, open_blocks=self._live.open_blocks)
        page, why = await self._found(request, look)
        whole = site.asked == _NOTHING and asking.after(request) is None
        counts = site.now.fault_counts if whole else {}
        none = NO_FAULT if whole else "No fault is like that."
        pager = self._pager(request, site, "faults", page)
        return HTMLResponse(faults_page(site, page.items, counts, why or none, pager), _status(why))

    def _asked(self, request: Request) -> Server:
        """The site with what is looked for."""
        asked = {name: request.query_params.get(name, "").strip() for name in _NOTHING}
        return replace(self.site, asked=asked)

    async def _found(
        self, request: Request, look: Callable[[Search, Query, str | None, int], Page[T]]
    ) -> tuple[Page[T], str | None]:
        """What is looked for; or nothing, and why that makes no sense."""
        try:
            query = asking.query(request, self.site.names)
            after, limit = asking.after(request), asking.limit(request)
            return await self._live.read(lambda store: look(store, query, after, limit)), None
        except SearchError as problem:
            return Page((), None), str(problem)

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
            page = message_page(site, f"Match {name}", secret(name), (found,))
            return HTMLResponse(page, 403)
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
        async with self._recount.lock:
            make = partial(_bot, site, entrant, self._recount.now, found, faults)
            return HTMLResponse(await trio.to_thread.run_sync(make))

    async def events(self, request: Request) -> Response:
        if self._feed.full:
            raise Refused(503, f"{self._feed.clients} pages are being watched: reload later")
        last = request.headers.get("last-event-id", "")
        since = int(last) if last.isdecimal() and len(last) < 10 else self._live.now.number
        return self._feed.stream(since)


def _status(why: str | None) -> int:
    """Of an answer that says why there is nothing, if that is what was asked for."""
    return 200 if why is None else 400


def _standings(site: Server, counted: Recounted) -> str:
    return standings_page(site, site.now.standings, site.now.history, counted.course)


def _meetings(site: Server, _: Recounted) -> str:
    return meetings_page(site, site.now.standings)


def _play(site: Server, counted: Recounted) -> str:
    order = [row.entrant for row in site.now.standings.rows]
    return play_page(site, counted.figures, order, site.now.clock, counted.missing)


def _bot(
    site: Server,
    entrant: int,
    counted: Recounted,
    found: Sequence[FoundMatch],
    faults: Sequence[FoundFault],
) -> str:
    now = site.now
    return bot_page(site, entrant, now.standings, now.history, counted.figures, found, faults)


def application(live: Live, recount: Recount, host: str) -> tuple[Starlette, Feed]:
    """The server of a tournament's file, listening on `host`; and its streams."""

    async def news(since: int) -> tuple[int, dict[str, object]]:
        now = await live.after(since)
        return now.number, {"number": now.number, "state": now.state}

    feed = Feed(news)
    app = Starlette(
        routes=[*Pages(live, recount, feed).routes(), *Api(live).routes()],
        middleware=[Middleware(Guard, host=host)],
        exception_handlers=HANDLERS,
    )
    app.router.redirect_slashes = False
    return app, feed

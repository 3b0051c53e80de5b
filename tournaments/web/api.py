"""The JSON endpoints under /api/: read-only, paged, described by tournaments/web/openapi.py."""

from __future__ import annotations

from collections import Counter
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from referee.match import FaultKind
from tournaments import standings
from tournaments.export import match_lines
from tournaments.kept import KeptMatch
from tournaments.search import FoundFault, FoundMatch, Running, Search
from tournaments.web import asking
from tournaments.web.errors import Refused
from tournaments.web.live import Live, Snapshot
from tournaments.web.openapi import description

Json = dict[str, Any]
MATCH = "{epoch}/{group}/{block}/{seating}"
"""The path of a match: its name."""


class Api:
    """Answers about one tournament."""

    def __init__(self, live: Live) -> None:
        self._live = live

    def routes(self) -> list[Route]:
        """Every endpoint; `openapi` describes each."""
        return [
            Route("/api/openapi.json", self.openapi),
            Route("/api/standings", self.standings),
            Route("/api/progress", self.progress),
            Route("/api/running", self.running),
            Route("/api/bots", self.bots),
            Route("/api/bots/{bot}", self.bot),
            Route("/api/matches", self.matches),
            Route(f"/api/matches/{MATCH}", self.match),
            Route(f"/api/matches/{MATCH}/deals/{{deal}}", self.deal),
            Route("/api/faults", self.faults),
        ]

    async def openapi(self, _: Request) -> Response:
        return JSONResponse(description())

    async def standings(self, _: Request) -> Response:
        return JSONResponse(standings.as_json(self._live.now.standings, with_meetings=True))

    async def progress(self, _: Request) -> Response:
        return JSONResponse(progress(self._live.now))

    async def running(self, request: Request) -> Response:
        limit, names = asking.limit(request), self._live.now.names
        count, found = await self._live.read(lambda store: store.running(limit))
        if self._live.now.state != "running":
            count, found = 0, ()
        return JSONResponse({"count": count, "items": [_running(each, names) for each in found]})

    async def bots(self, request: Request) -> Response:
        now, limit = self._live.now, asking.limit(request)
        part = request.query_params.get("name", "").casefold()
        first = asking.number(request, "after", 0, 0, 10**9)
        found = [n for n, name in enumerate(now.names) if n >= first and part in name.casefold()]
        more = str(found[limit]) if len(found) > limit else None
        return JSONResponse({"items": [_bot(now, n) for n in found[:limit]], "after": more})

    async def bot(self, request: Request) -> Response:
        now = self._live.now
        return JSONResponse(_bot(now, asking.entrant(request.path_params["bot"], len(now.names))))

    async def matches(self, request: Request) -> Response:
        names = self._live.now.names
        query = asking.query(request, names)
        after, limit = asking.after(request), asking.limit(request)
        page = await self._live.read(lambda store: store.page_of_matches(query, after, limit))
        items = [_match(each, names) for each in page.items]
        return JSONResponse({"items": items, "after": page.after})

    async def match(self, request: Request) -> Response:
        names, name = self._live.now.names, match_name(request)
        found = await self._live.read(lambda store: store.finished(name))
        if found is None:
            raise await nothing(self._live, name)
        return JSONResponse(_match(found, names))

    async def deal(self, request: Request) -> Response:
        number, name = request.path_params["deal"], match_name(request)
        if not (number.isascii() and number.isdecimal() and len(number) < 10):
            raise Refused(400, f"deals are numbers from 0, not {number[:60]!r}")
        lines = await self._live.read(lambda store: self._lines(store, name))
        if lines is None:
            raise await nothing(self._live, name)
        if int(number) >= len(lines):
            raise Refused(404, f"match {name} has no deal {number}: they are 0 to {len(lines) - 1}")
        return JSONResponse(lines[int(number)])

    def _lines(self, store: Search, name: str) -> list[Json] | None:
        found = store.look_up(name, open_blocks=self._live.open_blocks)
        if isinstance(found, FoundMatch):
            raise Refused(403, secret(name))
        return match_lines(store, found) if isinstance(found, KeptMatch) else None

    async def faults(self, request: Request) -> Response:
        names, show = self._live.now.names, self._live.open_blocks
        query = asking.query(request, names)
        after, limit = asking.after(request), asking.limit(request)
        page = await self._live.read(
            lambda store: store.page_of_faults(query, after, limit, open_blocks=show)
        )
        items = [_fault(each, names) for each in page.items]
        return JSONResponse({"items": items, "after": page.after})


async def nothing(live: Live, name: str) -> Refused:
    """Why a match that is not finished cannot be shown."""
    if await live.read(lambda store: store.is_begun(name)):
        return Refused(404, f"match {name} has begun and is not finished yet")
    return Refused(404, f"no match {name} has begun in this tournament")


def match_name(request: Request) -> str:
    """The match that a path names."""
    parts = (request.path_params[each] for each in ("epoch", "group", "block", "seating"))
    return "/".join(parts)


def secret(name: str) -> str:
    """Why the cards of a finished match are not shown."""
    return (
        f"match {name} is finished, but its block is not: others still have to play its cards, so "
        "they are not shown before (`knavery serve --open-blocks` shows them)"
    )


def progress(now: Snapshot) -> Json:
    """How far a tournament is."""
    return {
        "title": now.title,
        "game": now.rules.game,
        "variant": now.rules.variant,
        "state": now.state,
        "matches": {"finished": now.finished, "all": now.matches},
        "blocks": {
            "complete": now.standings.complete_blocks,
            "open": now.tally.blocks_open,
            "all": now.blocks,
        },
        "running": now.running_count,
        "faults": sum(sum(kinds.values()) for kinds in now.fault_counts.values()),
        "crashes": now.tally.crashes,
        "void": now.tally.void_attempts,
        "number": now.number,
    }


def _bot(now: Snapshot, entrant: int) -> Json:
    row = next((row for row in now.standings.rows if row.entrant == entrant), None)
    kinds = now.fault_counts.get(entrant) or Counter[FaultKind]()
    return {
        "entrant": entrant,
        "name": now.names[entrant],
        "version": now.entrants[entrant].version,
        "remote": now.entrants[entrant].is_remote,
        "plays": entrant in now.field,
        "suspended": now.history.suspended(entrant) is not None,
        "place": row and row.place,
        "rating": row and row.rating and round(row.rating, 4),
        "matches": row.matches if row else 0,
        "faults": {kind.name.lower(): count for kind, count in kinds.items()},
    }


def _seats(entrants: tuple[int, ...], names: tuple[str, ...]) -> list[Json]:
    return [{"entrant": entrant, "name": names[entrant]} for entrant in entrants]


def _match(found: FoundMatch, names: tuple[str, ...]) -> Json:
    return {
        "match": found.id,
        "seats": _seats(found.entrants, names),
        "totals": found.totals,
        "places": found.places,
        "forfeits": found.forfeits,
        "deals": found.deals,
        "faults": found.faults,
        "complete": found.complete,
        "ended": found.ended,
    }


def _running(each: Running, names: tuple[str, ...]) -> Json:
    return {
        "match": each.id,
        "seats": _seats(each.entrants, names),
        "started": each.started,
    }


def _fault(each: FoundFault, names: tuple[str, ...]) -> Json:
    return {
        "match": each.id,
        "entrant": each.entrant,
        "name": names[each.entrant],
        "deal": each.deal,
        "seat": each.seat,
        "phase": each.phase,
        "trick": each.trick,
        "kind": each.kind.name.lower(),
        "played": each.played,
        "detail": each.detail,
        "complete": each.complete,
    }

"""What a request asks for, read from its query: numbers in bounds, names that exist."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from starlette.requests import Request

from referee.match import FaultKind
from tournaments.search import PAGE, Query, SearchError
from tournaments.web.errors import Refused

MOST: Final = 200
"""Items that one answer holds."""
KINDS: Final = tuple(kind.name.lower() for kind in FaultKind)
_SOME: Final = 5
"""Names that an error names."""
ANY: Final = "any"
"""Asks for any kind of fault."""


def number(request: Request, name: str, default: int, low: int, high: int) -> int:
    """A whole number of the query; SearchError unless it is one within the bounds."""
    text = request.query_params.get(name)
    if text is None or text == "":
        return default
    if not (text.isascii() and text.isdecimal() and len(text) < 10 and low <= int(text) <= high):
        raise SearchError(f"{name} must be a whole number from {low} to {high}, not {text[:60]!r}")
    return int(text)


def limit(request: Request) -> int:
    """How many items are asked for."""
    return number(request, "limit", PAGE, 1, MOST)


def query(request: Request, names: Sequence[str]) -> Query:
    """Bot (an index, or a name of `names` or a part of one), match and kind of fault that are
    looked for."""
    kind = request.query_params.get("fault", "").strip().lower()
    if kind and kind != ANY and kind not in KINDS:
        raise SearchError(f"there is no fault {kind[:60]!r}: there are {', '.join(KINDS)}, {ANY}")
    return Query(
        bot=_bot(request.query_params.get("bot", "").strip(), names),
        match=request.query_params.get("match", "").strip() or None,
        kind=FaultKind[kind.upper()] if kind in KINDS else None,
        faulty=kind == ANY,
    )


def entrant(text: str, count: int) -> int:
    """The bot of this number, of so many; Refused unless there is one."""
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise Refused(400, f"bots are numbers, from 0 to {count - 1}")
    if int(text) >= count:
        raise Refused(404, f"there is no bot {text}: the last one is {count - 1}")
    return int(text)


def after(request: Request) -> str | None:
    """Where a page goes on."""
    return request.query_params.get("after") or None


def _bot(text: str, names: Sequence[str]) -> int | None:
    if not text:
        return None
    alike = [n for n, name in enumerate(names) if text.casefold() in name.casefold()]
    if exact := [n for n in alike if names[n] == text]:
        return exact[-1]  # of several versions the newest
    if text.isascii() and text.isdecimal() and len(text) < 10 and int(text) < len(names):
        return int(text)
    if len(alike) > 1:
        some = ", ".join(names[n][:60] for n in alike[:_SOME])
        more = ", …" if len(alike) > _SOME else ""
        raise SearchError(f"{text[:60]!r} is a part of several names: {some}{more}")
    if not alike:
        raise SearchError(f"there is no bot {text[:60]!r} in this tournament")
    return alike[0]

"""What a browser or a program is told when something is wrong: a page or JSON, in words, and never
a traceback."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any, Final

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import Scope

from tournaments.search import SearchError
from tournaments.store import StoreError

_TITLES: Final[Mapping[int, str]] = {
    400: "That makes no sense here",
    403: "Not from there",
    404: "There is no such page",
    405: "That is not done here",
    409: "Not now",
    413: "That is too much",
    500: "Something is wrong with Knavery itself",
    503: "Not just now",
}
_PAGE: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="/assets/style.css"></head>
<body><main id="main" class="wide"><h1>{title}</h1><p class="empty">{detail}</p>
<p><a href="/">Back to the beginning</a></p></main></body></html>
"""


class Refused(HTTPException):
    """A request that cannot be answered; `detail` says why in words for its sender."""


def refusal(scope: Scope, status: int, detail: str, headers: Any = None) -> Response:
    """An answer that says why there is none: JSON to a program, else a page."""
    asks_for_json = Headers(scope=scope).get("accept", "").startswith("application/json")
    if asks_for_json or scope["path"].startswith("/api/") or scope["method"] not in ("GET", "HEAD"):
        return JSONResponse({"error": detail, "status": status}, status, headers)
    title = _TITLES.get(status, "That did not work")
    return HTMLResponse(_PAGE.format(title=title, detail=html.escape(detail)), status, headers)


def _http(request: Request, problem: Exception) -> Response:
    assert isinstance(problem, HTTPException)
    words = {
        404: f"{request.url.path} is not a page of this server.",
        405: f"{request.method} is not possible here.",
    }
    own = isinstance(problem, Refused) or problem.status_code not in words
    detail = problem.detail if own else words[problem.status_code]
    return refusal(request.scope, problem.status_code, detail, problem.headers)


def _senseless(request: Request, problem: Exception) -> Response:
    return refusal(request.scope, 400, str(problem))


def _unreadable(request: Request, problem: Exception) -> Response:
    return refusal(request.scope, 503, str(problem))


HANDLERS: Final[Mapping[Any, Any]] = {
    HTTPException: _http,
    SearchError: _senseless,
    StoreError: _unreadable,
}
"""By kind of exception, for Starlette."""

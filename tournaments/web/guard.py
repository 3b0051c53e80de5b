"""What every answer of the server carries and every request must bring: headers that let nothing
foreign in, and a Host that is this machine (a page elsewhere whose name is made to point here, DNS
rebinding, has another).
"""

from __future__ import annotations

import ipaddress
import os
import socket
import sys
import traceback
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from knavery.addresses import is_loopback
from tournaments.errors import in_one_line
from tournaments.web.errors import refusal

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)
"""Scripts from this server only, and none within a page. Styles may stand in a page, for charts
are drawn with them."""
HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
_LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
_SAFE: Final = ("GET", "HEAD", "OPTIONS")


class Guard:
    """Answers requests for this machine only; and those that change something, only if they come
    from a page of this server."""

    def __init__(self, app: ASGIApp, host: str) -> None:
        """`host` is where the server listens."""
        self._app = app
        self._open = not is_loopback(host)
        others = (socket.gethostname(), socket.getfqdn()) if self._open else ()
        self._names = frozenset(name.lower() for name in (host, *_LOOPBACK, *others))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        begun = False

        async def guarded(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        headers = Headers(scope=scope)
        answer = self._app
        if not self._is_ours(headers.get("host", "")):
            answer = refusal(scope, 400, "This server answers to its own address only.")
        elif scope["method"] not in _SAFE and not _same_origin(headers):
            answer = refusal(scope, 403, "Only a page of this server may ask for this.")
        try:
            await answer(scope, receive, guarded)
        except Exception as problem:
            print(f"knavery serve: {scope['path']!r}: {in_one_line(problem)}", file=sys.stderr)
            if os.environ.get("KNAVERY_TRACEBACK"):
                traceback.print_exc()
            if begun:
                return  # the answer ends where it has come to, which its reader sees
            words = f"{type(problem).__name__}: more of it is in the terminal of the server."
            await refusal(scope, 500, words)(scope, receive, guarded)

    def _is_ours(self, value: str) -> bool:
        """An address cannot be made to point elsewhere, so where others may come by the network
        any will do; names are known ones only."""
        name = _host_name(value)
        return name in self._names or (self._open and _is_address(name))


def _host_name(value: str) -> str:
    """The name in a Host header without its port, "" for one that is none."""
    try:
        return (urlsplit(f"//{value}").hostname or "").lower()
    except ValueError:
        return ""


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _same_origin(headers: Headers) -> bool:
    """Whether a browser says that the request is from a page of the server it goes to."""
    if headers.get("sec-fetch-site", "same-origin") != "same-origin":
        return False
    host = headers.get("host", "")
    return headers.get("origin") in (f"http://{host}", f"https://{host}")

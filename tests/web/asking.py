"""Requests to a server's application without a socket, as a browser on this machine sends them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import trio

from tournaments.web.app import application
from tournaments.web.live import Live

HOST = "http://127.0.0.1:8160"


class Asker:
    """Asks an application; every call is a request of its own."""

    def __init__(self, app: Any) -> None:
        self._app = app

    def __call__(self, path: str, method: str = "GET", **options: Any) -> httpx.Response:
        async def ask() -> httpx.Response:
            transport = httpx.ASGITransport(self._app)
            async with httpx.AsyncClient(transport=transport, base_url=HOST) as client:
                return await client.request(method, path, **options)

        return trio.run(ask)


def asker(path: Path, *, open_blocks: bool = False, host: str = "127.0.0.1") -> Asker:
    """Asks the server of a file."""
    live = Live(path, open_blocks=open_blocks)
    trio.run(live.begin)
    app, _ = application(live, host)
    return Asker(app)

"""Requests to a server's application without a socket, as a browser on this machine sends them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import trio

from tournaments.web.app import application
from tournaments.web.live import Live
from tournaments.web.recount import Recount

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


def asker(
    path: Path, *, open_blocks: bool = False, host: str = "127.0.0.1", counted: bool = False
) -> Asker:
    """Asks the server of a file, one that has `counted` its figures if need be."""
    live = Live(path, open_blocks=open_blocks)
    trio.run(live.begin)
    recount = Recount(live)
    if counted:
        trio.run(recount.catch_up)
    app, _ = application(live, recount, host)
    return Asker(app)

"""A server under trio, from its first address to its clean end."""

from __future__ import annotations

import socket
import sys
from collections.abc import Awaitable, Callable
from typing import Any, Final

import trio
from hypercorn.config import Config
from hypercorn.trio import serve as hypercorn_serve

from knavery.addresses import is_loopback
from tournaments.stopping import stop_signals
from tournaments.web.listening import listening

GRACE: Final = 1.0
"""Seconds that requests under way have to end when the server does."""


async def serve(
    app: Any,
    host: str,
    port: int,
    ended: Callable[[], Awaitable[None]],
    started: Callable[[str], object],
) -> None:
    """Serve until `ended` returns. `started` is told where, once it listens."""
    config = _config(listening(host, port))
    async with trio.open_nursery() as nursery:
        (address,) = await nursery.start(_serve, app, config, ended)
        started(address)


async def _serve(
    app: Any, config: Config, ended: Callable[[], Awaitable[None]], *, task_status: Any
) -> None:
    await hypercorn_serve(app, config, shutdown_trigger=ended, task_status=task_status, mode="asgi")


def _config(listener: socket.socket) -> Config:
    config = Config()
    config.bind = [f"fd://{listener.detach()}"]
    config.accesslog = config.errorlog = None
    config.include_server_header = False
    config.graceful_timeout = GRACE
    config.keep_alive_timeout = 60
    config.h11_max_incomplete_size = 16 * 1024
    return config


def warn_of(host: str, what: str) -> None:
    """Say loudly what serving to others means; nothing on loopback."""
    if not is_loopback(host):
        print(
            f"knavery serve: WARNING: {host} can be reached from other machines: whoever comes "
            f"there {what}. There is no password and no encryption; leave --host out to serve this "
            "machine only",
            file=sys.stderr,
        )


async def stopped() -> None:
    """Until this command is told to stop."""
    with stop_signals() as signals:
        async for _ in signals:
            return

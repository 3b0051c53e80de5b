"""Server-sent events: who watches is told that there is something new, and looks at it then.

A client has no queue: it is told the latest number, however many it has missed. One that does not
take what it is sent, or is gone, is let go; there are at most so many.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any, Final

import trio
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

CLIENTS: Final = 64
"""Streams at a time."""
BEAT: Final = 15.0
"""Seconds without an event after which a client is sent a sign of life."""
PATIENCE: Final = 20.0
"""Seconds that a client may take to accept what it is sent."""

Next = Callable[[int], Awaitable[tuple[int, Any]]]
"""What is new after a number: the number of that, and what to tell of it (for JSON)."""


class Feed:
    """Streams of events, all of which tell the same."""

    def __init__(self, next_: Next, clients: int = CLIENTS) -> None:
        self._next = next_
        self._limit = clients
        self._scopes: set[trio.CancelScope] = set()
        self._closed = False

    @property
    def clients(self) -> int:
        """Streams that are open now."""
        return len(self._scopes)

    @property
    def full(self) -> bool:
        """Whether no more are accepted."""
        return self.clients >= self._limit

    def close(self) -> None:
        """End all of them."""
        self._closed = True
        for scope in self._scopes:
            scope.cancel()

    def stream(self, since: int) -> Response:
        """A stream of what is new after a number."""
        return _Stream(self, since)

    async def serve(self, since: int, receive: Receive, send: Send) -> None:
        """Tell one client, until it goes or is let go."""
        async with trio.open_nursery() as nursery:
            self._scopes.add(nursery.cancel_scope)
            try:
                nursery.start_soon(_until_gone, receive, nursery.cancel_scope)
                await self._tell(since, send)
            except trio.TooSlowError:
                nursery.cancel_scope.cancel()
            finally:
                self._scopes.discard(nursery.cancel_scope)
        if self._closed:
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _tell(self, since: int, send: Send) -> None:
        await _send(send, b"retry: 2000\n\n")
        while True:
            message = b": still here\n\n"
            with trio.move_on_after(BEAT):
                since, news = await self._next(since)
                message = b"id: %d\nevent: change\ndata: %s\n\n" % (
                    since,
                    json.dumps(news).encode(),
                )
            await _send(send, message)


async def _send(send: Send, body: bytes) -> None:
    with trio.fail_after(PATIENCE):
        await send({"type": "http.response.body", "body": body, "more_body": True})


async def _until_gone(receive: Receive, scope: trio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()


class _Stream(Response):
    media_type = "text/event-stream"

    def __init__(self, feed: Feed, since: int) -> None:
        super().__init__(headers={"Cache-Control": "no-store"})
        del self.headers["content-length"]
        self._feed = feed
        self._since = since

    async def __call__(self, _: Scope, receive: Receive, send: Send) -> None:
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        await send(start)
        await self._feed.serve(self._since, receive, send)

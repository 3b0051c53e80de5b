"""Where bots connect (design, section 3): each bot process has a post, a small server on a Unix
socket of its own, with a token of its own, bound before the process starts. A post carries one
stream; whatever else knocks is rejected. The gRPC in it is in streams.py; how much of a bot is
taken is in wire_limits.py.
"""

from __future__ import annotations

import re
import secrets
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

import trio

from knavery.v1.referee_pb2 import FromReferee, Hello, Moves, Welcome
from referee import leftovers
from referee.desk import CLOSE_GRACE, CannotListen, Desk, Tls, parsed, rejection
from referee.streams import CLOSED, HUNG_UP, GrpcThread, HungUp, Meter, Stream
from referee.wire_limits import KEPT_REASONS, MAX_MESSAGE_BYTES, MAX_MOVES

__all__ = [
    "CLOSED",
    "HUNG_UP",
    "MAX_MESSAGE_BYTES",
    "BadMessage",
    "CannotListen",
    "Door",
    "Gate",
    "Guest",
    "HungUp",
    "Post",
    "Tls",
    "Visit",
    "open_door",
]


NOTHING_LEFT = "There is nothing left to play with this bot: ask who runs the tournament."


class BadMessage(Exception):  # noqa: N818
    """A message that does not hold moves. The stream goes on."""


class Post:
    """Where one bot process connects."""

    lasting = False

    def __init__(self, thread: GrpcThread, address: str) -> None:
        self.address = address
        self.token = secrets.token_urlsafe(24)
        self.refused: list[str] = []
        """Why streams were sent away, in words; the latest."""
        self._thread = thread
        self._desk = Desk(thread, address, [self])
        self._greeted = trio.Event()
        self._first: tuple[Hello, Stream] | None = None
        self._closed = False

    async def hello(self) -> Hello:
        """Waits for the first stream that shows the token. HungUp if the post is closed first."""
        await self._greeted.wait()
        if self._first is None:
            raise HungUp(CLOSED)
        return self._first[0]

    async def welcome(self, welcome: Welcome) -> None:
        """Lets in the bot that said hello."""
        await self.send(FromReferee(welcome=welcome))

    async def reject(self, reason: str) -> None:
        """Sends away the bot that said hello: its stream ends with the reason, in plain words."""
        await self.send(rejection(reason))
        self._thread.call(self._stream.finish)

    async def send(self, message: FromReferee | bytes) -> None:
        """Returns when gRPC has taken the message before this one: a bot that does not read blocks
        it. Cancelled, this one is not sent. HungUp when the stream is gone."""
        data = message if isinstance(message, bytes) else message.SerializeToString()
        await self._stream.send(data)

    async def receive(self) -> tuple[float, Moves]:
        """When the next moves arrived, and the moves. BadMessage; HungUp after the last ones."""
        return await moves_of(self._stream)

    @property
    def cpu(self) -> float | None:
        """The processor time that its bot had used when the message that was received last came,
        in seconds; None unless it is measured."""
        return self._stream.cpu

    def measure(self, meter: Meter) -> None:
        """From now on look at this whenever a message comes."""
        self._stream.meter = meter

    async def caught_up(self) -> None:
        """Waits until all that has come by now has been received, and makes sure that the referee's
        own time is right: what is to be called late must be so after that, too."""
        await self._thread.run(self._thread.look())
        if self._first is not None:
            await self._stream.settled()

    async def close(self) -> None:
        """Ends the stream, after what was sent, and the server; bounded by CLOSE_GRACE."""
        if not self._closed:
            await self._thread.run(self._desk.close())

    @property
    def _stream(self) -> Stream:
        if self._first is None:
            raise RuntimeError("a post has a stream only after its hello")
        return self._first[1]

    def greet(self, hello: Hello, stream: Stream) -> None:
        """The desk's word that a bot is here."""
        self._first = hello, stream
        self._greeted.set()

    def turned_away(self, reason: str) -> None:
        """The desk's word that a stream was refused."""
        self.refused.append(reason)
        del self.refused[:-KEPT_REASONS]

    def part(self) -> None:
        """The desk's word that it is closed."""
        self._closed = True
        self._greeted.set()


async def moves_of(stream: Stream) -> tuple[float, Moves]:
    """The next message of a stream, and when it arrived. BadMessage if it holds no moves, or more
    than a message may."""
    at, data = await stream.receive()
    message = parsed(data)
    if message.WhichOneof("message") != "moves":
        raise BadMessage("a message that is not a knavery.v1.FromBot with Moves")
    if len(message.moves.moves) > MAX_MOVES:
        raise BadMessage(f"a message of more than {MAX_MOVES:,} moves")
    return at, message.moves


class Visit(Post):
    """One stream of a program that came by itself."""

    def __init__(self, thread: GrpcThread, token: str, hello: Hello, stream: Stream) -> None:
        super().__init__(thread, "")
        self.token = token
        self.greet(hello, stream)
        self.welcomed = False

    @property
    def over(self) -> bool:
        """Whether the stream has ended."""
        return self._stream.over

    async def welcome(self, welcome: Welcome) -> None:
        """Lets it in, once: its stream goes on from generation to generation."""
        if not self.welcomed:
            self.welcomed = True
            await super().welcome(welcome)

    async def close(self) -> None:
        """Ends the stream after what was sent."""
        self._thread.call(self._stream.finish)


class Guest:
    """A program that the referee does not start, and that may come again: one stream at a time.

    `last_id` is the last number that a decision had which was sent to it."""

    lasting = True

    def __init__(self, thread: GrpcThread, token: str) -> None:
        self.token = token
        self.last_id = 0
        self.refused: list[str] = []
        """Why streams were sent away that showed its token, in words; the latest."""
        self._thread = thread
        self._visit: Visit | None = None
        self._came = trio.Event()

    @property
    def is_here(self) -> bool:
        """Whether it is connected."""
        return self._visit is not None and not self._visit.over

    async def visit(self) -> Visit:
        """Its present stream, or the next one. Blocks until there is one."""
        while self._visit is None or self._visit.over:
            if self._came.is_set():
                self._came = trio.Event()
            await self._came.wait()
        return self._visit

    async def caught_up(self) -> None:
        """Makes sure that the referee's own time is right, and that it is here if it has come."""
        await self._thread.run(self._thread.look())

    def greet(self, hello: Hello, stream: Stream) -> None:
        """The desk's word that it is here."""
        self._visit = Visit(self._thread, self.token, hello, stream)
        self._came.set()

    def turned_away(self, reason: str) -> None:
        """The desk's word that a second stream with its token was refused."""
        self.refused.append(reason)
        del self.refused[:-KEPT_REASONS]

    def part(self) -> None:
        """The desk's word that the gate is closed."""

    async def dismiss(self, message: FromReferee) -> None:
        """A last message, if it is connected and reads, and the end of its stream. One that was
        never let in is told that there is nothing to play."""
        visit = self._visit
        if visit is not None and not visit.over:
            with trio.move_on_after(CLOSE_GRACE), suppress(HungUp):
                await visit.send(message if visit.welcomed else rejection(NOTHING_LEFT))
            await visit.close()


class Gate:
    """Where all remote programs connect, told apart by their tokens: `guests`, in that order."""

    def __init__(
        self, thread: GrpcThread, address: str, tokens: Sequence[str], tls: Tls | None
    ) -> None:
        self.guests = tuple(Guest(thread, token) for token in tokens)
        self._thread = thread
        self._desk = Desk(thread, address, self.guests, public=True, tls=tls)

    @property
    def port(self) -> int:
        """The port that it has."""
        return self._desk.port

    async def close(self) -> None:
        """Ends all streams, and the server."""
        await self._thread.run(self._desk.close())


class Door:
    """Makes posts, in a folder that only the referee's user may enter."""

    def __init__(self, thread: GrpcThread, folder: str) -> None:
        self._thread = thread
        self.now = thread.heart.now
        """The referee's own time."""
        self._folder = folder

    async def listen(self) -> Post:
        """A post whose socket is bound: its bot may be started. CannotListen if there is none."""
        path = f"{self._folder}/{secrets.token_hex(6)}"  # no number: its bot sees how it is called
        post = Post(self._thread, f"unix:{path}")
        await self._thread.run(post._desk.open())
        return post

    async def open_gate(self, address: str, tokens: Sequence[str], tls: Tls | None = None) -> Gate:
        """Where programs connect that the referee does not start, at HOST:PORT; port 0 is any.
        CannotListen if it cannot be had."""
        gate = Gate(self._thread, address, tokens, tls)
        await self._thread.run(gate._desk.open())
        return gate


@asynccontextmanager
async def open_door() -> AsyncIterator[Door]:
    """gRPC for as long as the context lasts; at its end every post is closed."""
    usual = tempfile.gettempdir()  # a socket's path is short, and part of a gRPC target
    root = usual if re.fullmatch(r"[\w./-]{1,50}", usual, re.ASCII) else "/tmp"
    with tempfile.TemporaryDirectory(prefix=leftovers.prefix(), dir=root) as folder:
        thread = GrpcThread()
        try:
            yield Door(thread, folder)
        finally:
            await thread.stop()

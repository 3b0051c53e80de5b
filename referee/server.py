"""The gRPC service bridged to trio (design, section 3): the only file here that imports grpc.

gRPC runs under asyncio in one thread that lives as long as the door is open; all else runs under
trio. Each bot process has a post: a small server on a Unix socket of its own, with a token of its
own, bound before the process starts. A post carries one stream; whatever else knocks is rejected.

Each thread only ever tells the other to do something; comments say which methods are whose. Times
are seconds of `time.perf_counter()`.
"""

import os

os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"  # read when grpc is loaded; its handlers misbehave

import asyncio
import hmac
import re
import secrets
import sys
import tempfile
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from time import perf_counter
from typing import Any, TypeVar, TypeVarTuple

import grpc
import grpc.aio
import trio
from google.protobuf.message import DecodeError

from knavery.v1.referee_pb2 import FromBot, FromReferee, Hello, Moves, Rejected, Welcome
from referee import leftovers
from referee.failures import MachineFailure

MAX_MESSAGE_BYTES = 4 * 2**20
"""How large a message of a bot may be, in bytes. A larger one ends its stream."""
MOST_BYTES = 4 * MAX_MESSAGE_BYTES
"""How large one may be for the reason to be told; gRPC ends the stream of a larger one itself."""
READ_AHEAD = 64 * 2**10
"""Bytes of a bot that are read, and so stamped in time, while earlier ones are being handled."""
MESSAGE_COST = 256
"""Bytes that each message counts beside its own, so that empty ones are bounded too."""
MAX_STREAMS = 4
"""Streams that one post bears at once, including the one that carries moves."""
CLOSE_GRACE = 0.5
"""Seconds that a closing post gives its bot to take the last messages."""
SWITCH_INTERVAL = 0.0005
"""Seconds after which a computing thread yields Python's lock while the door is open. With Python's
own 5 ms a message that arrives while trio computes is stamped 6 ms late; with this, 1.5 ms."""

HUNG_UP = "the bot's stream ended"
CLOSED = "the referee closed the stream"

_T = TypeVar("_T")
_Args = TypeVarTuple("_Args")
_Context = grpc.aio.ServicerContext[bytes, bytes]


class HungUp(Exception):  # noqa: N818
    """The stream is gone; the text says why."""


class BadMessage(Exception):  # noqa: N818
    """A message that does not hold moves. The stream goes on."""


class CannotListen(MachineFailure):
    """This machine gave no socket for a post; the text says which and what to do."""


class Post:
    """Where one bot process connects."""

    def __init__(self, thread: "_GrpcThread", path: str) -> None:
        self.address = f"unix:{path}"
        self.token = secrets.token_urlsafe(24)
        self.refused: list[str] = []
        """Why streams were sent away, in words."""
        self._thread = thread
        self._desk = _Desk(thread, self)
        self._greeted = trio.Event()
        self._first: tuple[Hello, _Stream] | None = None
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
        await self.send(_rejection(reason))
        self._thread.call(self._stream.finish)

    async def send(self, message: FromReferee | bytes) -> None:
        """Returns when gRPC has taken the message before this one: a bot that does not read blocks
        it. Cancelled, this one is not sent. HungUp when the stream is gone."""
        data = message if isinstance(message, bytes) else message.SerializeToString()
        await self._stream.send(data)

    async def receive(self) -> tuple[float, Moves]:
        """When the next moves arrived, and the moves. BadMessage; HungUp after the last ones."""
        at, data = await self._stream.receive()
        message = _parsed(data)
        if message.WhichOneof("message") != "moves":
            raise BadMessage("a message that is not a knavery.v1.FromBot with Moves")
        return at, message.moves

    async def close(self) -> None:
        """Ends the stream, after what was sent, and the server; bounded by CLOSE_GRACE."""
        if not self._closed:
            await self._thread.run(self._desk.close())

    @property
    def _stream(self) -> "_Stream":
        if self._first is None:
            raise RuntimeError("a post has a stream only after its hello")
        return self._first[1]

    def _greet(self, hello: Hello, stream: "_Stream") -> None:
        self._first = hello, stream
        self._greeted.set()

    def _part(self) -> None:
        self._closed = True
        self._greeted.set()


class Door:
    """Makes posts, in a folder that only the referee's user may enter."""

    def __init__(self, thread: "_GrpcThread", folder: str) -> None:
        self._thread = thread
        self._paths = (f"{folder}/{number}" for number in count())

    async def listen(self) -> Post:
        """A post whose socket is bound: its bot may be started. CannotListen if there is none."""
        post = Post(self._thread, next(self._paths))
        await self._thread.run(post._desk.open())
        return post


@asynccontextmanager
async def open_door() -> AsyncIterator[Door]:
    """gRPC for as long as the context lasts; at its end every post is closed."""
    usual = tempfile.gettempdir()  # a socket's path is short, and part of a gRPC target
    root = usual if re.fullmatch(r"[\w./-]{1,50}", usual, re.ASCII) else "/tmp"
    with tempfile.TemporaryDirectory(prefix=leftovers.prefix(), dir=root) as folder:
        thread = _GrpcThread()
        try:
            yield Door(thread, folder)
        finally:
            await thread.stop()


class _GrpcThread:
    """The thread that gRPC lives in, under asyncio, and the ways into it and out of it."""

    def __init__(self) -> None:
        self.desks: set[_Desk] = set()
        self._trio = trio.lowlevel.current_trio_token()
        self._loop = asyncio.new_event_loop()
        self._over = asyncio.Event()
        self._ended = trio.Event()
        self._switch_interval = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH_INTERVAL)
        self._thread = threading.Thread(target=self._live, name="knavery-grpc", daemon=True)
        self._thread.start()

    # From trio.

    def call(self, do: Callable[[*_Args], object], *args: *_Args) -> None:
        """Has gRPC's thread do it, soon and in order."""
        self._loop.call_soon_threadsafe(do, *args)

    async def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Has gRPC's thread do the work, and waits for it, cancelled or not: it is short."""
        future, done = asyncio.run_coroutine_threadsafe(work, self._loop), trio.Event()
        future.add_done_callback(lambda _: self.tell(done.set))
        with trio.CancelScope(shield=True):
            await done.wait()
        return future.result()

    async def stop(self) -> None:
        """Closes what is open and ends the thread."""
        self.call(self._over.set)
        with trio.CancelScope(shield=True):
            await self._ended.wait()
        self._thread.join()
        sys.setswitchinterval(self._switch_interval)

    # From gRPC's thread.

    def tell(self, do: Callable[[*_Args], object], *args: *_Args) -> None:
        """Has trio do it, soon and in order; when trio has ended there is nobody to tell."""
        with suppress(trio.RunFinishedError):
            self._trio.run_sync_soon(do, *args)

    def _live(self) -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
                runner.run(self._serve())
        finally:
            self.tell(self._ended.set)

    async def _serve(self) -> None:
        await self._over.wait()
        await asyncio.gather(*(desk.close() for desk in self.desks))


class _Desk:
    """A post's side in gRPC's thread: the server, and who is let through."""

    def __init__(self, thread: _GrpcThread, post: Post) -> None:
        self._thread = thread
        self._post = post
        self._server: grpc.aio.Server | None = None
        self._stream: _Stream | None = None

    async def open(self) -> None:
        play = grpc.stream_stream_rpc_method_handler(self._play)
        service = grpc.method_handlers_generic_handler("knavery.v1.Referee", {"Play": play})
        server = grpc.aio.server(
            handlers=[service],
            options=[("grpc.max_receive_message_length", MOST_BYTES)],
            maximum_concurrent_rpcs=MAX_STREAMS,
        )
        address = self._post.address
        try:
            server.add_insecure_port(address)
        except RuntimeError as exc:
            raise CannotListen(f"no socket at {address}; perhaps raise `ulimit -n`") from exc
        await server.start()
        self._server = server
        self._thread.desks.add(self)

    async def close(self) -> None:
        if self._stream is not None:
            self._stream.finish()
        if self._server is not None:
            await self._server.stop(CLOSE_GRACE)
            self._server = None  # it holds this desk: without a cycle gRPC's threads end at once
        self._thread.desks.discard(self)
        self._thread.tell(self._post._part)

    async def _play(self, _requests: object, context: _Context) -> None:
        """Handles one stream from its first message to its end."""
        first = await context.read()
        if not isinstance(first, bytes):
            return  # ended before it said anything
        hello = self._admitted(_parsed(first))
        if isinstance(hello, str):
            self._thread.tell(self._post.refused.append, hello)
            with suppress(grpc.aio.BaseError):  # who knocked may be gone
                await context.write(_rejection(hello).SerializeToString())
            return
        self._stream = _Stream(self._thread)
        self._thread.tell(self._post._greet, hello, self._stream)
        await self._stream.carry(context)

    def _admitted(self, message: FromBot) -> Hello | str:
        """The hello that a good first message is, or what to tell the author of a bad one."""
        if not message.HasField("hello"):
            return "The first message has to be a knavery.v1.FromBot that holds a Hello."
        hello = message.hello
        if not hmac.compare_digest(hello.token.encode(), self._post.token.encode()):
            return "The token is wrong: it has to be the value of KNAVERY_TOKEN in this process."
        if self._stream is not None:
            return "This token is in use: a bot process has one stream, for all its matches."
        return hello


@dataclass(slots=True, eq=False)
class _Letter:
    """A message to a bot. gRPC's thread says in `taken` that gRPC has it (or that it is lost), and
    tells trio only if trio has said in `awaited` that it waits: most letters are answered long
    before the next is sent, and each word between the threads costs as much as many decisions.
    Each side writes its own flag before it reads the other's, so no wait is missed."""

    data: bytes
    taken: bool = False
    awaited: bool = False
    settled: trio.Event = field(default_factory=trio.Event)


class _Stream:
    """A bot's stream, between the two threads."""

    def __init__(self, thread: _GrpcThread) -> None:
        self._thread = thread
        # Of trio.
        self._arrived: deque[tuple[float, bytes]] = deque()
        self._news = trio.lowlevel.ParkingLot()
        self._last: _Letter | None = None
        self._end: str | None = None
        self._handled = 0
        # Of gRPC's thread.
        self._outbox: asyncio.Queue[_Letter | None] = asyncio.Queue()
        self._untaken: deque[_Letter] = deque()
        self._ahead = 0
        self._room = asyncio.Event()
        self._over = False

    # In trio.

    async def send(self, data: bytes) -> None:
        await trio.lowlevel.checkpoint()
        if (last := self._last) is not None:
            last.awaited = True
            if not last.taken:
                await last.settled.wait()
        if self._end is not None:
            raise HungUp(self._end)
        self._last = _Letter(data)
        self._thread.call(self._post, self._last)

    async def receive(self) -> tuple[float, bytes]:
        await trio.lowlevel.checkpoint()
        while not self._arrived:
            if self._end is not None:
                raise HungUp(self._end)
            await self._news.park()
        at, data = self._arrived.popleft()
        self._handled += len(data) + MESSAGE_COST
        if self._handled > READ_AHEAD // 2 and self._end is None:
            self._thread.call(self._make_room, self._handled)
            self._handled = 0
        return at, data

    def _arrive(self, at: float, data: bytes) -> None:
        self._arrived.append((at, data))
        self._news.unpark()

    def _hang_up(self, cause: str) -> None:
        self._end = cause
        self._news.unpark_all()

    # In gRPC's thread.

    async def carry(self, context: _Context) -> None:
        """Reads and writes until either end of the stream is closed."""
        sides = [asyncio.create_task(side(context)) for side in (self._read, self._write)]
        cause = HUNG_UP
        try:
            done, _ = await asyncio.wait(sides, return_when=asyncio.FIRST_COMPLETED)
            cause = done.pop().result()
        except grpc.aio.BaseError:
            pass  # a write into a broken connection
        finally:
            for side in sides:
                side.cancel()
            self._over = True  # told before the await, where gRPC may cancel this once more
            self._thread.tell(self._hang_up, cause)
            for letter in self._untaken:
                self._settle(letter)
            await asyncio.gather(*sides, return_exceptions=True)

    def finish(self) -> None:
        """Ends the stream when all that was given to `send` has been written."""
        self._outbox.put_nowait(None)

    async def _read(self, context: _Context) -> str:
        while isinstance(data := await context.read(), bytes):
            if len(data) > MAX_MESSAGE_BYTES:
                context.set_code(grpc.StatusCode.RESOURCE_EXHAUSTED)
                return f"a message of {len(data):,} bytes; {MAX_MESSAGE_BYTES:,} are allowed"
            self._thread.tell(self._arrive, perf_counter(), data)
            self._ahead += len(data) + MESSAGE_COST
            while self._ahead > READ_AHEAD:
                self._room.clear()
                await self._room.wait()
        return HUNG_UP

    async def _write(self, context: _Context) -> str:
        while (letter := await self._outbox.get()) is not None:
            await context.write(letter.data)
            self._settle(self._untaken.popleft())
        return CLOSED

    def _settle(self, letter: _Letter) -> None:
        letter.taken = True
        if letter.awaited:
            self._thread.tell(letter.settled.set)

    def _post(self, letter: _Letter) -> None:
        if self._over:
            self._settle(letter)
        else:
            self._untaken.append(letter)
            self._outbox.put_nowait(letter)

    def _make_room(self, handled: int) -> None:
        self._ahead -= handled
        self._room.set()


def _parsed(data: bytes) -> FromBot:
    """The message; for bytes that are none, one that holds nothing."""
    try:
        return FromBot.FromString(data)
    except DecodeError:
        return FromBot()


def _rejection(reason: str) -> FromReferee:
    return FromReferee(rejected=Rejected(reason=reason))

"""gRPC's thread and the streams in it (design, section 3): the only file on the referee's side that
imports grpc. What the rest of the referee sees of it is in server.py.

gRPC runs under asyncio in one thread that lives as long as the door is open; all else runs under
trio. Each thread only ever tells the other to do something; comments say which methods are whose.
Times are those of `heartbeat.Heartbeat`, whose beats are of gRPC's thread: it stamps the messages.
"""

import os

os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"  # read when grpc is loaded; its handlers misbehave
os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # else what a bot sends wrong is on our stderr

import asyncio
import hmac
import sys
import threading
from collections import deque
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar, TypeVarTuple

import grpc
import grpc.aio
import trio
from google.protobuf.message import DecodeError

from knavery.v1.referee_pb2 import FromBot, FromReferee, Hello, Rejected
from referee.failures import MachineFailure
from referee.heartbeat import BEAT, Heartbeat
from referee.wire_limits import (
    HANDSHAKE_TIME,
    HELLO_BYTES,
    HELLO_TIME,
    MAX_CONNECTIONS,
    MAX_MESSAGE_BYTES,
    MAX_OPENED,
    MAX_STREAMS,
    MESSAGE_BURST,
    MESSAGE_COST,
    MESSAGE_RATE,
    MOST_BYTES,
    READ_AHEAD,
)

CLOSE_GRACE = 0.5
"""Seconds that a closing post gives its bot to take the last messages."""
SWITCH_INTERVAL = 0.0005
"""Seconds after which a computing thread yields Python's lock while the door is open. With Python's
own 5 ms a message that arrives while trio computes is stamped 6 ms late; with this, 1.5 ms."""

HUNG_UP = "the bot's stream ended"
CLOSED = "the referee closed the stream"
OPENED_TOO_MANY = f"the bot opened more than {MAX_OPENED} streams"

_T = TypeVar("_T")
_Args = TypeVarTuple("_Args")
_Context = grpc.aio.ServicerContext[bytes, bytes]


class HungUp(Exception):  # noqa: N818
    """The stream is gone; the text says why."""


class CannotListen(MachineFailure):
    """This machine gave no socket; the text says which and what to do."""


class Meter(Protocol):
    """What says how much processor time a bot has used: `cpu.Tree`. Any thread may ask."""

    def seconds(self) -> float: ...
    def leave_out(self) -> None: ...


class GrpcThread:
    """The thread that gRPC lives in, under asyncio, and the ways into it and out of it."""

    def __init__(self) -> None:
        self.desks: set[Desk] = set()
        self.heart = Heartbeat()
        self._trio = trio.lowlevel.current_trio_token()
        self._loop = asyncio.new_event_loop()
        self._over = asyncio.Event()
        self.heart.stalled = self._leave_out
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
        beats = asyncio.create_task(self._beat())
        await self._over.wait()
        beats.cancel()
        await asyncio.gather(*(desk.close() for desk in self.desks))

    async def _beat(self) -> None:
        while True:
            self.heart.beat()
            await asyncio.sleep(BEAT)

    async def look(self) -> None:
        """A beat out of turn."""
        self.heart.beat()

    def _leave_out(self) -> None:
        """The referee has stood still: what bots used meanwhile cannot be told apart."""
        for desk in self.desks:
            desk.leave_out()


class Host(Protocol):
    """Who is told in trio of what comes to a desk. Its `token` is a secret of its own."""

    token: str

    def greet(self, hello: Hello, stream: "Stream") -> None:
        """Called with the stream of a bot that showed the token."""

    def turned_away(self, reason: str) -> None:
        """Called when a stream has been refused, with the reason in words."""

    def part(self) -> None:
        """Called when the desk is closed."""


class Desk:
    """A post's side in gRPC's thread: the server, and who is let through."""

    def __init__(self, thread: GrpcThread, address: str, host: Host) -> None:
        self._thread = thread
        self._address = address
        self._host = host
        self._server: grpc.aio.Server | None = None
        self._stream: Stream | None = None
        self._opened = 0
        self._closing: asyncio.Task[None] | None = None

    async def open(self) -> None:
        play = grpc.stream_stream_rpc_method_handler(self._play)
        service = grpc.method_handlers_generic_handler("knavery.v1.Referee", {"Play": play})
        server = grpc.aio.server(
            handlers=[service], options=_OPTIONS, maximum_concurrent_rpcs=MAX_STREAMS
        )
        try:
            server.add_insecure_port(self._address)
        except RuntimeError as exc:
            words = f"no socket at {self._address}; perhaps raise `ulimit -n`"
            raise CannotListen(words) from exc
        await server.start()
        self._server = server
        self._thread.desks.add(self)

    async def close(self) -> None:
        if self._stream is not None:
            self._stream.finish()
        await (self._closing or self._stop())
        self._thread.desks.discard(self)
        self._thread.tell(self._host.part)

    async def _stop(self) -> None:
        server, self._server = self._server, None  # it holds this desk: without a cycle gRPC's
        if server is not None:  # threads end at once
            await server.stop(CLOSE_GRACE)

    def leave_out(self) -> None:
        """What its bot has used since its last message is not to count."""
        if self._stream is not None and self._stream.meter is not None:
            self._stream.meter.leave_out()

    async def _play(self, _requests: object, context: _Context) -> None:
        """Handles one stream from its first message to its end."""
        self._opened += 1
        if self._opened > MAX_OPENED:
            self._shut()
            return
        try:
            async with asyncio.timeout(HELLO_TIME):
                first = await context.read()
        except TimeoutError:
            first = b""
        if not isinstance(first, bytes):
            return  # ended before it said anything
        hello = self._admitted(first)
        if isinstance(hello, str):
            await self._turn_away(hello, context)
            return
        self._stream = Stream(self._thread)
        self._thread.tell(self._host.greet, hello, self._stream)
        await self._stream.carry(context)

    async def _turn_away(self, reason: str, context: _Context) -> None:
        self._thread.tell(self._host.turned_away, reason)
        with suppress(grpc.aio.BaseError):  # who knocked may be gone
            await context.write(rejection(reason).SerializeToString())

    def _shut(self) -> None:
        """Enough: nobody is let in any more, and who was is sent away."""
        if self._closing is not None:
            return
        self._thread.tell(self._host.turned_away, OPENED_TOO_MANY)
        if self._stream is not None:
            self._stream.finish(OPENED_TOO_MANY)
        self._closing = asyncio.create_task(self._stop())  # not here: it waits for this stream

    def _admitted(self, first: bytes) -> Hello | str:
        """The hello that a good first message is, or what to tell the author of a bad one."""
        if len(first) > HELLO_BYTES:
            return f"The first message has {len(first):,} bytes; {HELLO_BYTES:,} are allowed."
        message = parsed(first)
        if not message.HasField("hello"):
            return (
                "The first message has to be a knavery.v1.FromBot that holds a Hello, and to come "
                f"within {HELLO_TIME:g} s."
            )
        hello = message.hello
        if not hmac.compare_digest(hello.token.encode(), self._host.token.encode()):
            return "The token is wrong: it has to be the value of KNAVERY_TOKEN in this process."
        if self._stream is not None:
            return "This token is in use: a bot process has one stream, for all its matches."
        return hello


_OPTIONS = [
    ("grpc.max_receive_message_length", MOST_BYTES),
    ("grpc.max_concurrent_streams", MAX_STREAMS),
    ("grpc.max_allowed_incoming_connections", MAX_CONNECTIONS),
    ("grpc.server_handshake_timeout_ms", int(HANDSHAKE_TIME * 1000)),
    ("grpc.max_connection_idle_ms", int(HELLO_TIME * 1000)),
    ("grpc.http2.bdp_probe", 0),  # it lets a bot send far ahead of what is read
]


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


class Stream:
    """A bot's stream, between the two threads."""

    def __init__(self, thread: GrpcThread) -> None:
        self._thread = thread
        # Of trio.
        self._arrived: deque[tuple[float, float | None, bytes]] = deque()
        self._received = 0
        self.cpu: float | None = None
        """What the meter said when the message came that was received last."""
        self._news = trio.lowlevel.ParkingLot()
        self._last: _Letter | None = None
        self._end: str | None = None
        self._handled = 0
        # Of gRPC's thread.
        self._outbox: asyncio.Queue[_Letter | None] = asyncio.Queue()
        self._untaken: deque[_Letter] = deque()
        self.meter: Meter | None = None  # which trio puts here
        self._ahead = 0
        self._room = asyncio.Event()
        self._rate = Rate(MESSAGE_RATE, MESSAGE_BURST)
        self._closed = CLOSED
        self._over = False

    # In trio.

    async def send(self, data: bytes) -> None:
        """As `Post.send`. What waits here is the bot's own time: others get their turn only when
        it is sent."""
        await trio.lowlevel.checkpoint_if_cancelled()
        if (last := self._last) is not None:
            last.awaited = True
            if not last.taken:
                await last.settled.wait()
        if self._end is not None:
            raise HungUp(self._end)
        self._last = _Letter(data)
        self._thread.call(self._post, self._last)
        await trio.lowlevel.cancel_shielded_checkpoint()

    async def receive(self) -> tuple[float, bytes]:
        """The next message, and when it arrived. HungUp after the last one."""
        await trio.lowlevel.checkpoint()
        while not self._arrived:
            if self._end is not None:
                raise HungUp(self._end)
            await self._news.park()
        at, self.cpu, data = self._arrived.popleft()
        self._received += 1
        self._handled += len(data) + MESSAGE_COST
        if self._handled > READ_AHEAD // 2 and self._end is None:
            self._thread.call(self._make_room, self._handled)
            self._handled = 0
        return at, data

    async def settled(self) -> None:
        """Waits until what is here has been received."""
        last = self._received + len(self._arrived)
        while self._received < last:
            await trio.lowlevel.checkpoint()

    def _arrive(self, at: float, cpu: float | None, data: bytes) -> None:
        self._arrived.append((at, cpu, data))
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

    def finish(self, cause: str = CLOSED) -> None:
        """Ends the stream when all that was given to `send` has been written."""
        self._closed = cause
        self._outbox.put_nowait(None)

    async def _read(self, context: _Context) -> str:
        while isinstance(data := await context.read(), bytes):
            if len(data) > MAX_MESSAGE_BYTES:
                context.set_code(grpc.StatusCode.RESOURCE_EXHAUSTED)
                return f"a message of {len(data):,} bytes; {MAX_MESSAGE_BYTES:,} are allowed"
            now = self._thread.heart.beat()
            cpu = None if self.meter is None else self.meter.seconds()
            self._thread.tell(self._arrive, now, cpu, data)
            self._ahead += len(data) + MESSAGE_COST
            while self._ahead > READ_AHEAD:
                self._room.clear()
                await self._room.wait()
            if wait := self._rate.wait(now):
                await asyncio.sleep(wait)
        return HUNG_UP

    async def _write(self, context: _Context) -> str:
        while (letter := await self._outbox.get()) is not None:
            await context.write(letter.data)
            self._settle(self._untaken.popleft())
        return self._closed

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


class Rate:
    """So many of something a second in the long run, and up to `burst` of it at once."""

    def __init__(self, rate: float, burst: float) -> None:
        self._rate = rate
        self._burst = burst
        self._left = burst
        self._last: float | None = None

    def wait(self, now: float) -> float:
        """Counts one more, at `now`; the seconds to wait before the next."""
        since = 0.0 if self._last is None else max(0.0, now - self._last)
        self._last = now
        self._left = min(self._burst, self._left + since * self._rate) - 1
        return max(0.0, -self._left / self._rate)


def parsed(data: bytes) -> FromBot:
    """The message; for bytes that are none, one that holds nothing."""
    try:
        return FromBot.FromString(data)
    except DecodeError:
        return FromBot()


def rejection(reason: str) -> FromReferee:
    """The message that sends a bot away."""
    return FromReferee(rejected=Rejected(reason=reason))

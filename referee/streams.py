"""gRPC's thread and the streams in it (design, section 3). Beside desk.py the only file on the
referee's side that imports grpc; what the rest of the referee sees of it is in server.py.

gRPC runs under asyncio in one thread that lives as long as the door is open; all else runs under
trio. Each thread only ever tells the other to do something; comments say which methods are whose.
Times are those of `heartbeat.Heartbeat`, whose beats are of gRPC's thread: it stamps the messages.
"""

import os

os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"  # read when grpc is loaded; its handlers misbehave
os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # else what a bot sends wrong is on our stderr

import asyncio
import errno
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

from referee.failures import scarce
from referee.heartbeat import BEAT, Heartbeat
from referee.wire_limits import (
    MAX_MESSAGE_BYTES,
    MESSAGE_BURST,
    MESSAGE_COST,
    MESSAGE_RATE,
    READ_AHEAD,
)

SWITCH_INTERVAL = 0.0005
"""Seconds after which a computing thread yields Python's lock while the door is open. With Python's
own 5 ms a message that arrives while trio computes is stamped 6 ms late; with this, 1.5 ms."""

THREADS = 8
"""How many must be to be had before gRPC begins: its library ends this process for want of one."""

HUNG_UP = "the bot's stream ended"
CLOSED = "the referee closed the stream"

_T = TypeVar("_T")
_Args = TypeVarTuple("_Args")
_Context = grpc.aio.ServicerContext[bytes, bytes]


class HungUp(Exception):  # noqa: N818
    """The stream is gone; the text says why."""


class Closable(Protocol):
    """What is open in gRPC's thread."""

    async def close(self) -> None: ...
    def leave_out(self) -> None: ...


class Meter(Protocol):
    """What says how much processor time a bot has used: `cpu.Tree`. Any thread may ask."""

    def seconds(self) -> float: ...
    def leave_out(self) -> None: ...


class GrpcThread:
    """The thread that gRPC lives in, under asyncio, and the ways into it and out of it."""

    def __init__(self) -> None:
        """MachineFailure where too few threads can be started."""
        _require(THREADS)
        self.desks: set[Closable] = set()
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
        self.over = False
        """Whether it has ended; for either thread to read."""
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
            self.over = True  # told before the await, where gRPC may cancel this once more
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
        if self.over:
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


def _require(count: int) -> None:
    """MachineFailure unless so many more threads can be started."""
    over = threading.Event()
    threads = [threading.Thread(target=over.wait, daemon=True) for _ in range(count)]
    try:
        for thread in threads:
            thread.start()
    except RuntimeError as error:
        raise scarce(errno.EAGAIN, "the referee cannot start its threads") from error
    finally:
        over.set()
        for thread in threads:
            if thread.ident is not None:
                thread.join()

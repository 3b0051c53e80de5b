"""A door and its posts, and bots at them: in threads, and as processes."""

import os
import queue
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TypeVar

import grpc
import trio
import trio.testing

from knavery.client import connect
from knavery.v1 import referee_pb2 as pb
from referee.server import (
    Door,
    Post,
    open_door,
)
from referee.wire_limits import MAX_MESSAGE_BYTES

WELCOME = pb.Welcome(protocol=1, max_batch=256, max_message_bytes=MAX_MESSAGE_BYTES)
T = TypeVar("T")

ECHO = """
import os
from knavery.client import connect
from knavery.v1 import referee_pb2 as pb
with connect(os.environ["KNAVERY_ADDRESS"], os.environ["KNAVERY_TOKEN"]) as stream:
    for envelope in stream:
        ids = [event.decision.id for event in envelope.events if event.HasField("decision")]
        if ids:
            stream.send(pb.Moves(moves=[pb.Move(decision=number) for number in ids]))
"""


@asynccontextmanager
async def a_door(seconds: float = 20) -> AsyncIterator[Door]:
    with trio.fail_after(seconds):
        async with open_door() as door:
            yield door


@asynccontextmanager
async def a_post(seconds: float = 20) -> AsyncIterator[Post]:
    async with a_door(seconds) as door:
        yield await door.listen()


class RawBot:
    """A stream by hand: it says what it likes, and hears only when asked to."""

    def __init__(self, post: Post, *options: tuple[str, int]) -> None:
        self._said: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._channel = grpc.insecure_channel(
            post.address, [("grpc.use_local_subchannel_pool", 1), *options]
        )
        self._call = self._channel.stream_stream("/knavery.v1.Referee/Play")(
            iter(self._said.get, None)
        )

    def say(self, *messages: bytes | pb.FromBot) -> None:
        for message in messages:
            self._said.put(message if isinstance(message, bytes) else message.SerializeToString())

    def half_close(self) -> None:
        self._said.put(None)

    async def hear(self) -> pb.FromReferee | grpc.StatusCode:
        """The next message, or how the stream ended."""
        return await in_thread(self._hear)

    def _hear(self) -> pb.FromReferee | grpc.StatusCode:
        try:
            return pb.FromReferee.FromString(next(self._call))
        except StopIteration:
            return self._call.code()
        except grpc.RpcError as error:
            return error.code()

    def close(self) -> None:
        self._call.cancel()
        self._said.put(None)
        self._channel.close()


@contextmanager
def raw_bot(post: Post) -> Iterator[RawBot]:
    bot = RawBot(post)
    try:
        yield bot
    finally:
        bot.close()


@contextmanager
def process(post: Post, code: str = ECHO) -> Iterator[subprocess.Popen[bytes]]:
    environment = {**os.environ, "KNAVERY_ADDRESS": post.address, "KNAVERY_TOKEN": post.token}
    with subprocess.Popen([sys.executable, "-c", code], env=environment) as bot:
        try:
            yield bot
        finally:
            bot.kill()


async def in_thread(work: Callable[[], T]) -> T:
    return await trio.to_thread.run_sync(work, abandon_on_cancel=True)


def hello(token: str) -> pb.FromBot:
    return pb.FromBot(hello=pb.Hello(token=token, protocol=1))


def moves(*decisions: int, note: str = "") -> pb.FromBot:
    return pb.FromBot(moves=pb.Moves(moves=[pb.Move(decision=d, note=note) for d in decisions]))


def decisions(*numbers: int) -> pb.FromReferee:
    events = [pb.Event(decision={"id": number}) for number in numbers]
    return pb.FromReferee(envelope=pb.Envelope(events=events))


def ids(received: tuple[float, pb.Moves]) -> list[int]:
    return [move.decision for move in received[1].moves]


async def fill(post: Post) -> int:
    """Sends until half a second brings no more; how many bytes that took."""
    sent = 0
    while True:
        with trio.move_on_after(0.5) as patience:
            await post.send(bytes(2**18))
            sent += 2**18
        if patience.cancelled_caught:
            return sent


async def let_in(post: Post, bot: RawBot) -> None:
    bot.say(hello(post.token))
    await post.hello()
    await post.welcome(WELCOME)
    assert (await bot.hear()).welcome == WELCOME


async def flood(post: Post, piece: pb.Moves, nursery: trio.Nursery) -> int:
    """Lets a bot in that sends this again and again: how often it could, when half a second brings
    no more. It goes on when the post is read."""
    counted = [0]

    def send() -> None:
        with connect(post.address, post.token) as stream:
            while True:
                stream.send(piece)
                counted[0] += 1

    nursery.start_soon(in_thread, send)
    await post.hello()
    await post.welcome(WELCOME)
    before = -1
    while before != counted[0]:
        before = counted[0]
        await trio.sleep(0.5)
    return before

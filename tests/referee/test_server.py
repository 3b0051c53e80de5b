"""The door and its posts, over real sockets: with bots in threads, and as processes."""

import asyncio
import os
import queue
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import TypeVar

import grpc
import pytest
import trio
import trio.testing
from trio.testing import trio_test

from knavery.client import Rejected, connect
from knavery.v1 import referee_pb2 as pb
from referee.server import (
    CLOSED,
    HUNG_UP,
    BadMessage,
    CannotListen,
    Door,
    HungUp,
    Post,
    open_door,
)
from referee.streams import Stream
from referee.wire_limits import MAX_MESSAGE_BYTES, MOST_BYTES, READ_AHEAD

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


# The hello.


@trio_test
async def test_a_bot_in_a_thread_is_let_in_asked_and_sent_away() -> None:
    heard: list[int] = []

    def bot(address: str, token: str) -> None:
        with connect(address, token, games=("knave",), max_tables=3) as stream:
            for envelope in stream:
                heard.extend(event.decision.id for event in envelope.events)
                stream.send(moves(*heard).moves)

    async with a_post() as post, trio.open_nursery() as nursery:
        nursery.start_soon(in_thread, lambda: bot(post.address, post.token))
        said = await post.hello()
        assert (said.games, said.max_tables) == (["knave"], 3)
        await post.welcome(WELCOME)
        await post.send(decisions(1, 2))
        assert ids(await post.receive()) == [1, 2]
        await post.send(decisions(3).SerializeToString())
        assert ids(await post.receive()) == [1, 2, 3]
        await post.close()
    assert heard == [1, 2, 3]


@trio_test
async def test_a_bot_process_answers_and_exits_at_the_end() -> None:
    async with a_post() as post:
        with process(post) as bot:
            await post.hello()
            await post.welcome(WELCOME)
            for number in range(1, 200):
                await post.send(decisions(number))
                assert ids(await post.receive()) == [number]
            await post.close()
            assert await in_thread(bot.wait) == 0


@pytest.mark.parametrize(
    ("first", "word"),
    [
        (b"\xff\xff\xff", "first message"),
        (b"", "first message"),
        (pb.FromBot(moves=pb.Moves()), "first message"),
        (hello("guess"), "token"),
        (hello(""), "token"),
        (hello("é\U0001f0cf"), "token"),
    ],
    ids=["garbage", "nothing", "moves", "wrong token", "no token", "token beyond ASCII"],
)
@trio_test
async def test_a_bad_first_message_is_rejected_and_the_post_keeps_waiting(
    first: bytes | pb.FromBot, word: str
) -> None:
    async with a_post() as post:
        with raw_bot(post) as stranger:
            stranger.say(first)
            assert word in (await stranger.hear()).rejected.reason
            assert await stranger.hear() is grpc.StatusCode.OK
        with raw_bot(post) as bot:
            await let_in(post, bot)


@trio_test
async def test_a_second_stream_with_the_same_token_is_rejected_and_the_first_goes_on() -> None:
    async with a_post() as post:
        with raw_bot(post) as bot:
            await let_in(post, bot)
            with raw_bot(post) as second:
                second.say(hello(post.token))
                assert "in use" in (await second.hear()).rejected.reason
            bot.say(moves(7))
            assert ids(await post.receive()) == [7]


@trio_test
async def test_a_bot_is_sent_away_with_a_reason() -> None:
    seen: list[str] = []

    def bot(post: Post) -> None:
        with pytest.raises(Rejected) as rejection, connect(post.address, post.token):
            pass
        seen.append(str(rejection.value))

    async with a_post() as post, trio.open_nursery() as nursery:
        nursery.start_soon(in_thread, lambda: bot(post))
        await post.hello()
        await post.reject("it plays bridge only")
        with pytest.raises(HungUp):
            await post.receive()
    assert seen == ["it plays bridge only"]


@trio_test
async def test_nothing_is_sent_before_the_hello() -> None:
    async with a_post() as post:
        with pytest.raises(RuntimeError, match="after its hello"):
            await post.send(decisions(1))


# What bots do wrong.


@trio_test
async def test_messages_that_are_no_moves_are_told_and_the_stream_goes_on() -> None:
    async with a_post() as post:
        with raw_bot(post) as bot:
            await let_in(post, bot)
            bot.say(b"\xff\xff", b"", hello(post.token), moves(5))
            for _ in range(3):
                with pytest.raises(BadMessage):
                    await post.receive()
            assert ids(await post.receive()) == [5]


@trio_test
async def test_a_message_as_large_as_allowed_arrives_and_a_larger_one_ends_the_stream() -> None:
    largest = moves(1, note="x" * (MAX_MESSAGE_BYTES - 100))
    largest.moves.moves[0].note += "x" * (MAX_MESSAGE_BYTES - largest.ByteSize())
    assert largest.ByteSize() == MAX_MESSAGE_BYTES
    async with a_post() as post:
        with raw_bot(post) as bot:
            await let_in(post, bot)
            bot.say(largest, largest.SerializeToString() + b"x")
            assert ids(await post.receive()) == [1]
            with pytest.raises(HungUp, match="message of 1,048,577 bytes; 1,048,576 are allowed"):
                await post.receive()
            assert await bot.hear() is grpc.StatusCode.RESOURCE_EXHAUSTED


@trio_test
async def test_a_message_too_large_to_be_read_ends_the_stream() -> None:
    async with a_post() as post:
        with raw_bot(post) as bot:
            await let_in(post, bot)
            bot.say(bytes(MOST_BYTES + 1))
            with pytest.raises(HungUp, match=HUNG_UP):
                await post.receive()


@trio_test
async def test_a_bot_that_never_reads_stalls_the_sender_at_a_few_megabytes() -> None:
    async with a_post() as post:
        with raw_bot(post) as bot:
            bot.say(hello(post.token))
            await post.hello()
            assert await fill(post) < 16 * 2**20
            bot.say(moves(9))
            assert ids(await post.receive()) == [9]
            with trio.fail_after(2):
                await post.close()


@trio_test
async def test_a_bot_that_floods_is_stalled_and_nothing_is_lost() -> None:
    piece = moves(*range(20), note="x" * 200).moves
    counted = [0]

    def flood(post: Post) -> None:
        with connect(post.address, post.token) as stream:
            while True:
                stream.send(piece)
                counted[0] += 1

    async with a_post() as post, trio.open_nursery() as nursery:
        nursery.start_soon(in_thread, lambda: flood(post))
        await post.hello()
        await post.welcome(WELCOME)
        before = -1
        while before != counted[0]:  # until half a second brings no more
            before = counted[0]
            await trio.sleep(0.5)
        assert READ_AHEAD < before * piece.ByteSize() < 16 * 2**20
        for _ in range(before):
            assert len((await post.receive())[1].moves) == 20
        await post.close()


@trio_test
async def test_moves_that_came_before_a_hang_up_are_received() -> None:
    async with a_post() as post:
        with raw_bot(post) as bot:
            await let_in(post, bot)
            bot.say(moves(1), moves(2))
            bot.half_close()
            assert [ids(await post.receive()), ids(await post.receive())] == [[1], [2]]
            for _ in range(2):
                with pytest.raises(HungUp, match=HUNG_UP):
                    await post.receive()
            with pytest.raises(HungUp, match=HUNG_UP):
                await post.send(decisions(1))


@trio_test
async def test_a_killed_bot_hangs_up_on_a_sender_and_a_receiver() -> None:
    """The bot sleeps, so that the sender is blocked in the middle of a write."""
    hung_up: list[str] = []
    sleeper = ECHO.replace("for envelope in stream:", "import time; time.sleep(60)\n    if 0:")

    async def until_hung_up(work: Callable[[], Awaitable[object]], who: str) -> None:
        with pytest.raises(HungUp, match=HUNG_UP):
            await work()
        hung_up.append(who)

    async with a_post() as post:
        with process(post, sleeper) as bot:
            await post.hello()
            await post.welcome(WELCOME)
            await fill(post)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(until_hung_up, post.receive, "receiver")
                nursery.start_soon(until_hung_up, lambda: post.send(bytes(2**18)), "sender")
                await trio.testing.wait_all_tasks_blocked()
                bot.send_signal(signal.SIGKILL)
    assert sorted(hung_up) == ["receiver", "sender"]


@pytest.mark.parametrize("steps", range(1, 8))
@pytest.mark.parametrize("last", ["the bot", "the referee", "nobody"])
def test_a_hang_up_is_told_whenever_grpc_cancels_the_stream(steps: int, last: str) -> None:
    """gRPC cancels a stream whose bot is gone at any step of its ending: once, after the end of
    the bot's messages was read, the cancelling was what nobody heard of the end."""
    heard: list[str] = []

    class Thread:
        def tell(self, do: Callable[..., object], *args: object) -> None:
            heard.append(do.__name__)
            do(*args)

    class Context:
        async def read(self) -> object:
            await asyncio.sleep(0 if last == "the bot" else 3600)
            return grpc.aio.EOF

    async def scenario() -> Stream:
        stream = Stream(Thread())  # type: ignore[arg-type]
        task = asyncio.create_task(stream.carry(Context()))  # type: ignore[arg-type]
        if last == "the referee":
            stream.finish()
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return stream

    stream = asyncio.run(scenario())
    assert heard == ["_hang_up"]
    assert stream.over


# Time and cancelling.


@trio_test
async def test_moves_are_stamped_when_they_arrive_not_when_they_are_handled() -> None:
    async with a_post() as post:
        with raw_bot(post) as bot:
            await let_in(post, bot)
            before = time.perf_counter()
            bot.say(moves(1), moves(2), moves(3))
            first, _ = await post.receive()
            await trio.sleep(0.5)  # handling the first takes long
            second, _ = await post.receive()
            third, _ = await post.receive()
            assert before < first <= second <= third < before + 0.5


@trio_test
async def test_a_cancelled_receiver_loses_nothing() -> None:
    async with a_post() as post:
        with trio.move_on_after(0):
            await post.hello()
        with raw_bot(post) as bot:
            await let_in(post, bot)
            for number in range(1, 50):
                with trio.move_on_after(0):
                    await post.receive()
                bot.say(moves(number))
                with trio.move_on_after(0.0005) as patience:
                    assert ids(await post.receive()) == [number]
                if patience.cancelled_caught:
                    assert ids(await post.receive()) == [number]


@trio_test
async def test_what_a_cancelled_sender_had_is_not_sent() -> None:
    async with a_post() as post:
        with raw_bot(post) as bot:
            await let_in(post, bot)
            for number in range(1, 50):
                with trio.move_on_after(0):
                    await post.send(decisions(number))
            await post.send(decisions(50))
            assert (await bot.hear()).envelope.events[0].decision.id == 50


@trio_test
async def test_whoever_waits_for_a_hello_learns_that_the_post_is_closed() -> None:
    async with a_post() as post, trio.open_nursery() as nursery:

        @nursery.start_soon
        async def wait() -> None:
            with pytest.raises(HungUp, match=CLOSED):
                await post.hello()

        await post.close()
        await post.close()


# The door.


@trio_test
async def test_fifty_posts_at_once() -> None:
    async def talk(post: Post) -> None:
        with raw_bot(post) as bot:
            await let_in(post, bot)
            for number in range(1, 6):
                await post.send(decisions(number))
                assert (await bot.hear()).envelope.events[0].decision.id == number
                bot.say(moves(number))
                assert ids(await post.receive()) == [number]

    async with a_door(60) as door:
        posts = [await door.listen() for _ in range(50)]
        assert len({post.token for post in posts}) == len({post.address for post in posts}) == 50
        async with trio.open_nursery() as nursery:
            for post in posts:
                nursery.start_soon(talk, post)


@trio_test
async def test_nothing_is_left_when_the_door_is_closed() -> None:
    def held() -> tuple[int, int, float]:
        return threading.active_count(), len(os.listdir("/proc/self/fd")), sys.getswitchinterval()

    folder = Path()
    await in_thread(int)  # trio's own thread stays for a while
    before = held()
    for _ in range(2):
        async with a_door() as door:
            posts = [await door.listen() for _ in range(4)]
            sockets = [Path(post.address.removeprefix("unix:")) for post in posts]
            folder = sockets[0].parent
            with process(posts[0]), process(posts[1]):
                for post in posts[:2]:
                    await post.hello()
                    await post.welcome(WELCOME)
                await posts[0].close()
                assert not sockets[0].exists()
                assert sockets[1].is_socket()
                await posts[1].send(decisions(1))
        assert held() == before
        assert not folder.exists()


@trio_test
async def test_the_door_closes_soon_whatever_its_bots_do() -> None:
    with trio.fail_after(20), ExitStack() as bots:
        async with trio.open_nursery() as waiters:
            async with open_door() as door:
                deaf, silent, busy, unused = [await door.listen() for _ in range(4)]
                bots.enter_context(raw_bot(silent))
                bots.enter_context(raw_bot(deaf)).say(hello(deaf.token))
                bots.enter_context(process(busy))
                await deaf.hello()
                await busy.hello()
                await busy.welcome(WELCOME)
                waiters.start_soon(send_in_vain, deaf)
                waiters.start_soon(wait_for_nobody, unused)
                with trio.move_on_after(1):
                    await busy.receive()
                start = trio.current_time()
            assert trio.current_time() - start < 2


async def send_in_vain(post: Post) -> None:
    await fill(post)
    with pytest.raises(HungUp):
        await post.send(bytes(2**20))


async def wait_for_nobody(post: Post) -> None:
    with pytest.raises(HungUp, match=CLOSED):
        await post.hello()


def test_the_interpreter_exits_at_once_with_a_stream_open() -> None:
    code = f"""
import os, subprocess, sys, trio
from knavery.v1 import referee_pb2 as pb
from referee.server import open_door

async def main():
    async with open_door() as door:
        post = await door.listen()
        subprocess.Popen(
            [sys.executable, "-c", {ECHO!r}],
            env={{**os.environ, "KNAVERY_ADDRESS": post.address, "KNAVERY_TOKEN": post.token}},
        )
        await post.hello()
        await post.welcome(pb.Welcome())
        print("welcome", flush=True)
        sys.exit(7)

trio.run(main)
"""
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as referee:
        assert referee.stdout is not None
        assert referee.stdout.readline() == b"welcome\n"
        start = time.monotonic()
        out, err = referee.communicate(timeout=20)  # the bot holds both pipes as well
        assert (referee.returncode, out, err) == (7, b"", b"")
        assert time.monotonic() - start < 3


@trio_test
async def test_sockets_are_private_and_their_paths_short(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    long = tmp_path / ("long" * 20)
    long.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(long))
    async with a_post() as post:
        socket = Path(post.address.removeprefix("unix:"))
        assert len(str(socket)) < 80
        assert stat.S_IMODE(socket.parent.stat().st_mode) == 0o700
        with raw_bot(post) as bot:
            await let_in(post, bot)


@trio_test
async def test_a_socket_that_cannot_be_made_is_named() -> None:
    async with a_door() as door:
        door._folder = "/nowhere"
        with pytest.raises(CannotListen, match="/nowhere/"):
            await door.listen()


def test_grpc_is_kept_from_handling_forks() -> None:
    assert os.environ["GRPC_ENABLE_FORK_SUPPORT"] == "0"

"""The posts of a door, over real sockets: with bots in threads, and as processes."""

import asyncio
import signal
import time
from collections.abc import Awaitable, Callable

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
    HungUp,
    Post,
)
from referee.streams import Stream
from referee.wire_limits import MAX_MESSAGE_BYTES, MOST_BYTES, READ_AHEAD
from tests.referee.posts import (
    ECHO,
    WELCOME,
    a_post,
    decisions,
    fill,
    flood,
    hello,
    ids,
    in_thread,
    let_in,
    moves,
    process,
    raw_bot,
)

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
    async with a_post() as post, trio.open_nursery() as nursery:
        count = await flood(post, piece, nursery)
        assert READ_AHEAD < count * piece.ByteSize() < 16 * 2**20
        for _ in range(count):
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

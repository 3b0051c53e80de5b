"""What a bot may take of the referee, over real sockets: each number of wire_limits.py, and what is
malformed below gRPC. A good bot is let in afterwards, or goes on: that is the point of each bound.
"""

import gzip
import os
import queue
import random
import subprocess
import sys
import threading
from contextlib import ExitStack, closing

import grpc
import pytest
import trio
from trio.testing import trio_test

from knavery.v1 import referee_pb2 as pb
from referee import desk, wire, wire_limits
from referee.desk import OPENED_TOO_MANY
from referee.player import MAX_BATCH
from referee.server import BadMessage, HungUp, Post
from referee.streams import Rate
from referee.wire_limits import (
    HELLO_BYTES,
    KEPT_REASONS,
    MAX_CARDS,
    MAX_CONNECTIONS,
    MAX_DROPPED,
    MAX_MESSAGE_BYTES,
    MAX_MOVES,
    MAX_OPENED,
    MAX_STREAMS,
    MESSAGE_RATE,
    MOST_BYTES,
)
from tests.referee.http2 import (
    DATA,
    END_HEADERS,
    GOAWAY,
    HEADERS,
    PING,
    PREFACE,
    RESET,
    SETTINGS,
    WINDOW,
    Http2Bot,
    fields,
    frame,
    message,
)
from tests.referee.posts import (
    RawBot,
    a_post,
    decisions,
    flood,
    hello,
    ids,
    in_thread,
    let_in,
    moves,
    raw_bot,
)

MIB = 2**20


def memory() -> int:
    """Bytes of this process that are in memory; the referee and its gRPC are in it."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def seed_of(number: int) -> bytes:
    return random.Random(number).randbytes(50_000)


# Below gRPC.

BEGUN = PREFACE + frame(SETTINGS)
OPENED = BEGUN + frame(HEADERS, fields(), END_HEADERS, 1)
MALFORMED = {
    "nothing": b"",
    "a page": b"GET / HTTP/1.1\r\nHost: knavery\r\n\r\n",
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + seed_of(1)[:500],
    "noise": seed_of(2),
    "half a preface": PREFACE[:9],
    "noise for frames": PREFACE + seed_of(3),
    "a frame of 16 MiB": BEGUN + b"\xff\xff\xff\x00\x00\x00\x00\x00\x01" + bytes(MIB),
    "data on no stream": BEGUN + frame(DATA, message(b"x"), stream=7),
    "headers that cannot be unpacked": BEGUN + frame(HEADERS, seed_of(4)[:900], END_HEADERS, 1),
    "headers without an end": BEGUN + frame(HEADERS, fields(x="y" * 8000), 0, 1) + b"\0" * 50_000,
    "headers of a megabyte": BEGUN
    + frame(HEADERS, fields()[:-1], 0, 1)
    + frame(9, b"\0\x01x\x7f\x80\x7f" + b"y" * 16_000, 0, 1) * 64,
    "an even stream": BEGUN + frame(HEADERS, fields(), END_HEADERS, 2),
    "a stream twice": OPENED + frame(HEADERS, fields(), END_HEADERS, 1),
    "a window of nothing": OPENED + frame(WINDOW, bytes(4), stream=1),
    "a window too large": OPENED + frame(WINDOW, b"\x7f\xff\xff\xff", stream=1) * 3,
    "settings out of range": PREFACE + frame(SETTINGS, b"\0\x04\xff\xff\xff\xff"),
    "settings of five bytes": PREFACE + frame(SETTINGS, b"\0\x04\xff\xff\xff"),
    "a goodbye": BEGUN + frame(GOAWAY, bytes(8)),
    "pings": BEGUN + frame(PING, bytes(8)) * 20_000,
    "settings again and again": BEGUN + frame(SETTINGS) * 20_000,
    "streams that are reset": BEGUN
    + b"".join(
        frame(HEADERS, fields(), END_HEADERS, n) + frame(RESET, bytes(4), stream=n)
        for n in range(1, 4001, 2)
    ),
    "a message that never ends": OPENED + frame(DATA, message(b"", length=2**32 - 1), stream=1),
    "a message said to be packed": OPENED + frame(DATA, message(b"xyz", compressed=1), stream=1),
    "a flag of 255": OPENED + frame(DATA, message(b"xyz", compressed=255), stream=1),
    "a compression unknown": BEGUN
    + frame(HEADERS, fields(grpc_encoding="rar"), END_HEADERS, 1)
    + frame(DATA, message(b"xyz", compressed=1), stream=1),
}


@trio_test
async def test_what_is_malformed_below_grpc_hurts_nobody() -> None:
    """Each beside a bot that is being served, on the same socket."""
    async with a_post(60) as post:
        with raw_bot(post) as bot:
            await let_in(post, bot)
            before = memory()
            for number, (name, data) in enumerate(MALFORMED.items()):
                with closing(Http2Bot(post)) as broken:
                    await in_thread(lambda broken=broken, data=data: broken.say(data))
                bot.say(moves(number))
                assert ids(await post.receive()) == [number], name
                await post.send(decisions(number))
                assert (await bot.hear()).envelope.events[0].decision.id == number, name
            assert memory() - before < 32 * MIB


NOISY = """
import trio
from referee.server import open_door
from tests.referee.http2 import END_HEADERS, HEADERS, PREFACE, SETTINGS, Http2Bot, fields, frame

async def main():
    async with open_door() as door:
        post = await door.listen()
        for headers in (fields(te="x"), fields(grpc_encoding="rar"), b"\\x00" * 99):
            bot = Http2Bot(post)
            bot.say(PREFACE, frame(SETTINGS), frame(HEADERS, headers, END_HEADERS, 1))
            await trio.to_thread.run_sync(bot.hear)
            bot.close()

trio.run(main)
"""


def test_nothing_of_it_is_printed() -> None:
    done = subprocess.run([sys.executable, "-c", NOISY], capture_output=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@trio_test
async def test_a_connection_that_never_begins_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    patch_options(monkeypatch, "grpc.server_handshake_timeout_ms", 300)
    async with a_post() as post:
        with closing(Http2Bot(post)) as silent:
            await in_thread(silent.until_closed)
        with raw_bot(post) as bot:
            await let_in(post, bot)


@trio_test
async def test_a_connection_without_a_stream_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    patch_options(monkeypatch, "grpc.max_connection_idle_ms", 300)
    async with a_post() as post:
        with closing(Http2Bot(post)) as idle:
            idle.settle()
            assert await in_thread(idle.until_closed)
        with raw_bot(post) as bot:
            await let_in(post, bot)


def patch_options(monkeypatch: pytest.MonkeyPatch, name: str, value: int) -> None:
    """Makes one of the time limits short enough for a test."""
    assert name in dict(desk._OPTIONS)
    options = [(key, value if key == name else old) for key, old in desk._OPTIONS]
    monkeypatch.setattr(desk, "_OPTIONS", options)


@trio_test
async def test_connections_are_bounded() -> None:
    async with a_post() as post:
        with ExitStack() as open_:
            bots = [open_.enter_context(closing(Http2Bot(post))) for _ in range(20)]
            for bot in bots:
                bot.settle()
            served = [bool(await in_thread(bot.hear)) for bot in bots]
            assert sum(served) == MAX_CONNECTIONS


# Streams and their hello.


@trio_test
async def test_a_stream_without_a_hello_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desk, "HELLO_TIME", 0.3)
    async with a_post() as post:
        with raw_bot(post) as silent:
            assert "within 0.3 s" in (await silent.hear()).rejected.reason
            assert await silent.hear() is grpc.StatusCode.OK
        with raw_bot(post) as bot:
            await let_in(post, bot)


@trio_test
async def test_silent_streams_are_bounded() -> None:
    async with a_post() as post:
        bots = [RawBot(post) for _ in range(MAX_STREAMS + 2)]
        bots[0].say(hello(post.token))
        await post.hello()
        ends = queue.SimpleQueue[object]()
        for bot in bots[1:]:
            threading.Thread(target=lambda b=bot: ends.put(b._hear()), daemon=True).start()
        for _ in range(2):
            assert await in_thread(ends.get) is grpc.StatusCode.RESOURCE_EXHAUSTED
        for bot in bots:
            bot.close()


@trio_test
async def test_a_bot_that_opens_streams_without_end_is_sent_away() -> None:
    async with a_post() as post:
        with raw_bot(post) as bot, closing(Http2Bot(post)) as opener:
            await let_in(post, bot)
            opener.settle()
            heard = b""
            for number in range(MAX_OPENED):
                stream = 2 * number + 1
                opener.call(stream)
                opener.tell(hello(post.token).SerializeToString(), stream)
                while number < MAX_OPENED - 1 and heard.count(b"in use") <= number:
                    heard += await in_thread(opener.hear)
            with pytest.raises(HungUp, match=OPENED_TOO_MANY):
                await post.receive()
            assert post.refused[-1] == OPENED_TOO_MANY
            assert len(post.refused) == KEPT_REASONS


@trio_test
async def test_a_token_cannot_be_guessed_step_by_step() -> None:
    """All guesses are answered alike, tokens of other bots included."""
    async with a_post() as mine, a_post() as theirs:
        guesses = ["", "x", mine.token[:-1], mine.token + "x", mine.token.swapcase(), theirs.token]
        said = set()
        for guess in guesses:
            with raw_bot(mine) as stranger:
                stranger.say(hello(guess))
                said.add((await stranger.hear()).rejected.reason)
        (reason,) = said
        assert "token is wrong" in reason
        assert not any(guess in reason for guess in guesses if len(guess) > 1)
        with raw_bot(mine) as bot:
            await let_in(mine, bot)


@trio_test
async def test_a_hello_is_small() -> None:
    long = pb.FromBot(hello=pb.Hello(protocol=1, games=["knave"] * 10_000))
    async with a_post() as post:
        long.hello.token = post.token
        with raw_bot(post) as boaster:
            boaster.say(long)
            words = f"{long.ByteSize():,} bytes; {HELLO_BYTES:,} are allowed"
            assert words in (await boaster.hear()).rejected.reason
        with raw_bot(post) as bot:
            await let_in(post, bot)


# Messages.


@trio_test
async def test_what_a_compressed_message_unpacks_to_is_bounded() -> None:
    """A thousand times as much as came over the wire, and more than may come."""
    bomb = gzip.compress(bytes(64 * MIB), 9)
    assert len(bomb) < MAX_MESSAGE_BYTES
    async with a_post() as post:
        with closing(Http2Bot(post)) as bot:
            bot.settle()
            bot.call(grpc_encoding="gzip")
            bot.tell(hello(post.token).SerializeToString())
            await post.hello()
            before = memory()
            packed = message(bomb, compressed=1)
            for begin in range(0, len(packed), 16_000):
                bot.say(frame(DATA, packed[begin : begin + 16_000], stream=1))
            with pytest.raises(HungUp):
                await post.receive()
            assert memory() - before < 16 * MIB


MANY = pb.FromBot(moves=pb.Moves(moves=[pb.Move()] * (MAX_MESSAGE_BYTES // 2 - 8)))
ONE_OF_MANY_CARDS = pb.FromBot(
    moves=pb.Moves(moves=[pb.Move(decision=1, cards={"cards": [5] * (MAX_MESSAGE_BYTES - 20)})])
)


@trio_test
async def test_a_message_of_too_many_moves_is_none() -> None:
    most = moves(*[1] * MAX_MOVES)
    async with a_post() as post:
        with raw_bot(post) as bot:
            await let_in(post, bot)
            before = memory()
            bot.say(most, moves(*[1] * (MAX_MOVES + 1)), *[MANY] * 20, moves(3))
            assert len((await post.receive())[1].moves) == MAX_MOVES
            for _ in range(21):
                with pytest.raises(BadMessage, match=r"more than 10,256 moves"):
                    await post.receive()
            assert ids(await post.receive()) == [3]
            assert memory() - before < 200 * MIB, "what one message is parsed to, and not twenty"


def test_a_move_of_too_many_cards_is_cut_off() -> None:
    assert MAX_MESSAGE_BYTES - 20 < ONE_OF_MANY_CARDS.ByteSize() <= MAX_MESSAGE_BYTES
    (move,) = wire.moves(ONE_OF_MANY_CARDS.moves)
    assert move.cards == (5,) * MAX_CARDS


def test_the_largest_honest_message_fits() -> None:
    whole = pb.FromBot()
    for number in range(MAX_BATCH):
        whole.moves.moves.add(decision=2**31 + number, error="x" * 2048, note="y" * 256)
    assert whole.ByteSize() < MAX_MESSAGE_BYTES < MOST_BYTES
    assert MAX_BATCH + MAX_DROPPED == MAX_MOVES


@trio_test
async def test_messages_are_read_at_a_bounded_rate() -> None:
    seconds = 2.0
    async with a_post(60) as post:
        with raw_bot(post) as bot:
            await let_in(post, bot)
            bot.say(*[moves(1)] * int(wire_limits.MESSAGE_BURST + seconds * MESSAGE_RATE))
            first = last = (await post.receive())[0]
            for _ in range(int(wire_limits.MESSAGE_BURST + seconds * MESSAGE_RATE) - 1):
                last = (await post.receive())[0]
            assert last - first > 0.9 * seconds


def test_the_rate_in_numbers() -> None:
    rate = Rate(rate=10, burst=3)
    assert [rate.wait(0.0) for _ in range(5)] == pytest.approx([0, 0, 0, 0.1, 0.2])
    assert rate.wait(0.3) == 0
    assert [rate.wait(100.0) for _ in range(4)] == pytest.approx([0, 0, 0, 0.1])


# Bytes that are held for it.


@trio_test
async def test_a_bot_that_sends_ahead_is_stopped_after_little() -> None:
    """A real client minds the windows; half of what it could send is in the two ends' sockets."""
    piece = moves(1, note="x" * 8000).moves
    async with a_post() as post, trio.open_nursery() as nursery:
        count = await flood(post, piece, nursery)
        await post.close()
    assert count * piece.ByteSize() < 2 * MIB


@trio_test
async def test_a_bot_that_minds_no_window_does_not_grow_the_referee() -> None:
    async with a_post() as post:
        with closing(Http2Bot(post)) as bot:
            bot.settle()
            bot.call()
            bot.tell(hello(post.token).SerializeToString())
            await post.hello()
            before = memory()
            piece = frame(DATA, message(moves(1, note="x" * 8000).SerializeToString()), stream=1)
            await in_thread(lambda: bot.say(piece * (64 * MIB // len(piece))))
            assert memory() - before < 24 * MIB
            with pytest.raises(HungUp):
                await everything(post)


@trio_test
async def test_a_bot_that_stops_reading_does_not_grow_the_referee() -> None:
    """It allows the referee to send 2 GiB, takes nothing from its socket, and cannot be told."""
    async with a_post(60) as post:
        with closing(Http2Bot(post)) as bot:
            bot.settle()
            bot.call()
            bot.tell(hello(post.token).SerializeToString())
            await post.hello()
            before, sent = memory(), 0
            with trio.move_on_after(3):
                while True:
                    await post.send(bytes(MIB // 4))
                    sent += MIB // 4
            assert sent < 8 * MIB
            assert memory() - before < 16 * MIB


async def everything(post: Post) -> None:
    """Receives until there is nothing more."""
    while True:
        await post.receive()


BOUNDS = [name for name in vars(wire_limits) if name.isupper() and name != "MIB"]


@pytest.mark.parametrize("name", BOUNDS)
def test_every_bound_is_documented(name: str) -> None:
    value = getattr(wire_limits, name)
    text = f"{value:,}" if isinstance(value, int) else f"{value:g}"
    with open("docs/protocol.md") as file:
        section = file.read().split("## Limits", 1)[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if f"`{name}`" in line]
    assert len(rows) == 1, f"docs/protocol.md: Limits: one row for {name}"
    assert text in rows[0]

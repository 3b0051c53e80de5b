"""The bot's end of the stream, against a real door."""

import asyncio
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path

import pytest
import trio
import trustme
from trio.testing import trio_test

from knavery.client import PROTOCOL, SDK, Rejected, Stream, StreamEnded, Unreachable, connect
from knavery.v1 import referee_pb2 as pb
from referee import wire
from referee.server import HungUp, Post, open_door

WELCOME = pb.Welcome(protocol=1, max_batch=256, max_message_bytes=4000)
ONE = pb.Moves(moves=[pb.Move(decision=1)])
START = """
import os, sys
from knavery.client import connect
from knavery.v1 import referee_pb2 as pb
with connect(os.environ["KNAVERY_ADDRESS"], os.environ["KNAVERY_TOKEN"]) as stream:
"""


@asynccontextmanager
async def a_post() -> AsyncIterator[Post]:
    with trio.fail_after(20):
        async with open_door() as door:
            yield await door.listen()


@asynccontextmanager
async def a_bot(post: Post, body: Callable[[Stream], None]) -> AsyncIterator[None]:
    """A bot in a thread, let in; the block ends when the bot has."""

    def bot() -> None:
        with connect(post.address, post.token) as stream:
            assert stream.welcome == WELCOME
            body(stream)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(in_thread, bot)
        await post.hello()
        await post.welcome(WELCOME)
        yield


async def in_thread(work: Callable[[], object]) -> object:
    return await trio.to_thread.run_sync(work, abandon_on_cancel=True)


def start(post: Post, body: str) -> subprocess.Popen[bytes]:
    """A bot process whose `body` has a stream."""
    lines = START + "".join(f"    {line}\n" for line in body.strip().splitlines())
    environment = {"KNAVERY_ADDRESS": post.address, "KNAVERY_TOKEN": post.token}
    return subprocess.Popen(
        [sys.executable, "-c", lines],
        env={"PYTHONPATH": ":".join(sys.path), **environment},
        stderr=subprocess.PIPE,
    )


async def end_of(bot: subprocess.Popen[bytes]) -> tuple[int, str]:
    """How it exited, and what it printed as errors."""
    _, errors = await trio.to_thread.run_sync(bot.communicate, abandon_on_cancel=True)
    return bot.returncode, errors.decode()


def envelope(*events: pb.Event) -> pb.FromReferee:
    return pb.FromReferee(envelope=pb.Envelope(events=events))


ASK = pb.Event(decision={"id": 1})


# The hello.


@trio_test
async def test_the_hello_says_who_speaks_and_what_it_takes() -> None:
    async with a_post() as post, trio.open_nursery() as nursery:

        def bot() -> None:
            with connect(post.address, post.token, ("knave", "ninety-nine"), 7, 64):
                pass

        nursery.start_soon(in_thread, bot)
        assert await post.hello() == pb.Hello(
            token=post.token,
            protocol=PROTOCOL,
            sdk=f"knavery-python {version('knavery')}",
            language=f"python {sys.version_info[0]}.{sys.version_info[1]}.{sys.version_info[2]}",
            games=["knave", "ninety-nine"],
            max_tables=7,
            max_batch=64,
        )
        await post.welcome(WELCOME)
    assert SDK.endswith(version("knavery"))
    assert PROTOCOL == wire.PROTOCOL


@trio_test
async def test_limits_that_a_bot_does_not_set_are_absent() -> None:
    async with a_post() as post, a_bot(post, lambda _: None):
        said = await post.hello()
        assert not said.games
        assert not said.HasField("max_tables")
        assert not said.HasField("max_batch")


@trio_test
async def test_a_rejection_raises_the_referee_s_reason() -> None:
    async with a_post() as post:

        def bot() -> None:
            with pytest.raises(Rejected, match="token is wrong"), connect(post.address, "guess"):
                pytest.fail("it was let in")

        await in_thread(bot)


def test_an_address_where_nobody_is_gives_one_clear_line() -> None:
    with (
        pytest.raises(Unreachable, match="no referee at unix:/nowhere: ") as error,
        connect("unix:/nowhere", "token"),
    ):
        pytest.fail("it connected")
    assert "\n" not in str(error.value)


def test_an_address_without_a_port_is_named_before_gRPC_takes_443() -> None:  # noqa: N802
    with (
        pytest.raises(Unreachable, match=r"KNAVERY_ADDRESS: 'example\.org' names no port"),
        connect("example.org", "token"),
    ):
        pytest.fail("it connected")


def test_where_nobody_answers_it_says_that_it_was_tried_without_tls(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("KNAVERY_TLS_CA", raising=False)
    with (
        pytest.raises(Unreachable, match=r"127\.0\.0\.1:1: .*tried without TLS; .*KNAVERY_TLS_CA"),
        connect("127.0.0.1:1", "token"),
    ):
        pytest.fail("it connected")


def test_where_nobody_answers_it_says_that_it_was_tried_with_tls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """At a port where a referee listens that has no certificate."""
    trustme.CA().cert_pem.write_to_path(tmp_path / "ca.pem")
    monkeypatch.setenv("KNAVERY_TLS_CA", str(tmp_path / "ca.pem"))
    with socket.create_server(("127.0.0.1", 0)) as plain:
        hang_up = threading.Thread(target=lambda: plain.accept()[0].close())
        hang_up.start()
        port = plain.getsockname()[1]
        with (
            pytest.raises(Unreachable, match=r"tried with TLS: .*or unset that"),
            connect(f"127.0.0.1:{port}", "token"),
        ):
            pytest.fail("it connected")
        hang_up.join()
    assert capfd.readouterr().err == ""


def test_a_file_of_authorities_without_any_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ca.pem").touch()
    monkeypatch.setenv("KNAVERY_TLS_CA", str(tmp_path / "ca.pem"))
    with (
        pytest.raises(
            Unreachable, match=r"KNAVERY_TLS_CA: .*/ca\.pem: holds no certificate in PEM"
        ),
        connect("127.0.0.1:1", "token"),
    ):
        pytest.fail("it connected")


@trio_test
async def test_a_referee_that_hangs_up_before_its_welcome_is_unreachable() -> None:
    async with a_post() as post, trio.open_nursery() as nursery:

        def bot() -> None:
            with pytest.raises(Unreachable), connect(post.address, post.token):
                pytest.fail("it was let in")

        nursery.start_soon(in_thread, bot)
        await post.hello()
        await post.close()


# Envelopes and moves.


@trio_test
async def test_envelopes_come_in_order_and_a_goodbye_is_the_last() -> None:
    seen: list[int] = []

    def body(stream: Stream) -> None:
        seen.extend(len(message.events) for message in stream)

    async with a_post() as post, a_bot(post, body):
        await post.send(envelope())
        await post.send(envelope(ASK, ASK))
        await post.send(envelope(ASK, ASK, pb.Event(goodbye=pb.Goodbye(reason="done"))))
        with pytest.raises(HungUp):
            await post.receive()
    assert seen == [0, 2, 3]


@trio_test
async def test_moves_leave_when_they_are_sent_whatever_the_bot_does_next() -> None:
    async with a_post() as post:
        body = """
for _ in stream:
    stream.send(pb.Moves(moves=[pb.Move(decision=1)]))
    while True:
        pass
"""
        with start(post, body) as bot:
            await post.hello()
            await post.welcome(WELCOME)
            await post.send(envelope(ASK))
            with trio.fail_after(5):
                assert (await post.receive())[1] == ONE
            bot.kill()


@trio_test
async def test_an_author_s_own_event_loop_is_not_disturbed() -> None:
    async def think() -> None:
        await asyncio.sleep(0)

    def body(stream: Stream) -> None:
        for _ in stream:
            asyncio.run(think())
            stream.send(ONE)

    async with a_post() as post, a_bot(post, body):
        for _ in range(3):
            await post.send(envelope(ASK))
            assert (await post.receive())[1] == ONE
        await post.close()


@trio_test
async def test_a_message_that_the_referee_would_not_take_is_refused_here() -> None:
    def body(stream: Stream) -> None:
        with pytest.raises(ValueError, match="takes up to 4000: send fewer moves"):
            stream.send(pb.Moves(moves=[pb.Move(decision=1, note="x" * 4000)]))
        stream.send(ONE)

    async with a_post() as post, a_bot(post, body):
        assert (await post.receive())[1] == ONE


# The end.


@trio_test
async def test_a_bot_whose_referee_is_gone_leaves_its_block_quietly() -> None:
    ended: list[str] = []

    def body(stream: Stream) -> None:
        assert list(stream) == []
        ended.append("iteration")
        while True:
            stream.send(ONE)

    async with a_post() as post, a_bot(post, body):
        await post.close()
    assert ended == ["iteration"]


@trio_test
async def test_an_error_of_the_author_s_own_passes_through() -> None:
    def bot(post: Post) -> None:
        with pytest.raises(ZeroDivisionError), connect(post.address, post.token):
            raise ZeroDivisionError

    async with a_post() as post, trio.open_nursery() as nursery:
        nursery.start_soon(in_thread, lambda: bot(post))
        await post.hello()
        await post.welcome(WELCOME)
        with pytest.raises(HungUp):
            await post.receive()


@trio_test
async def test_a_closed_stream_ends_and_takes_nothing_and_may_be_closed_again() -> None:
    def body(stream: Stream) -> None:
        stream.close()
        stream.close()
        assert list(stream) == []
        with pytest.raises(StreamEnded):
            stream.send(ONE)

    async with a_post() as post, a_bot(post, body):
        with pytest.raises(HungUp):
            await post.receive()


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("for _ in stream: pass", 0),
        ("while True: stream.send(pb.Moves(moves=[pb.Move(decision=1)]))", 0),
        ("for _ in stream: sys.exit(3)", 3),
        ("for _ in stream: stream.close()", 0),
        ("for _ in stream: os._exit(4)", 4),
    ],
)
@trio_test
async def test_a_process_exits_at_once_and_prints_nothing(body: str, code: int) -> None:
    async with a_post() as post:
        with start(post, body) as bot:
            await post.hello()
            await post.welcome(WELCOME)
            await post.send(envelope(ASK))
            if code == 0:
                await post.close()
            began = time.monotonic()
            assert await end_of(bot) == (code, "")
            assert time.monotonic() - began < 3


def test_a_process_whose_referee_is_killed_exits_and_prints_nothing() -> None:
    """Nobody is left to wait for the bot, so the end of its output is waited for."""
    referee = """
import os, subprocess, sys, trio
from knavery.v1 import referee_pb2 as pb
from referee.server import open_door

async def main():
    async with open_door() as door:
        post = await door.listen()
        environment = {"KNAVERY_ADDRESS": post.address, "KNAVERY_TOKEN": post.token}
        subprocess.Popen([sys.executable, "-c", sys.argv[1]], env={**os.environ, **environment})
        await post.hello()
        await post.welcome(pb.Welcome(max_message_bytes=4000))
        await post.receive()  # by now the bot is in
        os.kill(os.getpid(), 9)

trio.run(main)
"""
    moves = "pb.Moves(moves=[pb.Move(decision=1)])"
    bot = START + f"    stream.send({moves})\n    for _ in stream: pass\nprint('end', flush=True)\n"
    with tempfile.TemporaryDirectory() as folder:  # it is killed and leaves its socket
        ended = subprocess.run(
            [sys.executable, "-c", referee, bot],
            env={**os.environ, "TMPDIR": folder},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=20,
        )
    assert ended.stdout == b"end\n"


def test_a_bot_loads_nothing_of_the_referee() -> None:
    code = "import sys, knavery.client; print(*sorted(m.split('.')[0] for m in sys.modules))"
    loaded = set(subprocess.check_output([sys.executable, "-c", code], text=True).split())
    assert not loaded & {"trio", "referee", "tournaments", "numpy", "scipy", "sqlite3"}

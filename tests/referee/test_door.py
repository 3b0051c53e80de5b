"""The door itself: many posts at once, and nothing left when it closes."""

import os
import stat
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import pytest
import trio
import trio.testing
from trio.testing import trio_test

from referee.server import (
    CLOSED,
    CannotListen,
    HungUp,
    Post,
    open_door,
)
from tests.referee.posts import (
    ECHO,
    WELCOME,
    a_door,
    a_post,
    decisions,
    fill,
    hello,
    ids,
    in_thread,
    let_in,
    moves,
    process,
    raw_bot,
)


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

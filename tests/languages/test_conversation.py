"""Each template in talk with a referee that the test plays, message by message."""

from __future__ import annotations

import os
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
import trio
import trustme
from trio.testing import trio_test

from knavery.v1 import referee_pb2 as pb
from referee.bots import Prepared, environment
from referee.server import HungUp, Post, Tls, open_door
from tests.languages.templates import TEMPLATES, Template
from tests.sdk.events import finished_deal, started, to_bid, to_play

pytestmark = pytest.mark.languages
PATIENCE = 120.0
WELCOME = pb.Welcome(protocol=1, max_batch=256, max_message_bytes=4 * 2**20)
GOODBYE = pb.Event(goodbye=pb.Goodbye(reason="that was all"))
FIELD_99 = b"\x9a\x06\x02hi"
"""A field of a protocol that is newer: number 99, a text."""
WITH_TLS = ("cpp", "go", "rust", "typescript")
"""The languages whose templates speak TLS."""


@asynccontextmanager
async def a_post() -> AsyncIterator[Post]:
    with trio.fail_after(PATIENCE):
        async with open_door() as door:
            yield await door.listen()


def start(
    bot: Prepared, scratch: Path, address: str, token: str, ca: str = ""
) -> subprocess.Popen[str]:
    """The bot, with the environment that the referee would give it, and whom to trust."""
    return subprocess.Popen(
        bot.argv,
        cwd=bot.cwd,
        env=environment(address, token, scratch, {"KNAVERY_TLS_CA": ca}),
        executable=bot.cwd / bot.argv[0] if "/" in bot.argv[0] else None,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


async def end_of(bot: subprocess.Popen[str]) -> tuple[int, str]:
    """How it exited, and what it printed."""
    printed = await trio.to_thread.run_sync(bot.communicate, abandon_on_cancel=True)
    return bot.returncode, "".join(printed)


def envelope(*events: pb.Event) -> pb.FromReferee:
    return pb.FromReferee(envelope=pb.Envelope(events=events))


async def answers(post: Post, count: int) -> dict[int, pb.Move]:
    """So many moves, in whatever grouping, by their decision."""
    moves: dict[int, pb.Move] = {}
    while len(moves) < count:
        moves |= {move.decision: move for move in (await post.receive())[1].moves}
    return moves


async def relay(address: str, connection: trio.SocketStream) -> None:
    """Carries bytes between a connection and a Unix socket, both ways."""
    socket = await trio.open_unix_socket(address.removeprefix("unix:"))

    async def carry(source: trio.SocketStream, target: trio.SocketStream) -> None:
        with suppress(trio.BrokenResourceError):  # a process that exits may reset its connection
            async for data in source:
                await target.send_all(data)
        nursery.cancel_scope.cancel()

    async with connection, socket, trio.open_nursery() as nursery:
        nursery.start_soon(carry, connection, socket)
        await carry(socket, connection)


def odd_event() -> pb.Event:
    """News of a kind that this protocol does not have."""
    return pb.Event.FromString(FIELD_99)


def odd_request(number: int) -> pb.Event:
    """A decision that asks for what this protocol does not have."""
    event = to_play(number)
    event.decision.ClearField("play_request")
    return pb.Event.FromString(event.SerializeToString())


@trio_test
async def test_it_answers_batches_and_leaves_at_the_goodbye(
    template: Template, bot: Prepared, tmp_path: Path
) -> None:
    async with a_post() as post:
        process = start(bot, tmp_path, post.address, post.token)
        hello = await post.hello()
        assert hello.language.split()[0] == template.language
        assert template.language in hello.sdk
        await post.welcome(WELCOME)
        deal = pb.Event(deal_finished=finished_deal())
        await post.send(envelope(started(), odd_event(), to_play(1), to_bid(2), odd_request(3)))
        moves = await answers(post, 3)
        assert len(moves[1].cards.cards) == 1
        assert len(set(moves[2].cards.cards)) == 3
        assert moves[3].WhichOneof("answer") == "error"
        await post.send(envelope(deal, *(to_play(number) for number in range(4, 260))))
        assert len(await answers(post, 256)) == 256
        await post.send(envelope(GOODBYE))
        assert await end_of(process) == (0, "")


@trio_test
async def test_what_goes_wrong_in_it_costs_one_decision(bot: Prepared, tmp_path: Path) -> None:
    spoilt = to_play(1)
    spoilt.decision.play_request.ClearField("legal")
    async with a_post() as post:
        process = start(bot, tmp_path, post.address, post.token)
        await post.hello()
        await post.welcome(WELCOME)
        await post.send(envelope(started(), spoilt, to_play(2)))
        moves = await answers(post, 2)
        assert moves[1].error
        assert moves[2].cards.cards
        await post.send(envelope(GOODBYE))
        assert (await end_of(process))[0] == 0


@trio_test
async def test_it_dials_an_address_of_ip_too(bot: Prepared, tmp_path: Path) -> None:
    async with a_post() as post, trio.open_nursery() as nursery:

        async def serve(connection: trio.SocketStream) -> None:
            await relay(post.address, connection)

        listeners = await nursery.start(
            lambda task_status: trio.serve_tcp(serve, 0, host="127.0.0.1", task_status=task_status)
        )
        port = listeners[0].socket.getsockname()[1]
        process = start(bot, tmp_path, f"127.0.0.1:{port}", post.token)
        await post.hello()
        await post.welcome(WELCOME)
        await post.send(envelope(to_play(1)))
        assert set(await answers(post, 1)) == {1}
        await post.send(envelope(GOODBYE))
        assert await end_of(process) == (0, "")
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize(
    "template",
    [template for template in TEMPLATES if template.language in WITH_TLS],
    ids=lambda template: template.language,
)
@trio_test
async def test_it_speaks_tls_to_a_referee_that_it_knows(bot: Prepared, tmp_path: Path) -> None:
    """With another authority, with no file of one, and in plain text from afar it does not play."""
    authority = trustme.CA()
    shown = authority.issue_cert("127.0.0.1")
    chain = b"".join(certificate.bytes() for certificate in shown.cert_chain_pems)
    ca, other, empty, gone = (f"{tmp_path}/{name}.pem" for name in ("ca", "other", "empty", "gone"))
    authority.cert_pem.write_to_path(ca)
    trustme.CA().cert_pem.write_to_path(other)
    Path(empty).touch()
    with trio.fail_after(PATIENCE):
        async with open_door() as door:
            tls = Tls(chain, shown.private_key_pem.bytes())
            gate = await door.open_gate("127.0.0.1:0", ["token"], tls)
            plain = await door.open_gate("127.0.0.1:0", ["token"])
            address = f"127.0.0.1:{gate.port}"
            tries = [
                (address, other, "no referee"),
                (address, empty, f"KNAVERY_TLS_CA: {empty}: holds no certificate in PEM\n"),
                (address, gone, f"KNAVERY_TLS_CA: {gone}: cannot be read: "),
                (f"0.0.0.0:{plain.port}", "", "no referee"),
            ]
            for where, file, words in tries:
                status, printed = await end_of(start(bot, tmp_path, where, "token", file))
                assert (status, printed.count("\n")) == (1, 1), printed
                assert words in printed
            process = start(bot, tmp_path, address, "token", ca)
            visit = await gate.guests[0].visit()
            await visit.welcome(WELCOME)
            await visit.send(envelope(to_play(1)))
            assert set(await answers(visit, 1)) == {1}
            await visit.send(envelope(GOODBYE))
            assert await end_of(process) == (0, "")
            assert not plain.guests[0].is_here


@trio_test
async def test_turned_away_it_says_why(bot: Prepared, tmp_path: Path) -> None:
    async with a_post() as post:
        process = start(bot, tmp_path, post.address, post.token)
        await post.hello()
        await post.reject("this table is full")
        status, printed = await end_of(process)
        assert status == 1
        assert "this table is full" in printed


@trio_test
async def test_it_ends_when_the_referee_hangs_up(bot: Prepared, tmp_path: Path) -> None:
    async with a_post() as post:
        process = start(bot, tmp_path, post.address, post.token)
        await post.hello()
        await post.welcome(WELCOME)
        await post.send(envelope(started()))
        await post.close()
        assert (await end_of(process))[0] == 0
        with pytest.raises(HungUp):
            await post.receive()


@trio_test
async def test_without_a_referee_it_says_so(bot: Prepared, tmp_path: Path) -> None:
    with trio.fail_after(PATIENCE):
        process = start(bot, tmp_path, f"unix:{tmp_path}/nobody", "token")
        status, printed = await end_of(process)
        assert status == 1
        assert "no referee" in printed


def test_started_by_hand_it_says_how_to_start_it(bot: Prepared) -> None:
    done = subprocess.run(
        bot.argv,
        cwd=bot.cwd,
        env={"PATH": os.environ["PATH"]},
        executable=bot.cwd / bot.argv[0] if "/" in bot.argv[0] else None,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 2
    assert "knavery play" in done.stderr

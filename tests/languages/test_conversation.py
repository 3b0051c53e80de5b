"""Each template in talk with a referee that the test plays, message by message."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path

import pytest
import trio
import trustme
from trio.testing import trio_test

from knavery.v1 import referee_pb2 as pb
from referee.bots import Prepared, environment
from referee.server import HungUp, Post, Tls, open_door
from tests.languages.templates import Template
from tests.sdk.events import finished_deal, started, to_bid, to_play

pytestmark = pytest.mark.languages
PATIENCE = 120.0
WELCOME = pb.Welcome(protocol=1, max_batch=256, max_message_bytes=4 * 2**20)
GOODBYE = pb.Event(goodbye=pb.Goodbye(reason="that was all"))
FIELD_99 = b"\x9a\x06\x02hi"
"""A field of a protocol that is newer: number 99, a text."""
TLS_HANDSHAKE = b"\x16"
"""With which TLS begins, and gRPC in plain text does not."""


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


@asynccontextmanager
async def a_port(
    server: socket.socket, serve: Callable[[trio.SocketStream], Awaitable[None]]
) -> AsyncIterator[int]:
    """Where that socket listens, and each connection is served so."""
    listener = trio.SocketListener(trio.socket.from_stdlib_socket(server))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.serve_listeners, serve, [listener])
        yield server.getsockname()[1]
        nursery.cancel_scope.cancel()


def on_all_addresses() -> socket.socket:
    """Listens wherever one may be sent by "0.0.0.0": Java goes to ::1."""
    both = socket.has_dualstack_ipv6()
    family = socket.AF_INET6 if both else socket.AF_INET
    return socket.create_server(("", 0), family=family, dualstack_ipv6=both)


async def relay(address: str, connection: trio.SocketStream) -> None:
    """Carries bytes between a connection and a Unix socket, both ways."""
    post = await trio.open_unix_socket(address.removeprefix("unix:"))

    async def carry(source: trio.SocketStream, target: trio.SocketStream) -> None:
        with suppress(trio.BrokenResourceError):  # a process that exits may reset its connection
            async for data in source:
                await target.send_all(data)
        nursery.cancel_scope.cancel()

    async with connection, post, trio.open_nursery() as nursery:
        nursery.start_soon(carry, connection, post)
        await carry(post, connection)


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
    server = socket.create_server(("127.0.0.1", 0))
    async with a_post() as post, a_port(server, partial(relay, post.address)) as port:
        process = start(bot, tmp_path, f"127.0.0.1:{port}", post.token)
        await post.hello()
        await post.welcome(WELCOME)
        await post.send(envelope(to_play(1)))
        assert set(await answers(post, 1)) == {1}
        await post.send(envelope(GOODBYE))
        assert await end_of(process) == (0, "")


@trio_test
async def test_it_speaks_tls_to_a_referee_that_it_knows(bot: Prepared, tmp_path: Path) -> None:
    """With another authority, and with no file of one, it does not play."""
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
            address = f"127.0.0.1:{gate.port}"
            tries = [
                (other, "no referee"),
                (empty, f"KNAVERY_TLS_CA: {empty}: holds no certificate in PEM\n"),
                (gone, f"KNAVERY_TLS_CA: {gone}: cannot be read: "),
            ]
            for file, words in tries:
                status, printed = await end_of(start(bot, tmp_path, address, "token", file))
                assert (status, printed.count("\n")) == (1, 1), printed
                assert words in printed
            process = start(bot, tmp_path, address, "token", ca)
            visit = await gate.guests[0].visit()
            await visit.welcome(WELCOME)
            await visit.send(envelope(to_play(1)))
            assert set(await answers(visit, 1)) == {1}
            await visit.send(envelope(GOODBYE))
            assert await end_of(process) == (0, "")


@trio_test
async def test_to_other_machines_it_speaks_tls(bot: Prepared, tmp_path: Path) -> None:
    """At an address that is not known to be this machine, though it is."""
    heard = []

    async def listen(connection: trio.SocketStream) -> None:
        async with connection:
            heard.append((await connection.receive_some())[:1])

    with trio.fail_after(PATIENCE):
        async with a_port(on_all_addresses(), listen) as port:
            status, printed = await end_of(start(bot, tmp_path, f"0.0.0.0:{port}", "token"))
    assert (status, printed.count("\n")) == (1, 1), printed
    assert "no referee" in printed
    assert set(heard) == {TLS_HANDSHAKE}


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

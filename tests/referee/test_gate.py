"""The gate for remote programs, over real sockets: told apart by tokens, one stream each, and what
strangers can do at an open port."""

import socket
import threading
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, closing, suppress
from dataclasses import dataclass

import grpc
import pytest
import trio
from trio.testing import trio_test

from knavery import client
from knavery.v1 import referee_pb2 as pb
from referee import desk
from referee.server import CannotListen, Gate, HungUp
from referee.wire_limits import EARLY_PINGS, MAX_CONNECTIONS
from tests.referee.http2 import PING, Http2Bot, frame
from tests.referee.posts import WELCOME, a_door, hello, ids, in_thread, moves, raw_bot
from tests.referee.test_wire_limits import patch_options

TOKENS = ("zoe's", "yan's")


@dataclass
class Place:
    """As much of a post as a raw bot needs."""

    address: str


@asynccontextmanager
async def a_gate() -> AsyncIterator[tuple[Gate, Place]]:
    async with a_door(60) as door:
        gate = await door.open_gate("127.0.0.1:0", TOKENS)
        try:
            yield gate, Place(f"127.0.0.1:{gate.port}")
        finally:
            await gate.close()


@pytest.fixture(autouse=True)
def no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desk, "REFUSAL_TIME", 0.0)


@trio_test
async def test_guests_are_told_apart_and_may_come_back() -> None:
    async with a_gate() as (gate, place):
        zoe, yan = gate.guests
        with raw_bot(place) as one, raw_bot(place) as other:
            other.say(hello(TOKENS[1]))
            one.say(hello(TOKENS[0]))
            first = await zoe.visit()
            assert (await first.hello()).token == TOKENS[0]
            assert (await (await yan.visit()).hello()).token == TOKENS[1]
            for _ in range(2):  # once: it stays from generation to generation
                await first.welcome(WELCOME)
            await first.send(pb.FromReferee(envelope=pb.Envelope()))
            assert (await one.hear()).HasField("welcome")
            assert (await one.hear()).HasField("envelope")
            one.say(moves(1))
            assert ids(await first.receive()) == [1]
            assert await zoe.visit() is first
        with pytest.raises(HungUp):
            await first.receive()
        assert not zoe.is_here
        with raw_bot(place) as again:
            again.say(hello(TOKENS[0]))
            second = await zoe.visit()
            assert second is not first
            await second.welcome(WELCOME)
            assert (await again.hear()).HasField("welcome")


@trio_test
async def test_a_second_program_with_a_token_is_sent_away() -> None:
    async with a_gate() as (gate, place):
        zoe, yan = gate.guests
        with raw_bot(place) as bot, raw_bot(place) as second:
            bot.say(hello(TOKENS[0]))
            visit = await zoe.visit()
            second.say(hello(TOKENS[0]))
            assert "in use" in (await second.hear()).rejected.reason
            bot.say(moves(7))
            assert ids(await visit.receive()) == [7]
            await trio.testing.wait_all_tasks_blocked()
            assert len(zoe.refused) == 1
            assert yan.refused == []


@trio_test
async def test_strangers_are_bounded_and_hinder_nobody() -> None:
    """Half of the connections there may be say nothing at all; then others guess tokens."""
    most = MAX_CONNECTIONS * (len(TOKENS) + 1)
    async with a_gate() as (gate, place):
        with ExitStack() as open_:
            port = gate.port
            for _ in range(most // 2):
                open_.enter_context(closing(socket.create_connection(("127.0.0.1", port))))
            for guess in ("", "zoe", TOKENS[0] + "x"):
                with raw_bot(place) as stranger:
                    stranger.say(hello(guess))
                    assert "token is wrong" in (await stranger.hear()).rejected.reason
                    assert await stranger.hear() is grpc.StatusCode.OK
            with raw_bot(place) as bot:
                bot.say(hello(TOKENS[1]))
                await gate.guests[1].visit()
            assert gate.guests[0].refused == []


@trio_test
async def test_no_more_connections_than_that() -> None:
    async with a_gate() as (gate, _):
        with ExitStack() as open_:
            served = []
            for _ in range(MAX_CONNECTIONS * (len(TOKENS) + 1) + 5):
                bot = open_.enter_context(closing(Http2Bot(("127.0.0.1", gate.port))))
                bot.settle()
                served.append(bool(await in_thread(bot.hear)))
            assert sum(served) == MAX_CONNECTIONS * (len(TOKENS) + 1)


# Connections of which nothing is heard, or too much.


class Tunnel:
    """A way to the gate, as ssh makes one. When it hangs, nothing passes, and no end is told."""

    def __init__(self, port: int) -> None:
        self._there = socket.create_connection(("127.0.0.1", port))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = "{}:{}".format(*self._listener.getsockname())
        self.hangs = False
        threading.Thread(target=self._open, daemon=True).start()

    def _open(self) -> None:
        self._here, _ = self._listener.accept()
        for ends in ((self._here, self._there), (self._there, self._here)):
            threading.Thread(target=self._pass, args=ends, daemon=True).start()

    def _pass(self, one: socket.socket, other: socket.socket) -> None:
        with suppress(OSError):
            while data := one.recv(65536):
                if not self.hangs:
                    other.sendall(data)

    def close(self) -> None:
        for each in (self._listener, self._here, self._there):
            each.close()


def of_short_life(options: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """The same options of gRPC, with 0.2 s for a sign of life."""
    times = ("grpc.keepalive_time_ms", "grpc.keepalive_timeout_ms", "grpc.http2.ping_timeout_ms")
    assert set(times) <= dict(options).keys()
    return [(name, 200 if name in times else value) for name, value in options]


@trio_test
async def test_both_ends_notice_a_connection_that_is_lost_without_a_word(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And the program may come back, while one that is idle but alive stays."""
    monkeypatch.setattr(desk, "_PUBLIC", of_short_life(desk._PUBLIC))
    monkeypatch.setattr(client, "_ALIVE", of_short_life(client._ALIVE))

    def play(address: str) -> None:
        with client.connect(address, TOKENS[0]) as stream:
            stream.send(moves(1).moves)
            assert list(stream) == []

    async with a_gate() as (gate, place):
        zoe, yan = gate.guests
        with closing(Tunnel(gate.port)) as tunnel, raw_bot(place) as idle:
            idle.say(hello(TOKENS[1]))
            await (await yan.visit()).welcome(WELCOME)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(in_thread, lambda: play(tunnel.address))
                visit = await zoe.visit()
                await visit.welcome(WELCOME)
                assert ids(await visit.receive()) == [1]
                tunnel.hangs = True
                with pytest.raises(HungUp):
                    await visit.receive()
            with raw_bot(place) as again:
                again.say(hello(TOKENS[0]))
                assert await zoe.visit() is not visit
            assert yan.is_here


async def heard(bot: Http2Bot, what: bytes) -> None:
    """Waits until it comes, or nothing more does."""
    all_, more = b"", b"x"
    while more and what not in all_:
        all_ += (more := await in_thread(bot.hear))


@pytest.mark.parametrize("pause", [0.0, 0.06])
@trio_test
async def test_who_pings_without_end_is_cut_off_and_who_pings_now_and_then_is_not(
    monkeypatch: pytest.MonkeyPatch, pause: float
) -> None:
    """Another bot is served meanwhile; a ping may come every 50 ms."""
    if pause:
        patch_options(monkeypatch, "grpc.http2.min_ping_interval_without_data_ms", 50)
    async with a_gate() as (gate, place):
        zoe, yan = gate.guests
        with closing(Http2Bot(("127.0.0.1", gate.port))) as pinging, raw_bot(place) as bot:
            pinging.settle()
            pinging.call()
            pinging.tell(hello(TOKENS[0]).SerializeToString())
            visit = await zoe.visit()
            await visit.welcome(WELCOME)
            await heard(pinging, WELCOME.SerializeToString())
            for number in range(1 + EARLY_PINGS + 1):
                assert not visit.over
                pinging.say(frame(PING, f"ping {number:3}".encode()))
                await heard(pinging, f"ping {number:3}".encode())
                await trio.sleep(pause)
            if pause:
                assert not visit.over
            else:
                with pytest.raises(HungUp):
                    await visit.receive()
            bot.say(hello(TOKENS[1]))
            await yan.visit()


@trio_test
async def test_a_closing_gate_says_goodbye_where_it_is_told_to() -> None:
    async with a_gate() as (gate, place):
        with raw_bot(place) as bot:
            bot.say(hello(TOKENS[0]))
            await (await gate.guests[0].visit()).welcome(WELCOME)
            with raw_bot(place) as late:
                late.say(hello(TOKENS[1]))
                await gate.guests[1].visit()
                for guest in gate.guests:
                    await guest.dismiss(pb.FromReferee(envelope=pb.Envelope()))
                assert (await bot.hear()).HasField("welcome")
                assert (await bot.hear()).HasField("envelope")
                assert "nothing left" in (await late.hear()).rejected.reason
                for each in (bot, late):
                    assert await each.hear() is grpc.StatusCode.OK


@trio_test
async def test_a_port_in_use_is_named() -> None:
    async with a_gate() as (gate, place), a_door() as door:
        with pytest.raises(CannotListen, match=f"no socket at {place.address}; is it in use"):
            await door.open_gate(place.address, TOKENS)
        assert gate.port > 0

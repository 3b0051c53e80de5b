"""Where streams come in, in gRPC's thread: a server on one address, and who is let through."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

import grpc
import grpc.aio
from google.protobuf.message import DecodeError

from knavery.v1.referee_pb2 import FromBot, FromReferee, Hello, Rejected
from referee.failures import MachineFailure
from referee.streams import GrpcThread, Stream
from referee.wire_limits import (
    ALIVE_TIME,
    EARLY_PINGS,
    HANDSHAKE_TIME,
    HELLO_BYTES,
    HELLO_TIME,
    MAX_CONNECTIONS,
    MAX_OPENED,
    MAX_STREAMS,
    MOST_BYTES,
    PING_TIME,
    REFUSAL_TIME,
)

CLOSE_GRACE = 0.5
"""Seconds that a closing post gives its bot to take the last messages."""

OPENED_TOO_MANY = f"the bot opened more than {MAX_OPENED} streams"

_Context = grpc.aio.ServicerContext[bytes, bytes]


class CannotListen(MachineFailure):
    """This machine gave no socket; the text says which and what to do."""


class Host(Protocol):
    """Who is told in trio of what comes to a desk. Its `token` is a secret of its own; `lasting`
    says that another stream may come with it when the one before is over."""

    token: str
    lasting: bool

    def greet(self, hello: Hello, stream: Stream) -> None:
        """Called with the stream of a bot that showed the token."""

    def turned_away(self, reason: str) -> None:
        """Called when a stream has been refused, with the reason in words."""

    def part(self) -> None:
        """Called when the desk is closed."""


@dataclass(frozen=True, slots=True)
class Tls:
    """What a server shows of itself: its certificate with those that lead to a known one, and its
    private key, both in PEM."""

    certificate: bytes
    key: bytes


class Desk:
    """A server on one address, for one bot's process, or (`public`) for whoever comes.

    Nothing is asked of `hosts` here but their tokens, by which streams are told apart."""

    def __init__(
        self,
        thread: GrpcThread,
        address: str,
        hosts: Sequence[Host],
        *,
        public: bool = False,
        tls: Tls | None = None,
    ) -> None:
        self.port = 0
        self._thread = thread
        self._address = address
        self._hosts = hosts
        self._public = public
        self._tls = tls
        self._server: grpc.aio.Server | None = None
        self._streams: dict[Host, Stream] = {}
        self._opened = 0
        self._closing: asyncio.Task[None] | None = None

    async def open(self) -> None:
        play = grpc.stream_stream_rpc_method_handler(self._play)
        service = grpc.method_handlers_generic_handler("knavery.v1.Referee", {"Play": play})
        many = len(self._hosts) + 1 if self._public else 1
        server = grpc.aio.server(
            handlers=[service],
            options=[
                *_OPTIONS,
                *(_PUBLIC if self._public else []),
                ("grpc.max_allowed_incoming_connections", MAX_CONNECTIONS * many),
            ],
            maximum_concurrent_rpcs=MAX_STREAMS * many,
        )
        try:
            self.port = self._bound(server)
        except RuntimeError as exc:
            mend = "is it in use?" if self._public else "perhaps raise `ulimit -n`"
            raise CannotListen(f"no socket at {self._address}; {mend}") from exc
        await server.start()
        self._server = server
        self._thread.desks.add(self)

    def _bound(self, server: grpc.aio.Server) -> int:
        if self._tls is None:
            return server.add_insecure_port(self._address)
        pair = (self._tls.key, self._tls.certificate)
        return server.add_secure_port(self._address, grpc.ssl_server_credentials([pair]))

    async def close(self) -> None:
        for stream in self._streams.values():
            stream.finish()
        await (self._closing or self._stop())
        self._thread.desks.discard(self)
        for host in self._hosts:
            self._thread.tell(host.part)

    async def _stop(self) -> None:
        server, self._server = self._server, None  # it holds this desk: without a cycle gRPC's
        if server is not None:  # threads end at once
            await server.stop(CLOSE_GRACE)

    def leave_out(self) -> None:
        """What its bot has used since its last message is not to count."""
        for stream in self._streams.values():
            if stream.meter is not None:
                stream.meter.leave_out()

    async def _play(self, _requests: object, context: _Context) -> None:
        """Handles one stream from its first message to its end."""
        self._opened += 1
        if self._opened > MAX_OPENED and not self._public:
            self._shut()
            return
        first = await self._first(context)
        if not isinstance(first, bytes):
            return  # ended before it said anything
        hello, host = hello_in(first), None
        if not isinstance(hello, str):
            host = self._host(hello.token)
            hello = self._objection(host) or hello
        if host is None or isinstance(hello, str):
            await self._turn_away(str(hello), host, context)
            return
        stream = self._streams[host] = Stream(self._thread)
        self._thread.tell(host.greet, hello, stream)
        await stream.carry(context)

    async def _first(self, context: _Context) -> object:
        """The first message, or nothing when none comes in time, by the referee's own time."""
        reading = asyncio.ensure_future(context.read())
        due = self._thread.heart.now() + HELLO_TIME
        try:
            while not reading.done() and (left := due - self._thread.heart.beat()) > 0:
                await asyncio.wait([reading], timeout=left)
            return reading.result() if reading.done() else b""
        finally:
            reading.cancel()

    def _host(self, token: str) -> Host | None:
        """Whose token it is. All are compared, so that the time it takes tells nothing."""
        shown = token.encode()
        found = [each for each in self._hosts if hmac.compare_digest(shown, each.token.encode())]
        return found[0] if found else None

    def _objection(self, host: Host | None) -> str | None:
        if host is None:
            return "The token is wrong: it has to be the value of KNAVERY_TOKEN in this process."
        last = self._streams.get(host)
        if last is not None and not (host.lasting and last.over):
            return "This token is in use: a bot process has one stream, for all its matches."
        return None

    async def _turn_away(self, reason: str, host: Host | None, context: _Context) -> None:
        for each in self._hosts if host is None and not self._public else [host] if host else []:
            self._thread.tell(each.turned_away, reason)
        if self._public:
            await asyncio.sleep(REFUSAL_TIME)  # so that nobody can try many tokens
        with suppress(grpc.aio.BaseError):  # who knocked may be gone
            await context.write(rejection(reason).SerializeToString())

    def _shut(self) -> None:
        """Enough: nobody is let in any more, and who was is sent away."""
        if self._closing is not None:
            return
        for host in self._hosts:
            self._thread.tell(host.turned_away, OPENED_TOO_MANY)
        for stream in self._streams.values():
            stream.finish(OPENED_TOO_MANY)
        self._closing = asyncio.create_task(self._stop())  # not here: it waits for this stream


_OPTIONS = [
    ("grpc.max_receive_message_length", MOST_BYTES),
    ("grpc.max_concurrent_streams", MAX_STREAMS),
    ("grpc.server_handshake_timeout_ms", int(HANDSHAKE_TIME * 1000)),
    ("grpc.max_connection_idle_ms", int(HELLO_TIME * 1000)),
    ("grpc.http2.min_ping_interval_without_data_ms", int(PING_TIME * 1000)),
    ("grpc.http2.max_ping_strikes", EARLY_PINGS),
    ("grpc.http2.bdp_probe", 0),  # it lets a bot send far ahead of what is read
]
_PUBLIC = [
    ("grpc.so_reuseport", 0),
    ("grpc.keepalive_time_ms", int(ALIVE_TIME * 1000)),
    ("grpc.keepalive_timeout_ms", int(ALIVE_TIME * 1000)),
    ("grpc.http2.ping_timeout_ms", int(ALIVE_TIME * 1000)),  # without it gRPC waits for a minute
    ("grpc.http2.max_pings_without_data", 0),
]


def hello_in(first: bytes) -> Hello | str:
    """The hello that a first message holds, or what to tell the author of one that holds none."""
    if len(first) > HELLO_BYTES:
        return f"The first message has {len(first):,} bytes; {HELLO_BYTES:,} are allowed."
    message = parsed(first)
    if message.HasField("hello"):
        return message.hello
    return (
        "The first message has to be a knavery.v1.FromBot that holds a Hello, and to come "
        f"within {HELLO_TIME:g} s."
    )


def parsed(data: bytes) -> FromBot:
    """The message; for bytes that are none, one that holds nothing."""
    try:
        return FromBot.FromString(data)
    except DecodeError:
        return FromBot()


def rejection(reason: str) -> FromReferee:
    """The message that sends a bot away."""
    return FromReferee(rejected=Rejected(reason=reason))

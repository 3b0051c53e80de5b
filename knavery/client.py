"""The bot's end of the stream (design, section 3): the only file on its side that imports grpc.

It blocks, but is made of gRPC's asyncio client, whose loop runs inside each call and not between
them. So an answer has left when `send` returns, however long the bot computes after that. gRPC's
blocking client leaves sending to a thread of its own, which a bot that computes keeps waiting for
Python's lock.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

# Read when grpc is loaded: with its handlers, one in five processes that a bot forks dies at once.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # else its own lines stand before ours

import grpc
import grpc.aio

from knavery.addresses import is_local
from knavery.v1.referee_pb2 import Envelope, FromBot, FromReferee, Hello, Moves, Welcome

PROTOCOL = 1
SDK = "knavery-python 0.1.0"
"""A constant: to ask the installed package for its version takes 15 ms of every start."""
CLOSE_GRACE = 0.5
"""Seconds that gRPC has to end a call that this side closes; it takes one millisecond."""

_ALIVE = [
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.http2.ping_timeout_ms", 10_000),  # without it gRPC waits for a minute
]
"""So that a connection which is lost without a word is noticed within 20 s."""
_PLAY = "/knavery.v1.Referee/Play"
_OPTIONS = [("grpc.max_receive_message_length", -1)]  # the referee is trusted
_GONE = (grpc.aio.AioRpcError, asyncio.InvalidStateError, asyncio.CancelledError)
"""What gRPC raises when the stream has ended: by an error, before the call, by this side."""
_Call = grpc.aio.StreamStreamCall[bytes, bytes]


class Rejected(ConnectionError):  # noqa: N818
    """The referee turned this bot away; the text is its reason."""


class Unreachable(ConnectionError):  # noqa: N818
    """There is no referee at the address; the text says which address, and why."""


class StreamEnded(ConnectionError):  # noqa: N818
    """The referee is gone, so that nothing can be sent. `connect` takes it for a goodbye."""


@contextmanager
def connect(
    address: str,
    token: str,
    games: Sequence[str] = (),
    max_tables: int | None = None,
    max_batch: int | None = None,
) -> Iterator[Stream]:
    """A stream on which the referee has said welcome. Raises Rejected or Unreachable.

    `address` is a gRPC target; absent limits are left to the referee. When the stream ends, the
    block ends without an error.
    """
    hello = Hello(
        token=token,
        protocol=PROTOCOL,
        sdk=SDK,
        language=f"python {sys.version.split()[0]}",
        games=games,
        max_tables=max_tables,
        max_batch=max_batch,
    )
    stream = Stream(address)
    try:
        stream.greet(hello)
        yield stream
    except StreamEnded:
        pass
    finally:
        stream.close()


class AsyncStream:
    """The same stream for a program of asyncio's; made while its loop runs, to which gRPC ties it.

    One task may read, any number may send.
    """

    welcome: Welcome
    """The limits in force."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._channel = _channel(address)
        play = self._channel.stream_stream(
            _PLAY, request_serializer=None, response_deserializer=None
        )
        self._call: _Call = play(None)
        self._sending = asyncio.Lock()
        self._closed = False

    async def greet(self, hello: Hello) -> None:
        """Says hello and takes the answer. Raises Rejected or Unreachable."""
        try:
            await self._write(FromBot(hello=hello))
            answer = await self._read()
        except _GONE as exc:
            how = _how(self._address)
            raise Unreachable(f"no referee at {self._address}: {_words(exc)}{how}") from exc
        if answer is None:
            raise Unreachable(f"the referee at {self._address} hung up before its welcome")
        if answer.HasField("rejected"):
            raise Rejected(answer.rejected.reason)
        self.welcome = answer.welcome

    async def envelope(self) -> Envelope | None:
        """The next one; None when the referee is gone, or this side has closed the stream."""
        try:
            message = await self._read()
        except _GONE:
            return None
        return None if message is None else message.envelope

    async def send(self, moves: Moves) -> None:
        """Returns when the moves are on their way. StreamEnded if the referee is gone."""
        message = FromBot(moves=moves)
        if message.ByteSize() > self.welcome.max_message_bytes:
            raise ValueError(
                f"a message of {message.ByteSize()} bytes; the referee takes up to "
                f"{self.welcome.max_message_bytes}: send fewer moves at once"
            )
        await self._deliver(message)

    async def send_nothing(self) -> None:
        """Sends a message that the referee cannot read, for what a bot said that is no move."""
        await self._deliver(FromBot())

    async def close(self) -> None:
        """Hangs up, and waits for gRPC's last word: one that comes when the loop is closed is an
        error in whatever else uses gRPC in this process. May be called again."""
        if self._closed:
            return
        self._closed = True
        self._call.cancel()
        if rest := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.wait(rest, timeout=CLOSE_GRACE)
        await self._channel.close(None)

    async def _deliver(self, message: FromBot) -> None:
        if self._closed:
            raise StreamEnded("this side has closed the stream")
        try:
            await self._write(message)
        except _GONE as exc:
            raise StreamEnded(f"the referee is gone: {_words(exc)}") from exc

    async def _read(self) -> FromReferee | None:
        data = None if self._closed else await self._call.read()
        return FromReferee.FromString(data) if isinstance(data, bytes) else None

    async def _write(self, message: FromBot) -> None:
        async with self._sending:
            await self._call.write(message.SerializeToString())


class Stream:
    """Envelopes in, by iteration; moves out. For one thread."""

    welcome: Welcome
    """The limits in force."""

    def __init__(self, address: str) -> None:
        self._runner = asyncio.Runner()
        self._run = self._runner.get_loop().run_until_complete
        self._closed = False
        try:
            self._inner = self._run(_dial(address))
        except BaseException:
            self._runner.close()
            raise
        self._call = self._inner._call

    def greet(self, hello: Hello) -> None:
        """Says hello and takes the answer. Raises Rejected or Unreachable."""
        self._run(self._inner.greet(hello))
        self.welcome = self._inner.welcome

    def __iter__(self) -> Iterator[Envelope]:
        """Envelopes, until one that ends with a goodbye or until the referee is gone."""
        while not self._closed and (envelope := self._run(self._inner.envelope())) is not None:
            yield envelope
            if is_last(envelope):
                return

    def send(self, moves: Moves) -> None:
        """Returns when the moves are on their way. StreamEnded if the referee is gone."""
        if self._closed:
            raise StreamEnded("this side has closed the stream")
        self._run(self._inner.send(moves))

    def close(self) -> None:
        """Hangs up. May be called again."""
        if not self._closed:
            self._closed = True
            self._run(self._inner.close())
            self._runner.close()


def _channel(address: str) -> grpc.aio.Channel:
    """The way to a referee: plain on this machine, else with TLS. What certificates it trusts is in
    the file that KNAVERY_TLS_CA names, which asks for TLS everywhere; or else what is usual."""
    if address.startswith("unix:"):
        return grpc.aio.insecure_channel(address, options=_OPTIONS)
    if not address.startswith("unix") and not address.rpartition(":")[2].isdecimal():
        raise Unreachable(f"KNAVERY_ADDRESS: {address!r} names no port: write HOST:PORT")
    options = [*_OPTIONS, *_ALIVE]
    if not _takes_tls(address):
        return grpc.aio.insecure_channel(address, options=options)
    ca = os.environ.get("KNAVERY_TLS_CA")
    try:
        roots = Path(ca or _usual_roots()).read_bytes()
    except OSError as exc:
        raise Unreachable(f"KNAVERY_TLS_CA: {ca}: cannot be read: {exc.strerror}") from exc
    if b"-----BEGIN CERTIFICATE-----" not in roots:
        raise Unreachable(f"KNAVERY_TLS_CA: {ca}: holds no certificate in PEM")
    credentials = grpc.ssl_channel_credentials(roots)
    return grpc.aio.secure_channel(address, credentials, options=options)


def _takes_tls(address: str) -> bool:
    """Whether a TCP address is spoken to with TLS: not the referee itself, nor a tunnel to it,
    unless certificates are named."""
    return bool(os.environ.get("KNAVERY_TLS_CA")) or not is_local(address)


def _how(address: str) -> str:
    """For who looks for the reason why there is nobody: how it was tried, and what else may be."""
    if address.startswith("unix:"):
        return ""
    if _takes_tls(address):
        return (
            " (tried with TLS: see that it has a certificate, and that KNAVERY_TLS_CA trusts it, "
            "or unset that)"
        )
    return " (tried without TLS; where it has a certificate, name that in KNAVERY_TLS_CA)"


def _usual_roots() -> str:
    """The file of the certificates that this system trusts."""
    import ssl  # slow to load, and seldom needed

    found = ssl.get_default_verify_paths().cafile
    if found is None:
        raise Unreachable("this system has no file of certificates: name one in KNAVERY_TLS_CA")
    return found


def is_last(envelope: Envelope) -> bool:
    """Whether it ends with a goodbye."""
    return bool(envelope.events) and envelope.events[-1].HasField("goodbye")


async def _dial(address: str) -> AsyncStream:
    return AsyncStream(address)


def _words(exc: BaseException) -> str:
    """Why the stream is gone, as far as gRPC says."""
    return (isinstance(exc, grpc.aio.AioRpcError) and exc.details()) or "the stream has ended"

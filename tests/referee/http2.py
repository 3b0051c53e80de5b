"""HTTP/2 by hand: a bot that can break the protocol below gRPC, and reads only when told to."""

import socket
import struct
from contextlib import suppress

from referee.server import Post

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RESET, SETTINGS, PING, GOAWAY, WINDOW = 0, 1, 3, 4, 6, 7, 8
END_HEADERS, ACK = 4, 1
HUGE_WINDOW = 2**31 - 1


def frame(kind: int, payload: bytes = b"", flags: int = 0, stream: int = 0) -> bytes:
    return (
        struct.pack(">I", len(payload))[1:]
        + bytes([kind, flags])
        + struct.pack(">I", stream)
        + payload
    )


def message(data: bytes, compressed: int = 0, length: int | None = None) -> bytes:
    """A gRPC message as it goes into DATA frames; `length` may be a lie."""
    return struct.pack(">BI", compressed, len(data) if length is None else length) + data


def fields(**more: str) -> bytes:
    """The headers of a call of Play, none of them packed; `more` are further ones."""
    path = "/knavery.v1.Referee/Play"
    pairs = {
        ":method": "POST",
        ":scheme": "http",
        ":path": path,
        ":authority": "x",
        "content-type": "application/grpc",
        "te": "trailers",
        **{name.replace("_", "-"): value for name, value in more.items()},
    }
    return b"".join(b"\0" + _text(name) + _text(value) for name, value in pairs.items())


def _text(text: str) -> bytes:
    """A text of HPACK, its length in seven bits or more."""
    raw = text.encode()
    if len(raw) < 127:
        return bytes([len(raw)]) + raw
    rest, out = len(raw) - 127, bytearray([127])
    while rest >= 128:
        out.append(rest % 128 + 128)
        rest //= 128
    return bytes([*out, rest]) + raw


class Http2Bot:
    """A connection to a post's socket, or to a host and port."""

    def __init__(self, where: Post | tuple[str, int], patience: float = 20.0) -> None:
        tcp = isinstance(where, tuple)
        self.socket = socket.socket(socket.AF_INET if tcp else socket.AF_UNIX)
        self.socket.settimeout(patience)
        self.socket.connect(where if tcp else where.address.removeprefix("unix:"))

    def say(self, *data: bytes) -> None:
        """Sends it, as far as the other side takes it."""
        with suppress(BrokenPipeError, ConnectionResetError):
            self.socket.sendall(b"".join(data))

    def settle(self, window: int = HUGE_WINDOW) -> None:
        """Begins HTTP/2, and lets the referee send as much as it likes."""
        settings = struct.pack(">HI", 4, window)
        self.say(
            PREFACE,
            frame(SETTINGS, settings),
            frame(SETTINGS, flags=ACK),
            frame(WINDOW, struct.pack(">I", HUGE_WINDOW - 65535)),
        )

    def call(self, stream: int = 1, **more: str) -> None:
        """Opens a stream."""
        self.say(frame(HEADERS, fields(**more), END_HEADERS, stream))

    def tell(self, data: bytes, stream: int = 1) -> None:
        """Sends a gRPC message, of at most one frame."""
        self.say(frame(DATA, message(data), stream=stream))

    def until_closed(self) -> bytes:
        """All that comes until the referee ends the connection."""
        heard = bytearray()
        try:
            while data := self.socket.recv(65536):
                heard += data
        except ConnectionResetError:
            pass
        return bytes(heard)

    def hear(self) -> bytes:
        """Something of what comes; nothing at the end."""
        try:
            return self.socket.recv(65536)
        except ConnectionResetError:
            return b""

    def close(self) -> None:
        self.socket.close()

"""Where a server listens."""

from __future__ import annotations

import errno
import socket


class CannotServe(Exception):  # noqa: N818
    """The server cannot listen; the message is one line saying where, why, and what to do."""


def listening(host: str, port: int) -> socket.socket:
    """A socket there; CannotServe if there can be none."""
    where = f"{host} port {port}"
    if not 0 <= port < 65536:
        raise CannotServe(f"{where}: ports are 0 to 65535, 0 for any that is free")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError) as exc:
        raise CannotServe(f"{where}: there is no such address: name one of this machine") from exc
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except OSError as exc:
        listener.close()
        if exc.errno == errno.EADDRINUSE:
            mend = "another program has it: name another with --port, or 0 for any that is free"
            raise CannotServe(f"{where}: {mend}") from exc
        raise CannotServe(
            f"{where}: cannot be listened on: {exc.strerror}: name another with --host or --port"
        ) from exc
    return listener

"""Addresses of a referee: which of them lie on this machine, and need no TLS."""

from __future__ import annotations

_SCHEMES = ("dns:///", "dns:", "ipv4:", "ipv6:")


def is_local(target: str) -> bool:
    """Whether nobody else can listen in: a Unix socket, or a host that is this machine itself."""
    if target.startswith(("unix:", "unix-abstract:")):
        return True
    return is_loopback(_host(target))


def is_loopback(host: str) -> bool:
    """Whether a host is this machine itself: "localhost", 127.x.x.x or ::1, this one in brackets or
    not."""
    import ipaddress  # slow to load, and seldom needed

    try:
        return ipaddress.ip_address(bare(host)).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def bare(host: str) -> str:
    """A host without the brackets in which an IPv6 address stands before a port."""
    return host[1:-1] if host.startswith("[") and host.endswith("]") else host


def _host(target: str) -> str:
    """The host of a gRPC target, as "dns:///example.org:4000" or "[::1]:4000"."""
    for scheme in _SCHEMES:
        target = target.removeprefix(scheme)
    return target.rpartition(":")[0] or target

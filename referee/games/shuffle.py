"""Deals from a key: a keyed hash in counter mode, with unbiased rejection sampling.

Nothing here is random: the same key gives the same deals for ever, so a published key proves them.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")


def derive(key: bytes, *parts: str | int | bytes) -> bytes:
    """A key of 32 bytes of its own for each list of parts: HMAC-SHA256 of the list.

    Each part is written as a letter for its type, its length in 8 bytes and its bytes, so that no
    two lists are written alike.
    """
    return hmac.digest(key, b"".join(map(_encoded, parts)), "sha256")


def _encoded(part: str | int | bytes) -> bytes:
    if isinstance(part, bytes):
        kind, body = b"b", part
    elif isinstance(part, str):
        kind, body = b"s", part.encode()
    else:
        kind, body = b"i", str(int(part)).encode()
    return kind + len(body).to_bytes(8, "big") + body


def seed64(key: bytes, *parts: str | int | bytes) -> int:
    """A number of 64 bits of its own for each list of parts."""
    return int.from_bytes(derive(key, *parts)[:8], "big")


class Stream:
    """An endless stream of bytes from a key and a label: HMAC-SHA256(key, label || counter)."""

    __slots__ = ("_buffer", "_counter", "_key", "_label", "_used")

    def __init__(self, key: bytes, label: bytes) -> None:
        self._key = key
        self._label = label
        self._counter = 0
        self._buffer = b""
        self._used = 0

    def _take(self, size: int) -> bytes:
        while len(self._buffer) - self._used < size:
            self._buffer = self._buffer[self._used :] + self._block()
            self._used = 0
        start = self._used
        self._used += size
        return self._buffer[start : self._used]

    def _block(self) -> bytes:
        label = self._label + self._counter.to_bytes(8, "big")
        self._counter += 1
        return hmac.digest(self._key, label, "sha256")

    def below(self, n: int) -> int:
        """A number from 0 to n - 1, each equally likely; n is at least 1.

        Reads as few bytes as hold n values and rejects those past the last multiple of n.
        """
        if n < 1:
            raise ValueError(f"there is no number from 0 to {n - 1}")
        size = ((n - 1).bit_length() + 7) // 8
        whole = 256**size - 256**size % n
        while True:
            drawn = int.from_bytes(self._take(size), "big")
            if drawn < whole:
                return drawn % n

    def shuffled(self, items: Iterable[T]) -> tuple[T, ...]:
        """The items in an order drawn from all orders alike (Fisher-Yates, from the end)."""
        order = list(items)
        for last in range(len(order) - 1, 255, -1):
            chosen = self.below(last + 1)
            order[last], order[chosen] = order[chosen], order[last]
        buffer, used = self._buffer, self._used
        for count in range(min(len(order), 256), 1, -1):
            whole = 256 - 256 % count
            drawn = whole
            while drawn >= whole:  # as `below`, a byte at a time: a call costs more than all of it
                if used == len(buffer):
                    buffer, used = self._block(), 0
                drawn = buffer[used]
                used += 1
            chosen = drawn % count
            order[count - 1], order[chosen] = order[chosen], order[count - 1]
        self._buffer, self._used = buffer, used
        return tuple(order)


def deck(deals_key: bytes, deal_number: int, pack: Sequence[int]) -> tuple[int, ...]:
    """The shuffled pack of a deal; deals count from 0 and each has a stream of its own."""
    return Stream(deals_key, b"deck" + deal_number.to_bytes(8, "big")).shuffled(pack)

"""A search for many short secrets at once, in whatever they may have been written into."""

import base64
from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

_AT_ONCE: Final = 2**20
"""Bytes that are looked through in one go."""
_HEAD: Final = 3
"""Bytes by which the places are found that are worth a closer look."""


class Needles:
    """Secrets by their names, each as bytes, in hexadecimal and in base64."""

    def __init__(self, secrets: Mapping[str, bytes]) -> None:
        """Secrets of _HEAD bytes and more."""
        self._names = {way: name for name, secret in secrets.items() for way in _written(secret)}
        self._lengths = sorted({len(way) for way in self._names})
        self._heads = np.zeros(256**_HEAD, bool)
        for way in self._names:
            self._heads[_heads(way[:_HEAD])] = True

    def within(self, data: bytes) -> Iterator[str]:
        """The names of the secrets that these bytes hold, in the order in which they stand there.
        The time that it takes does not grow with the number of secrets."""
        for start in range(0, len(data), _AT_ONCE):
            part = data[start : start + _AT_ONCE + _HEAD - 1]
            for place in np.flatnonzero(self._heads[_heads(part)]):
                yield from self._at(data, start + int(place))

    def _at(self, data: bytes, place: int) -> Iterator[str]:
        for length in self._lengths:
            if (name := self._names.get(data[place : place + length])) is not None:
                yield name


def _written(secret: bytes) -> tuple[bytes, ...]:
    """The ways in which a secret might be written."""
    digits = secret.hex()
    bare = (base64.b64encode(secret), base64.urlsafe_b64encode(secret))
    return (secret, digits.encode(), digits.upper().encode(), *(way.rstrip(b"=") for way in bare))


def _heads(data: bytes) -> NDArray[np.uint32]:
    """The first _HEAD bytes from each place on, as a number."""
    each = np.frombuffer(data, np.uint8).astype(np.uint32)
    count = max(0, len(each) - _HEAD + 1)
    heads = np.zeros(count, np.uint32)
    for n in range(_HEAD):
        heads |= each[n : n + count] << np.uint32(8 * n)
    return heads

"""A match's play as bytes, as the store keeps it: what was played and how long it took.

Cards dealt, scores and tricks follow from the deals' key and the moves, so they are not in it.
Version 1, all numbers but bytes being varints (seven bits a byte, lowest first, the eighth bit
says that more follow):

    version (a byte), number of deals, and for each deal
    dealer (a byte), number of moves, the moves (a byte each), number of decisions,
    each decision's charged time, each decision's queued time (both in microseconds)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

VERSION: Final = 1

_MAX_BITS = 63


class PlayError(ValueError):
    """Bytes that are no match's play; the message says in one line why."""


class Play(Protocol):
    """A deal as played, of which these parts are kept; `referee.match.DealPlay` is one."""

    @property
    def dealer(self) -> int: ...
    @property
    def moves(self) -> bytes: ...
    @property
    def charged_us(self) -> Sequence[int]: ...
    @property
    def queued_us(self) -> Sequence[int]: ...


@dataclass(frozen=True, slots=True)
class KeptDeal:
    """A deal as kept: `moves` as in `DealRecord`, times in microseconds, one a decision."""

    dealer: int
    moves: bytes
    charged_us: tuple[int, ...]
    queued_us: tuple[int, ...]


def encode(deals: Sequence[Play]) -> bytes:
    """The bytes for a match's deals, in order; ValueError for a time that is negative."""
    blob = bytearray((VERSION,))
    _write(blob, (len(deals),))
    for deal in deals:
        if len(deal.charged_us) != len(deal.queued_us):
            raise ValueError("a deal has as many charged times as queued ones")
        blob.append(deal.dealer)
        _write(blob, (len(deal.moves),))
        blob += deal.moves
        _write(blob, (len(deal.charged_us), *deal.charged_us, *deal.queued_us))
    return bytes(blob)


def decode(blob: bytes) -> tuple[KeptDeal, ...]:
    """The deals that `encode` wrote, or PlayError."""
    reader = _Reader(blob)
    if (version := reader.take(1)[0]) != VERSION:
        raise PlayError(f"play of version {version}: this Knavery reads version {VERSION}")
    deals = tuple(_deal(reader) for _ in range(reader.number()))
    reader.end()
    return deals


def _deal(reader: "_Reader") -> KeptDeal:
    dealer = reader.take(1)[0]
    moves = reader.take(reader.number())
    decisions = reader.number()
    return KeptDeal(dealer, moves, reader.numbers(decisions), reader.numbers(decisions))


def _write(blob: bytearray, numbers: Sequence[int]) -> None:
    low, high = min(numbers), max(numbers)
    if low < 0 or high.bit_length() > _MAX_BITS:
        raise ValueError(f"times from {low} to {high} cannot be kept: 0 to 2**{_MAX_BITS} - 1 can")
    add = blob.append
    for number in numbers:
        while number >= 128:
            add(number & 127 | 128)
            number >>= 7
        add(number)


class _Reader:
    """Reads a blob from its start; PlayError past its end."""

    def __init__(self, blob: bytes) -> None:
        self._blob = blob
        self._at = 0

    def take(self, count: int) -> bytes:
        """The next bytes."""
        start = self._at
        self._need(count)
        self._at += count
        return self._blob[start : self._at]

    def number(self) -> int:
        """The next varint."""
        return self.numbers(1)[0]

    def numbers(self, count: int) -> tuple[int, ...]:
        """The next varints."""
        self._need(count)
        numbers: list[int] = []
        number = shift = size = 0
        for byte in self._blob[self._at :] if count else b"":
            size += 1
            number |= (byte & 127) << shift
            if byte >= 128:
                shift += 7
                continue
            numbers.append(number)
            if len(numbers) == count:
                break
            number = shift = 0
        self._at += size
        if len(numbers) < count or max(numbers, default=0).bit_length() > _MAX_BITS:
            raise PlayError(f"play is damaged before byte {self._at}")
        return tuple(numbers)

    def end(self) -> None:
        """PlayError unless everything has been read."""
        if self._at != len(self._blob):
            raise PlayError(f"play goes on after its end, at byte {self._at}")

    def _need(self, count: int) -> None:
        if count > len(self._blob) - self._at:
            raise PlayError(f"play is cut short: it ends at byte {len(self._blob)}")

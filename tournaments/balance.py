"""A few tables for a large field: everybody sits equally often, and with everybody about equally.

For a field with more groups than anybody can play (design, section 8, the format `balanced`).
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Draw = Callable[[int], Sequence[int]]
"""An order of the field, 0 to its size less 1, for each lap; laps are counted from 0."""


def groups(field: int, size: int, draw: Draw) -> Iterator[tuple[int, ...]]:
    """Groups of `size` out of a field, without end; none where the field is too small.

    However many are taken, nobody is in more than one group more than anybody else, and no pair
    meets three times more or less often than the mean of all pairs (tested).
    """
    if field < size:
        return
    hall = _Hall(field, draw)
    while True:
        yield hall.group(size)


class _Hall:
    """Who has met whom, and who is due: in a lap everybody sits down once."""

    def __init__(self, field: int, draw: Draw) -> None:
        self._draw = draw
        self._lap = 0
        self._due = np.zeros(field, np.int64)
        self._order = np.zeros(field, np.int64)
        self._met = np.zeros((field, field), np.int64)
        self._weights = np.zeros((field, field), np.int64)

    def group(self, size: int) -> tuple[int, ...]:
        """The next group. First comes whoever has met most those who are due, while the choice of
        partners is largest; then whoever has met the group least."""
        group: list[int] = []
        for _ in range(size):
            if not self._due.any():
                self._next_lap()
            burden = self._weights[:, group].sum(axis=1) if group else -self._weights @ self._due
            group.append(self._least(burden, group))
            self._due[group[-1]] = 0
        self._remember(group)
        return tuple(sorted(group))

    def _next_lap(self) -> None:
        self._order[list(self._draw(self._lap))] = np.arange(len(self._order))
        self._due[:] = 1
        self._lap += 1

    def _least(self, burden: Ints, group: list[int]) -> int:
        """Who is due, not in the group, and bears least; the lap's order decides between equals."""
        free = self._due.copy()
        free[group] = 0
        able = np.flatnonzero(free)
        rank = burden[able] * len(free) + self._order[able]
        return int(able[np.argmin(rank)])

    def _remember(self, group: list[int]) -> None:
        """A pair that has met m times weighs m(m + 1), so that one that has met often is worse
        than two that have met half as often."""
        pairs = np.ix_(group, group)
        self._met[pairs] += 1
        self._met[group, group] = 0
        self._weights[pairs] = self._met[pairs] * (self._met[pairs] + 1)

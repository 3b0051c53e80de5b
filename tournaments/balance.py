"""A few tables for a large field: everybody sits equally often, and with everybody about equally.

For a field with more groups than anybody can play (design, section 8, the format `balanced`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Draw = Callable[[int], Sequence[int]]
"""An order of the field, 0 to its size less 1, for each lap; laps are counted from 0."""
Played = Mapping[tuple[int, ...], int]
"""How often groups have played already."""


def groups(
    field: int, size: int, draw: Draw, played: Played | None = None
) -> Iterator[tuple[int, ...]]:
    """Groups of `size` out of a field, without end; none where the field is too small.

    However many are taken, nobody is in more than one group more than anybody else, and no pair
    meets three times more or less often than the mean of all pairs (tested). Where some groups
    have `played` before, whoever has sat less often is seated first, until that is so again.
    """
    if field < size:
        return
    hall = _Hall(field, draw, played or {})
    while True:
        yield hall.group(size)


class _Hall:
    """Who has met whom, and who is due: in a lap everybody who has sat least sits down once."""

    def __init__(self, field: int, draw: Draw, played: Played) -> None:
        self._draw = draw
        self._lap = 0
        self._sat = np.zeros(field, np.int64)
        self._level = 0
        self._due = np.zeros(field, np.int64)
        self._order = np.zeros(field, np.int64)
        self._met = np.zeros((field, field), np.int64)
        self._weights = np.zeros((field, field), np.int64)
        for group, times in played.items():
            self._sat[list(group)] += times
            self._remember(group, times)

    def group(self, size: int) -> tuple[int, ...]:
        """The next group. First comes whoever has met most those who are due, while the choice of
        partners is largest; then whoever has met the group least."""
        group: list[int] = []
        if self._sat.min() < self._level:
            self._next_lap(group)
        for _ in range(size):
            if not self._free(group).any():
                self._next_lap(group)
            burden = self._weights[:, group].sum(axis=1) if group else -self._weights @ self._due
            group.append(self._least(burden, group))
            self._due[group[-1]] = 0
            self._sat[group[-1]] += 1
        self._remember(group)
        return tuple(sorted(group))

    def _next_lap(self, group: list[int]) -> None:
        """Those are due who have sat least, of whoever is not in the group already."""
        self._order[list(self._draw(self._lap))] = np.arange(len(self._order))
        self._level = int(np.delete(self._sat, group).min())
        self._due[:] = self._sat == self._level
        self._lap += 1

    def _free(self, group: list[int]) -> Ints:
        """Who is due and not in the group, as ones and zeros."""
        free = self._due.copy()
        free[group] = 0
        return free

    def _least(self, burden: Ints, group: list[int]) -> int:
        """Who is due, not in the group, and bears least; the lap's order decides between equals."""
        able = np.flatnonzero(self._free(group))
        rank = burden[able] * len(self._order) + self._order[able]
        return int(able[np.argmin(rank)])

    def _remember(self, group: Sequence[int], times: int = 1) -> None:
        """A pair that has met m times weighs m(m + 1), so that one that has met often is worse
        than two that have met half as often."""
        pairs = np.ix_(group, group)
        self._met[pairs] += times
        self._met[group, group] = 0
        self._weights[pairs] = self._met[pairs] * (self._met[pairs] + 1)

"""Which blocks a wave holds when not everybody's processes may live at once (design, section 4).

A wave then holds the groups within a pool of entrants. Pools are chosen so that those play next who
have played least, and so that as many of the waiting blocks as possible lie within.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from tournaments.schedule import Block

WINDOW = 10_000
"""Waiting blocks that are looked at to fill a wave."""


class Pools:
    """Blocks in their order, handed out in waves; `most` entrants in each (None: no limit).

    `load` says how often each entrant has played before, and is kept up to date."""

    def __init__(self, blocks: Iterable[Block], most: int | None, load: Counter[int]) -> None:
        self._blocks: Iterator[Block] = iter(blocks)
        self._most = most if most is not None and most < len(load) else None
        self._load = load
        self._waiting: list[Block] = []

    @property
    def limited(self) -> bool:
        """Whether a wave may not hold everybody."""
        return self._most is not None

    def take(self, count: int) -> tuple[Block, ...]:
        """The next wave, of so many blocks at the most; empty when none is left."""
        wave = self._next(count) if self._most is None else self._within(self._most, count)
        self._load.update(chain.from_iterable(block.group for block in wave))
        return wave

    def _next(self, count: int) -> tuple[Block, ...]:
        return tuple(islice(self._blocks, count))

    def _within(self, most: int, count: int) -> tuple[Block, ...]:
        """Waiting blocks within a pool, in their order."""
        self._waiting += islice(self._blocks, WINDOW - len(self._waiting))
        if not self._waiting:
            return ()
        inside = self._pool(most, count)
        taken = [block for block in self._waiting if inside.issuperset(block.group)][:count]
        gone = set(taken)
        self._waiting = [block for block in self._waiting if block not in gone]
        return tuple(taken)

    def _pool(self, most: int, count: int) -> frozenset[int]:
        """The entrants of the next wave: group by group, each with as few newcomers as can be,
        of those who have played least."""
        groups = np.array([block.group for block in self._waiting])
        load = np.zeros(max(self._load) + 1, np.int64)
        load[list(self._load)] = list(self._load.values())
        inside = np.zeros(len(load), bool)
        chosen: int | None = int(np.argmin(load[groups].sum(axis=1)))
        while chosen is not None:
            inside[groups[chosen]] = True
            if np.count_nonzero(inside[groups].all(axis=1)) >= count:
                break
            chosen = _nearest(groups, load, inside, most - int(inside.sum()))
        return frozenset(map(int, np.flatnonzero(inside)))


def _nearest(
    groups: NDArray[np.int64], load: NDArray[np.int64], inside: NDArray[np.bool_], room: int
) -> int | None:
    """The group with the fewest newcomers to the pool, and of those the least played."""
    new = ~inside[groups]
    newcomers = new.sum(axis=1)
    able = np.flatnonzero((newcomers > 0) & (newcomers <= room))
    if not len(able):
        return None
    played = (load[groups[able]] * new[able]).sum(axis=1)
    rank = newcomers[able] * (len(load) * (1 + int(load.max()))) + played
    return int(able[np.argmin(rank)])

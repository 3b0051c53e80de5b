"""Ratings over a tournament's course: after so many complete blocks, in the order in which they
became complete. Pure; the number of fits is bounded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from tournaments.played import Played
from tournaments.ratings import rate

POINTS: Final = 24
"""Fits at most."""


@dataclass(frozen=True, slots=True)
class Course:
    """`blocks` are numbers of complete blocks, rising; `ratings[i]` are those of all entrants, by
    index, after `blocks[i]` of them, None for who has not played."""

    blocks: tuple[int, ...]
    ratings: tuple[tuple[float | None, ...], ...]


def course(
    played: Iterable[Played], completed: Sequence[str], entrants: int, anchor: int | None = None
) -> Course:
    """The course of a tournament whose blocks were completed in this order, by name; matches of
    other blocks are left out."""
    by_block: dict[str, list[Played]] = {name: [] for name in completed}
    for match in played:
        if match.block in by_block:
            by_block[match.block].append(match)
    order = [block for block in by_block.values() if block]
    marks = _marks(len(order))
    ratings = [
        rate([match for block in order[:mark] for match in block], entrants, anchor).ratings
        for mark in marks
    ]
    return Course(marks, tuple(ratings))


def _marks(count: int) -> tuple[int, ...]:
    """Numbers of blocks spread evenly up to all of them."""
    steps = min(count, POINTS)
    return tuple(sorted({round(count * step / steps) for step in range(1, steps + 1)}))

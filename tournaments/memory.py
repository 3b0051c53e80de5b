"""Who plays better the more generations of its processes have seen the same cards (design, section
4): a permutation test, which finds a memory that no process should have.

A block's seatings are allotted to generations by the key, each order as likely as any other. So
for an entrant without a memory any other allotment would have gone with the same points, and the
sum of points times a growing score of the generation is a draw from all those sums. Its tail is
computed, not drawn, so that the same matches always give the same answer; docs/ratings.md says
what the test can find and what it cannot.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tournaments.played import Played

ALARMS: Final = 0.001
"""How often a table of honest entrants names anybody."""

_EXACT_SEATINGS = 6
"""With more seatings, or more blocks, or sums that are nothing special, the normal law will do."""
_EXACT_BLOCKS = 1000
_SPECIAL = 1.5

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Memory:
    """What the test says of an entrant: `p` is how likely points that rise so much with the
    generation are by chance alone, None where no block tells; `found` says that this is too
    unlikely, considering how many entrants are tested."""

    p: float | None
    found: bool = False


def examine(played: Iterable[Played], entrants: int, alarms: float = ALARMS) -> tuple[Memory, ...]:
    """The test of every entrant by the matches of complete blocks.

    Blocks in which anybody forfeited a match say nothing: a bot that crashes from some generation
    on makes the others' points rise. So do, for the others, the blocks of an entrant that is found:
    whoever sits with it meets another opponent in each generation. Whoever is found first is the
    one with the smallest p."""
    blocks = _blocks(played)
    found: dict[int, Memory] = {}
    tested = len({entrant for block in blocks for entrant in block})
    while True:
        others = [n for n in range(entrants) if n not in found]
        ps = {n: _p_value([block[n] for block in blocks if n in block]) for n in others}
        told = {n: p for n, p in ps.items() if p is not None}
        suspect = min(told, key=lambda n: told[n], default=None)
        if suspect is None or told[suspect] > alarms / tested:
            return tuple(found.get(n) or Memory(ps[n]) for n in range(entrants))
        found[suspect] = Memory(told[suspect], found=True)
        blocks = [block for block in blocks if suspect not in block]


@dataclass(frozen=True, slots=True)
class _Matches:
    """An entrant's matches in a block, in order of generations: its seats and points a deal."""

    seats: tuple[int, ...]
    points: Floats


def _blocks(played: Iterable[Played]) -> list[dict[int, _Matches]]:
    """The blocks without a forfeit, as each entrant of theirs played them."""
    matches: defaultdict[str, list[Played]] = defaultdict(list)
    for match in played:
        matches[match.block].append(match)
    return [
        _by_entrant(sorted(block, key=lambda match: match.generation))
        for _, block in sorted(matches.items())
        if not any(match.forfeited for match in block)
    ]


def _by_entrant(block: Sequence[Played]) -> dict[int, _Matches]:
    found = {}
    for entrant in block[0].entrants:
        seats = tuple(match.entrants.index(entrant) for match in block)
        points = [
            match.points[seat] / match.deals for match, seat in zip(block, seats, strict=True)
        ]
        found[entrant] = _Matches(seats, np.array(points))
    return found


def _p_value(blocks: Sequence[_Matches]) -> float | None:
    """How likely so large a sum is under random allotments; None without a difference to see."""
    if not blocks:
        return None
    surplus = _surplus(blocks)
    count = surplus.shape[1]
    scores = np.log(np.arange(1, count + 1))
    scores -= scores.mean()
    total = float((surplus @ scores).sum())
    spread = math.sqrt(float((surplus**2).sum() * (scores**2).sum() / (count - 1)))
    if spread < 1e-12:
        return None
    special = total > _SPECIAL * spread
    if special and count <= _EXACT_SEATINGS and len(surplus) <= _EXACT_BLOCKS:
        orders = np.array(list(permutations(scores)))
        return _tail(surplus @ orders.T, total)
    return _normal_tail(total / spread)


def _surplus(blocks: Sequence[_Matches]) -> Floats:
    """Points less what the cards of the seat gave: the mean of the entrant's matches in that seat
    of the block or, where it sat there once, of its seat in all blocks. A row for each block,
    by generation, each with the sum 0."""
    points = np.array([block.points for block in blocks])
    seats = np.array([block.seats for block in blocks])
    points = points - points.mean(axis=1, keepdims=True)
    for seat in np.unique(seats):
        sat = seats == seat
        if sat.sum(axis=1).min() > 1:
            mean = (points * sat).sum(axis=1, keepdims=True) / sat.sum(axis=1, keepdims=True)
        else:
            mean = points[sat].mean()
        points = points - sat * mean
    surplus: Floats = points - points.mean(axis=1, keepdims=True)
    return surplus


def _tail(sums: Floats, total: float) -> float:
    """The probability of at least `total` for a sum of one number from each row, drawn evenly
    (Lugannani and Rice's saddlepoint formula)."""
    most = float(sums.max(axis=1).sum())
    at_most = (sums >= sums.max(axis=1, keepdims=True) - 1e-9).mean(axis=1)
    least = math.exp(float(np.log(at_most).sum()))
    if total >= most - 1e-9:
        return least
    tilt = _tilt(sums, total)
    log_mean, _, variance = _cumulants(sums, tilt)
    distance = math.sqrt(max(0.0, 2 * (tilt * total - log_mean)))
    slope = tilt * math.sqrt(variance)
    if distance < 1e-6 or slope < 1e-6:
        return least
    density = math.exp(-(distance**2) / 2) / math.sqrt(2 * math.pi)
    tail = _normal_tail(distance) + density * (1 / slope - 1 / distance)
    return min(1.0, max(tail, least))


def _tilt(sums: Floats, total: float) -> float:
    """The exponent under which the mean of the sum is `total`, which is above its even mean."""
    low, high = 0.0, 1.0 / float(sums.std())
    while _cumulants(sums, high)[1] < total and high < 1e6:
        low, high = high, 2 * high
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if _cumulants(sums, middle)[1] < total else (low, middle)
    return (low + high) / 2


def _cumulants(sums: Floats, tilt: float) -> tuple[float, float, float]:
    """The logarithm of the mean of exp(tilt x sum), and its first two derivatives."""
    top = sums.max(axis=1, keepdims=True)
    weights = np.exp(tilt * (sums - top))
    norm = weights.mean(axis=1)
    weights /= weights.sum(axis=1, keepdims=True)
    means = (weights * sums).sum(axis=1)
    variances = (weights * (sums - means[:, None]) ** 2).sum(axis=1)
    log_mean = float((np.log(norm) + tilt * top[:, 0]).sum())
    return log_mean, float(means.sum()), float(variances.sum())


def _normal_tail(distance: float) -> float:
    return math.erfc(distance / math.sqrt(2)) / 2

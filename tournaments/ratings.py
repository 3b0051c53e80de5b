"""Ratings, points per deal and meetings from finished matches (design, section 4, "Ratings").

Everything here is a pure function of the matches given, in whatever order they come; the formulas
and the reasons for them are in docs/ratings.md. Pass the matches of complete blocks only
(`complete_blocks`): a block is the unit of fairness and of variance.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tournaments.bradley_terry import Floats, Likelihood, chances
from tournaments.played import Played

Ints = NDArray[np.int64]

CENTRE = 1500.0
"""Rating of the field's mean, or of the anchor."""
ELO = 400 / math.log(10)
"""Elo points per unit of natural log-odds."""

_CANONICAL = attrgetter("block", "seating", "generation", "entrants", "places", "points", "deals")


@dataclass(frozen=True, slots=True)
class Ratings:
    """Elo ratings by entrant; None where the matches say nothing.

    `intervals` (low, high) hold the rating minus the field's mean, or minus the anchor, at
    `level`; None for an entrant in fewer than two blocks. `blocks` counts the blocks that hold
    each entrant. `errors[i][j]` is the standard error, in Elo, of i's rating minus j's. `anchor`
    is the entrant rated 1500, None when the field's mean is (as when the anchor has not played).
    """

    ratings: tuple[float | None, ...]
    intervals: tuple[tuple[float, float] | None, ...]
    blocks: tuple[int, ...]
    errors: tuple[tuple[float | None, ...], ...]
    anchor: int | None
    level: float

    def superiority(self, i: int, j: int) -> float | None:
        """Probability that i is stronger than j, by Student's t on the difference of the two.

        None where `errors[i][j]` is: one of them in fewer than two blocks, or i == j.
        """
        first, second, error = self.ratings[i], self.ratings[j], self.errors[i][j]
        if first is None or second is None or error is None:
            return None
        degrees = min(self.blocks[i], self.blocks[j]) - 1
        return _t_probability((first - second) / error, degrees)


@dataclass(frozen=True, slots=True)
class PointsRow:
    """An entrant's points per deal, all points over all deals, with its own interval.

    `per_deal` is None without a match, `low` and `high` in fewer than two blocks.
    """

    points: int
    deals: int
    per_deal: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Meeting:
    """How one entrant fared in the matches it shared with another.

    A win is a better place, not more points. `points_per_deal` is its own in those matches, None
    when they never met.
    """

    wins: int
    ties: int
    losses: int
    points_per_deal: float | None


NEVER_MET = Meeting(wins=0, ties=0, losses=0, points_per_deal=None)


@dataclass(frozen=True, slots=True)
class Blocks:
    """Matches of the blocks with every seating played, and of those still open."""

    complete: tuple[Played, ...]
    open: tuple[Played, ...]
    complete_count: int
    open_count: int


def complete_blocks(played: Sequence[Played], seatings_per_block: int) -> Blocks:
    """Split matches by whether their block has all its seatings, each part in canonical order.

    A block none of whose matches is finished is not seen here. Raises ValueError when a seating
    of a block comes twice or is out of range.
    """
    seatings: defaultdict[str, set[int]] = defaultdict(set)
    for match in played:
        seen = seatings[match.block]
        if match.seating in seen or not 0 <= match.seating < seatings_per_block:
            fault = "comes twice" if match.seating in seen else f"of {seatings_per_block}"
            raise ValueError(f"{match} {fault}")
        seen.add(match.seating)
    full = {block for block, seen in seatings.items() if len(seen) == seatings_per_block}
    ordered = sorted(played, key=_CANONICAL)
    return Blocks(
        complete=tuple(match for match in ordered if match.block in full),
        open=tuple(match for match in ordered if match.block not in full),
        complete_count=len(full),
        open_count=len(seatings) - len(full),
    )


def rate(
    played: Sequence[Played], entrants: int, anchor: int | None = None, level: float = 0.95
) -> Ratings:
    """Fit Bradley-Terry strengths to the places of all matches.

    `entrants` is how many there are; `anchor` the one to rate 1500 instead of the field's mean.
    Raises ValueError for entrants out of range, matches of different numbers of sides or a level
    that is no probability.
    """
    _check(entrants, anchor, level)
    fit = _fit(_columns(played, entrants))
    if anchor is not None and fit.held[anchor] == 0:
        anchor = None
    ratings, margins = fit.about_mean(level) if anchor is None else fit.about(anchor, level)
    pairs = fit.pair_errors()
    np.fill_diagonal(pairs, np.nan)
    return Ratings(
        ratings=_optional(CENTRE + ratings),
        intervals=_intervals(CENTRE + ratings, margins),
        blocks=tuple(fit.held.tolist()),
        errors=tuple(_optional(row) for row in pairs),
        anchor=anchor,
        level=level,
    )


def points(played: Sequence[Played], entrants: int, level: float = 0.95) -> tuple[PointsRow, ...]:
    """Points per deal of each entrant as a ratio of sums, for matches vary in their deals.

    Its variance is that of the blocks' sums of points minus per-deal mean times deals. Raises
    ValueError as `rate` does.
    """
    _check(entrants, None, level)
    columns = _columns(played, entrants)
    scored = columns.by_block(columns.points)
    dealt = columns.by_block(np.broadcast_to(columns.deals[:, None], columns.points.shape))
    total, deals, held = scored.sum(axis=0), dealt.sum(axis=0), columns.blocks_held()
    per_deal = np.divide(total, deals, out=np.full(entrants, np.nan), where=deals > 0)
    surplus = scored - np.where(deals > 0, per_deal, 0.0) * dealt
    variance = _correction(held) * (surplus**2).sum(axis=0)
    margins = np.sqrt(variance) / np.maximum(deals, 1) * t_quantile(level, held - 1)
    bounds = (interval or (None, None) for interval in _intervals(per_deal, margins))
    return tuple(
        PointsRow(int(total[i]), int(deals[i]), mean, low, high)
        for i, (mean, (low, high)) in enumerate(zip(_optional(per_deal), bounds, strict=True))
    )


def head_to_head(played: Sequence[Played], entrants: int) -> tuple[tuple[Meeting, ...], ...]:
    """Row i, column j: how entrant i fared in its matches with j; `NEVER_MET` where i is j.

    Raises ValueError as `rate` does.
    """
    columns = _columns(played, entrants)
    lead = columns.lead()
    others = ~np.eye(columns.sides, dtype=np.bool_)
    wins = columns.by_pair((lead > 0) & others)
    ties = columns.by_pair((lead == 0) & others)
    scored = columns.by_pair(columns.points[:, :, None] * others)
    dealt = columns.by_pair(columns.deals[:, None, None] * others)
    per_deal = np.divide(scored, dealt, out=np.full_like(scored, np.nan), where=dealt > 0)
    return tuple(
        tuple(
            Meeting(int(wins[i, j]), int(ties[i, j]), int(wins[j, i]), mean)
            for j, mean in enumerate(_optional(per_deal[i]))
        )
        for i in range(entrants)
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Columns:
    """Matches in canonical order, as arrays: a row per match, a column per side."""

    entrants: Ints
    places: Ints
    points: Ints
    deals: Ints
    blocks: Ints
    field: int

    @property
    def sides(self) -> int:
        return int(self.entrants.shape[1])

    def lead(self) -> Ints:
        """By match, side a, side b: how many places a finished ahead of b."""
        return self.places[:, None, :] - self.places[:, :, None]

    def wins(self) -> Floats:
        """By pair of entrants: weight of the one's results over the other, ties half."""
        twice = self.by_pair(1 + np.sign(self.lead()))
        np.fill_diagonal(twice, 0)
        return twice / (2 * (self.sides - 1))

    def surplus(self, strengths: Floats) -> Floats:
        """By match and side: weight of its results less what the strengths expect."""
        expected = chances(strengths)[self.entrants[:, :, None], self.entrants[:, None, :]]
        scores = (1 + np.sign(self.lead())) / 2 - expected
        result: Floats = scores.sum(axis=2) / (self.sides - 1)
        return result

    def by_block(self, values: NDArray[Any]) -> Floats:
        """Sum values by match and side into a table by block and entrant."""
        count = int(self.blocks.max(initial=-1)) + 1
        return _tally((self.blocks[:, None], self.entrants), values, (count, self.field))

    def by_pair(self, values: NDArray[Any]) -> Floats:
        """Sum values by match, side and other side into a table by entrant and entrant."""
        cells = (self.entrants[:, :, None], self.entrants[:, None, :])
        return _tally(cells, values, (self.field, self.field))

    def blocks_held(self) -> Ints:
        """Count the blocks that hold each entrant."""
        held: Ints = np.count_nonzero(self.by_block(np.ones(self.entrants.shape)), axis=0)
        return held


def _columns(played: Sequence[Played], field: int) -> _Columns:
    """Lay the matches out; bitwise the same for any order of them."""
    ordered = sorted(played, key=_CANONICAL)
    sides = len(ordered[0].entrants) if ordered else 2
    for match in ordered:
        if len(match.entrants) != sides:
            raise ValueError(f"{match} has {len(match.entrants)} sides, other matches {sides}")
        if not 0 <= min(match.entrants) <= max(match.entrants) < field:
            raise ValueError(f"{match} has entrants {match.entrants} in a field of {field}")
    numbers = {block: i for i, block in enumerate(dict.fromkeys(m.block for m in ordered))}

    def column(values: list[tuple[int, ...]]) -> Ints:
        return np.array(values, dtype=np.int64).reshape(len(ordered), sides)

    return _Columns(
        entrants=column([match.entrants for match in ordered]),
        places=column([match.places for match in ordered]),
        points=column([match.points for match in ordered]),
        deals=np.array([match.deals for match in ordered], dtype=np.int64),
        blocks=np.array([numbers[match.block] for match in ordered], dtype=np.int64),
        field=field,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Fit:
    """Ratings about the field's mean, with two covariances, all in Elo; NaN for the unrated.

    `held` counts the blocks of each entrant, and `clustered` lacks its factor B/(B-1): B differs
    by contrast.
    """

    ratings: Floats
    model: Floats
    clustered: Floats
    held: Ints

    def about_mean(self, level: float) -> tuple[Floats, Floats]:
        """Ratings minus the field's mean, and half-widths of their intervals."""
        errors = _larger_error(np.diag(self.model), np.diag(self.clustered), self.held)
        return self.ratings, errors * t_quantile(level, self.held - 1)

    def about(self, anchor: int, level: float) -> tuple[Floats, Floats]:
        """Ratings minus the anchor's, and half-widths of their intervals; its own is 0."""
        quantiles = t_quantile(level, np.minimum(self.held, self.held[anchor]) - 1)
        return self.ratings - self.ratings[anchor], self.pair_errors()[anchor] * quantiles

    def pair_errors(self) -> Floats:
        """Standard error of every difference of two; the diagonal is 0."""
        fewer = np.minimum.outer(self.held, self.held)
        return _larger_error(_of_pairs(self.model), _of_pairs(self.clustered), fewer)


def _fit(columns: _Columns) -> _Fit:
    held = columns.blocks_held()
    rated = np.flatnonzero(held)
    square = np.ix_(rated, rated)
    likelihood = Likelihood(columns.wins()[square])
    strengths = np.zeros(held.shape)
    strengths[rated] = likelihood.maximise()
    bread = likelihood.covariance(strengths[rated])
    scores = columns.by_block(columns.surplus(strengths))[:, rated]
    model, clustered = np.full((2, held.size, held.size), np.nan)
    model[square] = ELO**2 * bread
    clustered[square] = ELO**2 * (bread @ (scores.T @ scores) @ bread)
    return _Fit(np.where(held > 0, ELO * strengths, np.nan), model, clustered, held)


def t_quantile(level: float, degrees: Ints) -> Floats:
    """Half-width, in standard errors, of a central interval of Student's t; NaN below 1 degree."""
    from scipy.special import stdtrit  # costs 0.3 s to import: not for those who only import us

    quantile: Floats = stdtrit(np.where(degrees < 1, np.nan, degrees), (1 + level) / 2)
    return quantile


def _t_probability(value: float, degrees: int) -> float:
    from scipy.special import stdtr

    return float(stdtr(degrees, value))


def _larger_error(model: Floats, clustered: Floats, blocks: Ints) -> Floats:
    """Standard error by the larger of the two variances; NaN under two blocks."""
    error: Floats = np.sqrt(np.maximum(model, _correction(blocks) * clustered))
    return error


def _correction(blocks: Ints) -> Floats:
    """B/(B-1) for B blocks; NaN under two."""
    enough: Floats = np.where(blocks > 1, blocks, np.nan).astype(np.float64)
    return enough / (enough - 1)


def _of_pairs(covariance: Floats) -> Floats:
    """Variance of each difference of two."""
    variance = np.diag(covariance)
    result: Floats = np.add.outer(variance, variance) - 2 * covariance
    return result


def _tally(cells: tuple[Ints, Ints], values: NDArray[Any], shape: tuple[int, int]) -> Floats:
    """Sum values into a table, always in the order of the matches."""
    flat = np.broadcast_to(cells[0] * shape[1] + cells[1], values.shape)
    sums = np.bincount(flat.ravel(), values.ravel(), shape[0] * shape[1])
    return sums.astype(np.float64).reshape(shape)


def _optional(values: Floats) -> tuple[float | None, ...]:
    return tuple(None if math.isnan(value) else value for value in values.tolist())


def _intervals(centres: Floats, margins: Floats) -> tuple[tuple[float, float] | None, ...]:
    bounds = zip((centres - margins).tolist(), (centres + margins).tolist(), strict=True)
    return tuple(None if math.isnan(low) else (low, high) for low, high in bounds)


def _check(entrants: int, anchor: int | None, level: float) -> None:
    if anchor is not None and not 0 <= anchor < entrants:
        raise ValueError(f"anchor {anchor} is not among the {entrants} entrants")
    if not 0 < level < 1:
        raise ValueError(f"level {level} is not between 0 and 1; 0.95 is usual")

"""Results to rows of the standings, and the rows as text, CSV or JSON (design, section 4).

Figures come from complete blocks. Before the first is complete they come from the open ones and
are marked provisional, without intervals: the luck of the seats has not evened out yet.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import fmean
from typing import Any

from tabulate import tabulate

from tournaments.memory import Memory, examine
from tournaments.played import Played
from tournaments.ratings import (
    CENTRE,
    NEVER_MET,
    Meeting,
    Ratings,
    complete_blocks,
    head_to_head,
    points,
    rate,
)

FORMAT = "knavery.standings/1"
PLUS_MINUS = "±"
MARK = "*"
"""Behind the name of an entrant that is found to remember cards."""

_DECIMALS = 4
"""Of every figure in CSV and JSON."""
_TIED = 0.5e-4
"""Ratings no further apart share a place: they print alike."""
_FORMULA = tuple("=+-@＝＋－＠")
"""What makes a spreadsheet take a cell for a formula."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entrant as the standings name it; faults and forfeits of all its matches."""

    name: str
    version: str
    faults: int = 0
    forfeits: int = 0


@dataclass(frozen=True, slots=True)
class Standing:
    """One entrant's row; None where nothing is known.

    `place` counts from 1, equal ratings share one. `entrant` is its index in the tournament.
    `win_share` is its mean share of first place, a half when two tie for it; `firsts` counts the
    matches with any such share. `faults` and `forfeits` count in open blocks too, all else only
    in complete ones, or only in open ones if `provisional`. `memory_p` is how likely points that
    rise so much with the generation are by chance, and `remembers` that this is too unlikely.
    """

    place: int | None
    entrant: int
    name: str
    version: str
    rating: float | None
    low: float | None
    high: float | None
    points_per_deal: float | None
    points_low: float | None
    points_high: float | None
    matches: int
    firsts: int
    win_share: float | None
    mean_place: float | None
    faults: int
    forfeits: int
    provisional: bool
    memory_p: float | None = None
    remembers: bool = False


@dataclass(frozen=True, slots=True)
class Standings:
    """Rows by place, and what they rest on.

    `anchor` names the entrant rated 1500, None when the field's mean is. `meetings[i][j]` is how
    entrant i fared against j, by index in the tournament, as in `ratings`.
    """

    rows: tuple[Standing, ...]
    meetings: tuple[tuple[Meeting, ...], ...]
    ratings: Ratings
    complete_blocks: int
    open_blocks: int
    anchor: str | None
    level: float

    @property
    def provisional(self) -> bool:
        """Whether the rows rest on open blocks because none is complete."""
        return not self.complete_blocks


def compute(
    entries: Sequence[Entry],
    played: Sequence[Played],
    *,
    seatings_per_block: int,
    blocks: int | None = None,
    anchor: int | None = None,
    level: float = 0.95,
) -> Standings:
    """Rank `entries`, in the order of the tournament's entrants, by all finished matches.

    `blocks` is how many the tournament has in all; without it, a block with no finished match is
    not counted as open. Raises ValueError as `complete_blocks` and `rate` do.
    """
    split = complete_blocks(played, seatings_per_block)
    used = split.complete or split.open
    ratings = rate(used, len(entries), anchor, level)
    rows = _rows(entries, used, ratings)
    if not split.complete:
        rows = [_provisional(row) for row in rows]
    rows = _with_memory(rows, examine(split.complete, len(entries)))
    return Standings(
        rows=tuple(sorted(rows, key=_order)),
        meetings=head_to_head(used, len(entries)),
        ratings=ratings,
        complete_blocks=split.complete_count,
        open_blocks=split.open_count if blocks is None else blocks - split.complete_count,
        anchor=None if ratings.anchor is None else entries[ratings.anchor].name,
        level=level,
    )


def header(standings: Standings) -> str:
    """Say in one line what the rows rest on and what their figures mean."""
    complete, still_open = standings.complete_blocks, standings.open_blocks
    counts = f"{complete} {'block' if complete == 1 else 'blocks'} complete, {still_open} open"
    if not any(row.matches for row in standings.rows):
        return f"{counts}: no match is finished yet."
    centre = "the field's mean" if standings.anchor is None else shown_name(standings.anchor)
    meaning = f"Ratings: {CENTRE:.0f} is {centre}"
    if standings.provisional:
        return f"{counts}: provisional figures (~), no intervals yet. {meaning}."
    return f"{counts}. {meaning}; intervals are {100 * standings.level:g} %."


def table(rows: Sequence[Standing], plus_minus: str = PLUS_MINUS) -> str:
    """Lay the rows out for a terminal; "+/-" for one that cannot print the usual sign."""
    columns = {
        "#": [_number(row.place, 0) for row in rows],
        "name": [shown_name(row.name) + MARK * row.remembers for row in rows],
        "version": [row.version[:7] for row in rows],
        "rating": _estimates(rows, lambda row: (row.rating, row.high), 0, plus_minus),
        "points/deal": _estimates(
            rows, lambda row: (row.points_per_deal, row.points_high), 2, plus_minus
        ),
        "matches": [str(row.matches) for row in rows],
        "firsts": [str(row.firsts) for row in rows],
        "win share": [_number(row.win_share, 3) for row in rows],
        "mean place": [_number(row.mean_place, 2) for row in rows],
        "faults": [str(row.faults) for row in rows],
        "forfeits": [str(row.forfeits) for row in rows],
    }
    words = {"name", "version"}
    return _plain(columns, ["left" if heading in words else "right" for heading in columns])


def memory_line(rows: Sequence[Standing]) -> str | None:
    """What the mark behind a name means; None where nobody has it."""
    marked = [row for row in rows if row.remembers]
    if not marked:
        return None
    least = max(row.memory_p or 0.0 for row in marked)
    return (
        f"{MARK} plays better the more of its processes have seen the same cards (chance of that: "
        f"{least:.0e} at most): it may remember them between processes, which is forbidden."
    )


def head_to_head_table(standings: Standings) -> str:
    """Wins-ties-losses of the row's entrant against the column's, both in order of place."""
    order = [row.entrant for row in standings.rows]
    columns = {
        "": [str(number) for number in range(1, len(order) + 1)],
        "name": [shown_name(row.name) for row in standings.rows],
    }
    for number, j in enumerate(order, 1):
        columns[str(number)] = [_score(standings.meetings[i][j]) for i in order]
    return _plain(columns, ["right", "left"] + ["right"] * len(order))


def as_json(standings: Standings, *, with_meetings: bool = False) -> dict[str, Any]:
    """Give everything as values that `json.dumps` takes, rounded to 4 decimals.

    With meetings, "head_to_head" lists every pair that met, by index of entrant, once each way.
    """
    document: dict[str, Any] = {
        "format": FORMAT,
        "blocks": {"complete": standings.complete_blocks, "open": standings.open_blocks},
        "provisional": standings.provisional,
        "level": standings.level,
        "centre": CENTRE,
        "anchor": standings.anchor,
        "standings": [_rounded(row) for row in standings.rows],
    }
    if with_meetings:
        document["head_to_head"] = [
            {"entrant": i, "opponent": j, **_rounded(meeting)}
            for i, row in enumerate(standings.meetings)
            for j, meeting in enumerate(row)
            if meeting != NEVER_MET
        ]
    return document


def as_csv(rows: Sequence[Standing]) -> str:
    """Give the rows as CSV with a heading, empty where nothing is known.

    A name that a spreadsheet would run as a formula gets an apostrophe in front.
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, Standing.__dataclass_fields__, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow(_rounded(replace(row, name=harmless(row.name))))
    return text.getvalue()


@dataclass(frozen=True, slots=True)
class _Record:
    """What an entrant's places say; the last two None without a match."""

    matches: int
    firsts: int
    win_share: float | None
    mean_place: float | None


def _records(played: Sequence[Played], entrants: int) -> list[_Record]:
    places: list[list[int]] = [[] for _ in range(entrants)]
    shares: list[list[float]] = [[] for _ in range(entrants)]
    for match in played:
        tied = match.places.count(1)
        for entrant, place in zip(match.entrants, match.places, strict=True):
            places[entrant].append(place)
            shares[entrant].append(1 / tied if place == 1 else 0.0)
    return [
        _Record(len(own), own.count(1), fmean(share), fmean(own))
        if own
        else _Record(0, 0, None, None)
        for own, share in zip(places, shares, strict=True)
    ]


def _rows(entries: Sequence[Entry], played: Sequence[Played], ratings: Ratings) -> list[Standing]:
    scored = points(played, len(entries), ratings.level)
    records = _records(played, len(entries))
    rows = []
    for i, entry in enumerate(entries):
        low, high = ratings.intervals[i] or (None, None)
        row = Standing(
            place=_place(ratings.ratings, i),
            entrant=i,
            name=entry.name,
            version=entry.version,
            rating=ratings.ratings[i],
            low=low,
            high=high,
            points_per_deal=scored[i].per_deal,
            points_low=scored[i].low,
            points_high=scored[i].high,
            **asdict(records[i]),
            faults=entry.faults,
            forfeits=entry.forfeits,
            provisional=False,
        )
        rows.append(row)
    return rows


def _with_memory(rows: Sequence[Standing], memories: Sequence[Memory]) -> list[Standing]:
    return [
        replace(row, memory_p=memory.p, remembers=memory.found)
        for row, memory in zip(rows, memories, strict=True)
    ]


def _provisional(row: Standing) -> Standing:
    """Marked as resting on open blocks; without a match there is nothing to mark."""
    return replace(
        row,
        low=None,
        high=None,
        points_low=None,
        points_high=None,
        provisional=row.matches > 0,
    )


def _place(ratings: Sequence[float | None], i: int) -> int | None:
    own = ratings[i]
    if own is None:
        return None
    return 1 + sum(other is not None and other - own > _TIED for other in ratings)


def _order(row: Standing) -> tuple[Any, ...]:
    return row.place is None, row.place, row.name, row.version, row.entrant


def _estimates(
    rows: Sequence[Standing],
    bounds: Callable[[Standing], tuple[float | None, float | None]],
    digits: int,
    plus_minus: str,
) -> list[str]:
    """Values with half their intervals as "1532 ± 24", sign under sign; "~1532" if provisional."""
    values, margins = [], []
    for row in rows:
        value, high = bounds(row)
        values.append("~" * row.provisional + _number(value, digits))
        margins.append("" if value is None or high is None else _number(high - value, digits))
    width = max(map(len, margins), default=0)
    return [
        value + _margin(margin, width, plus_minus)
        for value, margin in zip(values, margins, strict=True)
    ]


def _margin(margin: str, width: int, plus_minus: str) -> str:
    if not width:
        return ""
    return f" {plus_minus if margin else ' ' * len(plus_minus)} {margin:>{width}}"


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _score(meeting: Meeting) -> str:
    if meeting == NEVER_MET:
        return "-"
    return f"{meeting.wins}-{meeting.ties}-{meeting.losses}"


def shown_name(name: str) -> str:
    """The name with what could upset a terminal or the columns replaced."""
    return "".join(letter if letter.isprintable() else "?" for letter in name)


def harmless(name: str) -> str:
    """The same for a spreadsheet, which would run some names as a formula."""
    shown = shown_name(name)
    return f"'{shown}" if shown.lstrip().startswith(_FORMULA) else shown


def _rounded(row: Standing | Meeting) -> dict[str, Any]:
    return {key: _figure(key, value) for key, value in asdict(row).items()}


def _figure(key: str, value: Any) -> Any:
    """A figure to four decimals; a probability that may be tiny, to three digits."""
    if not isinstance(value, float):
        return value
    return float(f"{value:.3g}") if key == "memory_p" else round(value, _DECIMALS)


def _plain(columns: dict[str, list[str]], alignment: Sequence[str]) -> str:
    """The headings go in as a row, for tabulate pads a column that has one."""
    return tabulate(
        [tuple(columns), *zip(*columns.values(), strict=True)],
        tablefmt="plain",
        colalign=alignment,
        disable_numparse=True,
        preserve_whitespace=True,
    )

"""Matches and faults of a tournament's file, found by bot, name and kind, a page at a time.

A page is bounded and its queries walk indices, however large the tournament: what goes through the
whole file (standings, counts) is in tournaments/store.py. Pages go backwards, the latest first; the
number in `Page.after` continues them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Generic, TypeVar

from referee.match import FaultKind
from tournaments.kept import KeptMatch, block_of
from tournaments.schedule import Block
from tournaments.store import Store

PAGE: Final = 50
"""Items on a page unless fewer are asked for."""
NAME_LENGTH: Final = 200
"""Letters of a match's name, at the most."""

T = TypeVar("T")

_LATEST: Final = 2**62
_PART: Final = re.compile(r"e\d{1,9}|g\d{1,9}(-\d{1,9}){0,3}|b\d{1,9}|s\d{1,9}")
_COLUMNS: Final = {"e": "epoch", "g": '"group"', "b": "block", "s": "seating"}
_COMPLETE: Final = """(
    SELECT count(*) FROM jobs AS others JOIN results USING (job)
    WHERE (others.epoch, others.block, others."group") = (jobs.epoch, jobs.block, jobs."group")
) = ?"""
_ENTRANT: Final = "json_extract(jobs.entrants, '$[' || faults.seat || ']')"


class SearchError(ValueError):
    """What is looked for makes no sense; the message says in one line why."""


@dataclass(frozen=True, slots=True)
class Query:
    """What to look for; None: anything. `bot` is an entrant's index; `kind` asks for matches with
    such a fault (of `bot`, where that is given), `faulty` for matches with any."""

    bot: int | None = None
    match: str | None = None
    kind: FaultKind | None = None
    faulty: bool = False

    def __post_init__(self) -> None:
        parts(self.match or "")


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some of what was found; `after` asks for the next ones, None where there are no more."""

    items: tuple[T, ...]
    after: str | None


@dataclass(frozen=True, slots=True)
class FoundMatch:
    """A finished match; tuples are by seat, `entrants` are indices. `ended` is in seconds since
    1970; `complete` says that its whole block is finished, so that its cards may be shown."""

    block: Block
    seating: int
    entrants: tuple[int, ...]
    totals: tuple[int, ...]
    places: tuple[int, ...]
    forfeits: tuple[int, ...]
    deals: int
    faults: int
    complete: bool
    ended: float

    @property
    def id(self) -> str:
        """The match's name, as in "e0/g0-3-5/b2/s4"."""
        return f"{self.block.id}/s{self.seating}"


@dataclass(frozen=True, slots=True)
class FoundFault:
    """A fault, by which entrant (an index) of which match. `detail` and `played` are None where
    the match's cards may not be shown yet, for a bot's own words may tell them."""

    block: Block
    seating: int
    entrant: int
    deal: int
    seat: int
    phase: str
    trick: int | None
    kind: FaultKind
    played: str | None
    detail: str | None
    complete: bool

    @property
    def id(self) -> str:
        """The match's name."""
        return f"{self.block.id}/s{self.seating}"


@dataclass(frozen=True, slots=True)
class Running:
    """A match under way: who sits where (indices by seat), and since when (seconds since 1970)."""

    block: Block
    seating: int
    entrants: tuple[int, ...]
    started: float

    @property
    def id(self) -> str:
        """The match's name."""
        return f"{self.block.id}/s{self.seating}"


def parts(name: str) -> dict[str, int | str]:
    """The columns that the parts of a match's name fix; SearchError if it is no such name."""
    found: dict[str, int | str] = {}
    for part in filter(None, name[: NAME_LENGTH + 1].strip().split("/")):
        column = _COLUMNS.get(part[0])
        if not _PART.fullmatch(part) or column is None or column in found:
            raise SearchError(
                f"{name[:NAME_LENGTH]!r} is no match's name: they are like e0/g0-1-3/b0/s4, or "
                "some parts of that"
            )
        found[column] = part[1:] if part[0] == "g" else int(part[1:])
    return found


class Search(Store):
    """An open file that is only read, and looked through."""

    @contextmanager
    def moment(self) -> Iterator[None]:
        """While it lasts the file is read as it was at one moment. (Unlike `snapshot` this does
        not go through all of it.)"""
        self._row("BEGIN")
        try:
            yield
        finally:
            if self._db.in_transaction:
                self._row("ROLLBACK")

    def page_of_matches(
        self, query: Query, after: str | None = None, limit: int = PAGE
    ) -> Page[FoundMatch]:
        """Finished matches, the latest first."""
        sql, values = matches_query(query)
        (job,) = _numbers_of(after, 1)
        rows = list(self._rows(sql, self._seatings(), *values, job, limit + 1))
        more = str(rows[limit - 1]["job"]) if len(rows) > limit else None
        return Page(tuple(self._value(_found_match, row) for row in rows[:limit]), more)

    def page_of_faults(
        self, query: Query, after: str | None = None, limit: int = PAGE, *, open_blocks: bool
    ) -> Page[FoundFault]:
        """Faults in finished matches, the latest first."""
        sql, values = faults_query(query)
        job, number = _numbers_of(after, 2)
        rows = list(self._rows(sql, self._seatings(), *values, job, job, number, limit + 1))
        last = rows[limit - 1] if len(rows) > limit else None
        read = partial(_found_fault, open_blocks=open_blocks)
        return Page(
            tuple(self._value(read, row) for row in rows[:limit]),
            None if last is None else f"{last['job']}-{last['number']}",
        )

    def running(self, limit: int = PAGE) -> tuple[int, tuple[Running, ...]]:
        """How many matches are under way, and those of them that were begun first."""
        count = self._one("SELECT count(*) FROM attempts WHERE outcome IS NULL")
        rows = self._rows(
            'SELECT epoch, "group", block, seating, entrants, attempts.started AS started'
            " FROM attempts JOIN jobs USING (job) WHERE outcome IS NULL"
            " ORDER BY job LIMIT ?",
            limit,
        )
        return count, tuple(self._value(_running, row) for row in rows)

    def finished_in(self, epoch: int) -> int:
        """How many matches of an epoch are finished."""
        count = "SELECT count(*) FROM jobs JOIN results USING (job) WHERE epoch = ?"
        return int(self._one(count, epoch))

    def finished(self, name: str) -> FoundMatch | None:
        """The finished match of this full name, if there is one."""
        if len(parts(name)) < len(_COLUMNS):
            raise SearchError(f"{name!r:.{NAME_LENGTH}} is no full name, such as e0/g0-1-3/b0/s4")
        return next(iter(self.page_of_matches(Query(match=name), limit=1).items), None)

    def look_up(self, name: str, *, open_blocks: bool) -> KeptMatch | FoundMatch | None:
        """The finished match of this full name with all that was kept of it; only what is public
        of it while its block is not complete (unless `open_blocks`); None if there is none."""
        found = self.finished(name)
        if found is None or not (found.complete or open_blocks):
            return found
        return self.match(found.block, found.seating, open_blocks=True)

    def is_begun(self, name: str) -> bool:
        """Whether a match of this full name was begun."""
        fixed = parts(name)
        where = " AND ".join(f"{column} = ?" for column in fixed)
        return self._row(f"SELECT 1 FROM jobs WHERE {where} LIMIT 1", *fixed.values()) is not None


def matches_query(query: Query) -> tuple[str, list[Any]]:
    """SQL and values for a page of matches. Its parameters: seatings, these values, the job to
    continue before, how many."""
    source, values = _source(query)
    fixed = parts(query.match or "")
    where = [*(f"jobs.{column} = ?" for column in fixed), "found.job < ?"]
    return (
        f"""
        SELECT found.job AS job, epoch, "group", block, seating, entrants, totals, places,
            forfeits, deals, ended, {_COMPLETE} AS complete,
            (SELECT count(*) FROM faults WHERE faults.job = found.job) AS faults
        FROM {source} AS found JOIN jobs USING (job) JOIN results USING (job)
            JOIN attempts ON attempts.attempt = results.attempt
        WHERE {" AND ".join(where)} ORDER BY found.job DESC LIMIT ?
        """,
        [*values, *fixed.values()],
    )


def _source(query: Query) -> tuple[str, list[Any]]:
    """The jobs that a search walks through, each once: as few as an index gives."""
    kind, values = _kind(query)
    if query.bot is not None:
        if query.kind is None and not query.faulty:
            return "(SELECT job FROM seats WHERE entrant = ?)", [query.bot]
        own = f"faults JOIN jobs USING (job) WHERE faults.job = seats.job AND {_ENTRANT} = entrant"
        test = f"EXISTS (SELECT 1 FROM {own} AND {kind})"
        return f"(SELECT job FROM seats WHERE entrant = ? AND {test})", [query.bot, *values]
    if query.kind is not None:
        first = "NOT EXISTS (SELECT 1 FROM faults WHERE job = one.job AND number < one.number"
        walk = f"SELECT job FROM faults AS one WHERE {kind.replace('faults', 'one')}"
        return f"({walk} AND {first} AND {kind}))", values * 2
    if query.faulty:
        return "(SELECT job FROM faults WHERE number = 0)", []
    return "(SELECT job FROM results)", []


def _kind(query: Query) -> tuple[str, list[Any]]:
    """The condition that a fault is of the kind in question."""
    return ("TRUE", []) if query.kind is None else ("faults.kind = ?", [query.kind.name.lower()])


def faults_query(query: Query) -> tuple[str, list[Any]]:
    """The same for a page of faults: the job is there twice, the number of a fault follows."""
    kind, values = _kind(query)
    source, job, where = "faults JOIN jobs USING (job)", "faults.job", [kind]
    if query.bot is not None:
        source = "seats CROSS JOIN faults USING (job) CROSS JOIN jobs USING (job)"
        job = "seats.job"
        where += ["seats.entrant = ?", f"{_ENTRANT} = seats.entrant"]
        values = [*values, query.bot]
    fixed = parts(query.match or "")
    where += [f"jobs.{column} = ?" for column in fixed]
    return (
        f"""
        SELECT faults.*, epoch, "group", block, seating, {_COMPLETE} AS complete,
            {_ENTRANT} AS entrant
        FROM {source} WHERE {" AND ".join(where)} AND {job} <= ? AND ({job} < ? OR number < ?)
        ORDER BY {job} DESC, faults.number DESC LIMIT ?
        """,
        [*values, *fixed.values()],
    )


def _numbers_of(after: str | None, count: int) -> tuple[int, ...]:
    """The numbers in what continues a page; those of its beginning if there is none."""
    if after is None:
        return (_LATEST,) * count
    numbers = after.split("-")
    if len(numbers) != count or not all(each.isdecimal() and len(each) < 19 for each in numbers):
        raise SearchError(f"{after!r:.60} is not where a page goes on: use what the last one said")
    return tuple(map(int, numbers))


def _numbers(array: str) -> tuple[int, ...]:
    return tuple(json.loads(array))


def _found_match(row: Any) -> FoundMatch:
    return FoundMatch(
        block=block_of(row),
        seating=row["seating"],
        entrants=_numbers(row["entrants"]),
        totals=_numbers(row["totals"]),
        places=_numbers(row["places"]),
        forfeits=_numbers(row["forfeits"]),
        deals=row["deals"],
        faults=row["faults"],
        complete=bool(row["complete"]),
        ended=row["ended"],
    )


def _found_fault(row: Any, open_blocks: bool) -> FoundFault:
    shown = bool(row["complete"]) or open_blocks
    return FoundFault(
        block=block_of(row),
        seating=row["seating"],
        entrant=row["entrant"],
        deal=row["deal"],
        seat=row["seat"],
        phase=row["phase"],
        trick=row["trick"],
        kind=FaultKind[row["kind"].upper()],
        played=(row["played"] or None) if shown else None,
        detail=row["detail"] if shown else None,
        complete=bool(row["complete"]),
    )


def _running(row: Any) -> Running:
    return Running(block_of(row), row["seating"], _numbers(row["entrants"]), row["started"])

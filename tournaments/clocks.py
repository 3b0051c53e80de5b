"""What time the bots of a tournament took: `knavery standings --clocks` (design, section 5).

Charged and queue times are kept for each decision (playblob.py). How much of a bank was used is
worked out from what was charged, as if each decision had been answered in a message of its own; in
a message for several the part that is not charged is shared, so that a little more was used.
"""

from __future__ import annotations

import csv
import io
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

from tabulate import tabulate

from referee.clock import clock_for
from referee.games.record import steps
from referee.match import ClockRules, FaultKind
from tournaments.anonymous import Cast
from tournaments.epochs import schedules
from tournaments.export import deal_record, judged
from tournaments.kept import KeptMatch
from tournaments.schedule import Schedule
from tournaments.standings import harmless, shown_name
from tournaments.store import Store


@dataclass(frozen=True, slots=True)
class ClockRow:
    """One entrant's times in all its finished matches, in milliseconds; None without a decision.

    What it was never asked, having forfeited, does not count. `bank_used_ms` is the most that it
    had used of its bank at one time in a match."""

    entrant: int
    name: str
    version: str
    measure: str
    decisions: int
    charged_median_ms: float | None
    charged_worst_ms: float | None
    queued_median_ms: float | None
    queued_worst_ms: float | None
    bank_used_ms: float
    time_faults: int


@dataclass(slots=True)
class _Times:
    """What was seen of one entrant, in microseconds."""

    charged: array[int] = field(default_factory=lambda: array("Q"))
    queued: array[int] = field(default_factory=lambda: array("Q"))
    bank_used: float = 0.0
    faults: int = 0


def clock_rows(store: Store, entrants: Iterable[int], cast: Cast | None = None) -> list[ClockRow]:
    """The times of these entrants, in this order; `cast` says what they are called."""
    cast = cast or Cast.of(store.entrants())
    plans = schedules(store)
    times: dict[int, _Times] = {}
    for match in store.matches(open_blocks=True):
        with judged(store, match.id):
            _add(times, match, plans[match.block.epoch])
    measure = plans[-1].clock.measure
    return [_row(entrant, cast, measure, times.get(entrant) or _Times()) for entrant in entrants]


def _add(times: dict[int, _Times], match: KeptMatch, schedule: Schedule) -> None:
    charged: list[list[int]] = [[] for _ in match.entrants]
    for seat, spent, queued in _decisions(match, schedule):
        charged[seat].append(spent)
        own = times.setdefault(match.entrants[seat], _Times())
        if spent or queued:
            own.charged.append(spent)
            own.queued.append(queued)
    for entrant, spent_by_seat in zip(match.entrants, charged, strict=True):
        own = times.setdefault(entrant, _Times())
        own.bank_used = max(own.bank_used, bank_used(schedule.clock, spent_by_seat))
    for fault in match.faults:
        times[match.entrants[fault.seat]].faults += fault.kind is FaultKind.LATE


def _decisions(match: KeptMatch, schedule: Schedule) -> Iterator[tuple[int, int, int]]:
    """Each decision's seat, charged time and queue time, in microseconds."""
    key = schedule.deals_key(match.block, match.seating, match.attempt)
    for number, kept in enumerate(match.deals):
        record = deal_record(schedule.rules, key, number, kept)
        seats = (seat for _, seat, _ in steps(schedule.rules, record, f"deal {number}"))
        yield from zip(seats, kept.charged_us, kept.queued_us, strict=True)


def bank_used(rules: ClockRules, charged: Iterable[int]) -> float:
    """The most that was missing from a bank, in seconds, with decisions that took so many
    microseconds one after the other."""
    clock, bank, least = clock_for(rules), rules.bank, rules.bank
    for spent in charged:
        bank = clock.bank_after(bank, spent / 1e6, 1)
        least = min(least, bank)
    return rules.bank - least


def _row(entrant: int, cast: Cast, measure: str, times: _Times) -> ClockRow:
    return ClockRow(
        entrant=entrant,
        name=cast.names[entrant],
        version=cast.versions[entrant],
        measure=measure,
        decisions=len(times.charged),
        charged_median_ms=_ms(times.charged, median),
        charged_worst_ms=_ms(times.charged, max),
        queued_median_ms=_ms(times.queued, median),
        queued_worst_ms=_ms(times.queued, max),
        bank_used_ms=round(1000 * times.bank_used, 3),
        time_faults=times.faults,
    )


def _ms(values: array[int], of: Any) -> float | None:
    return round(of(values) / 1000, 3) if values else None


def table(rows: Sequence[ClockRow]) -> str:
    """The rows for a terminal."""
    columns = {
        "name": [shown_name(row.name) for row in rows],
        "decisions": [f"{row.decisions:,}" for row in rows],
        "charged": [_short(row.charged_median_ms) for row in rows],
        "worst": [_short(row.charged_worst_ms) for row in rows],
        "queued": [_short(row.queued_median_ms) for row in rows],
        "worst ": [_short(row.queued_worst_ms) for row in rows],
        "bank used": [_short(row.bank_used_ms) for row in rows],
        "time faults": [str(row.time_faults) for row in rows],
    }
    return tabulate(
        [tuple(columns), *zip(*columns.values(), strict=True)],
        tablefmt="plain",
        colalign=["left"] + ["right"] * (len(columns) - 1),
        disable_numparse=True,
        preserve_whitespace=True,
    )


def header(rows: Sequence[ClockRow]) -> str:
    """What the columns are."""
    what = {"wall": "time on the wall", "cpu": "processor time"}[rows[0].measure]
    return (
        f"Times ({what}) in ms, a decision's median and worst: charged, and waiting in the "
        "referee's queue. Of the bank, the most that was used in a match."
    )


def as_csv(rows: Sequence[ClockRow]) -> str:
    """The rows as CSV with a heading, empty where nothing is known."""
    text = io.StringIO()
    writer = csv.DictWriter(text, ClockRow.__dataclass_fields__, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow(asdict(row) | {"name": harmless(row.name)})
    return text.getvalue()


def _short(ms: float | None) -> str:
    """Milliseconds to three digits or so."""
    if ms is None:
        return "-"
    return f"{ms:,.0f}" if ms >= 100 else f"{ms:.1f}" if ms >= 10 else f"{ms:.2f}"

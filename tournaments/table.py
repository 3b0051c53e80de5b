"""From a store to standings, and standings as a terminal shows them."""

import sys
from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches

from tournaments import standings
from tournaments.anonymous import Cast
from tournaments.epochs import schedules, standing
from tournaments.standings import Entry, Standings
from tournaments.store import Store, StoreError


def computed(store: Store, anchor: str | None = None, cast: Cast | None = None) -> Standings:
    """The standings of a tournament's present field as they are now; `anchor` names the entrant
    rated 1500, `cast` says what the entrants are called."""
    entrants = store.entrants()
    cast = cast or Cast.of(entrants)
    faults = store.fault_counts()
    forfeits = store.forfeit_counts()
    entries = [
        Entry(name, version, sum(faults.get(n, {}).values()), forfeits.get(n, 0))
        for n, (name, version) in enumerate(zip(cast.names, cast.versions, strict=True))
    ]
    schedule = schedules(store)[-1]
    field = {entrants[n].name: n for n in schedule.entrants}
    result = standings.compute(
        entries,
        list(standing(store)),
        seatings_per_block=schedule.generations,
        blocks=schedule.counts().blocks + sum(schedule.done.values()),
        anchor=None if anchor is None else _index(anchor, field),
    )
    rows = tuple(row for row in result.rows if row.entrant in field.values())
    return replace(result, rows=rows)


def _index(name: str, names: Mapping[str, int]) -> int:
    if name in names:
        return names[name]
    near = get_close_matches(name, names, 1)
    mend = f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}"
    raise StoreError(f"no entrant is called {name!r}: {' '.join(mend.splitlines())}")


def shown(result: Standings, *, with_meetings: bool = False) -> str:
    """The table with its heading; in ASCII where the terminal cannot show more."""
    plus_minus = "±" if _can_show("±") else "+/-"
    parts = [standings.header(result), standings.table(result.rows, plus_minus)]
    if line := standings.memory_line(result.rows):
        parts.append(line)
    if with_meetings:
        parts += ["", standings.head_to_head_table(result)]
    return "\n".join(parts)


def _can_show(text: str) -> bool:
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True

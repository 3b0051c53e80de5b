"""From a store to standings, and standings as a terminal shows them."""

import sys
from difflib import get_close_matches

from tournaments import standings
from tournaments.standings import Entry, Standings
from tournaments.store import Store, StoreError


def computed(store: Store, anchor: str | None = None) -> Standings:
    """The standings of a tournament as they are now; `anchor` names the entrant rated 1500."""
    epoch = store.epochs()[-1]
    entrants = store.entrants()
    faults = store.fault_counts()
    forfeits = store.forfeit_counts()
    entries = [
        Entry(each.name, each.version, sum(faults.get(n, {}).values()), forfeits.get(n, 0))
        for n, each in enumerate(entrants)
    ]
    schedule = epoch.tournament.schedule(store.master_key(), epoch.field, epoch.number)
    return standings.compute(
        entries,
        list(store.played()),
        seatings_per_block=schedule.generations,
        blocks=schedule.counts().blocks,
        anchor=None if anchor is None else _index(anchor, [each.name for each in entrants]),
    )


def _index(name: str, names: list[str]) -> int:
    if name in names:
        return names.index(name)
    near = get_close_matches(name, names, 1)
    mend = f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}"
    raise StoreError(f"no entrant is called {name!r}: {mend}")


def shown(result: Standings, *, with_meetings: bool = False) -> str:
    """The table with its heading; in ASCII where the terminal cannot show more."""
    plus_minus = "±" if _can_show("±") else "+/-"
    parts = [standings.header(result), standings.table(result.rows, plus_minus)]
    if with_meetings:
        parts += ["", standings.head_to_head_table(result)]
    return "\n".join(parts)


def _can_show(text: str) -> bool:
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True

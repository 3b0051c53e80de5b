"""Why a bot has just forfeited a match, in words for the person who watches: what a class needs
that submits its first bots (`faults.policy = "forfeit-at-once"`)."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final

from referee.games.cards import text
from referee.match import Fault
from referee.process import printable
from tournaments.schedule import Scheduled

TOLD: Final = 3
"""Forfeits of one bot that are told; the table counts all of them."""


class Announcer:
    """Tells of each bot's first forfeits; `names` are the entrants' by index, `say` takes a line
    that stays."""

    def __init__(self, names: Mapping[int, str], say: Callable[[str], None]) -> None:
        self._names = names
        self._say = say
        self._count: Counter[int] = Counter()

    def forfeited(self, match: Scheduled, fault: Fault) -> None:
        """A bot made a fault too many in a match."""
        entrant = match.seats[fault.seat].entrant
        self._count[entrant] += 1
        if self._count[entrant] <= TOLD:
            name = printable(self._names[entrant])
            self._say(f"{name} forfeits match {match.job.id}: {told(fault)}")
        if self._count[entrant] == TOLD:
            self._say(f"{name} has forfeited {TOLD} matches: further ones are in the table only")


def told(fault: Fault) -> str:
    """Where a fault was made, its kind, its cause, and what was played for it; the cause may have
    lines of its own, which are indented."""
    where = f"deal {fault.deal}, " + ("bid" if fault.trick is None else f"trick {fault.trick}")
    first, *rest = printable(fault.detail).splitlines() or [""]
    instead = f"; {text(fault.played)} was played for it" if fault.played else ""
    lines = [f"{where}, seat {fault.seat}: {fault.kind.name.lower()}: {first}", *rest]
    return "\n    ".join(lines) + instead

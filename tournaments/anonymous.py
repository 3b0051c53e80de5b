"""What a tournament calls its bots where others read it (design, section 8: `--anonymous`).

An anonymous cast says "Bot 1" and so on, by the order of the tournament's file, which never
changes. Whatever bots wrote may hold names, folders and lines of their source: their notes are
left out, and of a fault's cause all that is not in the referee's own words.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from referee.match import Fault, FaultKind
from referee.process import printable
from tournaments.kept import KeptMatch
from tournaments.schedule import Entrant
from tournaments.search import FoundFault

LEFT_OUT: Final = "(the cause is left out: a bot may have written it)"
_OWN_WORDS: Final = frozenset({FaultKind.ILLEGAL, FaultKind.LATE})
"""Faults whose cause the referee words itself, of nothing but cards and times."""
_NAME: Final = 80
"""Letters of a name that are shown."""


@dataclass(frozen=True, slots=True)
class Cast:
    """Names and versions by index of entrant, as they are to be shown."""

    names: tuple[str, ...]
    versions: tuple[str, ...]
    anonymous: bool = False

    @classmethod
    def of(cls, entrants: Iterable[Entrant], *, anonymous: bool = False) -> Cast:
        """The cast of these entrants, in the order of the file. Versions of one name are told
        apart by their numbers in an anonymous cast, whose versions are empty: a hash of its
        sources names a bot to whoever has them."""
        entrants = tuple(entrants)
        if anonymous:
            names = tuple(f"Bot {number}" for number in range(1, len(entrants) + 1))
            return cls(names, ("",) * len(entrants), anonymous=True)
        return cls(
            tuple(entrant.name for entrant in entrants),
            tuple(entrant.version for entrant in entrants),
        )

    def match(self, match: KeptMatch) -> KeptMatch:
        """A match with of what bots wrote only what may be shown."""
        if not self.anonymous:
            return match
        return replace(match, faults=tuple(map(self.fault, match.faults)), notes=())

    def fault(self, fault: Fault) -> Fault:
        """A fault with its cause as it may be shown."""
        return replace(fault, detail=self._cause(fault.kind, fault.detail))

    def found(self, fault: FoundFault) -> FoundFault:
        """The same for one that was looked up."""
        if fault.detail is None:
            return fault
        return replace(fault, detail=self._cause(fault.kind, fault.detail))

    def _cause(self, kind: FaultKind, detail: str) -> str:
        return detail if not self.anonymous or kind in _OWN_WORDS else LEFT_OUT

    def labels(self) -> tuple[str, ...]:
        """The names for a page: printable, short enough, and different for each entrant."""
        shown = [_short(printable(name).replace("\n", " ")) for name in self.names]
        return tuple(
            f"{name} ({version[:7]})" if shown.count(name) > 1 and version else name
            for name, version in zip(shown, self.versions, strict=True)
        )


def _short(name: str) -> str:
    return name if len(name) <= _NAME else name[: _NAME - 1] + "…"

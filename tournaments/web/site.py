"""Where a set of pages is: how its pages name each other, and whose bots they tell of.

The same pages are files of a report and answers of a server; what differs is a `Site`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Container
from dataclasses import dataclass
from typing import ClassVar, Final

SECTIONS: Final = {
    "standings": "Standings",
    "meetings": "Head to head",
    "play": "Play",
    "matches": "Matches",
    "faults": "Faults",
}
"""The pages that every page leads to, and what they are called."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site(ABC):
    """A tournament's pages. `names` are the bots' by index of entrant, as they may be shown:
    printable, and not their own where the site is anonymous.

    `assets` is where style and scripts are served from; None if each page holds them itself."""

    title: str
    game: str
    variant: str
    names: tuple[str, ...]
    live: ClassVar[bool] = False
    """Whether pages change while one looks at them."""
    assets: ClassVar[str | None] = None
    styles: ClassVar[tuple[str, ...]] = ()
    """Styles beside the common one, where they are served."""

    @property
    def sections(self) -> dict[str, str]:
        """The pages that every page leads to, and what they are called."""
        return SECTIONS

    @abstractmethod
    def page(self, section: str, number: int = 0) -> str:
        """Where a section is, or one of the pages that follow its first."""

    @abstractmethod
    def bot(self, entrant: int) -> str:
        """Where a bot's page is."""

    @abstractmethod
    def match(self, name: str, place: str = "") -> str | None:
        """Where a match's page is, at a place "deal:trick" of it; None if it has no page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder(Site):
    """A report: files of one folder. `shown` are the names of the matches that have a page."""

    shown: Container[str] = ()

    def page(self, section: str, number: int = 0) -> str:
        name = "index" if section == "standings" else section
        return f"{name}-{number}.html" if number else f"{name}.html"

    def bot(self, entrant: int) -> str:
        return f"bot-{entrant}.html"

    def match(self, name: str, place: str = "") -> str | None:
        if name not in self.shown:
            return None
        return f"match-{name.replace('/', '-')}.html" + (place and f"#{place}")

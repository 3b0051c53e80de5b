"""The pages about a tournament as a whole: plain values in, HTML out.

What they say of ratings, points and meetings are the rows that a terminal shows
(tournaments/standings.py); nothing is computed here but where a mark is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tournaments import standings
from tournaments.ratings import CENTRE
from tournaments.replays import MatchReplay
from tournaments.standings import Standing, Standings
from tournaments.web.render import render
from tournaments.web.scenes import scenes, script
from tournaments.web.site import Site

WIDTH = 120
"""Of the drawing of an interval, in its own units."""
_EDGE = 5


def standings_page(site: Site, result: Standings) -> str:
    """Who is how strong, with an interval drawn for each."""
    return render(
        "standings.html",
        site,
        here="standings",
        result=result,
        about=standings.header(result),
        memory=standings.memory_line(result.rows),
        scale=Scale.of(result.rows),
    )


def message_page(site: Site, title: str, text: str, here: str = "") -> str:
    """A page that says why there is nothing to be seen."""
    return render("message.html", site, here=here, heading=title, text=text)


class Bar(NamedTuple):
    """Where a rating and the ends of its interval are drawn."""

    at: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Scale:
    """Ratings laid out over `WIDTH`."""

    low: float
    high: float

    @classmethod
    def of(cls, rows: Sequence[Standing]) -> Scale:
        """The scale that holds every row."""
        values = [
            value for row in rows for value in (row.rating, row.low, row.high) if value is not None
        ]
        low, high = min(values, default=CENTRE), max(values, default=CENTRE)
        return cls(min(low, CENTRE - 50), max(high, CENTRE + 50))

    @property
    def centre(self) -> float:
        """Where the field's mean is, or the anchor."""
        return self._place(CENTRE)

    def bar(self, row: Standing) -> Bar | None:
        """What is drawn for a row; None without a rating."""
        if row.rating is None:
            return None
        if row.low is None or row.high is None:
            return Bar(self._place(row.rating), None, None)
        return Bar(self._place(row.rating), self._place(row.low), self._place(row.high))

    def _place(self, rating: float) -> float:
        share = (rating - self.low) / (self.high - self.low)
        return round(_EDGE + share * (WIDTH - 2 * _EDGE), 1)


def match_page(site: Site, replay: MatchReplay) -> str:
    """A match: the replay viewer, and every deal as a table."""
    names = [site.names[entrant] for entrant in replay.match.entrants]
    deals = scenes(replay)
    return render(
        "match.html",
        site,
        here="match",
        scripts=("cards.js", "replay.js"),
        replay=replay,
        names=names,
        scenes=deals,
        script=script(replay, names, deals),
    )

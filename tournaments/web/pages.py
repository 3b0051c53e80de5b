"""The pages about a tournament as a whole: plain values in, HTML out.

What they say of ratings, points and meetings are the rows that a terminal shows
(tournaments/standings.py); nothing is computed here but where a mark is drawn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from referee.match import FaultKind
from tournaments import standings
from tournaments.course import Course
from tournaments.figures import Figures, Play, Times, times
from tournaments.history import History
from tournaments.ratings import CENTRE, NEVER_MET, Meeting
from tournaments.replays import MatchReplay
from tournaments.search import FoundFault, FoundMatch
from tournaments.standings import Standing, Standings
from tournaments.web.charts import (
    bids_chart,
    course_chart,
    places_chart,
    spread_chart,
    times_chart,
    tricks_chart,
)
from tournaments.web.render import render
from tournaments.web.scenes import scenes, script
from tournaments.web.site import Site

OWN = 40
"""Matches and faults that are read for a bot's page."""
NO_FAULT = "There is no fault."
MATRIX = 40
"""Bots in a table of pairs: a page has room for no more."""
WIDTH = 120
"""Of the drawing of an interval, in its own units."""
_EDGE = 5


def standings_page(
    site: Site, result: Standings, history: History, course: Course | None = None
) -> str:
    """Who is how strong, with an interval drawn for each, and how that came about."""
    order = [row.entrant for row in result.rows]
    drawn = course if course is not None and len(course.blocks) > 1 else None
    return render(
        "standings.html",
        site,
        here="standings",
        result=result,
        about=standings.header(result),
        memory=standings.memory_line(result.rows),
        history=history,
        scale=Scale.of(result.rows),
        course=drawn,
        course_chart=None if drawn is None else course_chart(drawn, site.names, order),
    )


def meetings_page(site: Site, result: Standings) -> str:
    """Who beat whom, and who is likely to be the stronger."""
    rows = result.rows[:MATRIX]
    return render(
        "meetings.html",
        site,
        here="meetings",
        result=result,
        about=standings.header(result),
        rows=rows,
        hidden=len(result.rows) - len(rows),
        played=any(row.matches for row in rows),
        superiority=lambda one, other: result.ratings.superiority(one.entrant, other.entrant),
    )


def play_page(
    site: Site, figures: Figures, order: Sequence[int], clock: str, missing: int = 0
) -> str:
    """What bots did: points by seat, bids or jacks, times. `order` are the entrants, best first;
    `clock` is how time was measured; so many matches that count are `missing`."""
    shown = [entrant for entrant in order if entrant in figures.by_entrant]
    plays = {entrant: figures.by_entrant[entrant] for entrant in shown}
    charts = {}
    if shown:
        charts["places"] = places_chart(plays, site.names, shown)
        charts["times"] = times_chart(plays, site.names)
    return render(
        "play.html",
        site,
        here="play",
        figures=figures,
        order=shown,
        charts=charts,
        clock=clock,
        missing=missing,
        top_bid=_top_bid(figures),
        times_of=_times(plays),
    )


@dataclass(frozen=True, slots=True)
class Pager:
    """Where a long list goes on, before and after what is shown, and what that is."""

    before: str | None = None
    after: str | None = None
    words: str = ""


def matches_page(
    site: Site, found: Sequence[FoundMatch], about: str, nothing: str, pages: Pager
) -> str:
    """A list of matches; `nothing` says why there is none."""
    return render(
        "matches.html",
        site,
        here="matches",
        found=found,
        about=about,
        nothing=nothing,
        pages=pages,
    )


def faults_page(
    site: Site,
    found: Sequence[FoundFault],
    counts: Mapping[int, Mapping[FaultKind, int]],
    nothing: str,
    pages: Pager,
) -> str:
    """Faults, by bot and kind and one by one; `nothing` says why there is none."""
    return render(
        "faults.html",
        site,
        here="faults",
        found=found,
        counts=[(entrant, Counter(by_kind)) for entrant, by_kind in sorted(counts.items())],
        kinds=tuple(FaultKind),
        nothing=nothing,
        pages=pages,
    )


def bot_page(
    site: Site,
    entrant: int,
    result: Standings,
    history: History,
    figures: Figures | None,
    found: Sequence[FoundMatch],
    faults: Sequence[FoundFault],
) -> str:
    """All about one bot; `figures` where they are known, and some of its matches and faults."""
    row = next((row for row in result.rows if row.entrant == entrant), None)
    play = None if figures is None else figures.by_entrant.get(entrant)
    return render(
        "bot.html",
        site,
        here="bot",
        entrant=entrant,
        row=row,
        history=history,
        opponents=_opponents(result, entrant),
        figures=None if play is None else figures,
        chart=None if play is None else bids_chart(play) if play.bids else tricks_chart(play),
        top_bid=None if figures is None else _top_bid(figures),
        spread=spread_chart(play) if play is not None and play.charged else None,
        times_of=[] if play is None else _times({entrant: play}),
        found=found,
        faults_found=faults,
    )


def _opponents(result: Standings, entrant: int) -> list[tuple[int, Meeting, float | None]]:
    """Whom a bot met, how it fared, and how likely it is the stronger."""
    return [
        (row.entrant, met, result.ratings.superiority(entrant, row.entrant))
        for row in result.rows
        if (met := result.meetings[entrant][row.entrant]) != NEVER_MET
    ]


def _times(plays: Mapping[int, Play]) -> list[tuple[int, Times, Times]]:
    return [(entrant, times(play.charged), times(play.queued)) for entrant, play in plays.items()]


def _top_bid(figures: Figures) -> int | None:
    """The most tricks that anybody bid; None in a game without bids."""
    return max((bid for play in figures.by_entrant.values() for bid in play.bids), default=None)


def message_page(site: Site, title: str, text: str, found: Sequence[FoundMatch] = ()) -> str:
    """A page that says why there is nothing to be seen but, maybe, the results of some matches."""
    return render("message.html", site, here="", heading=title, text=text, found=found)


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

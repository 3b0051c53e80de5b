"""A tournament as a folder of pages that open from disk, can be mailed, or put on any web host."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from referee.process import printable
from tournaments.anonymous import Cast
from tournaments.course import Course, course
from tournaments.epochs import counting, schedules, standing
from tournaments.export import judged
from tournaments.figures import Figures
from tournaments.history import history
from tournaments.replays import MatchReplay
from tournaments.search import FoundMatch, Page, Query, Search
from tournaments.store import StoreError
from tournaments.table import computed
from tournaments.web.pages import (
    NO_FAULT,
    OWN,
    Pager,
    bot_page,
    faults_page,
    match_page,
    matches_page,
    meetings_page,
    play_page,
    standings_page,
)
from tournaments.web.render import counted
from tournaments.web.site import Folder

SAMPLE: Final = 30
"""Matches of a sample, unless more bots than that are to be in it."""
MARKER: Final = ".knavery-report"
"""The file that says that a folder is a report's: the names of its pages, a line each."""

T = TypeVar("T")

_ROWS: Final = 200
"""Of a list on one page."""
_AT_ONCE: Final = 500
_PAGE_NAME: Final = re.compile(r"[a-z0-9-]+\.html")


@dataclass(frozen=True, slots=True)
class Choice:
    """What of a tournament a report holds. `replays` says which matches have a page: those with
    "faults", a "sample" or "all"; `open_blocks` shows also cards that others still have to play;
    `anchor` names the bot that is rated 1500."""

    replays: str = "sample"
    anonymous: bool = False
    open_blocks: bool = False
    anchor: str | None = None


def write_report(store: Search, folder: Path, choice: Choice) -> int:
    """Write a report's pages into a folder that is new, empty, or holds an older report; how many
    pages there are. StoreError if it cannot be written or the file is damaged."""
    try:
        with store.snapshot():
            report = _Report(store, choice)
            old, pages = _prepared(folder), _Written(folder)
            for name, text in report.pages():
                pages.add(name, text)
        for name in old - pages.names:
            (folder / name).unlink(missing_ok=True)
        (folder / MARKER).write_text("".join(f"{name}\n" for name in sorted(pages.names)))
    except OSError as problem:
        raise StoreError(f"{folder}: cannot be written: {problem.strerror}") from None
    return len(pages.names)


class _Written:
    """The pages of a report as they are written. The marker names each before it is there, so that
    a report that was broken off can be written again."""

    def __init__(self, folder: Path) -> None:
        self.names: set[str] = set()
        self._folder = folder

    def add(self, name: str, text: str) -> None:
        self.names.add(name)
        with (self._folder / MARKER).open("a", encoding="utf-8") as marker:
            marker.write(name + "\n")
        (self._folder / name).write_text(text, encoding="utf-8")


def _prepared(folder: Path) -> set[str]:
    """Make the folder; the pages that an older report left in it. StoreError if it is not ours."""
    marker = folder / MARKER
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not marker.exists():
            if any(folder.iterdir()):
                raise StoreError(
                    f"{folder}: holds other files: name a folder that is new or empty with -o"
                )
            marker.touch()
        names = set(marker.read_text(encoding="utf-8").split())
    except FileExistsError:
        raise StoreError(f"{folder}: is a file: name a folder with -o") from None
    except (OSError, UnicodeDecodeError) as problem:
        why = problem.strerror if isinstance(problem, OSError) else "its marker is no text"
        raise StoreError(f"{folder}: cannot be written: {why}") from None
    return set(filter(_PAGE_NAME.fullmatch, names))


class _Report:
    """The pages of one report."""

    def __init__(self, store: Search, choice: Choice) -> None:
        tournament = store.tournament()
        self._store = store
        self._open_blocks = choice.open_blocks
        self._cast = Cast.of(store.entrants(), anonymous=choice.anonymous)
        self._clock = tournament.clock.measure
        self._result = computed(store, choice.anchor, self._cast)
        self._history = history(store, anonymous=choice.anonymous, open_blocks=choice.open_blocks)
        self._figures = Figures(tournament.rules)
        self._plans = schedules(store)
        self._completed = store.completed()
        self._found = list(_all(partial(store.page_of_matches, Query(), limit=_AT_ONCE)))
        self._shown = _shown(self._found, choice)
        self._site = Folder(
            title=printable(tournament.name),
            game=tournament.rules.game,
            variant=tournament.rules.variant,
            names=self._cast.labels(),
            shown=self._shown,
        )

    def pages(self) -> Iterator[tuple[str, str]]:
        """Every page: its name, and its text."""
        site, result = self._site, self._result
        yield from self._match_pages()
        yield site.page("standings"), standings_page(site, result, self._history, self._course())
        yield site.page("meetings"), meetings_page(site, result)
        order = [row.entrant for row in result.rows]
        yield site.page("play"), play_page(site, self._figures, order, self._clock)
        yield from self._matches_pages()
        yield from self._faults_pages()
        for entrant in range(len(site.names)):
            yield site.bot(entrant), self._bot_page(entrant)

    def _match_pages(self) -> Iterator[tuple[str, str]]:
        """The matches that are shown; all that count go into the figures on the way."""
        counted_in = {(each.block, each.seating) for each in counting(self._store, self._completed)}
        for kept in self._store.matches(open_blocks=self._open_blocks):
            shown = self._site.match(kept.id)
            counts = (kept.block.id, kept.seating) in counted_in
            if shown is None and not counts:
                continue
            with judged(self._store, kept.id):
                plan = self._plans[kept.block.epoch]
                replay = MatchReplay(self._cast.match(kept), plan, self._site.names)
                if counts:
                    self._figures.add(kept, replay.deals)
                if shown is not None:
                    yield shown, match_page(self._site, replay)

    def _course(self) -> Course:
        return course(
            standing(self._store),
            self._completed,
            len(self._site.names),
            self._result.ratings.anchor,
        )

    def _matches_pages(self) -> Iterator[tuple[str, str]]:
        shown = len(self._shown)
        about = (
            f"{counted(len(self._found), 'match', 'matches')} finished; {shown:,} of them "
            f"{'has a page' if shown == 1 else 'have pages'} with all cards."
        )
        for name, found, pager in self._listed("matches", self._found):
            nothing = "No match is finished yet."
            yield name, matches_page(self._site, found, about, nothing, pager)

    def _faults_pages(self) -> Iterator[tuple[str, str]]:
        counts = self._store.fault_counts()
        read = partial(
            self._store.page_of_faults, Query(), open_blocks=self._open_blocks, limit=_AT_ONCE
        )
        found = list(map(self._cast.found, _all(read)))
        for name, some, pager in self._listed("faults", found):
            yield name, faults_page(self._site, some, counts, NO_FAULT, pager)

    def _listed(self, section: str, items: Sequence[T]) -> Iterator[tuple[str, Sequence[T], Pager]]:
        """A long list as pages, the first of which is there though nothing is."""
        starts = range(0, max(1, len(items)), _ROWS)
        for number, start in enumerate(starts):
            some = items[start : start + _ROWS]
            pager = Pager(
                self._site.page(section, number - 1) if number else None,
                self._site.page(section, number + 1) if number + 1 < len(starts) else None,
                f"{start + 1:,} to {start + len(some):,} of {len(items):,}",
            )
            yield self._site.page(section, number), some, pager

    def _bot_page(self, entrant: int) -> str:
        query = Query(bot=entrant)
        faults = self._store.page_of_faults(query, limit=OWN, open_blocks=self._open_blocks)
        return bot_page(
            self._site,
            entrant,
            self._result,
            self._history,
            self._figures,
            self._store.page_of_matches(query, limit=OWN).items,
            tuple(map(self._cast.found, faults.items)),
        )


def _all(read: Callable[..., Page[T]]) -> Iterator[T]:
    """Everything that a search finds."""
    after: str | None = None
    while True:
        page = read(after=after)
        yield from page.items
        if (after := page.after) is None:
            return


def _shown(found: Sequence[FoundMatch], choice: Choice) -> frozenset[str]:
    """The matches that get a page: of those whose cards may be shown, all, those with a fault, or
    some evenly spread and at least one of each bot."""
    open_to_all = [each for each in found if each.complete or choice.open_blocks]
    if choice.replays == "all":
        return frozenset(each.id for each in open_to_all)
    if choice.replays == "faults":
        return frozenset(each.id for each in open_to_all if each.faults)
    count = min(SAMPLE, len(open_to_all))
    chosen = [open_to_all[n * len(open_to_all) // count] for n in range(count)]
    seen = {entrant for each in chosen for entrant in each.entrants}
    for each in open_to_all:
        if not seen.issuperset(each.entrants):
            chosen.append(each)
            seen.update(each.entrants)
    return frozenset(each.id for each in chosen)

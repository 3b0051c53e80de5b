"""Matches of a tournament's file found by name, and their deals as people look at them.

A match is named as `export` and `verify` name it, "e0/g0-1-3/b0/s4", or by as many of these parts
as it takes to mean one match: "s4", "g0-1-3/s4".
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from itertools import accumulate
from operator import add
from typing import Final

from referee.games.deal import Deal
from referee.games.record import replay
from referee.games.rules import Rules
from tournaments.epochs import dealing
from tournaments.export import deal_record, judged
from tournaments.frames import Cards, Frame, frames
from tournaments.kept import KeptMatch
from tournaments.plain import command
from tournaments.schedule import Block, Schedule
from tournaments.store import Store, StoreError

NAMED: Final = 3
"""Matches that an error names where a name means several."""
_COMPARED: Final = 1000
"""Names that are compared letter by letter with one that is unknown."""


@dataclass(frozen=True, slots=True)
class DealReplay:
    """One deal of a match, all cards open. Tuples over seats are by seat.

    `dealt` are the cards in the order dealt, `before` and `after` the match's points. `places` and
    `forfeits` are the match's, in its last deal only."""

    match: str
    number: int
    count: int
    rules: Rules
    names: tuple[str, ...]
    dealer: int
    dealt: tuple[Cards, ...]
    undealt: Cards
    trump: int | None
    frames: tuple[Frame, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]
    scores: tuple[int, ...]
    places: tuple[int, ...] | None
    forfeits: tuple[int, ...]


class MatchReplay:
    """A finished match, whose deals are made ready when they are asked for."""

    def __init__(self, match: KeptMatch, schedule: Schedule, names: Sequence[str]) -> None:
        """RecordError, PlayError or LookupError where the match holds what its rules forbid."""
        self.match = match
        self.scheduled = schedule.match(match.block, match.seating, match.attempt)
        self.names = tuple(names[entrant] for entrant in match.entrants)
        self.rules = schedule.rules
        self.kept = match.deals
        """Its deals as they lie in the file."""
        key = self.scheduled.job.deals_key
        self._records = [deal_record(self.rules, key, *each) for each in enumerate(self.kept)]
        self._deals = [
            replay(self.rules, record, f"deal {n}") for n, record in enumerate(self._records)
        ]
        points = (deal.scores for deal in self._deals)
        nothing = (0,) * self.rules.players
        self._totals = list(accumulate(points, lambda a, b: tuple(map(add, a, b)), initial=nothing))
        self.deal: Callable[[int], DealReplay] = lru_cache(maxsize=16)(self._deal)

    @property
    def deals(self) -> Sequence[Deal]:
        """Its deals, over."""
        return self._deals

    @property
    def count(self) -> int:
        """How many deals it has."""
        return len(self._deals)

    def _deal(self, number: int) -> DealReplay:
        """A deal, 0 to `count` - 1."""
        match, deal, kept = self.match, self._deals[number], self.kept[number]
        last = number == self.count - 1
        return DealReplay(
            match=match.id,
            number=number,
            count=self.count,
            rules=self.rules,
            names=self.names,
            dealer=deal.dealer,
            dealt=deal.dealt,
            undealt=deal.undealt,
            trump=deal.trump,
            frames=frames(
                self.rules,
                self._records[number],
                kept.charged_us,
                (fault for fault in match.faults if fault.deal == number),
                (note for note in match.notes if note.deal == number),
                f"deal {number}",
            ),
            before=self._totals[number],
            after=self._totals[number + 1],
            scores=deal.scores,
            places=match.places if last else None,
            forfeits=match.forfeits if last else (),
        )


def find(store: Store, name: str, *, open_blocks: bool = False) -> MatchReplay:
    """The finished match that a name means; StoreError says why there is none to be shown.

    The cards of a block that is not complete are still to be played by others, so its matches are
    shown only if `open_blocks`."""
    finished = store.finished_job_ids()
    block, seating = placed(_full_name(store, name, finished))
    match = store.match(block, seating, open_blocks=open_blocks)
    if match is None:
        raise StoreError(
            f"{store.path}: match {block.id}/s{seating} is finished, but its block is not, and its "
            "cards are still to be played by others: wait, or show them all the same with "
            "--open-blocks"
        )
    return replay_of(store, match)


def replay_of(store: Store, match: KeptMatch) -> MatchReplay:
    """A match of this file, ready to be looked at; StoreError if it is damaged."""
    with judged(store, match.id):
        names = [entrant.name for entrant in store.entrants()]
        return MatchReplay(match, dealing(store, match.block.epoch), names)


def deal_number(text: str, match: MatchReplay) -> int:
    """The deal that a text names; StoreError if the match has none of that number."""
    if text.isdecimal() and len(text) < 10 and int(text) < match.count:
        return int(text)
    raise StoreError(
        f"match {match.match.id} has no deal {text!r}: its deals are 0 to {match.count - 1}"
    )


def _full_name(store: Store, name: str, finished: Collection[str]) -> str:
    fits = _fitting(name, finished)
    if len(fits) == 1:
        return fits[0]
    path = store.path
    if fits:
        some = ", ".join(fits[:NAMED])
        raise StoreError(
            f"{path}: {name!r} means {len(fits):,} matches: name one of them in full, as in {some}"
        )
    if len(_fitting(name, {each.id for each in store.begun()})) == 1:
        raise StoreError(f"{path}: match {name} has begun and is not finished yet: wait for it")
    if not finished:
        raise StoreError(
            f"{path}: no match of it is finished yet: wait while it runs, or play it with "
            f"{command('knavery', 'resume', path)}"
        )
    raise StoreError(
        f"{path}: there is no finished match {name!r}: did you mean {_nearest(name, finished)}? "
        f"{command('knavery', 'replay', path)} lists them all"
    )


def _fitting(name: str, names: Collection[str]) -> list[str]:
    """The match of this name, or else those with all of its parts in this order."""
    if name in names:
        return [name]
    parts = name.split("/")
    return sorted(each for each in names if _holds(each.split("/"), parts))


def _holds(whole: Sequence[str], parts: Sequence[str]) -> bool:
    rest = iter(whole)
    return all(part in rest for part in parts)


def _nearest(name: str, names: Collection[str]) -> str:
    """The most alike, among those with the most parts in common."""
    parts = set(name.split("/"))
    ordered = sorted(names, key=lambda each: (-len(parts & set(each.split("/"))), each))
    return get_close_matches(name, ordered[:_COMPARED], 1, cutoff=0)[0]


def placed(name: str) -> tuple[Block, int]:
    """The block and seating of a match's full name."""
    epoch, group, block, seating = (part[1:] for part in name.split("/"))
    members = tuple(map(int, group.split("-")))
    return Block(int(epoch), members, int(block)), int(seating)

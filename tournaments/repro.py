"""Decisions of finished matches that a bot is asked again: which they are, and asking them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import trio

from referee import leftovers
from referee.bots import Bot, prepare
from referee.games.deal import Deal
from referee.house import open_house
from referee.match import Fault, FaultKind
from referee.retrial import Key, Record, Then, Watcher, retry
from tournaments.frames import Cards
from tournaments.replays import MatchReplay, deal_number, find, replay_of
from tournaments.store import Store, StoreError

_FORM: Final = "MATCH:DEAL:DECISION, as in e0/g0-1-2/b0/s4:3:12"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be asked again: these decisions of one seat, in order, and all before them."""

    match: MatchReplay
    seat: int
    keys: tuple[Key, ...]

    @property
    def name(self) -> str:
        """The entrant who sat there."""
        return self.match.names[self.seat]


def decision(store: Store, text: str, *, open_blocks: bool = False) -> Wanted:
    """The decision that "MATCH:DEAL:DECISION" means, decisions of a deal counted from 0 as they
    were made, bids first and by seat; StoreError where there is none."""
    parts = text.split(":")
    if len(parts) != 3:
        raise StoreError(f"{text!r} names no decision: write {_FORM}, or say --all-faults")
    match = find(store, parts[0], open_blocks=open_blocks)
    number = deal_number(parts[1], match)
    frames = match.deal(number).frames
    step = int(parts[2]) if parts[2].isdecimal() and len(parts[2]) < 10 else -1
    if not 0 <= step < len(frames) - 1:
        raise StoreError(
            f"deal {number} of {match.match.id} has no decision {parts[2]!r}: its decisions are 0 "
            f"to {len(frames) - 2}, as `knavery replay` counts its steps"
        )
    last = frames[step + 1].last
    assert last is not None
    return Wanted(match, last.seat, ((number, last.seat, last.trick),))


def all_faults(
    store: Store, entrant: str, match: str | None = None, *, open_blocks: bool = False
) -> list[Wanted]:
    """Every decision at which an entrant of this name made a fault, in one match or in all;
    StoreError if nobody has this name."""
    names = [each.name for each in store.entrants()]
    if entrant not in names:
        raise StoreError(
            f"{store.path}: no entrant is called {entrant!r}: say which of {', '.join(names)} it "
            "is, with --entrant"
        )
    if match is not None:
        return list(_faults(find(store, match, open_blocks=open_blocks), entrant))
    kept = store.matches(open_blocks=open_blocks)
    found = (each for each in kept if each.faults and entrant in {names[n] for n in each.entrants})
    return [wanted for each in found for wanted in _faults(replay_of(store, each), entrant)]


def _faults(match: MatchReplay, entrant: str) -> Iterator[Wanted]:
    for seat, name in enumerate(match.names):
        keys = tuple(
            (fault.deal, seat, fault.trick)
            for fault in match.match.faults
            if fault.seat == seat and not _is_unasked(fault)
        )
        if name == entrant and keys:
            yield Wanted(match, seat, keys)


def _is_unasked(fault: Fault) -> bool:
    """Whether it put out a seat that was asked nothing just then."""
    return fault.kind is FaultKind.ABSENT and not fault.played


def record_of(match: MatchReplay) -> Record:
    """The match, decision by decision."""
    out: dict[int, Fault] = {}
    faults: dict[Key, Fault] = {}
    for fault in match.match.faults:
        if _is_unasked(fault):
            out[fault.seat] = fault
        else:
            faults[fault.deal, fault.seat, fault.trick] = fault
    decisions: dict[Key, Then] = {}
    for number, (deal, kept) in enumerate(zip(match.deals, match.kept, strict=True)):
        for (seat, trick, cards), us in zip(_choices(deal), kept.charged_us, strict=True):
            key = (number, seat, trick)
            decisions[key] = Then(cards, us / 1000, faults.get(key))
    return Record(match.scheduled.job, decisions, out)


def _choices(deal: Deal) -> Iterator[tuple[int, int | None, Cards]]:
    """The decisions of a deal that is over, in order: by whom, in which trick (None for a bid),
    and what."""
    for seat, bid in enumerate(deal.bids):
        if bid is not None:
            yield seat, None, bid
    n = deal.rules.players
    for place, card in enumerate(deal.played):
        trick, turn = divmod(place, n)
        yield (deal.leaders[trick] + turn) % n, trick, (card,)


def ask_again(bot: Bot, wanted: Sequence[Wanted], watcher: Watcher) -> str:
    """Asks a bot again, match after match; what its last process printed. BotError if it cannot be
    made ready. Blocks, and runs trio."""

    async def ask() -> str:
        printed = ""
        job = wanted[0].match.scheduled.job
        with tempfile.TemporaryDirectory(prefix=leftovers.prefix()) as logs:
            async with open_house(job.rules.game, job.clock, job.faults, Path(logs)) as house:
                for each in wanted:
                    record = record_of(each.match)
                    printed = await retry(
                        house, prepared, record, each.seat, each.keys[-1], watcher
                    )
        return printed

    prepared = prepare(bot)
    return trio.run(ask)

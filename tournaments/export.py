"""Finished matches as JSON Lines, a deal a line: docs/replay-format.md (design, section 7).

Everything that the file does not hold is made again from the deals' key: the cards by dealing,
scores and winners by playing each deal again by its rules.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from operator import add
from typing import Any, Final, TextIO

from referee.games.cards import SUITS, card_text, text
from referee.games.deal import Deal
from referee.games.record import DealRecord, RecordError, replay
from referee.games.rules import Rules
from referee.games.shuffle import deck
from referee.match import Fault, Note
from tournaments.anonymous import Cast
from tournaments.epochs import dealing, schedules
from tournaments.kept import KeptMatch
from tournaments.plain import rules_to_plain
from tournaments.playblob import KeptDeal, PlayError
from tournaments.schedule import Schedule
from tournaments.store import Store, StoreError

FORMAT: Final = "knavery.replay/1"

Json = dict[str, Any]


def write_replays(
    store: Store, file: TextIO, *, open_blocks: bool = False, anonymous: bool = False
) -> int:
    """Write `replays`, each on a line of its own; how many there were."""
    count = 0
    for line in replays(store, open_blocks=open_blocks, anonymous=anonymous):
        file.write(json.dumps(line) + "\n")
        count += 1
    return count


def replays(store: Store, *, open_blocks: bool = False, anonymous: bool = False) -> Iterator[Json]:
    """Every deal of every finished match, block by block and seating by seating.

    The cards of blocks that are not complete are still to be played by others, so these come
    only if `open_blocks`. StoreError when the file does not hold what its rules allow.
    """
    cast = Cast.of(store.entrants(), anonymous=anonymous)
    plans = schedules(store)
    for match in store.matches(open_blocks=open_blocks):
        with judged(store, match.id):
            yield from _match(cast.match(match), plans[match.block.epoch], cast.names)


def match_lines(store: Store, match: KeptMatch) -> list[Json]:
    """The lines of one match of this file."""
    names = [entrant.name for entrant in store.entrants()]
    with judged(store, match.id):
        return list(_match(match, dealing(store, match.block.epoch), names))


@contextmanager
def judged(store: Store, match: str) -> Iterator[None]:
    """What a match holds against its rules is damage of the file."""
    try:
        yield
    except (RecordError, PlayError, LookupError) as exc:
        raise StoreError(f"{store.path}: is damaged: match {match}: {exc}") from exc


def _match(match: KeptMatch, schedule: Schedule, names: Sequence[str]) -> Iterator[Json]:
    """A match's lines."""
    about, deals = _about(match, schedule, names), match.deals
    key = schedule.deals_key(match.block, match.seating, match.attempt)
    totals = [0] * schedule.rules.players
    for number, kept in enumerate(deals):
        record = deal_record(schedule.rules, key, number, kept)
        deal = replay(schedule.rules, record, f"deal {number}")
        totals = list(map(add, totals, deal.scores))
        line = {**about, "deal": number, **_deal(deal, kept)}
        line["notes"] = [_note(note) for note in match.notes if note.deal == number]
        line["won"] = list(deal.tricks_won)
        line["scores"] = list(deal.scores)
        line["totals"] = totals
        line["clock"] = schedule.clock.measure
        line["faults"] = [_fault(fault) for fault in match.faults if fault.deal == number]
        if number == len(deals) - 1:
            line["end"] = {"places": list(match.places), "forfeits": list(match.forfeits)}
        yield line


def _about(match: KeptMatch, schedule: Schedule, names: Sequence[str]) -> Json:
    """What is the same in all lines of a match, in the order of a line's keys."""
    rules = rules_to_plain(schedule.rules)
    return {
        "format": FORMAT,
        "match": match.id,
        "block": match.block.id,
        "seating": match.seating,
        "generation": match.generation,
        "attempt": match.attempt,
        "deal": 0,
        "game": rules.pop("game"),
        "variant": schedule.rules.variant,
        "rules": rules,
        "entrants": [names[entrant] for entrant in match.entrants],
    }


def deal_record(rules: Rules, key: bytes, number: int, kept: KeptDeal) -> DealRecord:
    """A kept deal's record, its cards dealt again from the key of its block; RecordError unless
    it has a time for each decision."""
    decisions = rules.players * (rules.tricks + (rules.bid_cards > 0))
    if len(kept.charged_us) != decisions:
        raise RecordError(f"deal {number}: {len(kept.charged_us)} times, not {decisions}")
    return DealRecord(kept.dealer, deck(key, number, rules.pack), kept.moves)


def _deal(deal: Deal, kept: KeptDeal) -> Json:
    """What was dealt, bid and played, and how long it took."""
    bids = [_cards(bid) for bid in deal.bids if bid is not None]
    times = [charged / 1000 for charged in kept.charged_us]
    return {
        "dealer": deal.dealer,
        "hands": list(map(_cards, deal.dealt)),
        "undealt": _cards(deal.undealt),
        "bids": bids or None,
        "trump": None if deal.trump is None else SUITS[deal.trump],
        "tricks": _tricks(deal, times[len(bids) :]),
        "bid_ms": times[: len(bids)] or None,
    }


def _tricks(deal: Deal, times: Sequence[float]) -> list[Json]:
    """The tricks, with the milliseconds that each card took."""
    n = deal.rules.players
    return [
        {
            "leader": leader,
            "cards": _cards(deal.played[n * trick : n * trick + n]),
            "winner": winner,
            "ms": list(times[n * trick : n * trick + n]),
        }
        for trick, (leader, winner) in enumerate(zip(deal.leaders, deal.winners, strict=True))
    ]


def _fault(fault: Fault) -> Json:
    return {
        "seat": fault.seat,
        "phase": fault.phase,
        "trick": fault.trick,
        "kind": fault.kind.name.lower(),
        "played": text(fault.played) or None,
        "detail": fault.detail,
    }


def _note(note: Note) -> Json:
    return {"seat": note.seat, "phase": note.phase, "trick": note.trick, "text": note.text}


def _cards(cards: Sequence[int]) -> list[str]:
    return list(map(card_text, cards))

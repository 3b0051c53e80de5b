"""A match for the replay viewer and for the tables beside it: plain values, all cards open.

Everything comes from the moments that a terminal shows (tournaments/frames.py); the script of the
page only draws what is here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from referee.games.cards import suit_of
from referee.games.ninety_nine import NinetyNineRules
from referee.games.rules import Rules
from tournaments.frames import Decision, Frame
from tournaments.replay_text import told
from tournaments.replays import DealReplay, MatchReplay

_TOLD = 4000
"""Letters of a cause or a note that a page holds."""


@dataclass(frozen=True, slots=True)
class Trick:
    """A trick as a row: by seat, the card, and whether it was a fault."""

    number: int
    leader: int
    winner: int
    cards: tuple[int, ...]
    faults: tuple[bool, ...]
    points: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class Scene:
    """A deal as tables. `bids` are the tricks that each seat bid; `slowest` is by seat the decision
    that took longest; `told` are the words to decisions, each with its place "deal:trick:cards"."""

    deal: DealReplay
    bids: tuple[int, ...]
    slowest: tuple[Decision, ...]
    tricks: tuple[Trick, ...]
    told: tuple[tuple[str, str], ...]


def scenes(match: MatchReplay) -> tuple[Scene, ...]:
    """Every deal of a match as tables."""
    return tuple(_scene(match.deal(number)) for number in range(match.count))


def script(match: MatchReplay, names: Sequence[str], deals: Sequence[Scene]) -> dict[str, Any]:
    """What the replay viewer draws, as values for JSON; `names` by seat, `deals` all of them."""
    return _played(match.match.id, match.rules, names, [scene.deal for scene in deals])


def untimed(rules: Rules, names: Sequence[str], deals: Sequence[DealReplay]) -> dict[str, Any]:
    """The same for deals that nobody took the time of."""
    played = _played("match", rules, names, deals)
    played["deals"] = [deal | {"ms": None} for deal in played["deals"]]
    return played


def _played(
    match: str, rules: Rules, names: Sequence[str], deals: Sequence[DealReplay]
) -> dict[str, Any]:
    return {
        "match": match,
        "names": list(names),
        "bid_cards": rules.bid_cards,
        "tricks": rules.tricks,
        "deals": list(map(_script, deals)),
    }


def _script(deal: DealReplay) -> dict[str, Any]:
    """A deal; of its decisions a list for each thing to be known of them, which takes the least
    room: a long match has thousands."""
    decisions = list(_decisions(deal))
    made = [after.last for _, _, after in decisions if after.last]
    ends = [after for _, _, after in decisions if after.winner is not None]
    return {
        "dealer": deal.dealer,
        "undealt": list(deal.undealt),
        "trump": deal.trump,
        "bids": list(_bids(deal)),
        "points": None if deal.frames[0].points is None else list(deal.frames[0].points),
        "chosen": [list(each.cards) if each.trick is None else each.cards[0] for each in made],
        "ms": [float(f"{each.ms:.3g}") for each in made],
        "legal": "".join(str(_legal(before)) for _, before, _ in decisions),
        "leader": ends[0].leader,
        "winners": [end.winner for end in ends],
        "sofar": None if ends[0].points is None else [list(end.points or ()) for end in ends],
        "told": {step: _told(after) for step, _, after in decisions if _told(after)},
        "faults": [step for step, _, after in decisions if after.last and after.last.faults],
        "scores": list(deal.scores),
        "after": list(deal.after),
        "places": None if deal.places is None else list(deal.places),
    }


def _legal(before: Frame) -> int:
    """What the seat that decides next may choose from: 0 for its whole hand, from 1 to 4 for its
    cards of a suit."""
    assert before.turn is not None
    hand, legal = before.hands[before.turn], before.legal
    if legal == hand:
        return 0
    suit = suit_of(legal[0])
    assert legal == tuple(card for card in hand if suit_of(card) == suit)
    return 1 + suit


def _decisions(deal: DealReplay) -> Iterator[tuple[int, Frame, Frame]]:
    """Every decision: the number of the step after it, and the moments before and after."""
    pairs = zip(deal.frames, deal.frames[1:], strict=False)
    for step, (before, after) in enumerate(pairs, 1):
        yield step, before, after


def _scene(deal: DealReplay) -> Scene:
    players, bids = deal.rules.players, len(_bids(deal))
    after = deal.frames[1:]
    ends = range(bids, len(after), players)
    return Scene(
        deal=deal,
        bids=_bids(deal),
        slowest=tuple(map(partial(_slowest, after), range(players))),
        tricks=tuple(_trick(after[start : start + players]) for start in ends),
        told=tuple(_placed(deal, bids)),
    )


def _slowest(after: Sequence[Frame], seat: int) -> Decision:
    own = (frame.last for frame in after if frame.last and frame.last.seat == seat)
    return max(own, key=lambda last: last.ms)


def _trick(moments: Sequence[Frame]) -> Trick:
    end = moments[-1]
    made = sorted((each.last for each in moments if each.last), key=lambda last: last.seat)
    assert end.trick is not None
    assert end.leader is not None
    assert end.winner is not None
    return Trick(
        number=end.trick,
        leader=end.leader,
        winner=end.winner,
        cards=tuple(last.cards[0] for last in made),
        faults=tuple(bool(last.faults) for last in made),
        points=end.points,
    )


def _placed(deal: DealReplay, bids: int) -> Iterator[tuple[str, str]]:
    for step, _, after in _decisions(deal):
        if words := _told(after):
            yield place(deal.number, step - 1, bids, deal.rules.players), "\n".join(words)


def place(deal: int, step: int, bids: int, players: int) -> str:
    """A moment of a match as links name it: "deal:trick:cards on the table"."""
    if step < bids:
        return str(deal)
    trick, cards = divmod(step - bids, players)
    return f"{deal}:{trick}:{cards}" if cards else f"{deal}:{trick}"


def _told(after: Frame) -> list[str]:
    if after.last is None:
        return []
    text = "\n".join(told(after.last))
    return [text if len(text) <= _TOLD else text[: _TOLD - 1] + "…"] if text else []


def _bids(deal: DealReplay) -> tuple[int, ...]:
    """The tricks that each seat bid; empty in a game without bids."""
    if not isinstance(deal.rules, NinetyNineRules):
        return ()
    return tuple(deal.rules.bid_of(bid) for bid in deal.frames[-1].bids if bid is not None)

"""Events of a referee, for tests that play its part."""

from __future__ import annotations

from collections.abc import Sequence

from knavery import cards, sketch
from knavery.v1 import game_pb2 as game
from knavery.v1 import referee_pb2 as pb
from referee.games.registry import make_rules
from referee.wire_rules import rules_message


def started(match: str = "m", seed: int = 1, deals: Sequence[pb.DealFinished] = ()) -> pb.Event:
    """A match of Knave begins at seat 1; with `deals` it is resumed."""
    message = pb.MatchStarted(
        match=match, rules=rules_message(make_rules("knave")), seat=1, seed=seed
    )
    if deals:
        message.resumed.CopyFrom(pb.Resumed(deals=deals, faults=2))
    return pb.Event(match_started=message)


def to_play(number: int, hand: str = "7H QS", match: str = "m") -> pb.Event:
    """A card of this hand is to be led."""
    return _decision(number, match, sketch(hand)._decision)


def to_bid(number: int, hand: str = "5C 7D 8H 9S", match: str = "m") -> pb.Event:
    """Three cards of this hand are to be bid."""
    view = sketch(hand, game="ninety-nine", bidding=True, trump=None)
    return _decision(number, match, view._decision)


def _decision(number: int, match: str, decision: game.Decision) -> pb.Event:
    decision.id = number
    decision.match = match
    return pb.Event(decision=decision)


def finished_deal(match: str = "m", deal: int = 0) -> pb.DealFinished:
    """A tiny deal of two tricks."""
    hands = ("2C 3C", "4C 5C", "6C AD")
    return pb.DealFinished(
        match=match,
        deal=deal,
        dealer=2,
        hands=[game.Cards(cards=map(int, cards(hand))) for hand in hands],
        undealt=[int(cards("KD")[0])],
        trump=game.TRUMP_NONE,
        played=map(int, cards("2C 4C 6C AD 3C 5C")),
        leaders=[0, 2],
        tricks_won=[0, 0, 2],
        scores=[0, 0, 2],
        totals=[3, 0, 2],
    )

"""A view made by hand from cards in text, for unit tests and notebooks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from knavery.v1 import game_pb2 as pb
from knavery.view import View
from referee.games.cards import SUITS, cards, cards_in, mask, suit_of, text
from referee.games.registry import make_rules
from referee.games.tricks import legal, winner_index
from referee.wire_rules import rules_message

_TRUMPS = {
    "C": pb.TRUMP_CLUBS,
    "D": pb.TRUMP_DIAMONDS,
    "H": pb.TRUMP_HEARTS,
    "S": pb.TRUMP_SPADES,
    "none": pb.TRUMP_NONE,
    None: pb.TRUMP_UNKNOWN,
}


def sketch(
    hand: str,
    trick: str = "",
    *,
    game: str = "knave",
    variant: str = "classic",
    seat: int = 0,
    tricks: Sequence[str] = (),
    won: Sequence[int] | None = None,
    scores: Sequence[int] | None = None,
    trump: str | None = "none",
    bid: str = "",
    bids: Mapping[int, str] | None = None,
    dealer: int | None = None,
    last_dealt: str = "",
    bidding: bool = False,
) -> View:
    """The view of a seat that is to play a card, or with `bidding` to bid.

    `sketch("7H QS", "KH 2H", tricks=["AS 2S 9S"])`: cards as text, the finished tricks in order.
    Who led and who dealt follows from `seat`, and `won` (tricks by seat) from `tricks`; each may
    be given instead, since a sketch need not show the whole deal. `trump` is a suit's letter,
    "none", or None while it is not known; `bids` are those of others. ValueError when a card is
    none, or is in two places.
    """
    rules, others = make_rules(game, variant), bids or {}
    finished, current = [cards(each) for each in tricks], cards(trick)
    leaders = _leaders(finished, (seat - len(current)) % rules.players, trump, rules.players)
    message = pb.Decision(
        id=1,
        match="sketch",
        deals_left=rules.max_deals - 1,
        rules=rules_message(rules),
        seat=seat,
        dealer=(leaders[0] - 1) % rules.players if dealer is None else dealer,
        hand=sorted(cards(hand)),
        last_dealt=cards(last_dealt)[0] if last_dealt else None,
        trump=_TRUMPS[trump],
        bid=pb.Cards(cards=sorted(cards(bid))) if bid else None,
        bids=[pb.RevealedBid(seat=at, cards=sorted(cards(others[at]))) for at in sorted(others)],
        tricks_won=won or [leaders[1:].count(each) for each in range(rules.players)],
        scores=scores or [0] * rules.players,
        limit_ms=2000,
        bank_ms=10_000,
    )
    _ask(message, rules.bid_cards if bidding else 0, leaders, finished, current)
    return View(message)


def _leaders(
    finished: Sequence[Sequence[int]], leader: int, trump: str | None, players: int
) -> list[int]:
    """Who led each trick, so that `leader` leads the one under way."""
    suit = SUITS.index(trump) if trump and trump in SUITS else None
    leaders = [leader]
    for trick in reversed(finished):
        leaders.insert(0, (leaders[0] - winner_index(trick, suit)) % players)
    return leaders


def _ask(
    message: pb.Decision,
    choose: int,
    leaders: Sequence[int],
    finished: Sequence[Sequence[int]],
    current: Sequence[int],
) -> None:
    played = [card for trick in (*finished, current) for card in trick]
    counts = Counter([*message.hand, *message.bid.cards, *played])
    twice = [card for card, count in counts.items() if count > 1]
    if twice:
        raise ValueError(f"{text(twice)} would be in two places: take it out of one")
    if choose:
        message.bid_request.choose = choose
        return
    message.played.extend(played)
    message.leaders.extend(leaders)
    message.trick.extend(current)
    led = suit_of(current[0]) if current else None
    message.play_request.legal.extend(cards_in(legal(mask(message.hand), led)))

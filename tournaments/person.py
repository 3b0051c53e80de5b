"""A person at a table, in a terminal: what they are shown and how they answer.

They get the messages that any bot gets (`referee.wire`), so they see no more than a bot would.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Final

import trio

from knavery import news
from knavery.card import Card, text
from knavery.news import FinishedDeal, MatchEnd
from knavery.v1 import game_pb2 as game
from knavery.v1 import referee_pb2 as pb
from knavery.view import Trick, View
from referee.games.cards import SUIT_NAMES
from referee.games.ninety_nine import NinetyNineRules
from referee.player import Move

HELP: Final = (
    "type a card as rank and suit: AS, TH (or 10h), 2d; several with blanks between them; "
    "q leaves the table"
)


class Left(Exception):  # noqa: N818
    """The person has left the table."""


class Person:
    """Shows a seat's messages with `say`, and takes answers from `line`, which gives a line that
    was typed, or an empty text when no more will come. (A `Sitter`, tournaments/seat.py.)"""

    def __init__(self, say: Callable[[str], None], line: Callable[[], Awaitable[str]]) -> None:
        self._say = say
        self._line = line
        self._rules: object = None
        self._deal = -1
        self._tricks = 0

    async def hear(self, event: pb.Event) -> None:
        """Show it."""
        for line in self._told(event):
            self._say(line)

    def _told(self, event: pb.Event) -> Iterator[str]:
        if event.HasField("match_started"):
            info = news.match_info(event.match_started)
            self._rules = info.rules
            yield f"{info.rules.game} {info.rules.variant}: you sit in seat {info.seat}. {HELP}"
        elif event.HasField("deal_finished"):
            yield from _review(news.finished_deal(event.deal_finished), self._rules)
        elif event.HasField("match_finished"):
            yield from _result(news.match_end(event.match_finished))

    async def decide(self, decision: game.Decision) -> Move:
        """What the person types, once it may be played. Raises Left."""
        view = View(decision)
        for line in self._shown(view):
            self._say(line)
        while True:
            typed = await self._line()
            if not typed or typed.strip().lower() in ("q", "quit"):
                raise Left
            try:
                return Move(decision.id, chosen(view, typed))
            except ValueError as problem:
                self._say(str(problem))

    def _shown(self, view: View) -> Iterator[str]:
        """What is new since the last decision, and what is asked."""
        if view.deal != self._deal:
            self._deal, self._tricks = view.deal, 0
            yield ""
            yield f"deal {view.deal}: seat {view.dealer} deals, totals {_numbers(view.scores)}"
        for number, trick in enumerate(view.tricks):
            if number >= self._tricks:
                yield _trick(number, trick)
        self._tricks = len(view.tricks)
        yield ""
        if view.rules.bid_cards:
            yield from _bidding(view)
        yield f"your hand: {_hand(view.hand)}"
        if view.phase == "bid":
            yield f"bid {view.choose} cards:"
            return
        lies = _cards_of(view.leader, view.trick, view.players) if view.trick else "you lead"
        yield f"trick {len(view.tricks)}: {lies}; tricks won {_numbers(view.tricks_won)}"
        yield f"play one of {text(view.legal)}:"


def chosen(view: View, typed: str) -> tuple[int, ...]:
    """The cards that a line names, if they may be chosen; ValueError says what is wrong."""
    words = typed.replace(",", " ").upper().replace("10", "T").split()
    if not words or "?" in words:
        raise ValueError(HELP)
    cards = [Card(word) for word in words]
    if len(cards) != view.choose:
        raise ValueError(f"choose {view.choose}, not {len(cards)}")
    if len(set(cards)) < len(cards):
        raise ValueError("the same card twice: choose different ones")
    for card in cards:
        if card not in view.hand:
            raise ValueError(f"{card} is not in your hand: {text(view.hand)}")
        if card not in view.legal:
            led = SUIT_NAMES[view.trick[0].suit]
            raise ValueError(f"{card} does not follow {led}: play one of {text(view.legal)}")
    return tuple(map(int, cards))


def _bidding(view: View) -> Iterator[str]:
    """What this seat knows of trump and of bids."""
    trump = "none" if view.trump is None else SUIT_NAMES[view.trump]
    made = f", made by your {view.last_dealt}" if view.last_dealt is not None else ""
    yield f"trump: {trump + made if view.trump_known else 'not known before all have bid'}"
    for seat, bid in enumerate(view.bids):
        if bid is not None:
            whose = "your bid" if seat == view.seat else f"seat {seat} bid"
            yield f"{whose}: {text(bid)} = {view.rules.bid_of(bid)} tricks"
    if view.phase == "bid":
        values = zip(SUIT_NAMES, view.rules.bid_values, strict=True)
        yield "a card bids " + ", ".join(f"{value} ({suit})" for suit, value in values)


def _review(deal: FinishedDeal, rules: object) -> Iterator[str]:
    """A deal that is over, in which everything is public."""
    yield ""
    yield f"deal {deal.deal} is over"
    for seat, hand in enumerate(deal.hands):
        line = f"  seat {seat} held {text(sorted(hand))}"
        if isinstance(rules, NinetyNineRules):
            line += f", bid {text(deal.bids[seat])} = {rules.bid_of(deal.bids[seat])}"
        yield f"{line}, won {deal.tricks_won[seat]}"
    for number, trick in enumerate(deal.tricks):
        yield f"  {_trick(number, trick)}"
    if deal.undealt:
        yield f"  undealt: {text(deal.undealt)}"
    yield f"  points {_numbers(deal.scores)}, totals {_numbers(deal.totals)}"


def _result(end: MatchEnd) -> Iterator[str]:
    yield ""
    yield f"the match is over: totals {_numbers(end.totals)}, places {_numbers(end.places)}"


def _trick(number: int, trick: Trick) -> str:
    cards = _cards_of(trick.leader, trick.cards, len(trick.cards))
    return f"trick {number}: {cards}; seat {trick.winner} wins"


def _cards_of(leader: int, cards: Sequence[Card], players: int) -> str:
    return ", ".join(f"seat {(leader + n) % players} {card}" for n, card in enumerate(cards))


def _hand(hand: Sequence[Card]) -> str:
    """Cards with the suits apart."""
    suits = ([card for card in hand if card.suit == suit] for suit in range(4))
    return "   ".join(text(cards) for cards in suits if cards)


def _numbers(values: Sequence[int]) -> str:
    return " ".join(map(str, values))


class Lines:
    """Lines from a file descriptor, without a thread: a wait for one can be given up."""

    def __init__(self, source: int = 0) -> None:
        self._source = source
        self._ahead = b""

    async def next(self) -> str:
        """The next line with its end; an empty text when there is none."""
        while b"\n" not in self._ahead:
            try:
                await trio.lowlevel.wait_readable(self._source)
            except PermissionError:  # a plain file, which is always readable
                await trio.lowlevel.checkpoint()
            more = os.read(self._source, 4096)
            if not more:
                break
            self._ahead += more
        line, end, self._ahead = self._ahead.partition(b"\n")
        return (line + end).decode(errors="replace")

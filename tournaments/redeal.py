"""The ways in which the cards that are hidden from a seat may lie (docs/rules.md, section 5).

What the seat knows follows from the rules alone and is worked out here without `Deal.view`, which
it is used to judge: its own cards and bid, every card played and by whom, who could not follow
suit, what is trump once that may be known, which bids are turned up; and which card makes trump if
the seat dealt it. Everything else is dealt again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from referee.games.cards import suit_of
from referee.games.rules import Rules

EXCHANGES: Final = 6
"""Exchanges that are tried for each hidden card, one after the other, from how they truly lie."""


@dataclass(frozen=True, slots=True)
class World:
    """Cards as they lie, or as they might: the pack in the order dealt, and the bids by seat."""

    deck: tuple[int, ...]
    bids: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Moment:
    """A deal when a seat is to decide. `played` are the cards so far in order, `leaders` who led
    each trick begun; `bidding`: what it decides is its bid."""

    rules: Rules
    dealer: int
    seat: int
    true: World
    played: tuple[int, ...] = ()
    leaders: tuple[int, ...] = ()
    bidding: bool = False

    @property
    def knows_trump(self) -> bool:
        """Whether the seat may know what is trump: the dealer does, and all do after the bids."""
        return not self.bidding or self.seat == self.dealer

    @property
    def sees_bids(self) -> bool:
        """Whether the bids of others lie open for the seat."""
        return bool(getattr(self.rules, "open_bids", False)) and not self.bidding


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a hidden card lies: with a seat, in its hand or its bid; with nobody if undealt."""

    owner: int | None
    in_bid: bool = False


class Redealing:
    """The other worlds of a moment; each `world` is drawn anew, and may be the true one."""

    def __init__(self, moment: Moment) -> None:
        self._moment = moment
        self._dealt = _hands(moment.rules, moment.dealer, moment.true.deck)
        self._plays = _by_seat(moment)
        self._voids = _voids(moment)
        self._places: list[_Place] = []
        self._cards: list[int] = []
        self._hide()

    @property
    def hidden(self) -> int:
        """How many cards the seat cannot place."""
        return len(self._cards)

    def world(self, draw: Random) -> World:
        """Cards as they might lie for all that the seat knows."""
        while True:
            self._exchange(draw)
            if (deck := self._deck(draw)) is not None:
                return World(deck, self._bids())

    def _hide(self) -> None:
        moment = self._moment
        used = moment.rules.hand_size * moment.rules.players
        for card in moment.true.deck[used:]:
            self._put(card, _Place(None))
        for seat, dealt in enumerate(self._dealt):
            if seat == moment.seat:
                continue
            bid = moment.true.bids[seat] if moment.true.bids else ()
            for card in dealt:
                open_bid = card in bid and moment.sees_bids
                if card not in self._plays[seat] and not open_bid:
                    self._put(card, _Place(seat, card in bid))

    def _put(self, card: int, place: _Place) -> None:
        self._cards.append(card)
        self._places.append(place)

    def _exchange(self, draw: Random) -> None:
        """Walks from one admissible way to another, two cards at a time."""
        cards, places = self._cards, self._places
        for _ in range(EXCHANGES * len(cards)):
            a, b = draw.randrange(len(cards)), draw.randrange(len(cards))
            if self._may_lie(cards[a], places[b]) and self._may_lie(cards[b], places[a]):
                cards[a], cards[b] = cards[b], cards[a]

    def _may_lie(self, card: int, place: _Place) -> bool:
        """A hand that could not follow a suit holds none of it; a bid had left it by then."""
        owner = place.owner
        return owner is None or place.in_bid or suit_of(card) not in self._voids[owner]

    def _bids(self) -> tuple[tuple[int, ...], ...]:
        moment = self._moment
        bids = [list(bid) for bid in moment.true.bids]
        for seat in range(len(bids)):
            if seat != moment.seat and not moment.sees_bids:
                bids[seat] = [
                    card
                    for card, place in zip(self._cards, self._places, strict=True)
                    if place.owner == seat and place.in_bid
                ]
        return tuple(tuple(sorted(bid)) for bid in bids)

    def _deck(self, draw: Random) -> tuple[int, ...] | None:
        """The pack in an order that deals these hands; None if none makes the trump that is
        known."""
        moment, rules = self._moment, self._moment.rules
        deck = list(moment.true.deck)
        used = rules.hand_size * rules.players
        for seat in range(rules.players):
            hand = self._hand(seat)
            draw.shuffle(hand)
            if seat == moment.dealer and rules.bid_cards and not self._deal_last(hand, draw):
                return None
            deck[(seat - moment.dealer - 1) % rules.players : used : rules.players] = hand
        deck[used:] = [
            card
            for card, place in zip(self._cards, self._places, strict=True)
            if place.owner is None
        ]
        return tuple(deck)

    def _hand(self, seat: int) -> list[int]:
        """All cards dealt to a seat in this world."""
        moment = self._moment
        if seat == moment.seat:
            return list(self._dealt[seat])
        hidden = [
            card
            for card, place in zip(self._cards, self._places, strict=True)
            if place.owner == seat
        ]
        known = list(self._plays[seat])
        if moment.sees_bids:
            known += moment.true.bids[seat]
        return known + hidden

    def _deal_last(self, hand: list[int], draw: Random) -> bool:
        """Puts a card at the end of the dealer's hand that may make trump; whether there is one."""
        moment, last = self._moment, self._moment.true.deck[-1]
        if moment.seat == moment.dealer:
            fitting = [last]
        elif moment.knows_trump:
            fitting = [card for card in hand if suit_of(card) == suit_of(last)]
        else:
            fitting = list(hand)
        if not fitting:
            return False
        chosen = draw.choice(fitting)
        hand.remove(chosen)
        hand.append(chosen)
        return True


def _hands(rules: Rules, dealer: int, deck: Sequence[int]) -> list[tuple[int, ...]]:
    """Each seat's cards, by the rule: one at a time, from the dealer's left."""
    used, n = rules.hand_size * rules.players, rules.players
    return [tuple(deck[(seat - dealer - 1) % n : used : n]) for seat in range(n)]


def _by_seat(moment: Moment) -> dict[int, list[int]]:
    """The cards that each seat has played."""
    plays: dict[int, list[int]] = defaultdict(list)
    for number, card in enumerate(moment.played):
        plays[_player(moment, number)].append(card)
    return plays


def _player(moment: Moment, number: int) -> int:
    n = moment.rules.players
    return (moment.leaders[number // n] + number % n) % n


def _voids(moment: Moment) -> dict[int, set[int]]:
    """The suits that each seat could not follow."""
    voids: dict[int, set[int]] = defaultdict(set)
    for number, card in enumerate(moment.played):
        led = suit_of(moment.played[number - number % moment.rules.players])
        if suit_of(card) != led:
            voids[_player(moment, number)].add(led)
    return voids

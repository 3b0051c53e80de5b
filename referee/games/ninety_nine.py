"""Ninety-Nine: bid with three cards, then take exactly so many tricks.

Section 3 of docs/rules.md. The dealer's last card fixes the trump suit at the deal; only the
dealer knows it before every bid is made (N-06, N-07).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from referee.games.cards import ACE, DIAMONDS, FIVE, SEVEN, suit_of
from referee.games.deal import CARD_BYTES, Deal, IllegalMove
from referee.games.rules import MAX_POINTS, Rules, check_by_suit, check_whole, require
from referee.games.view import Phase

BID_CARDS = 3
_BID, _PLAY, _DONE = Phase


@dataclass(frozen=True, slots=True, kw_only=True)
class NinetyNineRules(Rules):
    """The rules of Ninety-Nine: what bids stand for, what success is worth, who sees bids."""

    game: ClassVar[str] = "ninety-nine"

    ranks: tuple[int, ...] = (FIVE, *range(SEVEN, ACE + 1))
    """The ranks in the pack, lowest first; 0 is the two. There is no six (N-01)."""
    max_deals: int = 120
    """Deals after which the match ends at the latest (N-10)."""
    target: int | None = 100
    """Total that ends the match after the deal that reached it, if any."""
    bid_values: tuple[int, ...] = (3, 0, 2, 1)
    """Tricks that a bid card of clubs, diamonds, hearts, spades stands for."""
    success_bonus: int = 10
    """Points for taking exactly the tricks bid, beside one for each of them."""
    zero_bonus: int = 30
    """Points for bidding no trick and taking none (N-18)."""
    open_bids: bool = False
    """Whether the bids are turned up as soon as all are made (N-13)."""

    def validate(self) -> None:
        """Raise RulesError unless the fields make sense, alone and together."""
        Rules.validate(self)
        require(
            4 * len(self.ranks) % self.players == 0 and self.hand_size > BID_CARDS,
            f"{4 * len(self.ranks)} cards cannot be dealt to {self.players} seats evenly, "
            f"more than {BID_CARDS} each: change ranks or players",
        )
        check_by_suit("bid_values", self.bid_values, 0, MAX_POINTS)
        check_whole("success_bonus", self.success_bonus, 0, MAX_POINTS)
        check_whole("zero_bonus", self.zero_bonus, 0, MAX_POINTS)
        require(
            type(self.open_bids) is bool, f"open_bids must be true or false, not {self.open_bids!r}"
        )

    @property
    def bid_cards(self) -> int:
        """Cards that make a bid."""
        return BID_CARDS

    def deal(self, dealer: int, deck: Sequence[int]) -> NinetyNineDeal:
        """Deal a shuffled pack one card at a time, from the dealer's left (N-20)."""
        return NinetyNineDeal(self, dealer, deck)

    def bid_of(self, cards: Iterable[int]) -> int:
        """The tricks that bid cards stand for."""
        return sum([self.bid_values[suit_of(card)] for card in cards])

    def score(self, bid: int, tricks: int) -> int:
        """A deal's points for a side (a seat, or a team by its sums: N-03, N-04)."""
        if tricks != bid:
            return 0
        return self.success_bonus + bid if bid else self.zero_bonus

    def deal_scores(self, bids: Sequence[int], tricks: Sequence[int]) -> tuple[int, ...]:
        """A deal's points by seat, from each seat's bid and tricks; partners show the same."""
        sides = list(map(self.team_of, range(self.players)))
        bid, won = [0] * self.players, [0] * self.players
        for seat, side in enumerate(sides):
            bid[side] += bids[seat]
            won[side] += tricks[seat]
        return tuple(self.score(bid[side], won[side]) for side in sides)


class NinetyNineDeal(Deal):
    """A deal of Ninety-Nine: every seat bids, in any order, then the tricks are played."""

    __slots__ = ()

    rules: NinetyNineRules

    def __init__(self, rules: NinetyNineRules, dealer: int, deck: Sequence[int]) -> None:
        super().__init__(rules, dealer, deck)
        suit = suit_of(self.deck[-1])
        self.trump = None if suit == DIAMONDS else suit
        self.phase = _BID
        self.choose = BID_CARDS
        self.pending = tuple(range(rules.players))

    def bid(self, seat: int, cards: Sequence[int]) -> None:
        """Bid these cards; IllegalMove leaves the deal as it was."""
        if self.phase is not _BID:
            raise IllegalMove("bids are over")
        if seat not in self.pending or len(cards) != BID_CARDS:
            raise IllegalMove(self.objection(seat, cards))
        hand = self._hands[seat].copy()
        try:
            for card in cards:
                one = CARD_BYTES[card]
                hand[card // 13] = hand[card // 13].replace(one, b"")
        except KeyError:
            raise IllegalMove(self.objection(seat, cards)) from None
        if len(b"".join(hand)) * len(self._hands) != self._plays:
            raise IllegalMove(self.objection(seat, cards))
        self._hands[seat] = hand
        self.bids[seat] = tuple(sorted(cards))
        place = self.pending.index(seat)
        self.pending = self.pending[:place] + self.pending[place + 1 :]
        if not self.pending:
            self._start_play()

    def trump_known(self, seat: int) -> bool:
        """Whether a seat knows what is trump: the dealer always, all others after the bids."""
        return seat == self.dealer or self.phase is not _BID

    def last_dealt(self, seat: int) -> int | None:
        """The card that makes trump, which only the dealer may know (N-07)."""
        return self.deck[-1] if seat == self.dealer else None

    def visible_bids(self, seat: int) -> tuple[tuple[int, ...] | None, ...]:
        """By seat, the other seats' bids that are turned up (rule 11, N-13)."""
        if self.phase is _BID or not (self.rules.open_bids or self.phase is _DONE):
            return super().visible_bids(seat)
        return (*self.bids[:seat], None, *self.bids[seat + 1 :])

    def _scores(self) -> tuple[int, ...]:
        bids = [self.rules.bid_of(bid or ()) for bid in self.bids]
        return self.rules.deal_scores(bids, self.tricks_won)

"""Yours: choose a bid, choose a card."""

from collections.abc import Sequence
from itertools import combinations

from knavery import JACK, KING, Bot, Card, View, serve


def rank(card: Card) -> int:
    return card.rank


class Starter(Bot):
    def bid(self, view: View) -> Sequence[Card]:
        """Ninety-Nine: as many tricks as the hand has aces and kings, with its lowest cards."""
        sure = sum(card.rank >= KING for card in view.hand)

        def misfit(cards: Sequence[Card]) -> tuple[int, int]:
            return abs(view.rules.bid_of(cards) - sure), sum(map(rank, cards))

        return min(combinations(view.hand, view.choose), key=misfit)

    def play(self, view: View) -> Card:
        if self.wants(view):
            winners = [card for card in view.legal if view.takes(card)]
            if winners:
                return max(winners, key=rank)
            return min(view.legal, key=rank)
        losers = [card for card in view.legal if not view.takes(card)]
        return max(losers, key=rank) if losers else min(view.legal, key=rank)

    def wants(self, view: View) -> bool:
        """Knave: tricks without a jack. Ninety-Nine: tricks up to the bid."""
        if view.bid is not None:
            return view.tricks_won[view.seat] < view.rules.bid_of(view.bid)
        return all(card.rank != JACK for card in view.trick)


if __name__ == "__main__":
    serve(Starter)

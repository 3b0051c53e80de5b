"""Takes what it can: wins each trick that it is able to win, as cheaply as is safe.

It bids as many tricks as it holds aces and kings, and so hands in its low cards.
"""

from collections.abc import Sequence
from itertools import combinations

from knavery import KING, Bot, Card, View, serve


def rank(card: Card) -> int:
    return card.rank


class Greedy(Bot):
    def bid(self, view: View) -> Sequence[Card]:
        tops = sum(card.rank >= KING for card in view.hand)

        def misfit(cards: Sequence[Card]) -> tuple[int, int]:
            return abs(view.rules.bid_of(cards) - tops), sum(map(rank, cards))

        return min(combinations(view.hand, view.choose), key=misfit)

    def play(self, view: View) -> Card:
        winners = [card for card in view.legal if view.takes(card)]
        if not winners:
            return min(view.legal, key=rank)
        is_last = len(view.trick) == view.players - 1
        return min(winners, key=rank) if is_last else max(winners, key=rank)


if __name__ == "__main__":
    serve(Greedy)

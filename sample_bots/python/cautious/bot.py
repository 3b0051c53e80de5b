"""Avoids what it can: loses each trick that it is able to lose, with the highest card that does.

It bids as few tricks as its hand allows, and so hands in its high diamonds.
"""

from collections.abc import Sequence

from knavery import Bot, Card, View, serve


def rank(card: Card) -> int:
    return card.rank


class Cautious(Bot):
    def bid(self, view: View) -> Sequence[Card]:
        def cost(card: Card) -> tuple[int, int]:
            return view.rules.bid_values[card.suit], -card.rank

        return sorted(view.hand, key=cost)[: view.choose]

    def play(self, view: View) -> Card:
        losers = [card for card in view.legal if not view.takes(card)]
        return max(losers, key=rank) if losers else min(view.legal, key=rank)


if __name__ == "__main__":
    serve(Cautious)

"""Plays the lowest legal card and bids the three lowest."""

from collections.abc import Sequence

from knavery import Bot, Card, View, serve


def rank(card: Card) -> int:
    return card.rank


class Lowest(Bot):
    def bid(self, view: View) -> Sequence[Card]:
        return sorted(view.hand, key=rank)[: view.choose]

    def play(self, view: View) -> Card:
        return min(view.legal, key=rank)


if __name__ == "__main__":
    serve(Lowest)

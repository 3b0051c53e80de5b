"""Plays the highest legal card and bids the three highest."""

from collections.abc import Sequence

from knavery import Bot, Card, View, serve


def rank(card: Card) -> int:
    return card.rank


class Highest(Bot):
    def bid(self, view: View) -> Sequence[Card]:
        return sorted(view.hand, key=rank)[-view.choose :]

    def play(self, view: View) -> Card:
        return max(view.legal, key=rank)


if __name__ == "__main__":
    serve(Highest)

"""Plays any legal card and bids any three: what every other bot should beat."""

from collections.abc import Sequence

from knavery import Bot, Card, View, serve


class Random(Bot):
    def bid(self, view: View) -> Sequence[Card]:
        return self.rng.sample(view.hand, view.choose)

    def play(self, view: View) -> Card:
        return self.rng.choice(view.legal)


if __name__ == "__main__":
    serve(Random)

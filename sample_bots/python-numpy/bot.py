"""Gets rid of its high cards below the winning one, for all tables at once with numpy.

Not strong: it shows a bot with a requirements.txt that decides in batches, as a neural one would.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from knavery import KING, Bot, Card, View, serve

RANKS = np.arange(52) % 13


class Vectors(Bot):
    def bid(self, view: View) -> Sequence[Card]:
        """As many tricks as the hand has aces and kings, with its lowest cards."""
        places = np.array(list(combinations(range(len(view.hand)), view.choose)))
        hand = np.array(view.hand)
        tricks = np.array(view.rules.bid_values)[hand // 13][places].sum(axis=1)
        height = RANKS[hand][places].sum(axis=1)
        off = np.abs(tricks - np.count_nonzero(RANKS[hand] >= KING))
        return [view.hand[place] for place in places[np.argmin(100 * off + height)]]

    @classmethod
    def play_batch(cls, views: Sequence[View]) -> Sequence[Card]:
        """A row for each table and a column for each card: the best of each row is played."""
        worth = np.full((len(views), 52), -np.inf)
        for row, view in zip(worth, views, strict=True):
            legal = np.array(view.legal)
            takes = np.array([view.takes(card) for card in view.legal])
            row[legal] = np.where(takes, -RANKS[legal], 100 + RANKS[legal])
        return [Card(int(card)) for card in worth.argmax(axis=1)]


if __name__ == "__main__":
    serve(Vectors)

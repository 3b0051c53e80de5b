"""Follows the advice that the rules give to players of both games, point by point.

`knave.py` and `ninety_nine.py` hold one function for each point, which cites its sentence;
`facts.py` counts the hidden cards for them.
"""

from collections.abc import Sequence

from knavery import Bot, Card, View, serve

import knave
import ninety_nine


class Advice(Bot):
    def bid(self, view: View) -> Sequence[Card]:
        return ninety_nine.choose_bid(view)

    def play(self, view: View) -> Card:
        if len(view.legal) == 1:
            return view.legal[0]
        if view.game == "knave":
            return knave.choose_card(view)
        return ninety_nine.choose_card(view)


if __name__ == "__main__":
    serve(Advice)

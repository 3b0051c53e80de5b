"""Questions to the bot, each a position made by hand: `python -m unittest`."""

import unittest

import knavery
from knavery import Card, sketch

from bot import Starter


class Playing(unittest.TestCase):
    def test_it_takes_a_trick_without_a_jack(self) -> None:
        view = sketch("2H QH AH", "KH 5H")
        assert Starter().play(view) == Card("AH")

    def test_it_leaves_a_trick_with_a_jack(self) -> None:
        view = sketch("2H TH AH", "JH 5H")
        assert Starter().play(view) == Card("TH")

    def test_it_bids_what_its_high_cards_promise(self) -> None:
        view = sketch("5C 7D 8D 9D AS KS", game="ninety-nine", bidding=True, trump=None)
        assert view.rules.bid_of(Starter().bid(view)) == 2

    def test_it_plays_both_games(self) -> None:
        for game in ("knave", "ninety-nine"):
            result = knavery.play([Starter, "random", "random"], game=game, seed=1)
            assert not result.faults, result.trouble


if __name__ == "__main__":
    unittest.main()

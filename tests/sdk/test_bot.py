"""The base class of bots."""

import random
from typing import Any

import pytest

from knavery import Bot, MatchInfo, View, sketch
from referee.games.registry import make_rules


def info(seed: int = 5) -> MatchInfo:
    return MatchInfo(
        match="m",
        rules=make_rules("knave"),
        seat=1,
        time_limit=2.0,
        bank=10.0,
        increment=0.0,
        seed=seed,
        fault_limit=5,
        faults=0,
        resumed=False,
    )


class First(Bot):
    def play(self, view: View) -> Any:
        return view.legal[0]


def test_the_match_is_known_while_the_object_is_made() -> None:
    class Early(Bot):
        def __init__(self) -> None:
            self.drawn = self.rng.random()
            self.at = self.info.seat

    bot = Early.sit_down(info())
    assert (bot.drawn, bot.at) == (random.Random(5).random(), 1)


def test_randomness_repeats_with_the_match() -> None:
    draws = [First.sit_down(info(seed)).rng.random() for seed in (1, 1, 2)]
    assert draws[0] == draws[1] != draws[2]


def test_a_bot_made_by_hand_plays_a_sketch() -> None:
    assert str(First().play(sketch("7H QS"))) == "7H"
    assert First().rng.random() == random.Random(0).random()


def test_what_a_bot_does_not_do_says_so() -> None:
    with pytest.raises(NotImplementedError, match=r"First has no bid\(self, view\)"):
        First().bid(sketch("7H QS"))
    with pytest.raises(NotImplementedError, match=r"Bot has no play\(self, view\)"):
        Bot().play(sketch("7H QS"))


def test_a_batch_is_by_default_one_after_the_other() -> None:
    bots = [First(), First()]
    views = [View(sketch("7H")._decision, bots[0]), View(sketch("2C")._decision, bots[1])]
    assert [str(card) for card in First.play_batch(views)] == ["7H", "2C"]


def test_a_batch_method_must_be_a_class_method() -> None:
    with pytest.raises(TypeError, match="write @classmethod above it"):

        class _Wrong(Bot):
            def play_batch(self, views: Any) -> Any:  # type: ignore[override]
                return views


def test_games_are_a_list_of_names() -> None:
    with pytest.raises(TypeError, match=r"write games = \('knave',\)"):

        class _Wrong(Bot):
            games = "knave"

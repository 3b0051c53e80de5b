"""Every bot that is shipped in Python."""

from __future__ import annotations

from itertools import islice

import pytest

import knavery
from knavery import Card, View, sketch
from knavery.shipped import names, shipped_bot
from referee.bots import load
from referee.games.registry import GAMES, make_rules, variants


def play(bot: str, view: View) -> str:
    return str(Card(shipped_bot(bot)().play(view)))


def bid(bot: str, hand: str) -> set[str]:
    view = sketch(hand, game="ninety-nine", trump=None, bidding=True)
    return set(map(str, shipped_bot(bot)().bid(view)))


@pytest.mark.parametrize(("game", "variant"), [(g, v) for g in GAMES for v in variants(g)])
def test_each_plays_every_variant_without_a_fault(game: str, variant: str) -> None:
    seats = make_rules(game, variant).players
    waiting = iter(names() * 2)
    played: set[str] = set()
    while played < set(names()):
        table = list(islice(waiting, seats))
        result = knavery.play(table, game, variant)
        assert (result.faults, result.trouble) == ((), ())
        played.update(table)


@pytest.mark.parametrize("name", names())
def test_each_is_a_folder_that_can_be_entered(name: str) -> None:
    bot = load(name)
    assert (bot.name, bot.run, set(bot.games)) == (name, ("python", "bot.py"), set(GAMES))
    assert bot.author


@pytest.mark.parametrize("name", names())
def test_each_says_what_it_does(name: str) -> None:
    folder = load(name).source
    assert (folder / "bot.py").read_text().startswith('"""')
    for path in folder.glob("*.py"):
        assert len(path.read_text().splitlines()) <= 400


def test_random_repeats_with_its_seed() -> None:
    view = sketch("2C 7H QS AS")
    assert play("random", view) == play("random", view)
    assert bid("random", "5C 7C 8C 9C") < {"5C", "7C", "8C", "9C"}


def test_lowest_and_highest() -> None:
    view = sketch("2S 7H KC")
    assert (play("lowest", view), play("highest", view)) == ("2S", "KC")
    assert bid("lowest", "AC KD 5H 7S 8S") == {"5H", "7S", "8S"}
    assert bid("highest", "AC KD 5H 7S 8S") == {"AC", "KD", "8S"}


def test_greedy_takes_what_it_can() -> None:
    assert play("greedy", sketch("2H TH AH", "9H")) == "AH"
    assert play("greedy", sketch("2H TH AH", "9H 3H")) == "TH"
    assert play("greedy", sketch("2H 3H", "9H 4H")) == "2H"
    assert play("greedy", sketch("2H AH")) == "AH"
    assert bid("greedy", "5C KC AC 5D 7D 9H") == {"5D", "7D", "9H"}


def test_cautious_avoids_what_it_can() -> None:
    assert play("cautious", sketch("2H 8H AH", "9H")) == "8H"
    assert play("cautious", sketch("TH AH", "9H")) == "TH"
    assert play("cautious", sketch("2S KS", "9H")) == "KS"
    assert bid("cautious", "AC 5D 9D KD AD 5S") == {"9D", "KD", "AD"}
    assert bid("cautious", "AC 5D 5S AS AH") == {"5D", "5S", "AS"}


def test_advice_plays_its_only_card() -> None:
    assert play("advice", sketch("2H AS", "9H")) == "2H"

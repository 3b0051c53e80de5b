"""Rules as values: frozen, picklable, and refused with one clear line when they make no sense."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError, replace

import pytest

from referee.games.knave import KnaveRules
from referee.games.ninety_nine import NinetyNineRules
from referee.games.registry import make_rules
from referee.games.rules import Rules, RulesError
from tests.games.table import every_rules, named

every_variant = pytest.mark.parametrize("rules", every_rules(), ids=named)


@every_variant
def test_rules_are_values(rules: Rules) -> None:
    assert pickle.loads(pickle.dumps(rules)) == rules
    assert replace(rules) == rules
    assert hash(replace(rules)) == hash(rules)
    assert replace(rules, max_deals=3) != rules
    with pytest.raises(FrozenInstanceError):
        rules.players = 3  # type: ignore[misc]


@every_variant
def test_hands_and_tricks_fit_the_pack(rules: Rules) -> None:
    assert rules.tricks == rules.hand_size - rules.bid_cards
    left = len(rules.pack) - rules.players * rules.hand_size
    assert left == (1 if rules.game == "knave" and rules.players == 3 else 0)


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"players": 2}, "players must be a whole number from 3 to 4, not 2"),
        ({"players": 3.0}, "players must be a whole number from 3 to 4, not 3.0"),
        ({"max_deals": 0}, "max_deals must be a whole number from 1 to 10000, not 0"),
        ({"target": 0}, "target must be a whole number from 1 to 1000000, not 0"),
        ({"target": True}, "target must be a whole number from 1 to 1000000, not True"),
        ({"ranks": (12, 11)}, "ranks must be numbers from 0 (two) to 12 (ace), rising, "),
        ({"ranks": (1, 1)}, "ranks must be numbers from 0 (two) to 12 (ace), rising, "),
        ({"ranks": (13,)}, "ranks must be numbers from 0 (two) to 12 (ace), rising, "),
        ({"ranks": ()}, "ranks must not be empty"),
        ({"teams": True}, "teams need 4 players: set players = 4"),
        ({"teams": True, "players": 4}, "Knave has no teams: leave teams false (K-09)"),
        ({"teams": 1}, "teams must be true or false, not 1"),
        ({"jacks": (1, 2, 3)}, "jacks must be four whole numbers, for clubs, diamonds, hearts, "),
        ({"queens": (1, 2, 3, 4.5)}, "queens (spades) must be a whole number from -1000 to 1000, "),
        ({"trick_value": "1"}, "trick_value must be a whole number from -1000 to 1000, not '1'"),
        ({"variant": ""}, "variant must be a name"),
    ],
)
def test_senseless_knave_rules_are_refused(fields: dict[str, object], line: str) -> None:
    with pytest.raises(RulesError) as error:
        KnaveRules(**fields)  # type: ignore[arg-type]
    assert str(error.value).startswith(line)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"ranks": tuple(range(13))}, "52 cards cannot be dealt to 3 seats evenly, more than 3 "),
        ({"ranks": ()}, "0 cards cannot be dealt to 3 seats evenly, more than 3 each"),
        ({"ranks": (1, 2, 3), "players": 4}, "12 cards cannot be dealt to 4 seats evenly, more "),
        ({"bid_values": (0, 1, 2, -1)}, "bid_values (spades) must be a whole number from 0 "),
        ({"success_bonus": -1}, "success_bonus must be a whole number from 0 to 1000, not -1"),
        ({"zero_bonus": None}, "zero_bonus must be a whole number from 0 to 1000, not None"),
        ({"open_bids": "yes"}, "open_bids must be true or false, not 'yes'"),
    ],
)
def test_senseless_ninety_nine_rules_are_refused(fields: dict[str, object], line: str) -> None:
    with pytest.raises(RulesError) as error:
        NinetyNineRules(**fields)  # type: ignore[arg-type]
    assert str(error.value).startswith(line)
    assert "\n" not in str(error.value)


def test_any_field_can_be_set_on_its_own() -> None:
    custom = make_rules("knave", "positive", queens=[-1, -1, -2, -2], target=40, max_deals=12)
    assert isinstance(custom, KnaveRules)
    assert custom.score(5, [48, 49]) == 4 - 2
    assert custom.over((40, 0, 0), 3)
    assert not custom.over((39, 0, 0), 11)

"""Names of games and variants, and rules made from them."""

from __future__ import annotations

import pytest

from referee.games.cards import RANKS
from referee.games.ninety_nine import NinetyNineRules
from referee.games.registry import GAMES, joined_variants, make_rules, variants
from referee.games.rules import RulesError

KNAVE = ("classic", "double", "positive", "four", "double+four", "positive+four")
NINETY_NINE = (
    "classic",
    "revelation",
    "short",
    "partnership",
    "revelation+short",
    "revelation+partnership",
    "short+partnership",
    "revelation+short+partnership",
)


def test_what_is_registered() -> None:
    assert list(GAMES) == ["knave", "ninety-nine"]
    assert variants("knave") == KNAVE[:4]
    assert variants("ninety-nine") == NINETY_NINE[:4]
    assert joined_variants("knave") == KNAVE
    assert joined_variants("ninety-nine") == NINETY_NINE


@pytest.mark.parametrize("game", GAMES)
def test_rules_bear_the_name_they_were_asked_by(game: str) -> None:
    for variant in joined_variants(game):
        rules = make_rules(game, variant)
        assert (rules.game, rules.variant) == (game, variant)
        assert isinstance(rules, GAMES[game])


def test_joined_names_may_come_in_any_order_and_classic_adds_nothing() -> None:
    assert make_rules("knave", "four+double") == make_rules("knave", "double+four")
    assert make_rules("knave", "classic+four") == make_rules("knave", "four")
    assert make_rules("ninety-nine") == make_rules("ninety-nine", "classic")


def test_a_joining_sets_the_fields_of_all_it_joins() -> None:
    rules = make_rules("ninety-nine", "short+revelation+partnership")
    assert isinstance(rules, NinetyNineRules)
    assert (rules.target, rules.players, rules.teams, rules.open_bids) == (50, 4, True, True)


def test_fields_override_the_variant() -> None:
    assert make_rules("knave", max_deals=12).max_deals == 12
    assert make_rules("ninety-nine", "short", target=30).target == 30
    assert make_rules("ninety-nine", ranks="6789TJQKA").ranks == tuple(range(4, 13))
    assert make_rules("ninety-nine", ranks=list(range(4, 13))).ranks == tuple(range(4, 13))


@pytest.mark.parametrize(
    ("game", "variant", "fields", "line"),
    [
        ("knav", "classic", {}, "there is no game 'knav': did you mean 'knave'?"),
        ("ninetynine", "classic", {}, "there is no game 'ninetynine': did you mean 'ninety-nine'?"),
        ("knave", "doubel", {}, "there is no variant of knave 'doubel': did you mean 'double'?"),
        ("knave", "four+", {}, "there is no variant of knave '': did you mean "),
        ("ninety-nine", "parlett", {}, "there is no variant of ninety-nine 'parlett': did you "),
        ("knave", "classic", {"targte": 3}, "there is no field of knave 'targte': did you mean "),
        ("knave", "classic", {"open_bids": True}, "there is no field of knave 'open_bids'"),
        ("knave", "double+positive", {}, "double and positive do not join: set the fields of one"),
        ("knave", "classic", {"ranks": "AKX"}, f"ranks may hold the letters {RANKS}, not 'AKX'"),
        ("knave", "classic", {"players": 5}, "players must be a whole number from 3 to 4, not 5"),
    ],
)
def test_what_is_unknown_is_named_with_the_nearest(
    game: str, variant: str, fields: dict[str, object], line: str
) -> None:
    with pytest.raises(RulesError) as error:
        make_rules(game, variant, **fields)
    assert str(error.value).startswith(line)
    assert "\n" not in str(error.value)

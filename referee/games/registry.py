"""The games and their named variants, and rules made from names: docs/rules.md, section 4."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from difflib import get_close_matches
from itertools import combinations
from types import MappingProxyType
from typing import Any

from referee.games.cards import RANKS, THREE
from referee.games.knave import KnaveRules
from referee.games.ninety_nine import NinetyNineRules
from referee.games.rules import Rules, RulesError

CLASSIC = "classic"

GAMES: Mapping[str, type[Rules]] = MappingProxyType(
    {rules.game: rules for rules in (KnaveRules, NinetyNineRules)}
)
"""Each game's rules by the game's name."""

_SETTINGS: Mapping[str, Mapping[str, Mapping[str, object]]] = {
    "knave": {
        CLASSIC: {},
        "double": {"queens": (-1, -1, -2, -2)},
        "positive": {"trick_value": 0, "jacks": (1, 2, 3, 4)},
        "four": {"players": 4},
    },
    "ninety-nine": {
        CLASSIC: {},
        "revelation": {"open_bids": True},
        "short": {"target": 50},
        "partnership": {"players": 4, "teams": True, "ranks": tuple(range(THREE, len(RANKS)))},
    },
}
"""By game and variant, the fields that differ from the classic rules."""

_APART = frozenset({("double", "positive")})
"""Variants that do not join: what queens cost where jacks pay is a custom table (K-07)."""


def variants(game: str) -> tuple[str, ...]:
    """The names of a game's variants, classic first; each may join others: `joined_variants`."""
    return tuple(_SETTINGS[_known("game", game, GAMES)])


def joined_variants(game: str) -> tuple[str, ...]:
    """Every variant of a game and every joining of them, as `make_rules` spells them."""
    names = variants(game)[1:]
    joined = [
        chosen
        for size in range(1, len(names) + 1)
        for chosen in combinations(names, size)
        if not _apart(chosen)
    ]
    return (CLASSIC, *map("+".join, joined))


def make_rules(game: str, variant: str = CLASSIC, **overrides: object) -> Rules:
    """The rules of a game's variant, or of several joined by "+", with some fields set otherwise.

    Lists count as tuples, and `ranks` may be a text such as "6789TJQKA". RulesError names an
    unknown game, variant or field with the nearest that exists, and a value that makes no sense.
    """
    rules = GAMES[_known("game", game, GAMES)]
    known = variants(game)
    asked = {_known(f"variant of {game}", name, known) for name in variant.split("+")}
    chosen = [name for name in known if name in asked and name != CLASSIC]
    apart = _apart(chosen)
    if apart:
        raise RulesError(f"{apart[0]} and {apart[1]} do not join: set the fields of one by hand")
    settings: dict[str, Any] = {"variant": "+".join(chosen) or CLASSIC}
    for name in chosen:
        settings |= _SETTINGS[game][name]
    names = [field.name for field in fields(rules) if field.name != "variant"]
    for name, value in overrides.items():
        settings[_known(f"field of {game}", name, names)] = _plain(name, value)
    return rules(**settings)


def _apart(chosen: Sequence[str]) -> tuple[str, str] | None:
    return next((pair for pair in _APART if set(pair) <= set(chosen)), None)


def _known(kind: str, name: str, names: Mapping[str, object] | Sequence[str]) -> str:
    if name in names:
        return name
    near = get_close_matches(name, names, n=1, cutoff=0)
    raise RulesError(
        f"there is no {kind} {name!r}: did you mean {near[0]!r}? Known: {', '.join(names)}"
    )


def _plain(name: str, value: object) -> object:
    if name == "ranks" and isinstance(value, str):
        return _ranks(value)
    return tuple(value) if isinstance(value, list) else value


def _ranks(value: str) -> tuple[int, ...]:
    if not set(value) <= set(RANKS):
        raise RulesError(f"ranks may hold the letters {RANKS}, not {value!r}")
    return tuple(map(RANKS.index, value))

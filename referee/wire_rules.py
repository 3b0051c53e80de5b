"""Rules <-> protobuf: the part of `wire.py` that bots need too, apart so that they start fast."""

from dataclasses import fields
from functools import lru_cache
from typing import Any

from google.protobuf.message import Message

from knavery.v1 import game_pb2 as game
from referee.games.knave import KnaveRules
from referee.games.ninety_nine import NinetyNineRules
from referee.games.rules import Rules


@lru_cache(maxsize=64)
def rules_message(rules: Rules) -> game.Rules:
    """The rules as a message. Not to be changed: it is shared."""
    message = game.Rules(
        variant=rules.variant,
        players=rules.players,
        ranks=rules.ranks,
        max_deals=rules.max_deals,
        target=rules.target,
        teams=rules.teams,
    )
    if isinstance(rules, KnaveRules):
        message.knave.trick_value = rules.trick_value
        message.knave.jacks.extend(rules.jacks)
        message.knave.queens.extend(rules.queens)
    elif isinstance(rules, NinetyNineRules):
        own = message.ninety_nine
        own.bid_values.extend(rules.bid_values)
        own.bid_cards = rules.bid_cards
        own.success_bonus = rules.success_bonus
        own.zero_bonus = rules.zero_bonus
        own.open_bids = rules.open_bids
    return message


@lru_cache(maxsize=64)
def _rules_from(raw: bytes) -> Rules:
    message = game.Rules.FromString(raw)
    common: dict[str, Any] = {
        "variant": message.variant,
        "players": message.players,
        "ranks": tuple(message.ranks),
        "max_deals": message.max_deals,
        "target": message.target if message.HasField("target") else None,
        "teams": message.teams,
    }
    if message.HasField("knave"):
        return KnaveRules(**common, **_plain(message.knave, KnaveRules))
    if message.HasField("ninety_nine"):
        return NinetyNineRules(**common, **_plain(message.ninety_nine, NinetyNineRules))
    raise ValueError("a game that this version does not know")


def _plain(message: Message, rules: type[Rules]) -> dict[str, Any]:
    """The fields that a message and the rules have in common, by name."""
    names = {field.name for field in fields(rules)} & set(message.DESCRIPTOR.fields_by_name)
    values = {name: getattr(message, name) for name in names}
    return {
        name: value if isinstance(value, int) else tuple(value) for name, value in values.items()
    }


def rules_from(message: game.Rules) -> Rules:
    """The rules of a message; equal messages give the same object. ValueError: unknown game."""
    return _rules_from(message.SerializeToString(deterministic=True))

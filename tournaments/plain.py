"""Rules as JSON and back, the one way in which JSON is written where bytes are hashed, and what
people read: counts in words, names of files, commands to copy."""

import dataclasses
import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from referee.games.registry import GAMES
from referee.games.rules import Rules


def canonical(value: object) -> str:
    """The value's only JSON text here: ASCII, keys sorted, no spaces; NaN raises ValueError."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def settings(value: Any) -> dict[str, Any]:
    """The fields of a dataclass of settings. One that came after the first files and their
    commitments (`referee.match.LATER`) is there only where it is not at its default, so that what
    was written before it still reads, and hashes, as it did."""
    return {
        each.name: getattr(value, each.name)
        for each in dataclasses.fields(value)
        if not (each.metadata.get("later") and getattr(value, each.name) == each.default)
    }


def rules_to_plain(rules: Rules) -> dict[str, Any]:
    """Every field of the rules, and the game."""
    fields = dataclasses.asdict(rules)
    plain = {name: list(v) if isinstance(v, tuple) else v for name, v in fields.items()}
    return {"game": rules.game, **plain}


def rules_from_plain(plain: Mapping[str, Any]) -> Rules:
    """The rules that `rules_to_plain` wrote; RulesError when they make no sense."""
    fields: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in plain.items()
        if name != "game"
    }
    return GAMES[plain["game"]](**fields)


def counted(count: int, thing: str, things: str = "") -> str:
    """A count with its noun: "1 block", "1,200 blocks"; `things` where an s does not do."""
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {things or thing + 's'}"


def harmless(path: Path | str) -> str:
    """A path for a terminal: whoever packed a folder may have named it to do harm there."""
    from referee.process import printable

    return printable(str(path)).replace("\n", "\ufffd")


def command(*words: str | Path) -> str:
    """A command to copy, in backquotes: a blank in the name of a file does not make two of it."""
    return f"`{harmless(shlex.join(map(str, words)))}`"

"""TOML read key by key, with errors that say where: file, line, key, what is wrong, the mend."""

import difflib
import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Place = tuple[str, ...]
"""Where a value is: the keys that lead to it, from the top; places in lists as digits."""

_HEADER = re.compile(r"\s*\[(\[?)([^\[\]]+)\]")
_NAME = r"""(?:[\w-]+|"[^"]*"|'[^']*')"""
_ASSIGNMENT = re.compile(rf"\s*({_NAME}(?:\s*\.\s*{_NAME})*)\s*=")
_SYNTAX = re.compile(r"(.*) \(at (?:line (\d+), column \d+|end of document)\)")


class ConfigError(ValueError):
    """A file that describes no tournament; the message is one line for its author."""


class Document:
    """A TOML file; `keys` says which tables it may have, and which keys each of them."""

    def __init__(self, path: Path, text: str, keys: Mapping[str, Sequence[str]]) -> None:
        self.path = path
        self._keys = keys
        self._lines = key_lines(text)
        try:
            self._values = tomllib.loads(text)
        except tomllib.TOMLDecodeError as exc:
            raise self._syntax_error(str(exc)) from exc
        self.check((), self._values, tuple(keys))

    def table(self, name: str) -> "Table":
        """The table of this name; an empty one where the file has none."""
        return Table(self, (name,), self._values.get(name, {}), self._keys[name])

    def entries(self, name: str) -> "tuple[Entry, ...]":
        """What the list of this name holds; nothing where the file has none."""
        values = self._values.get(name, [])
        if not isinstance(values, list):
            raise self.error((name,), f'must be a list: {name} = ["...", ...], or [[{name}]] each')
        return tuple(Entry(self, (name, str(n)), value) for n, value in enumerate(values))

    def keys_of(self, name: str) -> Sequence[str]:
        """The keys that a table may have."""
        return self._keys[name]

    def check(self, place: Place, values: Mapping[str, Any], known: Collection[str]) -> None:
        """ConfigError for a key that the table at `place` may not have."""
        for key in values:
            if key not in known:
                raise self.error((*place, key), f"there is no such key: {self._mend(key, known)}")

    def error(self, place: Place, what: str) -> ConfigError:
        """The error of a value, with the line of the nearest key around it that a scan finds."""
        ends = range(len(place), 0, -1)
        line = next((self._lines[place[:end]] for end in ends if place[:end] in self._lines), None)
        where = f"{self.path}:{line}" if line else f"{self.path}"
        key = "".join(f"[{part}]" if part.isdigit() else f".{part}" for part in place)
        return ConfigError(f"{where}: {key.removeprefix('.')}: {what}")

    def _mend(self, key: str, known: Collection[str]) -> str:
        home = [table for table, keys in self._keys.items() if key in keys]
        if key in self._keys:
            return "write it above the first [table], or as a table of its own"
        if near := difflib.get_close_matches(key, known, 1):
            return f'did you mean "{near[0]}"?'
        if home:
            return f"it belongs under [{home[0]}]"
        return f"here may be {', '.join(known)}"

    def _syntax_error(self, message: str) -> ConfigError:
        found = _SYNTAX.fullmatch(message)
        what, line = found.groups() if found else (message, None)
        where = f"{self.path}:{line}" if line else f"{self.path}"
        return ConfigError(f"{where}: is not TOML: {what[:1].lower()}{what[1:]}")


@dataclass(frozen=True, slots=True)
class Entry:
    """A value in a list of the file: a text, or a table."""

    document: Document
    place: Place
    value: Any

    def table(self) -> "Table":
        """The value as a table, whose keys are those of the list."""
        return Table(self.document, self.place, self.value, self.document.keys_of(self.place[0]))

    def error(self, what: str) -> ConfigError:
        """An error about this value."""
        return self.document.error(self.place, what)


class Table:
    """A table of the file. Each method reads a key, or raises ConfigError about it."""

    def __init__(self, document: Document, place: Place, values: Any, known: Sequence[str]) -> None:
        self._document = document
        self._place = place
        if not isinstance(values, dict):
            raise document.error(
                place, f"must be a table: write {self._header} on a line before it"
            )
        document.check(place, values, known)
        self.values: Mapping[str, Any] = values

    @property
    def _header(self) -> str:
        name = f"[{self._place[0]}]"
        return name if len(self._place) == 1 else f"[{name}]"

    def error(self, key: str, what: str, *inner: str) -> ConfigError:
        """An error about a key, or about one in the table that is its value."""
        return self._document.error((*self._place, key, *inner), what)

    def text(self, key: str, default: str | None) -> str:
        """A text; without a default the key must be there."""
        value = self.values.get(key, default)
        if value is None:
            raise self.error(key, f'is missing: write {key} = "..." under {self._header}')
        if not isinstance(value, str):
            raise self.error(key, f"must be a text in quotes, not {_shown(value)}")
        return value

    def choice(self, key: str, choices: Sequence[str], default: str) -> str:
        """One of some words."""
        value = self.text(key, default)
        if value not in choices:
            words = " or ".join(f'"{word}"' for word in choices)
            raise self.error(key, f"must be {words}, not {_shown(value)}")
        return value

    def flag(self, key: str, default: bool) -> bool:
        """True or false."""
        value = self.values.get(key, default)
        if not isinstance(value, bool):
            raise self.error(key, f"must be true or false, not {_shown(value)}")
        return value

    def whole(self, key: str, default: int, low: int, high: int, also: str = "") -> int:
        """A whole number within bounds; `also` says what else the key may be."""
        value = self.values.get(key, default)
        if type(value) is not int or not low <= value <= high:
            allowed = f"a whole number from {low} to {high}{also}"
            raise self.error(key, f"must be {allowed}, not {_shown(value)}")
        return value

    def seconds(self, key: str, default: float, low: float, high: float, why: str = "") -> float:
        """A number of seconds within bounds; `why` explains them."""
        return self.number(key, default, low, high, why, of=" of seconds")

    def number(
        self, key: str, default: float, low: float, high: float, why: str = "", of: str = ""
    ) -> float:
        """A number within bounds; `of` is its unit in words, and `why` explains the bounds."""
        value = self.values.get(key, default)
        if type(value) not in (int, float) or not low <= value <= high:
            allowed = f"a number{of} from {low:g} to {high:g}{why}"
            raise self.error(key, f"must be {allowed}, not {_shown(value)}")
        return float(value)

    def inner(self, key: str) -> Mapping[str, Any]:
        """A table within this one, empty where there is none; its keys are not looked at."""
        value = self.values.get(key, {})
        if not isinstance(value, dict):
            raise self.error(key, f"must be a table, as in {key} = {{ max_deals = 12 }}")
        return value


def key_lines(text: str) -> dict[Place, int]:
    """The line, from 1, of each table and key that stands at the start of a line."""
    lines: dict[Place, int] = {}
    table: Place = ()
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            table = _names(header[2])
            if header[1]:
                table = (*table, str(sum(place[:-1] == table for place in lines)))
            lines.setdefault(table, number)
        elif assignment := _ASSIGNMENT.match(line):
            lines.setdefault((*table, *_names(assignment[1])), number)
    return lines


def _names(dotted: str) -> Place:
    return tuple(name.strip().strip("\"'") for name in re.findall(_NAME, dotted))


def _shown(value: object) -> str:
    """A value for a message, short."""
    shown = repr(value) if not isinstance(value, bool) else str(value).lower()
    return shown if len(shown) <= 60 else f"{shown[:60]}..."

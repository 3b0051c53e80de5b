"""Bots as people hand them in: a folder with a bot.toml, or one Python file (design section 8).

`load` reads what a bot is, `prepare` copies it to the cache, builds it there once, and says how to
start it. What a bot says of itself is checked in one place, and every complaint is a `BotError`.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from time import perf_counter
from typing import Any, Final

from knavery import stdio
from referee import builds, environments
from referee.bot_files import (
    OPEN,
    BotError,
    bot_files,
    cache_root,
    copy,
    locked,
    remove,
    seal,
    version,
)
from referee.environments import Environment
from referee.games.registry import GAMES
from referee.limits import SandboxRules
from referee.sandbox import Work

__all__ = ["Bot", "BotError", "Prepared", "environment", "load", "prepare", "shipped"]

MAX_NAME: Final = 40
"""Characters of a bot's name."""
MAX_TEXT: Final = 200
"""Characters of any text in a bot.toml."""
MAX_BATCH: Final = 256
"""The most that a bot can ask for as its `max_batch`."""
MAX_TABLES: Final = 100_000
"""The most that a bot can ask for as its `max_tables`."""
PYTHONS: Final = frozenset({"python", "python3"})
"""Commands that mean the Python of the bot's environment, or else the one that runs Knavery."""


@dataclass(frozen=True, slots=True)
class Bot:
    """A bot as it was handed in.

    `version` is the SHA-256 of its contents in hexadecimal. `source` is its folder or its file;
    `run` and `build` are as written there, an empty `build` meaning none. `max_tables` None is no
    limit of its own; `games` empty is every game; `exclude` are patterns of what is not part of it.
    `transport` is "grpc" or "stdio"; `language` and `max_batch` are for the latter.
    """

    name: str
    version: str
    source: Path
    run: tuple[str, ...]
    build: tuple[str, ...] = ()
    max_tables: int | None = None
    games: tuple[str, ...] = ()
    author: str = ""
    exclude: tuple[str, ...] = ()
    transport: str = "grpc"
    language: str = ""
    max_batch: int | None = None


@dataclass(frozen=True, slots=True)
class Prepared:
    """How to start a bot: its command, and the folder to run it in, which it may not change.

    `variables` are for its environment; `shown` is what it needs to read beside its folder and the
    system. `adapted` says that the process started is Knavery's own
    adapter and the bot's program its child. `seconds` is how long it took to make all this ready, 0
    if it was."""

    argv: tuple[str, ...]
    cwd: Path
    variables: Mapping[str, str] = field(default_factory=dict, compare=False)
    shown: tuple[Path, ...] = field(default=(), compare=False)
    adapted: bool = field(default=False, compare=False)
    seconds: float = field(default=0.0, compare=False)


def shipped() -> tuple[str, ...]:
    """The names of the bots that come with Knavery."""
    return tuple(sorted(toml.parent.name for toml in _shelf().glob("*/bot.toml")))


def load(spec: str, base: Path | None = None) -> Bot:
    """The bot that `name=path`, a path, or the name of a shipped bot means; BotError if none.

    A path is a folder or a .py file, and counts from `base` (the current folder if None).
    """
    before, equals, place = spec.partition("=")
    named = bool(equals) and "/" not in before
    path = _find(place if named else spec, base or Path())
    try:
        bot = _folder(path) if path.is_dir() else _single_file(path)
    except OSError as error:
        raise BotError(f"{error.filename}: cannot be read: {error.strerror}") from error
    return replace(bot, name=_name(before, spec)) if named else bot


def _shelf() -> Path:
    return Path(str(files("sample_bots"))) / "python"


def _find(place: str, base: Path) -> Path:
    try:
        path = base / Path(place).expanduser()
        if place and path.exists():
            return path
    except (OSError, RuntimeError, ValueError) as error:
        raise BotError(f"{place!r}: is no path: {error}") from error
    names = shipped()
    if place in names:
        return _shelf() / place
    near = get_close_matches(place, names, 1)
    mend = f"did you mean {near[0]}?" if near else f"shipped bots are {', '.join(names)}"
    raise BotError(f"{place!r}: no such file or folder, and no shipped bot of this name: {mend}")


def _single_file(path: Path) -> Bot:
    """A Python file is a bot that runs with the Python that runs Knavery, and its packages."""
    if path.suffix != ".py" or not path.is_file():
        raise BotError(f"{path}: is no bot: name a folder with a bot.toml, or a .py file")
    name = _name(path.stem, path)
    return Bot(name, version(bot_files(path)), path.absolute(), ("python", path.name))


def _folder(path: Path) -> Bot:
    where = path / "bot.toml"
    table = _checked(_table(where), where)
    exclude = tuple(table.get("exclude", ()))
    return Bot(
        name=_name(table.get("name", path.resolve().name), where),
        version=version(bot_files(path, exclude)),
        source=path.absolute(),
        run=tuple(table["run"]),
        build=tuple(table.get("build", ())),
        max_tables=table.get("max_tables"),
        games=tuple(table.get("games", ())),
        author=table.get("author", ""),
        exclude=exclude,
        transport=table.get("transport", "grpc"),
        language=table.get("language", ""),
        max_batch=table.get("max_batch"),
    )


def _table(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise BotError(f'{path}: is missing: write it, with run = ["./bot"] in it') from None
    except UnicodeDecodeError:
        raise BotError(f"{path}: is not text in UTF-8: save it as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise BotError(f"{path}: is not TOML: {error}") from error


def _checked(table: dict[str, Any], where: Path) -> dict[str, Any]:
    """The table, if all its keys are known and their values of the right kind."""
    for key, value in table.items():
        if key not in _KINDS:
            near = get_close_matches(key, _KINDS, 1)
            mend = f"did you mean {near[0]}?" if near else f"there may be {', '.join(_KINDS)}"
            raise BotError(f"{where}: {key!r}: there is no such key: {mend}")
        fits, kind = _KINDS[key]
        if not fits(value):
            raise BotError(f"{where}: {key}: must be {kind}, not {value!r:.80}")
    for key in {"language", "max_batch"} & table.keys():
        if table.get("transport") != "stdio":
            raise BotError(
                f'{where}: {key}: is for transport = "stdio"; another bot says it in its Hello'
            )
    if "run" not in table:
        raise BotError(f'{where}: run: is missing: it is the command, as run = ["./bot"]')
    return table


def _is_text(value: object) -> bool:
    return isinstance(value, str) and len(value) <= MAX_TEXT and value.isprintable()


def _is_list(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(v, str) and "\0" not in v for v in value)


def _is_command(value: Any) -> bool:
    return _is_list(value) and bool(value) and bool(value[0])


_COMMAND: Final = (_is_command, 'a list of words, as ["./bot", "--fast"]')
_TEXT: Final = f"a text of at most {MAX_TEXT} printable characters"
_KINDS: Final[Mapping[str, tuple[Callable[[Any], bool], str]]] = {
    "name": (_is_text, _TEXT),
    "run": _COMMAND,
    "build": _COMMAND,
    "max_tables": (
        lambda value: type(value) is int and 0 < value <= MAX_TABLES,
        f"a whole number, 1 to {MAX_TABLES}",
    ),
    "games": (
        lambda value: _is_list(value) and set(value) <= GAMES.keys(),
        f"a list of games out of {', '.join(GAMES)}",
    ),
    "author": (_is_text, _TEXT),
    "exclude": (_is_list, 'a list of names or patterns, as ["notes", "*.log"]'),
    "transport": (lambda value: value in ("grpc", "stdio"), '"grpc" or "stdio"'),
    "language": (_is_text, _TEXT),
    "max_batch": (
        lambda value: type(value) is int and 0 < value <= MAX_BATCH,
        f"a whole number, 1 to {MAX_BATCH}",
    ),
}
"""What a bot.toml may hold: each key's check, and its kind in words."""


def _name(name: str, where: object) -> str:
    if not name or len(name) > MAX_NAME or name != name.strip() or not name.isprintable():
        problem = f"must be 1 to {MAX_NAME} printable characters without blanks at its ends"
    elif set("/=") & set(name):
        problem = 'must not contain "/" or "="'
    else:
        return name
    raise BotError(f"{where}: a bot's name {problem}, not {name!r:.80}")


def prepare(bot: Bot, cache: Path | None = None, rules: SandboxRules | None = None) -> Prepared:
    """Copy a bot to the cache and build it, unless that version is there; how to start it.

    Blocks, for minutes when a build is slow, and runs trio for it: call it before trio runs, or in
    a thread. `cache` None is `cache_root()`; the rules are for the sandbox of a build. Processes
    that prepare the same bot wait for each other. Raises BotError, whose message may go on with the
    last lines of a failed build.
    """
    began = perf_counter()
    root = cache or cache_root()
    home = root / "bots" / bot.version
    try:
        home.mkdir(parents=True, exist_ok=True)
        with locked(home / "lock"):
            own, made = _make(bot, home, root, rules)
    except OSError as error:
        raise BotError(f"{bot.name}: cannot be copied to {home}: {error}") from error
    return Prepared(
        argv=_start(bot, own),
        cwd=home / "bot",
        variables=_variables(bot, own),
        shown=(own.home / "venv",) if own else (),
        adapted=bot.transport == "stdio",
        seconds=perf_counter() - began if made else 0.0,
    )


def _make(
    bot: Bot, home: Path, root: Path, rules: SandboxRules | None
) -> tuple[Environment | None, bool]:
    """The bot's environment, if it has one, and whether anything had to be done."""
    tree, ready = home / "bot", home / "ready"
    if there := ready.exists():
        own = _environment(bot, home, root)
        if own is None or own.ready:
            return own, False
        there = not own.local
    if not there:
        ready.unlink(missing_ok=True)
        remove(tree)
        copy(bot_files(bot.source, bot.exclude), tree)
        if version(bot_files(tree, bot.exclude)) != bot.version:
            raise BotError(f"{bot.name}: {bot.source} has changed meanwhile: try again")
    if own := _environment(bot, home, root):
        environments.make(bot.name, own, tree, rules)
    if not there:
        if bot.build:
            builds.run(
                *(f"{bot.name}: its build", _argv(bot.build, own), tree, home / "build"),
                _variables(bot, own),
                home=root / "homes" / hashlib.sha256(os.fsencode(bot.source)).hexdigest()[:32],
                work=Work(shown=(own.home / "venv",) if own else ()),
                rules=rules,
            )
        _check_command(bot, tree)
        seal(tree)
        home.chmod(OPEN)
        ready.touch()
    return own, True


def _environment(bot: Bot, home: Path, root: Path) -> Environment | None:
    """The environment of a bot that runs, or is built, with Python and says what it needs."""
    if not {*bot.run[:1], *bot.build[:1]} & PYTHONS:
        return None
    return environments.environment_for(home / "bot", home, root)


def _variables(bot: Bot, own: Environment | None) -> dict[str, str]:
    """What the bot sees of an environment beside that which all bots see."""
    variables = own.variables if own else {}
    if bot.transport == "stdio" or (own is None and bot.run[0] in PYTHONS):
        variables |= environments.sdk_variables()
    return variables


def _start(bot: Bot, own: Environment | None) -> tuple[str, ...]:
    """The command that starts a bot: its own, or that of the adapter which starts it."""
    program = _argv(bot.run, own)
    if bot.transport == "grpc":
        return program
    return stdio.command(program, bot.language, bot.games, bot.max_tables, bot.max_batch)


def _argv(command: Sequence[str], own: Environment | None = None) -> tuple[str, ...]:
    """A command in which python is the bot's own, or else the one that runs Knavery."""
    first, *rest = command
    python = sys.executable if own is None else str(own.python)
    return (python if first in PYTHONS else first, *rest)


def _check_command(bot: Bot, tree: Path) -> None:
    """Say now, rather than at each start, that there is nothing to run."""
    command, *arguments = bot.run
    is_python = command in PYTHONS
    if not is_python and not shutil.which(str(tree / command) if "/" in command else command):
        raise BotError(f"{bot.name}: run: {command!r} is missing or may not be executed")
    script = arguments[0] if arguments and is_python else ""
    if script.endswith(".py") and not (tree / script).is_file():
        raise BotError(f"{bot.name}: run: there is no file {script!r} in its folder")


def environment(
    address: str, token: str, scratch: Path, extra: Mapping[str, str] | None = None
) -> dict[str, str]:
    """All that a bot sees of an environment; `scratch` is the one folder it may write to."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(scratch),
        "TMPDIR": str(scratch),
        "LANG": "C.UTF-8",
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "KNAVERY_ADDRESS": address,
        "KNAVERY_TOKEN": token,
        **(extra or {}),
    }

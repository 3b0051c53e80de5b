"""The folders that a bot's author begins with, one for each language (design, sections 2 and 8).

They are the folders of `sample_bots` whose bot is called starter-LANGUAGE. What is copied is what
the bot consists of, so nothing that a build left there comes along.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final

from referee.bot_files import LEFT_OUT, bot_files, copy
from referee.bots import MAX_NAME, Bot, BotError, load, shipped

_PREFIX: Final = "starter-"
_NAME: Final = re.compile(rf"[A-Za-z][A-Za-z0-9_-]{{0,{MAX_NAME - 1}}}")
_NAME_LINE: Final = re.compile(r"^name *=.*$", re.MULTILINE)
_YOURS: Final = re.compile(r"^\| `([^`]+)` \| \*\*yours\*\*", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Starter:
    """A language's folder; `yours` is the file that an author changes first."""

    language: str
    bot: Bot

    @property
    def yours(self) -> str:
        found = _YOURS.search((self.bot.source / "README.md").read_text(encoding="utf-8"))
        return found[1] if found else "README.md"


def starters() -> Mapping[str, Starter]:
    """All there are, by language."""
    folders = Path(str(files("sample_bots"))).glob("*/bot.toml")
    bots = [load(str(path.parent)) for path in sorted(folders)]
    languages = {
        bot.name.removeprefix(_PREFIX): bot for bot in bots if bot.name.startswith(_PREFIX)
    }
    return {language: Starter(language, bot) for language, bot in languages.items()}


def write(name: str, language: str, folder: Path) -> Starter:
    """Write the folder `name` in `folder`, with a bot of that name; BotError if that cannot be."""
    there = starters()
    if language not in there:
        raise BotError(f"--lang {language}: there is {', '.join(there)}")
    _check_name(name)
    target = folder / name
    if target.exists() or target.is_symlink():
        raise BotError(f"{target}: exists already: take another name, or remove it")
    bot = there[language].bot
    try:
        copy(bot_files(bot.source, bot.exclude), target)
        toml = target / "bot.toml"
        text = toml.read_text(encoding="utf-8")
        toml.write_text(_NAME_LINE.sub(f'name = "{name}"', text, count=1), encoding="utf-8")
    except OSError as error:
        raise BotError(f"{target}: cannot be written: {error.strerror}") from error
    return there[language]


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise BotError(
            f"{name!r:.80}: a new bot's name is a letter, then letters, digits, - or _, "
            f"{MAX_NAME} at the most"
        )
    if name in {*shipped(), *LEFT_OUT, "knavery"}:
        raise BotError(f"{name}: is a name that Knavery uses itself: take another")

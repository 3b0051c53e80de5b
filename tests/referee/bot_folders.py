"""Folders of bots, as their authors hand them in."""

from pathlib import Path
from typing import Final

TOML: Final = 'name = "alice"\nrun = ["python", "bot.py"]\n'


def write(folder: Path, **files: str) -> Path:
    """A bot's folder; `bot_py` names bot.py."""
    folder.mkdir(exist_ok=True)
    for name, text in {"bot_toml": TOML, "bot_py": "print('hello')\n", **files}.items():
        (folder / name.replace("_", ".")).write_text(text)
    return folder

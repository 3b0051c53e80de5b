"""The bots that come with Knavery and have a name: `random`, `advice` and the others."""

from __future__ import annotations

import importlib.util
import sys
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from types import ModuleType

import sample_bots
from knavery.bot import Bot

FOLDER = Path(sample_bots.__file__).parent / "python"


def names() -> tuple[str, ...]:
    """The names of the shipped bots in Python, sorted."""
    return tuple(sorted(path.parent.name for path in FOLDER.glob("*/bot.py")))


@cache
def shipped_bot(name: str) -> type[Bot]:
    """The class of a shipped bot; ValueError names the nearest when there is none."""
    known = names()
    if name not in known:
        near = get_close_matches(name, known, n=1, cutoff=0)[0]
        raise ValueError(
            f"there is no shipped bot {name!r}: did you mean {near!r}? Known: {', '.join(known)}"
        )
    module = _load(FOLDER / name, f"sample_bots.python.{name}.bot")
    classes = [each for each in vars(module).values() if isinstance(each, type)]
    return next(each for each in classes if issubclass(each, Bot) and each is not Bot)


def _load(folder: Path, name: str) -> ModuleType:
    """Runs a folder's bot.py as if it were started there. The modules beside it stay its own:
    another bot may have some of the same names."""
    before = set(sys.modules)
    sys.path.insert(0, str(folder))
    try:
        return _run(name, folder / "bot.py")
    finally:
        sys.path.remove(str(folder))
        for each in set(sys.modules) - before - {name}:
            file = getattr(sys.modules[each], "__file__", None)
            if file and Path(file).parent == folder:
                del sys.modules[each]


def _run(name: str, file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

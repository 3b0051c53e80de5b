"""Commands run as a user runs them: in a process of their own, in a folder of their own."""

import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
Knavery = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def bot_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session")
def environment(bot_cache: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("KNAVERY_")}
    return kept | {"KNAVERY_CACHE": str(bot_cache), "PYTHONIOENCODING": "utf-8"}


def command(
    folder: Path, environment: dict[str, str], *words: str | Path
) -> subprocess.CompletedProcess[str]:
    """What `knavery` with these words does in a folder."""
    return subprocess.run(
        [sys.executable, "-m", "tournaments.cli", *map(str, words)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def knavery(tmp_path: Path, environment: dict[str, str]) -> Knavery:
    """Runs `knavery` in `tmp_path`."""
    return partial(command, tmp_path, environment)

"""The templates: their folders, the tools that they need, and copies of them to test in."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchmarks.languages import CACHE
from referee.bot_files import BotFile, bot_files
from referee.bots import Prepared, load, prepare

ROOT = Path(__file__).resolve().parents[2]
BUILD_SECONDS = 1800
SOURCES = {".go", ".rs", ".ts", ".cpp", ".h", ".java"}


@dataclass(frozen=True, slots=True)
class Template:
    """A language's folder; `tools` are the commands that building it takes."""

    language: str
    tools: tuple[str, ...]

    @property
    def folder(self) -> Path:
        return ROOT / "sample_bots" / self.language

    @property
    def readme(self) -> str:
        return (self.folder / "README.md").read_text(encoding="utf-8")

    def files(self) -> Sequence[BotFile]:
        """What it consists of, without what a build in the folder itself may have left."""
        return bot_files(self.folder, load(str(self.folder)).exclude)

    def sources(self) -> list[Path]:
        """Its files of code."""
        return [file.path for file in self.files() if file.path.suffix in SOURCES]

    def blocks(self) -> list[list[str]]:
        """The commands that the README shows, block by block."""
        return [
            block.splitlines() for block in re.findall(r"```\n(.*?)```", self.readme, re.DOTALL)
        ]

    def require(self) -> None:
        """Skips the test where a tool is missing; with CI=true that is a failure."""
        missing = [tool for tool in self.tools if shutil.which(tool) is None]
        if missing:
            reason = f"{self.language}: {', '.join(missing)}: not on this machine"
            if os.environ.get("CI") == "true":
                pytest.fail(reason)
            pytest.skip(reason)

    def prepared(self) -> Prepared:
        """The bot as the referee builds it, from the cache where it can be."""
        self.require()
        return prepare(load(str(self.folder)), CACHE)

    def copied(self) -> Path:
        """A copy to work in, which keeps what earlier work left in it: a build's by-products."""
        copy = ROOT / ".cache/work" / self.language
        built = self.prepared().cwd / "target"
        if built.is_dir() and not (copy / "target").exists():
            shutil.copytree(built, copy / "target")
            _make_writable(copy)
        for file in self.files():
            target = copy / file.name
            if not target.exists() or target.read_bytes() != file.path.read_bytes():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file.path, target)
        return copy


def _make_writable(folder: Path) -> None:
    for place, _, names in os.walk(folder):
        for path in (Path(place), *(Path(place, name) for name in names)):
            path.chmod(path.stat().st_mode | 0o200)


TEMPLATES = (
    Template("go", ("go",)),
    Template("rust", ("cargo",)),
    Template("typescript", ("node", "npm")),
    Template("cpp", ("cmake", "g++", "protoc", "grpc_cpp_plugin")),
    Template("java", ("javac", "mvn")),
)

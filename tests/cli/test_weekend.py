"""Every command of docs/running-a-tournament.md, in order, with eight small bots: what the page
shows is what they print, but for figures, hashes and the order of rows."""

import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT

TEXT = (ROOT / "docs/running-a-tournament.md").read_text(encoding="utf-8")
PATIENCE = 240.0
"""Seconds that one command may take on a machine that is busy with other things."""

BOT = """
from knavery import Bot, serve

class Friend(Bot):
    def play(self, view):
        return {how}

if __name__ == "__main__":
    serve(Friend)
"""
STARTED = "SELECT count(*) FROM processes JOIN entrants USING (entrant) WHERE name = 'ann'"
"""Lives of one bot's process: one a generation."""
HOW = {
    "ann": "min(view.legal)",
    "bob": "view.legal[0 // (17 - len(view.hand) + len(view.trick))]",
    "cat": "max(view.legal)",
    "dan": "self.rng.choice(view.legal)",
    "eve": "min(view.legal, key=lambda card: card.rank)",
    "fay": "max(view.legal, key=lambda card: card.rank)",
    "gus": "view.legal[len(view.legal) // 2]",
    "hal": "view.legal[len(view.trick) % len(view.legal)]",
}
MAIL = {"ivy": "min(view.legal, key=view.takes)", "bob": "max(view.legal, key=view.takes)"}


@dataclass(frozen=True, slots=True)
class Command:
    """A command line of the page, and what the page says that it prints."""

    line: str
    shown: tuple[str, ...]

    @property
    def ends_by(self) -> signal.Signals | None:
        """The signal that ends it."""
        ends = {"^C": signal.SIGINT, "Killed": signal.SIGKILL}
        return next((ends[line] for line in self.shown if line in ends), None)

    @property
    def status(self) -> int:
        if self.ends_by is not None:
            return -signal.SIGKILL if self.ends_by == signal.SIGKILL else 1
        return 2 if self.shown and self.shown[0].startswith("knavery ") else 0


def blocks() -> Iterator[tuple[str, str]]:
    """The fenced blocks, each with its kind."""
    yield from re.findall(r"^```(\w*)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def commands(block: str) -> Iterator[Command]:
    for part in block.split("$ ")[1:]:
        line, *shown = part.splitlines()
        yield Command(line, tuple(shown))


def alike(line: str) -> str:
    """The line without what differs from one run to another."""
    line = re.sub(r"\b[0-9a-f]{7,64}\b", "HASH", line.strip())
    line = re.sub(r"(about )?\d+ (s|min|h|days?)\b( \d+ (s|min|h)\b)?", "TIME", line)
    line = re.sub(r"TIME to TIME", "TIME", line)
    return re.sub(r"\s+", " ", re.sub(r"[-~]?\d[\d.,]*", "N", line))


class Weekend:
    """The folder in which the commands are run."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self._folder = folder
        program = folder / "bin/knavery"
        program.parent.mkdir()
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tournaments.cli "$@"\n')
        program.chmod(0o700)
        path = f"{program.parent}:{environment['PATH']}"
        self._environment = environment | {"PATH": path, "PYTHONPATH": str(ROOT)}
        for place, bots in (("friends", HOW), ("mail", MAIL)):
            (folder / place).mkdir()
            for name, how in bots.items():
                (folder / place / f"{name}.py").write_text(BOT.format(how=how))

    def write(self, block: str) -> None:
        """A file of the page, whose first line is its name."""
        name = block.splitlines()[0].removeprefix("# ")
        (self._folder / name).write_text(block)

    def run(self, command: Command) -> str:
        """What a command prints, once its status is as it should be."""
        started = self._started()
        process = subprocess.Popen(
            ["sh", "-c", command.line if ">" in command.line else f"exec {command.line}"],
            cwd=self._folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            if command.ends_by is not None:
                self._await_starts(started + 2)
                process.send_signal(command.ends_by)
            printed, _ = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
            process.communicate()
        assert process.returncode == command.status, printed
        return printed

    def _await_starts(self, count: int) -> None:
        """Until the files tell of so many starts; bots in the sandbox can tell us nothing."""
        give_up = time.monotonic() + PATIENCE
        while self._started() < count:
            assert time.monotonic() < give_up, "no bot was started"
            time.sleep(0.02)

    def _started(self) -> int:
        """How often ann was started, in all tournaments."""
        count = 0
        for path in self._folder.rglob("*.knavery"):
            with (
                suppress(sqlite3.Error),
                closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db,
            ):
                count += db.execute(STARTED).fetchone()[0]
        return count


@pytest.fixture
def weekend(tmp_path: Path, environment: dict[str, str]) -> Weekend:
    return Weekend(tmp_path, environment)


def test_every_command_of_the_weekend(weekend: Weekend) -> None:
    run = 0
    for kind, block in blocks():
        if kind == "toml":
            weekend.write(block)
            continue
        assert kind == "console", f"a block of the kind {kind!r} is not run"
        for command in commands(block):
            printed = weekend.run(command)
            agree(command, printed)
            run += 1
    assert run >= 20


def agree(command: Command, printed: str) -> None:
    """Every line that the page shows was printed; "..." stands for any rest."""
    lines = {alike(line) for line in printed.splitlines()}
    for shown in command.shown:
        start, rest, _ = shown.partition("...")
        if shown in ("^C", "Killed") or not start:
            continue
        wanted = alike(re.sub(r"[0-9a-f]+$", "", start) if rest else start)
        found = any(line.startswith(wanted) for line in lines) if rest else wanted in lines
        assert found, f"{command.line}: {shown!r} is not in\n{printed}"


def test_the_page_is_linked() -> None:
    assert "docs/running-a-tournament.md" in (ROOT / "README.md").read_text()

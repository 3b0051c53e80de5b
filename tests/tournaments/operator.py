"""A tournament with remote entrants as people run one: `knavery run` as a process, and programs
that are started with what it prints."""

import os
import queue
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

PATIENCE = 60.0

BOT = """
import os, sys
from knavery import Bot, serve

class Smallest(Bot):
    count = 0

    def bid(self, view):
        return view.hand[:3]

    def play(self, view):
        Smallest.count += 1
        if str(Smallest.count) in sys.argv[1:]:
            os._exit(9)
        return min(view.legal)

serve(Smallest)
"""


class Operator:
    """`knavery ARGUMENTS`, whose stderr is read line by line; ended when the context is left."""

    def __init__(self, *arguments: str | Path) -> None:
        self.lines: list[str] = []
        self._news: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tournaments.cli", *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self._news.put(line.rstrip("\n"))
        self._news.put(None)

    def until(self, words: str) -> str:
        """The next line that has these words; those before it are kept in `lines`."""
        while (line := self._news.get(timeout=PATIENCE)) is not None:
            self.lines.append(line)
            if words in line:
                return line
        raise AssertionError(f"no {words!r} in {self.lines}")

    def variables(self) -> dict[str, str]:
        """What the next program that is introduced is started with."""
        line = self.until("KNAVERY_TOKEN=")
        return dict(re.findall(r"(KNAVERY_\w+)=(\S+)", line))

    def interrupt(self) -> None:
        self._process.send_signal(signal.SIGINT)

    def end(self) -> tuple[int, str]:
        """Its exit status and stdout, when it has ended by itself."""
        assert self._process.stdout is not None
        out = self._process.stdout.read()
        status = self._process.wait(PATIENCE)
        while (line := self._news.get(timeout=PATIENCE)) is not None:
            self.lines.append(line)
        return status, out

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdout, self._process.stderr):
            assert pipe is not None
            pipe.close()


def start(
    variables: Mapping[str, str], *arguments: str, code: str = BOT
) -> "subprocess.Popen[str]":
    """A program that its author starts; it exits with 9 at the moves that are given."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(program: "subprocess.Popen[str]") -> tuple[int, str]:
    """Its exit status and stderr, when it has ended by itself."""
    try:
        _, err = program.communicate(timeout=PATIENCE)
    finally:
        program.kill()
    return program.returncode, err

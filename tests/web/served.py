"""`knavery serve` in a process of its own, as a user runs it."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

PATIENCE = 60


@dataclass(frozen=True, slots=True)
class Served:
    """A server that listens at `url`."""

    url: str
    process: "subprocess.Popen[str]"

    def end(self) -> tuple[int, str]:
        """Press Ctrl-C; its exit status, and what it said to its terminal."""
        self.process.send_signal(signal.SIGINT)
        _, said = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, said


@contextmanager
def served(
    folder: Path, *words: str | Path, environment: Mapping[str, str] | None = None
) -> Iterator[Served]:
    """`knavery serve` with these words, on a port that is free."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tournaments.cli", "serve", *map(str, words), "--port", "0"],
        cwd=folder,
        env=dict(environment or os.environ),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        said = process.stdout.readline()
        found = re.search(r"http://\S+", said)
        assert found is not None, process.communicate(timeout=PATIENCE)
        yield Served(found[0], process)
    finally:
        process.kill()
        process.communicate()

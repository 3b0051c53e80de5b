"""A command in a terminal of its own: a pseudo-terminal that keys are typed into."""

import fcntl
import os
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PATIENCE = 60.0
"""Seconds to wait for what must come."""


class Terminal:
    """What a command shows, and its keyboard."""

    def __init__(self, process: "subprocess.Popen[bytes]", master: int, slave: int) -> None:
        self.process = process
        self.seen = ""
        self.before = termios.tcgetattr(slave)
        self._master = master
        self._slave = slave
        self._raw = b""

    @property
    def settings(self) -> list[Any]:
        """The settings of the terminal now."""
        return termios.tcgetattr(self._slave)

    def type(self, keys: str) -> None:
        """Presses keys; what was seen before is forgotten."""
        self._raw, self.seen = b"", ""
        os.write(self._master, keys.encode())

    def until(self, *texts: str) -> str:
        """Waits until all of these have been shown since the last key; what has been shown."""
        return self._wait(lambda: all(text in self.seen for text in texts), texts)

    def ended(self, last: str) -> int:
        """Waits until this is the last that the command shows, and for its end; its exit status."""
        self._wait(lambda: self.seen.endswith(last), (last,))
        return self.process.wait(timeout=PATIENCE)

    def _wait(self, come: Callable[[], bool], what: tuple[str, ...]) -> str:
        end = time.monotonic() + PATIENCE
        while not come():
            left = end - time.monotonic()
            if left <= 0 or not self._read(left):
                raise AssertionError(f"{what} did not come, but {self.seen!r}")
        return self.seen

    def _read(self, wait: float) -> bool:
        if not select.select([self._master], [], [], wait)[0]:
            return False
        self._raw += os.read(self._master, 65536)
        self.seen = self._raw.decode(errors="replace")
        return True


@contextmanager
def in_terminal(
    folder: Path, environment: dict[str, str], *words: str, rows: int = 40, columns: int = 120
) -> Iterator[Terminal]:
    """`knavery` with these words, running in a terminal; ended at the end."""
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-m", "tournaments.cli", *words],
        cwd=folder,
        env=environment | {"TERM": "xterm"},
        stdin=slave,
        stdout=slave,
        stderr=slave,
        preexec_fn=_own_terminal,  # Ctrl-C must reach it as from a keyboard
    )
    try:
        yield Terminal(process, master, slave)
    finally:
        process.kill()
        process.wait()
        os.close(master)
        os.close(slave)


def _own_terminal() -> None:
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)

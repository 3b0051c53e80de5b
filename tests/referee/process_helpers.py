"""What the tests of real processes share."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import TracebackType
from typing import Final

import trio

from referee.process import Launcher, Process

UNRULY: Final = Path(__file__).parents[1] / "bots" / "proc_unruly.py"
ENV: Final = {"PATH": os.environ["PATH"]}
PATIENCE: Final = 20.0
"""Seconds after which a test of processes has failed."""


class Report:
    """A FIFO on which processes tell their ids, a line each."""

    def __init__(self, path: Path) -> None:
        self.path = path
        os.mkfifo(path)
        self._fd = os.open(path, os.O_RDWR | os.O_NONBLOCK)  # it has no end between lines

    def __enter__(self) -> Report:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        os.close(self._fd)

    async def pids(self) -> list[int]:
        """The ids on the next line."""
        line = b""
        while not line.endswith(b"\n"):
            await trio.lowlevel.wait_readable(self._fd)
            line += os.read(self._fd, 1)
        return [int(pid) for pid in line.split()]


async def start_unruly(launcher: Launcher, how: str, folder: Path) -> tuple[Process, list[int]]:
    """Start `proc_unruly.py`; with it, the ids it reported, its own first."""
    with Report(folder / f"{how}.fifo") as report:
        argv = [sys.executable, "-I", "-S", str(UNRULY), how, str(report.path)]
        process = await launcher.start(how, argv, folder, ENV)
        return process, await report.pids()


def alive(pid: int) -> bool:
    """Whether a process exists, be it as a zombie."""
    return Path(f"/proc/{pid}").exists()


def running_in(folder: Path) -> list[int]:
    """Processes that were started in a folder or below it, in a sandbox or not; not bwrap's."""
    return [
        pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if _is_in(pid, folder)
    ]


def _is_in(pid: int, folder: Path) -> bool:
    try:
        cwd = os.readlink(f"/proc/{pid}/cwd")
        environ = Path(f"/proc/{pid}/environ").read_bytes()
        wrapper = Path(f"/proc/{pid}/comm").read_text() == "bwrap\n"
    except OSError:  # gone
        return False
    # What is mounted inside a sandbox has no path out here; there bwrap says it in PWD.
    there = cwd.startswith(str(folder)) or f"\0PWD={folder}".encode() in environ
    return there and not wrapper


async def until_gone(pids: list[int]) -> None:
    """Wait until processes that exist, or have existed, have ended."""
    for pid in pids:
        try:
            fd = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        try:
            await trio.lowlevel.wait_readable(fd)
        finally:
            os.close(fd)

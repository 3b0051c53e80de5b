"""What the launcher's programs ask of the kernel: processes below another, signals, waiting.

The standard library alone: see `launcher.py`."""

from __future__ import annotations

import ctypes
import math
import os
import re
import select
import signal
from collections.abc import Callable, Container, Iterator
from contextlib import suppress
from typing import Final

SWEEP: Final = 0.01
"""Seconds between two sweeps over descendants that are being killed."""
PR_SET_PDEATHSIG: Final = 1
PR_SET_DUMPABLE: Final = 4
PR_SET_CHILD_SUBREAPER: Final = 36

_libc = ctypes.CDLL(None, use_errno=True)


def prctl(option: int, value: int) -> None:
    """prctl(2) with one argument; raises OSError."""
    if _libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0) != 0:
        errno = ctypes.get_errno()
        raise OSError(errno, os.strerror(errno))


def children(pid: int) -> list[int]:
    """The direct children of a process; empty when it has gone."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
        lists = [read(f"/proc/{pid}/task/{thread}/children") for thread in threads]
    except FileNotFoundError:
        return children_by_scan(pid)
    except OSError:
        return []
    return [int(child) for text in lists for child in text.split()]


def children_by_scan(pid: int) -> list[int]:
    """The same, slower, on kernels without CONFIG_PROC_CHILDREN."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            state_and_parent = read(f"/proc/{entry}/stat").rpartition(b")")[2].split()
            if int(state_and_parent[1]) == pid:
                found.append(int(entry))
    return found


def read(path: str) -> bytes:
    """A file of the kernel's."""
    with open(path, "rb", buffering=0) as file:
        return file.read()


def descendants(pid: int, spare: Container[int] = ()) -> Iterator[int]:
    """Everything below a process, parents first, except the children in `spare` and what is below.

    Lazy, so that each can be signalled as soon as it is seen: one that flees by forking has the
    least time for it.
    """
    found = [child for child in children(pid) if child not in spare]
    while found:
        parent = found.pop()
        found += children(parent)
        yield parent


def status(pid: int, field: str) -> int:
    """A number out of /proc/PID/status; 0 when the process has gone."""
    with suppress(OSError):
        text = read(f"/proc/{pid}/status").decode(errors="replace")
        if found := re.search(rf"^{field}:\s*(\d+)", text, re.MULTILINE):
            return int(found[1])
    return 0


def is_running(pid: int) -> bool:
    """Whether a process exists and has not ended."""
    with suppress(OSError):
        return read(f"/proc/{pid}/stat").rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    return False


def is_wrapper(pid: int) -> bool:
    """Whether a process is the sandbox's own, bubblewrap, and not a program in it."""
    with suppress(OSError):
        return read(f"/proc/{pid}/comm") == b"bwrap\n"
    return False


def send(pid: int, number: int) -> None:
    """Send a signal; a process that has gone does not mind."""
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def kill(pid: int) -> None:
    """Kill a process and its group, which grows no more then; but not the group that we are in,
    where a bot is for as long as it has not got its own."""
    with suppress(ProcessLookupError, PermissionError):
        if (group := os.getpgid(pid)) != os.getpgrp():
            os.killpg(group, signal.SIGKILL)
        else:
            os.kill(pid, signal.SIGKILL)


def thaw(pid: int) -> None:
    """Let a process run whose keeper can do so no more: frozen by version 1 it would not die."""
    with suppress(OSError):
        found = re.search(
            rb"^\d+:freezer:(/.*knavery-.*)$", read(f"/proc/{pid}/cgroup"), re.MULTILINE
        )
        if found:
            state = os.open(b"/sys/fs/cgroup/freezer%s/freezer.state" % found[1], os.O_WRONLY)
            try:
                os.write(state, b"THAWED")
            finally:
                os.close(state)


def changed(options: int = 0) -> Iterator[tuple[int, int]]:
    """Reap: (pid, wait status) of each child that has changed.

    Raises ChildProcessError when there is no child left.
    """
    while True:
        pid, status = os.waitpid(-1, os.WNOHANG | options)
        if pid == 0:
            return
        yield pid, status


class Events:
    """Waits for signals and for file descriptors to become readable.

    A new one takes over the signals of this process.
    """

    def __init__(self) -> None:
        self._signals, writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        self._poll = select.poll()
        self._handlers: dict[int, Callable[[], object]] = {}
        self.heed(self._signals, self._clear)

    def heed(self, fd: int, handler: Callable[[], object]) -> None:
        """From now on call `handler` when `fd` is readable or at its end."""
        self._handlers[fd] = handler
        self._poll.register(fd, select.POLLIN)

    def ignore(self, fd: int) -> None:
        """Heed it no more, if it was heeded."""
        if self._handlers.pop(fd, None):
            self._poll.unregister(fd)

    def wait(self, seconds: float) -> None:
        """Return after a signal, after something was handled, or when the time is over."""
        timeout = None if seconds == math.inf else max(0.0, seconds) * 1000
        for fd, _ in self._poll.poll(timeout):
            self._handlers[fd]()

    def _clear(self) -> None:
        with suppress(BlockingIOError):
            while os.read(self._signals, 4096):
                pass

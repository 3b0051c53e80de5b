"""What a bot may use, and how its keeper enforces that: see `launcher.py`."""

from __future__ import annotations

import math
import os
import re
import resource
import time
from contextlib import suppress
from typing import Any, Final

from referee.proc import SWEEP, read

POLL: Final = 0.05
"""Seconds between two looks at what a bot uses, where the kernel does not bound it."""
REMOVALS: Final = 50
"""How often the removal of a control group is tried, SWEEP apart."""


class Bounds:
    """What a bot may use, and how that is enforced: all of it optional, from the request.

    group    {"folders", "settings", "thaw", "killed"}: control groups to be made for it, what is
             written to which file there (may be missing: FILE?), what thaws it (file, value), and
             by what was wanted the file and the line that count how often it was refused
    rlimits  {"RLIMIT_...": most}, for each of its processes
    polled   {"memory": bytes, "processes": number}: looked for, where no group bounds it
    """

    def __init__(
        self,
        group: dict[str, Any] | None = None,
        rlimits: dict[str, int] | None = None,
        polled: dict[str, int] | None = None,
    ) -> None:
        self._folders: list[str] = group["folders"] if group else []
        self._settings: list[list[str]] = group["settings"] if group else []
        self._thaw: list[str] | None = group["thaw"] if group else None
        self._refused: list[list[str]] = group["refused"] if group else []
        self._rlimits = rlimits or {}
        self._polled = polled or {}
        self.every = POLL if self._polled else math.inf

    def prepare(self) -> None:
        """Make the groups."""
        for folder in self._folders:
            os.mkdir(folder)
        for file, value in self._settings:
            with suppress(*([OSError] if file.endswith("?") else [])):
                _write(file.removesuffix("?"), value)

    def enter(self) -> None:
        """Put this process under them; whatever it starts is under them too."""
        for folder in self._folders:
            _write(f"{folder}/cgroup.procs", "0")
        for name, most in self._rlimits.items():
            which = getattr(resource, name)
            hard = resource.getrlimit(which)[1]
            bound = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(which, (bound, bound))

    def thaw(self) -> None:
        """A frozen process of version 1 does not even die."""
        if self._thaw:
            with suppress(OSError):
                _write(*self._thaw)

    def exceeded(self, pids: list[int]) -> str | None:
        """In words, what these processes use too much of."""
        processes, memory = self._polled.get("processes"), self._polled.get("memory")
        if processes is not None and sum(map(_threads, pids)) > processes:
            return f"more than {processes} processes and threads at once"
        if memory is not None and _is_over(memory, pids):
            return f"more than {memory >> 20} MiB of memory"
        return None

    def ran_out(self) -> str | None:
        """In words, what the kernel has refused one of them, or killed one for wanting."""
        for what, file, counted in self._refused:
            with suppress(OSError):
                if re.search(rf"^{counted} [1-9]".encode(), read(file), re.MULTILINE):
                    return f"all the {what} that it may"
        return None

    def remove(self) -> None:
        """Remove the groups, which are empty now; the kernel may need a moment to see it."""
        for folder in self._folders:
            for _ in range(REMOVALS):
                with suppress(OSError):
                    os.rmdir(folder)
                if not os.path.exists(folder):
                    break
                time.sleep(SWEEP)


def _write(path: str, value: str) -> None:
    with open(path, "wb", buffering=0) as file:
        file.write(value.encode())


def _is_over(most: int, pids: list[int]) -> bool:
    """Whether processes have more bytes of memory than that, what they share counted once."""
    if sum(map(_memory, pids)) <= most:
        return False
    return sum(map(_share, pids)) > most  # takes the kernel longer to find out


def _memory(pid: int) -> int:
    """Bytes of memory that a process has, no files; 0 when it has gone."""
    return _bytes(pid, "status", "RssAnon", "RssShmem") or 0


def _share(pid: int) -> int:
    """The same with a mere share of what others have too; all of it where it lets nobody look."""
    share = _bytes(pid, "smaps_rollup", "Pss_Anon", "Pss_Shmem")
    return _memory(pid) if share is None else share


def _bytes(pid: int, file: str, *lines: str) -> int | None:
    with suppress(OSError):
        found = re.findall(rb"^(\w+):\s*(\d+) kB$", read(f"/proc/{pid}/{file}"), re.MULTILINE)
        kib = {name.decode(): int(number) for name, number in found}
        return sum(kib[line] for line in lines) << 10 if kib.keys() >= {*lines} else None
    return None


def _threads(pid: int) -> int:
    with suppress(OSError):
        return int(read(f"/proc/{pid}/stat").rpartition(b")")[2].split()[17])
    return 0

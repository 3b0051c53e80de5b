"""What processor time a bot has used, and its freezing (design, section 5).

Both are of everything that descends from a bot's process, by its control group where it has one.
Elsewhere the process clocks of its descendants are added up, in nanoseconds and not in the ticks of
/proc, and SIGSTOP and SIGCONT go to each of them. Of a process that has ended it is known what it
had used when it was last looked at, and from the parent that reaped it what it had used in all;
neither is more than the truth, and the larger of the two counts.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from contextlib import suppress
from typing import Final

from referee.cgroups import Cgroup
from referee.proc import descendants, is_wrapper, read, send

SWEEPS: Final = 5
"""How often new processes are looked for while those that are there are stopped."""
_TICK: Final = 1 / os.sysconf("SC_CLK_TCK")


class Tree:
    """A bot's processes: `root` was started by `keeper`, a child of `launcher` (process ids).

    `adapted`: one of them is Knavery's own adapter, whose time is not the bot's. May be used by any
    thread; nothing here fails when processes have gone."""

    def __init__(
        self, launcher: int, keeper: int, root: int, cgroup: Cgroup | None, *, adapted: bool
    ) -> None:
        self._launcher = launcher
        self._keeper = keeper
        self._cgroup = cgroup
        self._adapter = program(root) if adapted else None
        self._adapter_used = 0.0
        self._clocks: dict[int, float] = {}
        self._vanished = 0.0
        self._reaped_before: float | None = None
        self._used = 0.0
        self._left_out = 0.0
        self._lock = threading.Lock()

    # Time.

    def seconds(self) -> float:
        """The processor time that it has used, in seconds, less what was left out."""
        with self._lock:
            return self._look() - self._left_out

    def leave_out(self) -> None:
        """What it has used since it was last looked at is not to count."""
        with self._lock:
            used = self._used
            self._left_out += self._look() - used

    def _look(self) -> float:
        self._used = max(self._used, self._measured())
        return self._used

    def _measured(self) -> float:
        used = self._cgroup.cpu_seconds() if self._cgroup else None
        return self._added_up() if used is None else used - self._adapters()

    def _adapters(self) -> float:
        """The time of the adapter's own process."""
        if self._adapter is not None:
            self._adapter_used = clock(self._adapter) or self._adapter_used
        return self._adapter_used

    def _added_up(self) -> float:
        pids = self._pids()
        clocks = {pid: used for pid in pids if (used := clock(pid)) is not None}
        if self._adapter is not None:
            clocks.pop(self._adapter, None)
        for pid, used in self._clocks.items():
            if clocks.get(pid, -1.0) < used:
                self._vanished += used
        self._clocks = clocks
        reaped = sum(map(reaped_time, (self._keeper, *pids))) if pids else 0.0
        if self._reaped_before is None:
            self._reaped_before = reaped
        return sum(clocks.values()) + max(self._vanished, reaped - self._reaped_before)

    def _pids(self) -> list[int]:
        """Its processes, as long as it is watched over: a number may come to mean another one."""
        if parent(self._keeper) != self._launcher:
            return []
        return list(descendants(self._keeper))

    # Freezing.

    def freeze(self) -> None:
        """Let none of its processes run until `thaw`."""
        if self._cgroup and self._cgroup.can_freeze:
            self._cgroup.freeze()
            return
        stopped: set[int] = set()
        for _ in range(SWEEPS):
            found = set(self._pids()) - stopped
            for pid in found:
                send(pid, signal.SIGSTOP)
            if not found:
                break
            stopped |= found

    def thaw(self) -> None:
        """Let its processes run again."""
        if self._cgroup and self._cgroup.can_freeze:
            self._cgroup.thaw()
            return
        for pid in self._pids():
            send(pid, signal.SIGCONT)


def clock(pid: int) -> float | None:
    """The processor time of a process and all its threads, in seconds; None when it has gone."""
    with suppress(OSError):
        return (
            time.clock_gettime_ns(~pid << 3 | 2) / 1e9
        )  # CPUCLOCK_SCHED of clock_getcpuclockid(3)
    return None


def reaped_time(pid: int) -> float:
    """The processor time of all that a process has reaped, and they in turn, in whole ticks."""
    fields = _stat(pid)
    return _TICK * (int(fields[13]) + int(fields[14])) if fields else 0.0


def parent(pid: int) -> int:
    """The parent of a process; 0 when that has gone."""
    fields = _stat(pid)
    return int(fields[1]) if fields else 0


def _stat(pid: int) -> list[bytes]:
    """The fields of /proc/PID/stat behind the name; none when the process has gone."""
    with suppress(OSError):
        return read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    return []


def program(root: int) -> int:
    """The process of the program itself: below the sandbox's own ones, each of which has one
    child."""
    if is_wrapper(root):
        return next((program(child) for child in descendants(root)), root)
    return root

"""Control groups: what a bot's whole process tree may take, what it has taken, and its freezing.

The kernel counts a group's processes whatever they do (fork, daemonise, exit), so this is the best
measure and the best bound there is. Both versions are used, controller by controller, as the
machine has them: version 1 where a hierarchy of its own is mounted, version 2 elsewhere. A referee
makes one group of its own in each hierarchy, below the group that it is in itself (in version 2 the
nearest one that may have children), and in it one group for each bot. The launcher's keeper makes
that, moves the bot into it before its program begins, thaws it, and removes it (`launcher.py`), so
that a referee which is killed leaves an empty group at the most; the next one removes that.
"""

from __future__ import annotations

import itertools
import os
import re
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from referee.limits import Limits
from referee.proc import SWEEP, send, thaw

PERIOD: Final = 100_000
"""Microseconds in which a bot may use its share of the processors."""
CONTROLLERS: Final = ("memory", "pids", "cpu", "cpuacct", "freezer")
"""What is used, by the names of version 1; version 2 counts time and freezes in every group."""
FREEZER: Final = {1: ("freezer.state", "THAWED", "FROZEN"), 2: ("cgroup.freeze", "0", "1")}
"""By version: the file, and what thaws and what freezes when it is written there."""
SWEEPS: Final = 50
"""How often what is left in a group is killed, SWEEP apart."""
_REFUSED: Final = {
    "memory": ("memory", {1: "memory.oom_control", 2: "memory.events"}, "oom_kill"),
    "pids": ("processes and threads", {1: "pids.events", 2: "pids.events"}, "max"),
}
"""By controller: what was wanted, by version the file, and the line there, that says how often
more was wanted than there may be."""
_ALWAYS_IN_2: Final = frozenset({"cpuacct", "freezer"})
_NAME: Final = re.compile(r"knavery-(\d+)-\d+")
_numbers = itertools.count()


@dataclass(frozen=True, slots=True)
class Place:
    """A folder in which groups can be made, and the version of its hierarchy."""

    folder: Path
    version: int


@dataclass(frozen=True, slots=True)
class Cgroup:
    """The control groups of one bot: its folder for each controller.

    Reading and freezing do nothing when the group is not there yet or any more."""

    places: Mapping[str, Place]
    settings: Mapping[str, str]
    """What is written to which file, in order; a file ending in "?" may be missing."""

    def cpu_seconds(self) -> float | None:
        """The processor time that all its processes have used, those that have ended included;
        None where the kernel does not say."""
        with suppress(KeyError, OSError, ValueError):
            place = self.places["cpuacct"]
            if place.version == 1:
                return int((place.folder / "cpuacct.usage").read_text()) / 1e9
            return _field(place.folder / "cpu.stat", "usage_usec") / 1e6
        return None

    @property
    def can_freeze(self) -> bool:
        """Whether `freeze` does anything."""
        return "freezer" in self.places

    def freeze(self) -> None:
        """Let none of its processes run until `thaw`; soon, not at once."""
        self._set_frozen(True)

    def thaw(self) -> None:
        """Let its processes run again."""
        self._set_frozen(False)

    def _set_frozen(self, frozen: bool) -> None:
        with suppress(KeyError, OSError):
            place = self.places["freezer"]
            file, *values = FREEZER[place.version]
            (place.folder / file).write_text(values[frozen])

    def request(self) -> dict[str, Any]:
        """What the keeper is told: `referee.bounds.Bounds` says how it reads it."""
        folders = dict.fromkeys(str(place.folder) for place in self.places.values())
        thaw = None
        if place := self.places.get("freezer"):
            file, thawed, _ = FREEZER[place.version]
            thaw = [str(place.folder / file), thawed]
        refused = [
            (what, str(place.folder / files[place.version]), line)
            for name, (what, files, line) in _REFUSED.items()
            if (place := self.places.get(name))
        ]
        settings = [*self.settings.items()]
        return {"folders": [*folders], "settings": settings, "thaw": thaw, "refused": refused}


def _field(path: Path, name: str) -> int:
    """A number in a file of lines "name number"; ValueError when it is not there."""
    found = re.search(rf"^{name} (\d+)$", path.read_text(), re.MULTILINE)
    if not found:
        raise ValueError(f"no {name} in {path}")
    return int(found[1])


class Cgroups:
    """The groups of one referee. Made by `open_cgroups`; empty where none can be made."""

    def __init__(self, places: Mapping[str, Place]) -> None:
        self._places = places
        self._numbers = itertools.count()

    @property
    def versions(self) -> dict[str, int]:
        """The controllers that can be used, and the version of each."""
        return {name: place.version for name, place in self._places.items()}

    def bounds(self, controller: str) -> bool:
        """Whether "memory", "pids" or "cpu" is bounded by the kernel."""
        return controller in self._places

    def group(self, limits: Limits | None) -> Cgroup | None:
        """A new group's description, without bounds if there are no limits; None where there are no
        groups."""
        if not self._places:
            return None
        name = f"{next(self._numbers)}"
        places = {
            controller: Place(place.folder / name, place.version)
            for controller, place in self._places.items()
        }
        settings = {
            str(places[controller].folder / file): value
            for controller in places
            for file, value in _bounds(controller, places[controller].version, limits).items()
        }
        return Cgroup(places, settings)

    def close(self) -> None:
        """Remove the referee's own groups. What is still in one is ended: something is where a
        launcher and its keepers were killed together."""
        for folder in {place.folder for place in self._places.values()}:
            _end(folder)
            _remove(folder)


def _bounds(controller: str, version: int, limits: Limits | None) -> dict[str, str]:
    """The files that bound a controller, in the order in which they are written."""
    if limits is None:
        return {}
    quota = max(1000, int(limits.cores * PERIOD))
    memory, processes = str(limits.memory), str(limits.processes)
    match controller, version:
        case "memory", 1:
            return {"memory.limit_in_bytes": memory, "memory.memsw.limit_in_bytes?": memory}
        case "memory", _:
            return {"memory.max": memory, "memory.swap.max?": "0", "memory.oom.group?": "1"}
        case "pids", _:
            return {"pids.max": processes}
        case "cpu", 1:
            return {"cpu.cfs_period_us": str(PERIOD), "cpu.cfs_quota_us": str(quota)}
        case "cpu", _:
            return {"cpu.max": f"{quota} {PERIOD}"}
    return {}


def open_cgroups(
    membership: Path = Path("/proc/self/cgroup"), mounts: Path = Path("/proc/self/mountinfo")
) -> Cgroups:
    """The groups of this process, wherever it may make some; it may be nowhere.

    The two files say which group this process is in, and where the hierarchies are mounted."""
    places: dict[str, Place] = {}
    for names, parent, version in _own_groups(membership, mounts):
        wanted = [name for name in names if name not in places]
        if version == 1 and wanted and (folder := _made_in(parent)):
            places |= dict.fromkeys(wanted, Place(folder, 1))
        elif version == 2 and wanted and (made := _made_in_2(parent, wanted)):
            folder, given = made
            places |= dict.fromkeys(given, Place(folder, 2))
    return Cgroups(places)


def _own_groups(membership: Path, mounts: Path) -> Iterator[tuple[tuple[str, ...], Path, int]]:
    """The controllers and the folder of each group that this process is in, version 1 first."""
    try:
        lines, mounted = membership.read_text().splitlines(), mounts.read_text()
    except OSError:
        return
    groups = sorted((line.split(":", 2) for line in lines), key=lambda group: group[0] == "0")
    for number, names, path in groups:
        version = 2 if number == "0" else 1
        used = set(CONTROLLERS) if version == 2 else set(names.split(",")) & set(CONTROLLERS)
        where = _mounted(mounted, version, names, path)
        if used and where is not None:
            yield tuple(name for name in CONTROLLERS if name in used), where, version


def _mounted(mountinfo: str, version: int, names: str, path: str) -> Path | None:
    """Where a group's folder is."""
    for line in mountinfo.splitlines():
        mount, _, system = line.partition(" - ")
        _, _, _, root, point, *_ = mount.split(" ")
        kind, _, options = system.split(" ", 2)
        if version == 2:
            fits = kind == "cgroup2"
        else:
            fits = kind == "cgroup" and set(names.split(",")) <= set(options.split(","))
        if fits:
            inside = os.path.relpath(path, root) if path.startswith(root) else path.lstrip("/")
            folder = Path(point, inside)
            return folder if folder.is_dir() else Path(point)
    return None


def _made_in(parent: Path) -> Path | None:
    """A referee's own group in another; None where it may not have one."""
    folder = parent / f"knavery-{os.getpid()}-{next(_numbers)}"
    with suppress(OSError):
        _sweep(parent)
        folder.mkdir()
        if os.access(folder / "cgroup.procs", os.W_OK):
            return folder
        _remove(folder)
    return None


def _made_in_2(own: Path, wanted: list[str]) -> tuple[Path, list[str]] | None:
    """The same in version 2, where a group that has processes cannot share out memory, so that a
    group above may have to be asked; and the controllers that it gives."""
    best: tuple[Path, list[str]] | None = None
    for parent in (own, *own.parents):
        if not os.access(parent / "cgroup.procs", os.W_OK):
            break
        if folder := _made_in(parent):
            given = _given(folder, wanted)
            if best is None or len(given) > len(best[1]):
                if best is not None:
                    _remove(best[0])
                best = folder, given
            else:
                _remove(folder)
    return best


def _given(folder: Path, wanted: list[str]) -> list[str]:
    """The controllers that the children of a group of version 2 can have."""
    there = (folder / "cgroup.controllers").read_text().split()
    given = [name for name in wanted if name in _ALWAYS_IN_2]
    for name in wanted:
        if name in there:
            with suppress(OSError):
                (folder / "cgroup.subtree_control").write_text(f"+{name}")
                given.append(name)
    return given


def _sweep(parent: Path) -> None:
    """Remove what referees that were killed have left."""
    for folder in parent.iterdir():
        named = _NAME.fullmatch(folder.name)
        if named and not Path("/proc", named[1]).exists():
            _remove(folder)


def _end(folder: Path) -> None:
    """Kill whatever is in the groups in a group, frozen or not."""
    for _ in range(SWEEPS):
        with suppress(OSError):
            found = " ".join(procs.read_text() for procs in folder.glob("*/cgroup.procs"))
            pids = [int(pid) for pid in found.split() if int(pid)]
            if not pids:
                return
            for pid in pids:
                thaw(pid)
                send(pid, signal.SIGKILL)
        time.sleep(SWEEP)


def _remove(folder: Path) -> None:
    """Remove a group and those in it, as far as they are empty."""
    with suppress(OSError):
        for child in folder.iterdir():
            if child.is_dir():
                child.rmdir()
        folder.rmdir()

"""The sandbox: how bots and builds are started so that they reach nothing but what is theirs.

With bubblewrap a program has namespaces of its own (process ids, IPC, host name, network, and the
user's, or an unprivileged user id where the referee is root), sees the system's programs, its own
runtime and its own folder, all read-only, and has a small `/tmp` in memory. A bot's one way out is
its socket to the referee. What its process tree may use is bounded by control groups where the
referee may make some, and by rlimits and polling elsewhere. docs/sandbox.md says what that protects
and what it does not.

Everything here only makes up command lines; `protection.py` tries out what the machine can do, and
`mounts.py` knows what a program needs to see.
"""

from __future__ import annotations

import math
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from referee import mounts
from referee.cgroups import Cgroups, open_cgroups
from referee.limits import MIB, OFF, STRICT, Limits, SandboxRules
from referee.process import Confinement
from referee.protection import INSTALL, MAY_SWITCH, NAMESPACES, Tools, as_user, tools

SOCKET: Final = Path("/run/knavery.sock")
"""Where a bot in the sandbox finds its socket."""
INSIDE: Final = "/tmp"
"""The one folder that a bot in the sandbox may write to."""
_UID_INSIDE: Final = "1000"
"""Of who builds: as root, tools would try to give files to others."""
_THREADS: Final = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "GOMAXPROCS")
"""What tells libraries how many threads are worth having; else they have one for each core."""


class SandboxError(Exception):
    """The sandbox that was asked for cannot be had; one line with the mend."""


@dataclass(frozen=True, slots=True)
class Command:
    """What is to be started: in `env` nothing but what is here, bounded by `confinement`."""

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]
    confinement: Confinement


@dataclass(frozen=True, slots=True)
class Work:
    """What a build may see and change beside the system: `shown` read-only, `own` to write."""

    shown: tuple[Path, ...] = ()
    own: tuple[Path, ...] = ()


class Sandbox:
    """What confines the bots of one run. Made by `open_sandbox`."""

    def __init__(self, rules: SandboxRules, found: Tools, cgroups: Cgroups) -> None:
        self.rules = rules
        self._tools = found
        self._cgroups = cgroups

    @property
    def _off(self) -> bool:
        return self.rules.mode == OFF

    @property
    def isolates(self) -> bool:
        """Whether bots see neither files nor processes nor networks that are not theirs."""
        return bool(self._tools.bwrap) and not self._off

    @property
    def in_force(self) -> str:
        """What confines bots, in one line: the same words in the store and from the doctor."""
        if self._off:
            return OFF
        own = "a user id of its own" if self._tools.uids else "its own user"
        who = f", each bot with {own}" if self._tools.uids or self.isolates else ""
        what = self._tools.version if self.isolates else "no isolation"
        return f"{what}{who}; {self.bounds_in_force}"

    @property
    def bounds_in_force(self) -> str:
        """How memory, processes and cores are bounded, in words."""
        return ", ".join(
            f"{name} {self._bounded_by(controller)}"
            for name, controller in (("memory", "memory"), ("processes", "pids"), ("cores", "cpu"))
        )

    @property
    def bounds_cores(self) -> bool:
        """Whether the kernel bounds all of it, which it does by control groups alone."""
        return self._cgroups.bounds("cpu")

    def _bounded_by(self, controller: str) -> str:
        if version := self._cgroups.versions.get(controller):
            return f"by cgroup v{version}"
        if controller == "cpu":
            return "unbounded"
        return "by rlimit and polling" if controller == "pids" and self._counts else "by polling"

    @property
    def _counts(self) -> bool:
        return self._tools.counts_processes

    @property
    def missing(self) -> tuple[str, ...]:
        """What is not protected though it should be: a line each, with the mend."""
        if self._off:
            return (
                "it is off, so bots can do all that you can do here, without limits; "
                'mode = "auto" confines them',
            )
        lines = []
        if not self._tools.bwrap:
            lines.append(
                "bots can read your files, use the network and see other bots; "
                f"{self._tools.lacking}"
            )
        if not self.bounds_cores:
            lines.append(
                f"no control groups can be made, so a bot's {self.bounds_in_force}; "
                "docs/sandbox.md says how to let them be made"
            )
        return tuple(lines)

    def bot(
        self,
        argv: Sequence[str],
        folder: Path,
        env: Mapping[str, str],
        shown: Sequence[Path],
        socket: Path,
        scratch: Path,
    ) -> Command:
        """How a bot is started in its folder. `shown` is what it needs to see beside that; it may
        use the socket at that path, and write to `scratch` where there is no isolation.

        Without --die-with-parent what a bot leaves behind lives on when it has ended, until its
        keeper has counted it: that ends all of it, and the launcher does where the keeper cannot.
        """
        if self._off:
            return Command((*argv,), folder, env, Confinement(self._cgroups.group(None)))
        limits = self.rules.limits
        ids = self._tools.uids
        uid = secrets.choice(ids) if ids else None  # by no number: a bot sees its own
        if uid is not None:
            _give(uid, socket, scratch, enter=not self.isolates)
        program = self._counted(argv, limits)
        if uid is not None:
            program = as_user(self._tools.setpriv, uid, program)
        env = {**env, **dict.fromkeys(_THREADS, str(math.ceil(limits.cores)))}
        confinement = self._confinement(limits)
        if not self.isolates:
            return Command((*program,), folder, env, confinement)
        seen = _seen([*mounts.python(), *shown, *mounts.command(argv[0]), folder], building=False)
        arguments = [
            *self._apart(as_other=uid is not None),
            *self._system(limits.scratch),
            *_folders(seen, self._tools),
            *_bound("--bind", (socket,), str(SOCKET)),
            *("--remount-ro", "/", "--chdir", str(folder), "--"),
        ]
        env = _inside(env, seen) | {"KNAVERY_ADDRESS": f"unix:{SOCKET}"}
        argv = (self._tools.bwrap, *arguments, *program)
        return Command(argv, Path("/"), env, replace(confinement, wrapped=True))

    def build(
        self, argv: Sequence[str], folder: Path, env: Mapping[str, str], home: Path, work: Work
    ) -> Command:
        """How a command that makes a bot ready is started in its folder, with a home of its own and
        with the network unless the mode is strict."""
        if not self.isolates:
            return Command((*argv,), folder, env, Confinement())
        temporary = home / "tmp"
        temporary.mkdir(parents=True, exist_ok=True)
        places = [Path(value) for value in env.values() if os.path.isabs(value)]
        found = [part for name in env["PATH"].split(os.pathsep) for part in mounts.installed(name)]
        known = [*mounts.python(), *work.shown, *mounts.command(argv[0]), *places, *found]
        seen = _seen(known, building=True)
        own = mounts.lean([*work.own, folder, home], ())
        network = ["--unshare-net"] if self.rules.mode == STRICT else []
        arguments = [
            *NAMESPACES,
            *network,
            "--die-with-parent",
            *("--cap-drop", "ALL"),
            *(["--unshare-user", "--uid", _UID_INSIDE, "--gid", _UID_INSIDE] * self._tools.userns),
            *self._system(_BUILD_LIMITS.scratch),
            *_bound("--bind", (temporary,), INSIDE),
            *_folders([*seen, *own], self._tools, writable=own),
            *("--remount-ro", "/", "--chdir", str(folder), "--"),
        ]
        env = _inside(env, [*seen, *own]) | {"HOME": str(home), "TMPDIR": INSIDE}
        confinement = replace(self._confinement(_BUILD_LIMITS), wrapped=True)
        return Command((self._tools.bwrap, *arguments, *argv), Path("/"), env, confinement)

    def _counted(self, argv: Sequence[str], limits: Limits) -> list[str]:
        """The command under RLIMIT_NPROC, where that helps."""
        if self._cgroups.bounds("pids") or not self._counts:
            return [*argv]
        return [self._tools.prlimit, f"--nproc={limits.processes}", "--", *argv]

    def _confinement(self, limits: Limits) -> Confinement:
        polled = {"memory": limits.memory, "processes": limits.processes}
        for name, controller in (("memory", "memory"), ("processes", "pids")):
            if self._cgroups.bounds(controller):
                del polled[name]
        rlimits = {"RLIMIT_FSIZE": limits.scratch, "RLIMIT_NOFILE": limits.files}
        return Confinement(self._cgroups.group(limits), rlimits, polled)

    def _apart(self, *, as_other: bool) -> list[str]:
        if as_other:
            return [*NAMESPACES, "--unshare-net", *MAY_SWITCH]
        alone = ["--disable-userns"] * ("--disable-userns" in self._tools.options)
        return [*NAMESPACES, "--unshare-net", "--unshare-user", *alone, "--cap-drop", "ALL"]

    def _system(self, scratch: int) -> list[str]:
        return [
            *("--new-session", "--hostname", "knavery"),
            *mounts.system(),
            *("--proc", "/proc", "--dev", "/dev"),
            *self._memory_folder("/dev/shm", scratch),
            *("--remount-ro", "/dev"),
            *self._memory_folder(INSIDE, scratch),
        ]

    def _memory_folder(self, place: str, size: int) -> list[str]:
        """A folder in memory that everybody inside may write to."""
        perms = ["--perms", "1777"] * ("--perms" in self._tools.options)
        sized = ["--size", str(size)] * ("--size" in self._tools.options)
        return [*perms, *sized, "--tmpfs", place]


_BUILD_LIMITS: Final = Limits(
    memory=max(4096 * MIB, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * 3 // 4),
    processes=8192,
    cores=float(os.cpu_count() or 1),
    scratch=4096 * MIB,
    files=65536,
)
"""Compilers take what they get."""


def _give(uid: int, socket: Path, scratch: Path, *, enter: bool) -> None:
    """Let a user have a socket, and a folder to write to if he gets no other."""
    os.chown(socket, uid, uid)
    if enter:
        os.chmod(socket.parent, 0o711)
        os.chown(scratch, uid, uid)


def _seen(paths: Sequence[Path], *, building: bool) -> list[Path]:
    return mounts.lean([*paths, *mounts.etc(building=building)])


def _bound(how: str, paths: Sequence[Path], place: str = "") -> Iterator[str]:
    for path in paths:
        yield from (how, str(path), place or str(path))


def _folders(paths: Sequence[Path], found: Tools, writable: Sequence[Path] = ()) -> Iterator[str]:
    """The mounts of paths, below folders that everybody may pass."""
    for above in mounts.folders_above([*paths, SOCKET]):
        yield from ["--perms", "0755"] * ("--perms" in found.options)
        yield from ("--dir", str(above))
    yield from _bound("--ro-bind", [path for path in paths if path not in writable])
    yield from _bound("--bind", writable)


def _inside(env: Mapping[str, str], seen: Sequence[Path]) -> dict[str, str]:
    """An environment that names no place which is not there."""
    there = (Path("/usr"), Path("/bin"), Path("/sbin"), *seen)
    path = [
        place
        for place in env.get("PATH", os.defpath).split(os.pathsep)
        if any(Path(place).is_relative_to(each) for each in there)
    ]
    names = {"HOME": INSIDE, "TMPDIR": INSIDE, "USER": "bot", "LOGNAME": "bot"}
    return {**env, **names, "PATH": os.pathsep.join(path)}


@contextmanager
def open_sandbox(rules: SandboxRules, found: Tools | None = None) -> Iterator[Sandbox]:
    """What confines bots for as long as the context lasts. Raises SandboxError where the rules are
    strict and there is no isolation. `found` None is what this machine has."""
    have = found or tools()
    if rules.mode == STRICT and not have.bwrap:
        raise SandboxError(
            f'sandbox: {have.lacking or INSTALL}; or let mode = "auto" do without it'
        )
    cgroups = open_cgroups()
    try:
        yield Sandbox(rules, have, cgroups)
    finally:
        cgroups.close()

"""What this machine can confine programs with: found out by trying it, once in a process."""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final

from referee.bot_files import cache_root
from referee.mounts import ROOT
from referee.process import try_out

UIDS: Final = range(1_900_000_000, 1_900_100_000)
"""User ids of bots where the referee is root: no program that hands out ids uses these."""
UIDS_WITHIN: Final = range(61_000, 65_000)
"""The same where there are 65,536 ids only, as in a container."""
INSTALL: Final = "apt-get install bubblewrap"
NAMESPACES: Final = ("--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try")
MAY_SWITCH: Final = (
    *("--cap-drop", "ALL"),
    *("--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"),
)
"""What bwrap leaves to a program that root starts, so that it can become another user."""
_ALL_SHOWN: Final = ("--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev")


@dataclass(frozen=True, slots=True)
class Tools:
    """How programs are confined here.

    `bwrap`, `setpriv` and `prlimit` are paths, empty where one cannot be used; `lacking` says why
    bwrap cannot, and what mends it. `userns`: there are user namespaces. `uids`: the referee is
    root, and each bot can have one of these ids. `options` are those of bwrap that older ones have
    not."""

    bwrap: str = ""
    setpriv: str = ""
    prlimit: str = ""
    lacking: str = ""
    version: str = ""
    userns: bool = False
    uids: range | None = None
    options: frozenset[str] = frozenset()

    @property
    def counts_processes(self) -> bool:
        """Whether RLIMIT_NPROC, set inside, counts the processes of one bot alone."""
        if self.uids is not None:
            return bool(self.prlimit)
        return bool(self.bwrap and self.prlimit) and self.userns and _counts_by_namespace()


@cache
def tools(path: str | None = None) -> Tools:
    """What there is in the folders of PATH, or of `path`."""
    bwrap, setpriv, prlimit = (
        shutil.which(name, path=path) or "" for name in ("bwrap", "setpriv", "prlimit")
    )
    here = Tools(bwrap, setpriv, prlimit)
    if not here.bwrap:
        return _without(here, f"bubblewrap is not installed: {INSTALL}")
    said, _ = try_out([here.bwrap, "--help"])
    version, _ = try_out([here.bwrap, "--version"])
    options = frozenset(re.findall(r"^\s+(--[\w-]+)", said, re.MULTILINE))
    here = replace(here, version=version.strip(), options=options, userns=_has_userns(here.bwrap))
    failure = ""
    for candidate, trial in _ways(here):
        failure, status = try_out(trial)
        if status == 0:
            return candidate
    return _without(here, _why(failure))


def _ways(here: Tools) -> Iterator[tuple[Tools, list[str]]]:
    """How bwrap might be used, the better first, and what shows whether it can."""
    begin = [here.bwrap, *NAMESPACES, "--unshare-net"]
    uids = _uids(here)
    if uids is not None:
        program = as_user(here.setpriv, uids[0], ["true"])
        yield replace(here, uids=uids), [*begin, *MAY_SWITCH, *_ALL_SHOWN, "--", *program]
    yield here, [*begin, "--unshare-user", *_ALL_SHOWN, "--", "true"]


def _without(here: Tools, lacking: str) -> Tools:
    """The tools without bwrap: root may still start bots as somebody else, if he can read them."""
    uids = _uids(here)
    if uids is not None and not all(
        try_out(as_user(here.setpriv, uids[0], ["test", how, str(path)]))[1] == 0
        for how, path in _needed()
    ):
        uids = None
    return replace(here, bwrap="", lacking=lacking, userns=False, uids=uids)


def _needed() -> Iterator[tuple[str, Path]]:
    """What a bot must be able to read, pass or execute where nothing is mounted for it."""
    bots = cache_root() / "bots"
    with suppress(OSError):
        bots.mkdir(parents=True, exist_ok=True)
    yield "-r", ROOT / "knavery/__init__.py"
    yield "-x", Path(sys.executable)
    yield "-x", Path(tempfile.gettempdir())
    yield "-x", bots


def as_user(setpriv: str, uid: int, program: Sequence[str]) -> list[str]:
    """The command that root runs a program with as somebody who may do nothing."""
    ids = ["--reuid", str(uid), "--regid", str(uid), "--clear-groups", "--inh-caps=-all"]
    return [setpriv, *ids, "--no-new-privs", "--", *program]


def _has_userns(bwrap: str) -> bool:
    return try_out([bwrap, "--unshare-user", "--uid", "1000", *_ALL_SHOWN, "--", "true"])[1] == 0


def _uids(here: Tools) -> range | None:
    """Ids for bots, if this is root and has them."""
    if os.geteuid() != 0 or not here.setpriv:
        return None
    try:
        lines = Path("/proc/self/uid_map").read_text().splitlines()
    except OSError:
        return None
    maps = [tuple(map(int, line.split())) for line in lines]
    for ids in (UIDS, UIDS_WITHIN):
        if any(first <= ids[0] and ids[-1] < first + count for first, _, count in maps):
            return ids
    return None


def _counts_by_namespace() -> bool:
    """Since Linux 5.14 a user namespace counts its own processes."""
    numbers = re.findall(r"\d+", os.uname().release)[:2]
    return tuple(map(int, numbers)) >= (5, 14)


def _why(failure: str) -> str:
    """Why bwrap does not work, and what to do."""
    last = failure.strip().splitlines()[-1] if failure.strip() else "it says nothing"
    mend = (
        "allow user namespaces (sysctl kernel.unprivileged_userns_clone=1 on older Debians, an "
        "AppArmor profile for bwrap on Ubuntu), or in a container allow CAP_SYS_ADMIN"
    )
    return f"bubblewrap cannot be used ({last}): {mend}"

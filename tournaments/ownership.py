"""Who may write a tournament's file: one process at a time, and none after its death.

A lock of the operating system on a file beside it, which holds the owner's process id and is
gone after a clean end. (Not a lock on the file itself: closing any handle on that would undo
SQLite's own locks.)
"""

import fcntl
import os
from pathlib import Path


class OwnedError(Exception):
    """Another process has the file; the message says which, as far as it is known."""


class Ownership:
    """Held from construction to `release`; OwnedError or OSError when it cannot be had."""

    def __init__(self, path: Path) -> None:
        self._path = path.with_name(path.name + "-lock")
        self._handle = self._take()
        os.ftruncate(self._handle, 0)
        os.pwrite(self._handle, str(os.getpid()).encode(), 0)

    def release(self) -> None:
        """Let others have the file."""
        if self._is(self._handle):
            self._path.unlink()
        os.close(self._handle)

    def _take(self) -> int:
        while True:
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if self._is(handle):
                    return handle
            except BlockingIOError as exc:
                raise OwnedError(_owner(handle)) from exc
            except BaseException:
                os.close(handle)
                raise
            os.close(handle)

    def _is(self, handle: int) -> bool:
        """Whether the lock file still is the one that was opened: its owner may just have gone."""
        try:
            return os.path.samestat(os.fstat(handle), self._path.stat())
        except FileNotFoundError:
            return False


def _owner(handle: int) -> str:
    owner = os.pread(handle, 20, 0).decode("ascii", "replace")
    os.close(handle)
    return f"process {owner}" if owner.isdigit() else "another process"


def writer(path: Path) -> int | None:
    """The process that has a file to write it; None if there is none, as far as one may see.
    Whoever asks keeps nobody from having it."""
    try:
        pid = int(path.with_name(path.name + "-lock").read_text("ascii"))
    except (OSError, ValueError):
        return None
    return pid if Path(f"/proc/{pid}").exists() else None

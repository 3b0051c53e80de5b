"""What a referee that was killed leaves in the folder for temporary files, found and removed.

Every such folder of ours is named for the process that made it: `knavery-NAMESPACE.PID.START-...`,
where PID is that of a process namespace and START the moment in which it began, so that a later
process of the same number is not mistaken for it. What another namespace's processes made is left
alone: whether they live cannot be seen from here.
"""

import os
import re
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

_OURS: Final = re.compile(r"knavery-([0-9a-f]+)\.([0-9a-f]+)\.([0-9a-f]+)-\w+")


def prefix() -> str:
    """How the name of a temporary folder of this process begins."""
    pid = os.getpid()
    return f"knavery-{_namespace():x}.{pid:x}.{_started(pid) or 0:x}-"


def scratch() -> Path:
    """A new folder for a bot's own files."""
    return Path(tempfile.mkdtemp(prefix=prefix()))


def remove(folder: Path) -> int:
    """Remove what dead processes of this user left in a folder; how many folders that were."""
    removed = 0
    for path in folder.glob("knavery-*"):
        if _is_left(path):
            shutil.rmtree(path, ignore_errors=True)
            removed += 1
    return removed


def _is_left(path: Path) -> bool:
    found = _OURS.fullmatch(path.name)
    if found is None or path.is_symlink():
        return False
    namespace, pid, started = (int(part, 16) for part in found.groups())
    try:
        ours = path.lstat().st_uid == os.geteuid()
    except OSError:
        return False
    return ours and namespace == _namespace() and _started(pid) != started


def _namespace() -> int:
    """Number of the namespace that process ids belong to here; its last digits tell them apart."""
    with suppress(OSError):
        return os.stat("/proc/self/ns/pid").st_ino & 0xFFFF
    return 0


def _started(pid: int) -> int | None:
    """When a process began, in ticks since the machine's start; None if there is none."""
    with suppress(OSError):
        text = Path(f"/proc/{pid}/stat").read_text()
        return int(text.rpartition(")")[2].split()[19])
    return None

"""How a process ended, or why it could not begin, in words."""

from __future__ import annotations

import errno
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Exit:
    """How a process ended: an exit status or a signal's number; neither if that is unknown."""

    status: int | None
    signal: int | None
    words: str
    left: int = 0
    """Processes of its own that it left running when it ended by itself."""
    printed: int = 0
    """Bytes that it printed, of which the log keeps the first and the last."""


def exit_of(code: int, *, asked: bool, wrapped: bool) -> Exit:
    """From a code as `subprocess.Popen.returncode`; `asked` says that the referee ended it,
    `wrapped` that another program passed the code on."""
    code = _code(code) if wrapped else code
    if code >= 0:
        status, number, words = code, None, f"exited with status {code}"
    else:
        status, number, words = None, -code, f"killed by {_signal_words(-code)}"
    return Exit(status, number, f"ended by the referee ({words})" if asked else words)


def _code(code: int) -> int:
    """The code of a program, from that of another which passed it on."""
    return 128 - code if 128 < code <= 128 + signal.SIGRTMAX else code


def _signal_words(number: int) -> str:
    try:
        return f"{signal.Signals(number).name} ({signal.strsignal(number)})"
    except ValueError:
        return f"signal {number}"


def why_not(failure: Mapping[str, Any], command: str) -> str:
    """A keeper's failure to start `command`, in words."""
    if failure.get("file") == command:
        match failure["errno"]:
            case errno.EACCES if "/" in command:
                return f"{command!r} may not be executed; chmod +x allows it"
            case errno.ENOENT | errno.EACCES:
                return f"there is no command {command!r}, or not the interpreter it names"
            case errno.ENOEXEC:
                return f"{command!r} is no program; a script begins with a line such as #!/bin/sh"
    where = failure.get("file")
    return f"{failure['error']}: {where}" if where else str(failure["error"])

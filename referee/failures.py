"""What the machine fails to do for the referee, which is no bot's fault (design, section 5)."""

import errno
import os
from collections.abc import Iterator, Mapping
from typing import Final


class MachineFailure(Exception):  # noqa: N818
    """The machine failed the referee. What was being played is void, and is played again. The
    message is one line that says what happened, and the mend."""


SCARCE: Final[Mapping[int, str]] = {
    errno.EMFILE: "no file descriptor is left: raise `ulimit -n`",
    errno.ENFILE: "no file descriptor is left on this machine: end other programs",
    errno.EAGAIN: "no process may be started any more: raise `ulimit -u`, or end other programs",
    errno.ENOMEM: "no memory is left: end other programs",
    errno.ENOSPC: "the disk is full: free some space",
    errno.EDQUOT: "the quota of this user is used up: free some space",
    errno.EFBIG: "a file may not grow any more: raise `ulimit -f`",
    errno.EROFS: "the disk cannot be written: see that it can",
    errno.EIO: "the disk cannot be read or written: look after it",
}
"""What a machine may lack, by the number of the error that says so, with the mend."""
NO_THREAD: Final = "can't start new thread"
"""What Python says for EAGAIN where it was to start a thread."""
_OF_DISK: Final = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO}
"""Those where it matters which file it was."""


def scarce(number: int | None, what: str) -> MachineFailure:
    """What failed, and for lack of what."""
    why = SCARCE.get(number or 0) or os.strerror(number or 0)
    return MachineFailure(f"{what}: {why}")


def machine_failure(problem: BaseException) -> MachineFailure | None:
    """The machine's failure that an error is, or that came from tasks all of which failed so; None
    for any other error, also when it came with one of these."""
    found = [_failure(each) for each in leaves(problem)]
    return found[0] if found and None not in found else None


def _failure(problem: BaseException) -> MachineFailure | None:
    if isinstance(problem, MachineFailure):
        return problem
    if isinstance(problem, RuntimeError) and str(problem) == NO_THREAD:
        return scarce(errno.EAGAIN, "the referee cannot go on")
    if isinstance(problem, OSError) and problem.errno in SCARCE:
        what = problem.filename if problem.errno in _OF_DISK else None
        return scarce(problem.errno, f"{what or 'the referee cannot go on'}")
    return None


def leaves(problem: BaseException) -> Iterator[BaseException]:
    """The exceptions of a group that may hold groups; of any other, itself."""
    if isinstance(problem, BaseExceptionGroup):
        for each in problem.exceptions:
            yield from leaves(each)
    else:
        yield problem

"""How one life of a bot's process ends: why, its last words, and putting all of it away."""

import shutil
from pathlib import Path

import trio

from referee.failures import leaves
from referee.house import Line
from referee.process import Process

GOODBYE_GRACE = 5.0
"""Seconds that a process has to exit after its goodbye."""
EXIT_GRACE = 2.0
"""Seconds in which a process whose stream ended is expected to end too."""


class Died(Exception):  # noqa: N818
    """This life of a player's process is over; the text says why."""


def death(cause: str) -> BaseExceptionGroup[Died]:
    """What a life raises when it is over; the text says why."""
    return BaseExceptionGroup("the process is gone", [Died(cause)])


def first_of(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first exception of a group that may hold groups."""
    return next(leaves(group))


def last_words(process: Process) -> str:
    """The last line that the bot printed, to go behind a cause."""
    lines = [line for line in process.log_tail().splitlines() if line.strip()]
    return f"; its last words: {lines[-1].strip()[:300]}" if lines else ""


async def clear(post: Line | None, process: Process | None, scratch: Path, grace: float) -> None:
    """Ends a process and all that belongs to it; `grace` in seconds, to exit by itself."""
    with trio.CancelScope(shield=True):
        if post is not None:
            await post.close()
        if process is not None:
            with trio.move_on_after(grace):
                await process.wait()
            await process.stop()
        shutil.rmtree(scratch, ignore_errors=True)

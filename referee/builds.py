"""Commands that make a bot ready to be run, each to its end and into a log (design section 8)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import trio

from referee.bot_files import BotError
from referee.process import Exit, Process, StartError, open_launcher

BUILD_LIMIT: Final = 1800.0
"""Seconds that one command may take."""
BUILD_LINES: Final = 12
"""Lines of a failed command's output that are shown."""
_OURS: Final = ("KNAVERY_", "GRPC_")


def run(
    what: str, argv: Sequence[str], cwd: Path, log_dir: Path, extra: Mapping[str, str] | None = None
) -> None:
    """Run a command in `cwd`; `what` begins the complaint if it fails, as in "alice: its build".

    It sees the environment of Knavery without Knavery's own variables, changed by `extra`. Blocks,
    and runs trio for it. Raises BotError, whose message goes on with the last lines of output.
    """
    env = {key: value for key, value in os.environ.items() if not key.startswith(_OURS)}
    trio.run(_run, what, argv, cwd, log_dir, env | dict(extra or {}))


async def _run(
    what: str, argv: Sequence[str], cwd: Path, log_dir: Path, env: Mapping[str, str]
) -> None:
    async with open_launcher(log_dir) as launcher:
        try:
            process = await launcher.start("build", argv, cwd, env)
        except StartError as error:
            raise BotError(f"{what} {str(error).removeprefix('build ')}") from error
        end: Exit | None = None
        with trio.move_on_after(BUILD_LIMIT):
            end = await process.wait()
        if end is None or end.status != 0:
            raise BotError(_failure(what, end, process))


def _failure(what: str, end: Exit | None, process: Process) -> str:
    how = end.words if end else f"is not done after {BUILD_LIMIT:g} s"
    lines = process.log_tail().rstrip().splitlines()[-BUILD_LINES:]
    return "\n  ".join((f"{what} {how}; {process.log_path} ends:", *lines))

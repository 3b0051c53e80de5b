"""What all generations of a run share: where bots connect, who starts them, how many may live, and
whose turn it is to play."""

import gc
import math
import os
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Protocol

import trio

from knavery.v1.referee_pb2 import FromReferee, Hello, Moves, Welcome
from referee import bots, leftovers
from referee.failures import scarce
from referee.limits import SandboxRules
from referee.match import ClockRules, FaultRules
from referee.process import Launcher, LauncherDied, Process, open_launcher
from referee.sandbox import Sandbox, open_sandbox
from referee.server import open_door
from referee.streams import Meter

COLLECT_EVERY = 100_000
"""New objects between searches for garbage in cycles. What a decision leaves behind is freed by
reference counts; Python's own 700 spent 7 % of the referee's time on searching."""

SPARE_FILES = 2
"""File descriptors that a referee needs to let a bot in."""


class Line(Protocol):
    """What a process is talked to through: a `Post`, or one that a rehearsal listens in on."""

    address: str
    token: str
    refused: list[str]

    @property
    def cpu(self) -> float | None: ...
    async def hello(self) -> Hello: ...
    async def welcome(self, welcome: Welcome) -> None: ...
    async def reject(self, reason: str) -> None: ...
    async def send(self, message: FromReferee | bytes) -> None: ...
    async def receive(self) -> tuple[float, Moves]: ...
    async def caught_up(self) -> None: ...
    def measure(self, meter: Meter) -> None: ...
    async def close(self) -> None: ...


class Listener(Protocol):
    """What makes lines: a `Door`, as a rule."""

    async def listen(self) -> Line: ...


class Turn:
    """When a generation may play: after the one before it. Whoever plays it sets `over`.

    `draining`: little is left to be played, and the next one's processes may start. `waited`:
    seconds from when its turn came until the last of its processes had said hello."""

    def __init__(self, before: "Turn | None" = None) -> None:
        self.draining = trio.Event()
        self.over = trio.Event()
        self.waited = 0.0
        self._before = before
        self._came: float | None = None

    @property
    def is_mine(self) -> bool:
        """Whether matches may begin."""
        return self._before is None or self._before.over.is_set()

    async def comes(self) -> None:
        """Waits until matches may begin."""
        if self._before is not None:
            await self._before.over.wait()
        self._came = trio.current_time()

    def arrived(self) -> None:
        """One more process said hello for the first time."""
        if self._came is not None:
            self.waited = trio.current_time() - self._came


@dataclass(frozen=True, slots=True)
class House:
    """What a whole run shares: where bots connect, who starts them, and the rules for both.

    `starts` lets as many processes start at once as there are cores, or one fewer while others
    play; `places` bounds the processes that live; `leaving` is where those of the last generation
    say goodbye while the next one begins; `start_times` are seconds from exec to hello."""

    door: Listener
    launcher: Launcher
    sandbox: Sandbox
    game: str
    clock: ClockRules
    faults: FaultRules
    starts: trio.CapacityLimiter
    places: trio.CapacityLimiter
    leaving: trio.Nursery
    start_times: list[float]
    now: Callable[[], float] = perf_counter
    """The referee's own time, in seconds, in which messages are stamped."""

    def vouch(self) -> None:
        """That a process which has just ended, or has not come, had what it needs from here;
        MachineFailure otherwise. Asked before its bot is blamed."""
        if self.launcher.gone():
            raise LauncherDied(self.launcher.log_path)
        try:
            for handle in [os.open(os.devnull, os.O_RDONLY) for _ in range(SPARE_FILES)]:
                os.close(handle)
        except OSError as error:
            raise scarce(error.errno, "the referee cannot go on") from error

    async def start(self, name: str, prepared: bots.Prepared, line: Line, scratch: Path) -> Process:
        """Starts a bot that connects to a line, as the sandbox has it; raises StartError.
        `scratch` is its own folder, which it gets where it has no other."""
        socket = Path(line.address.removeprefix("unix:"))
        env = bots.environment(line.address, line.token, scratch, prepared.variables)
        command = self.sandbox.bot(
            prepared.argv, prepared.cwd, env, prepared.shown, socket, scratch
        )
        return await self.launcher.start(
            name, command.argv, command.cwd, command.env, command.confinement
        )

    @property
    def can_overlap(self) -> bool:
        """Whether processes can start without taking time from those that play."""
        return cores() > 1


@asynccontextmanager
async def open_house(
    game: str,
    clock: ClockRules,
    faults: FaultRules,
    log_dir: Path,
    max_processes: int | None = None,
    sandbox: SandboxRules | None = None,
) -> AsyncIterator[House]:
    """A house for a block; at its end no process, socket or file of it is left but the logs.
    SandboxError where the sandbox must be there, and is not.

    Never do more than `max_processes` bot processes live at once; a generation may not need
    more."""
    for folder in {tempfile.gettempdir(), "/tmp"}:
        leftovers.remove(Path(folder))
    thresholds = gc.get_threshold()
    gc.set_threshold(COLLECT_EVERY, *thresholds[1:])
    try:
        with open_sandbox(sandbox or SandboxRules()) as confining:
            async with (
                open_launcher(log_dir) as launcher,
                open_door() as door,
                trio.open_nursery() as leaving,
            ):
                starts = trio.CapacityLimiter(cores())
                places = trio.CapacityLimiter(max_processes or math.inf)
                yield House(
                    door,
                    launcher,
                    confining,
                    game,
                    clock,
                    faults,
                    starts,
                    places,
                    leaving,
                    [],
                    door.now,
                )
    finally:
        gc.set_threshold(*thresholds)


def cores() -> int:
    """Processor cores that this process may use."""
    return len(os.sched_getaffinity(0))

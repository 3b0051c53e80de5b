"""Bot processes, started, watched and ended (design section 3).

The work is done by a launcher program outside of the referee (`launcher.py` says how and why); this
is the trio side of its sockets. Nothing of a bot outlives its `Process.stop`, the block of
`open_launcher`, or the referee itself, however that ends.
"""

from __future__ import annotations

import array
import errno
import itertools
import json
import os
import re
import select
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import trio

from referee.cgroups import Cgroup
from referee.cpu import Tree, program
from referee.exits import Exit, exit_of, why_not
from referee.failures import SCARCE, MachineFailure, scarce
from referee.proc import descendants, status

PROGRAM: Final = (
    "import sys; sys.path.insert(0, sys.argv[1]); import referee.launcher as launcher;"
    "launcher.main(int(sys.argv[2]))"
)
ROOT: Final = Path(__file__).parents[1]
MESSAGE_BYTES: Final = 1 << 16
"""The most that is read as one message of a keeper."""
CLOSING: Final = 10.0
"""Seconds that everything may take to end when a launcher is closed."""

TRIAL: Final = 20.0
"""Seconds that a command may take which is only tried out."""


class StartError(Exception):
    """A program could not be started; one line for the person who named it."""


class LauncherDied(MachineFailure):
    """The launcher ended before its time, and every bot with it: no bot's fault."""

    def __init__(self, log: Path) -> None:
        super().__init__(f"the launcher of the bots has died; {log} may say why")


class CannotConfine(MachineFailure):
    """What bounds a bot could not be set up: no bot's fault."""


@dataclass(frozen=True, slots=True)
class Confinement:
    """What bounds a process and all that descends from it, beside the command that starts it.

    `cgroup` is its control group, if it has one; `rlimits` are bounds of each of its processes, by
    the names of setrlimit(2); `polled` are "memory" (bytes) and "processes", which are looked at
    now and then, and past which it is ended. `wrapped` says that the command is one that starts the
    program as its child, and tells of its death by signal N in the exit status 128 + N.
    """

    cgroup: Cgroup | None = None
    rlimits: Mapping[str, int] = field(default_factory=dict)
    polled: Mapping[str, int] = field(default_factory=dict)
    wrapped: bool = False

    def request(self) -> dict[str, Any]:
        """What the keeper is told of it."""
        group = self.cgroup.request() if self.cgroup else None
        return {"group": group, "rlimits": dict(self.rlimits), "polled": dict(self.polled)}


FREE: Final = Confinement()
"""No bounds at all."""


class Process:
    """A bot process and all that descends from it, as one. Made by `Launcher.start`."""

    def __init__(
        self,
        launcher: Launcher,
        name: str,
        log_path: Path,
        channel: trio.socket.SocketType,
        confinement: Confinement,
    ) -> None:
        self.name = name
        self.log_path = log_path
        self.pid = 0
        """Of the process that was started: in a sandbox, of bwrap, and the bot is below it."""
        self._keeper = 0
        self.cgroup = confinement.cgroup
        """The control group of all of it, if there is one; what it has used ends with it."""
        self._wrapped = confinement.wrapped
        self.started_at = 0.0
        """`trio.current_time()` when its program began."""
        self._launcher = launcher
        self._channel = channel
        self._receiving = trio.Lock()
        self._exit: Exit | None = None
        self._died = False

    async def wait(self) -> Exit:
        """Wait until nothing of it is left; any number of tasks may. Raises LauncherDied."""
        async with self._receiving:
            if self._exit is None and not self._died:
                self._conclude(await self._receive())
        if self._exit is None:
            raise LauncherDied(self._launcher.log_path)
        return self._exit

    async def stop(self, grace: float = 0.0) -> None:
        """End it wholly and wait until that is done: SIGTERM if `grace` seconds are given, then
        SIGKILL. May be called again, also with less grace; cancelled, it goes on unwaited for."""
        with suppress(OSError, trio.ClosedResourceError):
            await self._channel.send(json.dumps({"grace": grace}).encode())
        with suppress(LauncherDied):
            await self.wait()

    def tree(self, *, adapted: bool) -> Tree:
        """All its processes, to be timed and frozen; `adapted` as in `bots.Prepared`."""
        return Tree(self._launcher.pid, self._keeper, self.pid, self.cgroup, adapted=adapted)

    @property
    def program(self) -> int:
        """The process id of the program itself, once it has begun: not of what confines it."""
        return program(self.pid)

    def peak_memory(self) -> int:
        """The most memory, in bytes, that each of its processes that now run has had, added up."""
        keeper = status(self.pid, "PPid")
        if not keeper:
            return 0
        return 1024 * sum(status(pid, "VmHWM") for pid in descendants(keeper))

    def log_tail(self, limit: int = 4000) -> str:
        """The last `limit` characters, at the most, that it printed, made harmless."""
        return log_tail(self.log_path, limit)

    async def begin(self, request: Mapping[str, Any]) -> None:
        """Hand the request to the keeper and await that the program runs; `start` calls it."""
        try:
            await self._channel.send(json.dumps(request).encode())
        except OSError as error:  # unless it is this, the reply says more
            if error.errno == errno.EMSGSIZE:
                raise StartError(
                    f"{self.name} cannot be started: its arguments and environment are too long"
                ) from None
        reply = await self._receive()
        if reply is None:
            if self._launcher.gone():
                raise LauncherDied(self._launcher.log_path)
            raise scarce(errno.EMFILE, f"{self.name} could not be started")
        if reply.get("ours"):
            raise CannotConfine(f"{reply['file']}: {reply['error']}: no control group can be made")
        if "error" in reply and reply["errno"] in SCARCE:
            raise scarce(reply["errno"], f"{self.name} could not be started")
        if "error" in reply:
            raise StartError(f"{self.name} cannot be started: {why_not(reply, request['argv'][0])}")
        self.started_at = trio.current_time()
        self.pid, self._keeper = reply["pid"], reply["keeper"]

    async def _receive(self) -> dict[str, Any] | None:
        """The keeper's next message; None when its socket is closed."""
        message = b""
        with suppress(OSError, trio.ClosedResourceError):
            try:
                message = await self._channel.recv(MESSAGE_BYTES)
            except ConnectionResetError:  # said once, and before what was sent until then
                message = await self._channel.recv(MESSAGE_BYTES)
        return json.loads(message) if message else None

    def _conclude(self, report: dict[str, Any] | None) -> None:
        """Take the keeper's last word; without one, the bot has killed it, or the launcher died."""
        if report is None:
            self._died = self._launcher.gone()
            words = "was lost: the process that watched over it was killed"
            self._exit = None if self._died else Exit(None, None, words)
        elif report["orphaned"]:
            self._died = True
        else:
            how = exit_of(report["exit"], asked=report["asked"], wrapped=self._wrapped)
            more = f"; it used {report['exceeded']}" if report["exceeded"] else ""
            left, printed = report["left"], report["printed"]
            self._exit = replace(how, words=how.words + more, left=left, printed=printed)
        self.close()

    def release(self) -> None:
        """Have its keeper end it at once; what it reports then can still be awaited."""
        with suppress(OSError):
            self._channel.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """Let go of it; if it still runs, its keeper ends it."""
        self._channel.close()
        self._launcher.forget(self)


class Launcher:
    """Starts processes. Made by `open_launcher`."""

    def __init__(self, log_dir: Path) -> None:
        self.log_path = log_dir / "launcher.log"
        self._log_dir = log_dir
        self._numbers = itertools.count()
        self._processes: set[Process] = set()
        self._sending = trio.Lock()
        self._control, theirs = _socket_pair()
        with theirs, self.log_path.open("ab") as log:
            self._program = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", PROGRAM, ROOT, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                cwd="/",
                env={k: v for k, v in os.environ.items() if k == "LD_LIBRARY_PATH"},
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        """The launcher's own process id."""
        return self._program.pid

    async def start(
        self,
        name: str,
        argv: Sequence[str],
        cwd: Path,
        env: Mapping[str, str],
        confinement: Confinement = FREE,
    ) -> Process:
        """Start a program with exactly this environment, in a session of its own.

        Returns once the program runs; any number of tasks may start some at once. Its output goes
        to a log in the launcher's folder. Raises StartError and MachineFailure. Cancelled,
        nothing of it runs.
        """
        log_path = self._log_dir / f"{next(self._numbers):04d}-{_file_name(name)}.log"
        try:
            channel, theirs = _socket_pair()
        except OSError as error:
            raise scarce(error.errno, f"{name} could not be started") from error
        process = Process(self, name, log_path, channel, confinement)
        self._processes.add(process)
        try:
            with theirs:
                await self._pass(theirs.fileno())
            await process.begin(
                {
                    "argv": [*argv],
                    "cwd": str(cwd),
                    "env": dict(env),
                    "log": str(log_path),
                    "bounds": confinement.request(),
                }
            )
        except BaseException:
            process.close()
            raise
        return process

    async def _pass(self, fd: int) -> None:
        rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))
        try:
            async with self._sending:
                await self._control.sendmsg([b"+"], [rights])
        except ConnectionError:
            raise LauncherDied(self.log_path) from None

    @property
    def running(self) -> tuple[Process, ...]:
        """The processes that have not been seen to end, in no order."""
        return tuple(self._processes)

    def gone(self) -> bool:
        """Whether the launcher has ended. It writes nothing, so an event can only be its end."""
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        return bool(poll.poll(0))

    def forget(self, process: Process) -> None:
        """Called when a process has ended."""
        self._processes.discard(process)

    async def close(self) -> None:
        """End every process and the launcher; raises nothing, and takes CLOSING at the most."""
        for process in self._processes:
            process.release()
        self._control.shutdown(socket.SHUT_WR)
        with trio.move_on_after(CLOSING):
            await _wait_for(self._program.pid)
            for process in tuple(self._processes):
                with suppress(LauncherDied):
                    await process.wait()
        self._program.kill()
        self._program.wait()
        for process in tuple(self._processes):
            process.close()
        self._control.close()


@asynccontextmanager
async def open_launcher(log_dir: Path) -> AsyncIterator[Launcher]:
    """A launcher for a block; at its end everything that was started is ended wholly.

    The folder, made if it is missing, takes one bounded log per process, numbered from 0; logs of
    an earlier launcher there are overwritten.
    """
    log_dir.mkdir(parents=True, exist_ok=True)
    launcher = Launcher(log_dir.resolve())
    try:
        yield launcher
    finally:
        with trio.CancelScope(shield=True):
            await launcher.close()


def try_out(argv: Sequence[str]) -> tuple[str, int]:
    """What a command that takes no time prints, and its exit status. Blocks, for TRIAL at most."""
    try:
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd="/",
            timeout=TRIAL,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error), -1
    return printable(done.stdout.decode(errors="replace")), done.returncode


def _socket_pair() -> tuple[trio.socket.SocketType, socket.socket]:
    """One end for trio, and one that blocks for a launcher or a keeper."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    return trio.socket.from_stdlib_socket(ours), theirs


async def _wait_for(pid: int) -> None:
    """Until a child of this process has ended; it stays to be reaped."""
    try:
        fd = os.pidfd_open(pid)
    except OSError:  # no file descriptor is left
        while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            await trio.sleep(0.01)
        return
    try:
        await trio.lowlevel.wait_readable(fd)
    finally:
        os.close(fd)


def log_tail(path: Path, limit: int = 4000) -> str:
    """The last `limit` characters, at the most, of a bot's log, made harmless."""
    with suppress(OSError), path.open("rb") as log:
        log.seek(max(0, log.seek(0, os.SEEK_END) - 4 * limit))
        return printable(log.read().decode(errors="replace"))[-limit:]
    return ""


def printable(text: str) -> str:
    """A text of an untrusted program made harmless: lines of printable characters only."""
    plain = _ESCAPES.sub("", text).expandtabs(4)
    lines = re.split(r"\r\n|[\n\r\v\f]", plain)
    return "\n".join(
        "".join(char if char.isprintable() else "\ufffd" for char in line) for line in lines
    )


_ESCAPES: Final = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # a control sequence, such as a colour
    r"|\x1b[\]PX^_].*?(?:\x07|\x1b\\|$)"  # a string, such as a window's title
    r"|\x1b[ -/]*[0-~]",
    re.MULTILINE,
)


def _file_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]", "_", name)[:40]

"""Starts bots and ends them wholly, however the referee itself ends (design section 3).

A program of its own, in one file because it runs without the package, and with the standard
library alone. The referee runs one, `launcher.py FD`, and hands it one socket per bot over the
control socket FD. For each the launcher forks a *keeper*, which reads the request from the bot's
socket, starts the bot, keeps its log, reports its exit, and ends it when asked to.

Why a keeper per bot: a process that daemonises (double fork, `setsid`) loses its parent, its group
and its session, and it may clear any mark put into its environment; only the kernel knows whose it
is. The keeper is a child subreaper, so every descendant that loses its parent becomes the keeper's
own child: all of them are gone exactly when the keeper has no child left, and no other bot's is
ever touched. The launcher is a subreaper too and inherits only what a bot that killed its keeper
left behind: it ends that. A keeper costs about 5 ms of CPU to start a bot, and 2 MB.

Nothing here waits for the referee: when a bot's socket closes, its keeper ends the bot and goes;
when the control socket closes, the launcher sees the keepers out and goes; when the launcher dies,
its keepers end their bots. Each socket is a SOCK_SEQPACKET of JSON messages:

    referee -> keeper   {"argv", "cwd", "env", "log"}, then {"grace": seconds} to end the bot
    keeper -> referee   {"pid"} or {"error"}, then {"exit": code, "asked": bool, "orphaned": bool,
                        "left": processes, "printed": bytes}

`exit` is as `subprocess.Popen.returncode`, `left` how many processes it left running when it ended
by itself; a socket that closes without it tells of a keeper that was killed. Either way nothing of
the bot is left by then.
"""

from __future__ import annotations

import ctypes
import functools
import json
import math
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Container, Iterator
from contextlib import suppress
from typing import Any, Final, NoReturn

MESSAGE_BYTES: Final = 1 << 20
"""The most that is read as one message."""
LOG_PART: Final = 64 * 1024
"""Bytes kept of the beginning of a log, and bytes kept of its end."""
PIPE_READS: Final = 16
"""Reads of LOG_PART that empty the largest pipe."""
LOG_REST: Final = 0.02
"""Seconds between two reads of a bot's output, so that a flood waits for itself alone."""
SWEEP: Final = 0.01
"""Seconds between two sweeps over descendants that are being killed."""
CLOSING: Final = 3.0
"""Seconds that keepers have to end their bots when the launcher closes; then it does it itself."""

ENDING_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)

PR_SET_PDEATHSIG: Final = 1
PR_SET_DUMPABLE: Final = 4
PR_SET_CHILD_SUBREAPER: Final = 36

_libc = ctypes.CDLL(None, use_errno=True)


def prctl(option: int, value: int) -> None:
    """prctl(2) with one argument; raises OSError."""
    if _libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0) != 0:
        errno = ctypes.get_errno()
        raise OSError(errno, os.strerror(errno))


def children(pid: int) -> list[int]:
    """The direct children of a process; empty when it has gone."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
        lists = [_read(f"/proc/{pid}/task/{thread}/children") for thread in threads]
    except FileNotFoundError:
        return children_by_scan(pid)
    except OSError:
        return []
    return [int(child) for text in lists for child in text.split()]


def children_by_scan(pid: int) -> list[int]:
    """The same, slower, on kernels without CONFIG_PROC_CHILDREN."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            state_and_parent = _read(f"/proc/{entry}/stat").rpartition(b")")[2].split()
            if int(state_and_parent[1]) == pid:
                found.append(int(entry))
    return found


def _read(path: str) -> bytes:
    with open(path, "rb", buffering=0) as file:
        return file.read()


def descendants(pid: int, spare: Container[int] = ()) -> Iterator[int]:
    """Everything below a process, parents first, except the children in `spare` and what is below.

    Lazy, so that each can be signalled as soon as it is seen: one that flees by forking has the
    least time for it.
    """
    found = [child for child in children(pid) if child not in spare]
    while found:
        parent = found.pop()
        found += children(parent)
        yield parent


def is_running(pid: int) -> bool:
    """Whether a process exists and has not ended."""
    with suppress(OSError):
        return _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    return False


def send(pid: int, number: int) -> None:
    """Send a signal; a process that has gone does not mind."""
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def kill(pid: int) -> None:
    """Kill a process and its group, which grows no more then; but not the group that we are in,
    where a bot is for as long as it has not got its own."""
    with suppress(ProcessLookupError, PermissionError):
        if (group := os.getpgid(pid)) != os.getpgrp():
            os.killpg(group, signal.SIGKILL)
        else:
            os.kill(pid, signal.SIGKILL)


def changed(options: int = 0) -> Iterator[tuple[int, int]]:
    """Reap: (pid, wait status) of each child that has changed.

    Raises ChildProcessError when there is no child left.
    """
    while True:
        pid, status = os.waitpid(-1, os.WNOHANG | options)
        if pid == 0:
            return
        yield pid, status


class Events:
    """Waits for signals and for file descriptors to become readable.

    A new one takes over the signals of this process.
    """

    def __init__(self) -> None:
        self._signals, writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        self._poll = select.poll()
        self._handlers: dict[int, Callable[[], object]] = {}
        self.heed(self._signals, self._clear)

    def heed(self, fd: int, handler: Callable[[], object]) -> None:
        """From now on call `handler` when `fd` is readable or at its end."""
        self._handlers[fd] = handler
        self._poll.register(fd, select.POLLIN)

    def ignore(self, fd: int) -> None:
        """Heed it no more, if it was heeded."""
        if self._handlers.pop(fd, None):
            self._poll.unregister(fd)

    def wait(self, seconds: float) -> None:
        """Return after a signal, after something was handled, or when the time is over."""
        timeout = None if seconds == math.inf else max(0.0, seconds) * 1000
        for fd, _ in self._poll.poll(timeout):
            self._handlers[fd]()

    def _clear(self) -> None:
        with suppress(BlockingIOError):
            while os.read(self._signals, 4096):
                pass


class BoundedLog:
    """A file of the first LOG_PART and the last LOG_PART bytes written to it.

    While it is written to, it holds up to twice as much of the end. A disk that fails or is full
    loses output, not the bot.
    """

    def __init__(self, path: str) -> None:
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        self._size = 0
        self._left_out = 0

    def write(self, data: bytes) -> None:
        with suppress(OSError):
            os.pwrite(self._fd, data, self._size)
            self._size += len(data)
            if self._size >= 4 * LOG_PART:
                self.trim()

    def trim(self) -> None:
        """Leave out the middle, so that no more than the two parts and a note remain."""
        left_out = self._size - 2 * LOG_PART - len(self._note())
        if left_out <= 0:
            return
        with suppress(OSError):
            tail = os.pread(self._fd, LOG_PART, self._size - LOG_PART)
            self._left_out += left_out
            self._size = LOG_PART + os.pwrite(self._fd, self._note() + tail, LOG_PART)
            os.ftruncate(self._fd, self._size)

    def _note(self) -> bytes:
        if not self._left_out:
            return b""
        return b"\n[... %d bytes left out ...]\n" % self._left_out


class Keeper:
    """Starts one bot and watches over it until nothing of it is left."""

    _bot: subprocess.Popen[bytes]
    _log: BoundedLog
    _output: int

    def __init__(self, channel: socket.socket, launcher: int) -> None:
        self._channel = channel
        self._launcher = launcher
        self._asked = False
        self._left = 0
        self._printed = 0
        self._kill_at = math.inf
        self._rest_until = math.inf
        self._events = Events()

    def run(self) -> None:
        """Everything, from the request to the report."""
        prctl(PR_SET_CHILD_SUBREAPER, 1)
        prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        request = self._receive()
        if request is None:
            return
        try:
            self._start(**request)
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            tell(self._channel, **failure(error))
            return
        tell(self._channel, pid=self._bot.pid)
        self._watch()
        self._drain()
        tell(
            self._channel,
            exit=self._bot.returncode,
            asked=self._asked,
            orphaned=self._orphaned(),
            left=self._left,
            printed=self._printed,
        )

    def _start(self, argv: list[str], cwd: str, env: dict[str, str], log: str) -> None:
        self._log = BoundedLog(log)
        self._output, writer = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self._output, False)
        self._bot = subprocess.Popen(
            argv,
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=writer,
            stderr=writer,
            start_new_session=True,
            preexec_fn=functools.partial(die_with, os.getpid()),
        )
        os.close(writer)
        self._events.heed(self._output, self._listen)
        self._events.heed(self._channel.fileno(), self._hear)

    def _watch(self) -> None:
        """Until no descendant is left."""
        while self._reap():
            now = time.monotonic()
            if self._bot.returncode is not None or self._orphaned():
                self._kill_at = min(self._kill_at, now)
            if self._kill_at <= now:
                for pid in descendants(os.getpid()):
                    kill(pid)
            if self._rest_until <= now:
                self._rest_until = math.inf
                self._events.heed(self._output, self._listen)
            self._events.wait(min(self._rest_until, max(self._kill_at, now + SWEEP)) - now)

    def _reap(self) -> bool:
        """Whether a child is left."""
        try:
            for pid, status in changed():
                if pid == self._bot.pid:
                    self._bot.returncode = os.waitstatus_to_exitcode(status)
                    self._left = 0 if self._asked else self._count()
        except ChildProcessError:
            return False
        return True

    def _count(self) -> int:
        """Descendants that run."""
        return sum(1 for pid in descendants(os.getpid()) if is_running(pid))

    def _orphaned(self) -> bool:
        return os.getppid() != self._launcher

    def _receive(self) -> dict[str, Any] | None:
        """The referee's next message; None when its end is closed."""
        message = b""
        with suppress(ConnectionError):
            message = self._channel.recv(MESSAGE_BYTES)
        return json.loads(message) if message else None

    def _hear(self) -> None:
        """End the bot, as the referee asked or because it has gone; the first asked is gentle."""
        message = self._receive()
        if message is None:
            self._events.ignore(self._channel.fileno())
        grace = message["grace"] if message else 0.0
        if grace and not self._asked:
            for pid in descendants(os.getpid()):
                send(pid, signal.SIGTERM)
                send(pid, signal.SIGCONT)
        self._asked = self._asked or self._bot.returncode is None
        self._kill_at = min(self._kill_at, time.monotonic() + grace)

    def _drain(self) -> None:
        """What the pipe still held; no more, should a stranger have got hold of its other end."""
        for _ in range(PIPE_READS):
            if not self._listen():
                break
        self._log.trim()

    def _listen(self) -> bool:
        """Log one read of the bot's output, then rest; whether there was any."""
        data = b""
        with suppress(BlockingIOError):
            data = os.read(self._output, LOG_PART)
        self._events.ignore(self._output)
        if data:
            self._log.write(data)
            self._printed += len(data)
            self._rest_until = time.monotonic() + LOG_REST
        return bool(data)


def die_with(parent: int) -> None:
    """Runs in a bot's process before its program: the bot dies when its keeper does."""
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        if signal.getsignal(number) is signal.SIG_IGN:  # would stay so, as in `sh &` or a test
            signal.signal(number, signal.SIG_DFL)
    if os.getppid() != parent:
        os._exit(1)


def tell(channel: socket.socket, **message: object) -> None:
    """Send a message to the referee, which may have gone."""
    with suppress(OSError):
        channel.send(json.dumps(message).encode())


def failure(error: Exception) -> dict[str, object]:
    """Why a bot could not be started."""
    if isinstance(error, OSError):
        return {"error": error.strerror, "errno": error.errno, "file": error.filename}
    return {"error": str(error), "errno": None, "file": None}


class Launcher:
    """Forks a keeper for each bot and ends what a killed keeper leaves."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._open = True
        self._keepers: dict[int, socket.socket] = {}
        self._bereaved: list[socket.socket] = []
        self._kill_at = math.inf
        self._events = Events()
        self._events.heed(control.fileno(), self._accept)

    def run(self) -> None:
        """Until the control socket is closed and no descendant is left."""
        while self._reap() or self._open:
            self._events.wait(self._tidy())

    def _tidy(self) -> float:
        """Kill what nobody keeps; in how many seconds this should be done again."""
        if time.monotonic() >= self._kill_at:
            for keeper in self._keepers:
                send(keeper, signal.SIGKILL)
        unkept = list(descendants(os.getpid(), spare=self._keepers))
        for pid in unkept:
            kill(pid)
        if not unkept:
            for channel in self._bereaved:
                channel.close()
            self._bereaved.clear()
        return SWEEP if unkept or not self._open else math.inf

    def _reap(self) -> bool:
        """Whether a child is left. A stopped keeper is killed: only its bot can have done that."""
        try:
            for pid, status in changed(os.WUNTRACED):
                if os.WIFSTOPPED(status):
                    send(pid, signal.SIGKILL)
                elif pid in self._keepers:
                    self._bereaved.append(self._keepers.pop(pid))
        except ChildProcessError:
            return False
        return True

    def _accept(self) -> None:
        """Take the socket of a bot that is to be started, or the end of the control socket."""
        message, fds = b"", list[int]()
        with suppress(ConnectionError):
            message, fds, _, _ = socket.recv_fds(self._control, 1, 1, socket.MSG_CMSG_CLOEXEC)
        for fd in fds:
            self._keep(socket.socket(fileno=fd))
        if not message:
            self._open = False
            self._events.ignore(self._control.fileno())
            self._kill_at = time.monotonic() + CLOSING

    def _keep(self, channel: socket.socket) -> None:
        """Fork a keeper. The socket stays open here until all that it may leave has gone too."""
        launcher = os.getpid()
        try:
            pid = os.fork()
        except OSError as error:
            tell(channel, **failure(error))
            channel.close()
            return
        if pid == 0:
            self._become_keeper(channel, launcher)
        self._keepers[pid] = channel

    def _become_keeper(self, channel: socket.socket, launcher: int) -> NoReturn:
        status = 1
        try:
            for inherited in (self._control, *self._keepers.values(), *self._bereaved):
                inherited.close()
            Keeper(channel, launcher).run()
            status = 0
        except Exception:
            sys.excepthook(*sys.exc_info())
        finally:
            os._exit(status)


def main(fd: int) -> None:
    """The launcher of the control socket `fd`. Signals that end others only wake it: a handler,
    unlike SIG_IGN, is not passed on to bots."""
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for number in (*ENDING_SIGNALS, signal.SIGCHLD):
        signal.signal(number, lambda *_: None)
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    prctl(PR_SET_DUMPABLE, 0)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    Launcher(socket.socket(fileno=fd)).run()


if __name__ == "__main__":
    main(int(sys.argv[1]))

"""Starts one bot and watches over it until nothing of it is left: see `launcher.py`."""

from __future__ import annotations

import functools
import json
import math
import os
import signal
import socket
import subprocess
import time
from contextlib import suppress
from typing import Any, Final

from referee.bounds import Bounds
from referee.proc import (
    PR_SET_CHILD_SUBREAPER,
    PR_SET_PDEATHSIG,
    SWEEP,
    Events,
    changed,
    descendants,
    is_running,
    is_wrapper,
    kill,
    prctl,
    send,
)

MESSAGE_BYTES: Final = 1 << 20
"""The most that is read as one message."""
LOG_PART: Final = 64 * 1024
"""Bytes kept of the beginning of a log, and bytes kept of its end."""
PIPE_READS: Final = 16
"""Reads of LOG_PART that empty the largest pipe."""
LOG_REST: Final = 0.02
"""Seconds between two reads of a bot's output, so that a flood waits for itself alone."""


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
        self._bounds = Bounds()
        self._exceeded: str | None = None
        self._poll_at = math.inf
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
        self._bounds = Bounds(**request.pop("bounds"))
        try:
            self._bounds.prepare()
        except OSError as error:
            self._bounds.remove()
            tell(self._channel, ours=True, **failure(error))
            return
        try:
            self._start(**request)
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            self._bounds.remove()
            tell(self._channel, **failure(error))
            return
        tell(self._channel, pid=self._bot.pid, keeper=os.getpid())
        self._watch()
        self._exceeded = self._exceeded or self._bounds.ran_out()
        self._bounds.remove()
        self._drain()
        tell(
            self._channel,
            exit=self._bot.returncode,
            asked=self._asked,
            orphaned=self._orphaned(),
            left=self._left,
            printed=self._printed,
            exceeded=self._exceeded,
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
            preexec_fn=functools.partial(begin, os.getpid(), self._bounds),
        )
        os.close(writer)
        self._poll_at = time.monotonic() + self._bounds.every
        self._events.heed(self._output, self._listen)
        self._events.heed(self._channel.fileno(), self._hear)

    def _watch(self) -> None:
        """Until no descendant is left."""
        while self._reap():
            now = time.monotonic()
            if self._bot.returncode is not None or self._orphaned():
                self._kill_at = min(self._kill_at, now)
            if self._poll_at <= now:
                self._poll()
            if self._kill_at <= now:
                self._bounds.thaw()
                for pid in descendants(os.getpid()):
                    kill(pid)
            if self._rest_until <= now:
                self._rest_until = math.inf
                self._events.heed(self._output, self._listen)
            until = min(self._rest_until, self._poll_at, max(self._kill_at, now + SWEEP))
            self._events.wait(until - now)

    def _poll(self) -> None:
        """Look whether it uses too much; then it is ended."""
        self._exceeded = self._exceeded or self._bounds.exceeded([*descendants(os.getpid())])
        now = time.monotonic()
        self._poll_at = now + self._bounds.every
        if self._exceeded:
            self._kill_at = now

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
        """Descendants that run, but for the sandbox's own, which may end a moment after the bot."""
        found = [pid for pid in descendants(os.getpid()) if is_running(pid)]
        return sum(not is_wrapper(pid) for pid in found)

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
            self._bounds.thaw()
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


def begin(parent: int, bounds: Bounds) -> None:
    """Runs in a bot's process before its program: the bot dies when its keeper does."""
    bounds.enter()
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

"""Starts bots and ends them wholly, however the referee itself ends (design section 3).

A program of its own, which imports nothing but its own parts (`keeper.py`, `bounds.py`, `proc.py`)
and little of the standard library. The referee runs one and hands it one socket per bot over a
control socket. For each the launcher forks a *keeper*, which reads the request from the bot's
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

    referee -> keeper   {"argv", "cwd", "env", "log", "bounds"}, then {"grace": seconds} to end the
                        bot; `Bounds` says what bounds are
    keeper -> referee   {"pid", "keeper"} or {"error"}, then {"exit": code, "asked": bool,
                        "orphaned": bool, "left": processes, "printed": bytes,
                        "exceeded": words or null}

`exit` is as `subprocess.Popen.returncode`, `left` how many processes it left running when it ended
by itself; a socket that closes without it tells of a keeper that was killed. Either way nothing of
the bot is left by then.
"""

from __future__ import annotations

import math
import os
import resource
import signal
import socket
import sys
import time
from contextlib import suppress
from typing import Final, NoReturn

from referee.keeper import Keeper, failure, tell
from referee.proc import (
    PR_SET_CHILD_SUBREAPER,
    PR_SET_DUMPABLE,
    SWEEP,
    Events,
    changed,
    descendants,
    kill,
    prctl,
    send,
    thaw,
)

CLOSING: Final = 3.0
"""Seconds that keepers have to end their bots when the launcher closes; then it does it itself."""

ENDING_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


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
            thaw(pid)
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

"""A process that does not want to end: `proc_unruly.py HOW REPORT`.

It writes its process id, and that of a daemon if it has one, as a line to the FIFO REPORT.
"""

import os
import signal
import sys
import time
from collections.abc import Callable


def report(*pids: int) -> None:
    with open(sys.argv[2], "w") as fifo:
        print(os.getpid(), *pids, file=fifo)


def daemon() -> int:
    """A grandchild in a session of its own, without this process's environment and output."""
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if (pid := os.fork()) != 0:
            os.write(writer, str(pid).encode())
            os._exit(0)
        for fd in range(3):
            os.close(fd)
        command = "import time; time.sleep(600)"
        os.execve(sys.executable, [sys.executable, "-I", "-S", "-c", command], {})
    os.wait()
    return int(os.read(reader, 100))


def idle() -> None:
    report()
    time.sleep(600)


def stubborn() -> None:
    """Ignores SIGTERM."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    idle()


def polite() -> None:
    """Ends by itself when it gets SIGTERM."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(5))
    idle()


def parent() -> None:
    """Has a daemon and idles."""
    report(daemon())
    time.sleep(600)


def abandon() -> None:
    """Leaves a daemon behind and exits."""
    report(daemon())


def kill_keeper() -> None:
    """Leaves a daemon and kills the process that started it."""
    report(daemon())
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(600)


def stop_keeper() -> None:
    """Has a daemon and stops the process that started it."""
    report(daemon())
    os.kill(os.getppid(), signal.SIGSTOP)
    time.sleep(600)


def flee() -> None:
    """Forks and exits, for ever, each time in a session of its own."""
    report()
    while True:
        if os.fork() != 0:
            os._exit(0)
        os.setsid()


def flood() -> None:
    """Prints lines of 10 bytes, 200,000 of them, and idles."""
    for number in range(200_000):
        os.write(1, b"%09d\n" % number)
    idle()


MANNERS: tuple[Callable[[], None], ...] = (
    *(idle, stubborn, polite, parent, abandon, kill_keeper, stop_keeper, flee, flood),
)

if __name__ == "__main__":
    {manner.__name__: manner for manner in MANNERS}[sys.argv[1]]()

"""A process that uses a known amount of processor time: `burner.py HOW REPORT`.

It writes its process id as a line to the FIFO REPORT, waits for SIGUSR1, burns `SECONDS` in the way
HOW, writes another line, and idles.
"""

import os
import signal
import sys
import threading
import time

SECONDS = 0.3


def burn(clock=time.process_time) -> None:
    """Computes until this process, or this thread, has used so much more."""
    end = clock() + SECONDS
    while clock() < end:
        sum(range(1000))


def alone() -> None:
    burn()


def threads() -> None:
    """Half of its threads do nothing."""
    workers = [threading.Thread(target=burn, args=(time.thread_time,)) for _ in range(2)]
    workers.append(threading.Thread(target=time.sleep, args=(0.01,)))
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def child() -> None:
    """A child burns, ends, and is reaped."""
    if os.fork() == 0:
        burn()
        os._exit(0)
    os.wait()


def living_child() -> None:
    """A child burns and lives on."""
    reader, writer = os.pipe()
    if os.fork() == 0:
        burn()
        os.write(writer, b".")
        time.sleep(600)
    os.read(reader, 1)


def daemon() -> None:
    """A grandchild outlives its parent, burns, ends, and is reaped by the keeper."""
    reader, writer = os.pipe()
    if os.fork() == 0:
        if os.fork() == 0:
            burn()
            os._exit(0)
        os._exit(0)
    os.close(writer)
    os.wait()
    os.read(reader, 1)
    time.sleep(0.05)


def unreaped() -> None:
    """A child burns and ends, and its parent does not want to know."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    reader, writer = os.pipe()
    if os.fork() == 0:
        burn()
        report()
        signal.sigwait({signal.SIGUSR1})
        os._exit(0)
    os.close(writer)
    os.read(reader, 1)


def forever() -> None:
    """It and a child burn until they are ended."""
    os.fork()
    while True:
        pass


def report() -> None:
    with open(sys.argv[2], "w") as fifo:
        print(os.getpid(), file=fifo)


def main() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    report()
    signal.sigwait({signal.SIGUSR1})
    globals()[sys.argv[1]]()
    report()
    time.sleep(600)


if __name__ == "__main__":
    main()

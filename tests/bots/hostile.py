"""A bot that attacks whatever it might reach, and plays its lowest card meanwhile.

`hostile.py HOW`: "spy" tries everything once and prints what came of it, one line of JSON after the
word REPORT; "bomber" brings its own process down; "vandal" writes what harms a terminal or a page
wherever text is taken; "quiet" only plays. What to attack stands in targets.json, as somebody who
knows this machine would have written it.
"""

import ctypes
import json
import mmap
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from knavery import client
from knavery.v1 import referee_pb2 as pb

RANKS = 13
NASTY = (
    "\x1b[2J\x1b]0;owned\x07\r\nforged: line\n<script>alert(1)</script>&<b>"
    "\u202egnp.exe\u2066\u200b\x00\x7f\x9b31m" + "x" * 3000
)
MIB = 1 << 20


class Failed(Exception):  # noqa: N818
    """The attack has failed, as the text says."""


def read(path: str) -> str:
    with open(path, "rb") as file:
        return repr(file.read(100))


def listed(path: str) -> str:
    """What is in a folder beside what is this bot's."""
    found = [name for name in os.listdir(path) if name != Path.cwd().parent.name]
    if not found:
        raise Failed("nothing else is there")
    return repr(found)


def connect(family: int, address: object) -> str:
    with socket.socket(family, socket.SOCK_STREAM) as sock:
        sock.settimeout(5)
        sock.connect(address)
        return "connected"


def resolve() -> str:
    return repr(socket.getaddrinfo("example.org", 80))


def libc(name: str, *arguments: object) -> str:
    """A call of the C library, which fails with -1."""
    library = ctypes.CDLL(None, use_errno=True)
    result = getattr(library, name)(*arguments)
    if result == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return f"{name} = {result}"


def strangers() -> str:
    """Processes that are neither this one, nor below it, nor the sandbox's own."""
    own = {os.getpid(), 1, os.getppid()}
    found = [pid for pid in filter(str.isdigit, os.listdir("/proc")) if int(pid) not in own]
    if not found:
        raise Failed("nobody else is there")
    return " ".join(found)


def kill_all() -> str:
    """A signal to everybody who may be sent one; harmless to those who are."""
    if os.fork() == 0:
        with suppress(OSError):
            os.kill(-1, signal.SIGURG)
        os._exit(0)
    os.wait()
    return "sent"


def escape(target: str) -> str:
    """By a link in the one folder that can be written to."""
    link = Path(os.environ["TMPDIR"], "link")
    link.symlink_to(target)
    return read(str(link))


def write(path: str) -> str:
    with open(path, "w") as file:
        file.write("was here")
    return "written"


def fill(folder: str) -> str:
    """Megabytes that could be written to a folder, 400 at the most, in files of 16."""
    written = 0
    names = [Path(folder, f"fill-{number}") for number in range(25)]
    try:
        for name in names:
            with name.open("wb") as file:
                for _ in range(16):
                    file.write(b"x" * MIB)
                    file.flush()
                    written += 1
    except OSError as error:
        raise Failed(f"{written} MiB, then {error.strerror}") from error
    finally:
        for name in names:
            with suppress(OSError):
                name.unlink()
    return f"{written} MiB"


def huge_file() -> str:
    with open(Path(os.environ["TMPDIR"], "huge"), "wb") as file:
        os.posix_fallocate(file.fileno(), 0, 1 << 40)
    return "a terabyte"


def forks() -> str:
    """How many processes could be had at once, 3000 at the most."""
    reader, writer = os.pipe()
    count = 0
    children = []
    try:
        for _ in range(3000):
            pid = os.fork()
            if pid == 0:
                os.close(writer)
                os.read(reader, 1)
                os._exit(0)
            children.append(pid)
            count += 1
    except OSError as error:
        raise Failed(f"{count} processes, then {error.strerror}") from error
    finally:
        os.close(writer)
        for pid in children:
            os.waitpid(pid, 0)
    return f"{count} processes"


def memory() -> str:
    """How a child ends that wants four gigabytes."""
    pid = os.fork()
    if pid == 0:
        kept = []
        for _ in range(64):
            block = mmap.mmap(-1, 64 * MIB)
            block.write(b"x" * (64 * MIB))
            kept.append(block)
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    if code:
        raise Failed(f"ended by {code}")
    return "four gigabytes"


def files() -> str:
    """How many files can be open, 5000 at the most."""
    opened = []
    try:
        while len(opened) < 5000:
            opened.append(os.dup(0))
    except OSError as error:
        raise Failed(error.strerror) from error
    finally:
        for fd in opened:
            os.close(fd)
    return f"{len(opened)} files"


def daemon(mark: str) -> str:
    """Leaves a process in a session of its own, which says who it is in its command line."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(600)", mark])
        os._exit(0)
    os.wait()
    raise Failed("whether it outlives this one, others must say")


def second_stream() -> str:
    """One more stream with this bot's own token."""
    address, token = os.environ["KNAVERY_ADDRESS"], os.environ["KNAVERY_TOKEN"]
    code = "import sys; from knavery import client\nwith client.connect(*sys.argv[1:]): print('in')"
    done = subprocess.run(
        [sys.executable, "-c", code, address, token], capture_output=True, text=True, check=False
    )
    if "in use" not in done.stderr:
        return done.stdout + done.stderr
    raise Failed("rejected")


def attacks(targets: dict) -> Iterator[tuple[str, Callable[[], str]]]:
    """Every attempt, by name."""
    referee = targets["referee"]
    yield "read the tournament", lambda: read(targets["tournament"])
    yield "list its folder", lambda: listed(os.path.dirname(targets["tournament"]))
    yield "link to it", lambda: escape(targets["tournament"])
    yield "read the referee's environment", lambda: read(f"/proc/{referee}/environ")
    yield "read the referee's memory", lambda: read(f"/proc/{referee}/mem")
    yield "list the cache", lambda: listed(targets["cache"])
    yield "list the sources", lambda: listed(targets["entrants"])
    yield "read a file of the home", lambda: read(targets["private"])
    yield "read passwords", lambda: read("/etc/shadow")
    yield "see others", strangers
    yield "signal the referee", lambda: str(os.kill(referee, signal.SIGURG))
    yield "trace the referee", lambda: libc("ptrace", 16, referee, 0, 0)
    yield "connect by TCP", lambda: connect(socket.AF_INET, ("127.0.0.1", targets["port"]))
    yield "connect to an abstract socket", lambda: connect(socket.AF_UNIX, targets["abstract"])
    yield "connect to a stranger's socket", lambda: connect(socket.AF_UNIX, targets["socket"])
    yield "resolve a name", resolve
    yield "mount", lambda: libc("mount", b"none", b"/tmp", b"tmpfs", 0, None)
    yield "become root", lambda: str(os.setuid(0)) if os.getuid() else "was root"
    yield "write to its own folder", lambda: write("left-behind")
    yield "write to the system", lambda: write("/usr/left-behind")
    yield "write to the root", lambda: write("/left-behind")
    yield "write to /dev", lambda: write("/dev/left-behind")
    yield "set a kernel's variable", lambda: write("/proc/sys/kernel/hostname")
    yield "fill its scratch folder", lambda: fill(os.environ["TMPDIR"])
    yield "fill shared memory", lambda: fill("/dev/shm")
    yield "a huge file", huge_file
    yield "open many files", files
    yield "fork", forks
    yield "use memory", memory
    yield "a second stream", second_stream
    yield "leave a daemon", lambda: daemon(targets["mark"])


def spy(targets: dict) -> None:
    kill_all()
    report = {"secrets": [name for name in os.environ if name in targets["secrets"]]}
    for name, attempt in attacks(targets):
        try:
            report[name] = {"got": attempt()}
        except (OSError, Failed, subprocess.SubprocessError) as error:
            report[name] = {"failed": str(error)}
    print("REPORT", json.dumps(report), flush=True)
    for _ in range(targets["lines"]):
        os.write(1, b"\x1b[31mspam " * 1000 + b"\n")


def bomb(batch: int) -> None:
    """Brings itself down: first by memory, then by processes without end."""
    if batch < 2:
        return
    Path(os.environ["TMPDIR"], "x").write_bytes(b"x")
    kept = []
    while len(kept) < 100:
        block = mmap.mmap(-1, 64 * MIB)
        block.write(b"x" * (64 * MIB))
        kept.append(block)
    with suppress(OSError):
        while True:
            os.fork()
    time.sleep(600)


def lowest(decision: object) -> int:
    return min(decision.play_request.legal, key=lambda card: (card % RANKS, card))


def main() -> None:
    how = sys.argv[1]
    targets = json.loads(Path("targets.json").read_text())
    if how == "vandal":
        client.SDK = NASTY
        os.write(2, NASTY.encode() + b"\n")
    if how == "attack":
        spy(targets)
        return
    batches = 0
    with client.connect(os.environ["KNAVERY_ADDRESS"], os.environ["KNAVERY_TOKEN"]) as stream:
        if how == "spy":  # apart from gRPC's threads, which bear less than the referee does
            subprocess.run([sys.executable, "bot.py", "attack"], check=True)
        for envelope in stream:
            moves = pb.Moves()
            for event in envelope.events:
                if event.HasField("decision"):
                    made = moves.moves.add(decision=event.decision.id)
                    if how == "vandal" and len(event.decision.played) < 3:
                        made.error = NASTY
                    else:
                        made.cards.cards.append(lowest(event.decision))
                    made.note = NASTY[:250] if how == "vandal" else ""
            if moves.moves:
                batches += 1
                if how == "bomber":
                    bomb(batches)
                stream.send(moves)


if __name__ == "__main__":
    main()

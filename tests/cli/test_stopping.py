"""What is left when a run is stopped: a file that goes on, and no process."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Knavery

BOTS = Path(__file__).resolve().parent.parent / "bots"
NAMES = ("ann", "ben", "cat")


def descendants(pid: int) -> set[int]:
    """All processes below one, by /proc."""
    found: set[int] = set()
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            found |= {int(child)} | descendants(int(child))
    return found


def gone(pids: set[int], seconds: float = 20) -> bool:
    """Waits for the end of all of these processes."""
    for pid in pids:
        try:
            handle = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        with open(handle, closefd=True) as fd:
            import select

            if not select.select([fd], [], [], seconds)[0]:
                return False
    return True


@pytest.fixture
def running(tmp_path: Path, environment: dict[str, str]) -> subprocess.Popen[str]:
    """A tournament that runs, with bots that wait for ever: they have said hello, which they could
    tell nobody from a sandbox."""
    source = (BOTS / "signals_and_waits.py").read_text()
    for name in NAMES:
        folder = tmp_path / "bots" / name
        folder.mkdir(parents=True)
        (folder / "bot.py").write_text(source)
        (folder / "bot.toml").write_text(
            f'name = "{name}"\nrun = ["python", "bot.py", "{tmp_path / "hello"}"]\n'
        )
    (tmp_path / "bots.toml").write_text(
        '[tournament]\ngame = "knave"\n[sandbox]\nmode = "off"\n'
        + "".join(f'[[entrants]]\npath = "bots/{name}"\n' for name in NAMES)
    )
    os.mkfifo(tmp_path / "hello")
    process = subprocess.Popen(
        [sys.executable, "-m", "tournaments.cli", "run", "bots.toml"],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with open(tmp_path / "hello") as hello:
        assert hello.readline() == "here\n"
    yield process
    process.kill()
    process.communicate()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_one_file_that_can_be_resumed(
    running: subprocess.Popen[str], tmp_path: Path, knavery: Knavery, number: signal.Signals
) -> None:
    below = descendants(running.pid)
    assert len(below) > 1
    running.send_signal(number)
    output, errors = running.communicate(timeout=30)
    assert running.returncode == 1
    assert "knavery resume" in errors
    assert "Traceback" not in errors
    assert gone(below)
    assert [path.name for path in tmp_path.glob("bots.knavery*")] == ["bots.knavery"]
    assert "no matches" in knavery("standings", "bots.knavery").stdout or "0 blocks" in output


def test_kill_leaves_no_process_and_a_file_that_opens(
    running: subprocess.Popen[str], knavery: Knavery
) -> None:
    below = descendants(running.pid)
    running.kill()
    running.wait(timeout=10)
    assert gone(below)
    assert knavery("standings", "bots.knavery").returncode == 0


@pytest.fixture
def checking(tmp_path: Path, environment: dict[str, str]) -> subprocess.Popen[str]:
    """A check of a bot that says hello and then waits for ever: it is being asked."""
    (tmp_path / "bot.py").write_text((BOTS / "faulty.py").read_text())
    (tmp_path / "bot.toml").write_text('run = ["python", "bot.py", "--fault", "mute"]\n')
    process = subprocess.Popen(
        [sys.executable, "-m", "tournaments.cli", "check", ".", "--limit", "600"],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    while " hello " not in process.stdout.readline():
        assert process.poll() is None
    yield process
    process.kill()
    process.communicate()


def test_a_check_that_is_stopped_says_so_and_leaves_no_process(
    checking: subprocess.Popen[str],
) -> None:
    below = descendants(checking.pid)
    assert below
    checking.send_signal(signal.SIGINT)
    _, errors = checking.communicate(timeout=30)
    assert (checking.returncode, errors) == (1, "knavery: stopped\n")
    assert gone(below)

"""What killed referees leave in the folder for temporary files."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from referee import leftovers

DIES = """
import os, signal, sys, tempfile
from referee import leftovers
tempfile.tempdir = sys.argv[1]
made = leftovers.scratch()
(made / "deep").mkdir()
(made / "deep" / "file").write_text("x")
print(made, flush=True)
if sys.argv[2] == "dies":
    os.kill(os.getpid(), signal.SIGKILL)
sys.stdin.read()
"""


def child(folder: Path, fate: str) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", DIES, str(folder), fate]
    return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_what_a_killed_process_left_goes_and_what_a_living_one_has_stays(tmp_path: Path) -> None:
    dead = child(tmp_path, "dies")
    assert dead.wait() == -signal.SIGKILL
    with dead, child(tmp_path, "lives") as living:
        assert dead.stdout is not None
        assert living.stdout is not None
        left, kept = Path(dead.stdout.readline().strip()), Path(living.stdout.readline().strip())
        assert left.is_dir()
        assert leftovers.remove(tmp_path) == 1
        assert list(tmp_path.iterdir()) == [kept]
        assert (kept / "deep" / "file").read_text() == "x"
        living.kill()
    assert leftovers.remove(tmp_path) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_later_process_of_the_same_number_is_not_mistaken_for_the_dead_one(
    tmp_path: Path,
) -> None:
    namespace, pid, started = leftovers.prefix().removeprefix("knavery-").strip("-").split(".")
    earlier = f"{int(started, 16) - 1:x}"
    (tmp_path / f"knavery-{namespace}.{pid}.{earlier}-abc").mkdir()
    (tmp_path / f"knavery-{namespace}.{pid}.{started}-abc").mkdir()
    assert leftovers.remove(tmp_path) == 1
    assert [path.name for path in tmp_path.iterdir()] == [
        f"knavery-{namespace}.{pid}.{started}-abc"
    ]


@pytest.mark.parametrize(
    "name", ["knavery-logs-abc", "knavery-demo-x", "knavery-1.2-x", "another-f.1.2-abc"]
)
def test_other_folders_stay(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    assert leftovers.remove(tmp_path) == 0
    assert (tmp_path / name).is_dir()


def test_those_of_another_namespace_and_links_stay(tmp_path: Path) -> None:
    namespace = int(leftovers.prefix().removeprefix("knavery-").split(".")[0], 16)
    precious = tmp_path / "precious"
    precious.mkdir()
    (tmp_path / f"knavery-{namespace ^ 1:x}.fffffff.1-abc").mkdir()
    (tmp_path / f"knavery-{namespace:x}.fffffff.1-abc").symlink_to(precious)
    assert leftovers.remove(tmp_path) == 0
    assert len(list(tmp_path.iterdir())) == 3


def test_a_folder_is_named_for_its_process() -> None:
    with tempfile.TemporaryDirectory(prefix=leftovers.prefix()) as folder:
        assert f".{os.getpid():x}." in folder
        assert len(folder.removeprefix(tempfile.gettempdir())) < 48, "a socket's path is short"

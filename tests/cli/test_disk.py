"""A disk that is full or may not be written: one line, nothing lost, and `resume` goes on later."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

KEY = "5b" * 32
SMALL = "500k"

SCRIPT = """
set -u
knavery() {{ "{python}" -m tournaments.cli "$@"; }}
mount -t tmpfs -o size={size} none disk || exit 77
knavery run t.toml -o disk/t.knavery > run.out 2> run.err; echo $? > run.status
ls disk > left.txt
mount -o remount,size=64m disk
knavery verify disk/t.knavery --json > between.json 2> between.err
mount -o remount,ro disk
knavery resume disk/t.knavery > fixed.out 2> fixed.err; echo $? > fixed.status
knavery verify disk/t.knavery > read.out 2> read.err; echo $? > read.status
mount -o remount,rw disk
knavery resume disk/t.knavery > resume.out 2> resume.err; echo $? > resume.status
knavery verify disk/t.knavery --json > after.json 2> after.err
ls disk > whole.txt
cp disk/t.knavery t.knavery
"""


def config(folder: Path, rounds: int) -> None:
    bots = "".join(f'[[entrants]]\npath = "{bot}"\n' for bot in ("lowest", "highest", "greedy"))
    head = f'[tournament]\ngame = "knave"\nrounds = {rounds}\nkey = "{KEY}"\ntables = 4\n'
    (folder / "t.toml").write_text(head + bots)


def line(path: Path) -> str:
    """The one line for a user among those of progress; no traceback."""
    text = path.read_text()
    assert "Traceback" not in text
    (found,) = [each for each in text.splitlines() if each.startswith("knavery ")]
    return found


def unshared(folder: Path, environment: dict[str, str], size: str) -> None:
    """Runs the script where a file system of this size may be mounted."""
    (folder / "disk").mkdir()
    script = SCRIPT.format(python=sys.executable, size=size)
    words = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script]
    try:
        done = subprocess.run(
            words, cwd=folder, env=environment, timeout=300, check=False, capture_output=True
        )
        able = done.returncode == 0
    except FileNotFoundError:
        able = False
    if not able and os.environ.get("CI") != "true":
        pytest.skip("this machine lets nobody mount a file system of its own")
    assert able


@pytest.fixture(scope="module")
def after(tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]) -> Path:
    """The folder in which all of it has happened."""
    folder = tmp_path_factory.mktemp("full")
    config(folder, rounds=12)
    unshared(folder, environment, SMALL)
    return folder


def test_a_full_disk_stops_the_run_with_one_line_that_says_what_to_do(after: Path) -> None:
    assert (after / "run.status").read_text() == "2\n"
    said = line(after / "run.err")
    assert "the disk is full: free some space" in said
    assert said.startswith("knavery run: ")


def test_what_was_recorded_is_there_and_agrees(after: Path) -> None:
    report = json.loads((after / "between.json").read_text())
    assert report["agrees"]
    assert 0 < report["epochs"][0]["finished"] < 72


def test_a_disk_that_may_not_be_written_can_be_read(after: Path) -> None:
    assert (after / "fixed.status").read_text() == "2\n"
    said = line(after / "fixed.err")
    assert said.startswith("knavery resume: disk/t.knavery")
    assert "cannot be written" in said
    assert (after / "read.status").read_text() == "0\n"


def test_with_space_again_it_goes_on_to_the_end(after: Path) -> None:
    assert (after / "resume.status").read_text() == "0\n", (after / "resume.err").read_text()
    before = json.loads((after / "between.json").read_text())
    report = json.loads((after / "after.json").read_text())
    assert report["agrees"]
    assert report["epochs"][0]["finished"] == report["epochs"][0]["matches"] == 72
    assert report["attempts"]["done"] == 72
    assert report["attempts"]["abandoned"] >= before["attempts"]["open"]
    assert [name for name in (after / "whole.txt").read_text().split() if "knavery" in name] == [
        "t.knavery"
    ]


def test_a_file_that_may_not_grow_stops_the_run_with_one_line_too(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    if shutil.which("prlimit") is None:
        pytest.skip("there is no prlimit")
    config(tmp_path, rounds=12)
    words = ["prlimit", "--fsize=200000", sys.executable, "-m", "tournaments.cli"]
    done = subprocess.run(
        [*words, "run", "t.toml"],
        cwd=tmp_path,
        env=environment,
        timeout=120,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    (tmp_path / "err").write_text(done.stderr)
    said = line(tmp_path / "err")
    assert said.startswith("knavery run: ")
    assert "t.knavery: the disk cannot be read or written" in said

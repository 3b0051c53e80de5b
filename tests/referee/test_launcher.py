"""The parts of the launcher program that need no trio; test_process.py tests it as a whole."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from referee import proc
from referee.keeper import LOG_PART, BoundedLog
from referee.proc import descendants, kill
from referee.process import ROOT


def test_it_needs_the_standard_library_alone() -> None:
    listing = (
        "import sys; sys.path.insert(0, sys.argv[1]); import referee.launcher;"
        "print(*{name.partition('.')[0] for name in sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", listing, ROOT],
        capture_output=True,
        text=True,
        check=True,
    )
    assert set(done.stdout.split()) - {"__main__", "referee"} <= sys.stdlib_module_names


@pytest.fixture
def log_path(tmp_path: Path) -> Path:
    return tmp_path / "log"


@pytest.mark.parametrize("size", [0, 1, LOG_PART, 2 * LOG_PART])
def test_a_short_log_is_kept_whole(log_path: Path, size: int) -> None:
    data = random.Random(size).randbytes(size)
    log = BoundedLog(str(log_path))
    log.write(data)
    log.trim()
    assert log_path.read_bytes() == data


@pytest.mark.parametrize("chunk", [1000, LOG_PART])
@pytest.mark.parametrize("size", [2 * LOG_PART + 1, 5 * LOG_PART, 20 * LOG_PART + 7])
def test_a_long_log_keeps_its_two_ends(log_path: Path, size: int, chunk: int) -> None:
    data = random.Random(size).randbytes(size)
    log = BoundedLog(str(log_path))
    for start in range(0, size, chunk):
        log.write(data[start : start + chunk])
        assert log_path.stat().st_size < 5 * LOG_PART
    log.trim()
    log.trim()
    note = b"\n[... %d bytes left out ...]\n" % (size - 2 * LOG_PART)
    assert log_path.read_bytes() == data[:LOG_PART] + note + data[-LOG_PART:]


def test_a_full_disk_is_no_error() -> None:
    log = BoundedLog("/dev/full")
    log.write(b"x" * 5 * LOG_PART)
    log.trim()


@pytest.fixture
def family() -> Iterator[tuple[int, int]]:
    """The ids of a process of ours and of its child, which both wait."""
    command = "sleep 600 & echo $!; wait"
    with subprocess.Popen(
        ["sh", "-c", command], stdout=subprocess.PIPE, start_new_session=True
    ) as parent:
        assert parent.stdout is not None
        yield parent.pid, int(parent.stdout.readline())
        kill(parent.pid)


@pytest.fixture(params=["children files", "scan"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "scan":
        monkeypatch.setattr(proc, "children", proc.children_by_scan)


@pytest.mark.usefixtures("way")
def test_descendants(family: tuple[int, int]) -> None:
    parent, child = family
    assert list(descendants(parent)) == [child]
    below = list(descendants(os.getpid()))
    assert below.index(parent) < below.index(child)
    assert not {parent, child} & set(descendants(os.getpid(), spare={parent}))


def test_a_gone_process_has_no_children() -> None:
    with subprocess.Popen(["true"]) as gone:
        gone.wait()
    assert list(descendants(gone.pid)) == []
    kill(gone.pid)

"""Control groups: found and made as the machine has them; real ones bound, count and freeze."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import trio
from trio.testing import trio_test

from referee.cgroups import Cgroup, Cgroups, Place, open_cgroups
from referee.limits import MIB, Limits
from referee.process import Confinement, open_launcher
from tests.referee.process_helpers import ENV, PATIENCE

LIMITS = Limits(memory=64 * MIB, processes=8, cores=0.5)
V1 = "30 25 0:26 / {root}/memory rw,relatime - cgroup cgroup rw,memory\n"
V1_CPU = "31 25 0:27 / {root}/cpu rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"


@pytest.fixture
def cgroups() -> Iterator[Cgroups]:
    """Those of this machine; a test that needs one it has not is skipped."""
    made = open_cgroups()
    yield made
    made.close()


def needs(cgroups: Cgroups, *controllers: str) -> None:
    lacking = {*controllers} - cgroups.versions.keys()
    if lacking:
        pytest.skip(f"no control groups for {', '.join(sorted(lacking))} can be made here")


def found(tmp_path: Path, membership: str, mounts: str) -> Cgroups:
    """What is found on a machine made of plain files."""
    (tmp_path / "cgroup").write_text(membership)
    (tmp_path / "mountinfo").write_text(mounts.format(root=tmp_path))
    return open_cgroups(tmp_path / "cgroup", tmp_path / "mountinfo")


def test_version_1_hierarchies_are_used_one_by_one(tmp_path: Path) -> None:
    for name in ("memory/a/b", "cpu"):
        (tmp_path / name).mkdir(parents=True)
    membership = "9:name=systemd:/\n4:memory:/a/b\n2:cpu,cpuacct:/\n"
    cgroups = found(tmp_path, membership, V1 + V1_CPU)
    # A plain folder gets no cgroup.procs of its own, so nothing is taken for a group.
    assert cgroups.versions == {}
    assert list((tmp_path / "memory/a/b").iterdir()) == []


def test_without_control_groups_there_are_none(tmp_path: Path) -> None:
    assert open_cgroups(tmp_path / "no", tmp_path / "file").versions == {}
    assert found(tmp_path, "0::/\n", "").versions == {}
    assert Cgroups({}).group(LIMITS) is None


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        (
            1,
            {
                "memory.limit_in_bytes": "67108864",
                "memory.memsw.limit_in_bytes?": "67108864",
                "pids.max": "8",
                "cpu.cfs_period_us": "100000",
                "cpu.cfs_quota_us": "50000",
            },
        ),
        (
            2,
            {
                "memory.max": "67108864",
                "memory.swap.max?": "0",
                "memory.oom.group?": "1",
                "pids.max": "8",
                "cpu.max": "50000 100000",
            },
        ),
    ],
)
def test_what_is_written_for_the_limits(version: int, expected: dict[str, str]) -> None:
    places = {name: Place(Path("/here"), version) for name in ("memory", "pids", "cpu")}
    group = Cgroups(places).group(LIMITS)
    assert group is not None
    assert {Path(file).name: value for file, value in group.settings.items()} == expected
    assert {Path(file).parent for file in group.settings} == {Path("/here/0")}


def test_time_is_read_in_both_versions(tmp_path: Path) -> None:
    (tmp_path / "cpuacct.usage").write_text("2500000000\n")
    (tmp_path / "cpu.stat").write_text("usage_usec 1500000\nuser_usec 1\n")
    assert Cgroup({"cpuacct": Place(tmp_path, 1)}, {}).cpu_seconds() == 2.5
    assert Cgroup({"cpuacct": Place(tmp_path, 2)}, {}).cpu_seconds() == 1.5
    assert Cgroup({"cpuacct": Place(tmp_path / "gone", 1)}, {}).cpu_seconds() is None
    assert Cgroup({}, {}).cpu_seconds() is None


def test_freezing_in_both_versions(tmp_path: Path) -> None:
    for version, file, words in (
        (1, "freezer.state", "FROZEN THAWED"),
        (2, "cgroup.freeze", "1 0"),
    ):
        group = Cgroup({"freezer": Place(tmp_path, version)}, {})
        written = []
        for act in (group.freeze, group.thaw):
            act()
            written.append((tmp_path / file).read_text())
        assert written == words.split()
    assert not Cgroup({}, {}).can_freeze


def test_what_a_killed_referee_left_is_removed(cgroups: Cgroups) -> None:
    needs(cgroups, "memory")
    own = cgroups._places["memory"].folder
    left = own.with_name("knavery-4194999-0")
    (left / "7").mkdir(parents=True)
    open_cgroups().close()
    assert not left.exists()
    assert own.exists()


@trio_test
async def test_a_group_bounds_counts_freezes_and_goes(tmp_path: Path, cgroups: Cgroups) -> None:
    needs(cgroups, "memory", "pids", "cpuacct", "freezer")
    group = cgroups.group(LIMITS)
    assert group is not None
    program = (
        "import os, time\n"
        "began = time.process_time()\n"
        "while time.process_time() - began < 0.2: pass\n"
        "forks = 0\n"
        "try:\n"
        "  while forks < 100 and os.fork(): forks += 1\n"
        "except OSError: print(forks, flush=True); time.sleep(600)\n"
        "time.sleep(600)\n"
    )
    async with open_launcher(tmp_path) as launcher:
        argv = [sys.executable, "-I", "-S", "-c", program]
        process = await launcher.start("busy", argv, tmp_path, ENV, Confinement(cgroup=group))
        with trio.fail_after(PATIENCE):
            while not process.log_tail():
                await trio.sleep(0.01)
            assert process.log_tail() == "7\n"
            assert 0.2 <= (group.cpu_seconds() or 0) < 5
            assert process.cgroup is group
            group.freeze()
            state = group.places["freezer"].folder / "freezer.state"
            while state.exists() and state.read_text() != "FROZEN\n":
                await trio.sleep(0.01)
            await process.stop()
    assert not any(place.folder.exists() for place in group.places.values())
    assert group.cpu_seconds() is None
    group.freeze()  # of what has gone: nothing


@trio_test
async def test_who_takes_more_memory_is_ended_and_it_is_said(
    tmp_path: Path, cgroups: Cgroups
) -> None:
    needs(cgroups, "memory")
    hog = "x = [bytearray(1 << 20) for _ in range(500)]"
    async with open_launcher(tmp_path) as launcher:
        argv = [sys.executable, "-I", "-S", "-c", hog]
        process = await launcher.start(
            "hog", argv, tmp_path, ENV, Confinement(cgroup=cgroups.group(LIMITS))
        )
        with trio.fail_after(PATIENCE):
            end = await process.wait()
    assert end.words == "killed by SIGKILL (Killed); it used all the memory that it may"


@trio_test
async def test_who_wants_more_processes_is_told_why_it_ended(
    tmp_path: Path, cgroups: Cgroups
) -> None:
    """A runtime whose thread is refused aborts, and says little about why."""
    needs(cgroups, "pids")
    stays = "import os, time\nwhile True:\n  if not os.fork(): time.sleep(600)"
    async with open_launcher(tmp_path) as launcher:
        argv = [sys.executable, "-I", "-S", "-c", stays]
        confinement = Confinement(cgroup=cgroups.group(LIMITS))
        process = await launcher.start("forks", argv, tmp_path, ENV, confinement)
        with trio.fail_after(PATIENCE):
            end = await process.wait()
    assert end.words == "exited with status 1; it used all the processes and threads that it may"


@trio_test
async def test_what_no_group_bounds_is_polled(tmp_path: Path) -> None:
    hog = "import time; x = b'1' * (90 << 20); time.sleep(600)"
    shared = "import mmap, time; m = mmap.mmap(-1, 90 << 20); m.write(b'1' * (90 << 20))\n"
    shared += "time.sleep(600)"
    forks = "import os, time; [os.fork() for _ in range(5)]; time.sleep(600)"
    polled = Confinement(polled={"memory": 64 * MIB, "processes": 8})
    words = []
    async with open_launcher(tmp_path) as launcher:
        for program in (hog, shared, forks):
            argv = [sys.executable, "-I", "-S", "-c", program]
            process = await launcher.start("polled", argv, tmp_path, ENV, polled)
            with trio.fail_after(PATIENCE):
                words.append((await process.wait()).words)
    assert words == [
        "killed by SIGKILL (Killed); it used more than 64 MiB of memory",
        "killed by SIGKILL (Killed); it used more than 64 MiB of memory",
        "killed by SIGKILL (Killed); it used more than 8 processes and threads at once",
    ]


@trio_test
async def test_what_processes_share_is_polled_once(tmp_path: Path) -> None:
    shared = (
        "import mmap, os, time\n"
        "m = mmap.mmap(-1, 40 << 20)\n"
        "for _ in range(40): m.write(b'1' * (1 << 20))\n"
        "for _ in range(2): os.fork()\n"
        "all(m[place] for place in range(0, 40 << 20, 4096)); time.sleep(1)\n"
    )
    polled = Confinement(polled={"memory": 64 * MIB})
    async with open_launcher(tmp_path) as launcher:
        argv = [sys.executable, "-I", "-S", "-c", shared]
        process = await launcher.start("shared", argv, tmp_path, ENV, polled)
        with trio.fail_after(PATIENCE):
            assert (await process.wait()).words == "exited with status 0"


@trio_test
async def test_version_2_counts_and_freezes_even_where_it_bounds_nothing(tmp_path: Path) -> None:
    (tmp_path / "cgroup").write_text("0::/\n")
    cgroups = open_cgroups(tmp_path / "cgroup")
    try:
        needs(cgroups, "cpuacct", "freezer")
        assert {cgroups.versions["cpuacct"], cgroups.versions["freezer"]} == {2}
        group = cgroups.group(LIMITS)
        assert group is not None
        confinement = Confinement(cgroup=group)
        async with open_launcher(tmp_path / "logs") as launcher:
            argv = ["sh", "-c", "while :; do :; done"]
            process = await launcher.start("busy", argv, tmp_path, ENV, confinement)
            with trio.fail_after(PATIENCE):
                while (group.cpu_seconds() or 0) < 0.1:
                    await trio.sleep(0.01)
                group.freeze()
                events = group.places["freezer"].folder / "cgroup.events"
                while "frozen 1" not in events.read_text():
                    await trio.sleep(0.01)
                group.thaw()
                await process.stop()
        assert not group.places["freezer"].folder.exists()
    finally:
        cgroups.close()


@trio_test
async def test_a_frozen_bot_ends_with_its_launcher(tmp_path: Path, cgroups: Cgroups) -> None:
    needs(cgroups, "freezer")
    group = cgroups.group(LIMITS)
    assert group is not None
    with trio.fail_after(PATIENCE):
        async with open_launcher(tmp_path / "logs") as launcher:
            argv = ["sleep", "600"]
            process = await launcher.start("idle", argv, tmp_path, ENV, Confinement(cgroup=group))
            group.freeze()
    assert not Path(f"/proc/{process.pid}").exists()
    assert not group.places["freezer"].folder.exists()


@trio_test
async def test_a_frozen_bot_whose_keeper_was_killed_ends_too(
    tmp_path: Path, cgroups: Cgroups
) -> None:
    needs(cgroups, "freezer")
    group = cgroups.group(LIMITS)
    assert group is not None
    with trio.fail_after(PATIENCE):
        async with open_launcher(tmp_path / "logs") as launcher:
            argv = ["sleep", "600"]
            process = await launcher.start("idle", argv, tmp_path, ENV, Confinement(cgroup=group))
            group.freeze()
            keeper = int(
                Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[1]
            )
            os.kill(keeper, signal.SIGKILL)
            assert "was lost" in (await process.wait()).words
    assert not Path(f"/proc/{process.pid}").exists()

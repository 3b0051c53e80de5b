"""What a bot's processes used, whatever they did with it, and their freezing (real processes)."""

import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path

import pytest
import trio

from referee.cgroups import open_cgroups
from referee.cpu import Tree, clock
from referee.limits import Limits
from referee.process import FREE, Confinement, Process, open_launcher
from tests.bots.burner import SECONDS
from tests.referee.process_helpers import ENV, PATIENCE, Report, alive, until_gone

BURNER = Path(__file__).parents[1] / "bots" / "burner.py"
TICKS = 0.06
"""How far off, in seconds, the time of processes that have ended may be, and some for starting."""


@dataclass
class Burner:
    """A process that waits to be told to burn."""

    process: Process
    tree: Tree
    reports: Report

    async def burn(self) -> float:
        """What the tree says that it used, in seconds."""
        before = self.tree.seconds()
        os.kill(self.process.pid, signal.SIGUSR1)
        await self.reports.pids()
        return self.tree.seconds() - before


@asynccontextmanager
async def burner(
    folder: Path, how: str, confinement: Confinement = FREE, *, adapted: bool = False
) -> AsyncIterator[Burner]:
    with trio.fail_after(PATIENCE), Report(folder / "reports") as reports:
        async with open_launcher(folder / "logs") as launcher:
            argv = [sys.executable, "-I", "-S", str(BURNER), how, str(reports.path)]
            process = await launcher.start(how, argv, folder, ENV, confinement)
            await reports.pids()
            yield Burner(process, process.tree(adapted=adapted), reports)


def trio_test(test: Callable[..., object]) -> Callable[..., None]:
    @wraps(test)
    def run(**arguments: object) -> None:
        async def main() -> None:
            await test(**arguments)  # type: ignore[misc]

        trio.run(main)

    return run


@pytest.mark.parametrize(
    ("how", "times"),
    [("alone", 1), ("threads", 2), ("child", 1), ("living_child", 1), ("daemon", 1)],
)
@trio_test
async def test_all_that_descends_from_the_process_counts(
    tmp_path: Path, how: str, times: int
) -> None:
    async with burner(tmp_path, how) as made:
        used = await made.burn()
    assert times * SECONDS - TICKS <= used <= times * SECONDS + TICKS


@trio_test
async def test_a_child_that_nobody_reaps_counts_as_far_as_it_was_seen(tmp_path: Path) -> None:
    async with burner(tmp_path, "unreaped") as made:
        before = made.tree.seconds()
        os.kill(made.process.pid, signal.SIGUSR1)
        (child,) = await made.reports.pids()
        seen = made.tree.seconds() - before
        os.kill(child, signal.SIGUSR1)
        await until_gone([child])
        await made.reports.pids()
        assert made.tree.seconds() - before >= seen >= SECONDS - TICKS


@trio_test
async def test_an_adapters_own_time_is_not_the_bots(tmp_path: Path) -> None:
    async with burner(tmp_path, "alone", adapted=True) as made:
        assert await made.burn() < TICKS
    (tmp_path / "reports").unlink()
    async with burner(tmp_path, "living_child", adapted=True) as made:
        assert SECONDS - TICKS <= await made.burn() <= SECONDS + TICKS


@trio_test
async def test_a_control_group_counts_alike(tmp_path: Path) -> None:
    cgroups = open_cgroups()
    confinement = Confinement(cgroups.group(Limits(cores=float(os.cpu_count() or 1))))
    if not {"cpuacct", "freezer"} <= cgroups.versions.keys():
        pytest.skip("no control groups can be made here")
    try:
        for how, adapted, times in (
            ("child", False, 1),
            ("living_child", True, 1),
            ("alone", True, 0),
        ):
            async with burner(tmp_path, how, confinement, adapted=adapted) as made:
                used = await made.burn()
            (tmp_path / "reports").unlink()
            assert times * SECONDS - 0.01 <= used <= times * SECONDS + TICKS
            confinement = Confinement(cgroups.group(Limits()))
        async with burner(tmp_path, "forever", confinement) as made:
            await stands_still_while_frozen(made)
    finally:
        cgroups.close()


@trio_test
async def test_a_frozen_bot_and_its_children_stand_still(tmp_path: Path) -> None:
    async with burner(tmp_path, "forever") as made:
        await stands_still_while_frozen(made)


async def stands_still_while_frozen(made: Burner) -> None:
    os.kill(made.process.pid, signal.SIGUSR1)
    await until_used(made.tree, 0.1)
    made.tree.freeze()
    before, now = 0.0, made.tree.seconds()
    while now > before:  # each stops when it is its turn to run
        await trio.sleep(0.2)
        before, now = now, made.tree.seconds()
    made.tree.thaw()
    await until_used(made.tree, 0.1)


async def until_used(tree: Tree, seconds: float) -> None:
    end = tree.seconds() + seconds
    while tree.seconds() < end:
        await trio.sleep(0.01)


@pytest.mark.parametrize("grace", [0.0, 5.0])
@trio_test
async def test_a_frozen_bot_is_ended_cleanly(tmp_path: Path, grace: float) -> None:
    async with burner(tmp_path, "forever") as made:
        os.kill(made.process.pid, signal.SIGUSR1)
        await until_used(made.tree, 0.05)
        made.tree.freeze()
        await made.process.stop(grace)
        exit_ = await made.process.wait()
        assert exit_.signal == (signal.SIGTERM if grace else signal.SIGKILL)
        assert not alive(made.process.pid)


@trio_test
async def test_the_death_of_a_frozen_bot_is_noticed(tmp_path: Path) -> None:
    async with burner(tmp_path, "alone") as made:
        made.tree.freeze()
        os.kill(made.process.pid, signal.SIGKILL)
        assert (await made.process.wait()).signal == signal.SIGKILL
        used = made.tree.seconds()
        made.tree.thaw()
        made.tree.freeze()
        assert made.tree.seconds() == used


@trio_test
async def test_what_is_left_out_does_not_count(tmp_path: Path) -> None:
    async with burner(tmp_path, "alone") as made:
        before = made.tree.seconds()
        os.kill(made.process.pid, signal.SIGUSR1)
        await made.reports.pids()
        made.tree.leave_out()
        assert made.tree.seconds() - before < TICKS


def test_a_process_that_is_not_there_has_no_clock() -> None:
    assert clock(2**22 + 1) is None
    own = clock(os.getpid())
    assert own is not None
    assert own > 0

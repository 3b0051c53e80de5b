"""Real processes: how they start and end, and that nothing of them is left (design section 3)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import trio
from trio.testing import trio_test, wait_all_tasks_blocked

from referee.exits import Exit
from referee.keeper import LOG_PART
from referee.proc import children
from referee.process import (
    Launcher,
    LauncherDied,
    Process,
    StartError,
    open_launcher,
    printable,
)
from tests.referee.process_helpers import (
    ENV,
    PATIENCE,
    UNRULY,
    alive,
    start_unruly,
    until_gone,
)

ROOT = Path(__file__).parents[2]


async def run(launcher: Launcher, folder: Path, *argv: str, **env: str) -> tuple[Exit, str]:
    """Run a command to its end: how it ended, and what it printed."""
    process = await launcher.start("a bot", argv, folder, env or ENV)
    with trio.fail_after(PATIENCE):
        return await process.wait(), process.log_tail()


@pytest.mark.parametrize(
    ("script", "status", "number", "words"),
    [
        ("exit 0", 0, None, "exited with status 0"),
        ("exit 3", 3, None, "exited with status 3"),
        ("kill -SEGV $$", None, signal.SIGSEGV, "killed by SIGSEGV (Segmentation fault)"),
        ("kill -KILL $$", None, signal.SIGKILL, "killed by SIGKILL (Killed)"),
        ("kill -40 $$", None, 40, "killed by signal 40"),
    ],
)
@trio_test
async def test_exit_in_words(
    tmp_path: Path, script: str, status: int | None, number: int | None, words: str
) -> None:
    async with open_launcher(tmp_path) as launcher:
        end, _ = await run(launcher, tmp_path, "sh", "-c", script)
    assert end == Exit(status, number, words)


@trio_test
async def test_an_exit_tells_what_was_printed_and_left_behind(tmp_path: Path) -> None:
    async with open_launcher(tmp_path) as launcher:
        alone, _ = await run(launcher, tmp_path, "sh", "-c", "echo one; sleep 0 & wait; echo two")
        parent, log = await run(launcher, tmp_path, "sh", "-c", "sleep 600 & sleep 600 & echo bye")
    assert (alone.left, alone.printed) == (0, 8)
    assert (parent.left, parent.printed, log) == (2, 4, "bye\n")


@trio_test
async def test_what_the_referee_ends_has_left_nothing(tmp_path: Path) -> None:
    async with open_launcher(tmp_path / "logs") as launcher:
        process, _ = await start_unruly(launcher, "parent", tmp_path)
        await process.stop()
        assert (await process.wait()).left == 0


def peak(pid: int) -> int:
    """The most memory that a process has had, in bytes."""
    status = Path(f"/proc/{pid}/status").read_text()
    return 1024 * int(status.partition("VmHWM:")[2].split()[0])


@trio_test
async def test_peak_memory_is_that_of_all_its_processes(tmp_path: Path) -> None:
    async with open_launcher(tmp_path / "logs") as launcher:
        alone, _ = await start_unruly(launcher, "idle", tmp_path)
        parent, _ = await start_unruly(launcher, "parent", tmp_path)
        assert alone.peak_memory() == peak(alone.pid) > 1_000_000
        assert parent.peak_memory() > peak(parent.pid) > 1_000_000
        await alone.stop()
        assert alone.peak_memory() == 0


@pytest.mark.parametrize(
    ("argv", "problem"),
    [
        (["no-such-command"], "there is no command 'no-such-command'"),
        (["./plain"], "'./plain' may not be executed; chmod +x allows it"),
        (["./blob"], "'./blob' is no program; a script begins with a line such as #!/bin/sh"),
        (["true", "a\0b"], "embedded null byte"),
        (["true", "x" * 1_000_000], "its arguments and environment are too long"),
    ],
)
@trio_test
async def test_start_error(tmp_path: Path, argv: list[str], problem: str) -> None:
    (tmp_path / "plain").touch(0o644)
    (tmp_path / "blob").write_bytes(b"\x01\x02")
    (tmp_path / "blob").chmod(0o755)
    async with open_launcher(tmp_path / "logs") as launcher:
        with pytest.raises(StartError) as caught:
            await launcher.start("alice", argv, tmp_path, ENV)
        assert str(caught.value).startswith(f"alice cannot be started: {problem}")
        assert "\n" not in str(caught.value)
        assert (await run(launcher, tmp_path, "true"))[0].status == 0


@trio_test
async def test_no_such_folder(tmp_path: Path) -> None:
    async with open_launcher(tmp_path) as launcher:
        with pytest.raises(StartError, match=r"No such file or directory: .*/missing$"):
            await launcher.start("alice", ["true"], tmp_path / "missing", ENV)


@trio_test
async def test_a_bot_gets_what_it_is_given_and_nothing_else(tmp_path: Path) -> None:
    script = """
        exec 2>&1
        env; pwd; ulimit -c; readlink /proc/self/fd/0; ls /proc/self/fd; grep Sig /proc/self/status
    """
    async with open_launcher(tmp_path / "logs") as launcher:
        _, output = await run(launcher, tmp_path, "/bin/sh", "-c", script, KEY="a b")
    lines = output.splitlines()
    variables = {line for line in lines if "=" in line}
    assert variables - {f"PWD={tmp_path}", "SHLVL=0", "_=/usr/bin/env"} == {"KEY=a b"}
    assert lines.count(str(tmp_path)) == 1
    assert lines[lines.index(str(tmp_path)) + 1 :][:6] == ["0", "/dev/null", "0", "1", "2", "3"]
    assert "SigBlk:\t0000000000000000".expandtabs(4) in lines
    (ignored,) = (line.split()[1] for line in lines if line.startswith("SigIgn"))
    own_of_libc = 1 << 31 | 1 << 32  # signals 32 and 33, which make leaves so and nobody can reset
    assert int(ignored, 16) & ~own_of_libc == 0


@trio_test
async def test_a_bot_has_a_session_of_its_own(tmp_path: Path) -> None:
    async with open_launcher(tmp_path / "logs") as launcher:
        process, (pid,) = await start_unruly(launcher, "idle", tmp_path)
        assert process.pid == pid == os.getsid(pid)
        assert os.getsid(launcher.pid) == launcher.pid


@trio_test
async def test_started_at_is_trio_time(tmp_path: Path) -> None:
    async with open_launcher(tmp_path / "logs") as launcher:
        before = trio.current_time()
        process = await launcher.start("alice", ["true"], tmp_path, ENV)
        assert before <= process.started_at <= trio.current_time()


@pytest.mark.parametrize("how", ["idle", "stubborn", "parent"])
@trio_test
async def test_stop_ends_everything(tmp_path: Path, how: str) -> None:
    async with open_launcher(tmp_path / "logs") as launcher:
        process, pids = await start_unruly(launcher, how, tmp_path)
        bystander, _ = await start_unruly(launcher, "polite", tmp_path)
        with trio.fail_after(PATIENCE):
            await process.stop()
        assert not any(map(alive, pids))
        end = await process.wait()
        assert end == Exit(
            None, signal.SIGKILL, "ended by the referee (killed by SIGKILL (Killed))"
        )
        assert alive(bystander.pid)


@trio_test
async def test_stop_is_gentle_when_asked(tmp_path: Path) -> None:
    async with open_launcher(tmp_path / "logs") as launcher:
        process, _ = await start_unruly(launcher, "polite", tmp_path)
        with trio.fail_after(PATIENCE):
            await process.stop(grace=600.0)
        assert await process.wait() == Exit(5, None, "ended by the referee (exited with status 5)")


@trio_test
async def test_stubborn_bots_are_killed_after_the_grace(tmp_path: Path) -> None:
    async with open_launcher(tmp_path / "logs") as launcher:
        process, _ = await start_unruly(launcher, "stubborn", tmp_path)
        begin = trio.current_time()
        with trio.fail_after(PATIENCE):
            await process.stop(grace=0.1)
        assert trio.current_time() - begin >= 0.1
        assert (await process.wait()).signal == signal.SIGKILL


@trio_test
async def test_stop_again_and_sooner(tmp_path: Path) -> None:
    async with open_launcher(tmp_path / "logs") as launcher:
        process, pids = await start_unruly(launcher, "stubborn", tmp_path)
        with trio.fail_after(PATIENCE):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(process.stop, 600.0)
                await wait_all_tasks_blocked()
                await process.stop()
        assert not any(map(alive, pids))
        await process.stop()


@pytest.mark.parametrize("how", ["abandon", "flee"])
@trio_test
async def test_what_an_exited_bot_leaves_is_ended(tmp_path: Path, how: str) -> None:
    async with open_launcher(tmp_path / "logs") as launcher:
        process, pids = await start_unruly(launcher, how, tmp_path)
        with trio.fail_after(PATIENCE):
            end = await process.wait()
        assert end.words == "exited with status 0"
        assert not any(map(alive, pids))


@pytest.mark.parametrize("how", ["kill_keeper", "stop_keeper"])
@trio_test
async def test_a_bot_that_attacks_its_keeper_is_ended(tmp_path: Path, how: str) -> None:
    async with open_launcher(tmp_path / "logs") as launcher:
        process, pids = await start_unruly(launcher, how, tmp_path)
        with trio.fail_after(PATIENCE):
            end = await process.wait()
        assert end == Exit(None, None, "was lost: the process that watched over it was killed")
        assert not any(map(alive, pids))
        assert (await run(launcher, tmp_path, "true"))[0].status == 0


@trio_test
async def test_any_number_of_tasks_may_wait(tmp_path: Path) -> None:
    ends: list[Exit] = []

    async def wait(process: Process) -> None:
        ends.append(await process.wait())

    async with open_launcher(tmp_path / "logs") as launcher:
        process, _ = await start_unruly(launcher, "idle", tmp_path)
        with trio.fail_after(PATIENCE):
            async with trio.open_nursery() as nursery:
                with trio.CancelScope() as impatient:
                    nursery.start_soon(wait, process)
                    nursery.start_soon(wait, process)
                    await wait_all_tasks_blocked()
                    impatient.cancel()
                    await process.wait()
                os.kill(process.pid, signal.SIGTERM)
    assert ends == [Exit(None, signal.SIGTERM, "killed by SIGTERM (Terminated)")] * 2


@trio_test
async def test_a_cancelled_start_leaves_nothing(tmp_path: Path) -> None:
    async with open_launcher(tmp_path / "logs") as launcher:
        async with trio.open_nursery() as nursery:
            argv = [sys.executable, str(UNRULY), "stubborn", "/dev/null"]
            nursery.start_soon(launcher.start, "alice", argv, tmp_path, ENV)
            await wait_all_tasks_blocked()
            nursery.cancel_scope.cancel()
        await run(launcher, tmp_path, "true")
        with trio.fail_after(PATIENCE):
            await until_gone(children(launcher.pid))


@trio_test
async def test_the_end_of_the_block_ends_everything(tmp_path: Path) -> None:
    pids: list[int] = []
    processes: list[Process] = []

    async def fail_with_bots_running() -> None:
        async with open_launcher(tmp_path / "logs") as launcher:
            pids.append(launcher.pid)
            for how in ("stubborn", "parent"):
                process, bots = await start_unruly(launcher, how, tmp_path)
                pids.extend(bots)
                processes.append(process)
            raise KeyError("a mistake")

    with pytest.raises(KeyError, match="a mistake"):
        await fail_with_bots_running()
    assert len(pids) == 4
    assert not any(map(alive, pids))
    for process in processes:
        assert (await process.wait()).words.startswith("ended by the referee")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
@trio_test
async def test_however_the_referee_ends_nothing_is_left(tmp_path: Path, number: int) -> None:
    program = Path(__file__).with_name("short_lived_referee.py")
    with subprocess.Popen(
        [sys.executable, program, tmp_path],
        env={**ENV, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as referee:
        assert referee.stdout is not None
        pids = [int(pid) for pid in referee.stdout.readline().split()]
        assert len(pids) == 4
        assert all(map(alive, pids))
        os.killpg(referee.pid, number)
        with trio.fail_after(PATIENCE):
            await until_gone(pids)


@trio_test
async def test_when_the_launcher_dies_every_waiter_hears_of_it(tmp_path: Path) -> None:
    async def wait(process: Process) -> None:
        with pytest.raises(LauncherDied, match="launcher of the bots has died"):
            await process.wait()

    async with open_launcher(tmp_path / "logs") as launcher:
        processes = [await start_unruly(launcher, how, tmp_path) for how in ("stubborn", "parent")]
        with trio.fail_after(PATIENCE):
            async with trio.open_nursery() as nursery:
                for process, _ in processes:
                    nursery.start_soon(wait, process)
                    nursery.start_soon(wait, process)
                os.kill(launcher.pid, signal.SIGKILL)
            await until_gone([pid for _, pids in processes for pid in pids])
            await processes[0][0].stop()
            with pytest.raises(LauncherDied):
                await launcher.start("bob", ["true"], tmp_path, ENV)


@trio_test
async def test_the_launcher_minds_no_signal(tmp_path: Path) -> None:
    async with open_launcher(tmp_path / "logs") as launcher:
        process, _ = await start_unruly(launcher, "idle", tmp_path)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            os.kill(launcher.pid, number)
            for keeper in children(launcher.pid):
                os.kill(keeper, number)
        assert (await run(launcher, tmp_path, "sh", "-c", "exit 4"))[0].status == 4
        assert alive(process.pid)


@trio_test
async def test_many_at_once(tmp_path: Path) -> None:
    statuses: dict[int, int | None] = {}

    async def one(launcher: Launcher, number: int) -> None:
        process = await launcher.start("b", ["sh", "-c", f"exit {number % 200}"], tmp_path, ENV)
        statuses[number] = (await process.wait()).status

    with trio.fail_after(6 * PATIENCE):
        async with open_launcher(tmp_path) as launcher, trio.open_nursery() as nursery:
            for number in range(300):
                nursery.start_soon(one, launcher, number)
    assert statuses == {number: number % 200 for number in range(300)}


@trio_test
async def test_a_flood_of_output_is_bounded_and_costs_little(tmp_path: Path) -> None:
    async with open_launcher(tmp_path / "logs") as launcher:
        with trio.fail_after(PATIENCE):
            process, _ = await start_unruly(launcher, "flood", tmp_path)
        [keeper] = children(launcher.pid)
        ticks = Path(f"/proc/{keeper}/stat").read_text().rpartition(")")[2].split()[11:13]
        assert sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK") < 0.3
        assert process.log_path.stat().st_size <= 4 * LOG_PART
        await process.stop()
        log = process.log_path.read_bytes()
        note = b"\n[... %d bytes left out ...]\n" % (200_000 * 10 - 2 * LOG_PART)
        assert log[LOG_PART:-LOG_PART] == note
        assert log.startswith(b"000000000\n000000001\n")
        assert process.log_tail(20) == "000199998\n000199999\n"


@trio_test
async def test_log_tail_is_harmless(tmp_path: Path) -> None:
    script = r"printf '\033[31mred\033[0m \033]0;title\007a\tb\r\nc\000d \342\200\256e\n\377'"
    async with open_launcher(tmp_path / "logs") as launcher:
        _, output = await run(launcher, tmp_path, "sh", "-c", script)
    assert output == "red a   b\nc\ufffdd \ufffde\n\ufffd"


@trio_test
async def test_logs_of_names_that_are_no_file_names(tmp_path: Path) -> None:
    async with open_launcher(tmp_path / "logs") as launcher:
        for name in ("../../up", "a b", "\u00fcml\u00e4ut" * 10):
            process = await launcher.start(name, ["echo", "here"], tmp_path, ENV)
            await process.wait()
            assert process.log_path.parent == tmp_path / "logs"
            assert process.log_tail() == "here\n"


@pytest.mark.parametrize(
    ("text", "harmless"),
    [
        ("plain \u00e9\u2660\n", "plain \u00e9\u2660\n"),
        ("\x1b[2J\x1b[1;1Hx", "x"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("never ended \x1b]0;title\nnext", "never ended \nnext"),
        ("\x1bcreset \x1b(B", "reset "),
        ("alone \x1b", "alone \ufffd"),
        ("one\rtwo\x0bthree", "one\ntwo\nthree"),
        ("bell\x07 \x9b31m", "bell\ufffd \ufffd31m"),
    ],
)
def test_printable(text: str, harmless: str) -> None:
    assert printable(text) == harmless

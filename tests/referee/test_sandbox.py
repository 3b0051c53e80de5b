"""How bots and builds are started: command lines, what is missing where tools are, real sandboxes.

tests/tournaments/test_hostile.py attacks the whole; here are its parts, and machines that lack
something.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import trio
from trio.testing import trio_test

from referee import mounts, protection
from referee.bots import load, prepare
from referee.cgroups import Cgroups, Place, open_cgroups
from referee.limits import MIB, OFF, STRICT, Limits, SandboxRules
from referee.proc import descendants
from referee.process import open_launcher
from referee.protection import INSTALL, Tools, as_user, tools
from referee.sandbox import SOCKET, Command, Sandbox, SandboxError, Work, open_sandbox
from tests.referee.process_helpers import PATIENCE, running_in, until_gone
from tests.sandboxes import needs_bubblewrap

LIMITS = Limits(memory=64 * MIB, processes=16, cores=0.5, scratch=4 * MIB, files=128)
BARE = Tools(lacking=f"bubblewrap is not installed: {INSTALL}")
USUAL = Tools("/usr/bin/bwrap", "/usr/bin/setpriv", "/usr/bin/prlimit", userns=True)
NOBODY = 65534
WHOLE = Cgroups({name: Place(Path("/x"), 2) for name in ("memory", "pids", "cpu")})
NONE = Cgroups({})


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that everybody may read."""
    folder = Path(tempfile.mkdtemp(prefix="knavery-test-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def command(sandbox: Sandbox, folder: Path, *argv: str) -> Command:
    """How a bot is started in a folder, with a real socket and a scratch folder."""
    (folder / "scratch").mkdir(exist_ok=True)
    path = folder / "s"
    if not path.exists():
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(path))
    env = {"PATH": os.environ["PATH"], "KNAVERY_TOKEN": "t", "KNAVERY_ADDRESS": f"unix:{path}"}
    return sandbox.bot(argv, folder, env, (), path, folder / "scratch")


async def outcome(made: Command, logs: Path) -> tuple[str, str]:
    """What a command prints, and how it ends."""
    async with open_launcher(logs) as launcher:
        process = await launcher.start("x", made.argv, made.cwd, made.env, made.confinement)
        with trio.fail_after(PATIENCE):
            end = await process.wait()
        return process.log_tail(), end.words


def test_a_bot_is_shown_its_folder_and_its_socket_and_may_change_neither(tmp_path: Path) -> None:
    made = command(Sandbox(SandboxRules(limits=LIMITS), USUAL, WHOLE), tmp_path, "./bot", "-x")
    words = " ".join(made.argv)
    assert made.argv[0] == "/usr/bin/bwrap"
    assert f"--ro-bind {tmp_path} {tmp_path} " in words
    assert f"--bind {tmp_path}/s {SOCKET} " in words
    assert words.count(" --bind ") == 1
    for option in ("--unshare-net", "--unshare-pid", "--unshare-user"):
        assert option in made.argv
    assert "--die-with-parent" not in made.argv, "its keeper counts what it leaves, and ends it"
    assert words.endswith(f"--remount-ro / --chdir {tmp_path} -- ./bot -x")
    assert made.env["KNAVERY_ADDRESS"] == f"unix:{SOCKET}"
    assert made.env["HOME"] == made.env["TMPDIR"] == "/tmp"
    assert "t" not in made.argv, "the token is in the environment, which others cannot read"
    assert made.confinement.polled == {}
    assert made.confinement.rlimits["RLIMIT_NOFILE"] == LIMITS.files


def test_what_no_group_bounds_is_bounded_otherwise(tmp_path: Path) -> None:
    made = command(Sandbox(SandboxRules(limits=LIMITS), USUAL, NONE), tmp_path, "./bot")
    assert made.argv[-4:] == ("/usr/bin/prlimit", "--nproc=16", "--", "./bot")
    assert made.confinement.polled == {"memory": LIMITS.memory, "processes": 16}
    assert made.confinement.cgroup is None


def test_without_bubblewrap_there_are_limits_and_a_loud_line(tmp_path: Path) -> None:
    sandbox = Sandbox(SandboxRules(limits=LIMITS), BARE, NONE)
    made = command(sandbox, tmp_path, "./bot")
    assert made.argv == ("./bot",)
    assert made.confinement.polled["memory"] == LIMITS.memory
    assert not sandbox.isolates
    assert sandbox.in_force.startswith("no isolation; memory by polling, processes by polling")
    loud, bounds = sandbox.missing
    assert "bots can read your files" in loud
    assert loud.endswith("apt-get install bubblewrap")
    assert "cores unbounded" in bounds


def test_off_is_off(tmp_path: Path) -> None:
    sandbox = Sandbox(SandboxRules(OFF), USUAL, NONE)
    made = command(sandbox, tmp_path, "./bot")
    assert (made.argv, made.cwd) == (("./bot",), tmp_path)
    assert made.confinement.request() == {"group": None, "rlimits": {}, "polled": {}}
    assert (sandbox.in_force, sandbox.isolates) == ("off", False)
    (line,) = sandbox.missing
    assert "bots can do all that you can do here" in line
    build = sandbox.build(["make"], tmp_path, {"PATH": "/bin"}, tmp_path / "home", Work())
    assert build.argv == ("make",)


def test_strict_refuses_with_the_mend() -> None:
    mend = "apt-get install bubblewrap; or let mode"
    with pytest.raises(SandboxError, match=mend), open_sandbox(SandboxRules(STRICT), BARE):
        pass
    with open_sandbox(SandboxRules(STRICT), USUAL) as sandbox:
        assert sandbox.isolates


def test_a_machine_without_bubblewrap(tmp_path: Path) -> None:
    found = tools(str(tmp_path))
    assert (found.bwrap, found.setpriv, found.uids) == ("", "", None)
    assert found.lacking == "bubblewrap is not installed: apt-get install bubblewrap"
    assert not found.counts_processes


def test_a_bubblewrap_that_does_not_work_says_why(tmp_path: Path) -> None:
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho bwrap: No permissions to create new namespace >&2; exit 1\n")
    fake.chmod(0o755)
    found = tools(str(tmp_path))
    assert not found.bwrap
    assert found.lacking.startswith(
        "bubblewrap cannot be used (bwrap: No permissions to create new namespace): allow user"
    )


def test_who_is_not_root_gives_no_ids_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert protection._uids(USUAL) is None


def test_without_bubblewrap_bots_are_not_users_who_could_not_read_them(
    tmp_path: Path, open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of a referee that is root in a container, whose cache is in a home for root alone."""
    needs_bubblewrap()
    if os.geteuid() != 0:
        pytest.skip("only root can start programs as somebody else")
    (tmp_path / "test").symlink_to(shutil.which("test") or "")
    (tmp_path / "setpriv").symlink_to(tools().setpriv)
    monkeypatch.setattr(protection, "ROOT", open_folder)
    (open_folder / "knavery").mkdir()
    (open_folder / "knavery/__init__.py").touch()
    monkeypatch.setattr(sys, "executable", "/bin/sh")
    monkeypatch.setattr(tempfile, "tempdir", "/tmp")
    found = []
    for mode in (0o755, 0o700):
        monkeypatch.setenv("KNAVERY_CACHE", str(open_folder / f"{mode:o}" / "cache"))
        (open_folder / f"{mode:o}").mkdir()
        (open_folder / f"{mode:o}").chmod(mode)
        found.append(tools.__wrapped__(str(tmp_path)).uids is not None)
    assert found == [True, False]


def test_a_folder_of_a_program_may_be_a_projects(tmp_path: Path) -> None:
    shown = mounts.prefix_parts(tmp_path)
    assert tmp_path not in shown
    assert tmp_path / "lib" in shown


def test_nested_places_are_mounted_once(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    found = mounts.lean([tmp_path / "a/b", tmp_path / "a", tmp_path / "no", Path("/usr/bin")])
    assert [each for each in found if each.is_relative_to(tmp_path)] == [tmp_path / "a"]
    assert Path("/usr/bin") not in found


@trio_test
async def test_as_an_unprivileged_user_without_control_groups(
    tmp_path: Path, open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What an ordinary account has: user namespaces, rlimits and polling."""
    needs_bubblewrap()
    monkeypatch.setattr(mounts, "python", lambda: ())  # which need not be readable for everybody
    sandbox = Sandbox(SandboxRules(limits=LIMITS), replace(tools(), uids=None), NONE)
    script = "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do sleep 600 & done;true"
    looks = "ls -d /root/.* /home/* 2>/dev/null; kill -0 1 && cat /proc/1/comm; touch x; echo > /y"
    words = []
    for each in (script, looks):
        made = command(sandbox, open_folder, "sh", "-c", each)
        if os.geteuid() == 0:
            os.chown(open_folder / "s", NOBODY, NOBODY)
            made = replace(made, argv=tuple(as_user(tools().setpriv, NOBODY, made.argv)))
        words.append((await outcome(made, tmp_path / "logs"))[0])
    forked, looked = words
    assert "annot fork" in forked or "esource temporarily unavailable" in forked
    assert looked.count("Read-only file system") == 2
    assert "bwrap" in looked, "nobody else has the first number there"


@trio_test
async def test_root_without_bubblewrap_starts_a_bot_as_somebody_else(
    tmp_path: Path, open_folder: Path
) -> None:
    """It can neither read what is root's alone nor signal the referee, and owns its own files."""
    needs_bubblewrap()
    if os.geteuid() != 0:
        pytest.skip("only root can start programs as somebody else")
    private = open_folder / "private"
    private.write_text("a letter")
    private.chmod(0o600)
    sandbox = Sandbox(SandboxRules(limits=LIMITS), replace(tools(), bwrap="", userns=False), NONE)
    script = f"id -u; id -G; cat {private}; kill -0 {os.getpid()}; : > scratch/x && echo wrote"
    made = command(sandbox, open_folder, "sh", "-c", script)
    said, end = await outcome(made, tmp_path / "logs")
    uid, groups, letter, signalled, *_, wrote = said.splitlines()
    assert int(uid) in (tools().uids or ())
    assert groups == uid
    assert "Permission denied" in letter
    assert "ermitted" in signalled
    assert (wrote, end) == ("wrote", "exited with status 0")


@trio_test
async def test_memory_without_control_groups(tmp_path: Path, open_folder: Path) -> None:
    needs_bubblewrap()
    sandbox = Sandbox(SandboxRules(limits=LIMITS), tools(), NONE)
    hog = "x=0123456789; while :; do x=$x$x; done"
    said, end = await outcome(command(sandbox, open_folder, "sh", "-c", hog), tmp_path / "logs")
    assert "it used more than 64 MiB of memory" in end or "ut of" in said


@trio_test
async def test_cores_are_bounded(tmp_path: Path, open_folder: Path) -> None:
    """Busy loops, also of children in sessions of their own, share what one bot may have."""
    needs_bubblewrap()
    cgroups = open_cgroups()
    try:
        if not {"cpu", "cpuacct"} <= cgroups.versions.keys():
            pytest.skip("no control groups that bound and count processor time can be made here")
        sandbox = Sandbox(SandboxRules(limits=LIMITS), tools(), cgroups)
        loops = "for i in 1 2 3 4; do setsid sh -c 'while :; do :; done' & done; wait"
        made = command(sandbox, open_folder, "sh", "-c", loops)
        group = made.confinement.cgroup
        assert group is not None
        async with open_launcher(tmp_path) as launcher:
            process = await launcher.start("x", made.argv, made.cwd, made.env, made.confinement)
            with trio.fail_after(PATIENCE):
                while (group.cpu_seconds() or 0) < 0.05:
                    await trio.sleep(0.01)
                began, before = time.monotonic(), group.cpu_seconds() or 0
                await trio.sleep(1)
                used = (group.cpu_seconds() or 0) - before
                assert used < LIMITS.cores * (time.monotonic() - began) + 0.2
            await process.stop()
    finally:
        cgroups.close()


BUILD = """
import os, pathlib, socket, sys
private, port = sys.argv[1], int(sys.argv[2])
print("home", os.environ["HOME"], "secret", os.environ.get("KNAVERY_TEST_SECRET_OF_MINE"))
for what in (lambda: open(private).read(), lambda: open("/usr/left-behind", "w")):
    try:
        print("got", what())
    except OSError as error:
        print("failed", error)
try:
    socket.create_connection(("127.0.0.1", port), timeout=5)
    print("connected")
except OSError:
    print("no network")
pathlib.Path(os.environ["HOME"], "kept").touch()
os.symlink(private, "link")
pathlib.Path("made").write_text("x")
"""


@pytest.mark.parametrize(("mode", "network"), [("auto", "connected"), (STRICT, "no network")])
def test_a_build_sees_its_folder_and_a_home_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, network: str
) -> None:
    needs_bubblewrap()
    monkeypatch.setenv("KNAVERY_TEST_SECRET_OF_MINE", "x")
    private = tmp_path / "private"
    private.write_text("a letter")
    folder = tmp_path / "bot"
    folder.mkdir()
    (folder / "build.py").write_text(BUILD)
    with socket.create_server(("127.0.0.1", 0)) as server:
        words = ["python", "build.py", str(private), str(server.getsockname()[1])]
        (folder / "bot.toml").write_text(f'run = ["cat", "link"]\nbuild = {words}\n')
        bot = load(str(folder))
        prepared = prepare(bot, tmp_path / "cache", SandboxRules(mode))
    said = (tmp_path / "cache/bots" / bot.version / "build/0000-build.log").read_text().splitlines()
    assert said[0].startswith(f"home {tmp_path}/cache/homes/")
    assert said[0].endswith("secret None")
    assert [line.partition(" ")[0] for line in said[1:3]] == ["failed", "failed"]
    assert said[3] == network
    assert (prepared.cwd / "made").exists()
    assert len([*(tmp_path / "cache/homes").glob("*/kept")]) == 1
    with open_sandbox(SandboxRules(limits=LIMITS)) as sandbox:
        made = command(sandbox, tmp_path, *prepared.argv)
        run = sandbox.bot(prepared.argv, prepared.cwd, made.env, (), tmp_path / "s", tmp_path)
        said_now, _ = trio.run(outcome, run, tmp_path / "logs")
    assert "No such file" in said_now, "the link that it made leads nowhere"
    assert "a letter" not in said_now


def test_a_build_finds_the_versions_of_its_language(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rust is mostly a `rustup` that picks one of what it keeps in the home."""
    needs_bubblewrap()
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    monkeypatch.delenv("RUSTUP_HOME", raising=False)
    (tmp_path / "me/.rustup").mkdir(parents=True)
    (tmp_path / "me/.rustup/settings.toml").write_text("default = 'stable'\n")
    (tmp_path / "me/.netrc").write_text("a password\n")
    folder = tmp_path / "bot"
    folder.mkdir()
    build = f"cat $RUSTUP_HOME/settings.toml > found; ls {tmp_path}/me/.netrc || echo no >> found"
    (folder / "bot.toml").write_text(f'run = ["cat", "found"]\nbuild = ["sh", "-c", "{build}"]\n')
    prepared = prepare(load(str(folder)), tmp_path / "cache")
    assert (prepared.cwd / "found").read_text() == "default = 'stable'\nno\n"


async def leaves(tmp_path: Path, left: int, *argv: str) -> None:
    """Whoever is started so in a sandbox leaves so many processes, each of a dozen times, and none
    of them runs on."""
    needs_bubblewrap()
    folder = tmp_path / "bot"
    folder.mkdir()
    with open_sandbox(SandboxRules(limits=LIMITS)) as sandbox:
        async with open_launcher(tmp_path / "logs") as launcher:
            for _ in range(12):
                made = command(sandbox, folder, *argv)
                process = await launcher.start("x", made.argv, made.cwd, made.env, made.confinement)
                with trio.fail_after(PATIENCE):
                    end = await process.wait()
                assert (end.status, end.left) == (0, left)
                assert not running_in(folder)


@trio_test
async def test_the_sandboxs_own_processes_are_nothing_that_a_bot_left(tmp_path: Path) -> None:
    """bubblewrap's first process may end a moment after the bot, or wait for what that started."""
    await leaves(tmp_path, 0, "true")


@trio_test
async def test_what_a_bot_leaves_in_its_sandbox_is_counted_and_ended(tmp_path: Path) -> None:
    await leaves(tmp_path, 2, "sh", "-c", "setsid sleep 600 & sleep 600 &")


@pytest.mark.parametrize("killed", ["bwrap", "keeper", "launcher"])
@trio_test
async def test_whoever_is_killed_nothing_stays_in_a_sandbox(tmp_path: Path, killed: str) -> None:
    needs_bubblewrap()
    folder = tmp_path / "bot"
    folder.mkdir()
    with open_sandbox(SandboxRules(limits=LIMITS)) as sandbox:
        async with open_launcher(tmp_path / "logs") as launcher:
            made = command(sandbox, folder, "sh", "-c", "setsid sleep 600 & sleep 600")
            process = await launcher.start("x", made.argv, made.cwd, made.env, made.confinement)
            with trio.fail_after(PATIENCE):
                while len(running_in(folder)) < 3:
                    await trio.sleep(0.01)
                below = list(descendants(launcher.pid))
                pids = {"bwrap": process.pid, "keeper": below[0], "launcher": launcher.pid}
                os.kill(pids[killed], signal.SIGKILL)
                await until_gone(below)


@trio_test
async def test_a_launcher_that_is_killed_with_its_keepers_leaves_nothing_in_a_group(
    tmp_path: Path,
) -> None:
    needs_bubblewrap()
    folder = tmp_path / "bot"
    folder.mkdir()
    with open_sandbox(SandboxRules(limits=LIMITS)) as sandbox:
        if not sandbox.bounds_cores:
            pytest.skip("no control groups can be made here")
        async with open_launcher(tmp_path / "logs") as launcher:
            made = command(sandbox, folder, "sh", "-c", "setsid sleep 600 & sleep 600")
            await launcher.start("x", made.argv, made.cwd, made.env, made.confinement)
            with trio.fail_after(PATIENCE):
                while len(running_in(folder)) < 3:
                    await trio.sleep(0.01)
            below = list(descendants(launcher.pid))
            os.kill(launcher.pid, signal.SIGSTOP)  # it would notice
            for pid in (below[0], launcher.pid):
                os.kill(pid, signal.SIGKILL)
    assert not running_in(folder)

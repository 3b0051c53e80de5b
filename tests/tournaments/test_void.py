"""What the machine does wrong is no bot's fault: what it spoils is void and is played again."""

import errno
import os
import re
import resource
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import trio

from referee.bounds import Bounds
from referee.cgroups import open_cgroups
from referee.failures import NO_THREAD, SCARCE, MachineFailure, machine_failure, scarce
from referee.launcher import descendants
from referee.limits import Limits
from referee.match import MatchResult
from referee.process import open_launcher
from tests.referee.test_generation import expected
from tests.tournaments.operator import BOT, ended, start
from tests.tournaments.test_runner import Quiet, four, plan
from tournaments import reception, runner
from tournaments.config import EntrantSpec
from tournaments.errors import for_user
from tournaments.launch import Plan
from tournaments.reception import Reception
from tournaments.runner import Run
from tournaments.schedule import Scheduled, Seatings
from tournaments.store import Store
from tournaments.verify import verify

Trouble = Callable[[], object]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KNAVERY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(runner, "REST", 0.01)


@pytest.fixture
def files() -> Iterator[None]:
    """Whatever a test does to the limit of open files, it ends with it."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    recover()


class Troubled(Quiet):
    """Makes trouble when so many matches are over, and what was made before is noticed; it ends
    with the next line that is said, unless it `lasts`, when there is as much of it again."""

    def __init__(self, *troubles: tuple[int, Trouble], lasts: bool = False) -> None:
        super().__init__()
        self._troubles = list(troubles)
        self._finished = 0
        self._lasts = lasts
        self._noticed = True

    def finished(self, match: Scheduled, result: MatchResult) -> None:
        super().finished(match, result)
        self._finished += 1
        if self._noticed and self._troubles and self._finished >= self._troubles[0][0]:
            self._noticed = False
            self._troubles.pop(0)[1]()

    def say(self, line: str) -> None:
        super().say(line)
        self._noticed = True
        recover()
        if self._lasts:
            use_up_files()


HELD: list[int] = []
"""File descriptors that are taken from the referee."""


def use_up_files() -> None:
    """Not one more can be opened here."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = max(int(name) for name in os.listdir("/proc/self/fd"))
    resource.setrlimit(resource.RLIMIT_NOFILE, (most + 1, hard))
    with suppress(OSError):
        while True:
            HELD.append(os.dup(0))


def recover() -> None:
    """There are files again."""
    while HELD:
        os.close(HELD.pop())
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))


def launcher() -> int:
    """The launcher of this process."""
    (pid,) = (
        pid
        for pid in descendants(os.getpid())
        if b"referee.launcher" in Path(f"/proc/{pid}/cmdline").read_bytes()
        and os.getpgid(pid) == pid
        and _parent(pid) == os.getpid()
    )
    return pid


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def kill_launcher() -> None:
    os.kill(launcher(), signal.SIGKILL)


@pytest.fixture
def made(tmp_path: Path) -> Plan:
    return plan(*four(tmp_path)[:3], rounds=2, max_deals=1, seatings=Seatings.CYCLIC)


def play(made: Plan, path: Path, progress: Quiet) -> bool:
    if path.exists():
        store = Store.open(path, write=True)
    else:
        store = Store.create(path, made.tournament, made.key, made.entrants, made.commitment)
    with store:
        run = Run(store, made.schedule, made.field, progress, in_flight=1)
        return trio.run(run.play, path.with_suffix(".logs"))


def void(path: Path, made: Plan) -> list[str]:
    """Why attempts are void. All that is finished is as if nothing had happened."""
    with Store.open(path, write=False) as store:
        assert verify(store).problem is None
        for match in store.matches(open_blocks=True):
            scheduled = made.schedule.match(match.block, match.seating, match.attempt)
            undisturbed = expected(scheduled)
            assert match.totals == undisturbed.totals
            assert [each.moves for each in match.deals] == [
                each.moves for each in undisturbed.deals
            ]
            assert (match.faults, match.forfeits) == ((), ())
        whys = [why for (why,) in store._rows("SELECT why FROM attempts WHERE outcome = 'void'")]
        assert store.tally().void_attempts == len(whys)
        return whys


@pytest.mark.usefixtures("files")
def test_matches_that_the_machine_spoils_are_void_and_are_played_again(
    tmp_path: Path, made: Plan
) -> None:
    path = tmp_path / "t.knavery"
    progress = Troubled((1, kill_launcher), (3, use_up_files))
    assert play(made, path, progress)
    said = [line for line in progress.lines if "void and played again" in line]
    assert "the launcher of the bots has died" in said[0]
    assert "ulimit -n" in said[-1]
    whys = void(path, made)
    assert whys
    assert all(any(line.startswith(why) for line in said) for why in whys)
    with Store.open(path, write=False) as store:
        assert (store.tally().finished, store.tally().blocks_complete) == (6, 2)
        assert store.fault_counts() == {}


Bound = Callable[[int], None]


@pytest.fixture
def bound() -> Iterator[Bound]:
    """Lets a process start no other one and no thread any more: root by a control group, anybody
    else by RLIMIT_NPROC."""
    cgroups = open_cgroups()
    group = cgroups.group(Limits(processes=1))
    bounds = Bounds(group.request() if group else None)

    def bind(pid: int) -> None:
        if os.geteuid() != 0:
            resource.prlimit(pid, resource.RLIMIT_NPROC, (0, 0))
            return
        bounds.prepare()
        for folder in group.request()["folders"] if group else ():
            Path(folder, "cgroup.procs").write_text(f"{pid}")

    if os.geteuid() == 0 and not cgroups.bounds("pids"):
        cgroups.close()
        pytest.skip("no control group can be made here that bounds processes")
    yield bind
    bounds.remove()
    cgroups.close()


def test_a_referee_that_may_start_no_thread_says_so(bound: Bound) -> None:
    """gRPC's library would end it, or wait for ever."""
    code = """
import sys, trio
from referee.server import open_door
async def main():
    async with open_door():
        print("open")
print("ready", flush=True)
sys.stdin.read()
trio.run(main)
"""
    words = [sys.executable, "-c", code]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as referee:
        assert referee.stdout is not None
        assert referee.stdout.readline() == "ready\n"
        bound(referee.pid)
        said, err = referee.communicate(timeout=60)
    assert said == ""
    failure = "MachineFailure: the referee cannot start its threads: no process may be started"
    assert failure in err.splitlines()[-1]


def test_a_machine_that_starts_no_process_any_more_is_no_bots_fault(
    tmp_path: Path, bound: Bound
) -> None:
    made = plan(*four(tmp_path)[:3], max_deals=1, seatings=Seatings.CYCLIC)
    path, progress = tmp_path / "t.knavery", Troubled((1, lambda: bound(launcher())))
    assert play(made, path, progress)
    (said,) = [line for line in progress.lines if "could not be started" in line]
    assert "no process may be started any more: raise `ulimit -u`" in said
    assert "going on with fresh processes" in said
    assert all(said.startswith(why) for why in void(path, made))
    with Store.open(path, write=False) as store:
        assert (store.tally().finished, store.fault_counts()) == (3, {})


CULPRIT = BOT.replace(
    "os._exit(9)", "os.kill(int(os.environ['LAUNCHER']), 9); open(os.environ['VOID']).read()"
)
"""A remote program at one of whose moves the machine fails; it moves when the match is void."""


class Hosting(Quiet):
    """Starts a remote program as soon as it is said how; tells the first of them, by a named pipe,
    when a match is void."""

    def __init__(self, pipe: Path) -> None:
        super().__init__()
        self.programs: list[subprocess.Popen[str]] = []
        self._pipe = pipe
        os.mkfifo(pipe)

    def say(self, line: str) -> None:
        super().say(line)
        if secret := dict(re.findall(r"(KNAVERY_\w+)=(\S+)", line)):
            more = {"LAUNCHER": f"{launcher()}", "VOID": f"{self._pipe}"}
            when = () if self.programs else ("3",)
            self.programs.append(start(secret | more, *when, code=CULPRIT))
        if "void" in line:
            os.close(os.open(self._pipe, os.O_WRONLY | os.O_NONBLOCK))


def test_what_is_spoilt_for_remote_bots_is_dealt_anew_in_the_same_run(tmp_path: Path) -> None:
    """The launcher dies at a move of a remote bot's first match; both remote programs come back."""
    field = (
        EntrantSpec("a", "", remote=True),
        EntrantSpec("b", "", remote=True),
        *four(tmp_path)[:1],
    )
    here = reception.listening("127.0.0.1:0", None, None, wait=300.0)
    made = plan(*field, max_deals=1, seatings=Seatings.CYCLIC, here=here)
    path, progress = tmp_path / "t.knavery", Hosting(tmp_path / "void")
    with Store.create(path, made.tournament, made.key, made.entrants, made.commitment) as store:
        run = Run(store, made.schedule, made.field, progress, in_flight=1)
        tokens = reception.tokens(made.key, made.schedule, made.entrants)
        names = {n: entrant.name for n, entrant in enumerate(made.entrants)}
        run.reception = Reception(here, tokens, names, 60.0, progress.say)
        assert trio.run(run.play, tmp_path / "logs")
    assert all("trying again" in err for _, err in map(ended, progress.programs))
    (said,) = [line for line in progress.lines if "void" in line]
    assert said.startswith("the launcher of the bots has died")
    assert "1 match void and played again" in said
    waits = [line.split(", for ")[1] for line in progress.lines if line.startswith("awaiting")]
    assert waits == ["5 min at the most", "1 min at the most"]
    assert len(void(path, made)) == 1
    with Store.open(path, write=False) as store:
        assert (store.tally().finished, store.fault_counts()) == (3, {})
        attempts = sorted(match.attempt for match in store.matches())
        assert attempts == [0, 0, 1]
        dealt = Counter((each.entrant, deals) for each in store.processes() for deals in each.deals)
        assert set(dealt.values()) == {1}
        assert {deals[-2:] for _, deals in dealt} == {"a0", "a1"}


@pytest.mark.usefixtures("files")
def test_a_machine_that_only_fails_ends_the_run_with_one_line_and_resuming_finishes_it(
    tmp_path: Path, made: Plan
) -> None:
    path = tmp_path / "t.knavery"
    progress = Troubled((2, use_up_files), lasts=True)
    with pytest.raises(ExceptionGroup) as failure:
        play(made, path, progress)
    line = for_user(failure.value)
    assert line is not None
    assert "raise `ulimit -n`" in line
    assert "\n" not in line
    recover()
    with Store.open(path, write=False) as store:
        assert store.tally().finished >= 2
    assert play(made, path, Quiet())
    void(path, made)
    with Store.open(path, write=False) as store:
        assert store.tally().finished == 6


@pytest.mark.parametrize(
    ("limit", "least", "why"),
    [
        (resource.RLIMIT_AS, 1 << 20, "the launcher of the bots has died|bot could not"),
        (resource.RLIMIT_NOFILE, 3, "bot could not be started: no file descriptor is left"),
    ],
)
def test_a_launcher_that_cannot_start_a_process_is_no_fault_of_the_bots(
    tmp_path: Path, limit: int, least: int, why: str
) -> None:
    async def main() -> None:
        async with open_launcher(tmp_path) as launcher:
            await (await launcher.start("first", ["/bin/true"], tmp_path, {})).wait()
            resource.prlimit(launcher.pid, limit, (least, least))
            with pytest.raises(MachineFailure, match=f"^({why})"):
                await launcher.start("bot", ["/bin/true"], tmp_path, {})

    trio.run(main)


def test_only_what_a_machine_lacks_is_its_failure() -> None:
    lacking = OSError(errno.ENOSPC, "No space left on device", "/tmp/x")
    found = machine_failure(BaseExceptionGroup("", [MachineFailure("it died"), lacking]))
    assert str(found) == "it died"
    assert str(machine_failure(lacking)) == "/tmp/x: the disk is full: free some space"
    found = machine_failure(RuntimeError(NO_THREAD))
    assert str(found).startswith("the referee cannot go on: no process may be started any more")
    for other in (
        OSError(errno.ENOENT, "gone"),
        ValueError("x"),
        RuntimeError("x"),
        KeyboardInterrupt(),
    ):
        assert machine_failure(other) is None
        assert machine_failure(BaseExceptionGroup("", [lacking, other])) is None


@pytest.mark.parametrize("number", SCARCE, ids=errno.errorcode.get)
def test_each_scarcity_has_a_line_with_its_mend(number: int) -> None:
    line = str(scarce(number, "the referee cannot go on"))
    assert line.startswith("the referee cannot go on: ")
    assert line.count(": ") == 2

"""Every step of `knavery check` against a bot that fails it, and against bots that pass."""

import runpy
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from referee import bots, taps
from referee.bots import Bot
from referee.check import BUILD, STEPS, Report, StepReport, Verdict, check
from referee.match import ClockRules
from tests.referee.test_generation import FAULTY

CLOCK = ClockRules(limit=1.0, bank=0.5, startup=30.0, hang=1.0)
"""Long enough for a busy machine, short enough to wait for."""
BRIEF = ClockRules(limit=0.3, bank=0.2, startup=30.0, hang=0.3)
"""For what ends by running out of it."""
BASIS = ("start", "hello")


def a_bot(folder: Path, source: Path | str, *arguments: str, toml: str = "") -> Bot:
    """A folder with one Python file and a bot.toml."""
    place = folder / "the bot"
    place.mkdir()
    if isinstance(source, Path):
        shutil.copy(source, place / "bot.py")
    else:
        (place / "bot.py").write_text(source)
    words = ", ".join(f'"{word}"' for word in ("python", "bot.py", *arguments))
    (place / "bot.toml").write_text(f"run = [{words}]\n{toml}")
    return bots.load(f"faulty={place}")


def tried(folder: Path, bot: Bot, steps: Sequence[str], clock: ClockRules = CLOCK) -> Report:
    """The report of some steps, and of those that all others need."""
    chosen = [step for step in STEPS if step.name in (*BASIS, *steps)]
    assert {*steps} <= {step.name for step in chosen}
    return check(bot, clock, cache=folder / "cache", steps=chosen)


def step(report: Report, name: str) -> StepReport:
    return next(step for step in report.steps if step.name == name)


def words(report: StepReport) -> str:
    """All that is said of what came."""
    return "\n".join((*(each.came for each in report.findings), *report.log))


FAULTS = [
    # fault, the step that fails, the kind, what came, the mend
    ("exit-at-once", "start", "crashed", "exited with status 3", "log"),
    ("wrong-token", "start", "token", "The token is wrong", "KNAVERY_TOKEN"),
    ("wrong-protocol", "hello", "protocol", "speaks protocol 7", "Hello.protocol"),
    ("wrong-games", "hello", "games", "'bridge', which is no game here", "leave the list empty"),
    ("illegal", "knave", "illegal", "is not in the hand", "play_request.legal"),
    ("revoke", "knave", "illegal", "does not follow", "play_request.legal"),
    ("two-cards", "knave", "illegal", "cards chosen: 2", "exactly one card"),
    ("no-cards", "knave", "illegal", "cards chosen: 0", "exactly one card"),
    ("four-bid-cards", "ninety-nine", "illegal", "cards chosen: 4", "bid_request.choose"),
    ("neither", "knave", "malformed", "neither cards nor an error", "`cards`"),
    ("error", "knave", "exception", "no idea", "mend what the text names"),
    ("wrong-id", "knave", "stray", "never asked", "under the id"),
    ("twice", "knave", "stray", "second answer", "answer each Decision once"),
    ("wrong-ids", "knave", "stray", "never asked", "under the id"),
    ("empty", "batches", "stray", "without a move", "answer each Decision once"),
    ("garbage", "knave", "unreadable", "no knavery.v1.FromBot", "protobuf"),
    ("crash-always", "knave", "crashed", "cannot do this", "`error`"),
    ("crash", "knave", "crashed", "SIGKILL", "`error`"),
    ("crash-late", "knave", "crashed", "lost the thread", "`error`"),
    ("deaf", "knave", "hung-up", "stream ended", "keep the one stream open"),
    ("flood", "knave", "flood", "flooded the referee", "nothing else"),
    ("huge", "knave", "huge", "a message of 2,000,0", "a few KB"),
    ("illegal", "views", "illegal", "a lead", "play_request.legal"),
    ("orderly", "batches", "crashed", "events come first", "log"),
    ("small-batches", "tables", "crashed", "too many at once", "log"),
    ("knows-all", "newer", "crashed", "what is this event?", "log"),
    ("guess", "newer", "newer", "cards to a decision that asks for what", "with an `error`"),
    ("forgetful", "restart", "crashed", "I was not there", "log"),
    ("impatient", "slow-referee", "crashed", "SIGALRM", "log"),
    ("stubborn", "rejected", "stays", "still running 3 s after it was rejected", "exit when"),
    ("slow-exit", "goodbye", "stays", "still running 5 s after the goodbye", "exit at once"),
    ("crash-at-exit", "goodbye", "exit", "exited with status 1 after the goodbye", "status 0"),
    ("leaves-child", "goodbye", "child", "left 1 process", "end and await"),
    ("clings", "hang-up", "stays", "still running 3 s after the stream had ended", "exit when"),
    ("chatter", "output", "output", "bytes", "print less"),
]


BY_TIME = [
    ("no-hello", "start", "hello", "no hello within 2 s", "dial the gRPC target"),
    ("garbage-socket", "start", "hello", "no hello within 2 s", "dial the gRPC target"),
    ("mute", "knave", "silent", "hung: no answer", "answer every Decision"),
    ("stall", "knave", "silent", "hung: no answer", "answer every Decision"),
    ("hoard", "knave", "late", "no answer within", "decide faster"),
]
"""The same for what ends by running out of time."""

TALKATIVE = "import os\nos.write(1, b'\\x1b[31mred\\x07')\n"
FILES = [
    ("def play(:\n", "syntax", "SyntaxError", "does not parse"),
    ("import no_such_module\n", "import", "no_such_module", "requirements.txt"),
    (TALKATIVE + "raise SystemExit('\\x1b[2Jgone')\n", "crashed", "gone", "its log"),
]
"""Programs that do not get to their hello."""


@pytest.mark.parametrize(
    ("fault", "name", "kind", "came", "mend"), FAULTS, ids=[f"{f[0]}-{f[1]}" for f in FAULTS]
)
def test_each_fault_fails_its_step_in_words_that_name_it(
    tmp_path: Path, fault: str, name: str, kind: str, came: str, mend: str
) -> None:
    bot = a_bot(tmp_path, FAULTY, "--fault", fault)
    report = tried(tmp_path, bot, ["knave", name])
    found = has_failed(report, name, kind, came, mend)
    if name not in ("views", "output", "ninety-nine"):
        earlier = report.steps[: report.steps.index(found)]
        assert all(each.verdict is Verdict.PASSED for each in earlier), earlier


@pytest.mark.parametrize(("fault", "name", "kind", "came", "mend"), BY_TIME)
def test_what_takes_too_long_fails(
    tmp_path: Path, fault: str, name: str, kind: str, came: str, mend: str
) -> None:
    clock = replace(CLOCK, startup=2.0) if name == "start" else BRIEF
    bot = a_bot(tmp_path, FAULTY, "--fault", fault)
    has_failed(tried(tmp_path, bot, [name], clock), name, kind, came, mend)


def test_late_answers_fail_the_game_and_the_time(tmp_path: Path) -> None:
    bot = a_bot(tmp_path, FAULTY, "--fault", "slow")
    report = tried(tmp_path, bot, ["knave", "time"], replace(BRIEF, hang=10.0))
    has_failed(report, "knave", "late", "no answer within", "decide faster")
    has_failed(report, "time", "late", "late decisions: ", "decide faster")


@pytest.mark.parametrize(("source", "kind", "came", "mend"), FILES)
def test_a_program_that_does_not_run_fails_to_start(
    tmp_path: Path, source: str, kind: str, came: str, mend: str
) -> None:
    report = tried(tmp_path, a_bot(tmp_path, source), ["knave", "goodbye"])
    found = has_failed(report, "start", kind, came, mend)
    assert any("bot.py" in line or "red" in line for line in found.log)
    assert all(each.isprintable() for each in (*found.log, found.findings[0].came))
    rest = report.steps[report.steps.index(found) + 1 :]
    assert {(each.verdict, each.seen) for each in rest} == {
        (Verdict.NOT_TRIED, "it did not say hello")
    }


def test_what_needs_a_lasting_process_is_not_tried_without(tmp_path: Path) -> None:
    bot = a_bot(tmp_path, FAULTY, "--fault", "crash-always")
    report = tried(tmp_path, bot, ["knave", "goodbye", "rejected"])
    assert step(report, "goodbye").verdict is Verdict.NOT_TRIED
    assert "lost its process" in step(report, "goodbye").seen
    assert step(report, "rejected").verdict is Verdict.PASSED


def test_a_build_that_fails_is_shown_and_nothing_else_is_tried(tmp_path: Path) -> None:
    build = "import sys; print('compiling'); sys.exit('no such compiler')"
    bot = a_bot(tmp_path, FAULTY, toml=f"build = ['python', '-c', \"{build}\"]\n")
    report = tried(tmp_path, bot, ["knave"])
    found = has_failed(report, BUILD, "build", "its build exited with status 1", "by hand")
    assert [line.strip() for line in found.log] == ["compiling", "no such compiler"]
    assert {each.verdict for each in report.steps[1:]} == {Verdict.NOT_TRIED}


def test_a_run_command_that_is_missing_fails_the_build(tmp_path: Path) -> None:
    bot = a_bot(tmp_path, FAULTY)
    (bot.source / "bot.toml").write_text('run = ["./nothing"]\n')
    report = tried(tmp_path, bots.load(str(bot.source)), [])
    has_failed(report, BUILD, "build", "'./nothing' is missing", "`run`")


def test_a_folder_may_run_any_program(tmp_path: Path) -> None:
    bot = a_bot(tmp_path, FAULTY)
    script = bot.source / "start"
    script.write_text(f"#!/bin/sh\n{sys.executable} bot.py\n")
    script.chmod(0o755)
    (bot.source / "bot.toml").write_text('run = ["./start"]\n')
    report = tried(tmp_path, bots.load(str(bot.source)), ["goodbye", "knave"])
    assert {each.verdict for each in report.steps} == {Verdict.PASSED}


def test_games_that_bot_toml_and_hello_name_differently(tmp_path: Path) -> None:
    source = (
        "from knavery import Bot, serve\n"
        "class Mine(Bot):\n"
        "    games = ('knave',)\n"
        "    def play(self, view):\n"
        "        return view.legal[0]\n"
        "serve(Mine)\n"
    )
    bot = a_bot(tmp_path, source, toml='games = ["knave", "ninety-nine"]\n')
    report = tried(tmp_path, bot, ["knave", "ninety-nine"])
    has_failed(report, "hello", "games", "says that it plays ninety-nine", "the same in both")
    assert step(report, "knave").verdict is Verdict.PASSED
    assert step(report, "ninety-nine").verdict is Verdict.NOT_TRIED


@pytest.mark.parametrize("name", ["advice", "random"])
def test_shipped_bots_pass_every_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(taps, "PAUSE", 0.1)
    report = check(bots.load(name), ClockRules(limit=10.0), cache=tmp_path)
    assert [(each.name, each.verdict) for each in report.steps] == [
        (name, Verdict.PASSED) for name in (BUILD, *(step.name for step in STEPS))
    ]
    assert report.passed
    assert report.figures.times is not None
    median, percentile, worst = report.figures.times
    assert 0 < median <= percentile <= worst
    assert report.figures.start is not None
    assert report.figures.memory is not None


def test_every_fault_is_tested() -> None:
    names = runpy.run_path(str(FAULTY))
    texts = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    faults = {*names["FAULTS"], *names["ON_ENVELOPES"], *names["ENDS"]}
    assert {name for name in faults if f'"{name}"' not in texts} == set()


def test_every_step_is_tested_to_fail() -> None:
    failed = {name for _, name, *_ in (*FAULTS, *BY_TIME)} | {"time"}
    assert failed == {step.name for step in STEPS}


def has_failed(report: Report, name: str, kind: str, came: str, mend: str) -> StepReport:
    found = step(report, name)
    assert found.verdict is Verdict.FAILED, report.steps
    assert kind in {each.kind for each in found.findings}
    finding = next(each for each in found.findings if each.kind == kind)
    assert came in words(found)
    assert mend in finding.mend
    assert not report.passed
    return found

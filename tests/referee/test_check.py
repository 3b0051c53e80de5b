"""Every step of `knavery check` against a bot that fails it, and against bots that pass."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from referee import bots
from referee.bots import Bot
from referee.check import STEPS, Report, StepReport, Verdict, check
from referee.match import ClockRules
from tests.referee.test_generation import FAULTY

CLOCK = ClockRules(limit=1.0, bank=0.5, startup=30.0, hang=1.0)
"""Long enough for a busy machine, short enough to wait for."""
BRIEF = ClockRules(limit=0.3, bank=0.2, startup=2.0, hang=0.3)
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
    ("huge", "knave", "huge", "a message of 5,000,0", "a few KB"),
    ("illegal", "views", "illegal", "a lead", "play_request.legal"),
    ("orderly", "batches", "crashed", "events come first", "log"),
    ("small-batches", "tables", "crashed", "too many at once", "log"),
    ("knows-all", "newer", "crashed", "what is this event?", "log"),
    ("forgetful", "restart", "crashed", "I was not there", "log"),
    ("impatient", "slow-referee", "crashed", "SIGALRM", "log"),
    ("stubborn", "rejected", "stays", "still running 3 s after it was rejected", "exit when"),
    ("slow-exit", "goodbye", "stays", "still running 2 s after the goodbye", "exit at once"),
    ("crash-at-exit", "goodbye", "exit", "exited with status 1 after the goodbye", "status 0"),
    ("leaves-child", "goodbye", "child", "left 1 process", "end and await"),
    ("clings", "hang-up", "stays", "still running 3 s after the stream had ended", "exit when"),
    ("chatter", "output", "output", "bytes", "print less"),
]


@pytest.mark.parametrize(
    ("fault", "name", "kind", "came", "mend"), FAULTS, ids=[f"{f[0]}-{f[1]}" for f in FAULTS]
)
def test_each_fault_fails_its_step_in_words_that_name_it(
    tmp_path: Path, fault: str, name: str, kind: str, came: str, mend: str
) -> None:
    bot = a_bot(tmp_path, FAULTY, "--fault", fault)
    report = tried(tmp_path, bot, ["knave", name])
    found = step(report, name)
    assert found.verdict is Verdict.FAILED, report.steps
    assert kind in {each.kind for each in found.findings}
    finding = next(each for each in found.findings if each.kind == kind)
    assert came in words(found)
    assert mend in finding.mend
    assert not report.passed
    earlier = report.steps[: report.steps.index(found)]
    if name not in ("views", "output", "ninety-nine"):
        assert all(each.verdict is Verdict.PASSED for each in earlier), earlier

"""Conformance of one bot, step by step (design, section 2): what is wanted, how it is tried, and
what came of it. `docs/checking-a-bot.md` explains the steps to bot authors.
"""

from __future__ import annotations

import enum
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter

import trio

from referee import check_steps as how
from referee import leftovers
from referee.bots import Bot, BotError, Prepared, prepare
from referee.check_steps import Trial
from referee.findings import Failed, Finding, clipped, last_lines
from referee.games.registry import GAMES
from referee.house import open_house
from referee.match import ClockRules, FaultRules
from referee.process import log_tail
from referee.rehearsal import Rehearsal


class Verdict(enum.Enum):
    """What came of a step."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_TRIED = "not tried"


class Need(enum.Enum):
    """What a step needs to be tried."""

    NOTHING = "nothing"
    HELLO = "a hello"
    GAME = "a game that the bot can play without losing its process"


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that is tried: `wanted` says in plain words what a bot should do."""

    name: str
    wanted: str
    attempt: Callable[[Trial], Awaitable[str]]
    need: Need = Need.GAME


@dataclass(frozen=True, slots=True)
class StepReport:
    """What came of a step. `seen` are a few words on what was tried, or why nothing was; `log` the
    last lines that the bot printed, where that may help."""

    name: str
    wanted: str
    verdict: Verdict
    seen: str = ""
    findings: tuple[Finding, ...] = ()
    log: tuple[str, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Figures:
    """What was measured. Seconds; `memory` in bytes, of the process that took most. None or an
    empty list: it did not come to that. `spent` is what each decision cost, as the clock counts it,
    grace included."""

    start: float | None = None
    spent: tuple[float, ...] = ()
    memory: int | None = None

    @property
    def times(self) -> tuple[float, float, float] | None:
        """Median, 99th percentile and worst of the decisions."""
        if not self.spent:
            return None
        ordered = sorted(self.spent)
        return median(ordered), ordered[(len(ordered) * 99 - 1) // 100], ordered[-1]


@dataclass(slots=True)
class Report:
    """Everything about one bot."""

    bot: Bot
    clock: ClockRules
    steps: list[StepReport] = field(default_factory=list)
    figures: Figures = field(default_factory=Figures)
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        """Whether nothing failed, and nothing was left untried that the bot claims to do."""
        return all(step.verdict is not Verdict.FAILED for step in self.steps)


BUILD = "build"
BUILD_WANTED = "it builds, with the packages that it names, and its `run` command is there"

STEPS = (
    Step(
        "start",
        "it dials KNAVERY_ADDRESS with gRPC and says Hello with its token within the start-up "
        "limit",
        how.start,
        Need.NOTHING,
    ),
    Step(
        "hello",
        "its Hello speaks protocol 1, names games that there are, and agrees with bot.toml",
        how.hello,
        Need.HELLO,
    ),
    *(
        Step(
            game,
            f"it plays {game} in every variant without a fault, and sends nothing but answers",
            partial(how.play, game=game),
            Need.HELLO,
        )
        for game in GAMES
    ),
    Step("views", "it answers every kind of decision, from a lead to the last card", how.views),
    Step(
        "batches",
        "it answers batches of any size, with events between the decisions or apart from them",
        how.batches,
    ),
    Step("tables", "it plays many tables at once and keeps them apart", how.tables),
    Step(
        "newer",
        "it passes over fields and events that it does not know, and answers an unknown request "
        "with an error",
        how.newer,
    ),
    Step("restart", "a second process takes over the matches of one that was killed", how.restart),
    Step("slow-referee", "it waits as long as the referee takes", how.slow),
    Step("rejected", "it exits when the referee turns it away", how.rejected, Need.HELLO),
    Step(
        "goodbye", "it exits soon after a Goodbye, with status 0 and all its processes", how.goodbye
    ),
    Step("hang-up", "it exits when the stream ends without a Goodbye", how.hang_up),
    Step("time", "its decisions fit into the limit, and what is over into the bank", how.time),
    Step("output", "each process of it prints little", how.output, Need.HELLO),
)
"""Every step after the build, in the order in which they are tried."""


def check(
    bot: Bot,
    clock: ClockRules | None = None,
    tell: Callable[[StepReport], None] = lambda _: None,
    cache: Path | None = None,
    steps: Sequence[Step] = STEPS,
) -> Report:
    """Tries a bot step by step; `tell` hears of each as it is done. `cache` as for `prepare`.

    Blocks, and runs trio. Raises BotError, LauncherDied and CannotListen where it is not the bot
    that failed."""
    began = perf_counter()
    report = Report(bot, clock or ClockRules())

    def done(step: StepReport) -> None:
        report.steps.append(step)
        tell(step)

    prepared, built = _build(bot, cache)
    done(built)
    if prepared is None:
        for step in steps:
            done(_not_tried(step, "it could not be built"))
    else:
        trio.run(_rehearse, report, prepared, steps, done)
    report.seconds = perf_counter() - began
    return report


def _build(bot: Bot, cache: Path | None) -> tuple[Prepared | None, StepReport]:
    began = perf_counter()
    try:
        prepared = prepare(bot, cache)
    except BotError as error:
        first, *rest = str(error).splitlines()
        mend = "run by hand what is named there; `build` and `run` are those of bot.toml"
        finding = Finding("build", clipped(first), mend)
        seconds = perf_counter() - began
        return None, StepReport(
            BUILD,
            BUILD_WANTED,
            Verdict.FAILED,
            findings=(finding,),
            log=last_lines("\n".join(rest)),
            seconds=seconds,
        )
    seen = "made ready" if prepared.seconds else "was made ready before"
    seconds = perf_counter() - began
    return prepared, StepReport(BUILD, BUILD_WANTED, Verdict.PASSED, seen, seconds=seconds)


async def _rehearse(
    report: Report,
    prepared: Prepared,
    steps: Sequence[Step],
    done: Callable[[StepReport], None],
) -> None:
    bot, clock = report.bot, report.clock
    with tempfile.TemporaryDirectory(prefix=leftovers.prefix()) as logs:
        async with open_house("", clock, FaultRules(), Path(logs)) as house:
            rehearsal = Rehearsal(house, prepared, bot.max_tables)
            trial = Trial(bot, rehearsal)
            for step in steps:
                done(await _try(step, trial, Path(logs)))
    memory = max((life.memory for life in rehearsal.lives), default=0)
    report.figures = Figures(trial.start, tuple(trial.spent), memory or None)


async def _try(step: Step, trial: Trial, logs: Path) -> StepReport:
    if reason := _obstacle(step, trial):
        return _not_tried(step, reason)
    began = perf_counter()
    try:
        seen = await step.attempt(trial)
    except Failed as failed:
        log = _log(logs) if any(each.shows_log for each in failed.findings) else ()
        return StepReport(
            step.name,
            step.wanted,
            Verdict.FAILED,
            findings=failed.findings,
            log=log,
            seconds=perf_counter() - began,
        )
    seconds = perf_counter() - began
    return StepReport(step.name, step.wanted, Verdict.PASSED, seen, seconds=seconds)


def _obstacle(step: Step, trial: Trial) -> str | None:
    """Why a step cannot be tried, if it cannot."""
    if step.need is not Need.NOTHING and trial.hello is None:
        return "it did not say hello"
    if step.name != "hello" and step.need is Need.HELLO and not trial.games:
        return "its hello is refused"
    if step.name in GAMES and step.name not in trial.games:
        return "it does not say that it plays this"
    if step.need is Need.GAME and trial.game is None:
        return "it lost its process in every game that it plays"
    return None


def _not_tried(step: Step, reason: str) -> StepReport:
    return StepReport(step.name, step.wanted, Verdict.NOT_TRIED, reason)


def _log(folder: Path) -> tuple[str, ...]:
    """The last lines that the process printed which was started last."""
    logs = sorted(folder.glob("[0-9]*.log"))
    return last_lines(log_tail(logs[-1])) if logs else ()

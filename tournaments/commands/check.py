"""`knavery check`: whether a bot does all that a referee may expect of it."""

import argparse
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from referee.check import Report, StepReport
    from referee.match import ClockRules

HELP = "try a bot: whether it builds, starts, plays, bears what may happen, and how fast it is"
EXAMPLE = "knavery check my_bot.py"
INDENT = "            "


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("bot", metavar="BOT", help="a .py file, a folder, or a name")
    parser.add_argument(
        "--limit", type=float, default=2.0, help="seconds for a decision (default 2)"
    )
    parser.add_argument(
        "--bank", type=float, default=10.0, help="seconds more for a whole match (default 10)"
    )
    parser.add_argument(
        "--startup", type=float, default=15.0, help="seconds to say hello (default 15)"
    )
    parser.add_argument("--json", action="store_true", help="as JSON")


def run(arguments: argparse.Namespace) -> int:
    from referee.bots import load
    from referee.check import check
    from tournaments.confining import warn

    warn()
    bot, clock = load(arguments.bot), _clock(arguments)
    if arguments.json:
        report = check(bot, clock)
        print(json.dumps(as_json(report), indent=2))
    else:
        print(f"{bot.name} {bot.version[:7]}, {bot.source}", flush=True)
        report = check(bot, clock, lambda step: print(step_text(step), flush=True))
        print(summary(report))
    return 0 if report.passed else 1


def _clock(arguments: argparse.Namespace) -> "ClockRules":
    from referee.bots import BotError
    from referee.match import ClockRules

    for name, least in (("limit", 0.05), ("bank", 0.0), ("startup", 0.1)):
        value = getattr(arguments, name)
        if not least <= value <= 3600:
            raise BotError(f"--{name} must be from {least:g} to 3600 seconds, not {value:g}")
    return ClockRules(arguments.limit, arguments.bank, startup=arguments.startup)


def step_text(step: "StepReport") -> str:
    """A step for people: a line, and more where it failed."""
    from referee.check import Verdict

    failed = step.verdict is Verdict.FAILED
    word = "FAILED" if failed else step.verdict.value
    seen = " ".join(step.seen.splitlines())
    lines = [f"{word:<10}{step.name:<13} {step.seconds:4.1f} s  {seen}".rstrip()]
    if failed:
        lines += _paragraph("expected", step.wanted)
    for finding in step.findings:
        lines += _paragraph("came", finding.came) + _paragraph("mend", finding.mend)
    lines += _paragraph("its log", "\n".join(step.log)) if step.log else []
    return "\n".join(lines)


def _paragraph(title: str, text: str) -> list[str]:
    first, *rest = text.splitlines() or [""]
    return [f"  {title:<9} {first}", *(f"{INDENT}{line}" for line in rest)]


def summary(report: "Report") -> str:
    """What was measured, and how many steps passed."""
    from referee.check import Verdict

    figures, clock = report.figures, report.clock
    lines = []
    if figures.times:
        shown = ", ".join(
            f"{name} {1000 * seconds:.3g} ms"
            for name, seconds in zip(
                ("median", "99th percentile", "worst"), figures.times, strict=True
            )
        )
        lines.append(
            f"{len(figures.spent):,} decisions: {shown}; the limit is {clock.limit:g} s each, "
            f"with a bank of {clock.bank:g} s a match"
        )
    if figures.start is not None:
        lines.append(f"start: hello after {figures.start:.2f} s; the limit is {clock.startup:g} s")
    if figures.memory:
        lines.append(f"memory: {figures.memory / 2**20:.0f} MB at the most")
    counts = dict.fromkeys(Verdict, 0)
    for step in report.steps:
        counts[step.verdict] += 1
    words = ", ".join(f"{count} {verdict.value}" for verdict, count in counts.items() if count)
    build = report.steps[0].seconds
    apart = f", {build:.1f} s of it for the build" if build >= 1 else ""
    lines.append(f"{words}, in {report.seconds:.1f} s{apart}")
    return "\n".join(lines)


def as_json(report: "Report") -> dict[str, Any]:
    """The report as JSON values, format knavery.check/1 (docs/checking-a-bot.md)."""
    figures = report.figures
    median, percentile, worst = figures.times or (None, None, None)
    return {
        "format": "knavery.check/1",
        "bot": report.bot.name,
        "version": report.bot.version,
        "passed": report.passed,
        "seconds": report.seconds,
        "steps": [
            {
                "name": step.name,
                "verdict": step.verdict.value,
                "expected": step.wanted,
                "seen": step.seen,
                "findings": [
                    {"kind": each.kind, "came": each.came, "mend": each.mend}
                    for each in step.findings
                ],
                "log": list(step.log),
                "seconds": step.seconds,
            }
            for step in report.steps
        ],
        "limits": {
            "limit": report.clock.limit,
            "bank": report.clock.bank,
            "startup": report.clock.startup,
        },
        "figures": {
            "start": figures.start,
            "decisions": len(figures.spent),
            "median": median,
            "percentile_99": percentile,
            "worst": worst,
            "memory": figures.memory,
        },
    }

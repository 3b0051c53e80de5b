"""`knavery verify`: whether a tournament's file is what its key and its rules give."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tournaments.verify import Report

HELP = "prove a tournament's file: deal, play and score all of it again, finished or not"
EXAMPLE = "knavery verify weekend.knavery"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="a tournament's file, NAME.knavery")
    parser.add_argument("--json", action="store_true", help="as JSON")


def run(arguments: argparse.Namespace) -> int:
    from tournaments.plain import harmless
    from tournaments.store import Store
    from tournaments.verify import verify

    with Store.open(arguments.file, write=False) as store:
        report = verify(store)
    if arguments.json:
        print(json.dumps(as_json(report), indent=2))
    elif report.problem is None:
        print(f"{harmless(arguments.file)} agrees with its key and its rules")
        print(checked(report))
    else:
        print(f"{harmless(arguments.file)} does not agree: {report.problem}")
    return 0 if report.problem is None else 1


def checked(report: "Report") -> str:
    """What was checked, for people, a line for each part."""
    lines = [
        (
            f"epoch {epoch.number}",
            f"commitment {epoch.commitment}: its key, rules, clock and entrants are those; "
            f"{epoch.finished:,} of {epoch.matches:,} matches are finished, {epoch.complete:,} of "
            f"{epoch.blocks:,} blocks complete" + ("; it is over" if epoch.over else ""),
        )
        for epoch in report.epochs
    ]
    attempts = report.attempts
    begun = sum(epoch.begun for epoch in report.epochs)
    lines += [
        ("schedule", f"{begun:,} matches begun, each as scheduled: seats, generation, public id"),
        (
            "attempts",
            f"{attempts['done']:,} done, one for each result; {attempts['abandoned']:,} abandoned, "
            f"{attempts['void']:,} void, {attempts['open']:,} open",
        ),
        (
            "ledger",
            f"{report.processes:,} processes met deals {report.meetings:,} times, none the same "
            "twice; every seat had one of its own",
        ),
        (
            "play",
            f"{report.deals:,} deals dealt from the key, {report.cards:,} cards bid or played "
            "again by the rules",
        ),
        (
            "results",
            f"totals, ends, places, {report.forfeits:,} forfeits, {report.faults:,} faults with "
            "their stand-ins, and every hash",
        ),
    ]
    if report.missing:
        lines.append(("missing", f"{report.missing:,} matches are still to be played"))
    return "\n".join(f"  {name:<9} {line}" for name, line in lines)


def as_json(report: "Report") -> dict[str, Any]:
    """The report as JSON values, format knavery.verify/1 (docs/proof.md)."""
    return {
        "format": "knavery.verify/1",
        "agrees": report.problem is None,
        "problem": report.problem,
        "epochs": [
            {
                "epoch": epoch.number,
                "commitment": epoch.commitment,
                "published": epoch.published,
                "over": epoch.over,
                "blocks": epoch.blocks,
                "complete": epoch.complete,
                "matches": epoch.matches,
                "begun": epoch.begun,
                "finished": epoch.finished,
                "missing": epoch.missing,
            }
            for epoch in report.epochs
        ],
        "processes": report.processes,
        "meetings": report.meetings,
        "attempts": {name: report.attempts[name] for name in OUTCOMES},
        "deals": report.deals,
        "cards": report.cards,
        "faults": report.faults,
        "forfeits": report.forfeits,
    }


OUTCOMES = ("done", "void", "abandoned", "open")
"""How an attempt can stand."""

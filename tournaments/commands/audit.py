"""`knavery audit`: whether bots were sent, or could read, what they may not know."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tournaments.leaks import Report

HELP = "look for leaks: deal hidden cards again and compare what bots were sent; search for keys"
EXAMPLE = "knavery audit weekend.knavery --sample 1000"

SAMPLE = 200


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="a tournament's file, NAME.knavery")
    parser.add_argument(
        "--sample", type=_count, default=SAMPLE, metavar="N", help=f"decisions ({SAMPLE})"
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="draws the decisions and the other cards (0)"
    )
    parser.add_argument("--json", action="store_true", help="as JSON")


def _count(text: str) -> int:
    if not text.isdecimal() or len(text) > 9 or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a number from 1 on, not {text}")
    return int(text)


def run(arguments: argparse.Namespace) -> int:
    from referee.process import printable
    from tournaments.leaks import audit
    from tournaments.patience import Patience
    from tournaments.plain import harmless
    from tournaments.store import Store

    with Store.open(arguments.file, write=False) as store:
        tell = Patience("decisions").tell
        report = audit(store, arguments.sample, arguments.seed, tell=tell)
    if arguments.json:
        print(json.dumps(as_json(report, arguments.seed), indent=2))
    elif report.leak is None:
        print(f"{harmless(arguments.file)}: no leak was found")
        print(looked_at(report))
    else:
        print(f"{harmless(arguments.file)}: a leak: {printable(report.leak)}")
    return 0 if report.leak is None else 1


def looked_at(report: "Report") -> str:
    """What was compared and searched, for people, a line for each part."""
    audited = report.audited
    lines = (
        (
            "decisions",
            f"{audited.decisions:,} of {report.matches:,} matches; at {audited.hidden:,} of them "
            "cards were hidden from the seat",
        ),
        (
            "worlds",
            f"{audited.worlds:,} other ways in which these may have lain: the seat was sent the "
            f"same {audited.size:,} bytes in each",
        ),
        (
            "keys",
            f"{report.secrets:,}, searched for in {report.files:,} files of {report.folders:,} "
            f"bots, in their commands and in {report.logs:,} logs: in none of them",
        ),
    )
    return "\n".join(f"  {name:<9} {line}" for name, line in lines)


def as_json(report: "Report", seed: int) -> dict[str, Any]:
    """The report as JSON values, format knavery.audit/1 (docs/proof.md)."""
    return {
        "format": "knavery.audit/1",
        "seed": seed,
        "leak": report.leak,
        "decisions": report.audited.decisions,
        "matches": report.matches,
        "hidden": report.audited.hidden,
        "worlds": report.audited.worlds,
        "bytes": report.audited.size,
        "secrets": report.secrets,
        "bots": report.folders,
        "files": report.files,
        "logs": report.logs,
    }

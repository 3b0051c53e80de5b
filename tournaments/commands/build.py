"""`knavery build`: makes bots ready ahead of time; `run` and `play` use what was built."""

import argparse
import json
from typing import TYPE_CHECKING, Any

from tournaments.errors import Verdict

if TYPE_CHECKING:
    from referee.bots import Bot

HELP = "build bots and install what they need, ahead of a tournament"
EXAMPLE = "knavery build my_bot.py"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("bots", nargs="+", metavar="BOT", help="a .py file, a folder, or a name")
    parser.add_argument("--json", action="store_true", help="as JSON")


def run(arguments: argparse.Namespace) -> int:
    from referee.bots import load

    verdict = Verdict("knavery build")
    rows = []
    for spec in arguments.bots:
        with verdict.about_one():
            rows.append(_built(load(spec)))
            if not arguments.json:
                print(_told(rows[-1]), flush=True)
    if arguments.json:
        print(json.dumps({"format": "knavery.build/1", "bots": rows}, indent=2))
    return verdict.status


def _built(bot: "Bot") -> dict[str, Any]:
    from referee.bots import prepare

    made = prepare(bot)
    return {
        "name": bot.name,
        "version": bot.version,
        "seconds": round(made.seconds, 3),
        "folder": str(made.cwd),
        "environment": made.variables.get("VIRTUAL_ENV"),
        "command": list(made.argv),
    }


def _told(row: dict[str, Any]) -> str:
    from tournaments.duration import told

    how = f"built in {told(row['seconds'])}" if row["seconds"] else "was built already"
    lines = [f"{row['name']}: {how}, version {row['version'][:7]}", f"  in {row['folder']}"]
    if row["environment"]:
        lines.append(f"  with the packages in {row['environment']}")
    return "\n".join(lines)

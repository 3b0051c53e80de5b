"""`knavery bots`: the bots that come with Knavery."""

import argparse
import json

HELP = "list the bots that come with Knavery and can be entered by name"
EXAMPLE = "knavery bots"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="as JSON")


def run(arguments: argparse.Namespace) -> int:
    from tabulate import tabulate

    from referee.bots import load, shipped

    rows = [
        {"name": bot.name, "games": list(bot.games), "source": str(bot.source)}
        for bot in map(load, shipped())
    ]
    if arguments.json:
        print(json.dumps(rows, indent=2))
    else:
        table = [(row["name"], ", ".join(row["games"]) or "all", row["source"]) for row in rows]
        print(tabulate(table, headers=("name", "games", "source")))
    return 0

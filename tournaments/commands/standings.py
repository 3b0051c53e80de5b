"""`knavery standings`: the ranking table of a tournament, also while it runs."""

import argparse
import json
from dataclasses import asdict
from pathlib import Path

HELP = "show the ranking table of a tournament, finished or not"
EXAMPLE = "knavery standings weekend.knavery --head-to-head"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="a tournament's file, NAME.knavery")
    parser.add_argument("--anchor", metavar="NAME", help="the bot that is rated 1500")
    parser.add_argument("--head-to-head", action="store_true", help="also who beat whom")
    parser.add_argument(
        "--clocks",
        action="store_true",
        help="also what time the bots took: charged, queued, of their banks, and time faults",
    )
    parser.add_argument(
        "--anonymous", action="store_true", help='call the bots "Bot 1" and so on, to be shared'
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="as JSON")
    form.add_argument("--csv", action="store_true", help="as CSV")


def run(arguments: argparse.Namespace) -> int:
    from tournaments import clocks, standings
    from tournaments.anonymous import Cast
    from tournaments.confining import without_isolation
    from tournaments.store import Store
    from tournaments.table import computed, shown

    with Store.open(arguments.file, write=False) as store:
        cast = Cast.of(store.entrants(), anonymous=arguments.anonymous)
        result = computed(store, arguments.anchor, cast)
        order = [row.entrant for row in result.rows] if arguments.clocks else []
        times = clocks.clock_rows(store, order, cast) if order else []
        sandboxes = store.sandboxes()
    if arguments.json:
        document = standings.as_json(result, with_meetings=True) | {"sandbox": sandboxes}
        if arguments.clocks:
            document["clocks"] = [asdict(row) for row in times]
        print(json.dumps(document, indent=2))
    elif arguments.csv:
        print(clocks.as_csv(times) if times else standings.as_csv(result.rows), end="")
    else:
        print(shown(result, with_meetings=arguments.head_to_head))
        if line := without_isolation(sandboxes):
            print(line)
        if times:
            print(f"\n{clocks.header(times)}\n{clocks.table(times)}")
    return 0

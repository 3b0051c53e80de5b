"""`knavery report`: a tournament as pages to be shared."""

import argparse
from pathlib import Path

HELP = "write a tournament as HTML pages that open from disk and can be put on any web host"
EXAMPLE = "knavery report weekend.knavery -o weekend-report"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="a tournament's file, NAME.knavery")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        help="the folder to write, new or of an older report (default: NAME-report)",
    )
    parser.add_argument(
        "--replays",
        choices=("faults", "sample", "all"),
        default="sample",
        help="which matches get a page with all cards: those with a fault, some of every bot's, "
        "or all (default: sample)",
    )
    parser.add_argument("--anchor", metavar="NAME", help="the bot that is rated 1500")
    parser.add_argument(
        "--anonymous",
        action="store_true",
        help="leave out the bots' names and what they wrote, which may hold names and folders",
    )
    parser.add_argument(
        "--open-blocks",
        action="store_true",
        help="also show cards of matches whose block is not complete, which others still have to "
        "play",
    )


def run(arguments: argparse.Namespace) -> int:
    from tournaments.plain import harmless
    from tournaments.report import Choice, write_report
    from tournaments.search import Search

    choice = Choice(
        replays=arguments.replays,
        anonymous=arguments.anonymous,
        open_blocks=arguments.open_blocks,
        anchor=arguments.anchor,
    )
    folder = arguments.output or Path(f"{arguments.file.stem}-report")
    with Search.open(arguments.file, write=False) as store:
        count = write_report(store, folder, choice)
    print(f"{harmless(folder / 'index.html')}: {count:,} pages")
    return 0

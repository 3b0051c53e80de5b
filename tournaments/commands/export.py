"""`knavery export`: a tournament's deals for other programs."""

import argparse
import sys
from functools import partial
from pathlib import Path

HELP = "write every deal of a tournament as JSON Lines (format knavery.replay/1)"
EXAMPLE = "knavery export weekend.knavery --replays -o weekend.jsonl"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="a tournament's file, NAME.knavery")
    parser.add_argument(
        "--replays", action="store_true", required=True, help="the deals, one a line"
    )
    parser.add_argument(
        "--open-blocks",
        action="store_true",
        help="also matches whose block is not complete, whose cards others still have to play",
    )
    parser.add_argument(
        "--anonymous",
        action="store_true",
        help="leave out the bots' names and what they wrote, which may hold names and folders",
    )
    parser.add_argument("-o", "--output", type=Path, help="write here instead of the terminal")


def run(arguments: argparse.Namespace) -> int:
    from tournaments.export import write_replays
    from tournaments.store import Store, StoreError

    write = partial(write_replays, open_blocks=arguments.open_blocks, anonymous=arguments.anonymous)
    with Store.open(arguments.file, write=False) as store:
        if arguments.output is None:
            write(store, sys.stdout)
            return 0
        try:
            with arguments.output.open("w", encoding="utf-8") as file:
                write(store, file)
        except OSError as problem:
            raise StoreError(f"{arguments.output}: cannot be written: {problem.strerror}") from None
    return 0

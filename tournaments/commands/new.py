"""`knavery new`: a folder to begin a bot with."""

import argparse
from pathlib import Path

HELP = "write a folder to begin a bot with, in a language of your choice"
EXAMPLE = "knavery new my_bot --lang go"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="the bot's name, and its folder's")
    parser.add_argument(
        "--lang",
        default="python",
        metavar="LANG",
        help="python (default), go, java, cpp, typescript or rust with gRPC; "
        "awk or perl by way of lines",
    )


def run(arguments: argparse.Namespace) -> int:
    from tournaments.starters import write

    name = arguments.name
    starter = write(name, arguments.lang, Path())
    print(f"{name}: a bot in {starter.language}; yours is {name}/{starter.yours}")
    print(f"Next: cd {name} && knavery build . && knavery check . && knavery play .")
    return 0

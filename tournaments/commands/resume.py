"""`knavery resume`: goes on with a tournament that was stopped."""

import argparse
from pathlib import Path

from tournaments.commands.budget import add_budget
from tournaments.commands.listen import add_listen, listening_of

HELP = "go on with a tournament that was stopped, playing exactly what is missing"
EXAMPLE = "knavery resume weekend.knavery"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="a tournament's file, NAME.knavery")
    add_budget(parser)
    add_listen(parser)


def run(arguments: argparse.Namespace) -> int:
    from tournaments import launch

    return launch.go_on(arguments.file, arguments.budget, listening_of(arguments))

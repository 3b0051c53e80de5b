"""The option --budget, which several commands have."""

import argparse

from tournaments import duration


def add_budget(parser: argparse.ArgumentParser) -> None:
    """Adds the option; its value is in seconds, None without it."""
    parser.add_argument(
        "--budget",
        metavar="TIME",
        type=seconds,
        help="play only the whole blocks that fit into 90s, 30m, 2h or 1d, everybody equally "
        "often and at least once; `knavery resume` plays the rest",
    )


def seconds(text: str) -> float:
    """The value of an option that is a length of time."""
    try:
        return duration.parse(text)
    except ValueError as problem:
        raise argparse.ArgumentTypeError(str(problem)) from problem

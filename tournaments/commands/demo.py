"""`knavery demo`: the shipped bots play a tournament of each game."""

import argparse
import tempfile
from pathlib import Path

from referee import leftovers

HELP = "watch the shipped bots play a whole tournament of both games"
EXAMPLE = "knavery demo"
VARIANTS = {"knave": "classic", "ninety-nine": "short"}
"""What is shown of each game: a game of Ninety-Nine to 100 points takes twice as long."""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-o", "--output", type=Path, help="keep the tournaments in this folder")
    parser.add_argument("--rounds", type=int, default=1, help="blocks of each group (default: 1)")


def run(arguments: argparse.Namespace) -> int:
    if arguments.output is not None:
        arguments.output.mkdir(parents=True, exist_ok=True)
        return _play(arguments.output, arguments.rounds)
    with tempfile.TemporaryDirectory(prefix=leftovers.prefix()) as folder:
        return _play(Path(folder), arguments.rounds)


def _play(folder: Path, rounds: int) -> int:
    from referee.bots import shipped
    from tournaments import launch, size

    for game, variant in VARIANTS.items():
        tournament = launch.of_bots(f"demo-{game}", shipped(), game, variant, rounds)
        print(size.announcement(tournament), flush=True)
        status = launch.start(launch.plan(tournament), folder / f"{game}{launch.SUFFIX}")
        if status != 0:
            return status
        print()
    print("Next: `knavery play MY.py`; the bots above are in `knavery bots`.")
    return 0

"""`knavery run`: a tournament from a configuration or from a folder of bots."""

import argparse
from pathlib import Path

HELP = "play a tournament: of a configuration (FILE.toml), or of all the bots in a folder"
EXAMPLE = "knavery run weekend.toml"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", type=Path, metavar="FILE.toml or FOLDER")
    parser.add_argument("-o", "--output", type=Path, help="the file to write (NAME.knavery)")
    parser.add_argument("--game", help="for a folder: knave (default) or ninety-nine")
    parser.add_argument("--variant", help="for a folder: the game's variant (default: classic)")
    parser.add_argument(
        "--rounds", type=int, help="for a folder: blocks of each group (default: 1)"
    )


def run(arguments: argparse.Namespace) -> int:
    from tournaments import config, launch

    source: Path = arguments.source
    if source.is_dir():
        tournament = launch.of_folder(
            source,
            game=arguments.game or "knave",
            variant=arguments.variant or "classic",
            rounds=1 if arguments.rounds is None else arguments.rounds,
        )
    else:
        for option in ("game", "variant", "rounds"):
            if getattr(arguments, option) is not None:
                raise config.ConfigError(
                    f"--{option} is for a folder of bots: write it in {source}"
                )
        tournament = config.load(source)
    output = arguments.output or source.absolute().with_suffix(launch.SUFFIX)
    return launch.start(launch.plan(tournament), output)

"""`knavery run`: tournaments from configurations or from folders of bots."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tournaments.commands.budget import add_budget
from tournaments.commands.listen import add_listen, listening_of
from tournaments.errors import COULD_NOT, STOPPED, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tournaments.config import Tournament
    from tournaments.epochs import Continuation
    from tournaments.launch import Plan

HELP = "play tournaments: of configurations (FILE.toml), or of all the bots in a folder"
EXAMPLE = "knavery run weekend.toml"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "sources",
        nargs="+",
        type=Path,
        metavar="FILE.toml or FOLDER",
        help="all are checked, then played one after the other; one that has been played before "
        "goes on, with newcomers and new versions",
    )
    parser.add_argument(
        "-o", "--output", type=Path, help="the file to write, for one source (NAME.knavery)"
    )
    parser.add_argument("--game", help="for a folder: knave (default) or ninety-nine")
    parser.add_argument("--variant", help="for a folder: the game's variant (default: classic)")
    parser.add_argument(
        "--rounds", type=int, help="for a folder: blocks of each group (default: 1)"
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="only say how much is to be played and how long it takes",
    )
    add_budget(parser)
    add_listen(parser)
    parser.add_argument(
        "--yes", action="store_true", help="play even what takes more than a day at the least"
    )


def run(arguments: argparse.Namespace) -> int:
    from tournaments import launch

    verdict = Verdict("knavery run")
    outputs = _outputs(arguments)
    here = listening_of(arguments)
    tournaments = {}
    for source in outputs:
        with verdict.about_one():
            tournaments[source] = _checked(source, outputs[source], arguments)
    if verdict.status or arguments.dry_run:
        return verdict.status
    plans = {}
    for source, tournament in tournaments.items():
        with verdict.about_one():
            plans[source] = launch.plan(tournament, here)
    if not verdict.status:
        _play([(made, outputs[source]) for source, made in plans.items()], arguments, verdict)
    return verdict.status


def _outputs(arguments: argparse.Namespace) -> dict[Path, Path]:
    """The file that each source's results go to."""
    from tournaments.config import ConfigError
    from tournaments.launch import SUFFIX

    sources: list[Path] = arguments.sources
    if arguments.output is not None:
        if len(sources) > 1:
            raise ConfigError("-o names one file: run one source, or leave it out")
        return {sources[0]: arguments.output}
    outputs: dict[Path, Path] = {}
    for source in sources:
        output = source.absolute().with_suffix(SUFFIX)
        if output in outputs.values():
            raise ConfigError(f"{source}: {output.name} is written for another source already")
        outputs[source] = output
    return outputs


def _checked(source: Path, output: Path, arguments: argparse.Namespace) -> "Tournament":
    """A source's tournament; says what has changed and how much is to be played, and ConfigError
    if that is too much."""
    from tournaments import launch, size

    tournament = _tournament(source, arguments)
    schedule = None
    if output.exists():
        further, schedule = launch.preview(tournament, output)
        print("\n".join(_changes(output, further)))
    print(size.announcement(tournament, arguments.budget, schedule), flush=True)
    if not (arguments.yes or arguments.dry_run):
        size.guard(tournament, arguments.budget, schedule)
    return tournament


def _changes(output: Path, further: "Continuation") -> "Iterator[str]":
    """What has changed since a file was written, for people."""
    from referee.process import printable
    from tournaments.plain import counted, harmless

    there, epoch = harmless(output.name), further.schedule.epoch
    if not further.begins:
        yield f"{there} is there, and nothing has changed"
        return
    yield f"{there} is there, and epoch {epoch} begins:"
    for line in further.change.lines():
        yield f"  {printable(line)}"
    if begun := further.rest.counts().blocks:
        yield f"  finished first: {counted(begun, 'block')} of epoch {epoch - 1}, begun already"


def _tournament(source: Path, arguments: argparse.Namespace) -> "Tournament":
    from tournaments import config, launch

    if source.is_dir():
        return launch.of_folder(
            source,
            game=arguments.game or "knave",
            variant=arguments.variant or "classic",
            rounds=1 if arguments.rounds is None else arguments.rounds,
        )
    for option in ("game", "variant", "rounds"):
        if getattr(arguments, option) is not None:
            raise config.ConfigError(f"--{option} is for a folder of bots: write it in {source}")
    return config.load(source)


def _play(
    plans: "list[tuple[Plan, Path]]", arguments: argparse.Namespace, verdict: Verdict
) -> None:
    """One after the other, until one is stopped."""
    from tournaments import launch

    for number, (made, output) in enumerate(plans, 1):
        status = COULD_NOT
        with verdict.about_one():
            status = launch.start(made, output, arguments.budget)
            verdict.add(status)
        if status == STOPPED:
            for later, _ in plans[number:]:
                print(f"not begun: {later.tournament.name}", file=sys.stderr)
            return

"""`knavery replay`: a deal of a tournament, step by step."""

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tournaments.replays import MatchReplay
    from tournaments.store import Store

HELP = "look at the deals of a match step by step; without a match, list them"
EXAMPLE = "knavery replay weekend.knavery e0/g0-1-2/b0/s4:3"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="a tournament's file, NAME.knavery")
    parser.add_argument(
        "match",
        nargs="?",
        metavar="MATCH[:DEAL]",
        help="a match as export names it, or what of its name means it alone; and a deal",
    )
    parser.add_argument(
        "--open-blocks",
        action="store_true",
        help="also matches whose block is not complete, whose cards others still have to play",
    )
    parser.add_argument("--plain", action="store_true", help="print it all, on a terminal too")


def run(arguments: argparse.Namespace) -> int:
    from tournaments.replays import deal_number, find
    from tournaments.store import Store

    with Store.open(arguments.file, write=False) as store:
        if arguments.match is None:
            for line in listing(store, open_blocks=arguments.open_blocks):
                print(line)
            return 0
        name, colon, deal = arguments.match.partition(":")
        match = find(store, name, open_blocks=arguments.open_blocks)
    first = deal_number(deal, match) if colon else None
    if arguments.plain or not _is_terminal():
        print_deals(match, first)
    else:
        _step_through(match, first or 0)
    return 0


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def listing(store: "Store", *, open_blocks: bool) -> Iterator[str]:
    """A line for each match that can be shown."""
    from referee.process import printable
    from tournaments.plain import counted

    names = [printable(entrant.name) for entrant in store.entrants()]
    count = 0
    for match in store.matches(open_blocks=open_blocks):
        count += 1
        seats = ", ".join(names[entrant] for entrant in match.entrants)
        faults = f", {counted(len(match.faults), 'fault')}" if match.faults else ""
        places = " ".join(map(str, match.places))
        yield f"{match.id}  {seats}; places {places}{faults}"
    if not count:
        hidden = " of a complete block" if store.finished_job_ids() else ""
        yield f"no match{hidden} is finished yet"


def print_deals(match: "MatchReplay", deal: int | None) -> None:
    """One deal of a match, or all of them."""
    from tournaments.replay_text import dump

    for number in range(match.count) if deal is None else (deal,):
        print("\n".join(dump(match.deal(number))))


def _step_through(match: "MatchReplay", deal: int) -> None:
    from tournaments.fullscreen import full_screen
    from tournaments.viewer import Place, Viewer

    viewer = Viewer(match)
    place: Place | None = Place(deal)
    with full_screen() as terminal:
        while place is not None:
            terminal.show(viewer.lines(place))
            place = viewer.press(place, terminal.key())

"""`knavery play`: one match of real bot processes, and what went wrong in it."""

import argparse
import json
import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from referee.bots import Bot
    from referee.games.rules import Rules
    from tournaments.quick import Match

HELP = "play a match with your bot; empty seats are filled with shipped bots"
EXAMPLE = "knavery play my_bot.py"
FILLERS = ("advice", "cautious", "greedy", "random")
FAULTS_SHOWN = 5


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("bots", nargs="*", metavar="BOT", help="a .py file, a folder, or a name")
    parser.add_argument(
        "--me", action="store_true", help="take a seat yourself, and type the cards that you play"
    )
    parser.add_argument("--game", default="knave", help="knave (default) or ninety-nine")
    parser.add_argument("--variant", default="classic", help="the game's variant")
    parser.add_argument("--matches", type=int, default=1, help="how many, with different cards")
    parser.add_argument(
        "--block", action="store_true", help="every seating on the same cards, as in a tournament"
    )
    parser.add_argument("--json", action="store_true", help="as JSON")


def run(arguments: argparse.Namespace) -> int:
    import trio

    from referee.bots import BotError, load
    from referee.games.registry import make_rules
    from tournaments import quick
    from tournaments.confining import warn
    from tournaments.errors import COULD_NOT
    from tournaments.launch import ready
    from tournaments.nobody import nobody_came, say_so

    rules = make_rules(arguments.game, arguments.variant)
    warn()
    if arguments.matches < 1:
        raise BotError(f"--matches must be 1 or more, not {arguments.matches}")
    if arguments.me:
        return _take_a_seat(arguments, rules)
    if not arguments.bots:
        raise BotError("name a bot, or take a seat yourself with --me")
    sides = 2 if rules.teams else rules.players
    entered = fill([load(spec) for spec in arguments.bots], sides)
    play = partial(quick.play, matches=arguments.matches, block=arguments.block)
    matches = trio.run(play, ready(entered), rules)
    if arguments.json:
        print(json.dumps(_as_json(entered, rules, matches), indent=2))
    else:
        print(_as_text([bot.name for bot in entered], rules, matches))
    if nobody_came(match.result for match in matches):
        say_so()
        return COULD_NOT
    return 0


def _take_a_seat(arguments: argparse.Namespace, rules: "Rules") -> int:
    """A match with the person at the terminal."""
    import trio

    from referee.bots import BotError, load
    from tournaments import seat
    from tournaments.errors import STOPPED, holds
    from tournaments.launch import ready
    from tournaments.person import Left, Lines, Person

    if arguments.matches > 1 or arguments.block or arguments.json:
        raise BotError("--me plays one match in words: leave out --matches, --block and --json")
    bots = fill([load(spec) for spec in arguments.bots], rules.players - 1)
    person = Person(partial(print, flush=True), Lines().next)
    try:
        match = trio.run(seat.play, list(ready(bots).values()), rules, person)
    except BaseException as problem:
        if not holds(problem, Left):
            raise
        print("you have left the table: the match is not finished", file=sys.stderr)
        return STOPPED
    print(_as_text(["you", *(bot.name for bot in bots)], rules, [match]))
    return 0


def fill(given: "list[Bot]", sides: int) -> "list[Bot]":
    """A full table, every bot under a name of its own."""
    from dataclasses import replace

    from referee.bots import BotError, load

    if len(given) > sides:
        raise BotError(f"{len(given)} bots for {sides} places: name at most {sides}")
    fillers = [name for name in FILLERS if name not in {bot.name for bot in given}]
    table = given + [load(name) for name in fillers[: sides - len(given)]]
    seen: dict[str, int] = {}
    named = []
    for bot in table:
        seen[bot.name] = seen.get(bot.name, 0) + 1
        again = seen[bot.name]
        named.append(bot if again == 1 else replace(bot, name=f"{bot.name}-{again}"))
    return named


def _as_text(names: "Sequence[str]", rules: "Rules", matches: "Sequence[Match]") -> str:
    from tabulate import tabulate

    lines = [f"{rules.game} {rules.variant}, {len(matches)} match(es)"]
    rows = []
    for number, match in enumerate(matches):
        for seat, index in enumerate(match.entrants):
            result = match.result
            rows.append(
                (
                    number,
                    seat,
                    names[index],
                    result.totals[seat],
                    result.places[seat],
                    sum(fault.seat == seat for fault in result.faults),
                    "forfeit" if seat in result.forfeits else "",
                )
            )
    headers = ("match", "seat", "bot", "points", "place", "faults", "")
    lines.append(tabulate(rows, headers=headers))
    return "\n".join(lines + _fault_lines(names, matches))


def _fault_lines(names: "Sequence[str]", matches: "Sequence[Match]") -> list[str]:
    from referee.games.cards import text

    faults = [
        (number, names[match.entrants[fault.seat]], fault)
        for number, match in enumerate(matches)
        for fault in match.result.faults
    ]
    lines = []
    for number, name, fault in faults[:FAULTS_SHOWN]:
        where = fault.phase if fault.trick is None else f"trick {fault.trick}"
        lines.append(
            f"\n{name}: {fault.kind.name.lower()} in match {number}, deal {fault.deal}, {where}"
            + (f" (the referee played {text(fault.played)})" if fault.played else "")
        )
        lines += [f"  {line}" for line in _harmless(fault.detail).splitlines()]
    if len(faults) > FAULTS_SHOWN:
        lines.append(f"\n... and {len(faults) - FAULTS_SHOWN} more faults")
    return lines


def _harmless(detail: str) -> str:
    from referee.process import printable

    return printable(detail)


def _as_json(
    entered: "Sequence[Bot]", rules: "Rules", matches: "Sequence[Match]"
) -> dict[str, Any]:
    return {
        "format": "knavery.play/1",
        "game": rules.game,
        "variant": rules.variant,
        "matches": [
            {
                "bots": [entered[index].name for index in match.entrants],
                "totals": match.result.totals,
                "places": match.result.places,
                "forfeits": match.result.forfeits,
                "faults": [
                    {
                        "seat": fault.seat,
                        "deal": fault.deal,
                        "phase": fault.phase,
                        "trick": fault.trick,
                        "kind": fault.kind.name.lower(),
                        "detail": fault.detail,
                    }
                    for fault in match.result.faults
                ],
            }
            for match in matches
        ],
    }

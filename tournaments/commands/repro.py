"""`knavery repro`: a bot asked again what it was asked in a tournament."""

import argparse
import sys
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from knavery.v1.game_pb2 import Decision
    from referee.bots import Bot
    from referee.retrial import Key, Now, Then
    from tournaments.repro import Wanted
    from tournaments.store import Store

HELP = "ask a bot again what it was asked in a match: its answer now beside that of then"
EXAMPLE = "knavery repro weekend.knavery e0/g0-1-2/b0/s4:3:12 --bot my_bot.py"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="a tournament's file, NAME.knavery")
    parser.add_argument(
        "decision",
        nargs="?",
        metavar="MATCH:DEAL:DECISION",
        help="a step as `knavery replay` counts them; with --all-faults a match, or nothing",
    )
    parser.add_argument("--bot", required=True, metavar="PATH", help="a .py file or a folder")
    parser.add_argument(
        "--all-faults", action="store_true", help="every decision at which the bot made a fault"
    )
    parser.add_argument(
        "--entrant", metavar="NAME", help="with --all-faults: what the bot was called there"
    )
    parser.add_argument(
        "--pause",
        action="store_true",
        help="wait for enter before each such decision, so that a debugger can be attached",
    )
    parser.add_argument(
        "--open-blocks",
        action="store_true",
        help="also matches whose block is not complete, whose cards others still have to play",
    )


def run(arguments: argparse.Namespace) -> int:
    from referee.bots import load
    from tournaments.confining import warn
    from tournaments.repro import ask_again
    from tournaments.store import Store

    warn()
    bot = load(arguments.bot)
    with Store.open(arguments.file, write=False) as store:
        wanted = _wanted(store, arguments, bot)
    if not wanted:
        print(f"{arguments.entrant or bot.name} made no fault there that can be asked again")
        return 0
    teller = Teller(wanted, pause=arguments.pause)
    printed = ask_again(bot, wanted, teller)
    teller.end(printed)
    return 1 if teller.faults else 0


def _wanted(store: "Store", arguments: argparse.Namespace, bot: "Bot") -> "list[Wanted]":
    from tournaments.repro import all_faults, decision

    shown = arguments.open_blocks
    if arguments.all_faults:
        name = arguments.entrant or bot.name
        return all_faults(store, name, arguments.decision, open_blocks=shown)
    return [decision(store, arguments.decision or "", open_blocks=shown)]


class Teller:
    """Tells people how it goes, and counts the faults that come again."""

    def __init__(self, wanted: "Collection[Wanted]", *, pause: bool) -> None:
        self.faults = 0
        self._wanted = list(wanted)
        self._pause = pause
        self._pid = 0
        self._told = 0
        self._earlier = 0
        self._others: list[str] = []
        self._begin()

    def started(self, pid: int) -> None:
        self._pid = pid
        print(f"process {pid}, no clock is running", flush=True)

    def asking(self, key: "Key", decision: "Decision") -> None:
        from knavery.view import View

        if key not in self._wanted[0].keys:
            return
        self._sum_up()
        print(f"\n{_where(key)}\n  view: {View(decision)}", flush=True)
        if self._pause:
            print(f"  process {self._pid} is asked this when you press enter ", flush=True)
            sys.stdin.readline()

    def answered(self, key: "Key", then: "Then", now: "Now") -> None:
        from referee.games.cards import text

        if key not in self._wanted[0].keys:
            self._earlier += 1
            if now.problem is not None or now.cards is None or set(now.cards) != set(then.cards):
                said = text(then.cards)
                self._others.append(f"{_where(key)}: {said} then, {_answer(now)[0]} now")
            return
        _print("then", _decided(then))
        _print("now", _answer(now))
        self.faults += now.problem is not None
        self._told += 1
        if key == self._wanted[0].keys[-1]:
            self._wanted.pop(0)
            self._begin()

    def end(self, printed: str) -> None:
        """Says what its last process printed, and how many faults came again."""
        if printed.strip():
            print("\nit printed at the end:")
            print("\n".join(f"  {line}" for line in printed.rstrip().splitlines()))
        if self._told > 1:
            print(f"\n{self._told} decisions asked again: {self.faults} of them a fault now")

    def _begin(self) -> None:
        from referee.process import printable

        self._earlier, self._others = 0, []
        if not self._wanted:
            return
        wanted = self._wanted[0]
        rules = wanted.match.rules
        if self._told:
            print()
        print(
            f"{wanted.match.match.id}, {rules.game} {rules.variant}, seat {wanted.seat}, where "
            f"{printable(wanted.name)} sat"
        )

    def _sum_up(self) -> None:
        """What came of the decisions since the last one that was wanted."""
        from tournaments.plain import counted

        if self._earlier:
            alike = self._earlier - len(self._others)
            before = counted(self._earlier, "decision")
            print(f"{before} before: {alike} answered as then")
            for line in self._others[:SHOWN]:
                print(f"  {line}")
            if len(self._others) > SHOWN:
                print(f"  and {len(self._others) - SHOWN} more that differ")
        self._earlier, self._others = 0, []


SHOWN = 3
"""Differences among earlier decisions that are told."""


def _where(key: "Key") -> str:
    deal, seat, trick = key
    return f"deal {deal}, {'bid' if trick is None else f'trick {trick}'} of seat {seat}"


def _decided(then: "Then") -> list[str]:
    from referee.games.cards import text
    from referee.process import printable

    if then.fault is None:
        return [f"{text(then.cards)}, {then.ms:.3g} ms"]
    kind = then.fault.kind.name.lower()
    told = printable(then.fault.detail).splitlines()
    return [f"{kind}: the referee played {text(then.cards)}", *told]


def _answer(now: "Now") -> list[str]:
    from referee.games.cards import CARDS, card_text
    from referee.process import printable

    cards = " ".join(
        card_text(card) if card < CARDS else str(card) for card in (now.cards or ())[:SHOWN]
    )
    note = [f"note: {line}" for line in printable(now.note).splitlines()]
    if now.problem is None:
        return [f"{cards}, {now.ms:.3g} ms", *note]
    first, *rest = printable(now.words).splitlines() or [""]
    chosen = f"{cards}; " if cards else ""
    return [f"{now.problem.name.lower()}: {chosen}{first}", *rest, *note]


def _print(when: str, lines: list[str]) -> None:
    print(f"  {when + ':':<5} {lines[0]}")
    for line in lines[1:]:
        print(f"        {line}", flush=True)

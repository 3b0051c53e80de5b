"""Random playouts of each game through the public API, and of OpenSpiel's C++ hearts beside them.

`python -m benchmarks.playouts [SECONDS]`. A playout starts with an unshuffled pack and ends with
the last card. All loops ask alike whose turn it is and what is legal, and choose uniformly. A bid
of three cards is one decision; passing three cards in hearts is three. OpenSpiel deals by chance
moves, chosen the same way but not counted; "play alone" leaves the dealing out of the time. The
time is the processor's, taken in short turns, so that other work on the machine slows all alike.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from itertools import combinations
from typing import Any, NamedTuple

from tabulate import tabulate

from referee.games.deal import Deal
from referee.games.ninety_nine import BID_CARDS
from referee.games.registry import GAMES, make_rules
from referee.games.view import Phase

SECONDS = 3.0
BATCH = 20
"""Playouts dealt, then played, between two looks at the clock."""
HEARTS = "OpenSpiel hearts"
ALONE = ", play alone"

_uniform = random.Random(1967).random
_BIDS = tuple(combinations(range(make_rules("ninety-nine").hand_size), BID_CARDS))


class Contestant(NamedTuple):
    """A game to play out."""

    deal: Callable[[], Any]
    """Deals a shuffled pack."""
    play: Callable[[Any], int]
    """Plays such a deal at random to its end; the decisions taken."""


def play(deal: Deal) -> int:
    """Play a deal of a game of ours."""
    decisions = 0
    if deal.phase == Phase.BID:
        for seat in deal.pending:
            hand = deal.choices(seat)
            first, second, third = _BIDS[int(_uniform() * len(_BIDS))]
            deal.bid(seat, (hand[first], hand[second], hand[third]))
            decisions += 1
    while pending := deal.pending:
        seat = pending[0]
        cards = deal.choices(seat)
        deal.play(seat, cards[int(_uniform() * len(cards))])
        decisions += 1
    return decisions


def ours(game: str) -> Contestant:
    """A game's classic variant; the dealer does not matter to the speed."""
    rules = make_rules(game)
    return Contestant(
        lambda: rules.deal(0, sorted(rules.pack, key=lambda _: _uniform())),
        play,
    )


def hearts(pyspiel: Any) -> Contestant:
    """OpenSpiel's hearts, whose players decide what to pass and what to play."""
    game = pyspiel.load_game("hearts")
    return Contestant(lambda: _deal_hearts(game.new_initial_state()), _play_hearts)


def _deal_hearts(state: Any) -> Any:
    while state.is_chance_node():
        actions = state.legal_actions()
        state.apply_action(actions[int(_uniform() * len(actions))])
    return state


def _play_hearts(state: Any) -> int:
    decisions = 0
    while not state.is_terminal():
        actions = state.legal_actions(state.current_player())
        state.apply_action(actions[int(_uniform() * len(actions))])
        decisions += 1
    return decisions


def contestants() -> dict[str, Contestant]:
    """Our games by name, and hearts where OpenSpiel is installed."""
    found = {game: ours(game) for game in GAMES}
    try:
        import pyspiel  # type: ignore[import-not-found]
    except ImportError:
        return found
    return found | {HEARTS: hearts(pyspiel)}


def measure(seconds: float) -> dict[str, float]:
    """Decisions per second of processor time, by game; and, by game + `ALONE`, of play alone.

    `seconds` is what each game takes, about.
    """
    games = contestants()
    decisions = dict.fromkeys(games, 0)
    dealing = dict.fromkeys(games, 0.0)
    playing = dict.fromkeys(games, 0.0)
    while min(dealing[name] + playing[name] for name in games) < seconds:
        for name, game in games.items():
            start = time.process_time()
            deals = [game.deal() for _ in range(BATCH)]
            dealt = time.process_time()
            decisions[name] += sum(map(game.play, deals))
            dealing[name] += dealt - start
            playing[name] += time.process_time() - dealt
    whole = {name: decisions[name] / (dealing[name] + playing[name]) for name in games}
    return whole | {name + ALONE: decisions[name] / playing[name] for name in games}


def report(seconds: float) -> None:
    """Print the table."""
    rates = measure(seconds)
    rows = [
        (name, f"{rate:,.0f}", f"{rates[name + ALONE]:,.0f}")
        for name, rate in rates.items()
        if name + ALONE in rates
    ]
    headers = ("random playouts of", "decisions/s", "play alone")
    print(tabulate(rows, headers=headers, colalign=("left", "right", "right")))


def main() -> None:
    """Print the table, for the seconds given on the command line."""
    report(float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS)


if __name__ == "__main__":
    main()

"""The modules of the shipped bot `advice`, which are of its folder only."""

import sys
from collections.abc import Callable
from typing import Any

from knavery import Card, View
from knavery.shipped import shipped_bot

_BOT = sys.modules[shipped_bot("advice").__module__]
knave: Any = vars(_BOT)["knave"]
ninety_nine: Any = vars(_BOT)["ninety_nine"]
Facts: Any = knave.Facts


def liking(point: Callable[[Any, Card], float], view: View) -> dict[str, float]:
    """How much a point of the advice for Knave likes each legal card, by the card's text."""
    table = knave.Table(view)
    return {str(card): point(table, card) for card in view.legal}

"""What the author of a Python bot imports. Names load when they are first used (PEP 562), so
that the referee can import `knavery.v1` without the SDK. No module is called as a name is, since
importing it would hide the name."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from knavery.bot import Bot
    from knavery.card import (
        ACE,
        CLUBS,
        DIAMONDS,
        EIGHT,
        FIVE,
        FOUR,
        HEARTS,
        JACK,
        KING,
        NINE,
        QUEEN,
        SEVEN,
        SIX,
        SPADES,
        TEN,
        THREE,
        TWO,
        Card,
        Suit,
        cards,
    )
    from knavery.handmade import sketch
    from knavery.inprocess import PlayResult, play
    from knavery.news import FaultNotice, FinishedDeal, MatchEnd, MatchInfo
    from knavery.serving import serve
    from knavery.view import Trick, View

    __version__: str

__all__ = [
    "ACE",
    "CLUBS",
    "DIAMONDS",
    "EIGHT",
    "FIVE",
    "FOUR",
    "HEARTS",
    "JACK",
    "KING",
    "NINE",
    "QUEEN",
    "SEVEN",
    "SIX",
    "SPADES",
    "TEN",
    "THREE",
    "TWO",
    "Bot",
    "Card",
    "FaultNotice",
    "FinishedDeal",
    "MatchEnd",
    "MatchInfo",
    "PlayResult",
    "Suit",
    "Trick",
    "View",
    "cards",
    "play",
    "serve",
    "sketch",
]

_HOMES = {
    "bot": ("Bot",),
    "card": (
        *("CLUBS", "DIAMONDS", "HEARTS", "SPADES"),
        *("TWO", "THREE", "FOUR", "FIVE", "SIX", "SEVEN", "EIGHT", "NINE", "TEN"),
        *("JACK", "QUEEN", "KING", "ACE"),
        *("Card", "Suit", "cards"),
    ),
    "news": ("FaultNotice", "FinishedDeal", "MatchEnd", "MatchInfo"),
    "inprocess": ("PlayResult", "play"),
    "serving": ("serve",),
    "handmade": ("sketch",),
    "view": ("Trick", "View"),
}
_HOME = {name: f"knavery.{home}" for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("knavery")
    if name not in _HOME:
        raise AttributeError(f"module 'knavery' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOME[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

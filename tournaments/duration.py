"""Stretches of time as people write them."""

import re
from typing import Final

MINUTE: Final = 60.0
HOUR: Final = 3600.0
DAY: Final = 86_400.0

_UNITS: Final = {"s": 1.0, "m": MINUTE, "h": HOUR, "d": DAY}
_LONGER: Final = (("days", DAY, "h", HOUR), ("h", HOUR, "min", MINUTE), ("min", MINUTE, "s", 1.0))
_SHOWN_BOTH = 10
"""Of fewer than so many larger units the smaller ones are worth telling too."""


def parse(text: str) -> float:
    """The seconds of "90s", "30m", "2h" or "1.5d"; ValueError for anything else."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd])", text.strip())
    if not found or not float(found[1]):
        raise ValueError(f"{text!r} is no length of time: write one like 90s, 30m, 2h or 1d")
    return float(found[1]) * _UNITS[found[2]]


def told(seconds: float) -> str:
    """The seconds in words that are as exact as their size deserves: "2 h 10 min", "40 days"."""
    for name, unit, smaller_name, smaller in _LONGER:
        if seconds >= unit:
            parts = round(seconds / smaller)
            whole, rest = divmod(parts, round(unit / smaller))
            if whole >= _SHOWN_BOTH or not rest:
                return f"{round(seconds / unit):,} {_fit(name, round(seconds / unit))}"
            return f"{whole} {_fit(name, whole)} {rest} {smaller_name}"
    return f"{seconds:.0f} s" if seconds >= 1 else "1 s"


def _fit(name: str, count: int) -> str:
    return "day" if name == "days" and count == 1 else name

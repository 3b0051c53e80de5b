from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tournaments.played import Played

GOOD = Played(
    block="e0/g0-1-2/b3",
    seating=4,
    generation=2,
    entrants=(0, 1, 2),
    places=(1, 2, 3),
    points=(9, 8, 7),
    deals=10,
)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"entrants": (0,)}, "needs two sides, this one has 1"),
        ({"entrants": (0, 1, 1)}, r"an entrant sits on two sides: \(0, 1, 1\)"),
        ({"places": (1, 2)}, "3 sides but 2 places and 3 totals"),
        ({"points": (1, 2, 3, 4)}, "3 sides but 3 places and 4 totals"),
        ({"deals": 0}, "at least one deal, this one 0"),
    ],
)
def test_what_is_no_match_is_refused(change: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=f"^block e0/g0-1-2/b3, seating 4: .*{says}"):
        replace(GOOD, **change)

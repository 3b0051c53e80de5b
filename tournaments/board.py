"""How a tournament stands while it is played: cheap to keep, match by match.

Everything counts, open blocks too, so all of it is provisional: the luck of the seats has not
evened out yet. The table at the end is computed from the file (tournaments/standings.py).
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from tournaments.bradley_terry import Likelihood
from tournaments.ratings import CENTRE, ELO


class Board:
    """Blocks and ratings so far. `names` are the entrants', by index; `seatings` is how many
    matches a block has."""

    def __init__(self, names: Sequence[str], seatings: int) -> None:
        self.complete = 0
        """Blocks that are finished under every seating."""
        self._names = names
        self._seatings = seatings
        self._open: Counter[str] = Counter()
        self._wins = np.zeros((len(names), len(names)))

    @property
    def open(self) -> int:
        """Blocks with some of their seatings finished."""
        return len(self._open)

    def add(self, block: str, entrants: Sequence[int], places: Sequence[int]) -> None:
        """One more finished match; entrants (indices) and their places are by side."""
        self._open[block] += 1
        if self._open[block] == self._seatings:
            del self._open[block]
            self.complete += 1
        self.rate(entrants, places)

    def rate(self, entrants: Sequence[int], places: Sequence[int]) -> None:
        """A match that counts for the ratings only."""
        share = 0.5 / (len(entrants) - 1)
        for one, place in zip(entrants, places, strict=True):
            for other, behind in zip(entrants, places, strict=True):
                if one != other:
                    self._wins[one, other] += share * (1 + (place < behind) - (place > behind))

    def leaders(self, count: int = 3) -> list[tuple[str, float]]:
        """The best so far with their ratings, best first; nobody before the first match.

        A fit over pairs of entrants, whose cost (a few milliseconds for 120) does not grow with
        the matches."""
        playing = np.flatnonzero(self._wins.sum(axis=0) + self._wins.sum(axis=1))
        strengths = Likelihood(self._wins[np.ix_(playing, playing)]).maximise()
        best = np.argsort(-strengths, kind="stable")[:count]
        return [(self._names[playing[n]], CENTRE + ELO * float(strengths[n])) for n in best]

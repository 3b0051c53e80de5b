"""A finished match as plain values: what ratings and standings know (design, section 4)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Played:
    """One finished match.

    `block` names the sequence of deals it shares with the block's other seatings; `seating` and
    `generation` count from 0. The tuples run over the sides in one common order, by seat where
    everybody plays alone; a team is one side. `entrants` are indices into the tournament's list,
    `places` start at 1 and tied sides share the better one, `points` are totals after `deals`
    deals; `forfeited` says whether anybody forfeited it. Raises ValueError when these cannot
    describe a match.
    """

    block: str
    seating: int
    generation: int
    entrants: tuple[int, ...]
    places: tuple[int, ...]
    points: tuple[int, ...]
    deals: int
    forfeited: bool = False

    def __post_init__(self) -> None:
        if problem := self._problem():
            raise ValueError(f"{self}: {problem}")

    def __str__(self) -> str:
        return f"block {self.block}, seating {self.seating}"

    def _problem(self) -> str | None:
        sides = len(self.entrants)
        if sides < 2:
            return f"a match needs two sides, this one has {sides}"
        if len(set(self.entrants)) < sides:
            return f"an entrant sits on two sides: {self.entrants}"
        if len(self.places) != sides or len(self.points) != sides:
            return f"{sides} sides but {len(self.places)} places and {len(self.points)} totals"
        if self.deals < 1:
            return f"a match has at least one deal, this one {self.deals}"
        return None

"""What the rules of every game here have in common: seats, pack, teams, end of the match, places.

Rules are frozen values. A variant is a set of field values, never a subclass.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from referee.games.cards import RANKS, SUIT_NAMES, pack_of

if TYPE_CHECKING:
    from referee.games.deal import Deal

MAX_DEALS = 10_000
MAX_TARGET = 1_000_000
MAX_POINTS = 1_000


class RulesError(ValueError):
    """Rules that make no sense; the message says in one line which field and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules(ABC):
    """The rules of a match; RulesError from the constructor when they make no sense."""

    game: ClassVar[str]
    """The game's name in files and commands."""

    variant: str = "classic"
    """The variant's name, for people: play depends on the other fields alone."""
    players: int = 3
    """Seats at the table, 3 or 4."""
    ranks: tuple[int, ...] = tuple(range(13))
    """The ranks in the pack, lowest first; 0 is the two."""
    teams: bool = False
    """Whether seats 0 and 2 play as a team against seats 1 and 3."""
    max_deals: int = 10
    """Deals after which the match ends at the latest."""
    target: int | None = None
    """Total that ends the match after the deal that reached it, if any."""

    def __post_init__(self) -> None:
        self.validate()

    def validate(self) -> None:
        """Raise RulesError unless the fields make sense, alone and together."""
        require(isinstance(self.variant, str) and self.variant != "", "variant must be a name")
        check_whole("players", self.players, 3, 4)
        check_ranks(self.ranks)
        require(type(self.teams) is bool, f"teams must be true or false, not {self.teams!r}")
        require(self.players == 4 or not self.teams, "teams need 4 players: set players = 4")
        check_whole("max_deals", self.max_deals, 1, MAX_DEALS)
        if self.target is not None:
            check_whole("target", self.target, 1, MAX_TARGET)

    @property
    def pack(self) -> tuple[int, ...]:
        """Every card in use: clubs lowest to highest, then diamonds, hearts, spades."""
        return pack_of(self.ranks)

    @property
    def hand_size(self) -> int:
        """Cards dealt to each seat."""
        return 4 * len(self.ranks) // self.players

    @property
    def bid_cards(self) -> int:
        """Cards that make a bid; 0 in a game without bids."""
        return 0

    @property
    def tricks(self) -> int:
        """Tricks in a deal."""
        return self.hand_size - self.bid_cards

    @abstractmethod
    def deal(self, dealer: int, deck: Sequence[int]) -> Deal:
        """Deal a shuffled pack one card at a time, from the dealer's left (K-11, N-20)."""

    def team_of(self, seat: int) -> int:
        """The side that a seat plays for: its team's number, or itself where there are no teams."""
        return seat % 2 if self.teams else seat

    def over(self, totals: Sequence[int], deals_played: int) -> bool:
        """Whether the match ends with these totals by seat (N-10, N-19)."""
        if deals_played >= self.max_deals:
            return True
        return self.target is not None and max(totals) >= self.target

    def places(self, totals: Sequence[int], forfeits: Set[int] = frozenset()) -> tuple[int, ...]:
        """Each seat's place by totals: 1 is first, ties share the better place (K-05, N-09).

        Forfeiting seats tie for last, and their partners with them. Teams count as one:
        partners share place 1 or 2.
        """
        sides = sorted(set(map(self.team_of, range(self.players))))
        lost = {self.team_of(seat) for seat in forfeits}
        standing = {side: totals[side] for side in sides if side not in lost}
        places = {
            side: 1 + sum(other > total for other in standing.values())
            for side, total in standing.items()
        }
        last = 1 + len(standing)
        return tuple(places.get(self.team_of(seat), last) for seat in range(self.players))


def require(condition: bool, line: str) -> None:
    """Raise RulesError with this line unless the condition holds."""
    if not condition:
        raise RulesError(line)


def check_whole(name: str, value: object, low: int, high: int) -> None:
    """Raise RulesError unless the field's value is a whole number within the bounds."""
    right = type(value) is int and low <= value <= high
    require(right, f"{name} must be a whole number from {low} to {high}, not {value!r}")


def check_by_suit(name: str, values: object, low: int, high: int) -> None:
    """Raise RulesError unless the field holds four whole numbers, for suits C D H S."""
    if not isinstance(values, tuple) or len(values) != len(SUIT_NAMES):
        raise RulesError(f"{name} must be four whole numbers, for {', '.join(SUIT_NAMES)}")
    for suit, value in zip(SUIT_NAMES, values, strict=True):
        check_whole(f"{name} ({suit})", value, low, high)


def check_ranks(ranks: object) -> None:
    """Raise RulesError unless these are ranks, lowest first, none twice."""
    right = (
        isinstance(ranks, tuple)
        and all(type(rank) is int and 0 <= rank < len(RANKS) for rank in ranks)
        and ranks == tuple(sorted(set(ranks)))
    )
    require(right, f"ranks must be numbers from 0 (two) to 12 (ace), rising, not {ranks!r}")

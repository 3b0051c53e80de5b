"""Knave: take tricks, flee jacks (docs/rules.md, section 2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import ClassVar

from referee.games.cards import JACK, QUEEN
from referee.games.deal import Deal
from referee.games.rules import MAX_POINTS, Rules, check_by_suit, check_whole, require


@dataclass(frozen=True, slots=True, kw_only=True)
class KnaveRules(Rules):
    """The rules of Knave: points a trick, and what the jacks and queens in it add."""

    game: ClassVar[str] = "knave"

    trick_value: int = 1
    """Points for each trick taken."""
    jacks: tuple[int, ...] = (-1, -2, -3, -4)
    """Points for taking the jack of clubs, diamonds, hearts, spades."""
    queens: tuple[int, ...] = (0, 0, 0, 0)
    """Points for taking the queen of clubs, diamonds, hearts, spades."""

    def validate(self) -> None:
        """Raise RulesError unless the fields make sense, alone and together."""
        Rules.validate(self)
        require(not self.teams, "Knave has no teams: leave teams false (K-09)")
        require(self.hand_size > 0, "ranks must not be empty")
        check_whole("trick_value", self.trick_value, -MAX_POINTS, MAX_POINTS)
        check_by_suit("jacks", self.jacks, -MAX_POINTS, MAX_POINTS)
        check_by_suit("queens", self.queens, -MAX_POINTS, MAX_POINTS)

    def deal(self, dealer: int, deck: Sequence[int]) -> KnaveDeal:
        """Deal a shuffled pack one card at a time, from the dealer's left (K-11)."""
        return KnaveDeal(self, dealer, deck)

    def card_value(self, card: int) -> int:
        """Points that a card adds to the trick it is in."""
        return self.card_values.get(card, 0)

    @property
    def card_values(self) -> Mapping[int, int]:
        """The same for the cards that add anything."""
        return _card_values(self.jacks, self.queens)

    def score(self, tricks: int, taken: Iterable[int]) -> int:
        """A deal's points for a seat with so many tricks and these cards in them (K-10)."""
        return self.trick_value * tricks + sum(map(self.card_value, taken))


@lru_cache
def _card_values(jacks: tuple[int, ...], queens: tuple[int, ...]) -> Mapping[int, int]:
    values = {
        13 * suit + rank: value
        for rank, column in ((JACK, jacks), (QUEEN, queens))
        for suit, value in enumerate(column)
        if value
    }
    return MappingProxyType(values)


class KnaveDeal(Deal):
    """A deal of Knave: no bids, no trump."""

    __slots__ = ()

    rules: KnaveRules

    def __init__(self, rules: KnaveRules, dealer: int, deck: Sequence[int]) -> None:
        super().__init__(rules, dealer, deck)
        self._start_play()

    @property
    def taken(self) -> tuple[tuple[int, ...], ...]:
        """By seat, the cards it has taken that are worth anything."""
        winners = self.winners
        played = self.played[: len(winners) * self.rules.players]
        taken: list[list[int]] = [[] for _ in self.tricks_won]
        for card in self.rules.card_values:
            index = played.find(card)
            if index >= 0:
                taken[winners[index // self.rules.players]].append(card)
        return tuple(map(tuple, taken))

    @property
    def points_so_far(self) -> tuple[int, ...]:
        """The points that each seat's finished tricks have brought."""
        return tuple(map(self.rules.score, self.tricks_won, self.taken))

    def _scores(self) -> tuple[int, ...]:
        return self.points_so_far

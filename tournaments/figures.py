"""What was played, in figures: points by seat and position, bids, tricks, jacks, times.

Pure: finished matches in, counts out. Everything follows from playing the deals again by their
rules; ratings and points per deal are those of tournaments/standings.py.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from referee.games.cards import JACK
from referee.games.deal import Deal
from referee.games.knave import KnaveDeal
from referee.games.ninety_nine import NinetyNineRules
from referee.games.rules import Rules
from tournaments.kept import KeptMatch
from tournaments.playblob import KeptDeal


@dataclass(slots=True)
class Sum:
    """Some values' count and total."""

    count: int = 0
    total: int = 0

    def add(self, value: int) -> None:
        """One more."""
        self.count += 1
        self.total += value

    @property
    def mean(self) -> float | None:
        """Their mean, if there are any."""
        return self.total / self.count if self.count else None


@dataclass(slots=True)
class Play:
    """How one entrant played. `by_seat` and `by_position` are points a deal, the position being
    counted clockwise from the dealer's, which is 0. `bids` and `made` count bids by the tricks
    bid; `tricks` counts deals by tricks won, `jacks` those taken by suit. Times are in
    microseconds, one a decision."""

    by_seat: list[Sum]
    by_position: list[Sum]
    bids: Counter[int] = field(default_factory=Counter)
    made: Counter[int] = field(default_factory=Counter)
    tricks: Counter[int] = field(default_factory=Counter)
    jacks: list[int] = field(default_factory=lambda: [0] * 4)
    charged: array[int] = field(default_factory=lambda: array("Q"))
    queued: array[int] = field(default_factory=lambda: array("Q"))

    @property
    def deals(self) -> int:
        """Deals played, each partner's place counted."""
        return sum(each.count for each in self.by_seat)

    @property
    def success(self) -> float | None:
        """The share of bids that were made."""
        return self.made.total() / self.bids.total() if self.bids else None

    @property
    def mean_bid(self) -> float | None:
        """Tricks bid a deal."""
        return _mean(self.bids)

    @property
    def mean_tricks(self) -> float | None:
        """Tricks won a deal."""
        return _mean(self.tricks)


@dataclass(frozen=True, slots=True)
class Times:
    """Decision times in seconds; None where there is no decision."""

    decisions: int
    median: float | None
    high: float | None
    """Nineteen of twenty are faster."""
    worst: float | None


class Figures:
    """Counts by entrant, grown match by match."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.by_entrant: dict[int, Play] = {}

    def add(self, match: KeptMatch, deals: Sequence[Deal]) -> None:
        """One more match, with its deals as played."""
        plays = [self._play(entrant) for entrant in match.entrants]
        for deal, kept in zip(deals, match.deals, strict=True):
            self._points(plays, deal)
            self._times(plays, deal, kept)

    def _play(self, entrant: int) -> Play:
        seats = range(self.rules.players)
        return self.by_entrant.setdefault(
            entrant, Play([Sum() for _ in seats], [Sum() for _ in seats])
        )

    def _points(self, plays: Sequence[Play], deal: Deal) -> None:
        n = self.rules.players
        scores, made = deal.scores, _made(deal)
        for seat, play in enumerate(plays):
            play.by_seat[seat].add(scores[seat])
            play.by_position[(seat - deal.dealer) % n].add(scores[seat])
            play.tricks[deal.tricks_won[seat]] += 1
            if made is not None:
                bid, success = made[seat]
                play.bids[bid] += 1
                play.made[bid] += success
        if isinstance(deal, KnaveDeal):
            _jacks(plays, deal)

    def _times(self, plays: Sequence[Play], deal: Deal, kept: KeptDeal) -> None:
        """What was played for a bot that had been put out took no time and is none of its own."""
        for seat, charged, queued in zip(
            _deciders(deal), kept.charged_us, kept.queued_us, strict=True
        ):
            if charged or queued:
                plays[seat].charged.append(charged)
                plays[seat].queued.append(queued)


def times(microseconds: Sequence[int]) -> Times:
    """What is to be said of these times."""
    if not microseconds:
        return Times(0, None, None, None)
    values: NDArray[np.float64] = np.asarray(microseconds) / 1e6
    median, high = np.quantile(values, (0.5, 0.95)).tolist()
    return Times(len(values), median, high, float(values.max()))


def _deciders(deal: Deal) -> Iterable[int]:
    """The seat of each decision, in the order of its times."""
    n = deal.rules.players
    bidders = range(n) if deal.rules.bid_cards else ()
    cards = ((leader + card) % n for leader in deal.leaders for card in range(n))
    return (*bidders, *cards)


def _made(deal: Deal) -> list[tuple[int, bool]] | None:
    """By seat, the tricks bid and whether its side took exactly what it bid; None without bids."""
    rules = deal.rules
    if not isinstance(rules, NinetyNineRules):
        return None
    bids = [rules.bid_of(bid or ()) for bid in deal.bids]
    surplus: Counter[int] = Counter()
    for seat, bid in enumerate(bids):
        surplus[rules.team_of(seat)] += deal.tricks_won[seat] - bid
    return [(bid, surplus[rules.team_of(seat)] == 0) for seat, bid in enumerate(bids)]


def _jacks(plays: Sequence[Play], deal: KnaveDeal) -> None:
    n = deal.rules.players
    for suit in range(4):
        index = deal.played.find(13 * suit + JACK)
        if index >= 0:
            plays[deal.winners[index // n]].jacks[suit] += 1


def _mean(counts: Counter[int]) -> float | None:
    return sum(n * times for n, times in counts.items()) / counts.total() if counts else None

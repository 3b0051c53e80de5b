"""The deals of a person's own match, to be looked at again: from what their seat was told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from knavery.news import FinishedDeal
from referee.games.record import DealRecord
from referee.games.rules import Rules
from referee.match import Fault
from tournaments.frames import frames
from tournaments.replays import DealReplay
from tournaments.web.scenes import untimed


def review(
    rules: Rules, names: Sequence[str], deals: Sequence[FinishedDeal], faults: Sequence[Fault]
) -> dict[str, Any]:
    """What the replay viewer draws of finished deals, `names` by seat, with what bots did wrong."""
    return untimed(
        rules, names, [_replay(rules, names, deal, len(deals), faults) for deal in deals]
    )


def record(deal: FinishedDeal) -> DealRecord:
    """A finished deal as a record, from which it can be played again."""
    n, cards = len(deal.hands), len(deal.hands[0])
    dealt = [deal.hands[(deal.dealer + 1 + k) % n][k // n] for k in range(n * cards)]
    played = [card for trick in deal.tricks for card in trick.cards]
    bids = [card for bid in deal.bids for card in bid]
    return DealRecord(
        deal.dealer, tuple(map(int, (*dealt, *deal.undealt))), bytes(map(int, (*bids, *played)))
    )


def _replay(
    rules: Rules, names: Sequence[str], deal: FinishedDeal, count: int, faults: Sequence[Fault]
) -> DealReplay:
    decisions = rules.players * (rules.tricks + (rules.bid_cards > 0))
    own = [fault for fault in faults if fault.deal == deal.deal]
    before = [total - score for total, score in zip(deal.totals, deal.scores, strict=True)]
    return DealReplay(
        match="match",
        number=deal.deal,
        count=count,
        rules=rules,
        names=tuple(names),
        dealer=deal.dealer,
        dealt=tuple(tuple(map(int, hand)) for hand in deal.hands),
        undealt=tuple(map(int, deal.undealt)),
        trump=None if deal.trump is None else int(deal.trump),
        frames=frames(rules, record(deal), [0] * decisions, own, name=f"deal {deal.deal}"),
        before=tuple(before),
        after=deal.totals,
        scores=deal.scores,
        places=None,
        forfeits=(),
    )

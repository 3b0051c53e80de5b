"""A whole deal as readable text: every view, every move, every trick, and the score."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from referee.games.cards import RANKS, SUIT_NAMES, text
from referee.games.deal import Deal
from referee.games.ninety_nine import NinetyNineRules
from referee.games.rules import Rules
from referee.games.shuffle import Stream, deck
from referee.games.view import Phase, View

KEY = b"playthrough"
DEALER = 1


def playthrough(rules: Rules) -> str:
    """The deal of these rules that the fixed key gives, played at random from the same key."""
    deal = rules.deal(DEALER, deck(KEY, 0, rules.pack))
    return "\n".join(
        (*_rules(rules), "", *_dealt(deal), *_bids(deal), *_tricks(deal), *_end(deal), "")
    )


def _rules(rules: Rules) -> Iterator[str]:
    yield f"{rules.game}, {rules.variant}"
    for field in fields(rules):
        value = getattr(rules, field.name)
        shown = "".join(RANKS[rank] for rank in value) if field.name == "ranks" else value
        yield f"  {field.name} = {shown}"


def _dealt(deal: Deal) -> Iterator[str]:
    yield f"seat {deal.dealer} deals"
    for seat, hand in enumerate(deal.dealt):
        yield f"  seat {seat}: {text(hand)}"
    if deal.undealt:
        yield f"  undealt: {text(deal.undealt)}"


def _choices() -> Stream:
    return Stream(KEY, b"moves")


def _bids(deal: Deal) -> Iterator[str]:
    if deal.phase != Phase.BID:
        return
    stream = _choices()
    yield ""
    yield "bids"
    for seat in deal.pending:
        view = deal.view(seat)
        bid = stream.shuffled(view.legal)[: deal.choose]
        deal.act(seat, bid)
        yield f"  seat {seat} sees {_seen(view)}, bids {text(bid)}"


def _tricks(deal: Deal) -> Iterator[str]:
    stream = _choices()
    for trick in range(deal.rules.tricks):
        yield ""
        yield f"trick {trick}, seat {deal.leaders[-1]} leads"
        while len(deal.winners) == trick:
            (seat,) = deal.pending
            view = deal.view(seat)
            card = view.legal[stream.below(len(view.legal))]
            deal.act(seat, (card,))
            yield f"  seat {seat} sees {_seen(view)}, plays {text((card,))}"
        yield f"  seat {deal.winners[trick]} wins"


def _seen(view: View) -> str:
    parts = [f"hand {text(view.hand)}"]
    if view.legal != view.hand:
        parts.append(f"legal {text(view.legal)}")
    if view.trick:
        parts.append(f"trick {text(view.trick)}")
    if any(view.tricks_won):
        parts.append("won " + " ".join(map(str, view.tricks_won)))
    if isinstance(view.rules, NinetyNineRules):
        parts += _seen_of_bids(view)
    return "; ".join(parts)


def _seen_of_bids(view: View) -> Iterator[str]:
    trump = "none" if view.trump is None else SUIT_NAMES[view.trump]
    yield f"trump {trump if view.trump_known else 'unknown'}"
    if view.last_dealt is not None:
        yield f"last dealt {text((view.last_dealt,))}"
    if view.bid is not None:
        yield f"own bid {text(view.bid)}"
    for seat, bid in enumerate(view.bids):
        if bid is not None:
            yield f"bid of seat {seat} {text(bid)}"


def _end(deal: Deal) -> Iterator[str]:
    yield ""
    yield f"tricks won: {' '.join(map(str, deal.tricks_won))}"
    rules = deal.rules
    if isinstance(rules, NinetyNineRules):
        yield f"bids: {' '.join(str(rules.bid_of(bid or ())) for bid in deal.bids)}"
    yield f"scores: {' '.join(map(str, deal.scores))}"

"""A finished deal as plain data, and played again from it."""

from __future__ import annotations

import pickle
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.games.record import DealRecord, RecordError, record, replay
from referee.games.registry import make_rules
from referee.games.rules import Rules
from tests.games.table import every_rules, named, played_out

randoms = st.integers(0, 2**32 - 1).map(Random)


@pytest.mark.parametrize("rules", every_rules(), ids=named)
@given(rng=randoms, dealer=st.integers(0, 2))
def test_a_record_replays_to_the_same_deal(rules: Rules, rng: Random, dealer: int) -> None:
    deal = played_out(rules, rng, dealer)
    kept = record(deal)
    again = replay(rules, pickle.loads(pickle.dumps(kept)))
    assert record(again) == kept
    assert again.scores == deal.scores
    assert again.winners == deal.winners
    assert [again.view(seat) for seat in range(rules.players)] == [
        deal.view(seat) for seat in range(rules.players)
    ]


def test_moves_are_bids_by_seat_and_then_cards_in_order() -> None:
    deal = played_out(make_rules("ninety-nine"), Random(1))
    bids = [card for bid in deal.bids if bid for card in bid]
    assert record(deal).moves == bytes([*bids, *deal.played])
    assert len(record(deal).moves) == 36


def test_an_unfinished_deal_has_no_record() -> None:
    rules = make_rules("knave")
    with pytest.raises(ValueError, match="the deal is not done"):
        record(rules.deal(0, rules.pack))


def knave_record() -> DealRecord:
    return record(played_out(make_rules("knave"), Random(5)))


def ninety_nine_record() -> DealRecord:
    return record(played_out(make_rules("ninety-nine"), Random(5)))


def with_move(kept: DealRecord, place: int, card: int) -> DealRecord:
    return replace(kept, moves=kept.moves[:place] + bytes([card]) + kept.moves[place + 1 :])


def test_a_card_that_is_not_held_is_reported_with_its_trick() -> None:
    kept = knave_record()
    changed = with_move(kept, 30, kept.moves[0])
    with pytest.raises(RecordError, match=r"^deal 4, trick 10, seat \d: .* is not in the hand$"):
        replay(make_rules("knave"), changed, "deal 4")


def test_a_bid_that_is_not_held_is_reported_with_its_seat() -> None:
    kept = ninety_nine_record()
    foreign = kept.moves[0]
    with pytest.raises(RecordError, match=r"^deal, bid of seat 1: .* is not in the hand$"):
        replay(make_rules("ninety-nine"), with_move(kept, 3, foreign))


def test_a_bid_has_one_way_to_be_written() -> None:
    kept = ninety_nine_record()
    first, second = kept.moves[:2]
    swapped = with_move(with_move(kept, 0, second), 1, first)
    with pytest.raises(RecordError, match=r"bid of seat 0: its cards are not ascending"):
        replay(make_rules("ninety-nine"), swapped)


def test_too_few_and_too_many_cards_are_reported() -> None:
    kept = knave_record()
    for moves, count in ((kept.moves[:-1], 50), (kept.moves + b"\0", 52)):
        with pytest.raises(RecordError, match=f"deal: {count} cards are recorded, not 51"):
            replay(make_rules("knave"), replace(kept, moves=moves))


def test_a_deck_or_dealer_of_other_rules_is_reported() -> None:
    kept = knave_record()
    with pytest.raises(RecordError, match="deal 2: the deck is not the whole pack"):
        replay(make_rules("ninety-nine"), kept, "deal 2")
    with pytest.raises(RecordError, match="deal: there is no seat 3 to deal"):
        replay(make_rules("knave"), replace(kept, dealer=3))

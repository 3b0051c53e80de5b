"""What holds of every deal of every variant, whoever plays it how."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.games import tricks
from referee.games.cards import CARDS, cards_in, mask, suit_of
from referee.games.deal import Deal, IllegalMove
from referee.games.knave import KnaveDeal, KnaveRules
from referee.games.ninety_nine import NinetyNineDeal, NinetyNineRules
from referee.games.rules import Rules
from referee.games.view import Phase
from tests.games.table import every_rules, named, played_out, shuffled, steps

randoms = st.integers(0, 2**32 - 1).map(Random)
dealers = st.integers(0, 2)
every_variant = pytest.mark.parametrize("rules", every_rules(), ids=named)
KNAVES = [rules for rules in every_rules() if isinstance(rules, KnaveRules)]
NINETY_NINES = [rules for rules in every_rules() if isinstance(rules, NinetyNineRules)]


def state(deal: Deal) -> tuple[object, ...]:
    """All that can be seen of a deal from outside."""
    return (
        deal.phase,
        deal.pending,
        deal.hands,
        tuple(deal.bids),
        tuple(deal.played),
        tuple(deal.leaders),
        tuple(deal.tricks_won),
        deal.winners,
        tuple(map(deal.view, range(deal.rules.players))),
    )


def where_cards_are(deal: Deal) -> list[int]:
    held = [card for hand in deal.hands for card in cards_in(hand)]
    bid = [card for bid in deal.bids if bid for card in bid]
    return sorted([*held, *bid, *deal.played, *deal.undealt])


@every_variant
@given(rng=randoms, dealer=dealers)
def test_cards_are_conserved(rules: Rules, rng: Random, dealer: int) -> None:
    deal = rules.deal(dealer, shuffled(rules, rng))
    assert all(len(hand) == rules.hand_size for hand in deal.dealt)
    for _ in steps(deal, rng):
        assert where_cards_are(deal) == list(rules.pack)
    assert where_cards_are(deal) == list(rules.pack)
    assert len(deal.played) == rules.tricks * rules.players
    assert sum(deal.tricks_won) == rules.tricks


@every_variant
@given(rng=randoms, dealer=dealers)
def test_what_may_be_played_is_what_follows_suit(rules: Rules, rng: Random, dealer: int) -> None:
    deal = rules.deal(dealer, shuffled(rules, rng))
    for seat, _ in steps(deal, rng):
        trick = deal.view(seat).trick
        led = suit_of(trick[0]) if trick else None
        assert deal.legal(seat) == tricks.legal(deal.hands[seat], led)
        assert tuple(deal.choices(seat)) == cards_in(deal.legal(seat)) == deal.view(seat).legal


@every_variant
@settings(max_examples=2)
@given(rng=randoms, dealer=dealers)
def test_only_legal_cards_are_accepted(rules: Rules, rng: Random, dealer: int) -> None:
    deal = rules.deal(dealer, shuffled(rules, rng))
    for seat, move in steps(deal, rng):
        before = state(deal)
        for wrong in (set(range(-1, CARDS + 20)) - set(deal.choices(seat))) | {255, 10**20}:
            with pytest.raises(IllegalMove):
                deal.act(seat, (*move[1:], wrong))
            if deal.phase == Phase.PLAY:
                with pytest.raises(IllegalMove):
                    deal.play(seat, wrong)
        assert state(deal) == before


@every_variant
@given(rng=randoms, dealer=dealers)
def test_only_who_is_asked_may_act_and_with_the_right_count(
    rules: Rules, rng: Random, dealer: int
) -> None:
    deal = rules.deal(dealer, shuffled(rules, rng))
    for seat, move in steps(deal, rng):
        before = state(deal)
        for bad in ((), (*move, *move), (*move, -1)):
            with pytest.raises(IllegalMove, match="cards chosen: "):
                deal.act(seat, bad)
        for other in set(range(rules.players)) - set(deal.pending):
            with pytest.raises(IllegalMove, match=f"seat {other} is not asked"):
                deal.act(other, move)
        assert state(deal) == before
    for seat in range(rules.players):
        with pytest.raises(IllegalMove, match="not asked"):
            deal.play(seat, deal.played[0])


@every_variant
@given(rng=randoms, dealer=dealers)
def test_the_best_card_of_each_trick_wins_it_and_its_player_leads_next(
    rules: Rules, rng: Random, dealer: int
) -> None:
    deal = played_out(rules, rng, dealer)
    n = rules.players
    leader = (dealer + 1) % n
    for trick in range(rules.tricks):
        assert deal.leaders[trick] == leader
        index = tricks.winner_index(deal.played[n * trick : n * trick + n], deal.trump)
        leader = (leader + index) % n
        assert deal.winners[trick] == leader
    assert list(deal.tricks_won) == [deal.winners.count(seat) for seat in range(n)]


@every_variant
@given(rng=randoms, dealer=dealers)
def test_a_stand_in_is_the_smallest_legal_choice(rules: Rules, rng: Random, dealer: int) -> None:
    deal = rules.deal(dealer, shuffled(rules, rng))
    while deal.pending:
        seat = deal.pending[0]
        move = deal.stand_in(seat)
        assert move == tuple(sorted(cards_in(deal.legal(seat)))[: deal.choose])
        deal.act(seat, move)


KNAVE_BOUNDS = {
    "classic": (-8, 16),
    "double": (-13, 14),
    "positive": (0, 10),
    "four": (-8, 11),
    "double+four": (-14, 11),
    "positive+four": (0, 10),
}
KNAVE_SUMS = {
    "classic": 7,
    "double": 1,
    "positive": 10,
    "four": 3,
    "double+four": -3,
    "positive+four": 10,
}


@pytest.mark.parametrize("rules", KNAVES, ids=named)
@given(rng=randoms, dealer=dealers)
def test_knave_scores_add_up_within_their_bounds(
    rules: KnaveRules, rng: Random, dealer: int
) -> None:
    deal = played_out(rules, rng, dealer)
    low, high = KNAVE_BOUNDS[rules.variant]
    assert all(low <= score <= high for score in deal.scores)
    hidden = sum(map(rules.card_value, deal.undealt))
    assert sum(deal.scores) == KNAVE_SUMS[rules.variant] - hidden
    assert len(deal.undealt) == (1 if rules.players == 3 else 0)


@pytest.mark.parametrize("rules", KNAVES, ids=named)
@given(rng=randoms)
def test_knave_scores_are_tricks_and_what_is_in_them(rules: KnaveRules, rng: Random) -> None:
    deal = played_out(rules, rng)
    assert isinstance(deal, KnaveDeal)
    n = rules.players
    scores = [0] * n
    for trick, winner in enumerate(deal.winners):
        scores[winner] += rules.trick_value
        scores[winner] += sum(map(rules.card_value, deal.played[n * trick : n * trick + n]))
    assert deal.scores == tuple(scores)


@pytest.mark.parametrize("rules", NINETY_NINES, ids=named)
@given(rng=randoms, dealer=dealers)
def test_ninety_nine_scores_are_success_or_nothing(
    rules: NinetyNineRules, rng: Random, dealer: int
) -> None:
    deal = played_out(rules, rng, dealer)
    assert isinstance(deal, NinetyNineDeal)
    assert set(deal.scores) <= {0, *range(11, 20), 30}
    sides = sorted({rules.team_of(seat) for seat in range(rules.players)})
    bids, won = dict.fromkeys(sides, 0), dict.fromkeys(sides, 0)
    for seat, bid in enumerate(deal.bids):
        assert bid is not None
        bids[rules.team_of(seat)] += rules.bid_of(bid)
        won[rules.team_of(seat)] += deal.tricks_won[seat]
    succeeded = [side for side in sides if bids[side] == won[side]]
    for seat, score in enumerate(deal.scores):
        assert (score > 0) == (rules.team_of(seat) in succeeded)
    if sum(bids.values()) == rules.tricks:
        assert len(succeeded) != len(sides) - 1
    else:
        assert len(succeeded) < len(sides)


@given(rng=randoms)
def test_a_bid_is_kept_ascending_and_leaves_the_hand(rng: Random) -> None:
    rules = NinetyNineRules()
    deal = rules.deal(0, shuffled(rules, rng))
    for seat in (2, 0, 1):
        chosen = rng.sample(deal.choices(seat), 3)
        before = deal.hands[seat]
        deal.bid(seat, chosen)
        assert deal.bids[seat] == tuple(sorted(chosen))
        assert deal.hands[seat] == before ^ mask(chosen)

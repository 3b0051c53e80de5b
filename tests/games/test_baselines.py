"""Random play scores what it was measured to score elsewhere, within four standard errors or so."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from random import Random
from statistics import mean, stdev

import pytest

from referee.games.deal import Deal
from referee.games.ninety_nine import NinetyNineDeal, NinetyNineRules
from referee.games.registry import make_rules
from referee.games.rules import Rules
from tests.games.table import play_out, played_out, shuffled


def near_three(deal: NinetyNineDeal, seat: int) -> tuple[int, ...]:
    """A bid as near three tricks as the hand allows."""
    return min(combinations(deal.choices(seat), 3), key=lambda bid: abs(deal.rules.bid_of(bid) - 3))


def played_with_near_three(rules: NinetyNineRules, rng: Random, dealer: int) -> NinetyNineDeal:
    deal = rules.deal(dealer, shuffled(rules, rng))
    for seat in deal.pending:
        deal.bid(seat, near_three(deal, seat))
    play_out(deal, rng)
    return deal


@pytest.mark.parametrize(
    ("variant", "each"),
    [
        ("classic", 7.192 / 3),
        ("double", 1.308 / 3),
        ("positive", 9.808 / 3),
        ("four", 3 / 4),
        ("double+four", -3 / 4),
        ("positive+four", 10 / 4),
    ],
)
def test_no_seat_of_knave_has_an_edge(variant: str, each: float) -> None:
    rules, rng = make_rules("knave", variant), Random(1)
    deals = [played_out(rules, rng).scores for _ in range(800)]
    for scores in zip(*deals, strict=True):
        assert mean(scores) == pytest.approx(each, abs=4 * stdev(scores) / 800**0.5)
    if variant == "classic":
        assert stdev(deal[0] for deal in deals) == pytest.approx(2.5, abs=0.25)


def test_ties_for_first_are_a_few_in_a_hundred() -> None:
    rules, rng = make_rules("knave"), Random(2)
    ties = 0
    for _ in range(250):
        totals = [0, 0, 0]
        for number in range(rules.max_deals):
            scores = played_out(rules, rng, number % 3).scores
            totals = [total + score for total, score in zip(totals, scores, strict=True)]
        ties += rules.places(totals).count(1) > 1
    assert 0.02 < ties / 250 < 0.12


def successes(deal: Deal) -> int:
    return sum(score > 0 for score in deal.scores)


def test_random_bids_and_play_in_ninety_nine() -> None:
    rules, rng = NinetyNineRules(), Random(3)
    deals = [played_out(rules, rng, number % 3) for number in range(2400)]
    assert mean(score for deal in deals for score in deal.scores) == pytest.approx(1.71, abs=0.2)
    counts = Counter(map(successes, deals))
    for count, share, error in (
        (0, 0.67, 0.04),
        (1, 0.28, 0.04),
        (2, 0.044, 0.015),
        (3, 0.001, 0.003),
    ):
        assert counts[count] / 2400 == pytest.approx(share, abs=error)
    bids = [[rules.bid_of(bid or ()) for bid in deal.bids] for deal in deals]
    assert sum(sum(bid) == 9 for bid in bids) / 2400 == pytest.approx(0.04, abs=0.015)
    won = Counter(
        bid
        for deal, three in zip(deals, bids, strict=True)
        for bid, score in zip(three, deal.scores, strict=True)
        if score
    )
    made = Counter(bid for three in bids for bid in three)
    shares = {1: 0.146, 2: 0.205, 3: 0.227, 4: 0.159, 5: 0.107}
    for bid, share in shares.items():
        assert won[bid] / made[bid] == pytest.approx(share, abs=0.045)


def test_bids_near_three_do_better() -> None:
    rules, rng = NinetyNineRules(), Random(4)
    deals = [played_with_near_three(rules, rng, number % 3) for number in range(400)]
    scores = [score for deal in deals for score in deal.scores]
    assert mean(scores) == pytest.approx(2.75, abs=0.5)
    assert mean(score > 0 for score in scores) == pytest.approx(0.21, abs=0.04)


def deals_to_the_end(rules: Rules, rng: Random) -> int:
    totals, number = [0] * rules.players, 0
    while not rules.over(totals, number):
        scores = played_out(rules, rng, number % rules.players).scores
        totals = [total + score for total, score in zip(totals, scores, strict=True)]
        number += 1
    return number


def test_random_bidders_need_about_46_deals() -> None:
    rng = Random(5)
    lengths = [deals_to_the_end(NinetyNineRules(), rng) for _ in range(40)]
    assert mean(lengths) == pytest.approx(46, abs=8)
    assert max(lengths) < 120

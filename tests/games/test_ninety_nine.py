"""Ninety-Nine: bids, who knows the trump when, success, teams, its extremes and its chances."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, combinations_with_replacement, product
from math import comb

import pytest

from referee.games.cards import DIAMONDS, SUITS, cards, suit_of, text
from referee.games.deal import IllegalMove
from referee.games.ninety_nine import NinetyNineDeal, NinetyNineRules
from referee.games.registry import make_rules
from referee.games.view import Phase
from tests.games.table import deck_of, run_out

EXTREME = [
    "AKQJT9875 - AK A",
    "- AQT85 T875 KT7",
    "- KJ97 QJ9 QJ985",
]
"""Seat 0 leads; the last card dealt is a diamond of seat 2, so there is no trump."""


def ninety_nine(variant: str = "classic", **fields: object) -> NinetyNineRules:
    rules = make_rules("ninety-nine", variant, **fields)
    assert isinstance(rules, NinetyNineRules)
    return rules


def dealt(
    hands: list[str], last: str, variant: str = "classic", dealer: int | None = None
) -> NinetyNineDeal:
    """A deal of these hands by the last seat, whose card `last` is dealt last."""
    rules = ninety_nine(variant)
    dealer = rules.players - 1 if dealer is None else dealer
    deck = list(deck_of(hands, dealer))
    place = deck.index(cards(last)[0])
    deck[place], deck[-1] = deck[-1], deck[place]
    return rules.deal(dealer, deck)


def test_the_pack_has_no_six() -> None:
    rules = ninety_nine()
    assert text(rules.pack[:9]) == "5C 7C 8C 9C TC JC QC KC AC"
    assert (len(rules.pack), rules.hand_size, rules.tricks, rules.bid_cards) == (36, 12, 9, 3)


def test_partnerships_play_with_forty_eight_cards() -> None:
    rules = ninety_nine("partnership")
    assert text(rules.pack[:12]) == "3C 4C 5C 6C 7C 8C 9C TC JC QC KC AC"
    assert (len(rules.pack), rules.hand_size, rules.tricks) == (48, 12, 9)
    assert [rules.team_of(seat) for seat in range(4)] == [0, 1, 0, 1]


def test_the_best_deal_is_seventy_nine() -> None:
    """Seat 0 bids nine and wins every trick with top cards; the others bid and take nothing."""
    deal = dealt(EXTREME, "7D")
    assert deal.trump is None
    deal.bid(0, cards("5C 7C 8C"))
    deal.bid(1, cards("AD QD TD"))
    deal.bid(2, cards("KD JD 9D"))
    run_out(deal)
    assert list(deal.tricks_won) == [9, 0, 0]
    assert deal.scores == (19, 30, 30)


def test_the_best_partnership_deal_is_forty_nine() -> None:
    """Seats 0 and 2 bid 9 + 0 and take 9; seats 1 and 3 bid six diamonds and take none."""
    deal = dealt(
        ["AKQJT9876543 - - -", "- AQ84 8765 8765", "- J763 AKQJ AKQJ", "- KT95 T943 T943"],
        "9D",
        "partnership",
    )
    for seat, bid in enumerate(("3C 4C 5C", "AD QD 8D", "JD 7D 6D", "KD TD 5D")):
        deal.bid(seat, cards(bid))
    run_out(deal)
    assert deal.scores == (19, 30, 19, 30)


def test_a_failure_scores_nothing() -> None:
    deal = dealt(EXTREME, "7D")
    deal.bid(0, cards("AH KH AS"))
    deal.bid(1, cards("AD QD TD"))
    deal.bid(2, cards("KD JD QS"))
    run_out(deal)
    assert list(deal.tricks_won) == [9, 0, 0]
    assert deal.scores == (0, 30, 0)


def test_every_score_a_seat_can_have() -> None:
    rules = ninety_nine()
    scores = {rules.score(bid, won) for bid in range(10) for won in range(10)}
    assert scores == {0, *range(11, 20), 30}
    team_scores = {rules.score(bid, won) for bid in range(19) for won in range(10)}
    assert team_scores == scores


def test_two_successes_force_the_third_exactly_when_bids_sum_to_nine() -> None:
    rules = ninety_nine()
    splits = [won for won in product(range(10), repeat=3) if sum(won) == 9]
    found: dict[bool, set[int]] = {True: set(), False: set()}
    best = 0
    for bids in product(range(10), repeat=3):
        for won in splits:
            scores = rules.deal_scores(bids, won)
            best = max(best, sum(scores))
            found[sum(bids) == 9].add(sum(score > 0 for score in scores))
    assert found == {True: {0, 1, 3}, False: {0, 1, 2}}
    assert best == 79


def test_teams_succeed_or_fail_together_when_their_bids_sum_to_nine() -> None:
    rules = ninety_nine("partnership")
    found: dict[bool, set[int]] = {True: set(), False: set()}
    best = 0
    for ours, theirs in product(range(19), repeat=2):
        bids = (min(ours, 9), min(theirs, 9), max(ours - 9, 0), max(theirs - 9, 0))
        for won in range(10):
            scores = rules.deal_scores(bids, (won, 9 - won, 0, 0))
            assert scores[:2] == scores[2:]
            best = max(best, scores[0] + scores[1])
            found[ours + theirs == 9].add(sum(score > 0 for score in scores[:2]))
    assert found == {True: {0, 2}, False: {0, 1}}
    assert best == 49


def test_twenty_suit_triples_make_the_bids() -> None:
    rules = ninety_nine()
    values = [rules.bid_of([13 * suit for suit in triple]) for triple in suit_triples()]
    assert len(values) == 20
    assert [values.count(bid) for bid in range(10)] == [1, 1, 2, 3, 3, 3, 3, 2, 1, 1]


def suit_triples() -> list[tuple[int, ...]]:
    return list(combinations_with_replacement(range(4), 3))


def test_how_often_a_hand_can_express_a_bid() -> None:
    """Exact: every split of 12 cards of 36 over the suits, each with its number of hands."""
    rules = ninety_nine()
    ways_of = [Counter(triple) for triple in suit_triples()]
    bids = [rules.bid_of([13 * suit for suit in triple]) for triple in suit_triples()]
    hands: Counter[int] = Counter()
    every_bid = 0
    for lengths in product(range(10), repeat=4):
        if sum(lengths) != 12:
            continue
        ways = comb(9, lengths[0]) * comb(9, lengths[1]) * comb(9, lengths[2]) * comb(9, lengths[3])
        can = {
            bid
            for bid, triple in zip(bids, ways_of, strict=True)
            if all(lengths[suit] >= count for suit, count in triple.items())
        }
        for bid in can:
            hands[bid] += ways
        every_bid += ways * (len(can) == 10)
    whole = comb(36, 12)
    percent = [100 * hands[bid] / whole for bid in range(10)]
    assert [round(chance, 1) for chance in percent[:3]] == [65.0, 87.9, 98.3]
    assert [round(chance, 2) for chance in percent[3:5]] == [99.83, 99.95]
    assert percent == percent[::-1]
    assert round(100 * every_bid / whole, 1) == 35.4


def test_a_hand_has_220_bids() -> None:
    deal = dealt(EXTREME, "7D")
    assert len(list(combinations(deal.choices(0), deal.choose))) == 220


@pytest.mark.parametrize("variant", ["classic", "partnership"])
def test_the_last_card_makes_trump_and_diamonds_make_none(variant: str) -> None:
    rules = ninety_nine(variant)
    trumps: Counter[int | None] = Counter()
    for last in rules.pack:
        deal = rules.deal(0, [*(card for card in rules.pack if card != last), last])
        trumps[deal.trump] += 1
        assert deal.trump == (None if suit_of(last) == DIAMONDS else suit_of(last))
        assert deal.dealt[0][-1] == last
    quarter = len(rules.pack) // 4
    assert trumps == dict.fromkeys([SUITS.index("C"), 2, 3, None], quarter)


def test_only_the_dealer_knows_the_trump_while_bids_are_made() -> None:
    deal = dealt(EXTREME, "QH")
    assert [deal.trump_known(seat) for seat in range(3)] == [False, False, True]
    assert [deal.view(seat).trump for seat in range(3)] == [None, None, SUITS.index("H")]
    assert [deal.view(seat).last_dealt for seat in range(3)] == [None, None, cards("QH")[0]]
    for seat in (2, 0):
        deal.bid(seat, deal.stand_in(seat))
        assert deal.view(1).trump_known is False
    deal.bid(1, deal.stand_in(1))
    assert [deal.view(seat).trump for seat in range(3)] == [SUITS.index("H")] * 3
    assert [deal.view(seat).last_dealt for seat in range(3)] == [None, None, cards("QH")[0]]


def test_the_dealer_may_bid_the_card_that_makes_trump() -> None:
    deal = dealt(EXTREME, "QH")
    deal.bid(2, cards("QH KD JD"))
    for seat in (0, 1):
        deal.bid(seat, deal.stand_in(seat))
    assert deal.trump == SUITS.index("H")


def test_bids_are_asked_of_all_at_once_and_taken_in_any_order() -> None:
    deal = dealt(EXTREME, "7D")
    asked = []
    for seat in (1, 2, 0):
        asked.append((deal.phase, deal.pending, deal.choose, tuple(deal.leaders)))
        deal.act(seat, deal.stand_in(seat))
    asked.append((deal.phase, deal.pending, deal.choose, tuple(deal.leaders)))
    assert asked == [
        (Phase.BID, (0, 1, 2), 3, ()),
        (Phase.BID, (0, 2), 3, ()),
        (Phase.BID, (0,), 3, ()),
        (Phase.PLAY, (0,), 1, (0,)),
    ]


def test_the_stand_in_bid_is_the_three_smallest_cards() -> None:
    assert dealt(EXTREME, "7D").stand_in(1) == cards("5D 8D TD")


def test_open_bids_are_turned_up_when_all_are_made() -> None:
    secret, shown = dealt(EXTREME, "7D"), dealt(EXTREME, "7D", "revelation")
    for deal in (secret, shown):
        for seat in (0, 1):
            deal.bid(seat, deal.stand_in(seat))
        assert deal.view(0).bids == (None, None, None)
        deal.bid(2, deal.stand_in(2))
    assert secret.view(0).bids == (None, None, None)
    assert shown.view(0).bids == (None, shown.bids[1], shown.bids[2])
    assert shown.view(1).bids == (shown.bids[0], None, shown.bids[2])


def test_partners_do_not_see_each_others_bids() -> None:
    rules = ninety_nine("partnership")
    deal = rules.deal(3, rules.pack)
    for seat in range(4):
        deal.bid(seat, deal.stand_in(seat))
    assert all(deal.view(seat).bids == (None,) * 4 for seat in range(4))


@pytest.mark.parametrize(
    ("move", "reason"),
    [
        ("5D 8D", "cards chosen: 2, cards asked for: 3"),
        ("5D 8D TD QD", "cards chosen: 4, cards asked for: 3"),
        ("5D 8D 5D", "the same card is chosen twice"),
        ("5D 8D AC", "AC is not in the hand"),
    ],
)
def test_a_bad_bid_is_refused_and_changes_nothing(move: str, reason: str) -> None:
    deal = dealt(EXTREME, "7D")
    before = [deal.view(seat) for seat in range(3)]
    for ask in (deal.act, deal.bid):
        with pytest.raises(IllegalMove, match=f"^{reason}$"):
            ask(1, cards(move))
    assert [deal.view(seat) for seat in range(3)] == before
    assert deal.pending == (0, 1, 2)


def test_a_second_bid_and_a_late_one_are_refused() -> None:
    deal = dealt(EXTREME, "7D")
    deal.bid(1, deal.stand_in(1))
    with pytest.raises(IllegalMove, match="seat 1 is not asked to act now"):
        deal.bid(1, deal.stand_in(1))
    with pytest.raises(IllegalMove, match="seat 0 is not asked to act now"):
        deal.play(0, deal.choices(0)[0])
    for seat in (0, 2):
        deal.bid(seat, deal.stand_in(seat))
    with pytest.raises(IllegalMove, match="bids are over"):
        deal.bid(0, deal.choices(0)[:3])


def test_a_match_ends_at_a_hundred_or_after_120_deals() -> None:
    rules = ninety_nine()
    assert not rules.over((99, 99, 99), 119)
    assert rules.over((100, 0, 0), 4)
    assert rules.over((0, 0, 0), 120)
    assert ninety_nine("short").over((50, 0, 0), 2)
    assert not ninety_nine("short").over((49, 0, 0), 2)
    zeros = rules.score(0, 0)
    assert [rules.over((deals * zeros, 0, 0), deals) for deals in (3, 4)] == [False, True]


def test_partners_share_their_place() -> None:
    rules = ninety_nine("partnership")
    assert rules.places((90, 110, 90, 110)) == (2, 1, 2, 1)
    assert rules.places((100, 100, 100, 100)) == (1, 1, 1, 1)
    assert rules.places((90, 110, 90, 110), {1}) == (1, 2, 1, 2)

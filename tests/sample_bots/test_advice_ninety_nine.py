"""Each point of the advice for Ninety-Nine, on cards that show it."""

from __future__ import annotations

import inspect
import sys
from typing import Any

import pytest

from knavery import CLUBS, HEARTS, SPADES, Card, View, cards, sketch
from tests.sample_bots.advice import Facts, ninety_nine

LOW = "5C 7C 8C 5D KD AD QD 5H 7H 5S 7S 8S"
HIGH = "AC KC QC 5D 7D 8D AH KH QH AS KS QS"
MIXED = "AC 9C 5C KD 8D 5D QH 9H 7H KS 9S 5S"


def to_bid(hand: str, trump: str | None = None, **more: Any) -> View:
    return sketch(hand, game="ninety-nine", trump=trump, bidding=True, **more)


def to_play(hand: str, trick: str = "", trump: str = "none", **more: Any) -> View:
    more = {"bid": "5C 7C 8C", **more}
    return sketch(hand, trick, game="ninety-nine", trump=trump, **more)


def prospect(hand: str, trump: str | None = "none") -> Any:
    """What a hand promises when this is trump."""
    view = to_bid(hand, trump)
    return ninety_nine.Prospect(Facts(view), view.trump, 1.0)


def bid_of(view: View) -> int:
    return int(view.rules.bid_of(ninety_nine.choose_bid(view)))


def test_the_dealer_knows_what_is_trump_and_the_others_weigh_all() -> None:
    known = ninety_nine.trumps_to_expect(Facts(to_bid(MIXED, "H", dealer=0, last_dealt="9H")))
    assert known == [(HEARTS, 1.0)]
    odds = dict(ninety_nine.trumps_to_expect(Facts(to_bid("AC KC QC JC TC 9C 8C 7C 5C 5D 7D 8D"))))
    assert odds == {CLUBS: 0.0, None: 6 / 24, HEARTS: 9 / 24, SPADES: 9 / 24}
    assert sum(odds.values()) == pytest.approx(1)


def test_the_dealer_bids_on_the_trump_that_it_knows() -> None:
    long_spades = "5C 7C 8C 5D 7D 8D 5H 9S JS QS KS AS"
    assert bid_of(to_bid(long_spades, "S")) > bid_of(to_bid(long_spades, "C"))


def test_a_card_is_stronger_as_trump_and_weaker_where_it_may_be_trumped() -> None:
    facts = Facts(to_bid(MIXED))
    king = Card("KS")
    strengths = [ninety_nine.strength(facts, king, trump) for trump in (SPADES, None, HEARTS)]
    assert strengths == sorted(strengths, reverse=True)
    assert 0 < strengths[-1] < strengths[0] < 1


def test_size_and_strength_of_a_bid_must_fit() -> None:
    strong, weak = prospect(HIGH), prospect(LOW)
    chance = ninety_nine.bid_against_strength
    diamonds, clubs = cards("5D 7D 8D"), cards("5D 5C 7C")
    assert chance(strong, diamonds, 6) > chance(strong, diamonds, 1)
    assert chance(weak, clubs, 1) > chance(weak, clubs, 6)


def test_an_ace_in_the_bid_costs_a_trick() -> None:
    hand = prospect(MIXED, "C")
    chance = ninety_nine.bid_against_strength
    with_ace, without = cards("AC KD 8D"), cards("5C KD 8D")
    expected = hand.tricks - sum(hand.strengths[card] for card in without)
    assert hand.strengths[Card("AC")] > 0.9
    assert chance(hand, without, round(expected)) > chance(hand, with_ace, round(expected))


def test_zero_bids_are_for_low_hands() -> None:
    diamonds = cards("QD KD AD")
    assert ninety_nine.zero_bid(prospect(LOW), diamonds) > 0.6
    assert ninety_nine.zero_bid(prospect(HIGH), cards("5D 7D 8D")) < 0.1
    assert tuple(ninety_nine.choose_bid(to_bid(LOW, "H"))) == diamonds


def test_zero_bids_fear_cards_in_trump() -> None:
    hand = "5C 7C 8C 5D KD AD QD 7H 8H 9H TH 7S"
    diamonds = cards("QD KD AD")
    assert ninety_nine.zero_bid(prospect(hand, "H"), diamonds) < ninety_nine.zero_bid(
        prospect(hand, "S"), diamonds
    )


def test_a_zero_bid_earns_nothing_special_in_a_team() -> None:
    def promise(variant: str) -> float:
        view = to_bid(LOW, "H", variant=variant)
        prospects = [ninety_nine.Prospect(Facts(view), view.trump, 1.0)]
        return float(ninety_nine.points_promised(view, prospects, cards("QD KD AD")))

    assert promise("classic") > 15 > 10 > promise("partnership")


def test_middle_bids_are_preferred_a_little() -> None:
    assert [ninety_nine.middle_bid(bid) for bid in range(10)] == [
        *(1.0, 1.0),
        *(1.05, 1.05, 1.05),
        *(1.0,) * 5,
    ]


def test_an_average_hand_bids_in_the_middle() -> None:
    hand = "AC 9C 5C KD QD 5D QH 9H AH KS 9S 5S"
    assert bid_of(to_bid(hand)) in ninety_nine.MIDDLE_BIDS


def guess(view: View, seat: int = 1) -> float:
    return float(ninety_nine.bid_of(Facts(view), seat))


def test_bids_are_guessed_from_tricks_and_suits() -> None:
    hand, more = "5H 7H 8H 9H TH", {"seat": 0, "won": (0, 3, 1)}
    assert guess(to_play(hand, **more), 1) > guess(to_play(hand, **more), 2)
    diamonds_gone = to_play(hand, tricks=["5D 7D 8D", "9D TD JD"], **more)
    clubs_gone = to_play(hand, tricks=["9C TC JC", "QC KC AC"], **more)
    assert guess(diamonds_gone) > guess(clubs_gone)
    void_in_clubs = to_play(hand, tricks=["9C 9D TC"], won=(1, 2, 2))
    assert void_in_clubs.voids[2] == {CLUBS}
    assert guess(void_in_clubs, 2) > guess(void_in_clubs, 1)


def test_bids_that_lie_open_are_not_guessed() -> None:
    view = to_play(
        "5H 7H", variant="revelation", bids={1: "AC KC 5D", 2: "5S 7S 8S"}, bid="9C 8C 7C"
    )
    assert [guess(view, seat) for seat in range(3)] == [9.0, 6.0, 3.0]


def chosen(view: View) -> str:
    return str(ninety_nine.choose_card(view))


def test_own_tricks_are_adjusted_to_the_bid() -> None:
    hand, trick = "5H AH KS AS", "KH 7H"
    needs_three = to_play(hand, trick, seat=2, bid="9C 8C 9H", won=(0, 0, 5))
    needs_none = to_play(hand, trick, seat=2, bid="9C 9H 5D", won=(0, 0, 5))
    assert (chosen(needs_three), chosen(needs_none)) == ("AH", "5H")
    table = ninety_nine.Table(needs_three)
    takers = {card: table.takers(Card(card)) for card in ("5H", "AH")}
    assert takers == {"5H": [1.0, 0.0, 0.0], "AH": [0.0, 0.0, 1.0]}
    adjust = ninety_nine.adjust_own_tricks
    assert adjust(table, Card("AH"), takers["AH"]) > adjust(table, Card("5H"), takers["5H"])


def test_with_the_bid_made_the_highest_loser_goes() -> None:
    made = {"bid": "5D 7D 8D", "won": (3, 3, 0), "seat": 2}
    assert chosen(to_play("5H QH AH", "KH 7H", **made)) == "QH"
    assert chosen(to_play("QC AS 5C", "KH 7H", **made)) == "AS"
    assert chosen(to_play("QS AS", "TS 7S", **made)) == "QS"


def test_tricks_are_left_to_those_who_have_theirs_and_taken_from_those_in_need() -> None:
    view = to_play(
        "5H AH",
        "KH 7H",
        seat=2,
        variant="revelation",
        bid="9C 8C 7C",
        bids={0: "5D 7D 8D", 1: "5S 7S 8S"},
        won=(0, 2, 5),
    )
    table = ninety_nine.Table(view)
    spoil = ninety_nine.spoil_others
    assert spoil(table, [1.0, 0.0, 0.0]) > 0 > spoil(table, [0.0, 1.0, 0.0])
    assert spoil(table, [0.0, 0.0, 1.0]) == 0
    assert chosen(view) == "5H"  # nine are out of reach: the zero bid is spoilt


def test_a_partner_is_helped() -> None:
    view = to_play(
        "5H AH",
        "KH 7H 8H",
        seat=3,
        variant="partnership",
        bid="9C 8C 7C",
        bids={1: "3S 4S 5D"},
        won=(2, 1, 2, 2),
    )
    takers = [0.0, 1.0, 0.0, 0.0]
    assert ninety_nine.spoil_others(ninety_nine.Table(view), takers) > 0


def test_who_lacks_tricks_beats_more_often() -> None:
    def beats(bid: str) -> float:
        view = to_play(
            "QH 5C 7C 8C 9D", variant="revelation", bids={1: bid, 2: "5S 7S 8S"}, bid="9C 9S 9H"
        )
        return float(ninety_nine.Table(view).beats(1, Card("QH"), HEARTS))

    assert beats("AC KC QC") > beats("AD KD QD") > 0


def test_a_void_seat_may_trump() -> None:
    shown = ["7H 9D TH"]  # seat 1 has no hearts
    hand = "KH AH 5C 9C"
    risky = ninety_nine.Table(to_play(hand, trump="S", tricks=shown, seat=2, bid="8C 7C 5D"))
    safe = ninety_nine.Table(to_play(hand, tricks=shown, seat=2, bid="8C 7C 5D"))
    assert HEARTS in risky.view.voids[1]
    assert risky.beats(1, Card("AH"), HEARTS) > safe.beats(1, Card("AH"), HEARTS) == 0


CITED = {
    "bid_against_strength": "size_and_strength_of_a_bid_must_fit",
    "trumps_to_expect": "the_dealer_knows_what_is_trump_and_the_others_weigh_all",
    "zero_bid": "zero_bids_are_for_low_hands",
    "middle_bid": "middle_bids_are_preferred_a_little",
    "bid_of": "bids_are_guessed_from_tricks_and_suits",
    "adjust_own_tricks": "own_tricks_are_adjusted_to_the_bid",
    "lose_with_high_cards": "with_the_bid_made_the_highest_loser_goes",
    "spoil_others": "tricks_are_left_to_those_who_have_theirs_and_taken_from_those_in_need",
}


def test_every_point_cites_its_sentence_and_has_a_test() -> None:
    points = {
        name
        for name, value in vars(ninety_nine).items()
        if inspect.isfunction(value) and "「" in (value.__doc__ or "")
    }
    assert points == set(CITED)
    assert all(f"test_{name}" in vars(sys.modules[__name__]) for name in CITED.values())

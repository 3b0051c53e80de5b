"""Knave: its table of points, its extremes reached by explicit deals, its hidden card."""

from __future__ import annotations

from random import Random

import pytest

from referee.games.cards import cards, parse_card, suit_of
from referee.games.deal import IllegalMove
from referee.games.knave import KnaveDeal, KnaveRules
from referee.games.registry import make_rules
from referee.games.view import Phase
from tests.games.table import deck_of, play, play_out, run_out, shuffled

FIFTEEN = ["5432 - - AKQJT98765432", "AKQJT98 AKQJT9 AKQT -", "76 8765432 J9876543 -"]
"""With the two of hearts hidden."""
PENALTIES = cards("JC JD JH JS QC QD QH QS")


def knave(variant: str = "classic", **fields: object) -> KnaveRules:
    rules = make_rules("knave", variant, **fields)
    assert isinstance(rules, KnaveRules)
    return rules


def ended(rules: KnaveRules, hands: list[str], undealt: str, *tricks: str) -> KnaveDeal:
    """A deal by the last seat, its first tricks played as given and the rest run out.

    Seat 0 leads first. Seat 1 is to take all that is left: every lead of it wins.
    """
    dealer = rules.players - 1
    deal = rules.deal(dealer, deck_of(hands, dealer, undealt))
    play(deal, *tricks)
    run_out(deal)
    return deal


def test_the_table_of_points() -> None:
    classic, double, positive = knave(), knave("double"), knave("positive")
    assert [classic.card_value(card) for card in PENALTIES] == [-1, -2, -3, -4, 0, 0, 0, 0]
    assert [double.card_value(card) for card in PENALTIES] == [-1, -2, -3, -4, -1, -1, -2, -2]
    assert [positive.card_value(card) for card in PENALTIES] == [1, 2, 3, 4, 0, 0, 0, 0]
    assert [rules.trick_value for rules in (classic, double, positive)] == [1, 1, 0]
    assert all(rules.card_value(parse_card("AS")) == 0 for rules in (classic, double, positive))


def test_fifteen_and_minus_eight_with_all_jacks_dealt() -> None:
    """Seat 0 leads the spade jack; the others have no spade and throw two more jacks on it.

    It then gives up the lead for good. Seat 1 takes 16 tricks and with them the club jack.
    """
    deal = ended(knave(), FIFTEEN, "2H", "JS JD JH", "2C 8C 6C")
    assert deal.scores == (-8, 15, 0)
    assert list(deal.tricks_won) == [1, 16, 0]
    assert deal.taken == (cards("JD JH JS"), cards("JC"), ())


def test_sixteen_with_the_club_jack_hidden() -> None:
    """The same, but nobody can take the club jack."""
    deal = ended(
        knave(),
        ["5432 - - AKQJT98765432", "AKQT987 AKQJT9 AKQT -", "6 8765432 J98765432 -"],
        "JC",
        "JS JD JH",
        "2C 7C 6C",
    )
    assert deal.scores == (-8, 16, 0)
    assert sum(deal.scores) == 7 + 1


def test_fourteen_and_minus_thirteen_in_double_knave() -> None:
    """Seat 0 takes three tricks, with every jack and queen in them; seat 1 takes the rest."""
    deal = ended(
        knave("double"),
        ["5432 - - AKQJT98765432", "AKQT98 AKQJT98 AKT9 -", "J76 765432 QJ876543 -"],
        "2H",
        "JS JD JH",
        "QS QD QH",
        "2S QC JC",
        "2C 8C 6C",
    )
    assert list(deal.tricks_won) == [3, 14, 0]
    assert deal.scores == (-13, 14, 0)


def test_all_jacks_for_one_seat() -> None:
    """Seat 0 holds the four top cards of each suit and takes all: 7 points, or 10 in positive."""
    hands = ["AKQJT AKQJ AKQJ AKQJ", "98765 T98765 T98765 -", "432 432 432 T9876543"]
    for rules, scores in ((knave(), (7, 0, 0)), (knave("positive"), (10, 0, 0))):
        assert ended(rules, hands, "2S").scores == scores


def test_eleven_and_minus_eight_with_four_players() -> None:
    """Seat 0 leads the spade ace, and the spade jack and two more jacks fall on it."""
    deal = ended(
        knave("four"),
        [
            "2 - - AKQT98765432",
            "AKQJT9 AKQJ AKQ -",
            "876543 - T98765 J",
            "- T98765432 J432 -",
        ],
        "",
        "AS JD JS JH",
        "2C 9C 3C 2D",
    )
    assert deal.scores == (-8, 11, 0, 0)


def test_eleven_and_minus_fourteen_in_double_knave_with_four_players() -> None:
    """Seat 0 takes two tricks, each of four jacks and queens; seat 1 takes the rest."""
    rules = knave("double+four")
    hands = [
        "- - Q65432 AKQT987",
        "AKJ AKT AKJT987 -",
        "T98765 Q - J65432",
        "Q432 J98765432 - -",
    ]
    deal = rules.deal(0, deck_of(hands, 0))
    play(deal, "JH QD JD QH", "QS JC JS QC", "2H 7H 5C 2C")
    run_out(deal)
    assert deal.scores == (-14, 11, 0, 0)


def test_all_jacks_for_one_of_four_players() -> None:
    """Seat 0 takes all 13 tricks: 3 points, or 10 in positive."""
    hands = [
        "AKQJ AKQJ AKQJ A",
        "T98765432 T987 - -",
        "- 65432 T9876543 -",
        "- - 2 KQJT98765432",
    ]
    for rules, scores in ((knave("four"), (3, 0, 0, 0)), (knave("positive+four"), (10, 0, 0, 0))):
        deal = rules.deal(3, deck_of(hands, 3))
        play(deal, "AS 2C 3H JS")
        run_out(deal)
        assert deal.scores == scores


@pytest.mark.parametrize("variant", ["classic", "double", "positive"])
@pytest.mark.parametrize("hidden", PENALTIES)
def test_the_hidden_card_is_out_of_the_sum(variant: str, hidden: int) -> None:
    rules = knave(variant)
    rng = Random(hidden)
    deck = [card for card in shuffled(rules, rng) if card != hidden]
    deal = rules.deal(0, [*deck, hidden])
    play_out(deal, rng)
    whole = {"classic": 7, "double": 1, "positive": 10}[variant]
    assert sum(deal.scores) == whole - rules.card_value(hidden)


def test_cards_are_dealt_one_at_a_time_from_the_dealers_left() -> None:
    rules = knave()
    deal = rules.deal(1, rules.pack)
    assert [deal.dealt[seat][:2] for seat in (2, 0, 1)] == [(0, 3), (1, 4), (2, 5)]
    assert deal.undealt == (51,)
    assert [deal.dealt[seat][-1] for seat in (2, 0, 1)] == [48, 49, 50]


def test_the_dealers_left_leads_and_the_deal_starts_with_play() -> None:
    for dealer in range(3):
        deal = knave().deal(dealer, knave().pack)
        assert deal.phase == Phase.PLAY
        assert deal.pending == ((dealer + 1) % 3,)
        assert list(deal.leaders) == [(dealer + 1) % 3]
        assert deal.trump is None


def test_there_are_no_bids() -> None:
    deal = knave().deal(0, knave().pack)
    with pytest.raises(IllegalMove, match="knave has no bids"):
        deal.bid(1, deal.choices(1)[:3])
    assert deal.bids == [None, None, None]


def test_a_jack_may_be_led_and_thrown() -> None:
    deal = knave().deal(2, deck_of(FIFTEEN, 2, "2H"))
    assert parse_card("JS") in deal.choices(0)
    play(deal, "JS")
    assert set(cards("JC JD")) <= set(deal.choices(1))


def test_the_reason_for_a_refusal_is_in_plain_words() -> None:
    deal = knave().deal(2, deck_of(FIFTEEN, 2, "2H"))
    play(deal, "5C")
    for move, reason in (
        (cards("AD"), "AD does not follow clubs, the suit led"),
        (cards("7C"), "7C is not in the hand"),
        ((52,), "52 is no card: cards are 0 to 51"),
        ((-1,), "-1 is no card: cards are 0 to 51"),
        (cards("AC KC"), "cards chosen: 2, cards asked for: 1"),
    ):
        with pytest.raises(IllegalMove, match=f"^{reason}$"):
            deal.act(1, move)
    with pytest.raises(IllegalMove, match="seat 2 is not asked to act now"):
        deal.act(2, cards("7C"))
    assert tuple(deal.played) == cards("5C")


def test_scores_wait_for_the_end() -> None:
    deal = knave().deal(0, knave().pack)
    with pytest.raises(ValueError, match="the deal is not done"):
        _ = deal.scores


@pytest.mark.parametrize("bad", [(0,) * 52, tuple(range(51)), tuple(range(1, 53)), ()])
def test_a_deck_is_the_whole_pack(bad: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="the deck is not the whole pack"):
        knave().deal(0, bad)


@pytest.mark.parametrize("dealer", [-1, 3])
def test_a_dealer_sits_at_the_table(dealer: int) -> None:
    with pytest.raises(ValueError, match=f"there is no seat {dealer} to deal"):
        knave().deal(dealer, knave().pack)


def test_a_match_is_ten_deals_and_ties_share_a_place() -> None:
    rules = knave()
    assert not rules.over((500, 0, 0), 9)
    assert rules.over((0, 0, 0), 10)
    assert rules.places((20, 31, 20)) == (2, 1, 2)
    assert rules.places((31, 31, 9)) == (1, 1, 3)
    assert rules.places((-4, -4, -4)) == (1, 1, 1)


def test_forfeits_come_last_together() -> None:
    rules = knave("four")
    assert rules.places((40, 30, 20, 10), {0}) == (4, 1, 2, 3)
    assert rules.places((40, 30, 20, 10), {0, 3}) == (3, 1, 2, 3)
    assert rules.places((40, 30, 20, 10), {0, 1, 2, 3}) == (1, 1, 1, 1)


def test_suits_follow_the_canonical_order() -> None:
    assert [suit_of(card) for card in knave().pack[::13]] == [0, 1, 2, 3]

"""Views of decisions that are written out by hand, field by field."""

import pytest

from knavery import CLUBS, DIAMONDS, HEARTS, Card, Trick, View, cards, sketch
from knavery.v1 import game_pb2 as pb
from referee.games.registry import make_rules
from referee.wire_rules import rules_message


def numbers(names: str) -> list[int]:
    return [int(card) for card in cards(names)]


def knave_decision() -> pb.Decision:
    """The third trick of a deal that seat 2 dealt: seat 2 led it, and it is seat 1's turn."""
    return pb.Decision(
        id=7,
        match="m",
        deal=3,
        deals_left=6,
        rules=rules_message(make_rules("knave")),
        seat=1,
        dealer=2,
        hand=numbers("2C 9C QD AS"),
        played=numbers("KH 3D 5H TS JS QS KC 4C"),
        leaders=[0, 0, 2],
        trick=numbers("KC 4C"),
        tricks_won=[1, 0, 1],
        trump=pb.TRUMP_NONE,
        scores=[10, -2, 7],
        limit_ms=2000,
        bank_ms=9500,
        play_request=pb.PlayRequest(legal=numbers("2C 9C")),
    )


def bid_decision() -> pb.Decision:
    """The dealer of Ninety-Nine is to bid, and knows that hearts are trump."""
    return pb.Decision(
        id=8,
        match="m",
        rules=rules_message(make_rules("ninety-nine")),
        seat=0,
        dealer=0,
        hand=numbers("5C 7C 8C 9C 5D 7D 8D 9D 5H 7H 8H 9H"),
        tricks_won=[0, 0, 0],
        trump=pb.TRUMP_HEARTS,
        last_dealt=int(Card("9H")),
        scores=[0, 0, 0],
        bid_request=pb.BidRequest(choose=3),
    )


def test_a_play_says_all_that_the_decision_holds() -> None:
    view = View(knave_decision())
    assert (view.phase, view.choose, view.match, view.deal, view.deals_left) == (
        "play",
        1,
        "m",
        3,
        6,
    )
    assert (view.game, view.variant, view.players, view.partner) == ("knave", "classic", 3, None)
    assert (view.seat, view.dealer, view.leader) == (1, 2, 2)
    assert view.hand == cards("2C 9C QD AS")
    assert view.legal == cards("2C 9C")
    assert view.trick == cards("KC 4C")
    assert view.played == cards("KH 3D 5H TS JS QS KC 4C")
    assert (view.tricks_won, view.scores) == ((1, 0, 1), (10, -2, 7))
    assert (view.time_limit, view.bank) == (2.0, 9.5)
    assert (view.trump, view.trump_known) == (None, True)
    assert (view.bid, view.bids, view.last_dealt) == (None, (None, None, None), None)


def test_the_trick_is_told_in_words() -> None:
    view = View(knave_decision())
    assert (view.led_suit, view.winning_card, view.winning_seat) == (CLUBS, Card("KC"), 2)
    assert view.takes(Card("AC"))
    assert not view.takes(Card("9C"))
    assert not view.takes(Card("AS"))


def test_the_leader_has_no_suit_to_follow() -> None:
    view = sketch("2C AS")
    assert (view.trick, view.led_suit, view.winning_card, view.winning_seat) == (
        (),
        None,
        None,
        None,
    )
    assert view.leader == view.seat
    assert view.takes(Card("2C"))


def test_finished_tricks_have_a_leader_and_a_winner() -> None:
    assert View(knave_decision()).tricks == (
        Trick(0, cards("KH 3D 5H"), 0),
        Trick(0, cards("TS JS QS"), 2),
    )


def test_who_does_not_follow_is_void() -> None:
    view = View(knave_decision())
    assert view.voids == (frozenset(), frozenset({HEARTS}), frozenset())
    now = sketch("2C", "KC 4S", seat=1)
    assert now.voids == (frozenset({CLUBS}), frozenset(), frozenset())


def test_unseen_is_the_pack_without_what_was_seen() -> None:
    view = View(knave_decision())
    assert len(view.unseen) == 52 - 4 - 8
    assert not set(view.unseen) & {*view.hand, *view.played}
    assert set(view.unseen) | {*view.hand, *view.played} == set(range(52))


def test_unseen_leaves_out_own_and_shown_bids() -> None:
    view = sketch(
        "5C 7C", game="ninety-nine", bid="5D 7D 8D", bids={2: "AS KS QS"}, trump="H", seat=1
    )
    assert view.bids == (None, cards("5D 7D 8D"), cards("QS KS AS"))
    assert len(view.unseen) == 36 - 2 - 3 - 3
    assert not set(view.unseen) & set(cards("5C 7C 5D 7D 8D AS KS QS 6C"))


def test_a_bid_is_made_from_the_whole_hand() -> None:
    view = View(bid_decision())
    assert (view.phase, view.choose, view.legal) == ("bid", 3, view.hand)
    assert (view.trump, view.trump_known, view.last_dealt) == (HEARTS, True, Card("9H"))
    assert (view.leader, view.tricks, view.bid) == (1, (), None)
    assert view.rules.bid_of(cards("5C 5D 5H")) == 5


def test_trump_may_be_unknown() -> None:
    decision = bid_decision()
    decision.trump = pb.TRUMP_UNKNOWN
    decision.ClearField("last_dealt")
    view = View(decision)
    assert (view.trump, view.trump_known, view.last_dealt) == (None, False, None)


def test_trump_takes_the_trick() -> None:
    view = sketch("5S 9D", "AD KD", game="ninety-nine", trump="S", bid="5C 7C 8C", seat=2)
    assert view.takes(Card("5S"))
    assert not view.takes(Card("9D"))
    ruffed = sketch("AD 9S", "KD 7S", game="ninety-nine", trump="S", bid="5C 7C 8C", seat=2)
    assert (ruffed.winning_card, ruffed.winning_seat) == (Card("7S"), 1)
    assert ruffed.voids[1] == {DIAMONDS}


def test_partners_sit_opposite() -> None:
    view = sketch("5S", game="ninety-nine", variant="partnership", bid="5C 7C 8C", seat=3)
    assert (view.players, view.partner) == (4, 1)


def test_equal_rules_are_one_value() -> None:
    assert View(knave_decision()).rules is View(knave_decision()).rules
    assert View(knave_decision()).rules == make_rules("knave")


def test_a_view_does_not_change() -> None:
    with pytest.raises(AttributeError, match="a view does not change"):
        View(knave_decision()).hand = ()


def test_a_view_prints_in_one_line_what_matters() -> None:
    words = str(View(knave_decision()))
    assert words == (
        "knave/classic deal 3 seat 1 dealer 2; play from 2C 9C; hand 2C 9C QD AS; trick KC 4C; "
        "won 1 0 1; played KH 3D 5H TS JS QS KC 4C"
    )
    assert "trump H" in str(View(bid_decision()))
    assert repr(View(bid_decision())).startswith("<View ninety-nine/classic")

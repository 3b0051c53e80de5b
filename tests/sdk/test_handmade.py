"""Views made by hand."""

import pytest

from knavery import Card, cards, sketch


def test_who_led_and_dealt_follows_from_the_seat() -> None:
    view = sketch("7H QS", "KH 2H", tricks=["AS 2S 9S", "3C 9C 4C"], seat=1)
    assert (view.leader, view.seat, view.winning_seat) == (2, 1, 2)
    assert [(trick.leader, trick.winner) for trick in view.tricks] == [(1, 1), (1, 2)]
    assert (view.dealer, view.tricks_won) == (0, (0, 1, 1))
    assert view.legal == (Card("7H"),)


def test_what_a_sketch_leaves_out_can_be_said() -> None:
    view = sketch(
        "7H QS",
        game="ninety-nine",
        variant="revelation",
        trump="S",
        bid="5C 7C 8C",
        won=(3, 2, 2),
        scores=(90, 0, 12),
        dealer=0,
        last_dealt="AS",
    )
    assert (view.tricks_won, view.scores, view.dealer) == ((3, 2, 2), (90, 0, 12), 0)
    assert (view.last_dealt, view.bid) == (Card("AS"), cards("5C 7C 8C"))


def test_a_sketch_may_ask_for_a_bid() -> None:
    view = sketch("5C 7C 8C 9C", game="ninety-nine", trump=None, bidding=True, seat=2)
    assert (view.phase, view.choose, view.legal) == ("bid", 3, view.hand)
    assert (view.trump_known, view.dealer, view.leader) == (False, 1, 2)


def test_a_card_is_in_one_place() -> None:
    with pytest.raises(ValueError, match="9C would be in two places"):
        sketch("9C", tricks=["9C 2C 3C"])

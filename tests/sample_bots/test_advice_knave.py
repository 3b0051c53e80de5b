"""Each point of the advice for Knave, on cards that show it."""

from __future__ import annotations

import inspect
import sys

import pytest

from knavery import cards, sketch
from tests.sample_bots.advice import knave, liking

SPADE_JACK_GONE = ["AS JS 2S"]


def test_jacks_to_come_are_those_that_others_hold() -> None:
    view = sketch("JH 2C", tricks=SPADE_JACK_GONE)
    assert knave.jacks_to_come(view) == (cards("JC"), cards("JD"), (), ())


def test_queens_count_where_they_cost() -> None:
    assert knave.jacks_to_come(sketch("JH 2C", variant="double"))[2] == cards("QH")


def test_points_so_far_count_tricks_and_jacks() -> None:
    view = sketch("2C 3C", tricks=["AS JS 2S", "AC 4C JH"], seat=1)
    assert view.tricks_won == (0, 2, 0)
    assert knave.points_so_far(view) == [0, 2 - 4 - 3, 0]


def test_the_rival_has_most_points_of_the_others() -> None:
    tricks = ["AS JS 2S"]
    assert knave.rival(sketch("2C", tricks=tricks, seat=1, scores=(5, 30, 4))) == 0
    assert knave.rival(sketch("2C", tricks=tricks, seat=0, scores=(5, 4, 4))) == 1


def test_count_the_trick() -> None:
    last_on_good = liking(knave.count_the_trick, sketch("3H AH", "9H 8H"))
    assert last_on_good["AH"] > 0 > last_on_good["3H"]
    last_on_bad = liking(knave.count_the_trick, sketch("3H AH", "9H JH"))
    assert last_on_bad["3H"] > 0 > last_on_bad["AH"]
    with_the_club_jack = liking(knave.count_the_trick, sketch("3C AC", "9C JC"))
    assert with_the_club_jack == {"3C": 0.0, "AC": 0.0}


def test_a_bad_trick_is_best_left_to_the_rival() -> None:
    def bad(scores: tuple[int, int, int]) -> float:
        view = sketch("3H", "QH JH", scores=scores)  # seat 1 led and wins
        return liking(knave.count_the_trick, view)["3H"]

    assert bad((0, 20, 5)) > bad((0, 5, 20)) > 0


def test_throw_jacks() -> None:
    void = liking(knave.throw_jacks, sketch("JS JC 9S", "AH 8H"))
    assert void["JS"] > void["JC"] > void["9S"] == 0
    under = liking(knave.throw_jacks, sketch("JS 9S", "KS 8S"))
    assert under["JS"] > 0
    over = liking(knave.throw_jacks, sketch("JS 9S", "TS 8S"))
    assert over["JS"] < 0


def test_beware_of_jacks() -> None:
    out = liking(knave.beware_of_jacks, sketch("3S AS", "9S"))
    assert out["3S"] > 0 > out["AS"]
    gone = liking(knave.beware_of_jacks, sketch("3S AS", "9S", tricks=["KS JS 2S"]))
    assert gone["AS"] > out["AS"]
    clubs = liking(knave.beware_of_jacks, sketch("3C AC", "9C"))
    assert clubs["AC"] > out["AS"]
    last = liking(knave.beware_of_jacks, sketch("3S AS", "9S 8S"))
    assert set(last.values()) == {0.0}
    leading = liking(knave.beware_of_jacks, sketch("3S AS"))
    assert set(leading.values()) == {0.0}


def test_lead_double_edged() -> None:
    out = liking(knave.lead_double_edged, sketch("AS KC 3C"))
    assert out["AS"] < out["KC"] < 0 < out["3C"] + 0.5
    gone = liking(knave.lead_double_edged, sketch("AS KC", tricks=["QS JS 2S"]))
    assert gone["AS"] > out["AS"]
    following = liking(knave.lead_double_edged, sketch("3S AS", "9S"))
    assert set(following.values()) == {0.0}


def test_a_jack_that_pays_is_worth_leading_for() -> None:
    prizes = liking(
        knave.lead_double_edged, sketch("AS 3C 4D 5D 6D 7D 8H 9H TH QH KH", variant="positive")
    )
    assert prizes["AS"] > 5 * prizes["3C"] > 0


def test_a_seat_that_is_void_may_throw_any_jack() -> None:
    follows = sketch("AC", seat=0)
    void = sketch("AC", seat=0, tricks=["KC 2C 5D", "QC 3C 4D"])
    ace = cards("AC")[0]
    assert void.voids[2]
    assert knave.jacks_expected(knave.Table(void), ace) < knave.jacks_expected(
        knave.Table(follows), ace
    )


def test_lead_safely() -> None:
    led = liking(knave.lead_safely, sketch("AS AH AC", tricks=["KS JS 2S"]))
    assert led["AS"] > 0
    assert led["AC"] > 0
    assert led["AH"] == 0
    following = liking(knave.lead_safely, sketch("AS", "9S"))
    assert set(following.values()) == {0.0}


def test_run_out_of_short_suits() -> None:
    short = liking(knave.run_out_of_short_suits, sketch("9C 8D 9D 7H 8H 9H"))
    assert short["9C"] > short["8D"] > short["7H"] == 0


def test_keep_low_cards() -> None:
    out = liking(knave.keep_low_cards, sketch("2S 9S 2H"))
    assert out["2S"] < out["2H"] < out["9S"] == 0
    ducking = liking(knave.keep_low_cards, sketch("2S 9S", "KS"))
    assert ducking["2S"] == 0
    wasted = liking(knave.keep_low_cards, sketch("2S 9S", "5S"))
    assert wasted["2S"] < 0
    gone = liking(knave.keep_low_cards, sketch("3S", tricks=SPADE_JACK_GONE))
    assert gone["3S"] == 0


def test_time_middle_cards() -> None:
    losing = liking(knave.time_middle_cards, sketch("3S 9S QS", "KS 7S"))
    assert losing["9S"] > 0
    assert losing["3S"] == losing["QS"] == 0
    winning = liking(knave.time_middle_cards, sketch("3S 9S", "8S 7S"))
    assert winning["9S"] < 0
    gone = liking(knave.time_middle_cards, sketch("9S", "KS 7S", tricks=SPADE_JACK_GONE))
    assert gone["9S"] == 0


def test_keep_winners() -> None:
    kept = liking(knave.keep_winners, sketch("2S 9S AS AH", tricks=["KS JS QS"]))
    assert kept["AS"] < kept["AH"] < kept["2S"] == 0
    discards = liking(knave.keep_winners, sketch("AS 5S", "9D 8D"))
    assert discards["AS"] < discards["5S"]


@pytest.mark.parametrize(
    ("hand", "trick", "tricks", "best"),
    [
        ("2S AS 5D", "9S JS", [], "2S"),  # the jack lies there: lose
        ("2S AS 5D", "9S 8S", ["KS JS QS"], "AS"),  # it has gone: win
        ("JS 3D 4D", "AH 8H", [], "JS"),  # void: throw the worst jack
        ("JS 3S 4D", "KS 8S", [], "JS"),  # under a higher card too
        ("2C 3C 4C 2D 3D 4D 2H 3H 4H 9S AS", "", ["KS JS QS"], "AS"),  # a safe lead
    ],
)
def test_the_points_together_choose(hand: str, trick: str, tricks: list[str], best: str) -> None:
    assert str(knave.choose_card(sketch(hand, trick, tricks=tricks))) == best


def test_every_point_cites_its_sentence_and_has_a_test() -> None:
    here = {name for name in vars(sys.modules[__name__]) if name.startswith("test_")}
    for point in knave.POINTS:
        assert f"test_{point.__name__}" in here
        doc = inspect.getdoc(point) or ""
        assert "「" in doc
        assert "」" in doc

"""Matches played in this process."""

from __future__ import annotations

from typing import Any

import pytest

import knavery
from knavery import Bot, FinishedDeal, View
from referee.games.registry import GAMES, make_rules, variants


class First(Bot):
    def play(self, view: View) -> Any:
        return view.legal[0]

    def bid(self, view: View) -> Any:
        return view.hand[:3]


def test_a_match_has_a_result_for_each_seat() -> None:
    result = knavery.play([First, "random", "lowest"], seed=3)
    assert result.bots == ("First", "random", "lowest")
    assert result.deals == 10
    assert len(result.totals) == len(result.places) == 1
    assert result.places == (make_rules("knave").places(result.totals[0]),)
    assert sum(result.points_per_deal) == pytest.approx(sum(result.totals[0]) / 10)
    assert (result.faults, result.trouble) == ((), ())


def test_the_same_seed_repeats_everything() -> None:
    first, again, other = (knavery.play(["random"] * 3, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first.totals != other.totals


def test_the_deals_do_not_depend_on_who_plays() -> None:
    seen: list[Any] = []

    class Watching(First):
        def deal_finished(self, deal: FinishedDeal) -> None:
            seen.append((deal.deal, deal.hands, deal.undealt))

    knavery.play([Watching, "random", "random"], seed=4)
    knavery.play(["highest", Watching, "lowest"], seed=4)
    assert len(seen) == 20
    assert seen[:10] == seen[10:]


def test_matches_have_deals_of_their_own() -> None:
    result = knavery.play([First] * 3, matches=2)
    assert len(result.totals) == 2
    assert result.matches[0].deals[0].moves != result.matches[1].deals[0].moves


@pytest.mark.parametrize(("game", "variant"), [(g, v) for g in GAMES for v in variants(g)])
def test_every_variant_can_be_played(game: str, variant: str) -> None:
    result = knavery.play([First] * make_rules(game, variant).players, game, variant)
    assert (result.rules, result.faults) == (make_rules(game, variant), ())


def test_an_exception_is_a_fault_with_its_file_line_and_view() -> None:
    class Failing(First):
        def play(self, view: View) -> Any:
            if view.deal == 2 and len(view.hand) == 5:
                raise LookupError("no card comes to mind")
            return view.legal[0]

    result = knavery.play([First, Failing, First])
    (fault,) = result.faults
    assert (fault.seat, fault.deal, fault.trick, fault.kind.name) == (1, 2, 12, "EXCEPTION")
    line = Failing.play.__code__.co_firstlineno + 2
    first, view = fault.detail.splitlines()
    assert first == f"test_inprocess.py:{line} in play: LookupError: no card comes to mind"
    assert view.startswith("knave/classic deal 2 seat 1")
    assert "LookupError" in result.trouble[0]


def test_an_exception_in_a_hook_is_not_lost() -> None:
    class Failing(First):
        def deal_finished(self, deal: FinishedDeal) -> None:
            raise LookupError(f"deal {deal.deal}")

    result = knavery.play([Failing, First, First])
    assert result.faults == ()
    assert [text.splitlines()[-1] for text in result.trouble] == [
        f"LookupError: deal {number}" for number in range(10)
    ]


def test_too_many_faults_forfeit() -> None:
    class Wrong(First):
        def play(self, view: View) -> Any:
            return view.trick

    result = knavery.play([Wrong, First, First])
    assert len(result.faults) == 6
    assert (result.matches[0].forfeits, result.places[0][0]) == ((0,), 3)


def test_notes_are_kept() -> None:
    class Noting(First):
        def bid(self, view: View) -> Any:
            self.note(f"deal {view.deal}")
            return view.hand[:3]

    result = knavery.play([Noting, First, First], "ninety-nine", "short")
    notes = result.matches[0].notes
    assert len(notes) == result.deals
    assert (notes[0].text, notes[0].seat, notes[0].phase) == ("deal 0", 0, "bid")


def test_a_result_prints_as_a_table_with_the_first_faults() -> None:
    class Wrong(First):
        def play(self, view: View) -> Any:
            return None if view.deal == 0 and len(view.hand) == 17 else view.legal[0]

    lines = str(knavery.play([Wrong, "random", "random"], matches=2)).splitlines()
    assert lines[0] == "knave/classic: 2 matches, 20 deals"
    assert lines[1].split() == ["seat", "bot", "points", "a", "deal", "mean", "place", "faults"]
    assert (lines[2].split()[:2], lines[2].split()[-1]) == (["0", "Wrong"], "2")
    assert lines[5] == "seat 0, deal 0, trick 0: exception"
    assert lines[6].startswith("  test_inprocess.py:")


@pytest.mark.parametrize(
    ("bots", "line"),
    [
        (["random"] * 2, "knave/classic has 3 seats and 2 bots were given"),
        ([First, First, 3], "3 is no bot: give a class made from Bot"),
        ([First, First, First()], "is no bot: give a class made from Bot"),
        ([First, First, "rndm"], "there is no shipped bot 'rndm': did you mean 'random'?"),
    ],
)
def test_what_cannot_be_played_is_refused_in_one_line(bots: Any, line: str) -> None:
    with pytest.raises(ValueError, match="bot") as refusal:
        knavery.play(bots)
    assert line in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_bot_is_not_made_to_play_another_game() -> None:
    class Narrow(First):
        games = ("ninety-nine",)

    with pytest.raises(ValueError, match="Narrow does not play knave"):
        knavery.play([Narrow, First, First])

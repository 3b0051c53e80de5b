"""The benchmark of playouts plays whole deals and counts their decisions."""

from __future__ import annotations

import pytest

from benchmarks import playouts
from referee.games.registry import GAMES


@pytest.mark.parametrize(("game", "decisions"), [("knave", 51), ("ninety-nine", 30)])
def test_a_playout_is_a_whole_deal(game: str, decisions: int) -> None:
    contestant = playouts.ours(game)
    deal = contestant.deal()
    assert contestant.play(deal) == decisions
    assert len(deal.scores) == 3


def test_every_game_is_measured_whole_and_without_its_dealing() -> None:
    rates = playouts.measure(0.01)
    for game in GAMES:
        assert 0 < rates[game] < rates[game + playouts.ALONE]

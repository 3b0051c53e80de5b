"""How well `advice` does: the same deals from every seat, so that the cards even out."""

from __future__ import annotations

from statistics import fmean, stdev

import pytest

import knavery

SEATINGS = ((0, 1, 2), (1, 2, 0), (2, 0, 1))


def points_per_deal(game: str, bots: tuple[str, str, str], blocks: int) -> list[list[float]]:
    """By bot, the points a deal in each block: one sequence of deals under each seating."""
    means: list[list[float]] = [[], [], []]
    for block in range(blocks):
        results = [
            (seating, knavery.play([bots[bot] for bot in seating], game, seed=block))
            for seating in SEATINGS
        ]
        for bot in range(3):
            means[bot].append(
                fmean(result.points_per_deal[seating.index(bot)] for seating, result in results)
            )
    return means


def interval(values: list[float]) -> tuple[float, float]:
    """About 99 % by Student's t with 5 degrees of freedom."""
    half = 4.0 * stdev(values) / len(values) ** 0.5
    return fmean(values) - half, fmean(values) + half


@pytest.mark.parametrize("game", ["knave", "ninety-nine"])
def test_advice_beats_random_with_intervals_that_do_not_overlap(game: str) -> None:
    advice, *randoms = points_per_deal(game, ("advice", "random", "random"), blocks=6)
    others = [fmean(pair) for pair in zip(*randoms, strict=True)]
    assert interval(advice)[0] > interval(others)[1]


@pytest.mark.parametrize(
    ("game", "others"),
    [
        ("knave", ("cautious", "greedy")),
        ("knave", ("lowest", "highest")),
        ("ninety-nine", ("lowest", "highest")),
    ],
)
def test_advice_beats_the_other_bots(game: str, others: tuple[str, str]) -> None:
    advice, *rest = points_per_deal(game, ("advice", *others), blocks=3)
    assert all(fmean(advice) > fmean(values) + 1 for values in rest)

from __future__ import annotations

import numpy as np
import pytest

from tournaments.bradley_terry import Floats, Likelihood, chances

SIZES = [2, 3, 5]


def some(size: int) -> tuple[Likelihood, Floats]:
    random = np.random.default_rng(size)
    wins = random.integers(0, 9, (size, size)) / 2
    np.fill_diagonal(wins, 0)
    return Likelihood(wins), random.normal(size=size)


def along(size: int, axis: int, step: float = 1e-5) -> Floats:
    move: Floats = np.zeros(size)
    move[axis] = step
    return move


@pytest.mark.parametrize("size", SIZES)
def test_gradient_is_the_slope_of_the_value(size: int) -> None:
    likelihood, strengths = some(size)
    for axis in range(size):
        move = along(size, axis)
        rise = likelihood.value(strengths + move) - likelihood.value(strengths - move)
        assert likelihood.gradient(strengths)[axis] == pytest.approx(rise / 2e-5, abs=1e-7)


@pytest.mark.parametrize("size", SIZES)
def test_information_is_the_fall_of_the_gradient(size: int) -> None:
    likelihood, strengths = some(size)
    for axis in range(size):
        move = along(size, axis)
        rise = likelihood.gradient(strengths + move) - likelihood.gradient(strengths - move)
        assert likelihood.information(strengths)[axis] == pytest.approx(-rise / 2e-5, abs=1e-7)


@pytest.mark.parametrize("size", SIZES)
def test_only_differences_of_strengths_count(size: int) -> None:
    likelihood, strengths = some(size)
    assert likelihood.value(strengths + 3) == pytest.approx(likelihood.value(strengths))
    assert likelihood.gradient(strengths).sum() == pytest.approx(0, abs=1e-12)
    assert likelihood.information(strengths).sum(axis=0) == pytest.approx(np.zeros(size), abs=1e-12)


@pytest.mark.parametrize("size", SIZES)
def test_covariance_inverts_the_information_about_the_mean(size: int) -> None:
    likelihood, strengths = some(size)
    product = likelihood.covariance(strengths) @ likelihood.information(strengths)
    assert product == pytest.approx(np.eye(size) - 1 / size, abs=1e-12)


@pytest.mark.parametrize("size", SIZES)
def test_maximum_is_level_and_nothing_near_is_higher(size: int) -> None:
    likelihood, _ = some(size)
    best = likelihood.maximise()
    assert best.mean() == pytest.approx(0, abs=1e-12)
    assert likelihood.gradient(best) == pytest.approx(np.zeros(size), abs=1e-9)
    for axis in range(size):
        assert likelihood.value(best + along(size, axis, 0.01)) < likelihood.value(best)


@pytest.mark.parametrize("weight", [1, 1e3, 1e6, 1e9])
def test_perfect_records_converge(weight: float) -> None:
    ladder = weight * np.triu(np.ones((4, 4)), 1)
    best = Likelihood(ladder).maximise()
    assert np.isfinite(best).all()
    assert list(np.argsort(-best)) == [0, 1, 2, 3]


def test_perfect_record_of_two_by_hand() -> None:
    """Of strengths d and -d: 2 n (1 - s(2d)) = 2 s(d) - 1, with x = e^d and n = 3 a cubic."""
    best = Likelihood(np.array([[0.0, 3.0], [0.0, 0.0]])).maximise()
    x = np.exp(best[0])
    assert x**3 - x**2 - 5 * x - 7 == pytest.approx(0, abs=1e-8)


def test_without_a_result_all_are_equal() -> None:
    assert Likelihood(np.zeros((3, 3))).maximise().tolist() == [0, 0, 0]
    assert Likelihood(np.zeros((0, 0))).maximise().tolist() == []


def test_chances_are_logistic() -> None:
    table = chances(np.array([np.log(4.0), 0.0]))
    assert table == pytest.approx(np.array([[0.5, 0.8], [0.2, 0.5]]))

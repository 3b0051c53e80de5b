"""The Bradley-Terry model of who beats whom, with a prior (design, section 4, "Ratings").

Strengths are natural log-odds: i is placed ahead of j with probability 1 / (1 + exp(j - i)).
docs/ratings.md derives the formulas.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_PRIOR = 0.5
"""Wins, and as many losses, of every entrant against a phantom rated at the field's mean."""
_STEPS = 100
_TOLERANCE = 1e-9
"""Newton stops when no strength moves by more; the error left is about its square."""


@dataclass(frozen=True, slots=True, eq=False)
class Likelihood:
    """Composite log-likelihood of strengths, in natural log-odds, with the prior.

    `wins[i, j]` is the weight of i's results over j, ties half each way, diagonal 0. Strengths
    count from their own mean: adding a constant to all changes nothing.
    """

    wins: Floats

    def value(self, strengths: Floats) -> float:
        """Log-likelihood of the results plus that of the phantom's."""
        lead = np.subtract.outer(strengths, strengths)
        own = _about_mean(strengths)
        phantom = np.logaddexp(0, own) + np.logaddexp(0, -own)
        return float(-(self.wins * np.logaddexp(0, -lead)).sum() - _PRIOR * phantom.sum())

    def gradient(self, strengths: Floats) -> Floats:
        """First derivatives; they sum to 0."""
        ahead = chances(strengths)
        surplus = self.wins * ahead.T - self.wins.T * ahead
        phantom = -_PRIOR * np.tanh(_about_mean(strengths) / 2)
        result: Floats = surplus.sum(axis=1) + _about_mean(phantom)
        return result

    def information(self, strengths: Floats) -> Floats:
        """Negative second derivatives; rows sum to 0, otherwise positive definite."""
        ahead = chances(strengths)
        off = -(self.wins + self.wins.T) * ahead * ahead.T
        phantom = np.diag(_PRIOR / 2 / np.square(np.cosh(_about_mean(strengths) / 2)))
        result: Floats = off - np.diag(off.sum(axis=1)) + _about_mean(_about_mean(phantom).T)
        return result

    def covariance(self, strengths: Floats) -> Floats:
        """Inverse information of the strengths about their mean; rows sum to 0."""
        share = 1 / max(len(strengths), 1)
        inverse = np.linalg.inv(self.information(strengths) + share)
        return inverse.astype(np.float64) - share

    def maximise(self) -> Floats:
        """Return the strengths, of mean 0, of greatest log-likelihood.

        The function is strictly concave about the mean and falls without bound in every direction
        (the phantom's results see to both), so the maximum is unique, and Newton steps that are
        halved until they gain enough reach it from anywhere. Raises ArithmeticError when they do
        not, which would be a bug.
        """
        strengths: Floats = np.zeros(len(self.wins))
        for _ in range(_STEPS):
            slope = self.gradient(strengths)
            step = self.covariance(strengths) @ slope
            strengths = self._climb(strengths, step, float(slope @ step))
            if np.abs(step).max(initial=0.0) <= _TOLERANCE:
                return _about_mean(strengths)
        raise ArithmeticError(f"ratings did not converge in {_STEPS} Newton steps")

    def _climb(self, strengths: Floats, step: Floats, promised: float) -> Floats:
        """Take the step, halved until it gains a quarter of what its slope promises."""
        start = self.value(strengths)
        rounding = 1e-12 * (1 + abs(start))
        share = 1.0
        while self.value(strengths + share * step) < start + share * promised / 4 - rounding:
            share /= 2
        moved: Floats = strengths + share * step
        return moved


def chances(strengths: Floats) -> Floats:
    """Row i, column j: probability that i is placed ahead of j, exact however small it is."""
    lead = np.subtract.outer(strengths, strengths)
    result: Floats = np.exp(-np.logaddexp(0, -lead))
    return result


def _about_mean(values: Floats) -> Floats:
    """Subtract the mean over the first axis, if there is anything."""
    result: Floats = values - values.sum(axis=0) / max(len(values), 1)
    return result

"""The permutation test on simulated fields: how often it cries wolf, and what it finds."""

import itertools
import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from tests.tournaments.test_schedule import FOUR, TEAMS, THREE, schedule
from tournaments import memory
from tournaments.memory import examine
from tournaments.played import Played
from tournaments.schedule import Schedule

Gain = Callable[[int, int], float]
"""What an entrant (index) gains in a match in a generation."""


def simulated(plan: Schedule, seed: int, gain: Gain = lambda _, __: 0.0) -> list[Played]:
    """Points of the cards (the seat of the block), of skill, of heavy-tailed luck, and a gain."""
    draws = np.random.default_rng(seed)
    matches = []
    for block in plan.blocks():
        cards = draws.normal(0, 12, plan.group_size)
        for each in plan.matches(block):
            who = tuple(seat.entrant for seat in each.seats[: plan.group_size])
            luck = draws.standard_t(3, plan.group_size) * 3
            points = [
                round(float(cards[n] + luck[n]) + 2 * e + gain(e, each.generation))
                for n, e in enumerate(who)
            ]
            places = tuple(1 + sum(other > own for other in points) for own in points)
            played = Played(block.id, each.seating, each.generation, who, places, tuple(points), 10)
            matches.append(played)
    return matches


@pytest.mark.parametrize("rules", [THREE, FOUR, TEAMS])
@pytest.mark.parametrize("rounds", [1, 6])
def test_chance_is_what_it_is_said_to_be(rules: object, rounds: int) -> None:
    """Of honest entrants a hundredth has a p below a hundredth."""
    ps = []
    for seed in range(60):
        plan = schedule(5, rounds, rules, key=seed.to_bytes(32, "big"))  # type: ignore[arg-type]
        ps += [each.p for each in examine(simulated(plan, seed), 5)]
    told = np.array([p for p in ps if p is not None])
    assert len(told) == 300
    for level in (0.5, 0.1, 0.02):
        expected = level * len(told)
        share = (told <= level).sum()
        assert abs(share - expected) < 4.5 * math.sqrt(expected * (1 - level)) + 1


def test_honest_tables_name_nobody() -> None:
    named = 0
    for seed in range(100):
        plan = schedule(5, 2, key=seed.to_bytes(32, "big"))
        named += any(each.found for each in examine(simulated(plan, seed), 5))
    assert named == 0


def test_false_alarms_are_as_rare_as_asked_for() -> None:
    """At a level at which they can be counted: at most a tenth of the tables."""
    named = 0
    for seed in range(120):
        plan = schedule(4, 4, key=(1000 + seed).to_bytes(32, "big"))
        named += any(each.found for each in examine(simulated(plan, seed), 4, alarms=0.1))
    assert named <= 12 + 3 * math.sqrt(12)


@pytest.mark.parametrize("gain", [lambda g: 8.0 * (g > 0), lambda g: 2.5 * g])
def test_a_memory_is_found_and_nobody_else(gain: Callable[[int], float]) -> None:
    """One that knows all after the first generation, and one that learns with each."""

    def of(entrant: int, generation: int) -> float:
        return gain(generation) if entrant == 2 else -gain(generation) / 2

    for seed in range(5):
        plan = schedule(6, 6, key=seed.to_bytes(32, "big"))
        found = [each.found for each in examine(simulated(plan, seed, of), 6)]
        assert found == [False, False, True, False, False, False]


def test_two_memories_are_found() -> None:
    plan = schedule(7, 6)
    played = simulated(plan, 1, lambda entrant, g: 8.0 * (g > 0) * (entrant in (1, 5)))
    assert [n for n, each in enumerate(examine(played, 7)) if each.found] == [1, 5]


def test_what_falls_with_the_generation_is_no_memory() -> None:
    played = simulated(schedule(5, 6), 3, lambda entrant, g: -8.0 * (g > 0) * (entrant == 0))
    first = examine(played, 5)[0]
    assert not first.found
    assert first.p is not None
    assert first.p > 0.99


def test_the_tail_is_that_of_all_allotments() -> None:
    """Against every pair of orders of two blocks, and against drawn ones of twelve."""
    draws = np.random.default_rng(5)
    orders = np.array(list(itertools.permutations(np.log(np.arange(1, 7)))))
    orders -= orders.mean()
    sums = draws.normal(0, 1, (2, 6)) @ orders.T
    every = np.add.outer(sums[0], sums[1]).ravel()
    for level in (0.05, 0.001, 0.0001):
        total = float(np.quantile(every, 1 - level))
        exact = float((every >= total - 1e-9).mean())
        assert memory._tail(sums, total) == pytest.approx(exact, rel=0.25)
    sums = draws.standard_t(2, (12, 6)) @ orders.T
    drawn = sum(draws.choice(row, 400_000) for row in sums)
    for level in (0.05, 0.001):
        total = float(np.quantile(drawn, 1 - level))
        assert memory._tail(sums, total) == pytest.approx(level, rel=0.2)


def test_the_largest_sum_has_the_chance_of_its_orders() -> None:
    sums = np.array([[0.0, 1.0, 2.0, 2.0], [1.0, 0.0, 0.0, 0.0]])
    assert memory._tail(sums, 3.0) == pytest.approx(0.5 * 0.25)


def test_blocks_with_a_forfeit_say_nothing() -> None:
    """A bot that crashes from the third generation on: its opponents' points rise."""
    plan = schedule(3, 12)
    played = simulated(plan, 2, lambda entrant, g: 20.0 * (g > 1) * (entrant > 0))
    assert any(each.found for each in examine(played, 3))
    forfeited = [replace(match, forfeited=match.generation > 1) for match in played]
    assert examine(forfeited, 3) == (memory.Memory(None),) * 3


def test_without_a_block_or_a_difference_there_is_nothing_to_say() -> None:
    assert examine([], 2) == (memory.Memory(None),) * 2
    level = [
        Played(
            match.block, match.seating, match.generation, match.entrants, (1, 1, 1), (5, 5, 5), 10
        )
        for match in simulated(schedule(3, 2), 0)
    ]
    assert examine(level, 3) == (memory.Memory(None),) * 3


def test_the_order_of_the_matches_changes_nothing() -> None:
    played = simulated(schedule(4, 3), 9)
    assert examine(reversed(played), 4) == examine(played, 4)

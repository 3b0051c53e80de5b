"""Everybody equally often, and with everybody about equally, however many groups are taken."""

import random
from collections import Counter
from collections.abc import Sequence
from itertools import combinations, islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tournaments.balance import groups

FARTHEST = 3
"""Meetings that a pair may be from the mean of all pairs."""


def drawn(field: int, seed: int = 0) -> "list[Sequence[int]]":
    draw = random.Random(seed)
    return [draw.sample(range(field), field) for _ in range(2000)]


def taken(field: int, size: int, count: int, seed: int = 0) -> list[tuple[int, ...]]:
    return list(islice(groups(field, size, drawn(field, seed).__getitem__), count))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(2, 4), st.integers(0, 26), st.integers(1, 400), st.integers(0, 99))
def test_after_every_group_the_field_is_balanced(
    size: int, more: int, count: int, seed: int
) -> None:
    field = size + more
    sat = Counter(dict.fromkeys(range(field), 0))
    met = Counter(dict.fromkeys(combinations(range(field), 2), 0))
    for group in taken(field, size, count, seed):
        assert list(group) == sorted(set(group))
        sat.update(group)
        met.update(combinations(group, 2))
        assert max(sat.values()) - min(sat.values()) <= 1
        mean = met.total() / len(met)
        assert mean - FARTHEST < min(met.values())
        assert max(met.values()) < mean + FARTHEST


@pytest.mark.parametrize("size", [2, 3, 4])
@pytest.mark.parametrize("field", [30, 61, 120])
def test_a_large_field_is_balanced_too(field: int, size: int) -> None:
    some = taken(field, size, 4 * field)
    sat = Counter(player for group in some for player in group)
    assert set(sat.values()) == {4 * size}
    met = Counter(pair for group in some for pair in combinations(group, 2))
    mean = 4 * field * size * (size - 1) / (field * (field - 1))
    assert max(met.values()) < mean + FARTHEST


def test_groups_are_a_function_of_what_is_drawn() -> None:
    assert taken(13, 3, 50) == taken(13, 3, 50)
    assert taken(13, 3, 50) != taken(13, 3, 50, seed=1)


def test_too_small_a_field_has_no_groups() -> None:
    assert taken(2, 3, 5) == taken(0, 2, 5) == []


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(2, 4), st.integers(1, 12), st.integers(1, 3), st.integers(0, 60))
def test_newcomers_catch_up_and_then_the_field_is_balanced(
    size: int, more: int, newcomers: int, before: int
) -> None:
    old = size + more
    played = Counter(taken(old, size, before))
    sat = Counter(dict.fromkeys(range(old + newcomers), 0))
    for group, times in played.items():
        sat.update(dict.fromkeys(group, times))
    draw = drawn(old + newcomers).__getitem__
    uneven = max(sat.values()) - min(sat.values())
    for group in islice(groups(old + newcomers, size, draw, played), 200):
        assert len(set(group)) == size
        behind = min(sat.values())
        assert min(sat[n] for n in group) == behind, "somebody who has sat least sits down"
        sat.update(group)
        assert max(sat.values()) - min(sat.values()) <= max(1, uneven)
        uneven = max(sat.values()) - min(sat.values())
    assert uneven <= 1

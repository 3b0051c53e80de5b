"""How large a wave is: by what starting and playing cost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tournaments.test_schedule import few, schedule
from tournaments import estimate, waves
from tournaments.waves import AIM, FIRST_RATIO, RATIO, Speed

speeds = st.builds(Speed, st.floats(1e-3, 1e3), st.floats(1e-3, 10.0))
counts = st.integers(1, 10_000)


def test_a_wave_aims_at_ten_minutes() -> None:
    size = waves.following(10**6, 12, 6, Speed(match=0.1, start=0.125))
    assert (size * 6 * 0.1 + 12 * 6 * 0.125) == pytest.approx(AIM, rel=0.01)


def test_where_starting_is_slow_a_wave_plays_twenty_times_as_long() -> None:
    size = waves.following(10**6, 120, 6, Speed(match=0.1, start=0.125))
    assert size * 6 * 0.1 == pytest.approx(RATIO * 120 * 6 * 0.125, rel=0.01)


def test_the_first_wave_is_cautious() -> None:
    speed = Speed(match=0.04, start=0.125)
    size = waves.first(10**6, 12, 6, speed)
    assert size * 6 * 0.04 == pytest.approx(FIRST_RATIO * 12 * 6 * 0.125, rel=0.01)
    assert size < waves.following(10**6, 12, 6, speed)


@few
@given(counts, counts, st.sampled_from([2, 3, 6]), speeds)
def test_waves_come_out_even_and_none_is_empty(
    left: int, processes: int, seatings: int, speed: Speed
) -> None:
    number = waves.expected(left, processes, seatings, speed)
    sizes = []
    while left:
        sizes.append(waves.following(left, processes, seatings, speed))
        assert 1 <= sizes[-1] <= left
        left -= sizes[-1]
    assert max(sizes) - min(sizes) <= max(1, max(sizes) // 2)
    assert abs(len(sizes) - number) <= max(1, number // 4)


def test_nothing_left_needs_no_wave() -> None:
    speed = Speed(0.1, 0.1)
    assert waves.first(0, 3, 6, speed) == waves.following(0, 3, 6, speed) == 0
    assert waves.expected(0, 3, 6, speed) == 0


def test_twelve_bots_spend_less_than_a_twentieth_of_six_rounds_on_starts() -> None:
    plan = schedule(12, rounds=6)
    started = estimate.starts(plan, 2)
    assert started == (6 + 1) * 12, "the first generation begins cautiously"
    speed = estimate.quick(plan, 2)
    low = estimate.before(plan, 2).low
    assert started * speed.start < 0.05 * low, "with bots that answer at once; others play longer"


def test_a_small_tournament_is_one_wave() -> None:
    assert estimate.starts(schedule(6), 2) == 6 * 6


def test_a_field_larger_than_the_processes_starts_more_often() -> None:
    plan = schedule(120, total=400)
    assert estimate.starts(plan, 2) == 6 * 120
    assert estimate.starts(plan, 2, 24) == 50 * 6 * 24
    whole = schedule(40)
    assert estimate.starts(whole, 2, 16) == 18 * 6 * 16 > estimate.starts(whole, 2)

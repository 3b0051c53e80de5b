"""How long a process that ended waits for the next one."""

from itertools import pairwise

from referee.restarts import LONGEST, YOUNG, Backoff


def test_who_lived_for_a_while_is_started_again_at_once() -> None:
    backoff = Backoff(0.1)
    assert [backoff.pause(lived) for lived in (YOUNG, 3600.0, YOUNG)] == [0.0, 0.0, 0.0]


def test_who_dies_young_again_and_again_waits_twice_as_long_each_time_up_to_a_bound() -> None:
    backoff = Backoff(0.1)
    pauses = [backoff.pause(0.0) for _ in range(50)]
    assert pauses[:4] == [0.1, 0.2, 0.4, 0.8]
    assert all(later >= earlier for earlier, later in pairwise(pauses))
    assert pauses[-1] == LONGEST


def test_a_life_of_some_length_makes_good_for_the_short_ones_before() -> None:
    backoff = Backoff(0.5)
    assert [backoff.pause(lived) for lived in (1.0, 1.0, YOUNG, 1.0)] == [0.5, 1.0, 0.0, 0.5]


def test_without_a_first_pause_there_is_none() -> None:
    assert [Backoff(0.0).pause(0.0) for _ in range(3)] == [0.0, 0.0, 0.0]

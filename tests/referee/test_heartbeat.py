"""The referee's own time (design, section 5), with a clock that the test turns."""

import pytest

from referee.heartbeat import BEAT, SLACK, Heartbeat


class Turned:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_while_it_beats_it_is_the_time_on_the_wall() -> None:
    clock = Turned()
    heart = Heartbeat(clock)
    for _ in range(10):
        clock.now += 2 * BEAT
        assert heart.beat() == heart.now() == pytest.approx(clock.now)


def test_a_stall_is_left_out_with_a_little_more() -> None:
    clock, stalls = Turned(), []
    heart = Heartbeat(clock)
    heart.stalled = lambda: stalls.append(clock.now)
    clock.now += BEAT
    heart.beat()
    clock.now += 7.0
    assert heart.now() == pytest.approx(107.0 + BEAT), "not yet noticed"
    assert heart.beat() == heart.now() == pytest.approx(100.0 + BEAT - SLACK)
    assert stalls == [pytest.approx(107.0 + BEAT)]
    clock.now += BEAT
    assert heart.beat() == pytest.approx(100.0 + 2 * BEAT - SLACK)
    assert len(stalls) == 1


def test_only_beats_count_as_beats() -> None:
    clock = Turned()
    heart = Heartbeat(clock)
    for _ in range(10):
        clock.now += 1.0
        heart.now()
    assert heart.beat() == pytest.approx(100.0 - SLACK)

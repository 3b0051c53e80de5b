"""The clock's rules on numbers alone (design, section 5)."""

import pytest

from referee.clock import GRACE, ProcessClock
from referee.match import ClockRules

RULES = ClockRules(limit=2.0, bank=10.0, increment=0.5)


def clock(size: int = 4, rules: ClockRules = RULES) -> ProcessClock:
    made = ProcessClock(rules)
    made.sent(100.0, size)
    return made


def test_a_message_shares_its_time_among_the_decisions_it_answers() -> None:
    made = clock()
    assert made.answered(103.0, 3) == pytest.approx(1.0)
    assert made.answered(103.5, 1) == pytest.approx(0.5)


def test_an_answer_that_was_stamped_before_the_batch_left_costs_nothing() -> None:
    made = clock()
    assert made.answered(99.9, 1) == 0.0
    assert made.answered(101.0, 1) == pytest.approx(1.0)


def test_what_exceeds_the_limit_comes_from_the_bank_after_the_grace() -> None:
    made = clock()
    assert made.bank_after(10.0, 2.0 + GRACE, 1) == 10.0
    assert made.bank_after(8.0, 5.0 + GRACE, 1) == pytest.approx(8.0 - 3.0 + 0.5)
    assert made.bank_after(8.0, 5.0 + GRACE / 2, 2) == pytest.approx(8.0 - 3.0 + 0.5)


def test_the_increment_never_lifts_the_bank_above_its_start() -> None:
    assert clock().bank_after(9.8, 0.0, 1) == 10.0
    assert clock().bank_after(1.0, 0.0, 1) == 1.5


def test_the_bank_is_never_less_than_nothing() -> None:
    assert clock().bank_after(1.0, 60.0, 1) == 0.5


def test_some_answer_must_come_within_limit_and_smallest_bank() -> None:
    made = clock()
    assert made.deadline([10.0, 4.0, 7.0]) == pytest.approx(100 + 2 + GRACE + 4)
    made.answered(103.0, 1)
    assert made.deadline([10.0, 7.0]) == pytest.approx(103 + 2 + GRACE + 7)


def test_nothing_stays_open_longer_than_limit_times_batch_and_its_bank() -> None:
    made = clock(size=2)
    made.answered(103.9, 1)
    assert made.deadline([1.0]) == pytest.approx(100 + 2 * 2 + GRACE + 1)


def test_silence_counts_from_the_first_late_decision_and_ends_with_any_answer() -> None:
    made = clock()
    assert made.hang_deadline is None
    assert made.late(112.1)[0] == pytest.approx(12.1)
    made.late(115.0)
    assert made.hang_deadline == pytest.approx(112.1 + 4.0)
    made.heard()
    assert made.hang_deadline is None


def test_the_mark_moves_to_the_moment_of_lateness() -> None:
    made = clock()
    made.late(112.1)
    assert made.answered(113.1, 1) == pytest.approx(1.0)


def test_the_hang_limit_can_be_set() -> None:
    made = clock(rules=ClockRules(limit=2.0, hang=7.0))
    made.late(110.0)
    assert made.hang_deadline == pytest.approx(117.0)

"""What time the bots took, as it is worked out from what was kept."""

import pytest

from referee.match import ClockRules
from tournaments.clocks import ClockRow, bank_used, header, table

RULES = ClockRules(limit=2.0, bank=10.0)


def test_a_bank_is_used_by_what_exceeds_limit_and_grace() -> None:
    assert bank_used(RULES, [2_000_000, 2_100_000]) == 0.0
    assert bank_used(RULES, [3_100_000, 500_000, 4_100_000]) == pytest.approx(3.0)
    assert bank_used(RULES, [60_000_000]) == 10.0


def test_an_increment_gives_back_and_the_most_that_was_missing_counts() -> None:
    rules = ClockRules(limit=2.0, bank=10.0, increment=0.5)
    assert bank_used(rules, [5_100_000] + [0] * 20) == pytest.approx(2.5)
    assert bank_used(rules, []) == 0.0


def test_processor_time_has_a_grace_of_its_own() -> None:
    rules = ClockRules(limit=0.1, bank=1.0, measure="cpu")
    assert bank_used(rules, [210_000]) == pytest.approx(0.1)


def test_the_table_says_what_is_measured_and_shows_nothing_for_who_did_not_play() -> None:
    rows = [
        ClockRow(0, "a\x1b", "v", "cpu", 1234, 0.04, 12345.6, 1.5, 20.25, 250.0, 3),
        ClockRow(1, "b", "v", "cpu", 0, None, None, None, None, 0.0, 0),
    ]
    assert "processor time" in header(rows)
    head, first, second = table(rows).splitlines()
    assert head.endswith("bank used  time faults")
    assert first.split() == ["a?", "1,234", "0.04", "12,346", "1.50", "20.2", "250", "3"]
    assert second.split() == ["b", "0", "-", "-", "-", "-", "0.00", "0"]

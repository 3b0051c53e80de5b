import pytest

from tournaments.duration import parse, told


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("30m", 1800), ("2h", 7200), ("1d", 86_400), ("1.5h", 5400), (" 2h ", 7200)],
)
def test_what_people_write(text: str, seconds: float) -> None:
    assert parse(text) == seconds


@pytest.mark.parametrize("text", ["", "2", "h", "2 hours", "-1h", "0s", "0.0d", "1e3s", "2h30m"])
def test_anything_else_is_refused_with_the_mend(text: str) -> None:
    with pytest.raises(ValueError, match="write one like 90s, 30m, 2h or 1d"):
        parse(text)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "1 s"),
        (0.4, "1 s"),
        (59, "59 s"),
        (60, "1 min"),
        (95, "1 min 35 s"),
        (1234, "21 min"),
        (7200, "2 h"),
        (7800, "2 h 10 min"),
        (50_000, "14 h"),
        (86_400, "1 day"),
        (100_000, "1 day 4 h"),
        (5 * 86_400 + 10_000, "5 days 3 h"),
        (40.4 * 86_400, "40 days"),
        (1e9, "11,574 days"),
    ],
)
def test_what_people_are_told(seconds: float, words: str) -> None:
    assert told(seconds) == words

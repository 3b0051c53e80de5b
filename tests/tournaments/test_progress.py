"""What is shown while a run goes on: blocks, speed, time left, leaders."""

import io
import re

import pytest

from tests.tournaments.playing import KEY, play, tournament
from tests.tournaments.results import blocks
from tournaments import progress
from tournaments.board import Board
from tournaments.played import Played
from tournaments.progress import Bar
from tournaments.ratings import rate
from tournaments.schedule import Schedule

NAMES = ["alice", "bob", "carol", "dave"]


def board(matches: list[Played], seatings: int = 2) -> Board:
    made = Board(NAMES, seatings)
    for match in matches:
        made.add(match.block, match.entrants, match.places)
    return made


def test_the_leaders_are_those_of_the_table() -> None:
    matches = blocks("a>b>c a=b>c", "b>c>a c>a=b", "a>c>b a>b>c")
    rated = rate(matches, 3).ratings
    expected = sorted(zip(rated, NAMES, strict=False), reverse=True)  # type: ignore[type-var]
    leaders = board(matches).leaders()
    assert [name for name, _ in leaders] == [name for _, name in expected]
    assert [rating for _, rating in leaders] == pytest.approx([each for each, _ in expected])


def test_teams_and_who_has_not_played() -> None:
    made = board(blocks("a>b a>b", "b>c b>c"))
    assert [name for name, _ in made.leaders()] == ["alice", "bob", "carol"]
    assert [name for name, _ in made.leaders(1)] == ["alice"]
    assert board([]).leaders() == []


def test_blocks_are_open_until_every_seating_is_played() -> None:
    matches = blocks("a>b>c b>a>c", "a>b>c b>a>c")
    seen = []
    made = Board(NAMES, 2)
    for match in (matches[0], matches[2], matches[1], matches[3]):
        made.add(match.block, match.entrants, match.places)
        seen.append((made.complete, made.open))
    assert seen == [(0, 1), (0, 2), (1, 1), (2, 0)]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(file: io.StringIO, schedule: Schedule, budget: float | None = None) -> str:
    """What a bar shows of a whole schedule whose first match was played before."""
    first, *others = [match for block in schedule.blocks() for match in schedule.matches(block)]
    result = play(first)
    before = Played(
        block=first.block.id,
        seating=first.seating,
        generation=first.generation,
        entrants=tuple(seat.entrant for seat in first.seats),
        places=result.places,
        points=result.totals,
        deals=len(result.deals),
    )
    bar = Bar(schedule, NAMES, [before], budget, file)
    for match in others:
        bar.finished(match, play(match))
    bar.say("something happened")
    bar.close()
    return file.getvalue()


@pytest.fixture
def schedule() -> Schedule:
    return tournament(max_deals=1).schedule(KEY, range(4))


def test_plain_lines_where_there_is_no_terminal(
    schedule: Schedule, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "LINE_EVERY", 0.0)
    lines = shown(io.StringIO(), schedule).splitlines()
    assert len(lines) == 23 + 1 + 1
    assert re.fullmatch(
        r"13 of 24 matches, 2 blocks complete, 1 open, [\d,]+ decisions/s, about 1 s left; "
        r"leading so far: \w+ \d+, \w+ \d+, \w+ \d+",
        lines[11],
    )
    assert lines[-2] == "something happened"
    assert re.fullmatch(
        r"24 of 24 matches, 4 blocks complete, 0 open, [\d,]+ decisions/s, \d+\.\d s", lines[-1]
    )


def test_lines_come_now_and_then(schedule: Schedule) -> None:
    assert len(shown(io.StringIO(), schedule).splitlines()) == 2


def test_a_bar_on_a_terminal(schedule: Schedule, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    text = shown(Terminal(), schedule)
    assert "\r" in text
    assert re.search(r"\d+/24 matches, \d blocks? complete, \d open", text)
    assert re.search(r"24 of 24 matches, 4 blocks complete", text)


def test_the_leaders_are_looked_up_now_and_then(
    schedule: Schedule, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "LINE_EVERY", 0.0)
    looks = []
    monkeypatch.setattr(Board, "leaders", lambda self: looks.append(self) or [("alice", 1500.0)])
    shown(io.StringIO(), schedule)
    assert len(looks) == 1


def test_no_more_time_is_left_than_the_budget(
    schedule: Schedule, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "LINE_EVERY", 0.0)
    monkeypatch.setattr(progress, "told", lambda seconds: f"<{seconds:.0f}>")
    assert "about <0> left" in shown(io.StringIO(), schedule, budget=0.0).splitlines()[0]

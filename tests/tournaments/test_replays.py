"""Matches found by name, their deals frame by frame, and as text.

`UPDATE_GOLDEN=1 pytest tests/tournaments/test_replays.py` writes the texts anew; read the
difference.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path

import pytest

from referee.games.registry import GAMES, joined_variants
from referee.games.view import Phase
from tests.tournaments.playing import create, play_all, tournament
from tournaments.export import replays
from tournaments.replay_text import dump, screen
from tournaments.replays import MatchReplay, deal_number, find, replay_of
from tournaments.schedule import group_size
from tournaments.store import Store, StoreError

GOLDEN = Path(__file__).with_name("replays")
VARIANTS = [(game, variant) for game in GAMES for variant in joined_variants(game)]


def stored(
    path: Path, game: str, variant: str = "classic", matches: int | None = None, deals: int = 2
) -> Path:
    """A tournament with some faults and notes, in which so many matches are finished."""
    plan = tournament(game, variant, max_deals=deals)
    store, schedule = create(path, plan, group_size(plan.rules))
    with store:
        list(islice(play_all(store, schedule, faults=0.06), matches))
    return path


@pytest.fixture(scope="module")
def knave(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return stored(tmp_path_factory.mktemp("replays") / "friday.knavery", "knave")


@pytest.fixture
def store(knave: Path) -> Iterator[Store]:
    with Store.open(knave, write=False) as opened:
        yield opened


@pytest.mark.parametrize("game", GAMES)
def test_a_whole_deal_as_text_is_as_it_was(tmp_path: Path, game: str) -> None:
    with Store.open(stored(tmp_path / "x.knavery", game), write=False) as opened:
        match = find(opened, "s1")
    shown = "\n".join(line for n in range(match.count) for line in dump(match.deal(n))) + "\n"
    path = GOLDEN / f"{game}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(shown)
    assert shown == path.read_text()


@pytest.mark.parametrize(("game", "variant"), VARIANTS)
def test_frames_tell_what_export_tells(tmp_path: Path, game: str, variant: str) -> None:
    path = stored(tmp_path / "x.knavery", game, variant, matches=2)
    with Store.open(path, write=False) as opened:
        lines = {(line["match"], line["deal"]): line for line in replays(opened, open_blocks=True)}
        matches = [replay_of(opened, each) for each in opened.matches(open_blocks=True)]
    assert len(lines) == sum(match.count for match in matches) >= 2
    for match in matches:
        for number in range(match.count):
            agree(match, number, lines[match.match.id, number])


def agree(match: MatchReplay, number: int, line: dict) -> None:  # type: ignore[type-arg]
    """One deal's frames against its exported line."""
    replay = match.deal(number)
    chosen = [frame.last for frame in replay.frames if frame.last is not None]
    times = (line["bid_ms"] or []) + [ms for trick in line["tricks"] for ms in trick["ms"]]
    assert [last.ms for last in chosen] == times
    end = replay.frames[-1]
    assert (end.phase, end.turn, end.legal) == (Phase.DONE, None, ())
    assert list(end.won) == line["won"]
    assert list(end.points or ()) == list(replay.scores) == line["scores"]
    assert list(replay.after) == line["totals"]
    assert sum(len(last.faults) for last in chosen) == len(line["faults"])
    assert sum(len(last.notes) for last in chosen) == len(line["notes"])
    complete = [frame for frame in replay.frames if frame.winner is not None]
    assert [frame.winner for frame in complete] == [each["winner"] for each in line["tricks"]]
    assert [frame.leader for frame in complete] == [each["leader"] for each in line["tricks"]]
    assert all(set(last.cards) <= set(last.legal) for last in chosen)
    for before, after in zip(replay.frames, replay.frames[1:], strict=False):
        last = after.last
        assert last is not None
        assert (before.turn, before.legal) == (last.seat, last.legal)
        assert set(before.hands[last.seat]) - set(after.hands[last.seat]) == set(last.cards)


def test_knave_points_come_trick_by_trick(store: Store) -> None:
    points = [frame.points for frame in find(store, "s0").deal(0).frames]
    assert points[0] == (0, 0, 0)
    assert len(set(points)) > 5
    assert all(each is not None for each in points)


def test_a_screen_says_who_knows_what(tmp_path: Path) -> None:
    with Store.open(stored(tmp_path / "x.knavery", "ninety-nine"), write=False) as opened:
        replay = find(opened, "s2").deal(0)
    first, later, last = (screen(replay, step) for step in (0, 4, len(replay.frames) - 1))
    assert "known to seat 0, the dealer, alone" in first[2]
    assert "face down to the others" in later[2]
    assert "turned up" in last[2]
    assert any(line.startswith("points of the deal") for line in last)
    assert all("legal:" in screen(replay, step)[1] for step in range(3, 30))


@pytest.mark.parametrize("name", ["e0/g0-1-2/b0/s4", "s4", "b0/s4", "g0-1-2/s4"])
def test_a_name_may_be_short(store: Store, name: str) -> None:
    assert find(store, name).match.id == "e0/g0-1-2/b0/s4"


WRONG = [
    ("e0/g0-1-2/b0/s9", "no finished match 'e0/g0-1-2/b0/s9': did you mean e0/g0-1-2/b0/s"),
    ("e0/g0-1-3/b0/s4", "did you mean e0/g0-1-2/b0/s4?"),
    ("b0", "'b0' means 6 matches: name one of them in full, as in e0/g0-1-2/b0/s0, "),
    ("", "no finished match ''"),
    ("\x1b[2J", "no finished match '\\x1b[2J'"),
]


@pytest.mark.parametrize(("name", "said"), WRONG)
def test_a_bad_name_is_one_line_with_the_nearest(store: Store, name: str, said: str) -> None:
    with pytest.raises(StoreError) as bad:
        find(store, name)
    assert said in str(bad.value)
    assert "\n" not in str(bad.value)


@pytest.mark.parametrize("deal", ["2", "-1", "", "one", "²", "9" * 5000])
def test_a_deal_that_is_not_there_says_which_are(store: Store, deal: str) -> None:
    match = find(store, "s1")
    with pytest.raises(StoreError, match="its deals are 0 to 1"):
        deal_number(deal, match)
    assert deal_number("1", match) == 1


def test_open_blocks_are_shown_only_when_asked_for(tmp_path: Path) -> None:
    path = stored(tmp_path / "x.knavery", "knave", matches=4)
    with Store.open(path, write=False) as opened:
        name = next(iter(opened.finished_job_ids()))
        with pytest.raises(StoreError, match="--open-blocks"):
            find(opened, name)
        assert find(opened, name, open_blocks=True).match.id == name


def test_what_is_not_finished_says_so(tmp_path: Path) -> None:
    store, schedule = create(tmp_path / "x.knavery", tournament(max_deals=1))
    with store, Store.open(store.path, write=False) as reader:
        with pytest.raises(StoreError, match="no match of it is finished yet"):
            find(reader, "s0")
        wave = list(schedule.blocks())
        (scheduled,) = schedule.generation(wave, 0)
        store.start_attempt(scheduled, store.next_wave())
        with pytest.raises(StoreError, match="has begun and is not finished yet"):
            find(reader, scheduled.job.id)


def test_a_play_of_another_version_is_named(tmp_path: Path) -> None:
    path = stored(tmp_path / "x.knavery", "knave")
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE results SET play = ?", (b"\x07",))
    with (
        Store.open(path, write=False) as opened,
        pytest.raises(StoreError, match="match e0/g0-1-2/b0/s3: play of version 7"),
    ):
        find(opened, "s3")

"""`knavery report`: what is written where, and one line for each thing that can be wrong."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from itertools import islice
from pathlib import Path

import pytest

from tests.tournaments.playing import create, play_all, tournament
from tests.web.files import hostile
from tournaments.cli import main
from tournaments.report import MARKER

Told = Callable[..., str]


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str]) -> Told:
    """The one line with which a report is refused."""

    def run(*words: object) -> str:
        assert main(["report", *map(str, words)]) == 2
        told = capsys.readouterr()
        assert told.out == ""
        assert told.err.startswith("knavery report: ")
        assert told.err.count("\n") == 1
        return told.err

    return run


def file_with(path: Path, matches: int | None, faults: float = 0.01) -> Path:
    """A tournament of three bots with so many of its six matches played."""
    store, schedule = create(path, tournament(max_deals=1))
    with store:
        list(islice(play_all(store, schedule, faults), matches))
    return path


def pages(folder: Path, kind: str = "*") -> set[str]:
    return {path.name for path in folder.glob(f"{kind}.html")}


def test_which_replays(tmp_path: Path) -> None:
    file = file_with(tmp_path / "x.knavery", None)
    with closing(sqlite3.connect(file)) as db:
        ((faulty,),) = db.execute("SELECT count(DISTINCT job) FROM faults")
        assert 0 < faulty < 6
    out = tmp_path / "out"
    for replays, count in (("all", 6), ("faults", faulty), ("sample", 6)):
        assert main(["report", str(file), "-o", str(out), "--replays", replays]) == 0
        assert len(pages(out, "match-*")) == count
    own = pages(out)
    assert {*own, MARKER} == {path.name for path in out.iterdir()}
    assert main(["report", str(file), "-o", str(out), "--replays", "faults"]) == 0
    assert pages(out) < own, "what an older report left is gone"


def test_a_sample_is_bounded_and_has_every_bot(tmp_path: Path) -> None:
    store, schedule = create(tmp_path / "x.knavery", tournament(max_deals=1), 5)
    with store:
        list(play_all(store, schedule))
    assert main(["report", str(store.path), "-o", str(tmp_path / "out")]) == 0
    matches = pages(tmp_path / "out", "match-*")
    assert len(matches) == 30
    groups = {part for name in matches for part in name.split("-g")[1].split("-b")[0].split("-")}
    assert groups == set("01234")


def test_cards_of_open_blocks_are_not_shown(tmp_path: Path) -> None:
    file = file_with(tmp_path / "x.knavery", 4, faults=0.1)
    out = tmp_path / "out"
    assert main(["report", str(file), "-o", str(out), "--replays", "all"]) == 0
    assert not pages(out, "match-*")
    assert "shown when its block is complete" in (out / "faults.html").read_text()
    assert "0 blocks complete, 1 open" in (out / "index.html").read_text()
    assert "No block is complete yet" in (out / "play.html").read_text()
    words = ["report", str(file), "-o", str(out), "--replays", "all", "--open-blocks"]
    assert main(words) == 0
    assert len(pages(out, "match-*")) == 4


def test_an_empty_tournament_says_so_on_every_page(tmp_path: Path) -> None:
    file = file_with(tmp_path / "x.knavery", 0)
    out = tmp_path / "out"
    assert main(["report", str(file), "-o", str(out)]) == 0
    for name, words in {
        "index.html": "no match is finished yet",
        "meetings.html": "No match is finished yet",
        "play.html": "No block is complete yet",
        "matches.html": "No match is finished yet",
        "faults.html": "There is no fault",
        "bot-0.html": "It has met nobody yet",
    }.items():
        assert words in (out / name).read_text(), name


def test_a_tournament_that_is_being_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    store, schedule = create(tmp_path / "x.knavery", tournament(max_deals=1))
    monkeypatch.chdir(tmp_path)
    with store:
        for number, _ in enumerate(play_all(store, schedule)):
            if number in (2, 5):
                assert main(["report", "x.knavery"]) == 0
    assert (tmp_path / "x-report" / "index.html").exists()
    assert capsys.readouterr().out.count("x-report/index.html: ") == 2


def test_a_folder_with_other_things_in_it_is_left_alone(tmp_path: Path, refused: Told) -> None:
    file = file_with(tmp_path / "x.knavery", 0)
    assert "holds other files" in refused(file, "-o", tmp_path)
    assert not (tmp_path / "index.html").exists()
    assert "is a file" in refused(file, "-o", file)


def test_only_pages_are_ever_removed(tmp_path: Path) -> None:
    file = file_with(tmp_path / "x.knavery", 0)
    out = tmp_path / "out"
    out.mkdir()
    (out / MARKER).write_text("../x.knavery\nmine.txt\nold.html\n")
    for name in ("mine.txt", "old.html"):
        (out / name).touch()
    assert main(["report", str(file), "-o", str(out)]) == 0
    assert file.exists()
    assert (out / "mine.txt").exists()
    assert not (out / "old.html").exists()


def test_where_nothing_can_be_written(tmp_path: Path, refused: Told) -> None:
    file = file_with(tmp_path / "x.knavery", 0)
    assert "cannot be written" in refused(file, "-o", "/proc/nowhere/out")
    if os.geteuid() != 0:
        closed = tmp_path / "closed"
        closed.mkdir(mode=0o500)
        assert "cannot be written" in refused(file, "-o", closed / "out")


def test_files_that_are_none(tmp_path: Path, refused: Told) -> None:
    assert "no such file" in refused(tmp_path / "none.knavery", "-o", tmp_path / "out")
    (tmp_path / "text.knavery").write_text("hello" * 1000)
    assert "not a Knavery file" in refused(tmp_path / "text.knavery", "-o", tmp_path / "out")
    file = file_with(tmp_path / "x.knavery", 0)
    told = refused(file, "-o", tmp_path / "out", "--anchor", "alise")
    assert "no entrant is called 'alise': did you mean alice?" in told
    assert not (tmp_path / "out").exists(), "nothing is left of a report that could not be made"


def test_names_of_bots_reach_no_terminal_as_they_are(tmp_path: Path, refused: Told) -> None:
    told = refused(hostile(tmp_path / "x.knavery", 0), "--anchor", "nobody")
    assert told[:-1].isprintable()
    assert "red" in told


def test_play_of_another_version(tmp_path: Path, refused: Told) -> None:
    file = file_with(tmp_path / "x.knavery", None)
    with closing(sqlite3.connect(file)) as db:
        (play,) = db.execute("SELECT play FROM results WHERE job = 3").fetchone()
        db.execute("UPDATE results SET play = ? WHERE job = 3", (b"\x63" + play[1:],))
        db.commit()
    assert "this Knavery reads version" in refused(file, "-o", tmp_path / "out")

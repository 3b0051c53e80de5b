"""`knavery verify`: its three answers, and what it prints with each."""

import json
import sqlite3
from contextlib import closing
from itertools import islice
from pathlib import Path

import pytest

from tests.cli.conftest import Knavery
from tests.tournaments.playing import create, play_all, tournament


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A tournament of six matches, four of them finished."""
    path = tmp_path / "friday.knavery"
    store, schedule = create(path, tournament(max_deals=2))
    with store:
        assert len(list(islice(play_all(store, schedule, faults=0.02), 4))) == 4
    return path


def spoil(file: Path, sql: str) -> None:
    with closing(sqlite3.connect(file)) as db, db:
        db.execute(sql)


def test_what_agrees_is_said_part_by_part(knavery: Knavery, file: Path) -> None:
    done = knavery("verify", file.name)
    assert (done.returncode, done.stderr) == (0, "")
    first, *lines = done.stdout.splitlines()
    assert first == "friday.knavery agrees with its key and its rules"
    parts = [line.split()[0] for line in lines]
    assert parts == ["epoch", "schedule", "attempts", "ledger", "play", "results", "missing"]
    assert "4 of 6 matches are finished" in lines[0]
    assert "8 deals dealt from the key" in done.stdout
    assert "2 matches are still to be played" in lines[-1]


def test_the_same_as_json(knavery: Knavery, file: Path) -> None:
    data = json.loads(knavery("verify", file.name, "--json").stdout)
    assert data["format"] == "knavery.verify/1"
    assert (data["agrees"], data["problem"], data["deals"]) == (True, None, 8)
    assert data["attempts"] == {"done": 4, "void": 0, "abandoned": 0, "open": 0}
    (epoch,) = data["epochs"]
    assert (epoch["finished"], epoch["missing"], len(epoch["commitment"])) == (4, 2, 64)


def test_the_first_disagreement_is_named(knavery: Knavery, file: Path) -> None:
    spoil(file, "UPDATE results SET totals = '[1,2,4]' WHERE job = 2")
    done = knavery("verify", file.name)
    assert (done.returncode, done.stderr) == (1, "")
    (line,) = done.stdout.splitlines()
    assert line.startswith("friday.knavery does not agree: match e0/g0-1-2/b0/s")
    assert "totals: 1, 2, 4 is kept, " in line
    as_json = knavery("verify", file.name, "--json")
    assert as_json.returncode == 1
    assert line.endswith(json.loads(as_json.stdout)["problem"])


def test_a_damaged_file_is_one_line(knavery: Knavery, file: Path) -> None:
    raw = bytearray(file.read_bytes())
    raw[8192:16384] = bytes(8192)
    file.write_bytes(raw)
    done = knavery("verify", file.name)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "knavery verify: friday.knavery: is damaged: go back to a copy of it\n"


@pytest.mark.parametrize("content", [None, b"", b"some text " * 1000])
def test_what_is_no_tournament_is_one_line(
    knavery: Knavery, tmp_path: Path, content: bytes | None
) -> None:
    if content is not None:
        (tmp_path / "x.knavery").write_bytes(content)
    done = knavery("verify", "x.knavery")
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("knavery verify: x.knavery: ")


def test_a_file_that_is_being_written_can_be_verified(knavery: Knavery, tmp_path: Path) -> None:
    store, schedule = create(tmp_path / "x.knavery", tournament(max_deals=1))
    with store:
        list(islice(play_all(store, schedule), 2))
        done = knavery("verify", "x.knavery")
    assert (done.returncode, done.stderr) == (0, "")
    assert "4 matches are still to be played" in done.stdout

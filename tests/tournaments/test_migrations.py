"""Files of every schema there has been open, and what is no such file is refused in one line."""

import gzip
import os
import sqlite3
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.tournaments.playing import create, play_all, tournament
from tournaments import migrations
from tournaments.kept import KeptMatch
from tournaments.migrations import FIRST, SCHEMA_VERSION, objection, script, upgrade
from tournaments.plain import settings
from tournaments.store import Store, StoreError
from tournaments.table import computed
from tournaments.verify import verify

FILES = Path(__file__).with_name("files")
VERSIONS = sorted(FILES.glob("version-*.knavery.gz"))


def unpacked(file: Path, folder: Path) -> Path:
    path = folder / "friday.knavery"
    path.write_bytes(gzip.decompress(file.read_bytes()))
    return path


def version(path: Path) -> int:
    db = sqlite3.connect(path)
    (number,) = db.execute("PRAGMA user_version").fetchone()
    db.close()
    return int(number)


def test_a_file_of_every_version_is_kept() -> None:
    known = {f"version-{n}.knavery.gz" for n in range(FIRST, SCHEMA_VERSION)} | {
        "version-1.knavery.gz"
    }
    assert known <= {path.name for path in VERSIONS}


@pytest.mark.parametrize("file", VERSIONS, ids=lambda file: file.name)
def test_a_file_of_every_version_is_read_verified_and_goes_on(file: Path, tmp_path: Path) -> None:
    path = unpacked(file, tmp_path)
    before = path.read_bytes()
    with Store.open(path, write=False) as store:
        report = verify(store)
        table = computed(store).rows
        assert (store.tally().void_attempts, store.tally().abandoned_attempts) == (1, 1)
    assert report.problem is None
    assert [epoch.finished for epoch in report.epochs] == [6, 18]
    assert path.read_bytes() == before
    with Store.open(path, write=True) as store:
        assert verify(store) == report
        assert computed(store).rows == table
        assert store.suspended(1) == {3}
        store.crash(store.add_process(0, store.next_wave(), 0), "exit 1")
    assert version(path) == SCHEMA_VERSION
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


LATER = """
-- What a version 2 could be.
ALTER TABLE sessions ADD COLUMN weather TEXT;
CREATE TABLE visitors (visitor INTEGER PRIMARY KEY, name TEXT NOT NULL);
"""


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Knavery that knows one more version than this one."""
    known = script
    monkeypatch.setattr(migrations, "SCHEMA_VERSION", SCHEMA_VERSION + 1)
    monkeypatch.setattr(
        migrations, "script", lambda n: LATER if n == SCHEMA_VERSION + 1 else known(n)
    )


@pytest.mark.usefixtures("two")
def test_an_older_file_is_brought_up_when_it_is_written_and_read_as_if_it_were(
    tmp_path: Path,
) -> None:
    path = unpacked(VERSIONS[-1], tmp_path)
    was = version(path)
    with Store.open(path, write=False) as store:
        assert verify(store).problem is None
        assert store._rows("SELECT count(*) FROM visitors").__next__()[0] == 0
        with pytest.raises(StoreError, match="cannot be written"):
            store.publish(0)
    assert version(path) == was
    with Store.open(path, write=True) as store:
        assert verify(store).problem is None
    assert version(path) == SCHEMA_VERSION + 1
    other = tmp_path / "new.knavery"
    create(other, tournament(max_deals=1))[0].close()
    assert version(other) == SCHEMA_VERSION + 1


@pytest.mark.usefixtures("two")
def test_a_step_that_fails_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = unpacked(VERSIONS[-1], tmp_path)
    was = version(path)
    step = migrations.script
    broken = LATER + "INSERT INTO nowhere VALUES (1);"
    monkeypatch.setattr(
        migrations, "script", lambda n: broken if n == SCHEMA_VERSION + 1 else step(n)
    )
    with pytest.raises(StoreError, match="cannot be used: no such table: nowhere"):
        Store.open(path, write=True)
    assert version(path) == was
    monkeypatch.undo()
    with Store.open(path, write=True) as store:
        assert verify(store).problem is None


def test_the_newest_version_needs_no_step() -> None:
    assert upgrade(SCHEMA_VERSION) == ""
    assert objection(SCHEMA_VERSION) is None
    assert script(FIRST) in upgrade(0)


@dataclass(frozen=True)
class _Settings:
    old: int = 1
    new: int = field(default=2, metadata={"later": True})


def test_a_later_setting_is_written_only_where_it_differs() -> None:
    assert settings(_Settings(old=1)) == {"old": 1}
    assert settings(_Settings(new=3)) == {"old": 1, "new": 3}


def refusals(path: Path) -> set[str]:
    """Why a file cannot be read, or written: each one line that names it."""
    lines = set()
    for write in (False, True):
        with pytest.raises(StoreError) as caught:
            read(path, write=write)
        line = str(caught.value)
        assert "\n" not in line
        assert line.startswith(f"{path}: ")
        lines.add(line.removeprefix(f"{path}: "))
    return lines


def read(path: Path, *, write: bool = False) -> tuple[str | None, list[KeptMatch]]:
    """What `verify` finds in a file, and its matches."""
    with Store.open(path, write=write) as store:
        return verify(store).problem, list(store.matches(open_blocks=True))


@pytest.mark.parametrize(
    ("number", "why"),
    [
        (SCHEMA_VERSION + 1, "use the Knavery that wrote it, or a newer one"),
        (9999, "use the Knavery that wrote it, or a newer one"),
        (0, "has schema 0, which no Knavery wrote: go back to a copy of it"),
        (-1, "has schema -1, which no Knavery wrote: go back to a copy of it"),
    ],
)
def test_unknown_versions_are_refused_and_left_alone(tmp_path: Path, number: int, why: str) -> None:
    path = unpacked(VERSIONS[-1], tmp_path)
    db = sqlite3.connect(path)
    db.execute(f"PRAGMA user_version = {number}")
    db.close()
    before = path.read_bytes()
    (line,) = refusals(path)
    assert line.endswith(why)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "content",
    [b"", b"\n", b"name,rating\nalice,1500\n" * 400, bytes(8192), b"SQLite format 3\0", os.urandom],
    ids=["empty", "a line", "text", "zeros", "the first bytes only", "noise"],
)
def test_files_of_others_are_refused_and_left_alone(tmp_path: Path, content: object) -> None:
    path = tmp_path / "friday.knavery"
    data = content if isinstance(content, bytes) else os.urandom(20_000)
    path.write_bytes(data)
    assert refusals(path) == {"is not a Knavery file"}
    assert path.read_bytes() == data
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_the_sqlite_file_of_another_program_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "places.sqlite"
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version = 1")
    db.execute("CREATE TABLE tournament (one)")
    db.close()
    assert refusals(path) == {"is not a Knavery file"}


def test_a_truncated_file_is_said_to_be_damaged(tmp_path: Path) -> None:
    path = unpacked(VERSIONS[-1], tmp_path)
    whole = path.read_bytes()
    for size in range(1024, len(whole), 4999):
        path.write_bytes(whole[:size])
        assert refusals(path) == {"is damaged: go back to a copy of it"}, size
    for size in (1, 99, 511):
        path.write_bytes(whole[:size])
        either = {"is not a Knavery file", "is damaged: go back to a copy of it"}
        assert refusals(path) <= either, size


def test_a_corrupted_file_is_found_out_unless_nothing_it_holds_has_changed(tmp_path: Path) -> None:
    path = unpacked(VERSIONS[-1], tmp_path)
    whole, facts = path.read_bytes(), read(path)
    found = 0
    for start in range(100, len(whole) - 200, 3301):
        end = start + 200
        other = bytes(byte ^ 0x5A for byte in whole[start:end])
        path.write_bytes(whole[:start] + other + whole[end:])
        try:
            now = read(path)
        except StoreError as exc:
            now = str(exc), []
        assert now == facts or (now[0] and "\n" not in now[0])
        found += now != facts
    assert found > 5


def test_what_a_file_does_not_hold_is_not_missed(tmp_path: Path) -> None:
    """A file that was begun and never played is whole."""
    path = tmp_path / "new.knavery"
    create(path, tournament(max_deals=1))[0].close()
    with Store.open(path, write=True) as store:
        schedule = store.tournament().schedule(store.master_key(), (0, 1, 2))
        assert len(list(play_all(store, schedule))) == 6
        assert verify(store).problem is None

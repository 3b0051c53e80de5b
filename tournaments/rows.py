"""A tournament's file as SQLite sees it: how it is made and opened, transactions, and SQLite's
errors in our words. What its rows mean is in tournaments/store.py.
"""

import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import quote

from referee.match import RefereeBug
from tournaments.config import Tournament, to_plain
from tournaments.kept import entrant_row
from tournaments.migrations import objection, upgrade
from tournaments.ownership import OwnedError, Ownership
from tournaments.plain import canonical
from tournaments.schedule import Entrant

APPLICATION_ID: Final = 0x4B4E4156
"""The letters KNAV, in the header of every file."""

_BUSY_SECONDS = 5.0
_FOLD_SECONDS = 0.2
_FOLD_PATIENCE = 2.0
_FOLD_AGAIN = 0.05
_PLACE = ("epoch", "group", "block", "seating")
_TROUBLES: Final = {
    sqlite3.SQLITE_NOTADB: "is not a Knavery file",
    sqlite3.SQLITE_CORRUPT: "is damaged: go back to a copy of it",
    sqlite3.SQLITE_FULL: "the disk is full: free some space, then `knavery resume` goes on",
    sqlite3.SQLITE_READONLY: "cannot be written: look at the permissions of file and folder",
    sqlite3.SQLITE_PERM: "cannot be written: look at the permissions of file and folder",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened: look at the permissions of file and folder",
    sqlite3.SQLITE_BUSY: "is locked by another program: end that and try again",
    sqlite3.SQLITE_LOCKED: "is locked by another program: end that and try again",
    sqlite3.SQLITE_IOERR: "the disk cannot be read or written: look after it, then resume",
}
_TABLES = "SELECT name, sql FROM sqlite_schema ORDER BY name"
_FOREIGN = """
SELECT tables.name, group_concat(
    printf('typeof("%s") NOT IN (''null'', ''%s'')', columns.name, lower(columns.type)), ' OR ')
FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns
WHERE tables.type = 'table' GROUP BY 1
"""

T = TypeVar("T")


class StoreError(Exception):
    """The file cannot be used; the message is one line saying which, why, and what to do."""


class Rows:
    """An open file: its rows, and changes in transactions of their own. Used by one thread at a
    time."""

    def __init__(self, path: Path, mode: str) -> None:
        """`mode` is "ro" to read an existing file, "rw" to write it."""
        self.path = path
        self._db = _connect(path, mode)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """While it lasts the file is read as it was at one moment, though another process may
        write it. StoreError if the file itself is damaged."""
        self._row("BEGIN")
        try:
            if not self._is_whole():
                raise self._damaged()
            yield
        finally:
            if self._db.in_transaction:
                self._row("ROLLBACK")

    def _is_whole(self) -> bool:
        """Whether pages, references, tables and the types of all values are as they should be."""
        if self._one("PRAGMA integrity_check(1)") != "ok" or self._row("PRAGMA foreign_key_check"):
            return False
        if [tuple(row) for row in self._rows(_TABLES)] != _tables():
            return False
        foreign = (f"SELECT 1 FROM {table} WHERE {test}" for table, test in self._rows(_FOREIGN))
        return not any(self._row(f"{query} LIMIT 1") for query in foreign)

    @contextmanager
    def _change(self, what: str) -> Iterator[None]:
        """One transaction; `what` says in an error what was going on."""
        with translated(self.path, what):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    def _damaged(self) -> StoreError:
        return StoreError(f"{self.path}: {_TROUBLES[sqlite3.SQLITE_CORRUPT]}")

    def _insert(self, table: str, values: Sequence[object]) -> int:
        marks = ", ".join("?" * len(values))
        cursor = self._db.execute(f"INSERT INTO {table} VALUES ({marks})", values)
        return int(cursor.lastrowid or 0)

    def _rows(self, sql: str, *parameters: object) -> Iterator[Any]:
        with translated(self.path):
            yield from iter(self._db.execute(sql, parameters).fetchone, None)

    def _row(self, sql: str, *parameters: object) -> Any:
        with translated(self.path):
            return self._db.execute(sql, parameters).fetchone()

    def _one(self, sql: str, *parameters: object) -> Any:
        row = self._row(sql, *parameters)
        if row is None:
            raise self._damaged()
        return row[0]

    def _value(self, read: Callable[[Any], T], row: Any) -> T:
        """The value that a row holds; StoreError where it holds none."""
        try:
            return read(row)
        except (ValueError, LookupError, TypeError, AttributeError) as exc:
            where = ", ".join(f"{key} {n}" for key, n in dict(row).items() if key in _PLACE)
            raise StoreError(f"{self.path}: is damaged: {where}: {exc}") from exc


@contextmanager
def owning(path: Path) -> Iterator[Ownership]:
    """The right to write a file, given back if what follows fails."""
    try:
        owner = Ownership(path)
    except OwnedError as exc:
        raise StoreError(f"{path}: is being written by {exc}: wait for its end, or end it") from exc
    except OSError as exc:
        raise StoreError(f"{path}: cannot be written: {exc.strerror}") from exc
    try:
        yield owner
    except BaseException:
        owner.release()
        raise


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    """A connection to a file ("ro" to read it, "rw" to write it), or StoreError.

    A file of an older schema is brought up to this one; when it is only read, a copy of it in
    memory is, and it stays as it is."""
    if path.suffix == ".toml" and path.is_file():
        raise StoreError(f"{path}: is a configuration: `knavery run {path}` plays it to a file")
    with translated(path):
        db = sqlite3.connect(
            f"file:{quote(str(path.absolute()))}?mode={mode}",
            uri=True,
            timeout=_BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            lacking = upgrade(_version(path, db))
            if lacking and mode == "ro":
                db = _copied(db)
            if mode == "rw":
                db.execute("PRAGMA journal_mode = WAL")
                db.execute("PRAGMA synchronous = NORMAL")
            if lacking:
                db.executescript(f"{lacking} COMMIT")
            db.execute(f"PRAGMA query_only = {int(mode == 'ro')}")
            db.execute("PRAGMA foreign_keys = ON")
        except BaseException:
            db.close()
            raise
    db.row_factory = sqlite3.Row
    return db


def _version(path: Path, db: sqlite3.Connection) -> int:
    """The schema of a file; StoreError if it is none that can be opened."""
    (application,) = db.execute("PRAGMA application_id").fetchone()
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION_ID:
        raise StoreError(f"{path}: {_TROUBLES[sqlite3.SQLITE_NOTADB]}")
    if why := objection(version):
        raise StoreError(f"{path}: {why}")
    return int(version)


def _copied(db: sqlite3.Connection) -> sqlite3.Connection:
    """The same in memory; closes the file."""
    copy = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    with closing(db):
        db.backup(copy)
    return copy


def build(
    path: Path,
    tournament: Tournament,
    master_key: bytes,
    entrants: Sequence[Entrant],
    commitment: str,
) -> None:
    """The whole file or none: it is made beside its place and then put there."""
    new = path.with_name(path.name + "-new")
    new.unlink(missing_ok=True)
    new.touch(mode=0o600)  # it holds the key
    try:
        with closing(sqlite3.connect(new, isolation_level=None)) as db:
            _fill(db, tournament, master_key, entrants, commitment)
        new.rename(path)
    finally:
        new.unlink(missing_ok=True)


def _tables() -> list[tuple[str, str | None]]:
    """What `_TABLES` gives in a file that is as it should be."""
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(upgrade(0))
        return db.execute(_TABLES).fetchall()


def _fill(
    db: sqlite3.Connection,
    tournament: Tournament,
    master_key: bytes,
    entrants: Sequence[Entrant],
    commitment: str,
) -> None:
    db.executescript(upgrade(0))
    now = time.time()
    db.execute("INSERT INTO tournament VALUES (0, ?, ?)", (master_key, now))
    insert_entrants(db, 0, entrants)
    insert_epoch(db, 0, tournament, range(len(entrants)), commitment, now)
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute("COMMIT")


def insert_entrants(db: sqlite3.Connection, first: int, entrants: Sequence[Entrant]) -> None:
    """Entrants from this index on."""
    db.executemany(
        "INSERT INTO entrants VALUES (?, ?, ?, ?, ?)",
        [(n, *entrant_row(entrant)) for n, entrant in enumerate(entrants, first)],
    )


def insert_epoch(
    db: sqlite3.Connection,
    number: int,
    tournament: Tournament,
    field: Iterable[int],
    commitment: str,
    started: float,
) -> None:
    """An epoch of a field (indices of entrants); `started` is in seconds since 1970."""
    config, members = canonical(to_plain(tournament)), canonical(list(field))
    db.execute(
        "INSERT INTO epochs VALUES (?, ?, ?, ?, ?, NULL)",
        (number, config, members, commitment, started),
    )


def fold(path: Path) -> None:
    """Put the log of changes into the file and end it, unless somebody is reading."""
    there = f"file:{quote(str(path.absolute()))}?mode=rw"
    give_up = time.monotonic() + _FOLD_PATIENCE
    while True:
        with (
            suppress(sqlite3.Error),
            closing(sqlite3.connect(there, uri=True, timeout=_FOLD_SECONDS)) as db,
        ):
            db.execute("PRAGMA journal_mode = DELETE")
        if not path.with_name(f"{path.name}-wal").exists() or time.monotonic() > give_up:
            return
        time.sleep(_FOLD_AGAIN)


@contextmanager
def translated(path: Path, what: str = "it is read") -> Iterator[None]:
    """SQLite's errors in our words: RefereeBug for what the schema forbids, else StoreError."""
    try:
        yield
    except sqlite3.IntegrityError as exc:
        raise RefereeBug(f"{path}: as {what}: {exc}") from exc
    except sqlite3.ProgrammingError:
        raise
    except UnicodeDecodeError as exc:
        raise StoreError(f"{path}: {_TROUBLES[sqlite3.SQLITE_CORRUPT]}") from exc
    except sqlite3.Error as exc:  # those without a code are Python's, about undecodable text
        code = getattr(exc, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
        raise StoreError(f"{path}: {_TROUBLES.get(code, f'cannot be used: {exc}')}") from exc


def sqlite_version() -> str:
    """The version of the SQLite that is in use, as "3.40.1"."""
    return sqlite3.sqlite_version

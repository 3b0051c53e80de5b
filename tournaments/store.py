"""A tournament's file: how it is begun, opened and written. What it tells is in
tournaments/reading.py, what is the same for any file in tournaments/rows.py.

The file holds facts (schema.sql; design, section 7). While it is written it belongs to one
process and others may read it; closed, it is one file. Each change is one transaction, and a
finished match is saved once whatever happens in between.
"""

import os
import stat
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Self

from referee.match import MatchResult, RefereeBug
from tournaments.config import Tournament
from tournaments.kept import digest, fault_row, note_row
from tournaments.machine import machine, software
from tournaments.migrations import SCHEMA_VERSION
from tournaments.ownership import Ownership
from tournaments.plain import canonical, command
from tournaments.playblob import encode
from tournaments.reading import Reading
from tournaments.rows import (
    APPLICATION_ID,
    StoreError,
    build,
    fold,
    insert_entrants,
    insert_epoch,
    owning,
    translated,
)
from tournaments.schedule import Entrant, Scheduled

__all__ = ["APPLICATION_ID", "SCHEMA_VERSION", "Store", "StoreError"]


class Store(Reading):
    """An open file. Used by one thread at a time; a context manager that closes it."""

    def __init__(self, path: Path, owner: Ownership | None = None) -> None:
        """For `create` and `open`, which see that there is a file, and whose it is."""
        super().__init__(path, "rw" if owner else "ro")
        self._owner = owner
        self._session = 0

    @classmethod
    def create(
        cls,
        path: Path,
        tournament: Tournament,
        master_key: bytes,
        entrants: Sequence[Entrant],
        commitment: str,
        sandbox: str = "off",
    ) -> Self:
        """A new file for a tournament's first epoch, in which all entrants play; open to write.

        `commitment` is the epoch's (`schedule.commitment`). StoreError if the path is taken.
        """
        with owning(path) as owner:
            if path.exists():
                raise StoreError(
                    f"{path}: exists already: go on with {command('knavery', 'resume', path)}, "
                    "or name another file with -o"
                )
            with translated(path):
                build(path, tournament, master_key, entrants, commitment)
            return cls(path, owner)._begin(sandbox)

    @classmethod
    def open(cls, path: Path, *, write: bool, sandbox: str = "off") -> Self:
        """An existing file, to read it (also while another process writes it) or to go on."""
        _require_file(path)
        if not write:
            return cls(path)
        with owning(path) as owner:
            return cls(path, owner)._begin(sandbox)

    def _begin(self, sandbox: str) -> Self:
        try:
            clock = self.tournament().clock.measure
            facts = (canonical(software()), canonical(machine()), sandbox, clock)
            with self._change("a session begins"):
                self._session = self._insert(
                    "sessions (started, pid, software, machine, sandbox, clock)",
                    (time.time(), os.getpid(), *facts),
                )
        except BaseException:
            self._db.close()
            raise
        return self

    def close(self) -> None:
        """Leave one file, unless somebody is reading it just now."""
        owner, self._owner = self._owner, None
        try:
            if owner:
                with self._change("a session ends"):
                    ended = (time.time(), self._session)
                    self._db.execute("UPDATE sessions SET ended = ? WHERE session = ?", ended)
        finally:
            self._db.close()
            if owner:
                fold(self.path)
                owner.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def add_epoch(
        self,
        tournament: Tournament,
        added: Sequence[Entrant],
        field: Iterable[int],
        commitment: str,
    ) -> None:
        """Begin the next epoch, with entrants that are new to the file, and end the one before:
        none of its deals is played any more, so its key may be shown."""
        with self._change("an epoch begins"):
            now = time.time()
            self._db.execute("UPDATE epochs SET published = coalesce(published, ?)", (now,))
            insert_entrants(self._db, self._one("SELECT count(*) FROM entrants"), added)
            number = self._one("SELECT max(epoch) + 1 FROM epochs")
            insert_epoch(self._db, number, tournament, field, commitment, now)

    def relocate(self, entrant: int, source: str, run: Sequence[str]) -> None:
        """Note where the same version of an entrant lies now."""
        with self._change("an entrant has moved"):
            self._db.execute(
                "UPDATE entrants SET source = ?, run = ? WHERE entrant = ?",
                (source, canonical(run), entrant),
            )

    def publish(self, epoch: int) -> None:
        """Note that the epoch's last deal is over, so that its key may be shown."""
        with self._change("an epoch ends"):
            self._db.execute(
                "UPDATE epochs SET published = coalesce(published, ?) WHERE epoch = ?",
                (time.time(), epoch),
            )

    def add_process(
        self, entrant: int, wave: int, generation: int, member: int = 0, restart: int = 0
    ) -> int:
        """The number of a process that is about to be started; RefereeBug if it has been."""
        with self._change("a process starts"):
            return self._insert(
                "processes (session, entrant, wave, generation, member, restart, started)",
                (self._session, entrant, wave, generation, member, restart, time.time()),
            )

    def record_deals(self, process: int, *deals_ids: str) -> None:
        """Write in the ledger that a process is to meet these deals, before it is sent any view
        of them; RefereeBug if it has met one of them."""
        with self._change(f"process {process} meets deals"):
            self._db.executemany(
                "INSERT INTO ledger (process, deals) VALUES (?, ?)",
                [(process, deals) for deals in deals_ids],
            )

    def crash(self, process: int, cause: str) -> None:
        """Note that a process ended when it should not have."""
        with self._change("a process crashed"):
            self._insert("crashes (process, happened, cause)", (process, time.time(), cause))

    def suspend(self, entrant: int, epoch: int, cause: str) -> None:
        """Note that an entrant plays no more in an epoch."""
        with self._change("an entrant is suspended"):
            self._insert(
                "suspensions (entrant, epoch, happened, cause)",
                (entrant, epoch, time.time(), cause),
            )

    def start_attempt(self, scheduled: Scheduled, wave: int) -> int:
        """The number of an attempt at a match that has no result and no other attempt open."""
        job, block = scheduled.job, scheduled.block
        with self._change(f"{job.id} starts"):
            seats = canonical([seat.entrant for seat in scheduled.seats])
            place = (block.epoch, block.group_name, block.number, scheduled.seating)
            self._db.execute(
                'INSERT INTO jobs (epoch, "group", block, seating, generation, public_id, entrants)'
                ' VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (epoch, block, "group", seating)'
                " DO NOTHING",
                (*place, scheduled.generation, job.public_id, seats),
            )
            row = self._row_of(scheduled)
            if self._one("SELECT count(*) FROM results WHERE job = ?", row):
                raise RefereeBug(f"{job.id} is started, but it is finished")
            number = self._one("SELECT count(*) FROM attempts WHERE job = ?", row)
            if scheduled.attempt not in (None, number):
                raise RefereeBug(f"{job.id} is dealt for attempt {scheduled.attempt}, not {number}")
            return self._insert(
                "attempts (job, number, session, wave, started)",
                (row, number, self._session, wave, time.time()),
            )

    def save(self, attempt: int, scheduled: Scheduled, result: MatchResult) -> None:
        """Keep a finished match. Again with the same result: nothing; with another: RefereeBug."""
        self.save_many([(attempt, scheduled, result)])

    def save_many(self, finished: Iterable[tuple[int, Scheduled, MatchResult]]) -> None:
        """Keep several finished matches, all or none."""
        with self._change("matches are saved"):
            for attempt, scheduled, result in finished:
                self._save(attempt, scheduled, result)

    def void(self, attempt: int, why: str) -> None:
        """End an attempt that the referee or the machine spoilt: the match is played again."""
        with self._change("a match is void"):
            self._end(attempt, "void", why)

    def void_open_attempts(self, why: str) -> int:
        """End all open attempts, which the referee or the machine spoilt; how many there were."""
        with self._change("open matches are void"):
            return self._db.execute(
                "UPDATE attempts SET outcome = 'void', why = ?, ended = ? WHERE outcome IS NULL",
                (why, time.time()),
            ).rowcount

    def abandon_open_attempts(self) -> int:
        """End the attempts that were open when the referee ended; how many there were."""
        with self._change("open matches are abandoned"):
            return self._db.execute(
                "UPDATE attempts SET outcome = 'abandoned', ended = ? WHERE outcome IS NULL",
                (time.time(),),
            ).rowcount

    def _row_of(self, scheduled: Scheduled) -> int:
        block = scheduled.block
        return int(
            self._one(
                'SELECT job FROM jobs WHERE (epoch, block, "group", seating) = (?, ?, ?, ?)',
                *(block.epoch, block.number, block.group_name, scheduled.seating),
            )
        )

    def _save(self, attempt: int, scheduled: Scheduled, result: MatchResult) -> None:
        name = scheduled.job.id
        if result.job_id != name:
            raise RefereeBug(f"{name}: the result is that of {result.job_id}")
        row = self._row_of(scheduled)
        play = encode(result.deals)
        facts = (result.totals, result.places, result.forfeits)
        sha256 = digest(name, *facts, play, result.faults, result.notes)
        if kept := self._row("SELECT sha256 FROM results WHERE job = ?", row):
            if kept["sha256"] != sha256:
                raise RefereeBug(f"{name}: has another result already")
            return
        self._end(attempt, "done", None, row)
        self._insert(
            "results (job, attempt, deals, totals, places, forfeits, play, sha256)",
            (row, attempt, len(result.deals), *map(canonical, facts), play, sha256),
        )
        self._db.executemany(
            "INSERT INTO faults VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [(row, n, *fault_row(fault)) for n, fault in enumerate(result.faults)],
        )
        self._db.executemany(
            "INSERT INTO notes VALUES (?, ?, ?, ?, ?, ?, ?)",
            [(row, n, *note_row(note)) for n, note in enumerate(result.notes)],
        )

    def _end(self, attempt: int, outcome: str, why: str | None, job: int | None = None) -> None:
        ended = self._db.execute(
            "UPDATE attempts SET outcome = ?, why = ?, ended = ?"
            " WHERE attempt = ? AND job = coalesce(?, job) AND outcome IS NULL",
            (outcome, why, time.time(), attempt, job),
        )
        if ended.rowcount != 1:
            raise RefereeBug(f"attempt {attempt} ends, {outcome}, but it is not open")


def _require_file(path: Path) -> None:
    """StoreError unless a path is that of a file."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise StoreError(f"{path}: there is no such file") from None
    except OSError as exc:
        raise StoreError(f"{path}: cannot be opened: {exc.strerror}") from None
    if stat.S_ISDIR(mode):
        raise StoreError(f"{path}: is a folder: name the tournament's file, NAME.knavery")
    if not stat.S_ISREG(mode):
        raise StoreError(f"{path}: is no file: name the tournament's, NAME.knavery")

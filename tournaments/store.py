"""A tournament's file: what its rows mean, and all SQL about them, which is why it is longer than
other files (tournaments/rows.py has what is the same for any file).

The file holds facts (schema.sql; design, section 7). While it is written it belongs to one
process and others may read it; closed, it is one file. Each change is one transaction, and a
finished match is saved once whatever happens in between.
"""

import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Self

from referee.match import FaultKind, MatchResult, RefereeBug
from tournaments.config import Tournament
from tournaments.kept import (
    Begun,
    Epoch,
    KeptMatch,
    KeptProcess,
    Tally,
    begun_of,
    block_of,
    digest,
    entrant_of,
    epoch_of,
    fault_row,
    kind_of,
    match_of,
    note_row,
    played_of,
    process_of,
)
from tournaments.machine import machine, software
from tournaments.ownership import Ownership
from tournaments.plain import canonical
from tournaments.playblob import encode
from tournaments.played import Played
from tournaments.rows import (
    APPLICATION_ID,
    SCHEMA_VERSION,
    Rows,
    StoreError,
    build,
    fold,
    insert_entrants,
    insert_epoch,
    owning,
    translated,
)
from tournaments.schedule import Block, Entrant, Scheduled, generations, group_size

__all__ = ["APPLICATION_ID", "SCHEMA_VERSION", "Store", "StoreError"]

_WHERE = 'epoch, "group", block, seating, generation, jobs.entrants AS entrants'
_FINISHED = "FROM results JOIN jobs USING (job)"
_COMPLETE = f"""(epoch, block, "group") IN (
    SELECT epoch, block, "group" {_FINISHED} GROUP BY epoch, block, "group" HAVING count(*) = ?)
"""
_IN_ORDER = 'ORDER BY epoch, block, "group", seating'
_JOB_ID = """'e' || epoch || '/g' || "group" || '/b' || block || '/s' || seating"""


class Store(Rows):
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
                    f"{path}: exists already: go on with `knavery resume {path}`, or name another "
                    "file with -o"
                )
            with translated(path):
                build(path, tournament, master_key, entrants, commitment)
            return cls(path, owner)._begin(sandbox)

    @classmethod
    def open(cls, path: Path, *, write: bool, sandbox: str = "off") -> Self:
        """An existing file, to read it (also while another process writes it) or to go on."""
        if not path.is_file():
            raise StoreError(f"{path}: there is no such file")
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

    def tournament(self) -> Tournament:
        """The tournament as last configured, without its key."""
        return self.epochs()[-1].tournament

    def master_key(self) -> bytes:
        """The key that every epoch's key is derived from: a secret until the end."""
        return bytes(self._one("SELECT master_key FROM tournament"))

    def entrants(self) -> tuple[Entrant, ...]:
        """Every entrant there has been, by index."""
        rows = self._rows("SELECT * FROM entrants ORDER BY entrant")
        return tuple(self._value(entrant_of, row) for row in rows)

    def epochs(self) -> tuple[Epoch, ...]:
        """The epochs so far; the last one is the one being played."""
        rows = self._rows("SELECT * FROM epochs ORDER BY epoch")
        epochs = tuple(self._value(epoch_of, row) for row in rows)
        if not epochs:
            raise self._damaged()
        return epochs

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

    def next_wave(self) -> int:
        """A number that no wave has had."""
        waves = "SELECT wave FROM processes UNION ALL SELECT wave FROM attempts"
        return int(self._one(f"SELECT coalesce(max(wave) + 1, 0) FROM ({waves})"))

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

    def suspended(self, epoch: int) -> frozenset[int]:
        """The entrants that play no more in an epoch."""
        rows = self._rows("SELECT entrant FROM suspensions WHERE epoch = ?", epoch)
        return frozenset(entrant for (entrant,) in rows)

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

    def abandon_open_attempts(self) -> int:
        """End the attempts that were open when the referee ended; how many there were."""
        with self._change("open matches are abandoned"):
            return self._db.execute(
                "UPDATE attempts SET outcome = 'abandoned', ended = ? WHERE outcome IS NULL",
                (time.time(),),
            ).rowcount

    def finished_job_ids(self) -> set[str]:
        """The names of all matches that have a result."""
        rows = self._rows(f"SELECT {_JOB_ID} {_FINISHED}")
        return {name for (name,) in rows}

    def complete_blocks(self) -> Iterator[Block]:
        """The blocks that are finished under every seating, epoch by epoch."""
        return self._blocks("= ?")

    def begun_blocks(self) -> Iterator[Block]:
        """The blocks with a finished match that are not complete, epoch by epoch."""
        return self._blocks("< ?")

    def _blocks(self, count: str) -> Iterator[Block]:
        for row in self._rows(
            f'SELECT epoch, "group", block {_FINISHED} GROUP BY epoch, block, "group"'
            f" HAVING count(*) {count} ORDER BY epoch, block",
            self._seatings(),
        ):
            yield self._value(block_of, row)

    def played(self) -> Iterator[Played]:
        """Every finished match as ratings see it, those of open blocks too."""
        sides = group_size(self.tournament().rules)
        columns = f"{_WHERE}, places, totals, deals, forfeits"
        for row in self._rows(f"SELECT {columns} {_FINISHED} {_IN_ORDER}"):
            yield self._value(partial(played_of, sides=sides), row)

    def matches(self, *, open_blocks: bool = False) -> Iterator[KeptMatch]:
        """The finished matches with all that was kept of them, block by block; with those of
        blocks that are not complete if `open_blocks`."""
        return self._matches("TRUE", open_blocks=open_blocks)

    def match(self, block: Block, seating: int, *, open_blocks: bool = False) -> KeptMatch | None:
        """One of `matches`, if it is there."""
        place = (block.epoch, block.number, block.group_name, seating)
        which = '(epoch, block, "group", seating) = (?, ?, ?, ?)'
        return next(self._matches(which, *place, open_blocks=open_blocks), None)

    def _matches(self, which: str, *place: object, open_blocks: bool) -> Iterator[KeptMatch]:
        columns = f"{_WHERE}, results.*, attempts.number AS number"
        source = f"{_FINISHED} JOIN attempts USING (job, attempt)"
        query = f"SELECT {columns} {source} WHERE ({_COMPLETE} OR ?) AND {which} {_IN_ORDER}"
        for row in self._rows(query, self._seatings(), open_blocks, *place):
            faults = self._rows("SELECT * FROM faults WHERE job = ? ORDER BY number", row["job"])
            notes = self._rows("SELECT * FROM notes WHERE job = ? ORDER BY number", row["job"])
            yield self._value(partial(match_of, faults=list(faults), notes=list(notes)), row)

    def begun(self) -> Iterator[Begun]:
        """Every match that was begun, block by block, with its attempts in order."""
        for row in self._rows(f"SELECT * FROM jobs {_IN_ORDER}"):
            attempts = self._rows(
                "SELECT * FROM attempts WHERE job = ? ORDER BY number", row["job"]
            )
            yield self._value(partial(begun_of, attempts=list(attempts)), row)

    def processes(self) -> Iterator[KeptProcess]:
        """Every process that was started, in order, with what the ledger says of it."""
        for row in self._rows("SELECT * FROM processes ORDER BY process"):
            met = self._rows("SELECT deals FROM ledger WHERE process = ?", row["process"])
            yield self._value(partial(process_of, deals=[deals for (deals,) in met]), row)

    def fault_counts(self) -> dict[int, Counter[FaultKind]]:
        """How many faults of each kind each entrant made, in all finished matches."""
        counts: dict[int, Counter[FaultKind]] = {}
        for row in self._rows(
            "SELECT json_extract(entrants, '$[' || seat || ']') AS entrant, kind, count(*) AS times"
            " FROM faults JOIN jobs USING (job) GROUP BY 1, 2"
        ):
            counts.setdefault(row["entrant"], Counter())[self._value(kind_of, row)] = row["times"]
        return counts

    def forfeit_counts(self) -> dict[int, int]:
        """How many matches each entrant forfeited, of all finished ones; partners count once."""
        rows = self._rows(
            "SELECT json_extract(entrants, '$[' || value || ']'), count(DISTINCT job)"
            f" {_FINISHED}, json_each(forfeits) GROUP BY 1"
        )
        return dict(rows)

    def tally(self) -> Tally:
        """How far the tournament is."""
        complete, started = self._row(
            "SELECT coalesce(sum(finished = ?), 0), count(*) FROM (SELECT count(results.job) AS"
            ' finished FROM jobs LEFT JOIN results USING (job) GROUP BY epoch, block, "group")',
            self._seatings(),
        )
        count = "SELECT count(*) FROM "
        return Tally(
            started=self._one(count + "jobs"),
            finished=self._one(count + "results"),
            blocks_complete=complete,
            blocks_open=started - complete,
            void_attempts=self._one(count + "attempts WHERE outcome = 'void'"),
            abandoned_attempts=self._one(count + "attempts WHERE outcome = 'abandoned'"),
            processes=self._one(count + "processes"),
            crashes=self._one(count + "crashes"),
        )

    def _seatings(self) -> int:
        tournament = self.tournament()
        return generations(tournament.rules, tournament.seatings)

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

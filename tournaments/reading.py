"""What a tournament's file tells, and the SQL that asks it. How a file is written is in
tournaments/store.py, what is the same for any file in tournaments/rows.py.
"""

from collections import Counter
from collections.abc import Iterator
from functools import partial

from referee.match import FaultKind
from tournaments.config import Tournament
from tournaments.kept import (
    Begun,
    Epoch,
    KeptMatch,
    KeptProcess,
    Tally,
    begun_of,
    block_of,
    entrant_of,
    epoch_of,
    kind_of,
    match_of,
    played_of,
    process_of,
)
from tournaments.played import Played
from tournaments.rows import Rows
from tournaments.schedule import Block, Entrant, generations, group_size

_WHERE = 'epoch, "group", block, seating, generation, jobs.entrants AS entrants'
_FINISHED = "FROM results JOIN jobs USING (job)"
_COMPLETE = f"""(epoch, block, "group") IN (
    SELECT epoch, block, "group" {_FINISHED} GROUP BY epoch, block, "group" HAVING count(*) = ?)
"""
_IN_ORDER = 'ORDER BY epoch, block, "group", seating'
_JOB_ID = """'e' || epoch || '/g' || "group" || '/b' || block || '/s' || seating"""


class Reading(Rows):
    """An open file that is read."""

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

    def next_wave(self) -> int:
        """A number that no wave has had."""
        waves = "SELECT wave FROM processes UNION ALL SELECT wave FROM attempts"
        return int(self._one(f"SELECT coalesce(max(wave) + 1, 0) FROM ({waves})"))

    def suspended(self, epoch: int) -> frozenset[int]:
        """The entrants that play no more in an epoch."""
        rows = self._rows("SELECT entrant FROM suspensions WHERE epoch = ?", epoch)
        return frozenset(entrant for (entrant,) in rows)

    def suspensions(self) -> list[tuple[int, int, str]]:
        """Who was suspended: entrant, epoch and cause, in the order in which it happened."""
        rows = self._rows(
            "SELECT entrant, epoch, cause FROM suspensions ORDER BY happened, entrant"
        )
        return [(entrant, epoch, cause) for entrant, epoch, cause in rows]

    def finished_job_ids(self) -> set[str]:
        """The names of all matches that have a result."""
        rows = self._rows(f"SELECT {_JOB_ID} {_FINISHED}")
        return {name for (name,) in rows}

    def attempts(self, block: Block, seating: int) -> int:
        """How often a block's match under a seating was begun."""
        where = '(epoch, block, "group", seating) = (?, ?, ?, ?)'
        query = f"SELECT count(*) FROM attempts JOIN jobs USING (job) WHERE {where}"
        return int(self._one(query, block.epoch, block.number, block.group_name, seating))

    def complete_blocks(self) -> Iterator[Block]:
        """The blocks that are finished under every seating, epoch by epoch."""
        return self._blocks("= ?")

    def completed(self) -> tuple[str, ...]:
        """The names of the complete blocks, in the order in which they were completed."""
        blocks = self._rows(
            f'SELECT epoch, "group", block {_FINISHED} JOIN attempts USING (job, attempt)'
            ' GROUP BY epoch, block, "group" HAVING count(*) = ?'
            ' ORDER BY max(ended), epoch, block, "group"',
            self._seatings(),
        )
        return tuple(self._value(block_of, row).id for row in blocks)

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
        query = f"SELECT {columns} {source} WHERE (? OR {_COMPLETE}) AND {which} {_IN_ORDER}"
        for row in self._rows(query, open_blocks, self._seatings(), *place):
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

    def sandbox(self) -> str:
        """What protected the referee from its bots when this file was last written."""
        return str(self._one("SELECT sandbox FROM sessions ORDER BY session DESC LIMIT 1"))

    def crash_times(self) -> list[tuple[int, float]]:
        """Whose processes ended when they should not have, and when, in seconds since 1970."""
        rows = self._rows(
            "SELECT entrant, happened FROM crashes JOIN processes USING (process) ORDER BY happened"
        )
        return [(entrant, happened) for entrant, happened in rows]

    def spans(self) -> dict[str, tuple[float, float]]:
        """When the attempt that gave each result began and ended, in seconds since 1970."""
        rows = self._rows(
            f"SELECT {_JOB_ID}, attempts.started, attempts.ended {_FINISHED}"
            " JOIN attempts USING (job, attempt)"
        )
        return {name: (started, ended) for name, started, ended in rows}

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

    def sandboxes(self) -> list[str]:
        """What confined the bots, each once, in the order in which it was first in force."""
        rows = self._rows("SELECT sandbox FROM sessions GROUP BY sandbox ORDER BY min(session)")
        return [sandbox for (sandbox,) in rows]

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

"""Proof that a tournament's file holds what its keys, its rules and its bots' moves give
(design, section 6; docs/proof.md says what that shows and what it cannot).

Everything is read from the store as plain values and worked out again; what is found is a
`Report`, also for a file that is not finished, whose missing matches are only counted.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from referee.match import FaultKind
from tournaments.epochs import schedules
from tournaments.kept import Begun, Epoch, KeptMatch
from tournaments.rejudge import Disagreement, rejudge
from tournaments.schedule import (
    Block,
    Entrant,
    Schedule,
    Scheduled,
    Seat,
    commitment,
    remote_of,
)
from tournaments.store import Store


@dataclass(slots=True)
class EpochReport:
    """One epoch. `published`: its key may be shown; `over`: a later one has begun, and no more of
    this one is played; `blocks` and `matches` are the schedule's, `begun`, `finished` and
    `complete` (blocks) what is there of them."""

    number: int
    commitment: str
    published: bool
    over: bool
    blocks: int = 0
    matches: int = 0
    begun: int = 0
    finished: int = 0
    complete: int = 0

    @property
    def missing(self) -> int:
        """Matches that have no result and are still to be played."""
        return 0 if self.over else self.matches - self.finished


@dataclass(slots=True)
class Report:
    """What was checked. `problem` is the first thing that does not agree, None if all does; the
    counts are of what was checked until then."""

    problem: str | None = None
    epochs: list[EpochReport] = field(default_factory=list)
    processes: int = 0
    meetings: int = 0
    """Pairs of a process and deals in the ledger."""
    attempts: Counter[str] = field(default_factory=Counter)
    """By outcome; those without one are "open"."""
    deals: int = 0
    cards: int = 0
    faults: int = 0
    forfeits: int = 0

    @property
    def missing(self) -> int:
        """Matches that are still to be played."""
        return sum(epoch.missing for epoch in self.epochs)


def verify(store: Store) -> Report:
    """Checks all of a file; StoreError if it cannot be read as a tournament's."""
    report = Report()
    with store.snapshot():
        try:
            _Verification(store, report).run()
        except Disagreement as found:
            report.problem = str(found)
    return report


Life = tuple[int, int, Seat]
"""Whose processes: wave, generation, entrant and member."""


class _Verification:
    def __init__(self, store: Store, report: Report) -> None:
        self._store = store
        self._report = report
        self._schedules: dict[int, Schedule] = {}
        self._blocks: dict[str, Block] = {}
        self._dealt: dict[str, Block] = {}
        self._begun: dict[str, Begun] = {}
        self._remote = remote_of(store.entrants())

    def run(self) -> None:
        self._epochs()
        self._jobs()
        met = self._ledger()
        self._matches(met)
        self._counts()

    def _epochs(self) -> None:
        """Epochs follow one another, and are of one contest."""
        epochs, entrants = self._store.epochs(), self._store.entrants()
        first, last = epochs[0].tournament, epochs[-1].number
        for number, epoch in enumerate(epochs):
            where = f"epoch {number}"
            _require(epoch.number == number, f"{where}: is missing")
            _require(all(0 <= n < len(entrants) for n in epoch.field), f"{where}: its field")
            names = {entrants[n].name for n in epoch.field}
            _require(len(names) == len(epoch.field), f"{where}: its field has a name twice")
            now = epoch.tournament
            _require(
                (now.rules, now.seatings) == (first.rules, first.seatings),
                f"{where}: its rules or seatings are not those of the tournament",
            )
            shown, over = epoch.published is not None, number < last
            _require(shown or not over, f"{where}: is over, and its key may not be shown")
            self._report.epochs.append(EpochReport(number, epoch.commitment, shown, over))
        for epoch, schedule in zip(epochs, schedules(self._store), strict=True):
            self._commitment(epoch, schedule, entrants)

    def _commitment(self, epoch: Epoch, schedule: Schedule, entrants: Sequence[Entrant]) -> None:
        """The key, the rules and the entrants of an epoch are those that were committed to."""
        self._schedules[epoch.number] = schedule
        _require(
            commitment(schedule, entrants) == epoch.commitment,
            f"epoch {epoch.number}: its key, rules, clock, schedule or entrants are not those "
            "committed to",
        )

    def _jobs(self) -> None:
        """Every match that was begun is one of its epoch's schedule, as scheduled."""
        for epoch in self._report.epochs:
            schedule = self._schedules[epoch.number]
            blocks = {block.id: block for block in schedule.blocks()}
            epoch.blocks = len(blocks)
            epoch.matches = epoch.blocks * schedule.generations
            self._blocks |= blocks
            self._dealt |= {
                name: block for name, block in blocks.items() if not schedule.has_remote(block)
            }
        for begun in self._store.begun():
            _require(
                self._blocks.get(begun.block.id) == begun.block,
                f"match {begun.id}: no such block is in the schedule",
            )
            self._job(begun)
            self._begun[begun.id] = begun
            schedule = self._schedules[begun.block.epoch]
            for attempt in range(len(begun.attempts) if schedule.has_remote(begun.block) else 0):
                deals_id = schedule.match(begun.block, begun.seating, attempt).deals_id
                self._dealt[deals_id] = begun.block

    def _job(self, begun: Begun) -> None:
        schedule = self._schedules[begun.block.epoch]
        where = f"match {begun.id}"
        _require(0 <= begun.seating < schedule.generations, f"{where}: a block has no such seating")
        scheduled = schedule.match(begun.block, begun.seating)
        seats = tuple(seat.entrant for seat in scheduled.seats)
        _require(begun.entrants == seats, f"{where}: {seats} sit there, not {begun.entrants}")
        _require(
            begun.generation == scheduled.generation,
            f"{where}: generation {scheduled.generation} is to play it, not {begun.generation}",
        )
        _require(begun.public_id == scheduled.job.public_id, f"{where}: its public id is another's")
        outcomes = [attempt.outcome or "open" for attempt in begun.attempts]
        numbers = [attempt.number for attempt in begun.attempts]
        _require(numbers == list(range(len(numbers))), f"{where}: its attempts are {numbers}")
        ended_well = [outcome for outcome in outcomes[:-1] if outcome in ("open", "done")]
        _require(bool(outcomes) and not ended_well, f"{where}: its attempts ended {outcomes}")
        self._report.attempts.update(outcomes)
        self._epoch(begun.block).begun += 1

    def _ledger(self) -> Mapping[Life, frozenset[str]]:
        """No process met deals twice, or deals that are none of its entrant's; and what a remote
        entrant met in one generation it met in no other."""
        met: defaultdict[Life, set[str]] = defaultdict(set)
        remembered: dict[tuple[Seat, str], Life] = {}
        for process in self._store.processes():
            where = f"process {process.number}"
            for deals, times in Counter(process.deals).items():
                block = self._dealt.get(deals)
                _require(
                    block is not None and process.entrant in block.group,
                    f"{where}: met the deals {deals}, which are none of its entrant's",
                )
                _require(times == 1, f"{where}: met the deals {deals} twice")
            seat = Seat(process.entrant, process.member)
            life = (process.wave, process.generation, seat)
            for deals in process.deals if seat.entrant in self._remote else ():
                _require(
                    remembered.setdefault((seat, deals), life) == life,
                    f"{where}: its entrant is remote, and met the deals {deals} before",
                )
            met[life] |= set(process.deals)
            self._report.processes += 1
            self._report.meetings += len(process.deals)
        return {life: frozenset(deals) for life, deals in met.items()}

    def _matches(self, met: Mapping[Life, frozenset[str]]) -> None:
        """Every result, and who was there when it was played."""
        finished: Counter[Block] = Counter()
        for match, deals in self._results():
            schedule = self._schedules[match.block.epoch]
            scheduled = schedule.match(match.block, match.seating, match.attempt)
            self._report.cards += rejudge(match, scheduled)
            played = len(match.deals)
            _require(deals == played, f"match {match.id}: {played} deals are there, not {deals}")
            self._attendance(match, scheduled, met)
            self._report.deals += played
            self._report.faults += len(match.faults)
            self._report.forfeits += len(match.forfeits)
            self._epoch(match.block).finished += 1
            finished[match.block] += 1
        for block, count in finished.items():
            complete = count == self._schedules[block.epoch].generations
            self._epoch(block).complete += complete

    def _results(self) -> Iterator[tuple[KeptMatch, int]]:
        """The finished matches, and how many deals each is said to have."""
        try:
            for match, played in zip(
                self._store.matches(open_blocks=True), self._store.played(), strict=True
            ):
                yield match, played.deals
        except ValueError as exc:
            raise Disagreement("there are results that no attempt at their match gave") from exc

    def _attendance(
        self, match: KeptMatch, scheduled: Scheduled, met: Mapping[Life, frozenset[str]]
    ) -> None:
        """The attempt that gave the result is its match's last, and every seat had a process of
        its own that the ledger lets meet the deals, or was absent from the first deal on."""
        attempts = self._begun[match.id].attempts
        _require(
            match.attempt == len(attempts) - 1 and attempts[-1].outcome == "done",
            f"match {match.id}: its result is not that of its last attempt",
        )
        absent = {f.seat for f in match.faults if f.deal == 0 and f.kind == FaultKind.ABSENT}
        for n, seat in enumerate(scheduled.seats):
            life = (attempts[-1].wave, match.generation, seat)
            _require(
                n in absent or scheduled.deals_id in met.get(life, ()),
                f"match {match.id}, seat {n}: the ledger knows no process that met its deals",
            )

    def _counts(self) -> None:
        """As many results as attempts that were done, and as the store itself counts."""
        report, tally = self._report, self._store.tally()
        finished = sum(epoch.finished for epoch in report.epochs)
        _require(
            finished == report.attempts["done"] == tally.finished,
            f"{report.attempts['done']} attempts are done, and {finished} results are there",
        )
        last = report.epochs[-1]
        _require(
            not (last.published and last.missing),
            f"epoch {last.number}: its key may be shown, and {last.missing} matches are missing",
        )

    def _epoch(self, block: Block) -> EpochReport:
        return next(epoch for epoch in self._report.epochs if epoch.number == block.epoch)


def _require(agrees: bool, line: str) -> None:
    if not agrees:
        raise Disagreement(line)

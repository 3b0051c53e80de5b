"""Jobs -> results on this machine: the waves of a schedule, generation by generation.

Everything that is to be kept is written to the store as it happens; what is missing is what the
schedule has and the store has not, so going on after a stop is the same as starting.
"""

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Protocol

import trio

from referee import remote
from referee.bots import Prepared
from referee.failures import machine_failure
from referee.generation import Contestant, play_generation
from referee.house import House, Turn, cores, open_house
from referee.limits import SandboxRules
from referee.match import FORFEIT_AT_ONCE, Fault, MatchResult, RefereeBug
from referee.player import Player
from referee.server import Door, Guest
from referee.tables import Seated, Tables
from tournaments.forfeits import Announcer
from tournaments.pace import Pace
from tournaments.plain import counted
from tournaments.reception import Reception
from tournaments.schedule import Block, Schedule, Scheduled, Seat
from tournaments.stopping import stop_signals
from tournaments.store import Store

LOST_GENERATIONS = 2
"""Generations in which a bot was given up, after which it is suspended for the epoch."""
MOST_TRIES = 3
"""Failures of the machine, with no match finished in between, that end the run."""
REST = 1.0
"""Seconds that the machine is given to recover; twice as long the second time."""
_WHY_SUSPENDED = "its processes failed in two generations"


@dataclass(frozen=True, slots=True)
class Entered:
    """An entrant ready to be started; `max_tables` is what its bot.toml says."""

    name: str
    prepared: Prepared
    max_tables: int | None = None


class Recorder(Protocol):
    """Where the matches of one generation and their processes are written down."""

    def process(self, seat: Seat, restart: int) -> None:
        """A process is about to be started."""

    def arrived(self, seat: Seat) -> None:
        """A process said hello and was let in."""

    def crash(self, seat: Seat, cause: str) -> None:
        """A process ended when it should not have."""

    def given_up(self, seat: Seat, cause: str) -> None:
        """No process of this seat will be started any more in this generation."""

    def begin(self, matches: Sequence[Scheduled]) -> None:
        """Matches are about to begin; nothing of them has been sent."""

    def finish(self, match: Scheduled, result: MatchResult) -> None:
        """A match is over."""


class Progress(Protocol):
    """Who is shown how a run goes on."""

    def finished(self, match: Scheduled, result: MatchResult) -> None:
        """One more match is over."""

    def say(self, line: str) -> None:
        """Something that its reader should know now."""


async def play_matches(
    house: House,
    field: Mapping[int, Entered],
    matches: Sequence[Scheduled],
    recorder: Recorder,
    *,
    in_flight: int | None = None,
    suspended: Mapping[int, str] | None = None,
    turn: Turn | None = None,
    late: Collection[int] = (),
    announce: Callable[[Scheduled, Fault], None] | None = None,
    guests: Mapping[Seat, Guest] | None = None,
    say: Callable[[Seat, str], None] = lambda *_: None,
) -> None:
    """Plays matches in one generation: a fresh process for every seat's entrant and member.

    Processes are started at once, those of the entrants in `late` when it is the generation's
    turn. Entrants that are suspended by then (with the reason) forfeit. `announce` is told of the
    fault with which a bot forfeits a match. `guests` are the programs of remote entrants, for which
    nothing is started; `say` hears whose goes and comes."""
    seats = sorted({seat for match in matches for seat in match.seats}, key=_order)
    players = {seat: Player(_label(field[seat.entrant].name, seat), house.clock) for seat in seats}
    jobs = {
        Seated(match.job, tuple(players[seat].name for seat in match.seats)): match
        for match in matches
    }
    tables = Tables(
        jobs,
        list(players.values()),
        lambda started: recorder.begin([jobs[each] for each in started]),
        lambda each, result: recorder.finish(jobs[each], result),
        in_flight,
        on_forfeit=announce and (lambda each, fault: announce(jobs[each], fault)),
    )
    out = {} if suspended is None else suspended

    def contestant(seat: Seat, player: Player) -> Contestant:
        entered = field[seat.entrant]
        if guest := (guests or {}).get(seat):
            return remote.contestant(player, guest, partial(say, seat))
        early = seat.entrant not in late
        return Contestant(player, entered.prepared, entered.max_tables, early)

    contestants = [
        contestant(seat, player) for seat, player in players.items() if seat.entrant not in out
    ]

    def absent() -> dict[Player, str]:
        return {
            player: f"suspended: {out[seat.entrant]}"
            for seat, player in players.items()
            if seat.entrant in out
        }

    watcher = _Watcher(recorder, {player: seat for seat, player in players.items()})
    await play_generation(house, contestants, tables, watcher, turn=turn, absent=absent)


def _order(seat: Seat) -> tuple[int, int]:
    return seat.entrant, seat.member


def _label(name: str, seat: Seat) -> str:
    """A player's name: an entrant's two processes in a team are two players."""
    return f"{name}/{seat.entrant}.{seat.member}"


@dataclass(frozen=True, slots=True)
class _Watcher:
    """Turns players into seats for the recorder."""

    recorder: Recorder
    seats: Mapping[Player, Seat]

    def starting(self, player: Player, restart: int) -> None:
        self.recorder.process(self.seats[player], restart)

    def arrived(self, player: Player) -> None:
        self.recorder.arrived(self.seats[player])

    def lost(self, player: Player, cause: str) -> None:
        self.recorder.crash(self.seats[player], cause)

    def given_up(self, player: Player, cause: str) -> None:
        self.recorder.given_up(self.seats[player], cause)


class Run:
    """One run over a tournament's file: plays what is missing."""

    def __init__(
        self,
        store: Store,
        schedule: Schedule,
        field: Mapping[int, Entered],
        progress: Progress,
        in_flight: int | None = None,
        pace: Pace | None = None,
        max_processes: int | None = None,
        sandbox: SandboxRules | None = None,
    ) -> None:
        self._sandbox = sandbox
        self._store = store
        self._schedule = schedule
        self._field = field
        self._progress = progress
        self._in_flight = in_flight
        self._max_processes = max_processes
        self._pace = pace or Pace(
            schedule, say=progress.say, cores=cores(), max_processes=max_processes
        )
        self.waited = 0.0
        """Seconds of its turns that generations waited for their processes."""
        self._lost: Counter[int] = Counter()
        self._announce: Callable[[Scheduled, Fault], None] | None = None
        if schedule.faults.policy == FORFEIT_AT_ONCE:
            names = {number: entered.name for number, entered in field.items()}
            self._announce = Announcer(names, progress.say).forfeited
        self.reception: Reception | None = None
        """Where remote entrants connect, if there are any."""
        self._guests: Mapping[Seat, Guest] = {}
        self._suspended = dict.fromkeys(store.suspended(schedule.epoch), _WHY_SUSPENDED)

    async def play(self, log_dir: Path) -> bool:
        """Plays until all is done or time is out (True), or until it is told to stop (False)."""
        self._store.abandon_open_attempts()
        with trio.CancelScope() as scope:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_stop_on_signal, scope)
                await self._whatever_fails(log_dir)
                nursery.cancel_scope.cancel()
        stopped = scope.cancel_called
        if not (stopped or self._pace.out_of_time or self._schedule.only is not None):
            self._store.publish(self._schedule.epoch)
        return not stopped

    async def _whatever_fails(self, log_dir: Path) -> None:
        """Plays what is missing. Where the machine fails, the matches that were being played are
        void, and are played again with fresh processes; not where it only ever fails."""
        finished, tries = self._finished(), 0
        for house in count():
            try:
                await self._once(log_dir if not house else log_dir / f"again-{house}")
                return
            except (Exception, BaseExceptionGroup) as problem:
                failure = machine_failure(problem)
                if failure is None:
                    raise
                void = self._store.void_open_attempts(str(failure))
                tries = 1 if self._finished() > finished else tries + 1
                finished = self._finished()
                if tries == MOST_TRIES:
                    raise failure from problem
                lost = f"{counted(void, 'match', 'matches')} void and played again"
                self._progress.say(f"{failure}; going on with fresh processes, {lost}")
                await trio.sleep(tries * REST)
            self._pace.again(self._store.finished_job_ids())

    def _finished(self) -> int:
        return self._store.tally().finished

    async def _once(self, log_dir: Path) -> None:
        rules = self._schedule.rules
        clock, faults = self._schedule.clock, self._schedule.faults
        async with open_house(
            rules.game, clock, faults, log_dir, self._max_processes, self._sandbox
        ) as house:
            if self.reception is None:
                await self._waves(house)
                return
            if not isinstance(house.door, Door):
                raise RefereeBug("remote entrants need a door")
            async with self.reception.open(house.door) as self._guests:
                await self._waves(house)

    async def _waves(self, house: House) -> None:
        """Generation after generation; the processes of one start while the last one drains."""
        self._pace.start_times = house.start_times
        last: _Playing | None = None
        async with trio.open_nursery() as nursery:
            for wave, number, matches in self._generations():
                recorder = StoreRecorder(self._store, wave, number, self._progress)
                last = _Playing(recorder, matches, last)
                nursery.start_soon(self._generation, house, last)
                await last.turn.draining.wait()
                if not house.can_overlap:
                    await last.turn.over.wait()

    def _generations(self) -> Iterator[tuple[int, int, list[Scheduled]]]:
        """What is missing: waves, their generations, and the matches of each."""
        done = self._store.finished_job_ids()
        numbers = count(self._store.next_wave())

        def missing(blocks: Sequence[Block], generation: int) -> list[Scheduled]:
            scheduled = self._schedule.generation(blocks, generation, self._attempts)
            return [match for match in scheduled if match.job.id not in done]

        for blocks in self._pace(self._schedule.blocks()):
            wave = next(numbers)
            if begin := missing(blocks, 0):
                yield wave, 0, begin
                if more := self._pace.more(len(begin)):
                    blocks, wave = (*blocks, *more), next(numbers)
                    if again := missing(more, 0):
                        yield wave, 0, again
            for generation in range(1, self._schedule.generations):
                if matches := missing(blocks, generation):
                    yield wave, generation, matches

    def _attempts(self, block: Block, seating: int) -> int:
        """How often a match was begun, where its deals depend on it."""
        return self._store.attempts(block, seating) if self._schedule.has_remote(block) else 0

    async def _generation(self, house: House, playing: "_Playing") -> None:
        await play_matches(
            house,
            self._field,
            playing.matches,
            playing.recorder,
            in_flight=self._in_flight,
            suspended=self._suspended,
            turn=playing.turn,
            late=playing.late,
            announce=self._announce,
            guests=self._guests,
            say=self._say_of_guest,
        )
        for entrant, cause in playing.recorder.out.items():
            self._count_lost(entrant, cause)
        self.waited += playing.turn.waited
        playing.turn.over.set()

    def _say_of_guest(self, seat: Seat, line: str) -> None:
        """What a remote program does, under the name that it was introduced by."""
        if self.reception is not None:
            self._progress.say(f"{self.reception.name(seat)} {line}")

    def _count_lost(self, entrant: int, cause: str) -> None:
        """A bot was given up in a generation; the second time it is suspended."""
        self._lost[entrant] += 1
        name = self._field[entrant].name
        if self._lost[entrant] < LOST_GENERATIONS:
            self._progress.say(f"{name} forfeits the rest of its matches in this wave: {cause}")
            return
        self._suspended[entrant] = cause
        self._store.suspend(entrant, self._schedule.epoch, cause)
        self._progress.say(f"{name} is suspended and forfeits from now on: {cause}")


class _Playing:
    """A generation that is being played or about to be.

    `late` are entrants whose processes of the generation before have not said hello, or crashed:
    whether they are started again is not known before that one is over."""

    def __init__(
        self, recorder: "StoreRecorder", matches: list[Scheduled], before: "_Playing | None"
    ) -> None:
        self.recorder = recorder
        self.matches = matches
        self.turn: Turn = Turn(before.turn if before else None)
        self.late = before.recorder.in_trouble if before else frozenset()


async def _stop_on_signal(scope: trio.CancelScope) -> None:
    with stop_signals() as signals:
        async for _ in signals:
            scope.cancel()


class StoreRecorder:
    """Writes one generation of a wave to the store."""

    def __init__(self, store: Store, wave: int, generation: int, progress: Progress) -> None:
        self.out: dict[int, str] = {}
        """Entrants that were given up, and why."""
        self._store = store
        self._wave = wave
        self._generation = generation
        self._progress = progress
        self._processes: dict[Seat, int] = {}
        self._running: dict[str, Scheduled] = {}
        self._attempts: dict[str, int] = {}
        self._awaited: set[Seat] = set()
        self._crashed: set[int] = set()

    @property
    def in_trouble(self) -> frozenset[int]:
        """Entrants whose processes crashed, or are not there yet."""
        return frozenset(self._crashed | {seat.entrant for seat in self._awaited})

    def process(self, seat: Seat, restart: int) -> None:
        number = self._store.add_process(
            seat.entrant, self._wave, self._generation, seat.member, restart
        )
        self._processes[seat] = number
        self._awaited.add(seat)
        deals = [match.deals_id for match in self._running.values() if seat in match.seats]
        self._store.record_deals(number, *deals)

    def arrived(self, seat: Seat) -> None:
        self._awaited.discard(seat)

    def crash(self, seat: Seat, cause: str) -> None:
        self._crashed.add(seat.entrant)
        self._store.crash(self._processes.pop(seat), cause)

    def given_up(self, seat: Seat, cause: str) -> None:
        self.out[seat.entrant] = cause

    def begin(self, matches: Sequence[Scheduled]) -> None:
        for match in matches:
            self._running[match.job.id] = match
            self._attempts[match.job.id] = self._store.start_attempt(match, self._wave)
        for seat, process in self._processes.items():
            deals = [match.deals_id for match in matches if seat in match.seats]
            if deals:
                self._store.record_deals(process, *deals)

    def finish(self, match: Scheduled, result: MatchResult) -> None:
        name = match.job.id
        del self._running[name]
        self._store.save(self._attempts.pop(name), match, result)
        self._progress.finished(match, result)


def log_folder(path: Path) -> Path:
    """Where the bots' output goes: beside the tournament's file, one folder for each run of it."""
    return path.with_name(f"{path.stem}-logs") / f"{os.getpid()}"

"""Tournaments from their description to their table: what `run`, `resume` and `demo` do."""

import secrets
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import trio

from referee import bots
from referee.bots import Bot, BotError
from referee.games.registry import make_rules
from referee.house import cores
from referee.limits import SandboxRules
from referee.remote import ELSEWHERE
from referee.sandbox import open_sandbox
from tournaments import reception
from tournaments.config import ConfigError, EntrantSpec, Tournament
from tournaments.confining import confined
from tournaments.duration import told
from tournaments.epochs import Continuation, continuation, missing, schedules, standing
from tournaments.errors import COULD_NOT
from tournaments.nobody import say_so
from tournaments.pace import Pace
from tournaments.plain import command, harmless
from tournaments.progress import Bar
from tournaments.reception import Listening, Reception
from tournaments.runner import Entered, Run, log_folder
from tournaments.schedule import (
    REMOTE,
    Entrant,
    Schedule,
    commitment,
    remote_of,
    usual_seatings,
)
from tournaments.size import processes
from tournaments.store import Store, StoreError
from tournaments.table import computed, shown

SUFFIX = ".knavery"
_Given = TypeVar("_Given")
_Made = TypeVar("_Made")


@dataclass(frozen=True, slots=True)
class Plan:
    """A tournament that is ready to be played."""

    tournament: Tournament
    key: bytes
    schedule: Schedule
    entrants: tuple[Entrant, ...]
    field: Mapping[int, Entered]
    here: Listening | None = None
    """Where remote entrants connect."""

    @property
    def commitment(self) -> str:
        return commitment(self.schedule, self.entrants)


def of_bots(
    name: str, paths: Sequence[str], game: str, variant: str = "classic", rounds: int = 1
) -> Tournament:
    """A tournament of these bots (paths, or names of shipped ones) with the usual settings."""
    rules = make_rules(game, variant)
    least = 2 if rules.teams else rules.players
    if len(paths) < least:
        raise ConfigError(f"{name}: a table needs {least} bots, here are {len(paths)}")
    if rounds < 1:
        raise ConfigError(f"--rounds must be 1 or more, not {rounds}")
    return Tournament(
        name=name,
        rules=rules,
        entrants=tuple(EntrantSpec(None, path) for path in paths),
        rounds=rounds,
        seatings=usual_seatings(rules),
    )


def of_folder(folder: Path, game: str, variant: str, rounds: int) -> Tournament:
    """A tournament of every bot in a folder: its .py files, and its folders with a bot.toml."""
    found = [
        str(path)
        for path in sorted(folder.iterdir())
        if path.suffix == ".py" or (path / "bot.toml").is_file()
    ]
    return of_bots(harmless(folder.absolute().name), found, game, variant, rounds)


def plan(tournament: Tournament, here: Listening | None = None) -> Plan:
    """Loads and builds the bots; BotError if one cannot be entered, SandboxError if they may not
    be started on this machine. Remote ones connect `here`."""
    with open_sandbox(tournament.sandbox):
        entered = _entered(tournament.entrants)
    entrants = entrants_of(entered)
    reception.required(entrants, here)
    key = tournament.key or secrets.token_bytes(32)
    schedule = tournament.schedule(key, range(len(entered)), remote=remote_of(entrants))
    return Plan(tournament, key, schedule, entrants, ready(entered, tournament.sandbox), here)


def entrants_of(entered: Sequence[Bot]) -> tuple[Entrant, ...]:
    """The bots as a tournament's file keeps them."""
    return tuple(
        Entrant(bot.name, REMOTE)
        if bot.version == REMOTE
        else Entrant(bot.name, bot.version, str(bot.source), bot.run)
        for bot in entered
    )


def _entered(specs: Sequence[EntrantSpec]) -> list[Bot]:
    entered = _each(specs, _bot)
    name, count = Counter(bot.name for bot in entered).most_common(1)[0]
    if count > 1:
        raise BotError(f"two bots are called {name!r}: enter one of them under a name, NAME=PATH")
    return entered


def _bot(spec: EntrantSpec) -> Bot:
    if spec.remote:
        return _elsewhere(spec.name or "")
    return bots.load(spec.path if spec.name is None else f"{spec.name}={spec.path}")


def _elsewhere(name: str) -> Bot:
    """What is known of a bot that its author runs."""
    return Bot(name, REMOTE, Path(), run=())


def ready(entered: Sequence[Bot], sandbox: SandboxRules | None = None) -> dict[int, Entered]:
    """The bots, copied to the cache and built, by index."""

    def made(bot: Bot) -> Entered:
        elsewhere = bot.version == REMOTE
        prepared = ELSEWHERE if elsewhere else bots.prepare(bot, rules=sandbox)
        return Entered(bot.name, prepared, bot.max_tables)

    return dict(enumerate(_each(entered, made)))


def _each(things: Sequence[_Given], make: Callable[[_Given], _Made]) -> list[_Made]:
    """What `make` gives for each bot; where some fail, a BotError that tells of all of them, so
    that they are mended in one go."""
    made: list[_Made] = []
    wrong: list[str] = []
    for thing in things:
        try:
            made.append(make(thing))
        except BotError as error:
            wrong.append(str(error))
    if wrong:
        raise BotError("\n".join(wrong))
    return made


def preview(tournament: Tournament, path: Path) -> tuple[Continuation, Schedule]:
    """What running a tournament again on its file would add, and what it would play. Its bots are
    looked at, not built; the file is only read."""
    with Store.open(path, write=False) as store:
        further = continuation(store, tournament, entrants_of(_entered(tournament.entrants)))
        return further, missing(store, further.schedule)


def start(made: Plan, output: Path, budget: float | None = None) -> int:
    """Plays a tournament into its file, which may hold some of it already, at most for so many
    seconds; the exit status."""
    if output.exists():
        return _further(made, output, budget)
    print(f"{made.tournament.name}: commitment {made.commitment}", flush=True)
    entrants = made.entrants
    sandbox = confined(made.tournament.sandbox)
    with Store.create(
        output, made.tournament, made.key, entrants, made.commitment, sandbox=sandbox
    ) as store:
        return _play(store, made, budget)


def go_on(path: Path, budget: float | None = None, here: Listening | None = None) -> int:
    """Plays what is missing in a tournament's file, at most for so many seconds; the exit
    status."""
    with Store.open(path, write=False) as store:
        rules = store.tournament().sandbox
    with Store.open(path, write=True, sandbox=confined(rules)) as store:
        made = _kept_plan(store, here)
        _say_missing(store, made)
        return _play(store, made, budget)


def _further(made: Plan, path: Path, budget: float | None) -> int:
    """Goes on with a file, in a new epoch if anything has changed."""
    began = time.monotonic()
    with Store.open(path, write=True, sandbox=confined(made.tournament.sandbox)) as store:
        further = continuation(store, made.tournament, made.entrants)
        _note_places(store, further, made.entrants)
        now = _placed(made, store.master_key(), further)
        if not further.begins:
            _say_missing(store, now)
        elif _finish(store, now, further.rest):
            _begin(store, now, further)
        else:
            epoch = further.schedule.epoch
            print(f"stopped before epoch {epoch} began: run the same again", file=sys.stderr)
            return 1
        left = None if budget is None else max(1.0, budget - (time.monotonic() - began))
        return _play(store, now, left)


def _placed(made: Plan, key: bytes, further: Continuation) -> Plan:
    """A plan with the file's key, list of entrants, and schedule."""
    field = {place: made.field[n] for n, place in enumerate(further.field)}
    return Plan(made.tournament, key, further.schedule, further.entrants, field, made.here)


def _note_places(store: Store, further: Continuation, bots: Sequence[Entrant]) -> None:
    """A bot that has moved is looked for in its new place from now on."""
    known = store.entrants()
    for place, bot in zip(further.field, bots, strict=True):
        if place < len(known) and known[place] != bot:
            store.relocate(place, bot.source, bot.run)


def _finish(store: Store, made: Plan, rest: Schedule) -> bool:
    """Finishes the blocks that are begun; whether it was let."""
    blocks = {block.id for block in rest.blocks()}
    if not blocks:
        return True
    before = [match for match in store.played() if match.block in blocks]
    bar = Bar(rest, [each.name for each in made.entrants], before)
    most = processes(made.tournament)
    tables, sandbox = made.tournament.tables, made.tournament.sandbox
    run = Run(store, rest, made.field, bar, tables, max_processes=most, sandbox=sandbox)
    run.reception = _reception(store, made, rest, bar, farewell=False)
    finished = trio.run(run.play, log_folder(store.path))
    bar.close()
    return finished


def _begin(store: Store, made: Plan, further: Continuation) -> None:
    """Ends the last epoch of a file and begins the next."""
    over = store.epochs()[-1]
    store.add_epoch(made.tournament, further.added, made.schedule.entrants, made.commitment)
    if over.published is None:
        print(f"epoch {over.number} is over; {_key_line(further.rest)}")
    name, epoch = made.tournament.name, made.schedule.epoch
    print(f"{name}: commitment of epoch {epoch} {made.commitment}", flush=True)


def _say_missing(store: Store, made: Plan) -> None:
    here = f"e{made.schedule.epoch}/"
    finished = sum(name.startswith(here) for name in store.finished_job_ids())
    lacking = made.schedule.counts().matches - finished
    print(f"{made.tournament.name}: {finished:,} matches are there, {lacking:,} are missing")


def _kept_plan(store: Store, here: Listening | None) -> Plan:
    tournament, schedule = store.tournament(), schedules(store)[-1]
    entrants = store.entrants()
    reception.required([entrants[n] for n in schedule.entrants], here)
    entered = [_same(store.path, entrants[n]) for n in schedule.entrants]
    field = {schedule.entrants[n]: each for n, each in ready(entered, tournament.sandbox).items()}
    return Plan(tournament, store.master_key(), schedule, entrants, field, here)


def _same(path: Path, entrant: Entrant) -> Bot:
    """The bot of an entrant, if it is still what it was."""
    if entrant.is_remote:
        return _elsewhere(entrant.name)
    mend = (
        f"put {entrant.source} back as it was (version {entrant.version[:12]}), or go on with the "
        "bots as they are now: `knavery run` with the tournament's FILE.toml or FOLDER"
    )
    try:
        bot = bots.load(f"{entrant.name}={entrant.source}")
    except BotError as exc:
        raise StoreError(
            f"{path}: {entrant.name} cannot be entered any more: {exc}; {mend}"
        ) from exc
    if bot.version != entrant.version:
        raise StoreError(f"{path}: {entrant.name} is not what it was when it was entered: {mend}")
    return bot


def _play(store: Store, made: Plan, budget: float | None) -> int:
    schedule = made.schedule
    here = f"e{schedule.epoch}/"
    matches = list(standing(store))
    before = [match for match in matches if match.block.startswith(here)]
    bar = Bar(schedule, [each.name for each in made.entrants], before, budget)
    bar.remember(match for match in matches if not match.block.startswith(here))
    most = processes(made.tournament)
    done = store.finished_job_ids()
    pace = Pace(schedule, done, budget, say=bar.say, cores=cores(), max_processes=most)
    tables, sandbox = made.tournament.tables, made.tournament.sandbox
    run = Run(store, schedule, made.field, bar, tables, pace, most, sandbox)
    run.reception = _reception(store, made, schedule, bar)
    uninterrupted = trio.run(run.play, log_folder(store.path))
    bar.close()
    print(shown(computed(store)))
    if not uninterrupted:
        print(f"stopped: go on with {command('knavery', 'resume', store.path)}", file=sys.stderr)
        return 1
    if budget is not None and pace.out_of_time:
        print(
            f"the budget of {told(budget)} is spent: {bar.complete:,} of "
            f"{schedule.counts().blocks:,} blocks are played; "
            f"{command('knavery', 'resume', store.path)} plays the rest"
        )
    else:
        print(_key_line(schedule))
    if bar.nobody_came:
        say_so(log_folder(store.path))
        return COULD_NOT
    return 0


def _reception(
    store: Store, made: Plan, schedule: Schedule, bar: Bar, farewell: bool = True
) -> Reception | None:
    """Where the remote entrants of a schedule connect, if there are any."""
    tokens = reception.tokens(store.master_key(), schedule, made.entrants)
    if not tokens or made.here is None:
        return None
    names = {n: made.entrants[n].name for n in schedule.entrants}
    return Reception(made.here, tokens, names, schedule.clock.startup, bar.say, farewell)


def _key_line(schedule: Schedule) -> str:
    which = f" of epoch {schedule.epoch}" if schedule.epoch else ""
    return f"key of the deals{which}, as committed to: {schedule.key.hex()}"

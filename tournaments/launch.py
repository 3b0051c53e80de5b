"""Tournaments from their description to their table: what `run`, `resume` and `demo` do."""

import secrets
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import trio

from referee import bots
from referee.bots import Bot, BotError
from referee.games.registry import make_rules
from tournaments.config import ConfigError, EntrantSpec, Tournament
from tournaments.duration import told
from tournaments.pace import Pace
from tournaments.progress import Bar
from tournaments.runner import Entered, Run, log_folder
from tournaments.schedule import Entrant, Schedule, commitment, usual_seatings
from tournaments.store import Store, StoreError
from tournaments.table import computed, shown

SUFFIX = ".knavery"


@dataclass(frozen=True, slots=True)
class Plan:
    """A tournament that is ready to be played."""

    tournament: Tournament
    key: bytes
    schedule: Schedule
    entrants: tuple[Entrant, ...]
    field: Mapping[int, Entered]

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
    return of_bots(folder.absolute().name, found, game, variant, rounds)


def plan(tournament: Tournament) -> Plan:
    """Loads and builds the bots; BotError if one cannot be entered."""
    entered = _entered(tournament.entrants)
    key = tournament.key or secrets.token_bytes(32)
    schedule = tournament.schedule(key, range(len(entered)))
    return Plan(tournament, key, schedule, entrants_of(entered), ready(entered))


def entrants_of(entered: Sequence[Bot]) -> tuple[Entrant, ...]:
    """The bots as a tournament's file keeps them."""
    return tuple(Entrant(bot.name, bot.version, str(bot.source), bot.run) for bot in entered)


def _entered(specs: Sequence[EntrantSpec]) -> list[Bot]:
    entered = [
        bots.load(spec.path if spec.name is None else f"{spec.name}={spec.path}") for spec in specs
    ]
    name, count = Counter(bot.name for bot in entered).most_common(1)[0]
    if count > 1:
        raise BotError(f"two bots are called {name!r}: enter one of them under a name, NAME=PATH")
    return entered


def ready(entered: Sequence[Bot]) -> dict[int, Entered]:
    """The bots, copied to the cache and built, by index."""
    return {
        n: Entered(bot.name, bots.prepare(bot), bot.max_tables) for n, bot in enumerate(entered)
    }


def start(made: Plan, output: Path, budget: float | None = None) -> int:
    """Plays a new tournament into a new file, at most for so many seconds; the exit status."""
    print(f"{made.tournament.name}: commitment {made.commitment}", flush=True)
    entrants = made.entrants
    with Store.create(output, made.tournament, made.key, entrants, made.commitment) as store:
        return _play(store, made, budget)


def go_on(path: Path, budget: float | None = None) -> int:
    """Plays what is missing in a tournament's file, at most for so many seconds; the exit
    status."""
    with Store.open(path, write=True) as store:
        made = _kept_plan(store)
        finished = store.tally().finished
        missing = made.schedule.counts().matches - finished
        print(f"{made.tournament.name}: {finished:,} matches are there, {missing:,} are missing")
        return _play(store, made, budget)


def _kept_plan(store: Store) -> Plan:
    epoch = store.epochs()[-1]
    entrants = store.entrants()
    entered = [_same(store.path, each) for each in entrants]
    key = store.master_key()
    schedule = epoch.tournament.schedule(key, epoch.field, epoch.number)
    return Plan(epoch.tournament, key, schedule, entrants, ready(entered))


def _same(path: Path, entrant: Entrant) -> Bot:
    """The bot of an entrant, if it is still what it was."""
    bot = bots.load(f"{entrant.name}={entrant.source}")
    if bot.version != entrant.version:
        raise StoreError(
            f"{path}: {entrant.name} is not what it was when the tournament began: "
            f"put {entrant.source} back as it was (version {entrant.version[:12]})"
        )
    return bot


def _play(store: Store, made: Plan, budget: float | None) -> int:
    schedule = made.schedule
    here = f"e{schedule.epoch}/"
    before = [match for match in store.played() if match.block.startswith(here)]
    bar = Bar(schedule, [each.name for each in made.entrants], before, budget)
    pace = Pace(schedule, store.finished_job_ids(), budget, say=bar.say)
    run = Run(store, schedule, made.field, bar, made.tournament.tables, pace)
    uninterrupted = trio.run(run.play, log_folder(store.path))
    bar.close()
    print(shown(computed(store)))
    if not uninterrupted:
        print(f"stopped: go on with `knavery resume {store.path}`", file=sys.stderr)
        return 1
    if budget is not None and pace.out_of_time:
        print(
            f"the budget of {told(budget)} is spent: {bar.complete:,} of "
            f"{schedule.counts().blocks:,} blocks are played; "
            f"`knavery resume {store.path}` plays the rest"
        )
    else:
        print(f"key of the deals, as committed to: {schedule.key.hex()}")
    return 0

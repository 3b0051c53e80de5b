"""A tournament's file epoch by epoch, and what running it again adds (design, sections 7 and 10;
docs/running-a-tournament.md).

An epoch has one field, one configuration and one key. When any of these changes the next epoch
begins and the one before is over: what it completed counts on among those who are still there, and
the new epoch plays what is missing.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise

from tournaments.config import ConfigError, Tournament
from tournaments.plain import canonical, counted, rules_to_plain
from tournaments.played import Played
from tournaments.schedule import Block, Entrant, Group, Schedule, remote_of
from tournaments.store import Store

_CLOCK_KEYS = {"limit": "decision"}
"""How the configuration calls what it calls differently."""


def schedules(store: Store) -> tuple[Schedule, ...]:
    """Every epoch's schedule, which follows from what was complete of those before it."""
    key, complete = store.master_key(), list(store.complete_blocks())
    remote = remote_of(store.entrants())
    return tuple(
        epoch.tournament.schedule(
            key, epoch.field, epoch.number, _done(complete, epoch.field, epoch.number), remote
        )
        for epoch in store.epochs()
    )


def dealing(store: Store, number: int) -> Schedule:
    """An epoch's schedule as far as it takes to deal and seat any of its matches, which needs no
    look at what was complete before."""
    epoch, remote = store.epochs()[number], remote_of(store.entrants())
    return epoch.tournament.schedule(store.master_key(), epoch.field, number, remote=remote)


def _done(blocks: Iterable[Block], field: Collection[int], epoch: int) -> dict[Group, int]:
    """How many blocks of earlier epochs each group of a field has completed."""
    members = frozenset(field)
    return dict(
        Counter(
            block.group
            for block in blocks
            if block.epoch < epoch and members.issuperset(block.group)
        )
    )


def standing(store: Store) -> Iterator[Played]:
    """The matches that count: of the present field only, and those of earlier epochs only in
    complete blocks."""
    last = store.epochs()[-1]
    members, here = frozenset(last.field), f"e{last.number}/"
    complete = {block.id for block in store.complete_blocks()}
    for match in store.played():
        counts = match.block.startswith(here) or match.block in complete
        if counts and members.issuperset(match.entrants):
            yield match


def counting(store: Store, completed: Collection[str]) -> Iterator[Played]:
    """Those of them that figures are made of: in the complete blocks, which are given by name."""
    complete = frozenset(completed)
    return (match for match in standing(store) if match.block in complete)


@dataclass(frozen=True, slots=True)
class Change:
    """How a tournament differs from the last epoch of its file. `versions` pairs what a bot was
    with what it is now; `settings` are lines for people."""

    newcomers: tuple[Entrant, ...]
    versions: tuple[tuple[Entrant, Entrant], ...]
    withdrawn: tuple[Entrant, ...]
    back: frozenset[Entrant]
    """Who, of newcomers and new versions, has played in an earlier epoch."""
    unchanged: int
    settings: tuple[str, ...]

    def lines(self) -> Iterator[str]:
        """What has changed, a line for each."""
        for entrant in self.newcomers:
            yield f"newcomer: {entrant.name} ({_short(entrant)}){self._again(entrant)}"
        for was, now in self.versions:
            yield (
                f"new version: {now.name} ({_short(now)}, was {_short(was)}){self._again(now)}; "
                f"the old one is withdrawn"
            )
        for entrant in self.withdrawn:
            yield f"withdrawn: {entrant.name} ({_short(entrant)})"
        yield from self.settings
        yield f"unchanged: {counted(self.unchanged, 'bot')}"

    def _again(self, entrant: Entrant) -> str:
        return ", which was there before: its results count again" if entrant in self.back else ""


def _short(entrant: Entrant) -> str:
    return entrant.version[:7]


def changes(store: Store) -> tuple[Change, ...]:
    """How each epoch of a file after the first differs from the one before it."""
    entrants, epochs = store.entrants(), store.epochs()
    known, found = 0, []
    for before, now in pairwise(epochs):
        known = max(known, 1 + max(before.field, default=0))
        settings = _settings(before.tournament, now.tournament)
        found.append(_change(entrants, known, before.field, now.field, settings))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Continuation:
    """What running a tournament again on its file amounts to.

    `entrants` is the file's list with those who are new to it (`added`) at its end, `field` the
    indices of this tournament's entrants in their own order. `schedule` is that of the new epoch
    if one `begins`, else of the last one. `rest` plays those blocks of the last epoch that are
    begun and whose entrants are all still there: they are finished before the new one begins."""

    entrants: tuple[Entrant, ...]
    added: tuple[Entrant, ...]
    field: tuple[int, ...]
    change: Change
    begins: bool
    schedule: Schedule
    rest: Schedule


def continuation(store: Store, tournament: Tournament, bots: Sequence[Entrant]) -> Continuation:
    """What a tournament of these bots, in the order of its entrants, adds to a file.

    ConfigError if it is another contest than the file's, whose results cannot be mixed."""
    last, known = store.epochs()[-1], store.entrants()
    _require_same_contest(store, last.tournament, tournament)
    places = {(each.name, each.version): n for n, each in enumerate(known)}
    added = tuple(bot for bot in bots if (bot.name, bot.version) not in places)
    places |= {(each.name, each.version): n for n, each in enumerate(added, len(known))}
    field = tuple(places[bot.name, bot.version] for bot in bots)
    settings = _settings(last.tournament, tournament)
    begins = set(field) != set(last.field) or bool(settings)
    schedule = schedules(store)[-1]
    rest = schedule.limited(_rest(store, field) if begins else ())
    remote = remote_of((*known, *added))
    return Continuation(
        entrants=(*known, *added),
        added=added,
        field=field,
        change=_change((*known, *added), len(known), last.field, field, settings),
        begins=begins,
        schedule=_next(store, tournament, field, rest.blocks(), remote) if begins else schedule,
        rest=rest,
    )


def missing(store: Store, schedule: Schedule) -> Schedule:
    """The part of a schedule whose blocks are not complete."""
    complete = set(store.complete_blocks())
    return schedule.limited(block for block in schedule.blocks() if block not in complete)


def _next(
    store: Store,
    tournament: Tournament,
    field: Collection[int],
    rest: Iterable[Block],
    remote: frozenset[int],
) -> Schedule:
    """The schedule of the epoch after the last, when the rest of that will have been played."""
    members, number = tuple(sorted(field)), len(store.epochs())
    done = _done([*store.complete_blocks(), *rest], members, number)
    return tournament.schedule(store.master_key(), members, number, done, remote)


def _rest(store: Store, field: Collection[int]) -> Iterator[Block]:
    """The blocks of the last epoch that are begun and that this field can finish."""
    last, members = store.epochs()[-1].number, frozenset(field)
    for block in store.begun_blocks():
        if block.epoch == last and members.issuperset(block.group):
            yield block


def _change(
    entrants: Sequence[Entrant],
    known: int,
    before: Collection[int],
    now: Collection[int],
    settings: tuple[str, ...],
) -> Change:
    came = [entrants[n] for n in now if n not in before]
    gone = {entrants[n].name: entrants[n] for n in before if n not in now}
    versions = [(gone.pop(bot.name), bot) for bot in came if bot.name in gone]
    newer = {bot for _, bot in versions}
    return Change(
        newcomers=tuple(bot for bot in came if bot not in newer),
        versions=tuple(versions),
        withdrawn=tuple(gone.values()),
        back=frozenset(came) & frozenset(entrants[:known]),
        unchanged=len(set(before) & set(now)),
        settings=settings,
    )


def _settings(before: Tournament, now: Tournament) -> tuple[str, ...]:
    """What may change, and begins an epoch when it does."""
    pairs = (
        ("format", before.format, now.format),
        ("rounds", before.rounds, now.rounds),
        ("blocks", before.blocks, now.blocks),
        ("startup", before.clock.startup, now.clock.startup),
        ("backoff", before.faults.backoff, now.faults.backoff),
    )
    return tuple(f"{key}: {new}, was {old}" for key, old, new in pairs if new not in (old, None))


def _require_same_contest(store: Store, before: Tournament, now: Tournament) -> None:
    """ConfigError unless results of both may stand in one table."""
    if now.key not in (None, store.master_key()):
        raise ConfigError(
            f"{store.path}: was begun with another key: leave `key` out, or name another file "
            "with -o"
        )
    was, will = dict(_contest(before)), dict(_contest(now))
    for key in will:
        if was.get(key) != will[key]:
            raise ConfigError(
                f"{store.path}: was begun with {key} = {canonical(was.get(key))}, not "
                f"{canonical(will[key])}: put that back, or name another file with -o"
            )


def _contest(tournament: Tournament) -> Iterator[tuple[str, object]]:
    """What stays the same in all epochs, most telling first."""
    rules = rules_to_plain(tournament.rules)
    yield "game", rules.pop("game")
    yield "variant", rules.pop("variant")
    yield from rules.items()
    yield "seatings", tournament.seatings
    for key, value in asdict(tournament.clock).items():
        if key != "startup":
            yield f"clock.{_CLOCK_KEYS.get(key, key)}", value
    for key, value in asdict(tournament.faults).items():
        if key != "backoff":
            yield f"faults.{key}", value

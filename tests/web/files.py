"""Files that the tests of the pages share: what hostile bots left in them, and what happens to a
tournament in its life."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from tests.tournaments.playing import KEY, bots, create, play_all, tournament
from tournaments.config import Tournament
from tournaments.epochs import continuation
from tournaments.schedule import Entrant, commitment
from tournaments.store import Store

SCRIPT = "<script>document.title='owned'</script>"
NAMES = (
    SCRIPT,
    '"><img src=x onerror=alert(1)>',
    "{{ 7*7 }}{% raw %}",
    "\x1b[31mred\u202e\n=1+1",
    "eve" * 60,
)


def hostile(path: Path, matches: int, faults: float = 0.02) -> Path:
    """A tournament of bots with such names, so many of its 60 matches played."""
    plan = tournament(max_deals=2)
    schedule = plan.schedule(KEY, range(5))
    field = tuple(replace(bot, name=name) for bot, name in zip(bots(5), NAMES, strict=True))
    with Store.create(path, plan, KEY, field, commitment(schedule, field)) as store:
        for _ in islice(play_all(store, schedule, faults=faults), matches):
            pass
    return path


CAUSE = "its last words: <b>\x1b[31mno idea"


def eventful(path: Path) -> Path:
    """Three epochs: newcomers, a new version, one who leaves and comes back, a remote entrant, a
    long name; matches that were void or broken off; an entrant suspended in the first epoch, and
    one in the last, which goes on."""
    plan = tournament(max_deals=1)
    alice, bob, carol, dave, eve = bots(5, remote=(3,))
    eve = replace(eve, name=NAMES[4])
    store, schedule = create(path, plan, 4, remote=(3,))
    with store:
        wave = list(islice(schedule.blocks(), 1))
        for spoilt in (True, True, False):
            first = next(iter(schedule.generation(wave, 0, store.attempts)))
            store.start_attempt(first, 0)
            if spoilt:
                store.void_open_attempts("no memory")
            store.abandon_open_attempts()
        list(play_all(store, schedule))
        store.suspend(0, 0, CAUSE)
        store.publish(0)
    newer = Entrant(bob.name, "f" * 64, bob.source, bob.run)
    field = [alice, newer, dave, eve]
    _again(path, replace(plan, rounds=2), field)
    _again(path, replace(plan, rounds=2), [*field, carol], ends=False)
    return path


def _again(path: Path, plan: Tournament, field: Sequence[Entrant], *, ends: bool = True) -> None:
    with Store.open(path, write=True) as store:
        further = continuation(store, plan, field)
        bound = commitment(further.schedule, further.entrants)
        store.add_epoch(plan, further.added, further.schedule.entrants, bound)
        list(islice(play_all(store, further.schedule), None if ends else 20))
        if ends:
            store.publish(further.schedule.epoch)
        else:
            store.suspend(further.field[3], further.schedule.epoch, CAUSE)

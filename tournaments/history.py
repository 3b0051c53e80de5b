"""What is to be known of a tournament beside its results: who came and went, who was suspended,
what had to be played again, and what protected the bots from each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import starmap

from tournaments.confining import without_isolation
from tournaments.epochs import changes
from tournaments.store import Store


@dataclass(frozen=True, slots=True)
class Turn:
    """An epoch after the first: who came (`newcomers`, and those `back` from an earlier one), who
    took whose place, and who left, all by index of entrant; `settings` are lines for people."""

    epoch: int
    newcomers: tuple[int, ...]
    back: frozenset[int]
    versions: tuple[tuple[int, int], ...]
    withdrawn: tuple[int, ...]
    settings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Suspension:
    """An entrant that forfeited the rest of an epoch; the cause is None where it is not told."""

    entrant: int
    epoch: int
    cause: str | None


@dataclass(frozen=True, slots=True)
class History:
    """`begun` is in seconds since 1970, `bots` how many began. `void` counts how often a match was
    spoilt by the machine or the referee, `abandoned` how often the referee ended meanwhile: then
    it is played again. `isolation` is a line that says that bots were not kept apart, or empty."""

    begun: float
    bots: int
    turns: tuple[Turn, ...]
    suspensions: tuple[Suspension, ...]
    void: int
    abandoned: int
    isolation: str

    def suspended(self, entrant: int) -> Suspension | None:
        """An entrant's suspension in the last epoch."""
        own = (each for each in self.suspensions if each.entrant == entrant)
        return next((each for each in own if each.epoch == len(self.turns)), None)

    def successor(self, entrant: int) -> int | None:
        """The version of an entrant that took its place."""
        return next((new for old, new in self._versions() if old == entrant), None)

    def predecessor(self, entrant: int) -> int | None:
        """The version of an entrant whose place it took."""
        return next((old for old, new in self._versions() if new == entrant), None)

    def _versions(self) -> Iterator[tuple[int, int]]:
        """The latest first, for an older version may have come back."""
        return (pair for turn in reversed(self.turns) for pair in turn.versions)


def history(store: Store, *, anonymous: bool = False, open_blocks: bool = False) -> History:
    """That of a tournament, as its file tells it now. Causes may be in a bot's own words, which may
    tell its cards: they are left out while its epoch goes on (unless `open_blocks`), and if
    `anonymous`."""
    epochs, tally = store.epochs(), store.tally()
    last = epochs[-1]
    told = open_blocks or last.published is not None

    def suspension(entrant: int, epoch: int, cause: str) -> Suspension:
        shown = not anonymous and (told or epoch < last.number)
        return Suspension(entrant, epoch, cause if shown else None)

    return History(
        begun=epochs[0].started,
        bots=len(epochs[0].field),
        turns=_turns(store),
        suspensions=tuple(starmap(suspension, store.suspensions())),
        void=tally.void_attempts,
        abandoned=tally.abandoned_attempts,
        isolation=without_isolation(store.sandboxes()),
    )


def _turns(store: Store) -> tuple[Turn, ...]:
    index = {entrant: n for n, entrant in enumerate(store.entrants())}
    return tuple(
        Turn(
            epoch=number,
            newcomers=tuple(index[each] for each in change.newcomers),
            back=frozenset(index[each] for each in change.back),
            versions=tuple((index[old], index[new]) for old, new in change.versions),
            withdrawn=tuple(index[each] for each in change.withdrawn),
            settings=change.settings,
        )
        for number, change in enumerate(changes(store), 1)
    )

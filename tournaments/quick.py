"""A few matches at once, without a file: what `knavery play` does.

`matches` deals different cards in each match, with the seats turning, and so needs one process a
bot. `block` plays one sequence of deals under every seating, and so needs one process a bot and
seating, as in a tournament.
"""

import secrets
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as default
from pathlib import Path

from referee import leftovers
from referee.games.rules import Rules
from referee.house import open_house
from referee.match import ClockRules, FaultRules, MatchResult
from tournaments.runner import Entered, play_matches
from tournaments.schedule import Schedule, Scheduled, Seat, usual_seatings


@dataclass(frozen=True, slots=True)
class Match:
    """A match that was played: `entrants` are indices into the bots, by seat."""

    entrants: tuple[int, ...]
    result: MatchResult


@dataclass(slots=True)
class _Notebook:
    """Keeps results in memory."""

    matches: list[Match] = default(default_factory=list)

    def process(self, seat: Seat, restart: int) -> None: ...

    def arrived(self, seat: Seat) -> None: ...

    def crash(self, seat: Seat, cause: str) -> None: ...

    def given_up(self, seat: Seat, cause: str) -> None: ...

    def begin(self, matches: Sequence[Scheduled]) -> None: ...

    def finish(self, match: Scheduled, result: MatchResult) -> None:
        self.matches.append(Match(tuple(seat.entrant for seat in match.seats), result))


def schedule_of(
    rules: Rules, count: int, rounds: int, clock: ClockRules, faults: FaultRules
) -> Schedule:
    """One group, with a fresh key."""
    return Schedule(
        rules=rules,
        entrants=tuple(range(count)),
        key=secrets.token_bytes(32),
        rounds=rounds,
        seatings=usual_seatings(rules),
        clock=clock,
        faults=faults,
    )


async def play(
    field: Mapping[int, Entered],
    rules: Rules,
    *,
    matches: int = 1,
    block: bool = False,
    clock: ClockRules | None = None,
    faults: FaultRules | None = None,
) -> list[Match]:
    """Plays with real processes and gives the matches in the order of the schedule.

    `field` is a full table."""
    clock, faults = clock or ClockRules(), faults or FaultRules()
    schedule = schedule_of(rules, len(field), 1 if block else matches, clock, faults)
    notebook = _Notebook()
    with tempfile.TemporaryDirectory(prefix=leftovers.prefix()) as logs:
        async with open_house(rules.game, clock, faults, Path(logs)) as house:
            for generation in _generations(schedule, block):
                await play_matches(house, field, generation, notebook)
    return notebook.matches


def _generations(schedule: Schedule, block: bool) -> Iterable[Sequence[Scheduled]]:
    """What each generation of processes plays: no process meets the same deals twice."""
    blocks = tuple(schedule.blocks())
    if not block:
        turn = schedule.generations
        return [[schedule.match(each, each.number % turn) for each in blocks]]
    return [list(schedule.generation(blocks, number)) for number in range(schedule.generations)]

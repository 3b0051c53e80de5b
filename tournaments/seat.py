"""A match of bots and one person, who has a seat like any bot's: what `knavery play --me` does."""

import secrets
import tempfile
from collections.abc import Sequence
from pathlib import Path

from referee import leftovers
from referee.companions import Answer, Companion
from referee.games.rules import Rules
from referee.games.shuffle import derive, seed64
from referee.generation import Contestant, play_generation
from referee.house import open_house
from referee.match import ClockRules, FaultRules, MatchJob, MatchResult
from referee.player import Player
from referee.tables import Seated, Tables
from tournaments.quick import Match
from tournaments.runner import Entered

NO_HURRY = ClockRules(limit=1e9)
"""A person's clock: decades for a decision, in seconds."""


class _Nobody:
    """Does not look at the processes: what goes wrong with them is in the result."""

    def starting(self, player: Player, restart: int) -> None: ...

    def arrived(self, player: Player) -> None: ...

    def lost(self, player: Player, cause: str) -> None: ...

    def given_up(self, player: Player, cause: str) -> None: ...


async def play(
    bots: Sequence[Entered], rules: Rules, answer: Answer, seat: int | None = None
) -> Match:
    """A match in which `answer` decides for a seat, drawn if not given, and the bots sit clockwise
    from there. In the result the person is entrant 0, and the bots follow."""
    n = rules.players
    own = secrets.randbelow(n) if seat is None else seat
    entrants = tuple((place - own) % n for place in range(n))
    key, clock, faults = secrets.token_bytes(32), ClockRules(), FaultRules()
    job = MatchJob(
        id="match",
        public_id=derive(key, "id").hex()[:16],
        rules=rules,
        deals_key=derive(key, "deals"),
        seeds=tuple(seed64(key, "seed", place) for place in range(n)),
        clock=clock,
        faults=faults,
    )
    person = Player("person", NO_HURRY)
    players = [Player(f"bot {index}", clock) for index in range(n - 1)]
    names = [person.name, *(player.name for player in players)]
    results: list[MatchResult] = []
    tables = Tables(
        [Seated(job, tuple(names[index] for index in entrants))],
        [person, *players],
        lambda _: None,
        lambda _, result: results.append(result),
        in_flight=1,
    )
    contestants = [
        Contestant(player, bot.prepared, bot.max_tables)
        for player, bot in zip(players, bots, strict=True)
    ]
    companions = [Companion(person, answer)]
    with tempfile.TemporaryDirectory(prefix=leftovers.prefix()) as logs:
        async with open_house(rules.game, clock, faults, Path(logs)) as house:
            await play_generation(house, contestants, tables, _Nobody(), companions)
    return Match(entrants, results[0])

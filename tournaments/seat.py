"""A match of bots and one person, who has a seat like any bot's: what `knavery play --me` does, and
`knavery serve --play`."""

import secrets
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Protocol

from knavery.v1 import game_pb2 as game
from knavery.v1 import referee_pb2 as pb
from referee import leftovers, wire
from referee.companions import Companion
from referee.games.rules import Rules
from referee.games.shuffle import derive, seed64
from referee.generation import Contestant, play_generation
from referee.house import open_house
from referee.match import ClockRules, Event, Fault, Faulted, FaultRules, MatchJob, MatchResult
from referee.player import Batch, Move, Player, Withdraw
from referee.tables import Seated, Tables
from tournaments.quick import Match
from tournaments.runner import Entered

NO_HURRY = ClockRules(limit=1e9)
"""A person's clock: decades for a decision, in seconds."""


class Sitter(Protocol):
    """Who sits in the seat, and reads what a bot in it would."""

    async def decide(self, decision: game.Decision) -> Move:
        """A bid or a card, once it is chosen."""
        ...

    async def hear(self, event: pb.Event) -> None:
        """Anything else; nothing more is read before this is done."""
        ...


class Onlooker:
    """Who is told of the bots at the table, by number: what is public, and what went wrong. This
    one does nothing with it."""

    def seated(self, entrants: tuple[int, ...]) -> None:
        """Who sits where: by seat, 0 for the person, 1 for the first bot."""

    def arrived(self, bot: int) -> None:
        """A bot's process has come: from now on it may know cards."""

    def faulted(self, bot: int, fault: Fault, *, out: bool) -> None:
        """A bot failed to decide; `out`: once too often. The fault's words are the bot's, and may
        tell its cards."""

    def lost(self, bot: int, cause: str) -> None:
        """A bot's process ended when it should not have; it is started again."""

    def given_up(self, bot: int, cause: str) -> None:
        """A bot's processes failed too often: stand-ins play for it from now on."""


class _Bot(Player):
    """A bot's player, of whose faults an onlooker hears too."""

    def __init__(self, number: int, rules: ClockRules, onlooker: Onlooker) -> None:
        super().__init__(f"bot {number - 1}", rules)
        self.number = number
        self._onlooker = onlooker

    def tell(self, event: Event | Withdraw, now: float) -> None:
        if isinstance(event, Faulted):
            self._onlooker.faulted(self.number, event.fault, out=event.forfeit)
        super().tell(event, now)


class _Watcher:
    """Tells an onlooker of processes."""

    def __init__(self, onlooker: Onlooker) -> None:
        self._onlooker = onlooker

    def starting(self, player: Player, restart: int) -> None: ...

    def arrived(self, player: Player) -> None:
        assert isinstance(player, _Bot)
        self._onlooker.arrived(player.number)

    def lost(self, player: Player, cause: str) -> None:
        assert isinstance(player, _Bot)
        self._onlooker.lost(player.number, cause)

    def given_up(self, player: Player, cause: str) -> None:
        assert isinstance(player, _Bot)
        self._onlooker.given_up(player.number, cause)


async def play(
    bots: Sequence[Entered],
    rules: Rules,
    sitter: Sitter,
    seat: int | None = None,
    onlooker: Onlooker | None = None,
) -> Match:
    """A match in which `sitter` has a seat, drawn if not given, and the bots sit clockwise from
    there. In the result the person is entrant 0, and the bots follow."""
    onlooker = onlooker or Onlooker()
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
    players = [_Bot(number, clock, onlooker) for number in range(1, n)]
    onlooker.seated(entrants)
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
    companions = [Companion(person, partial(_answers, sitter))]
    with tempfile.TemporaryDirectory(prefix=leftovers.prefix()) as logs:
        async with open_house(rules.game, clock, faults, Path(logs)) as house:
            await play_generation(house, contestants, tables, _Watcher(onlooker), companions)
    return Match(entrants, results[0])


async def _answers(sitter: Sitter, batch: Batch) -> Sequence[Move]:
    """The moves for a batch, whose messages the sitter reads in their order."""
    moves = []
    for event in wire.event_messages(batch):
        if event.HasField("decision"):
            moves.append(await sitter.decide(event.decision))
        else:
            await sitter.hear(event)
    return moves

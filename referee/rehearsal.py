"""Matches of one bot with the real referee, listened in on: what `knavery check` judges.

A rehearsal plays generations as a tournament does, with the bot as the only process and companions
in the other seats. Between the referee and the bot's post stands a `Tap`, which writes down what
goes through; `taps.py` has some that make the referee behave as it rarely does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import trio

from knavery.v1 import game_pb2 as game
from knavery.v1 import referee_pb2 as pb
from referee.bots import Prepared
from referee.clock import ProcessClock
from referee.companions import Companion
from referee.exits import Exit
from referee.games.rules import Rules
from referee.games.shuffle import derive, seed64
from referee.generation import Contestant, play_generation
from referee.house import House, Line
from referee.match import ClockRules, FaultRules, MatchJob, MatchResult
from referee.player import Player
from referee.process import Process
from referee.server import BadMessage, HungUp
from referee.streams import Meter
from referee.tables import Seated, Tables

FAULTS = 4
"""Faults of a match that are of interest; with one more the bot forfeits it and is spared it."""
EXIT_PATIENCE = 3.0
"""Seconds that a bot has to exit when it was sent away, or when its stream has ended."""
_BOT = "the bot"
_KEY = b"knavery check"


@dataclass(frozen=True, slots=True)
class Asked:
    """A decision that the bot was sent: what kind it was, and where."""

    kind: str
    where: str


@dataclass(frozen=True, slots=True)
class Slip:
    """A fault that the bot was told of."""

    kind: str
    asked: Asked | None
    cause: str
    answer: pb.Move | None


@dataclass(slots=True, eq=False)
class Life:
    """One process of the bot, as it showed itself on its stream. Times in seconds, sizes in
    bytes."""

    clock: ProcessClock
    process: Process | None = None
    hello: pb.Hello | None = None
    hello_after: float = 0.0
    asked: dict[int, Asked] = field(default_factory=dict)
    open: set[int] = field(default_factory=set)
    answers: dict[int, pb.Move] = field(default_factory=dict)
    spent: list[float] = field(default_factory=list)
    """What each decision cost, as the clock counts it, grace included."""
    slips: list[Slip] = field(default_factory=list)
    strays: Counter[str] = field(default_factory=Counter)
    """Answers that are none, in words, with how often."""
    refused: list[str] = field(default_factory=list)
    """Why streams of it were sent away."""
    end: str = ""
    """Why its stream ended, if it did."""
    largest: int = 0
    """Decisions in its largest batch."""
    memory: int = 0
    exit: Exit | None = None
    """How it ended by itself, where a tap has waited for that."""

    def sent(self, now: float, events: Sequence[pb.Event]) -> None:
        """The referee sends these."""
        for event in events:
            if event.HasField("decision"):
                decision = event.decision
                self.asked[decision.id] = _asked(decision)
                self.open.add(decision.id)
            elif event.HasField("withdrawn"):
                self.open.discard(event.withdrawn.decision)
            elif event.HasField("fault"):
                self._slip(event.fault)
        size = sum(event.HasField("decision") for event in events)
        if size:
            self.largest = max(self.largest, size)
            self.clock.sent(now, len(self.open))

    def _slip(self, notice: pb.FaultNotice) -> None:
        kind = pb.FaultKind.Name(notice.kind).removeprefix("FAULT_KIND_").lower()
        number = notice.decision
        self.slips.append(
            Slip(kind, self.asked.get(number), notice.cause, self.answers.get(number))
        )

    def heard(self, at: float, moves: pb.Moves) -> None:
        """A message of the bot arrived at `at`."""
        if not moves.moves:
            self.strays["a Moves message without a move"] += 1
        answered = 0
        for move in moves.moves:
            number = move.decision
            if number in self.open:
                self.open.discard(number)
                self.answers[number] = move
                answered += 1
            elif number in self.answers:
                self.strays["a second answer to a decision that it had answered"] += 1
            elif number not in self.asked:
                self.strays["an answer to a decision that it was never asked"] += 1
        if answered:
            self.spent += [self.clock.answered(at, answered)] * answered


def _asked(decision: game.Decision) -> Asked:
    rules = decision.rules
    name = {"knave": "knave", "ninety_nine": "ninety-nine"}[rules.WhichOneof("game") or ""]
    where = f"{name} {rules.variant}, deal {decision.deal}, seat {decision.seat}"
    return Asked(position(decision), where)


def position(decision: game.Decision) -> str:
    """What kind of decision it is, in words: one of `positions`."""
    if decision.HasField("bid_request"):
        return BIDS[decision.HasField("last_dealt")]
    if not decision.HasField("play_request"):
        return UNKNOWN
    if not decision.trick:
        return LEAD
    led = decision.trick[0] // 13
    if len(decision.hand) == 1:
        return LAST
    return FOLLOW if decision.play_request.legal[0] // 13 == led else DISCARD


LEAD = "a lead"
FOLLOW = "following suit"
DISCARD = "another suit than the one led"
LAST = "the last card"
UNKNOWN = "a request that this version does not know"
BIDS = ("a bid", "a bid of the dealer")


def positions(rules: Rules) -> tuple[str, ...]:
    """The kinds of decisions of a game."""
    return ((*BIDS, LEAD) if rules.bid_cards else (LEAD,)) + (FOLLOW, DISCARD, LAST)


class Tap:
    """A post that is listened in on. One that makes the referee behave differently overrides
    `deliver`, and whatever else it must."""

    def __init__(self, post: Line, stage: Stage) -> None:
        self.address = post.address
        self.token = post.token
        self.refused = post.refused
        self.post = post
        self.stage = stage
        self.life = Life(ProcessClock(stage.clock), refused=post.refused)

    async def hello(self) -> pb.Hello:
        hello = await self.post.hello()
        self.life.process = max(self.stage.house.launcher.running, key=lambda p: p.started_at)
        self.life.hello_after = trio.current_time() - self.life.process.started_at
        self.life.hello = hello
        return hello

    async def welcome(self, welcome: pb.Welcome) -> None:
        await self.post.welcome(welcome)

    async def reject(self, reason: str) -> None:
        await self.post.reject(reason)

    async def send(self, message: pb.FromReferee | bytes) -> None:
        if isinstance(message, bytes):
            message = pb.FromReferee.FromString(message)
        last = any(event.HasField("goodbye") for event in message.envelope.events)
        if last and self.life.process:
            self.life.memory = self.life.process.peak_memory()
        await self.deliver(message)
        if last:
            await self.part()

    async def deliver(self, message: pb.FromReferee) -> None:
        """Sends a message on, or what is to be sent in its place."""
        self.life.sent(self.stage.house.now(), message.envelope.events)
        await self.post.send(message)

    async def part(self) -> None:
        """Called after the goodbye."""

    @property
    def cpu(self) -> float | None:
        return self.post.cpu

    def measure(self, meter: Meter) -> None:
        self.post.measure(meter)

    async def caught_up(self) -> None:
        await self.post.caught_up()

    async def receive(self) -> tuple[float, pb.Moves]:
        try:
            at, moves = await self.post.receive()
        except BadMessage:
            self.life.strays["a message that is no knavery.v1.FromBot with Moves"] += 1
            raise
        except HungUp as end:
            self.life.end = str(end)
            await self._exit()
            raise
        self.life.heard(at, moves)
        return at, moves

    async def _exit(self) -> None:
        """Waits for the exit that may have ended the stream: it tells more than a hang-up does."""
        if self.life.process is not None:
            with trio.move_on_after(EXIT_PATIENCE):
                await self.life.process.wait()

    async def close(self) -> None:
        await self.post.close()

    async def see_out(self, patience: float) -> None:
        """Waits for the process to end by itself, for so many seconds, even when the referee
        would have it ended."""
        if self.life.process is None:
            return
        with trio.CancelScope(shield=True), trio.move_on_after(patience):
            self.life.exit = await self.life.process.wait()


@dataclass(slots=True, eq=False)
class Stage:
    """One generation and what was seen in it: where its lines come from, and who watches it."""

    house: House
    tap: type[Tap]
    clock: ClockRules
    player: Player
    scope: trio.CancelScope = field(default_factory=trio.CancelScope)
    """Cancelled, the generation is over."""
    taps: list[Tap] = field(default_factory=list)
    results: list[MatchResult] = field(default_factory=list)
    losses: list[str] = field(default_factory=list)
    """Why processes ended that should not have."""
    hung_up: bool = False
    """Whether a tap has ended the stream before its time."""

    async def listen(self) -> Tap:
        tap = self.tap(await self.house.door.listen(), self)
        self.taps.append(tap)
        return tap

    def starting(self, player: Player, restart: int) -> None: ...
    def arrived(self, player: Player) -> None: ...
    def given_up(self, player: Player, cause: str) -> None: ...

    def lost(self, player: Player, cause: str) -> None:  # noqa: ARG002
        self.losses.append(cause)

    @property
    def lives(self) -> list[Life]:
        return [tap.life for tap in self.taps]

    @property
    def slips(self) -> list[Slip]:
        return [slip for life in self.lives for slip in life.slips]

    @property
    def decisions(self) -> int:
        """Decisions that were answered."""
        return sum(len(life.answers) for life in self.lives)


class Rehearsal:
    """A bot that can be tried again and again, and all that was seen of it."""

    def __init__(self, house: House, prepared: Prepared, max_tables: int | None) -> None:
        self.clock = house.clock
        self.lives: list[Life] = []
        self._house = house
        self._prepared = prepared
        self._max_tables = max_tables

    async def play(
        self,
        rules: Sequence[Rules],
        tap: type[Tap] = Tap,
        *,
        restarts: int = 0,
        clock: ClockRules | None = None,
    ) -> Stage:
        """Plays a match of each of these rules, all of one game, at once as far as the bot is
        willing; the bot sits in another seat each time."""
        clock = clock or self.clock
        faults = FaultRules(FAULTS, restarts)
        house = replace(self._house, game=rules[0].game, clock=clock, faults=faults)
        stage = Stage(house, tap, clock, Player(_BOT, clock))
        house = replace(house, door=stage)
        companions = [Player(f"companion {n}", clock) for n in range(max(r.players for r in rules))]
        tables = Tables(
            [_seated(each, n, clock, faults) for n, each in enumerate(rules)],
            [stage.player, *companions],
            lambda _: None,
            lambda _, result: stage.results.append(result),
            in_flight=len(rules),
        )
        bot = Contestant(stage.player, self._prepared, self._max_tables)
        with stage.scope:
            await play_generation(house, [bot], tables, stage, [*map(Companion, companions)])
        self.lives += stage.lives
        return stage


def _seated(rules: Rules, number: int, clock: ClockRules, faults: FaultRules) -> Seated:
    """A table with the bot at it. The same each time, so that what went wrong can be repeated."""
    key = derive(_KEY, number)
    own = number % rules.players
    players = [f"companion {seat}" for seat in range(rules.players)]
    players[own] = _BOT
    job = MatchJob(
        id=f"rehearsal {number}",
        public_id=derive(key, "id").hex()[:16],
        rules=rules,
        deals_key=derive(key, "deals"),
        seeds=tuple(seed64(key, "seed", seat) for seat in range(rules.players)),
        clock=clock,
        faults=faults,
    )
    return Seated(job, tuple(players))

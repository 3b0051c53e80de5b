"""Jobs and tables without processes: scripted bots and a clock that the test turns."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from referee.games.registry import make_rules
from referee.match import Ask, ClockRules, FaultRules, Match, MatchJob, MatchResult, Output, Tell
from referee.player import Batch, Move, Player
from referee.tables import Seated, Tables

Answer = Callable[[Ask], Move | None]


def job(
    game: str = "knave",
    number: int = 0,
    *,
    clock: ClockRules | None = None,
    faults: FaultRules | None = None,
    **fields: object,
) -> MatchJob:
    """A job with a key of its own."""
    rules = make_rules(game, **fields)
    return MatchJob(
        id=f"job-{number}",
        public_id=f"{number:016x}",
        rules=rules,
        deals_key=number.to_bytes(32, "big"),
        seeds=tuple(range(rules.players)),
        clock=clock or ClockRules(),
        faults=faults or FaultRules(),
    )


def asks(outputs: Iterable[Output]) -> list[Ask]:
    return [output for output in outputs if isinstance(output, Ask)]


def events(outputs: Iterable[Output]) -> list[Tell]:
    return [output for output in outputs if isinstance(output, Tell)]


def smallest(ask: Ask) -> Move:
    """The move of a bot that plays its smallest legal cards."""
    return Move(ask.id, ask.match.deal.stand_in(ask.seat))


def largest(ask: Ask) -> Move:
    """The move of a bot that plays its largest legal cards."""
    view = ask.match.deal.view(ask.seat)
    return Move(ask.id, view.legal[-ask.match.deal.choose :])


def play_out(match: Match) -> MatchResult:
    """Plays a match to its end with the smallest cards everywhere."""
    waiting = asks(match.start())
    while waiting:
        ask = waiting.pop(0)
        waiting += asks(match.answer(ask, match.deal.stand_in(ask.seat)))
    assert match.result is not None
    return match.result


@dataclass
class Table:
    """Tables with a time of their own, in seconds, and players that answer by a script.

    `used` is what their processes have used, in seconds, when a decision looks late. A script that
    returns None for a decision leaves it open."""

    jobs: Sequence[Seated]
    clock: ClockRules = field(default_factory=ClockRules)
    in_flight: int | None = None
    cores: int = 2
    now: float = 1000.0

    def __post_init__(self) -> None:
        names = sorted({name for seated in self.jobs for name in seated.players})
        self.players = {name: Player(name, self.clock) for name in names}
        self.started: list[Seated] = []
        self.results: dict[str, MatchResult] = {}
        self.used = dict.fromkeys(names, 0.0)
        self.sent: dict[str, list[Batch]] = {name: [] for name in names}
        self.tables = Tables(
            self.jobs,
            list(self.players.values()),
            self.started.extend,
            lambda seated, result: self.results.update({seated.job.id: result}),
            self.in_flight,
            self.cores,
        )

    def begin(self, *arrived: str) -> None:
        """Lets these players arrive (default: all) and seats the first matches."""
        for name in arrived or tuple(self.players):
            self.tables.arrived(self.players[name], None, None)
            self.players[name].read(self.now, 0.0)
            self.players[name].stirred(self.now)
        self.tables.fill(self.now)

    def send(self, name: str) -> Batch | None:
        """What this player is sent now."""
        player = self.players[name]
        batch = self.tables.next_batch(player, self.now)
        if batch is not None:
            self.sent[name].append(batch)
            if batch.asks:
                player.sent(self.now)
        return batch

    def reply(self, name: str, moves: Iterable[Move], cpu: float | None = None) -> None:
        """A message of moves arrives now; `cpu` is what its process has used, in seconds."""
        self.tables.received(self.players[name], self.now, moves, cpu)

    def look(self, name: str, cpu: float) -> None:
        """What a referee does when a decision looks late: it reads what the process has used."""
        self.players[name].read(self.now, cpu)
        self.tables.tick(self.players[name], self.now)

    def serve(self, name: str, script: Answer, seconds: float = 0.001) -> bool:
        """Sends a player its batch, and its script's moves after so many seconds."""
        batch = self.send(name)
        if batch is None or not batch.asks:
            return False
        self.now += seconds
        moves = [move for ask in batch.asks if (move := script(ask))]
        if moves:
            self.reply(name, moves)
        return True

    def wait(self, seconds: float) -> None:
        """Lets time pass, and looks at every player's clock whenever it has something to say."""
        end = self.now + seconds
        while True:
            due = [
                (deadline, name)
                for name, player in self.players.items()
                if (deadline := player.deadline(self.now)) is not None and deadline <= end
            ]
            if not due:
                break
            at, name = min(due)
            self.now = max(self.now, at)
            if self.players[name].looks_late(self.now):
                self.players[name].read(self.now, self.used[name])
            self.tables.tick(self.players[name], self.now)
            self.send(name)
            if self.players[name].condemned or self.players[name].deadline(self.now) == at:
                break
        self.now = end

    def run(self, scripts: dict[str, Answer], rounds: int = 100_000) -> None:
        """Serves everybody in turn until all matches are over or nobody can go on."""
        for _ in range(rounds):
            if self.tables.done:
                return
            if not any(self.serve(name, script) for name, script in scripts.items()):
                return
        raise AssertionError("the tables do not come to an end")


def seated(count: int = 1, names: str = "abc", **options: object) -> list[Seated]:
    return [Seated(job(number=n, **options), tuple(names)) for n in range(count)]  # type: ignore[arg-type]

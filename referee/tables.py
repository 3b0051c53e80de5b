"""Many matches at once between the players of one generation, without I/O.

The driver (`generation.py`) passes in what arrives and what the time is, and sends what
`next_batch` gives; whoever may have something new to send is in `touched`.
"""

import os
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from referee.match import (
    Ask,
    DealOver,
    Fault,
    Faulted,
    FaultKind,
    Match,
    MatchJob,
    MatchResult,
    Output,
)
from referee.player import Batch, Move, Player

WORK_AHEAD = 0.1
"""Seconds of work that a batch should hold: decides how many tables are in flight."""
COMPANY_WAIT = 0.003
"""Seconds that a decision waits for others to fill its batch, while other bots are thinking. A
message costs the referee and the bot as much as some twenty decisions."""
LEAST_TABLES = 3
"""Tables in flight for each process, at least."""
FIRST_TABLES = 16
"""The same before anything is known of how fast it is."""
DRAINING = 0.5
"""Share of a generation's play that is left when the processes of the next one may start: room for
all of them, one after the other, for while it drains a core is kept free of starts."""


@dataclass(frozen=True, slots=True, eq=False)
class Seated:
    """A job and who sits at its table, by seat: names of players in this generation."""

    job: MatchJob
    players: tuple[str, ...]


class Tables:
    """The tables of one generation; nothing is played before the first `fill`.

    `on_start` is called with jobs before anything of them is sent, `on_result` with each
    result, `on_forfeit` with the fault that was one too many. `in_flight` fixes the number of
    matches under way; None adapts it."""

    def __init__(
        self,
        jobs: Iterable[Seated],
        players: Sequence[Player],
        on_start: Callable[[Sequence[Seated]], None],
        on_result: Callable[[Seated, MatchResult], None],
        in_flight: int | None = None,
        cores: int | None = None,
        on_forfeit: Callable[[Seated, Fault], None] | None = None,
    ) -> None:
        self.touched: set[Player] = set()
        self._waiting = deque(jobs)
        self._count = len(self._waiting)
        self._expected = Counter(name for each in self._waiting for name in each.players)
        self._filled = False
        self._draining = False
        self._patience = 0
        self._players = {player.name: player for player in players}
        self._running: dict[Match, Seated] = {}
        self._seats: dict[Match, tuple[Player, ...]] = {}
        self._on_start = on_start
        self._on_result = on_result
        self._on_forfeit = on_forfeit
        self._in_flight = in_flight
        self._cores = cores or os.cpu_count() or 1
        self._absent: dict[Player, str] = {}

    @property
    def done(self) -> bool:
        return not self._waiting and not self._running

    @property
    def draining(self) -> bool:
        """Whether no match waits, and little is left to be played of those under way."""
        return self._draining

    def over(self, player: Player) -> bool:
        """Whether this player has nothing left to play, or is out."""
        return player in self._absent or not self._expected[player.name]

    # Seating.

    def fill(self, now: float) -> None:
        """Play begins: starts as many matches as may be under way, now and from now on."""
        self._filled = True
        self._refill(now)
        self._look_for_the_end()

    def _refill(self, now: float) -> None:
        if not self._filled:
            return
        while seated := self._take(self._target() - len(self._running)):
            self._on_start(seated)
            for each in seated:
                self._start(each, now)

    def _target(self) -> int:
        if self._in_flight is not None:
            return self._in_flight
        return sum(self._tables_for(player) for player in self._players.values())

    def _tables_for(self, player: Player) -> int:
        wanted = int(WORK_AHEAD / player.pace) if player.pace else FIRST_TABLES
        return max(LEAST_TABLES, min(wanted, player.max_batch))

    def _take(self, count: int) -> list[Seated]:
        """The next jobs whose players all have a table free."""
        if count <= 0 or not self._waiting:
            return []
        taken: list[Seated] = []
        kept: list[Seated] = []
        load = {name: len(player.matches) for name, player in self._players.items()}
        while self._waiting and len(taken) < count:
            seated = self._waiting.popleft()
            if all(self._has_room(name, load) for name in seated.players):
                for name in seated.players:
                    load[name] += 1
                taken.append(seated)
            else:
                kept.append(seated)
        self._waiting.extendleft(reversed(kept))
        return taken

    def _has_room(self, name: str, load: dict[str, int]) -> bool:
        most = self._players[name].max_tables
        return most is None or load[name] < most

    def _start(self, seated: Seated, now: float) -> None:
        match = Match(seated.job)
        self._running[match] = seated
        players = self._seats[match] = tuple(self._players[name] for name in seated.players)
        for seat, player in enumerate(players):
            player.matches[match] = seat
        self._pass_on(match, match.start(), now)
        for seat, player in enumerate(players):
            if player in self._absent:
                outputs = match.forfeit(seat, FaultKind.ABSENT, self._absent[player])
                self._pass_on(match, outputs, now)

    def _pass_on(self, match: Match, outputs: Iterable[Output], now: float) -> None:
        """Hands decisions and events to the players of the match."""
        players = self._seats[match]
        for output in outputs:
            if isinstance(output, Ask):
                player = players[output.seat]
                player.ask(output, now)
                self.touched.add(player)
                continue
            for seat in output.seats:
                players[seat].tell(output.event, now)
                self.touched.add(players[seat])
            if isinstance(output.event, DealOver):
                self._look_for_the_end()
            elif isinstance(output.event, Faulted) and output.event.forfeit and self._on_forfeit:
                self._on_forfeit(self._running[match], output.event.fault)
        if match.result:
            self._end(match, match.result)

    def _look_for_the_end(self) -> None:
        """A deal that ends brings a match nearer to its end, by one match at most: so it is known
        for how many deals there is no need to look at all of them again."""
        if self._draining or self._waiting or not self._filled:
            return
        self._patience -= 1
        if self._patience > 0:
            return
        left = sum(1 - match.progress for match in self._running) - DRAINING * self._count
        self._draining = left <= 0
        self._patience = int(left)

    def _end(self, match: Match, result: MatchResult) -> None:
        seated = self._running.pop(match)
        for player in self._seats.pop(match):
            del player.matches[match]
            self._expected[player.name] -= 1
        self._on_result(seated, result)
        self._look_for_the_end()

    # What the driver reports.

    def arrived(self, player: Player, max_tables: int | None, max_batch: int | None) -> None:
        """A process of this player said hello; one that was given up meanwhile stays out."""
        if player in self._absent:
            return
        player.arrived(max_tables, max_batch)
        self.touched.add(player)

    def received(
        self, player: Player, now: float, moves: Iterable[Move], cpu: float | None = None
    ) -> None:
        """A message of moves arrived at `now`; `cpu` is the processor time that the player's
        process had used by then, in seconds, where that is what counts."""
        if cpu is not None:
            player.read(now, cpu)
        answers = player.received(now, moves)
        spent, sent_at = answers.spent, player.sent_at
        for ask, move in answers.answered:
            self._pass_on(ask.match, _apply(ask, move, spent, sent_at), now)
        for ask, cause in answers.overrun:
            self._late(ask, cause, spent, sent_at, now)
        self._after(player, now)

    def _late(self, ask: Ask, cause: str, spent: float, sent_at: float, now: float) -> None:
        queued = max(0.0, sent_at - ask.since)
        outputs = ask.match.fault(ask, FaultKind.LATE, cause, spent, queued)
        self._pass_on(ask.match, outputs, now)

    def tick(self, player: Player, now: float) -> None:
        """Looks whether anything of this player is late, and whether it is to rest."""
        while late := player.overdue(now):
            ask, spent, cause = late
            self._late(ask, cause, spent, player.sent_at, now)
            self._after(player, now)
        player.rest(now)

    def lost(self, player: Player, now: float, cause: str) -> None:
        """The player's process ended: a fault in each match with a decision open."""
        for ask in player.lost(now):
            self._pass_on(ask.match, ask.match.fault(ask, FaultKind.CRASHED, cause), now)
        self._after(player, now)

    def give_up(self, player: Player, now: float, cause: str) -> None:
        """No process of this player will come again: it forfeits its matches in this generation."""
        self._absent[player] = cause
        matches = dict(player.matches)
        player.gone()
        for match, seat in matches.items():
            self._pass_on(match, match.forfeit(seat, FaultKind.ABSENT, cause), now)
        self._after(player, now)

    def _after(self, player: Player, now: float) -> None:
        self.touched.add(player)
        self._refill(now)
        if not player.open and self._slow_count(now) < self._cores:
            self.touched.update(
                each for each in self._players.values() if each.is_slow(now) and each.wants_batch
            )

    # What goes out.

    def next_batch(self, player: Player, now: float) -> Batch | None:
        """What to send to this player now, if anything. With decisions in it, call
        `player.sent` when it leaves."""
        if (
            player.wants_batch
            and not self._waits_for_slot(player, now)
            and self._is_full(player, now)
        ):
            return player.next_batch()
        return player.next_events(now)

    def deadline(self, player: Player, now: float) -> float | None:
        """When to look at this player again, if nothing happens before; None: not by itself."""
        deadline = player.deadline(now)
        if not player.wants_batch or self._waits_for_slot(player, now):
            return deadline
        company = player.ready_since + COMPANY_WAIT
        return company if deadline is None else min(deadline, company)

    def _is_full(self, player: Player, now: float) -> bool:
        """Whether a batch is worth its message: it holds its share of the tables, or has waited
        for more to come, or nobody is thinking about anything that could come."""
        return (
            len(player.queue) * len(self._players) >= len(self._running)
            or now >= player.ready_since + COMPANY_WAIT
            or not any(each.open for each in self._players.values())
        )

    def _waits_for_slot(self, player: Player, now: float) -> bool:
        return player.is_slow(now) and self._slow_count(now) >= self._cores

    def _slow_count(self, now: float) -> int:
        return sum(1 for each in self._players.values() if each.open and each.is_slow(now))


def _apply(ask: Ask, move: Move, spent: float, sent_at: float) -> list[Output]:
    queued = max(0.0, sent_at - ask.since)
    if move.cards is not None:
        return ask.match.answer(ask, move.cards, spent, queued, move.note)
    if move.error is not None:
        return ask.match.fault(ask, FaultKind.EXCEPTION, move.error, spent, queued)
    cause = "the move holds neither cards nor an error"
    return ask.match.fault(ask, FaultKind.MALFORMED, cause, spent, queued)

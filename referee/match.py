"""A match as a state machine without I/O: answers or faults in, decisions and events out.

The driver calls `start`, then `answer` or `fault` for each `Ask` it was handed, in any order
and from any clock, and passes on what each call returns. Everything about time is in
`clock.py`; here a charge is just a number that is written down. Design, sections 2 and 5.
"""

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from referee.games import record, shuffle
from referee.games.deal import Deal, IllegalMove
from referee.games.rules import Rules
from referee.games.view import Phase

NOTE_BYTES = 256
NOTE_BYTES_A_DEAL = 1024
DETAIL_BYTES = 2048
LATER = {"later": True}
"""Metadata of a setting that the first tournament files did not have: its default is what was so
then, and it is written down only where it differs (`tournaments.plain.settings`)."""
WALL = "wall"
"""The measure by which a decision costs the time on the wall from the question to the answer."""
CPU = "cpu"
"""The measure by which a decision costs the processor time that the bot's processes used."""
CPU_BACKSTOP = 10
STAND_IN = "stand-in"
"""The policy by which the referee plays for a bot that fails, and the match goes on."""
FORFEIT_AT_ONCE = "forfeit-at-once"
"""The policy by which the first fault forfeits the match, and a person is told why at once."""
_BID = Phase.BID


class RefereeBug(Exception):  # noqa: N818
    """The referee did something wrong. Never a bot's fault; stops the run loudly."""


class FaultKind(enum.IntEnum):
    """How a bot failed to decide properly; the numbers are those of the protocol."""

    ILLEGAL = 1
    MALFORMED = 2
    EXCEPTION = 3
    LATE = 4
    CRASHED = 5
    ABSENT = 6


@dataclass(frozen=True, slots=True)
class ClockRules:
    """What a decision may cost. Seconds; design, section 5. With `ponder` a bot with nothing open
    is not frozen."""

    limit: float = 2.0
    bank: float = 10.0
    increment: float = 0.0
    startup: float = 15.0
    measure: str = WALL
    strict: bool = False
    hang: float | None = None
    ponder: bool = field(default=False, metadata=LATER)

    @property
    def backstop(self) -> int:
        """How many times limit and bank a process has on the wall: where processor time counts,
        this is for those that use none of it and still do not answer."""
        return CPU_BACKSTOP if self.measure == CPU else 1

    @property
    def hang_limit(self) -> float:
        """Silence after a late decision that ends the process, in seconds on the wall: two
        limits."""
        return 2 * self.limit * self.backstop if self.hang is None else self.hang


@dataclass(frozen=True, slots=True)
class FaultRules:
    """Faults a seat may make in a match, and restarts a process gets in a generation; `backoff` is
    in seconds (restarts.py)."""

    limit: int = 5
    restarts: int = 3
    policy: str = field(default=STAND_IN, metadata=LATER)
    backoff: float = field(default=0.1, metadata=LATER)

    @property
    def allowed(self) -> int:
        """Faults after which the next one forfeits the match."""
        return 0 if self.policy == FORFEIT_AT_ONCE else self.limit


@dataclass(frozen=True, slots=True)
class MatchJob:
    """All that is needed to play one match; the result depends on nothing else but the bots."""

    id: str
    public_id: str
    rules: Rules
    deals_key: bytes
    seeds: tuple[int, ...]
    clock: ClockRules = field(default_factory=ClockRules)
    faults: FaultRules = field(default_factory=FaultRules)


@dataclass(frozen=True, slots=True)
class Fault:
    """A decision that the referee made for a seat; `played` is what it played."""

    deal: int
    seat: int
    phase: str
    trick: int | None
    kind: FaultKind
    played: tuple[int, ...]
    detail: str


@dataclass(frozen=True, slots=True)
class Note:
    """A word of a bot to its author, at most `NOTE_BYTES` long."""

    deal: int
    seat: int
    phase: str
    trick: int | None
    text: str


@dataclass(frozen=True, slots=True)
class DealPlay:
    """One deal as played. `moves` is `DealRecord.moves`; times in microseconds, one for each
    decision: the bids by seat, then the cards in the order played."""

    dealer: int
    moves: bytes
    charged_us: tuple[int, ...]
    queued_us: tuple[int, ...]
    scores: tuple[int, ...]
    tricks_won: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MatchResult:
    """The final result of a match; all tuples over seats are in order of seats."""

    job_id: str
    totals: tuple[int, ...]
    places: tuple[int, ...]
    forfeits: tuple[int, ...]
    deals: tuple[DealPlay, ...]
    faults: tuple[Fault, ...]
    notes: tuple[Note, ...]


class Ask:
    """An open decision: this seat of this match is to bid or to play.

    For the driver's own use: `since`, when it was wanted (seconds), and `id`, under which it
    was sent (0: not yet)."""

    __slots__ = ("id", "match", "seat", "since")

    def __init__(self, match: "Match", seat: int) -> None:
        self.match = match
        self.seat = seat
        self.since = 0.0
        self.id = 0


@dataclass(frozen=True, slots=True)
class Started:
    """The match begins; or goes on with another process, which is told the deals so far."""

    match: "Match"
    seat: int
    resumed: "tuple[DealOver, ...] | None" = None


@dataclass(frozen=True, slots=True)
class DealOver:
    """A deal is over and everything in it is public."""

    match: "Match"
    number: int
    deal: Deal
    totals: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Faulted:
    """A seat's fault, for that seat alone. `count` includes it; `forfeit`: it was one too many."""

    match: "Match"
    fault: Fault
    ask: Ask | None
    count: int
    forfeit: bool


@dataclass(frozen=True, slots=True)
class MatchOver:
    """The final result."""

    match: "Match"
    result: MatchResult


Event = Started | DealOver | Faulted | MatchOver


@dataclass(frozen=True, slots=True)
class Tell:
    """An event and the seats it is for."""

    seats: tuple[int, ...]
    event: Event


Output = Ask | Tell


def clip(text: str, size: int) -> str:
    """The text's first `size` bytes in UTF-8, never half a character."""
    raw = text.encode("utf-8", "replace")
    return raw[:size].decode("utf-8", "ignore")


class Match:
    """One match between its first deal and its result."""

    def __init__(self, job: MatchJob) -> None:
        self.job = job
        self.rules = job.rules
        self.seats = tuple(range(job.rules.players))
        self.number = -1
        self.totals: tuple[int, ...] = (0,) * job.rules.players
        self.banks = [job.clock.bank] * job.rules.players
        self.fault_counts = [0] * job.rules.players
        self.forfeits: set[int] = set()
        self.finished_deals: list[DealOver] = []
        self.result: MatchResult | None = None
        self.deal: Deal
        self.memo: list[tuple[Deal | None, Phase, bytes]]
        """Room for the wire, by seat: what it has encoded for a deal and a phase."""
        self.memo = [(None, Phase.DONE, b"")] * job.rules.players
        self._open: list[Ask | None] = [None] * job.rules.players
        self._plays: list[DealPlay] = []
        self._faults: list[Fault] = []
        self._notes: list[Note] = []

    @property
    def progress(self) -> float:
        """How much of it has been played, from 0 to 1, by deals or by points, whichever is more."""
        deals = len(self.finished_deals) / self.rules.max_deals
        if self.rules.target is None:
            return min(1.0, deals)
        return min(1.0, max(deals, max(self.totals) / self.rules.target))

    def deck(self, number: int) -> Sequence[int]:
        """The pack of a deal, as shuffled."""
        return shuffle.deck(self.job.deals_key, number, self.rules.pack)

    def start(self) -> list[Output]:
        """Deals the first deal; call once."""
        out: list[Output] = [Tell((seat,), Started(self, seat)) for seat in self.seats]
        self._deal_next()
        return self._advance(out)

    def answer(
        self,
        ask: Ask,
        cards: Sequence[int],
        charged: float = 0.0,
        queued: float = 0.0,
        note: str = "",
    ) -> list[Output]:
        """The seat's answer; an illegal one becomes a fault. Times in seconds."""
        seat = ask.seat
        if self._open[seat] is not ask:
            raise RefereeBug(f"{self.job.id}: seat {seat} was not asked this")
        if note:
            self._take_note(seat, note)
        try:
            self._move(seat, cards, charged, queued)
        except IllegalMove as problem:
            return self.fault(ask, FaultKind.ILLEGAL, str(problem), charged, queued)
        self._open[seat] = None
        pending = self.deal.pending
        if len(pending) == 1 and not self.forfeits and self._open[pending[0]] is None:
            return [self._ask(pending[0])]  # as `_advance` would, which must look at more
        return self._advance([])

    def _ask(self, seat: int) -> Ask:
        ask = self._open[seat] = Ask(self, seat)
        return ask

    def fault(
        self,
        ask: Ask,
        kind: FaultKind,
        detail: str,
        charged: float = 0.0,
        queued: float = 0.0,
    ) -> list[Output]:
        """The seat failed this decision: the referee plays for it and goes on."""
        seat = ask.seat
        if self._open[seat] is not ask:
            raise RefereeBug(f"{self.job.id}: seat {seat} was not asked this")
        self._open[seat] = None
        fault = self._blame(seat, kind, detail)
        forfeit = self.fault_counts[seat] > self.job.faults.allowed
        if forfeit:
            self.forfeits.add(seat)
        told = Faulted(self, fault, ask, self.fault_counts[seat], forfeit)
        self._play_for(seat, charged, queued)
        return self._advance([Tell((seat,), told)])

    def forfeit(self, seat: int, kind: FaultKind, detail: str) -> list[Output]:
        """The seat is out for good (its process will not come back): stand-ins play on."""
        if seat in self.forfeits or self.result:
            return []
        self.forfeits.add(seat)
        ask, self._open[seat] = self._open[seat], None
        if ask is None:
            self._blame(seat, kind, detail, played=())
            return []
        self._blame(seat, kind, detail)
        self._play_for(seat, 0.0, 0.0)
        return self._advance([])

    def resume(self, seat: int) -> Started:
        """What a process that takes over this seat must be told first."""
        return Started(self, seat, tuple(self.finished_deals))

    def _advance(self, out: list[Output]) -> list[Output]:
        """Deals and plays on for those out of the game until somebody must be asked."""
        while True:
            pending = self.deal.pending
            if not pending:
                self._end_deal(out)
                if self.result:
                    return out
                continue
            stuck = False
            for seat in pending:
                if seat in self.forfeits:
                    self._play_for(seat, 0.0, 0.0)
                    continue
                stuck = True
                if self._open[seat] is None:
                    out.append(self._ask(seat))
            if stuck:
                return out

    def _deal_next(self) -> None:
        self.number += 1
        self.deal = self.rules.deal(self.number % self.rules.players, self.deck(self.number))
        self._bids = self.rules.players if self.rules.bid_cards else 0
        decisions = self._bids + self.rules.players * self.rules.tricks
        self._charged = [0] * decisions
        self._queued = [0] * decisions
        self._note_bytes = [0] * self.rules.players

    def _end_deal(self, out: list[Output]) -> None:
        deal = self.deal
        scores = deal.scores
        self.totals = tuple(map(sum, zip(self.totals, scores, strict=True)))
        moves = record.record(deal).moves
        times = tuple(self._charged), tuple(self._queued)
        self._plays.append(DealPlay(deal.dealer, moves, *times, scores, tuple(deal.tricks_won)))
        over = DealOver(self, self.number, deal, self.totals)
        self.finished_deals.append(over)
        out.append(Tell(self._listening(), over))
        if self.rules.over(self.totals, self.number + 1):
            self._finish(out)
        else:
            self._deal_next()

    def _finish(self, out: list[Output]) -> None:
        self.result = MatchResult(
            self.job.id,
            self.totals,
            self.rules.places(self.totals, frozenset(self.forfeits)),
            tuple(sorted(self.forfeits)),
            tuple(self._plays),
            tuple(self._faults),
            tuple(self._notes),
        )
        out.append(Tell(self.seats, MatchOver(self, self.result)))

    def _listening(self) -> tuple[int, ...]:
        """Seats still in the game: one that forfeited hears the final result only."""
        if not self.forfeits:
            return self.seats
        return tuple(seat for seat in self.seats if seat not in self.forfeits)

    def _play_for(self, seat: int, charged: float, queued: float) -> None:
        self._move(seat, self.deal.stand_in(seat), charged, queued)

    def _move(self, seat: int, cards: Sequence[int], charged: float, queued: float) -> None:
        """Plays it and writes its times (seconds) down: bids by seat, then cards as played."""
        deal = self.deal
        place = seat if deal.phase is _BID else self._bids + len(deal.played)
        deal.act(seat, cards)
        self._charged[place] = int(charged * 1e6 + 0.5)
        self._queued[place] = int(queued * 1e6 + 0.5)

    def _where(self) -> tuple[str, int | None]:
        if self.deal.phase == Phase.BID:
            return "bid", None
        return "play", len(self.deal.played) // self.rules.players

    def _blame(
        self, seat: int, kind: FaultKind, detail: str, played: Iterable[int] | None = None
    ) -> Fault:
        phase, trick = self._where()
        cards = self.deal.stand_in(seat) if played is None else tuple(played)
        text = clip(detail, DETAIL_BYTES)
        fault = Fault(self.number, seat, phase, trick, kind, cards, text)
        self.fault_counts[seat] += 1
        self._faults.append(fault)
        return fault

    def _take_note(self, seat: int, note: str) -> None:
        note = clip(note, NOTE_BYTES)
        size = len(note.encode())
        if self._note_bytes[seat] + size > NOTE_BYTES_A_DEAL:
            return
        self._note_bytes[seat] += size
        self._notes.append(Note(self.number, seat, *self._where(), note))

"""A bot process's side of the table, without I/O: what it was asked, and what it is to be told.

A player is one entrant (or one member of a team) in one generation. It plays at many tables
at once, through at most one batch of decisions that is not yet answered. It outlives its
process: when that crashes, the same player goes on with the next one. Design, sections 3 and 5.
"""

import enum
import math
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from referee.clock import clock_for
from referee.match import Ask, ClockRules, Event, Faulted, Match, MatchOver
from referee.wire_limits import MAX_DROPPED, UNREADABLE_COST

MAX_BATCH = 256
EVENTS_WAIT = 0.05
"""Seconds that events which need no answer wait for a batch to ride with."""
SLOW_BATCH = 0.05
"""A process whose batches take longer than this (seconds) holds one of the slots for slow ones."""
REST = 0.05
"""Seconds without an open decision, or news, after which a process is frozen."""
FROZEN = 5.0
"""Seconds that it is frozen at a stretch: then it may run for REST, so that its gRPC is never late
with an answer to a ping (those that check wait for 20 s at least)."""


class Move(NamedTuple):
    """One answer as it came: cards, or an error, or (neither) a malformed one."""

    decision: int
    cards: tuple[int, ...] | None
    error: str | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Withdraw:
    """The decision of this number is no longer wanted."""

    decision: int


@dataclass(frozen=True, slots=True)
class Batch:
    """What goes out in one message: events first, then decisions."""

    events: tuple[Event | Withdraw, ...]
    asks: tuple[Ask, ...]


class Answers(NamedTuple):
    """What a message of moves amounts to: open decisions with their answers, those of them that
    took too long, with why, and the seconds that each of all these took."""

    answered: list[tuple[Ask, Move]]
    overrun: list[tuple[Ask, str]]
    spent: float


_AT_ONCE = (Faulted, Withdraw)


class Presence(enum.Enum):
    """Whether there is a process to talk to."""

    AWAITED = "awaited"
    HERE = "here"
    AWAY = "away"
    """Its connection is lost; what it has open stays so, for it may come back."""
    GONE = "gone"


class Player:
    """One entrant's place in a generation. `name` is for logs and messages to people."""

    def __init__(self, name: str, rules: ClockRules) -> None:
        self.name = name
        self.presence = Presence.AWAITED
        self.max_batch = 1 if rules.strict else MAX_BATCH
        self.max_tables: int | None = None
        self.matches: dict[Match, int] = {}
        self.queue: deque[Ask] = deque()
        self.open: dict[int, Ask] = {}
        self.pace = 0.0
        """Seconds per decision, smoothed; 0 before the first answer."""
        self.batch_time = math.inf
        """Seconds that its last whole batch took; before there was one it counts as slow."""
        self.dropped = 0
        self.condemned: str | None = None
        """Why its process must be ended, once there is a reason."""
        self._rules = rules
        self._clock = clock_for(rules)
        self._events: list[Event | Withdraw] = []
        self._events_due = 0.0
        self._withdrawn: set[int] = set()
        self._mute = False
        self.sent_at = 0.0
        """When its last batch left."""
        self._idle_since = 0.0
        self.resting = False
        """Whether its process is to be frozen, so that it takes no time from others."""
        self.freezes = True
        """Whether there is a process to be frozen."""
        self._turns = math.inf
        self.last_id = 0
        """The number of the decision that was sent last."""

    # What goes out.

    def tell(self, event: Event | Withdraw, now: float) -> None:
        """To be told with the next batch; faults and withdrawals at once."""
        if self.presence is Presence.GONE:
            return
        wait = 0.0 if isinstance(event, _AT_ONCE) else EVENTS_WAIT
        due = now + wait
        self._events_due = min(self._events_due, due) if self._events else due
        self._events.append(event)

    def ask(self, ask: Ask, now: float) -> None:
        """To be asked as soon as it may get a batch."""
        if self.presence is Presence.GONE:
            return
        ask.since = now
        self.queue.append(ask)

    @property
    def wants_batch(self) -> bool:
        """There are decisions for it, and it may be asked."""
        return (
            bool(self.queue) and not self.open and not self._mute and self.presence is Presence.HERE
        )

    @property
    def ready_since(self) -> float:
        """Since when it could be sent the batch that it wants."""
        return max(self._idle_since, self.queue[0].since)

    def is_slow(self, now: float) -> bool:
        """Whether its batches take long: its last one did, or the one that is out does."""
        return self.batch_time > SLOW_BATCH or (bool(self.open) and now - self.sent_at > SLOW_BATCH)

    def next_batch(self) -> Batch:
        """Takes the next batch out of the queue: `sent` must follow."""
        count = min(len(self.queue), self.max_batch)
        asks = tuple(self.queue.popleft() for _ in range(count))
        for ask in asks:
            self.last_id += 1
            ask.id = self.last_id
            self.open[ask.id] = ask
        return Batch(self._take_events(), asks)

    def next_events(self, now: float) -> Batch | None:
        """Events that have waited long enough, alone."""
        if not self._events or now < self._events_due or self.presence is not Presence.HERE:
            return None
        self.stirred(now)
        return Batch(self._take_events(), ())

    def sent(self, now: float) -> None:
        """The batch leaves now: its time begins."""
        self.sent_at = now
        self.stirred(now)
        self._clock.sent(now, len(self.open))

    def _take_events(self) -> tuple[Event | Withdraw, ...]:
        events, self._events = tuple(self._events), []
        return events

    # What comes in.

    def read(self, now: float, cpu: float) -> None:
        """Its process has used so many seconds of processor time by now, of which those at the
        first reading are free."""
        self._clock.read(now, cpu)

    def received(self, now: float, moves: Iterable[Move]) -> Answers:
        """Which of the moves answer an open decision, and the seconds that each of them took.

        Moves for decisions that are not open are dropped and counted."""
        answers: list[tuple[Ask, Move]] = []
        alive, empty = False, True
        open_, withdrawn = self.open, self._withdrawn
        for move in moves:
            empty = False
            ask = open_.pop(move.decision, None)
            if ask is not None:
                answers.append((ask, move))
            elif move.decision in withdrawn:
                withdrawn.discard(move.decision)
                alive = True
            else:
                self._drop(1)
        if empty:
            self._drop(1)
        if answers or alive:
            self._mute = False
            self._clock.heard()
        if answers:
            return self._charge(now, answers)
        if alive and not open_:
            self._clock.forgive()
            self.stirred(now)
        return Answers(answers, [], 0.0)

    def _charge(self, now: float, answers: list[tuple[Ask, Move]]) -> Answers:
        count = len(answers)
        spent = self._clock.answered(now, count)
        self.pace = spent if not self.pace else 0.8 * self.pace + 0.2 * spent
        made = Answers(answers, [], spent)
        if self._clock.changes_banks(spent, count):
            made = self._overrun(answers, spent)
            for ask, _ in made.answered:
                banks = ask.match.banks
                banks[ask.seat] = self._clock.bank_after(banks[ask.seat], spent, count)
        self._end_batch(now)
        return made

    def _overrun(self, answers: list[tuple[Ask, Move]], spent: float) -> Answers:
        """The answers of one message, less those that took too long."""
        flags = self._clock.overruns(spent, [ask.match.banks[ask.seat] for ask, _ in answers])
        late = [ask for (ask, _), flag in zip(answers, flags, strict=False) if flag]
        if not late:
            return Answers(answers, [], spent)
        for ask in late:
            ask.match.banks[ask.seat] = 0.0
        cause = self._clock.overrun(spent)
        kept = [each for each, flag in zip(answers, flags, strict=True) if not flag]
        return Answers(kept, [(ask, cause) for ask in late], spent)

    def _end_batch(self, now: float) -> None:
        if not self.open:
            self.batch_time = now - self.sent_at
            self._idle_since = now
            self.stirred(now)

    def babble(self) -> None:
        """A message came that is none."""
        self._drop(UNREADABLE_COST)

    def _drop(self, count: int) -> None:
        self.dropped += count
        if self.dropped > MAX_DROPPED:
            self.condemned = f"flooded the referee: {self.dropped} answers to nothing asked"

    # Time.

    def deadline(self, now: float) -> float | None:
        """When to look again whether `overdue` or `next_events` has something to say; None: when
        something happens. The banks are looked through only when they are being used up."""
        here = self.presence is Presence.HERE
        times = [self._events_due] if self._events and here else []
        if self.open:
            times.append(self._clock.next_look(now, self._banks()))
        elif self._may_rest:
            times.append(self._turns)
        if self._clock.hang_deadline is not None:
            times.append(self._clock.hang_deadline)
        return min(times) if times else None

    def _banks(self) -> Iterable[float]:
        return (ask.match.banks[ask.seat] for ask in self.open.values())

    def looks_late(self, now: float) -> bool:
        """Whether `overdue` has something to say, unless something has come, or can be read, that
        it does not know yet."""
        hang = self._clock.hang_deadline
        if hang is not None and now >= hang:
            return True
        return bool(self.open) and self._clock.looks_late(now, self._banks())

    def overdue(self, now: float) -> tuple[Ask, float, str] | None:
        """The decision that is late by now, withdrawn, with the seconds it had and the cause; or
        None.

        May set `condemned`, when nothing was heard for too long after a late one."""
        hang = self._clock.hang_deadline
        if hang is not None and now >= hang:
            self.condemned = f"hung: no answer for {self._rules.hang_limit:g} s after a late one"
            return None
        if not self.open or not self._clock.is_late(now, self._banks()):
            return None
        ask = min(self.open.values(), key=lambda each: each.match.banks[each.seat])
        del self.open[ask.id]
        ask.match.banks[ask.seat] = 0.0
        self._withdrawn.add(ask.id)
        self._mute = True
        self._end_batch(now)
        self.tell(Withdraw(ask.id), now)
        return ask, *self._clock.late(now)

    # Rest.

    def stirred(self, now: float) -> None:
        """It was sent something, or has answered: it may run for a moment from now on."""
        self.resting = False
        self._turns = now + REST

    def rest(self, now: float) -> None:
        """Sets `resting` to what is right from now until `deadline`."""
        if not self._may_rest:
            self.resting = False
        elif now >= self._turns:
            self.resting = not self.resting
            self._turns = now + (FROZEN if self.resting else REST)

    @property
    def _may_rest(self) -> bool:
        """Nothing is open, and it does not owe the answer to a late decision either."""
        return (
            self.freezes
            and not (self.open or self._mute or self._rules.ponder)
            and self.presence is Presence.HERE
            and self._turns < math.inf
        )

    # The process comes and goes.

    def arrived(self, max_tables: int | None, max_batch: int | None) -> None:
        """A process said hello."""
        self.presence = Presence.HERE
        self.max_tables = max_tables
        if max_batch:
            self.max_batch = min(self.max_batch, max_batch)

    def lost(self, now: float) -> list[Ask]:
        """The process ended: the decisions it had open. What waits is kept for the next one."""
        asks = list(self.open.values())
        self.open.clear()
        self._events.clear()
        self._withdrawn.clear()
        self._mute = False
        self.condemned = None
        self.dropped = 0
        self._clock = clock_for(self._rules)
        self.resting = False
        self._turns = math.inf
        self.presence = Presence.AWAITED
        for match, seat in self.matches.items():
            self.tell(match.resume(seat), now)
        return asks

    def away(self) -> None:
        """Its program lost its connection: until it is back, nothing can be sent."""
        self.presence = Presence.AWAY

    def back(self) -> Batch:
        """Its program lost its connection, and is here again, and may know nothing: what it has to
        be told, and the decisions that are still open, whose time has run on."""
        over = [event for event in self._events if isinstance(event, MatchOver)]
        resumed = [match.resume(seat) for match, seat in self.matches.items()]
        self._events.clear()
        self._withdrawn.clear()
        self._mute = False
        self._clock.heard()
        return Batch((*over, *resumed), tuple(self.open.values()))

    def gone(self) -> None:
        """No process will come again."""
        self.presence = Presence.GONE
        self.queue.clear()
        self.open.clear()
        self._events.clear()

"""What a decision costs a bot. Design, section 5; no I/O, times come in as arguments (seconds).

A process's *mark* is the later of when its batch was sent and when its last message that
answered something arrived. A message that answers k open decisions at time t costs each
(t - mark) / k, so nobody pays for waiting behind a queue that the referee filled.

Two rules say when a decision is late, and both pick the one with the smallest bank:
* progress: within the limit plus the smallest bank of the open decisions some answer must come;
* no hoarding: nothing stays open longer than the limit times the batch's size, plus its bank.

That is time on the wall. The other measure, processor time, is read when a message arrives, and
what the process used since the last one that answered something is what this one costs. Since a
reading may come late, when the process has gone on to its next decision, an overrun counts only
where no other decision can be the reason: in a message that answers one, or in one whose whole cost
is more than all that it answers may cost together. The two rules above are then a backstop, at
ten times as much on the wall, for processes that do not answer at all.
"""

from collections.abc import Iterable, Sequence

from referee.match import CPU, ClockRules

GRACE = 0.1
"""Seconds of every message that are never charged: the way there and back."""
CPU_GRACE = 0.01
"""The same in processor time: how far a reading may be off because it comes late."""
LOOK = 0.05
"""Seconds between two readings of a process that may have used up its processor time."""
_USED_UP = "limit and bank are used up"


class ProcessClock:
    """The clock of one process, which has at most one batch out. This one measures the wall."""

    _grace = GRACE

    def __init__(self, rules: ClockRules) -> None:
        self._rules = rules
        self._mark = 0.0
        self._sent = 0.0
        self._size = 0
        self._silent_since: float | None = None

    def sent(self, now: float, size: int) -> None:
        """A batch of `size` decisions leaves now."""
        self._mark = self._sent = now
        self._size = size

    def read(self, now: float, cpu: float) -> None:
        """The process has used so much processor time by now."""

    def answered(self, now: float, count: int) -> float:
        """`count` open decisions were answered by one message: the seconds each of them took."""
        spent = max(0.0, now - self._mark)
        self._mark = max(self._mark, now)
        return spent / count

    def overruns(self, spent: float, banks: Sequence[float]) -> Sequence[bool]:  # noqa: ARG002
        """Which of the decisions of one message, that took `spent` each, took too long; empty
        where none did. On the wall they are late before they are answered."""
        return ()

    def overrun(self, spent: float) -> str:
        """Why such an answer is a fault, in words."""
        return f"it took {spent:.3g} s of processor time: {_USED_UP}"

    def changes_banks(self, spent: float, count: int) -> bool:
        """Whether `bank_after` differs from the bank before it, for any bank there can be."""
        return self._rules.increment > 0 or self._over(spent, count) > 0

    def _over(self, spent: float, count: int) -> float:
        return spent - self._grace / count - self._rules.limit

    def bank_after(self, bank: float, spent: float, count: int) -> float:
        """The bank after a decision that took `spent` seconds, one of `count` in its message."""
        left = max(0.0, bank - max(0.0, self._over(spent, count)))
        return min(self._rules.bank, left + self._rules.increment)

    @property
    def bank_starts(self) -> float:
        """When the open decisions begin to use up their banks; none is late before that."""
        limit = self._rules.limit * self._rules.backstop
        return min(self._mark + limit, self._sent + limit * self._size) + GRACE

    def deadline(self, banks: Iterable[float]) -> float:
        """When one of the open decisions, whose matches' banks these are, becomes late."""
        return self.bank_starts + min(banks) * self._rules.backstop

    def next_look(self, now: float, banks: Iterable[float]) -> float:
        """When to ask `looks_late` again. The banks are gone through only when they are being
        used up."""
        soonest = self.bank_starts
        return soonest if now < soonest else self.deadline(banks)

    def looks_late(self, now: float, banks: Iterable[float]) -> bool:
        """Whether one is late, unless something has come or been read that is not yet known."""
        return self.is_late(now, banks)

    def is_late(self, now: float, banks: Iterable[float]) -> bool:
        """Whether one of the open decisions is late."""
        return now >= self.bank_starts and now >= self.deadline(banks)

    def late(self, now: float) -> tuple[float, str]:
        """A decision became late: the seconds it had, and the cause. Silence is counted from the
        first one."""
        spent = max(0.0, now - self._mark)
        self._mark = max(self._mark, now)
        if self._silent_since is None:
            self._silent_since = now
        return spent, f"no answer within {spent:.3g} s: {_USED_UP}"

    def forgive(self) -> None:
        """What has been used since the mark was for a decision that is late already."""

    def heard(self) -> None:
        """Some decision was answered, be it a withdrawn one: the process lives."""
        self._silent_since = None

    @property
    def hang_deadline(self) -> float | None:
        """When a process that has been late and silent since is ended; None if it is not so."""
        return None if self._silent_since is None else self._silent_since + self._rules.hang_limit


class CpuClock(ProcessClock):
    """The clock of a process whose processor time counts: `read` goes before all else."""

    _grace = CPU_GRACE

    def __init__(self, rules: ClockRules) -> None:
        super().__init__(rules)
        self._cpu: float | None = None
        self._cpu_mark = 0.0
        self._cpu_sent = 0.0
        self._read_at = 0.0
        self._messages = 0

    def sent(self, now: float, size: int) -> None:
        super().sent(now, size)
        self._cpu_sent = self._cpu_mark
        self._read_at = now
        self._messages = 0

    def read(self, now: float, cpu: float) -> None:
        if self._cpu is None:
            self._cpu = self._cpu_mark = cpu
        self._cpu = max(self._cpu, cpu)
        self._read_at = now

    def answered(self, now: float, count: int) -> float:
        super().answered(now, count)
        self._messages += 1
        return self._take() / count

    def overruns(self, spent: float, banks: Sequence[float]) -> Sequence[bool]:
        count = len(banks)
        if spent * count <= self._rules.limit * count + sum(banks) + self._grace:
            return ()
        return [self._over(spent, count) > bank for bank in banks]

    def next_look(self, now: float, banks: Iterable[float]) -> float:
        banks = list(banks)
        soon = self._read_at + max(LOOK, self._left(banks))
        return min(super().next_look(now, banks), soon)

    def looks_late(self, now: float, banks: Iterable[float]) -> bool:
        banks = list(banks)
        return now >= self._read_at + max(LOOK, self._left(banks)) or self.is_late(now, banks)

    def is_late(self, now: float, banks: Iterable[float]) -> bool:
        banks = list(banks)
        return self._left(banks) < 0 or super().is_late(now, banks)

    def late(self, now: float) -> tuple[float, str]:
        at_the_backstop = now >= self.bank_starts
        waited, _ = super().late(now)
        spent = self._take()
        if at_the_backstop:
            why = f"{self._rules.backstop} times what limit and bank allow"
            return spent, f"no answer within {waited:.3g} s on the wall, {why}"
        return spent, f"no answer within {spent:.3g} s of processor time: {_USED_UP}"

    def forgive(self) -> None:
        self._take()

    def _take(self) -> float:
        """The processor time since the mark, which moves to now."""
        spent = self._since(self._cpu_mark)
        self._cpu_mark += spent
        return spent

    def _since(self, mark: float) -> float:
        return 0.0 if self._cpu is None else self._cpu - mark

    def _left(self, banks: Sequence[float]) -> float:
        """The processor time until one of the open decisions is late: no message could pay for
        all of them any more, or it has been kept back too long while others were answered."""
        limit = self._rules.limit
        together = limit * len(banks) + sum(banks) + self._grace - self._since(self._cpu_mark)
        if not self._messages:
            return together
        graces = self._grace * (self._messages + 1)
        hoarded = limit * self._size + min(banks) + graces - self._since(self._cpu_sent)
        return min(together, hoarded)


def clock_for(rules: ClockRules) -> ProcessClock:
    """The clock of a process under these rules."""
    return CpuClock(rules) if rules.measure == CPU else ProcessClock(rules)

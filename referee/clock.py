"""What a decision costs a bot. Design, section 5; no I/O, times come in as arguments (seconds).

A process's *mark* is the later of when its batch was sent and when its last message that
answered something arrived. A message that answers k open decisions at time t costs each
(t - mark) / k, so nobody pays for waiting behind a queue that the referee filled.

Two rules say when a decision is late, and both pick the one with the smallest bank:
* progress: within the limit plus the smallest bank of the open decisions some answer must come;
* no hoarding: nothing stays open longer than the limit times the batch's size, plus its bank.
"""

from collections.abc import Iterable

from referee.match import ClockRules

GRACE = 0.1
"""Seconds of every message that are never charged: the way there and back."""


class ProcessClock:
    """The clock of one process, which has at most one batch out."""

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

    def answered(self, now: float, count: int) -> float:
        """`count` open decisions were answered by one message: the seconds each of them took."""
        spent = max(0.0, now - self._mark)
        self._mark = max(self._mark, now)
        return spent / count

    def changes_banks(self, spent: float, count: int) -> bool:
        """Whether `bank_after` differs from the bank before it, for any bank there can be."""
        return self._rules.increment > 0 or self._over(spent, count) > 0

    def _over(self, spent: float, count: int) -> float:
        return spent - GRACE / count - self._rules.limit

    def bank_after(self, bank: float, spent: float, count: int) -> float:
        """The bank after a decision that took `spent` seconds, one of `count` in its message."""
        left = max(0.0, bank - max(0.0, self._over(spent, count)))
        return min(self._rules.bank, left + self._rules.increment)

    @property
    def bank_starts(self) -> float:
        """When the open decisions begin to use up their banks; none is late before that."""
        limit = self._rules.limit
        return min(self._mark + limit, self._sent + limit * self._size) + GRACE

    def deadline(self, banks: Iterable[float]) -> float:
        """When one of the open decisions, whose matches' banks these are, becomes late."""
        return self.bank_starts + min(banks)

    def late(self, now: float) -> float:
        """A decision became late: the seconds it had. Silence is counted from the first one."""
        spent = max(0.0, now - self._mark)
        self._mark = max(self._mark, now)
        if self._silent_since is None:
            self._silent_since = now
        return spent

    def heard(self) -> None:
        """Some decision was answered, be it a withdrawn one: the process lives."""
        self._silent_since = None

    @property
    def hang_deadline(self) -> float | None:
        """When a process that has been late and silent since is ended; None if it is not so."""
        if self._silent_since is None:
            return None
        return self._silent_since + self._rules.hang_limit

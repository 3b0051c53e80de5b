"""A kept match judged again by its key and its rules, which is what `verify` does with each
(design, section 6). Pure: all comes in as values.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from operator import add
from typing import NoReturn

from referee.games.cards import text
from referee.games.record import DealRecord, RecordError, replay, steps
from referee.games.rules import Rules
from referee.games.shuffle import deck
from referee.games.view import Phase
from referee.match import NOTE_BYTES, NOTE_BYTES_A_DEAL, Fault, FaultKind, Note
from tournaments.kept import KeptMatch, digest
from tournaments.playblob import KeptDeal, PlayError
from tournaments.schedule import Scheduled

Cards = tuple[int, ...]
Place = tuple[int, int | None]
"""A decision of a deal: the seat, and the trick (None for its bid)."""


class Disagreement(Exception):  # noqa: N818
    """What is kept is not what follows from the key and the rules; the message says where first,
    then what."""


def rejudge(match: KeptMatch, scheduled: Scheduled) -> int:
    """How many cards were played and bid in a match, if all that is kept of it agrees with the
    schedule's job and with itself; else Disagreement at the first thing that does not."""
    judge = _Judge(match, scheduled)
    judge.place()
    judge.play()
    judge.end()
    judge.marks()
    judge.hash()
    return sum(len(deal.moves) for deal in judge.deals)


class _Judge:
    """One match; `play` is called before what follows it."""

    def __init__(self, match: KeptMatch, scheduled: Scheduled) -> None:
        self.deals: tuple[KeptDeal, ...] = ()
        self._match = match
        self._scheduled = scheduled
        self._rules = scheduled.job.rules
        self._totals: tuple[int, ...] = (0,) * self._rules.players
        self._records: list[DealRecord] = []

    def place(self) -> None:
        """Generation and seats are those of the schedule."""
        match, scheduled = self._match, self._scheduled
        owners = tuple(seat.entrant for seat in scheduled.seats)
        self._same("generation", match.generation, scheduled.generation)
        self._same("entrants by seat", match.entrants, owners)

    def play(self) -> None:
        """Every deal is dealt from the key and played by the rules, and the match ended when
        they say so."""
        try:
            self.deals = self._match.deals
        except PlayError as exc:
            self._differs(str(exc))
        for number, kept in enumerate(self.deals):
            if number and self._rules.over(self._totals, number):
                self._differs(f"was over with deal {number - 1}, and deal {number} follows")
            self._deal(number, kept)
        if not self.deals or not self._rules.over(self._totals, len(self.deals)):
            self._differs(f"is not over by its rules after {len(self.deals)} deals")

    def _deal(self, number: int, kept: KeptDeal) -> None:
        rules = self._rules
        if kept.dealer != number % rules.players:
            self._differs(f"deal {number}: seat {kept.dealer} deals, not {number % rules.players}")
        pack = _deck(self._scheduled.job.deals_key, number, rules)
        record = DealRecord(kept.dealer, pack, kept.moves)
        try:
            deal = replay(rules, record, f"deal {number}")
        except RecordError as exc:
            self._differs(str(exc))
        decisions = len(deal.played) + (rules.players if rules.bid_cards else 0)
        if len(kept.charged_us) != decisions:
            self._differs(f"deal {number}: {len(kept.charged_us)} times for {decisions} decisions")
        self._totals = tuple(map(add, self._totals, deal.scores))
        self._records.append(record)

    def end(self) -> None:
        """Totals, places and forfeits."""
        match = self._match
        out = tuple(sorted(self._forfeits()))
        self._same("totals", match.totals, self._totals)
        self._same("forfeits", match.forfeits, out)
        self._same("places", match.places, self._rules.places(self._totals, frozenset(out)))

    def marks(self) -> None:
        """Faults and notes belong to decisions of the match; the referee played the stand-in at
        every fault, and after a forfeit always."""
        marks: list[Fault | Note] = [*self._match.faults, *self._match.notes]
        for mark in marks:
            self._exists(mark)
        self._notes()
        out = self._forfeits()
        for number, record in enumerate(self._records):
            faults = [fault for fault in self._match.faults if fault.deal == number]
            if faults or any(last.deal < number for last in out.values()):
                choices = dict(_choices(self._rules, record))
                for fault in faults:
                    self._stood_in(fault, choices)
                for last in out.values():
                    self._only_stand_ins(number, last, choices)

    def hash(self) -> None:
        """The result has the hash that it was saved with: this binds times and notes too."""
        match = self._match
        facts = (match.totals, match.places, match.forfeits, match.play)
        if digest(match.id, *facts, match.faults, match.notes) != match.sha256:
            self._differs("its times, notes or faults are not those it was saved with: SHA-256")

    def _forfeits(self) -> dict[int, Fault]:
        """By seat, the fault with which it forfeited."""
        counts: Counter[int] = Counter()
        out: dict[int, Fault] = {}
        for fault in self._match.faults:
            if fault.seat in out:
                self._differs(f"{_at(fault)}: a fault of a seat that has forfeited")
            counts[fault.seat] += 1
            if fault.kind == FaultKind.ABSENT or counts[fault.seat] > self._limit:
                out[fault.seat] = fault
        return out

    @property
    def _limit(self) -> int:
        return self._scheduled.job.faults.allowed

    def _exists(self, mark: Fault | Note) -> None:
        rules = self._rules
        if mark.phase == "bid":
            right = mark.trick is None and rules.bid_cards > 0
        else:
            right = mark.trick is not None and 0 <= mark.trick < rules.tricks
        if not (right and 0 <= mark.deal < len(self.deals) and 0 <= mark.seat < rules.players):
            self._differs(f"{_at(mark)}: a {type(mark).__name__.lower()} at no decision of it")

    def _notes(self) -> None:
        sizes: Counter[tuple[int, int]] = Counter()
        for note in self._match.notes:
            size = len(note.text.encode())
            sizes[note.deal, note.seat] += size
            if size > NOTE_BYTES or sizes[note.deal, note.seat] > NOTE_BYTES_A_DEAL:
                self._differs(f"{_at(note)}: more notes than a bot may write")

    def _stood_in(self, fault: Fault, choices: Mapping[Place, tuple[Cards, Cards]]) -> None:
        """A fault without cards happened while its seat was not asked: only absence can."""
        if not fault.played and fault.kind == FaultKind.ABSENT:
            return
        stand_in, chosen = choices[fault.seat, fault.trick]
        if not fault.played == stand_in == chosen:
            self._differs(
                f"{_at(fault)}: the stand-in is {text(stand_in)}, the fault says "
                f"{text(fault.played) or 'none'}, and {text(chosen)} was played"
            )

    def _only_stand_ins(
        self, number: int, last: Fault, choices: Mapping[Place, tuple[Cards, Cards]]
    ) -> None:
        since = (last.deal, _turn(last.trick))
        for (seat, trick), (stand_in, chosen) in choices.items():
            after = (number, _turn(trick)) > since
            if seat == last.seat and after and chosen != stand_in:
                where = f"deal {number}, {_phase(trick)}, seat {seat}"
                self._differs(
                    f"{where}: it had forfeited, the stand-in is {text(stand_in)}, and "
                    f"{text(chosen)} was played"
                )

    def _same(self, what: str, kept: object, follows: object) -> None:
        if kept != follows:
            self._differs(f"{what}: {_shown(kept)} is kept, {_shown(follows)} follows")

    def _differs(self, what: str) -> NoReturn:
        raise Disagreement(f"match {self._match.id}: {what}")


@lru_cache(maxsize=512)
def _deck(key: bytes, number: int, rules: Rules) -> Cards:
    """A deal's pack as shuffled; the seatings of a block, which come one after the other, share
    them."""
    return deck(key, number, rules.pack)


def _choices(rules: Rules, record: DealRecord) -> Iterator[tuple[Place, tuple[Cards, Cards]]]:
    """Each decision of a deal that is known to be one: the stand-in for it, and what was chosen."""
    for deal, seat, chosen in steps(rules, record):
        trick = None if deal.phase is Phase.BID else len(deal.leaders) - 1
        yield (seat, trick), (deal.stand_in(seat), chosen)


def _at(mark: Fault | Note) -> str:
    return f"deal {mark.deal}, {_phase(mark.trick)}, seat {mark.seat}"


def _phase(trick: int | None) -> str:
    return "bid" if trick is None else f"trick {trick}"


def _turn(trick: int | None) -> int:
    """Bids come before tricks."""
    return -1 if trick is None else trick


def _shown(value: object) -> str:
    if not isinstance(value, tuple):
        return str(value)
    return ", ".join(map(str, value)) or "none"

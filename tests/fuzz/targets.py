"""What must hold whatever a bot sends. Each target takes one input and raises if it does not."""

from collections.abc import Callable
from dataclasses import dataclass, field

from hypothesis import strategies as st

from knavery.v1 import referee_pb2 as pb
from referee import wire
from referee.desk import hello_in, parsed
from referee.games.record import DealRecord, replay
from referee.games.shuffle import deck
from referee.match import FaultRules, MatchResult
from referee.player import Batch, Presence
from referee.tables import Seated
from referee.wire_limits import HELLO_BYTES, MAX_CARDS, MAX_DROPPED
from tests.fuzz.inputs import (
    GAMES,
    NUMBERS,
    TALK,
    TEXT,
    Leave,
    Message,
    Raw,
    Said,
    Step,
    Wait,
)
from tests.referee.scripted import Table, job, largest, smallest

BAD = "b"
RESTARTS = 3


def first_message(data: bytes) -> None:
    """Anything that comes first is a hello that can be judged, or is turned away in words."""
    hello = hello_in(data)
    assert isinstance(hello, str) or wire.objection(hello, "knave") in (
        None,
        str(_objection(hello)),
    )
    assert len(data) <= HELLO_BYTES or isinstance(hello, str)


def _objection(hello: pb.Hello) -> str | None:
    return wire.objection(pb.Hello.FromString(hello.SerializeToString()), "knave")


def later_message(data: bytes) -> None:
    """Anything that comes later is moves with few cards each, or nothing."""
    message = parsed(data)
    if message.WhichOneof("message") == "moves":
        moves = wire.moves(message.moves)
        assert len(moves) == len(message.moves.moves)
        for move in moves:
            assert move.cards is None or len(move.cards) <= MAX_CARDS
            assert move.error is None or 0 < len(move.error.encode()) <= 2048


def talk(drawn: tuple[str, list[Step]]) -> None:
    """Whatever one bot says, and whenever, the matches come to an end, by the rules, and nobody
    else is blamed."""
    game, steps = drawn
    table = _Table(game)
    table.begin()
    for step in steps:
        table.take(step)
    table.finish()
    assert len(table.results) == len(table.jobs)
    for seated in table.jobs:
        _judge(seated, table.results[seated.job.id])


def _judge(seated: Seated, result: MatchResult) -> None:
    rules, totals = seated.job.rules, (0,) * len(seated.players)
    for number, deal in enumerate(result.deals):
        pack = deck(seated.job.deals_key, number, rules.pack)
        replayed = replay(rules, DealRecord(deal.dealer, pack, deal.moves))
        assert replayed.scores == deal.scores
        totals = tuple(map(sum, zip(totals, deal.scores, strict=True)))
    assert totals == result.totals
    assert rules.over(totals, len(result.deals))
    bad = seated.players.index(BAD)
    assert {fault.seat for fault in result.faults} <= {bad}
    assert set(result.forfeits) <= {bad}
    for note in result.notes:
        assert len(note.text.encode()) <= 256


@dataclass
class _Table(Table):
    """Two matches at once, in which one player sends what was drawn."""

    game: str = ""
    asked: dict[str, list[int]] = field(default_factory=dict)
    restarts: int = 0

    def __init__(self, game: str) -> None:
        self.asked = {name: [] for name in "abc"}
        self.restarts = 0
        faults = FaultRules(limit=4, restarts=RESTARTS)
        jobs = [
            Seated(job(game, number, faults=faults, max_deals=2), tuple(names))
            for number, names in enumerate(("abc", "cab"))
        ]
        super().__init__(jobs, in_flight=2)

    def send(self, name: str) -> Batch | None:
        """As it goes over the wire: it can be read, and says what was asked, once."""
        batch = super().send(name)
        if batch is not None:
            message = pb.FromReferee.FromString(wire.envelope(batch))
            sent = [e.decision.id for e in message.envelope.events if e.HasField("decision")]
            assert sent == [ask.id for ask in batch.asks]
            assert sent == sorted(set(sent))
            assert not set(sent) & set(self.asked[name])
            self.asked[name] += sent
        return batch

    def take(self, step: Step) -> None:
        """One thing that the bad player does, or that happens to it; then all others play on."""
        player = self.players[BAD]
        if player.presence is Presence.GONE:
            return
        self.send(BAD)
        self.now += 0.01
        if isinstance(step, Wait):
            self.wait(step.seconds)
        elif isinstance(step, Leave):
            self._leave(step.back)
        else:
            self._receive(step)
        if player.condemned:
            assert player.dropped > MAX_DROPPED or "hung" in player.condemned
            self._leave(back=False)
        self._others()

    def wait(self, seconds: float) -> None:
        """Lets time pass for the bad player; the others answer at once."""
        player, end = self.players[BAD], self.now + seconds
        while self.now < end:
            self._others()
            due = player.deadline(self.now)
            self.now = end if due is None else min(end, max(due, self.now + 0.001))
            self.tables.tick(player, self.now)
            if player.condemned:
                return
            self.send(BAD)

    def _receive(self, step: Message | Raw) -> None:
        data = step.data if isinstance(step, Raw) else self._bytes(step)
        message = parsed(data)
        if message.WhichOneof("message") != "moves":
            self.players[BAD].babble()
            return
        self.reply(BAD, wire.moves(message.moves))

    def _bytes(self, message: Message) -> bytes:
        moves = pb.FromBot(moves=pb.Moves(moves=[self._move(said) for said in message.moves]))
        data = bytearray(moves.SerializeToString())
        for place, value in message.changes:
            if place < len(data):
                data[place] = value
        return bytes(data)

    def _move(self, said: Said) -> pb.Move:
        kind, number = said.which
        known = list(self.players[BAD].open) if kind == "open" else self.asked[BAD]
        decision = known[number % len(known)] if known and kind != "number" else number
        move = pb.Move(decision=decision)
        if said.note:
            move.note = said.note
        how, what = said.answer
        if how == "legal" and (ask := self.players[BAD].open.get(decision)):
            cards = (smallest if int(str(what)) % 2 else largest)(ask).cards
            move.cards.cards.extend(cards or ())
        elif how == "cards":
            move.cards.cards.extend(what)  # type: ignore[arg-type]
        elif how == "error":
            move.error = str(what)
        return move

    def _leave(self, back: bool) -> None:
        player = self.players[BAD]
        if back:
            open_ = dict(player.open)
            batch = player.back()
            pb.FromReferee.FromString(wire.envelope(batch))
            assert {ask.id: ask for ask in batch.asks} == open_ == player.open
            return
        self.tables.lost(player, self.now, "it died")
        self.restarts += 1
        if self.restarts > RESTARTS:
            self.tables.give_up(player, self.now, "it died too often")
        else:
            self.tables.arrived(player, None, None)

    def _others(self) -> None:
        for _ in range(100):
            if not any(self.serve(name, smallest) for name in "ac"):
                return

    def finish(self) -> None:
        """From now on it plays well."""
        for _ in range(10_000):
            if self.tables.done:
                return
            self._others()
            player = self.players[BAD]
            if player.condemned:
                self._leave(back=False)
            elif player.open:
                self.now += 0.001
                self.reply(BAD, [smallest(ask) for ask in player.open.values()])
            elif not self.serve(BAD, smallest):
                self.wait(0.5)
        raise AssertionError("the matches do not come to an end")


HELLO = st.builds(
    lambda token, protocol, games, tables: pb.FromBot(
        hello=pb.Hello(token=token, protocol=protocol, games=games, max_tables=tables)
    ).SerializeToString(),
    st.text(max_size=40),
    NUMBERS,
    st.lists(st.text(max_size=10), max_size=4),
    NUMBERS,
)


def _changed(data: bytes, place: int, bit: int) -> bytes:
    """One bit of it turned."""
    if not data:
        return data
    at = place % len(data)
    return data[:at] + bytes([data[at] ^ (1 << bit)]) + data[at + 1 :]


def _nearly(messages: st.SearchStrategy[bytes]) -> st.SearchStrategy[bytes]:
    return st.one_of(
        st.binary(max_size=300),
        messages,
        st.builds(_changed, messages, st.integers(0, 10_000), st.integers(0, 7)),
    )


LATER = st.builds(
    lambda ids, errors: pb.FromBot(
        moves=pb.Moves(
            moves=[
                *(pb.Move(decision=n, cards={"cards": [n % 60] * (n % 70)}) for n in ids),
                *(pb.Move(decision=1, error=error, note=error) for error in errors),
            ]
        )
    ).SerializeToString(),
    st.lists(NUMBERS, max_size=9),
    st.lists(TEXT, max_size=3),
)

TARGETS: dict[str, tuple[st.SearchStrategy[object], Callable[..., None]]] = {
    "first": (_nearly(HELLO), first_message),
    "later": (_nearly(LATER), later_message),
    "talk": (st.tuples(GAMES, TALK), talk),
}
"""What is drawn for each target, and the target."""

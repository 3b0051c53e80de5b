"""When a bot is frozen, how many may think at once, and what a strict clock is (design, section 5),
with scripted bots and a clock that the test turns."""

import pytest

from referee.match import ClockRules, FaultKind
from referee.player import FROZEN, REST, SLOW_BATCH, Player, Presence
from tests.referee.scripted import Table, seated, smallest


def waiting_for_a(clock: ClockRules | None = None) -> tuple[Table, Player]:
    """A table where b has answered and waits until the others have."""
    table = Table(seated(clock=clock or ClockRules()), clock=clock or ClockRules())
    table.begin()
    assert table.serve("b", smallest)
    return table, table.players["b"]


def rests(table: Table, player: Player) -> bool:
    table.tables.tick(player, table.now)
    return player.resting


def test_a_bot_with_nothing_open_for_a_while_is_frozen_until_it_is_sent_something() -> None:
    table, player = waiting_for_a()
    assert player.deadline(table.now) == pytest.approx(table.now + REST)
    table.now += REST - 0.001
    assert not rests(table, player)
    table.now += 0.002
    assert rests(table, player)
    table.run({"c": smallest, "a": smallest})
    assert table.serve("b", lambda _: None)
    assert not rests(table, player)


def test_news_wakes_it_for_a_moment() -> None:
    table, player = waiting_for_a()
    table.now += 1
    assert rests(table, player)
    player.stirred(table.now)
    assert not rests(table, player)
    table.now += REST
    assert rests(table, player)


def test_it_is_let_breathe_now_and_then() -> None:
    table, player = waiting_for_a()
    table.now += REST
    for _ in range(3):
        assert rests(table, player)
        assert player.deadline(table.now) == pytest.approx(table.now + FROZEN)
        table.now += FROZEN
        assert not rests(table, player)
        table.now += REST


def test_it_is_never_frozen_with_a_decision_open() -> None:
    table = Table(seated())
    table.begin()
    table.send("b")
    table.now += 1.9
    assert not rests(table, table.players["b"])


def test_it_is_not_frozen_while_it_owes_the_answer_to_a_late_decision() -> None:
    rules = ClockRules(limit=1.0, bank=0.0, hang=5.0)
    table = Table(seated(clock=rules), clock=rules)
    table.begin()
    batch = table.send("b")
    assert batch is not None
    table.wait(2.0)
    player = table.players["b"]
    assert batch.asks[0].match._faults[0].kind is FaultKind.LATE
    assert not rests(table, player)
    table.reply("b", [smallest(batch.asks[0])])
    table.now += REST
    assert rests(table, player)


def test_it_may_ponder_when_the_tournament_says_so() -> None:
    table, player = waiting_for_a(ClockRules(ponder=True))
    table.now += 10
    assert not rests(table, player)
    assert player.deadline(table.now) is None


def test_nobody_is_frozen_before_it_has_been_welcomed_or_after_it_has_gone() -> None:
    player = Player("b", ClockRules())
    player.rest(1e9)
    assert not player.resting
    player.arrived(None, None)
    player.rest(1e9)
    assert not player.resting
    player.stirred(0.0)
    player.rest(1.0)
    assert player.resting
    player.lost(1.0)
    assert player.presence is Presence.AWAITED
    player.rest(2.0)
    assert not player.resting


# How many think at once.


def test_a_process_counts_as_slow_until_it_has_shown_that_it_is_not() -> None:
    table = Table(seated(3), in_flight=3, cores=1)
    table.begin()
    player = table.players["b"]
    assert player.is_slow(table.now)
    assert table.serve("b", smallest)
    assert not player.is_slow(table.now)


def test_a_fast_process_counts_as_slow_while_its_batch_takes_long() -> None:
    table = Table(seated(2), in_flight=2, cores=1)
    table.begin()
    for _ in range(2):
        for name in "bca":
            table.serve(name, smallest)
    name = next(name for name in "abc" if table.players[name].wants_batch)
    player = table.players[name]
    table.send(name)
    assert not player.is_slow(table.now)
    assert player.is_slow(table.now + SLOW_BATCH + 0.001)


# Strict.


def test_a_strict_clock_has_one_decision_open_for_each_process() -> None:
    rules = ClockRules(limit=1.0, bank=2.0, strict=True)
    table = Table(seated(3, clock=rules), clock=rules, in_flight=3)
    table.tables.arrived(table.players["b"], None, 256)
    table.begin()
    batch = table.send("b")
    assert batch is not None
    assert len(batch.asks) == 1
    assert table.send("b") is None
    table.now += 2.1
    table.reply("b", [smallest(batch.asks[0])])
    assert batch.asks[0].match.banks[1] == pytest.approx(2.0 - 1.1 + 0.1)
    table.run(dict.fromkeys("abc", smallest))
    assert table.tables.done
    assert max(len(sent.asks) for sent in table.sent["b"]) == 1


# Retries.


def test_a_crash_gives_no_decision_a_second_time_and_no_bank_back() -> None:
    rules = ClockRules(limit=1.0, bank=2.0)
    table = Table(seated(2, clock=rules), clock=rules, in_flight=2)
    table.begin()
    batch = table.send("b")
    assert batch is not None
    first, second = batch.asks
    table.now += 2.1
    table.reply("b", [smallest(first)])
    bank = first.match.banks[1]
    assert bank < 2.0
    player = table.players["b"]
    table.now += 1.0
    table.tables.lost(player, table.now, "killed")
    assert second.match._faults[0].kind is FaultKind.CRASHED
    assert second.match.deal.played, "a stand-in has played: it is not asked again"
    table.tables.arrived(player, None, None)
    table.run({"a": smallest, "c": smallest})
    again = table.send("b")
    assert again is not None
    assert {ask.match for ask in again.asks} == {first.match, second.match}
    assert all(len(ask.match.deal.played) >= 3 for ask in again.asks)
    assert first.match.banks[1] == bank

"""Players and their tables with scripted bots and a clock that the test turns."""

import pytest

from referee.clock import GRACE
from referee.match import (
    Ask,
    ClockRules,
    DealOver,
    Faulted,
    FaultKind,
    FaultRules,
    MatchOver,
    Started,
)
from referee.player import EVENTS_WAIT, Move, Presence, Withdraw
from referee.tables import COMPANY_WAIT, FIRST_TABLES
from referee.wire_limits import MAX_DROPPED
from tests.referee.scripted import Table, largest, seated, smallest

ALL = {"a": smallest, "b": largest, "c": smallest}


def faults(table: Table, name: str) -> list[tuple[str, FaultKind]]:
    """The faults of a player by job, from the results."""
    return [
        (each.job.id, fault.kind)
        for each in table.jobs
        for fault in table.results[each.job.id].faults
        if each.players[fault.seat] == name
    ]


@pytest.mark.parametrize("game", ["knave", "ninety-nine"])
def test_many_matches_are_played_to_the_end(game: str) -> None:
    table = Table(seated(5, game=game))
    table.begin()
    table.run(ALL)
    assert table.tables.done
    assert sorted(table.results) == [f"job-{n}" for n in range(5)]
    assert all(not result.faults for result in table.results.values())


def test_results_do_not_depend_on_how_many_matches_are_under_way() -> None:
    one, many = Table(seated(4), in_flight=1), Table(seated(4), in_flight=4)
    for table in (one, many):
        table.begin()
        table.run(ALL)
    for name, result in one.results.items():
        assert many.results[name].totals == result.totals
        assert [d.moves for d in many.results[name].deals] == [d.moves for d in result.deals]


def test_jobs_are_announced_before_anything_of_them_is_sent() -> None:
    table = Table(seated(3), in_flight=2)
    table.begin()
    assert [each.job.id for each in table.started] == ["job-0", "job-1"]
    assert not any(table.sent.values())
    table.run(ALL)
    assert [each.job.id for each in table.started] == ["job-0", "job-1", "job-2"]


def test_at_most_one_batch_is_out() -> None:
    table = Table(seated(6, clock=ClockRules()), in_flight=3)
    table.begin()
    batch = table.send("b")
    assert batch is not None
    assert len(batch.asks) == 3
    table.reply("b", [smallest(batch.asks[0])])
    assert table.send("b") is None, "two decisions of the batch are still open"
    table.reply("b", [smallest(ask) for ask in batch.asks[1:]])
    assert table.players["b"].open == {}


def test_answers_come_in_any_order_and_grouping() -> None:
    def backwards(table: Table, name: str) -> bool:
        batch = table.send(name)
        if batch is None or not batch.asks:
            return False
        for ask in reversed(batch.asks):
            table.reply(name, [smallest(ask)])
        return True

    straight, odd = Table(seated(4)), Table(seated(4))
    straight.begin()
    straight.run(dict.fromkeys("abc", smallest))
    odd.begin()
    while any(backwards(odd, name) for name in "abc"):
        pass
    totals = {name: result.totals for name, result in straight.results.items()}
    assert {name: result.totals for name, result in odd.results.items()} == totals


def test_max_batch_and_max_tables_are_kept() -> None:
    table = Table(seated(9), in_flight=9)
    table.tables.arrived(table.players["a"], 2, None)
    table.tables.arrived(table.players["b"], None, 1)
    table.tables.arrived(table.players["c"], None, None)
    table.tables.fill(table.now)
    assert len(table.started) == 2
    batch = table.send("b")
    assert batch is not None
    assert len(batch.asks) == 1
    table.reply("b", [smallest(batch.asks[0])])
    table.run(ALL)
    assert len(table.results) == 9


def test_events_ride_with_the_next_batch_or_go_alone_after_a_while() -> None:
    table = Table(seated())
    table.begin()
    assert table.send("a") is None
    table.now += EVENTS_WAIT
    alone = table.send("a")
    assert alone is not None
    assert [type(event) for event in alone.events] == [Started]
    together = table.send("b")
    assert together is not None
    assert [type(event) for event in together.events] == [Started]
    assert len(together.asks) == 1


def test_everybody_hears_every_deal_and_the_result() -> None:
    table = Table(seated())
    table.begin()
    table.run(ALL)
    for name in "abc":
        table.now += 1
        table.send(name)
        told = [event for batch in table.sent[name] for event in batch.events]
        assert [type(event) for event in told] == [Started] + [DealOver] * 10 + [MatchOver]


# Late.


def fast_clock(**fields: float) -> ClockRules:
    return ClockRules(**{"limit": 1.0, "bank": 2.0, **fields})


def slow_table(count: int = 1, **fields: float) -> Table:
    rules = fast_clock(**fields)
    table = Table(seated(count, clock=rules), clock=rules, in_flight=count)
    table.begin()
    return table


def test_a_decision_is_late_when_limit_and_bank_are_used_up() -> None:
    table = slow_table()
    batch = table.send("b")
    assert batch is not None
    table.wait(1.0 + 2.0 + GRACE - 0.01)
    assert table.players["b"].open
    table.wait(0.02)
    assert not table.players["b"].open
    told = table.sent["b"][-1].events
    assert [type(event) for event in told] == [Withdraw, Faulted]
    assert batch.asks[0].match.banks[1] == 0.0
    table.run({"a": smallest, "c": smallest})
    assert table.send("b") is None, "no new batch before some answer"


def test_an_answer_to_a_withdrawn_decision_counts_for_nothing_but_shows_life() -> None:
    table = slow_table()
    batch = table.send("b")
    assert batch is not None
    table.wait(3.5)
    table.run({"a": smallest, "c": smallest})
    played = bytes(batch.asks[0].match.deal.played)
    table.reply("b", [largest(batch.asks[0])])
    assert batch.asks[0].match.deal.played == played
    assert table.send("b") is not None
    assert table.players["b"].dropped == 0


def test_a_silent_process_is_condemned_after_the_hang_limit() -> None:
    table = slow_table()
    table.send("b")
    table.wait(3.0 + GRACE + 2.0 - 0.01)
    assert table.players["b"].condemned is None
    table.wait(0.02)
    assert "hung" in (table.players["b"].condemned or "")


def test_waiting_in_the_referees_queue_costs_nothing() -> None:
    table = slow_table()
    table.now += 60.0
    batch = table.send("b")
    assert batch is not None
    table.now += 0.5
    table.reply("b", [smallest(batch.asks[0])])
    assert batch.asks[0].match.banks[1] == 2.0
    table.run(ALL)
    result = table.results["job-0"]
    assert result.deals[0].charged_us[0] == 500_000
    assert result.deals[0].queued_us[0] == 60_000_000


def test_hoarding_one_decision_while_answering_others_is_late() -> None:
    table = slow_table(3)
    batch = table.send("b")
    assert batch is not None
    kept, *others = batch.asks
    for ask in others:
        table.wait(1.4)
        table.reply("b", [smallest(ask)])
    table.wait(3 * 1.0 + 2.0 + GRACE - 2.8 + 0.01)
    assert kept.match._faults[0].kind is FaultKind.LATE


def test_dribbling_within_the_rules_is_no_fault() -> None:
    table = slow_table(3)
    batch = table.send("b")
    assert batch is not None
    for ask in batch.asks:
        table.wait(0.9)
        table.reply("b", [smallest(ask)])
    assert not table.players["b"].open
    assert all(ask.match.banks[1] == 2.0 for ask in batch.asks)


def test_the_decision_with_the_smallest_bank_is_late_first() -> None:
    table = slow_table(2)
    batch = table.send("b")
    assert batch is not None
    poor = batch.asks[1]
    poor.match.banks[1] = 0.5
    table.wait(1.5 + GRACE + 0.01)
    assert poor.id not in table.players["b"].open
    assert batch.asks[0].id in table.players["b"].open


@pytest.mark.parametrize("kind", ["unknown", "again", "empty"])
def test_answers_to_nothing_never_move_the_mark(kind: str) -> None:
    table = slow_table(2)
    batch = table.send("b")
    assert batch is not None
    first, second = batch.asks
    table.reply("b", [smallest(first)])
    moves = {"unknown": [Move(999, (1,))], "again": [smallest(first)], "empty": []}[kind]
    for _ in range(40):
        table.wait(0.1)
        if second.id in table.players["b"].open:
            table.reply("b", moves)
    assert second.match._faults[0].kind is FaultKind.LATE
    assert table.players["b"].dropped > 0


def test_a_flood_of_answers_condemns_the_process() -> None:
    table = Table(seated())
    table.begin()
    table.send("b")
    table.reply("b", [Move(4711, (1,))] * (MAX_DROPPED + 1))
    assert "flooded" in (table.players["b"].condemned or "")


def test_an_answer_twice_in_one_message_counts_once() -> None:
    table = Table(seated())
    table.begin()
    batch = table.send("b")
    assert batch is not None
    table.reply("b", [smallest(batch.asks[0])] * 2)
    assert len(batch.asks[0].match.deal.played) == 1
    assert table.players["b"].dropped == 1


# Faults in answers.


@pytest.mark.parametrize(
    ("move", "kind"),
    [
        (lambda ask: Move(ask.id, (51, 50)), FaultKind.ILLEGAL),
        (lambda ask: Move(ask.id, None), FaultKind.MALFORMED),
        (lambda ask: Move(ask.id, None, "ZeroDivisionError"), FaultKind.EXCEPTION),
    ],
    ids=["illegal", "malformed", "exception"],
)
def test_a_bad_answer_costs_its_decision_only(move: object, kind: FaultKind) -> None:
    rules = FaultRules(limit=10_000)
    table = Table(seated(2, faults=rules))
    table.begin()
    table.run({**ALL, "b": move})  # type: ignore[dict-item]
    assert {each for _, each in faults(table, "b")} == {kind}
    assert len(faults(table, "b")) == 2 * 10 * 17
    assert faults(table, "a") == faults(table, "c") == []


# Crashes.


def test_a_crash_is_one_fault_in_each_match_with_a_decision_open_and_in_no_other() -> None:
    table = Table(seated(4), in_flight=4)
    table.begin()
    batch = table.send("b")
    assert batch is not None
    table.reply("b", [smallest(ask) for ask in batch.asks[:1]])
    player = table.players["b"]
    table.tables.lost(player, table.now, "killed")
    assert player.presence is Presence.AWAITED
    table.tables.arrived(player, None, None)
    table.run(ALL)
    assert faults(table, "b") == [(f"job-{n}", FaultKind.CRASHED) for n in (1, 2, 3)]


def test_the_next_process_is_told_what_the_matches_were() -> None:
    table = Table(seated())
    table.begin()
    table.run({"a": smallest, "b": _until(deal=2), "c": smallest})
    player = table.players["b"]
    table.tables.lost(player, table.now, "killed")
    table.tables.arrived(player, None, None)
    table.run({"a": smallest, "c": smallest})
    table.now += 1
    batch = table.send("b")
    assert batch is not None
    started, faulted = batch.events
    assert isinstance(faulted, Faulted)
    assert isinstance(started, Started)
    assert started.resumed is not None
    assert [deal.number for deal in started.resumed] == [0, 1]


def _until(deal: int) -> object:
    """A bot that stops answering in that deal."""

    def answer(ask: Ask) -> Move | None:
        return smallest(ask) if ask.match.number < deal else None

    return answer


def test_a_player_that_is_given_up_forfeits_running_and_coming_matches() -> None:
    table = Table(seated(4), in_flight=2)
    table.begin("a", "c")
    table.tables.give_up(table.players["b"], table.now, "never said hello")
    table.run({"a": smallest, "c": smallest})
    assert len(table.results) == 4
    for result in table.results.values():
        assert result.forfeits == (1,)
        assert [fault.kind for fault in result.faults] == [FaultKind.ABSENT]


def test_when_everybody_is_given_up_the_tables_still_end() -> None:
    table = Table(seated(3, game="ninety-nine"))
    table.tables.fill(table.now)
    for player in table.players.values():
        table.tables.give_up(player, table.now, "never said hello")
    assert table.tables.done
    assert {result.places for result in table.results.values()} == {(1, 1, 1)}


# Slow ones.


def test_at_most_as_many_slow_processes_as_cores_hold_a_batch() -> None:
    table = Table(seated(6, names="abc"), in_flight=6, cores=1)
    table.begin()
    slow = ClockRules().limit / 2
    for _ in range(3):
        for name in "abc":
            table.serve(name, smallest, seconds=slow)
    ready = [name for name in "abc" if table.players[name].wants_batch]
    assert len(ready) >= 2
    first, second = ready[:2]
    batch = table.send(first)
    assert batch is not None
    assert batch.asks
    held = table.send(second)
    assert held is None or not held.asks
    table.tables.touched.clear()
    table.now += slow
    table.reply(first, [smallest(ask) for ask in batch.asks])
    assert table.players[second] in table.tables.touched
    after = table.send(second)
    assert after is not None
    assert after.asks


def test_a_batch_waits_a_little_for_company_while_others_are_thinking() -> None:
    table = Table(seated(6), in_flight=6)
    table.begin()
    batch = table.send("b")
    assert batch is not None
    assert len(batch.asks) == 6
    table.reply("b", [smallest(batch.asks[0])])
    assert table.send("c") is None, "one of six, and b is thinking about the others"
    table.now += COMPANY_WAIT
    alone = table.send("c")
    assert alone is not None
    assert len(alone.asks) == 1


def test_a_batch_does_not_wait_when_nothing_can_come() -> None:
    table = Table(seated(6), in_flight=1)
    table.begin()
    assert table.serve("b", smallest)
    batch = table.send("c")
    assert batch is not None
    assert len(batch.asks) == 1


def test_tables_in_flight_follow_the_pace_of_the_bots() -> None:
    fast, slow = Table(seated(2000)), Table(seated(2000))
    for table, seconds in ((fast, 1e-5), (slow, 5.0)):
        table.begin()
        assert len(table.started) == 3 * FIRST_TABLES
        for name in "bca":
            table.serve(name, smallest, seconds)
    assert len(fast.started) > 3 * FIRST_TABLES
    assert len(slow.started) <= 3 * FIRST_TABLES + 3

"""What a player keeps while its program is away, with a clock that the test turns."""

from referee.match import FaultKind, MatchOver, Started
from referee.player import Move
from tests.referee.scripted import Table, seated, smallest

ALL = {"a": smallest, "b": smallest, "c": smallest}


def away(table: Table) -> None:
    """Play goes on until b has been asked something that it does not answer."""
    table.begin()
    table.run({"a": smallest, "c": smallest, "b": lambda _: None})
    assert table.players["b"].open


def test_numbers_go_on_from_where_they_were_so_that_old_answers_answer_nothing() -> None:
    table = Table(seated(max_deals=1))
    table.players["b"].last_id = 40
    away(table)
    b = table.players["b"]
    assert list(b.open) == [41]
    table.reply("b", [Move(number, (0,)) for number in range(1, 41)])
    assert list(b.open) == [41]
    assert b.dropped == 40
    table.reply("b", [smallest(ask) for ask in b.open.values()])
    table.run(ALL)
    assert not table.results["job-0"].faults


def test_who_comes_back_is_told_all_and_asked_again_and_nothing_is_lost() -> None:
    table = Table(seated(2, max_deals=1), in_flight=2)
    away(table)
    b = table.players["b"]
    asked = dict(b.open)
    batch = b.back()
    assert {ask.id: ask for ask in batch.asks} == asked == b.open
    resumed = [event for event in batch.events if isinstance(event, Started)]
    assert [event.resumed for event in resumed] == [(), ()]
    table.reply("b", [smallest(ask) for ask in batch.asks])
    table.run(ALL)
    assert all(not result.faults for result in table.results.values())


def test_its_time_runs_on_and_it_need_not_answer_what_it_never_saw() -> None:
    table = Table(seated(max_deals=1))
    away(table)
    b = table.players["b"]
    (ask,) = b.open.values()
    table.now += ask.match.job.clock.limit + ask.match.job.clock.bank + 1
    table.tables.tick(b, table.now)
    assert not b.open
    table.run({"a": smallest, "c": smallest})
    assert not b.wants_batch, "silent after a late decision, it is asked no more"
    assert b.back().asks == ()
    table.run(ALL)
    (result,) = table.results.values()
    assert [fault.kind for fault in result.faults] == [FaultKind.LATE]


def test_nothing_waits_to_be_sent_to_who_is_not_there() -> None:
    """Else whoever keeps its time would look again and again."""
    table = Table(seated(2, max_deals=1), in_flight=2)
    table.begin("a", "c")
    b = table.players["b"]
    table.run({"a": smallest, "c": smallest})
    assert table.tables.deadline(b, table.now) is None, "it is awaited"
    table.tables.arrived(b, None, None)
    table.serve("b", smallest)
    table.run({"a": smallest, "c": smallest})
    assert b.queue
    b.away()
    assert table.tables.deadline(b, table.now) is None, "it is away"
    table.tables.arrived(b, None, None)
    assert b.back().asks == ()
    table.run(ALL)
    assert len(table.results) == 2


def test_the_end_of_a_match_is_told_to_who_was_away() -> None:
    table = Table(seated(max_deals=1))
    table.begin()
    table.run(ALL)
    b = table.players["b"]
    assert [type(event) for event in b.back().events] == [MatchOver]
    assert b.back().events == ()

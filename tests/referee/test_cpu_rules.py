"""The rules of a clock of processor time (design, section 5), with scripted bots, a clock that the
test turns, and readings that it makes up."""

import pytest

from referee.clock import CPU_GRACE, LOOK
from referee.match import CPU_BACKSTOP, Ask, ClockRules, FaultKind
from tests.referee.scripted import Table, seated, smallest

RULES = ClockRules(limit=1.0, bank=2.0, measure="cpu")


def asked(count: int, rules: ClockRules = RULES) -> tuple[Table, tuple[Ask, ...]]:
    """A table at which b has been asked so much at once."""
    table = Table(seated(count, clock=rules), clock=rules, in_flight=count)
    table.begin()
    batch = table.send("b")
    assert batch is not None
    assert len(batch.asks) == count
    return table, batch.asks


def faults(asks: tuple[Ask, ...]) -> list[FaultKind | None]:
    """The first fault of each decision's match, if it has one."""
    return [ask.match._faults[0].kind if ask.match._faults else None for ask in asks]


def banks(asks: tuple[Ask, ...]) -> list[float]:
    return [ask.match.banks[1] for ask in asks]


def test_a_decision_costs_what_was_used_since_the_message_before() -> None:
    table, asks = asked(3)
    table.now += 30
    table.reply("b", [smallest(asks[0])], cpu=0.4)
    table.now += 30
    table.reply("b", [smallest(asks[1]), smallest(asks[2])], cpu=1.0)
    charged = [ask.match._charged[0] for ask in asks]
    assert charged == [400_000, 300_000, 300_000]
    assert banks(asks) == [2.0, 2.0, 2.0]


def test_what_was_used_off_turn_is_the_bots_own_cost() -> None:
    table, asks = asked(1)
    table.reply("b", [smallest(asks[0])], cpu=0.1)
    table.run({"c": smallest, "a": smallest})
    table.now += 60
    batch = table.send("b")
    assert batch is not None
    table.reply("b", [smallest(batch.asks[0])], cpu=0.1 + 1.5)
    assert batch.asks[0].match.banks[1] == pytest.approx(2.0 - 0.5 + CPU_GRACE)


def test_what_a_process_used_before_its_first_batch_is_free() -> None:
    table = Table(seated(1, clock=RULES), clock=RULES)
    table.begin()
    table.players["b"].read(table.now, 0.0)
    batch = table.send("b")
    assert batch is not None
    table.reply("b", [smallest(batch.asks[0])], cpu=0.2)
    assert batch.asks[0].match._charged[0] == 200_000


def test_an_overrun_that_is_answered_alone_is_late() -> None:
    table, asks = asked(2)
    table.reply("b", [smallest(asks[0])], cpu=3.0 + CPU_GRACE + 0.01)
    assert faults(asks) == [FaultKind.LATE, None]
    assert banks(asks) == [0.0, 2.0]
    assert "3.02 s of processor time" in asks[0].match._faults[0].detail
    table.reply("b", [smallest(asks[1])], cpu=3.5)
    assert faults(asks) == [FaultKind.LATE, None]
    assert table.players["b"].open == {}


def test_a_bank_pays_for_a_decision_that_is_answered_alone() -> None:
    table, asks = asked(1)
    table.reply("b", [smallest(asks[0])], cpu=2.5)
    assert faults(asks) == [None]
    assert banks(asks) == [pytest.approx(0.5 + CPU_GRACE)]


def test_an_overrun_in_a_message_counts_only_against_all_that_it_answers() -> None:
    table, asks = asked(3)
    asks[0].match.banks[1] = 0.0
    table.reply("b", [smallest(ask) for ask in asks], cpu=3 * 1.0 + 4.0)
    assert faults(asks) == [None, None, None]
    assert banks(asks)[0] == 0.0


def test_a_message_that_costs_more_than_its_decisions_may_is_late_where_the_bank_is_too_small() -> (
    None
):
    table, asks = asked(3)
    asks[0].match.banks[1] = 0.0
    table.reply("b", [smallest(ask) for ask in asks], cpu=3 * 1.0 + 4.0 + CPU_GRACE + 0.03)
    assert faults(asks) == [FaultKind.LATE, None, None]
    assert all(len(ask.match.deal.played) >= 1 for ask in asks)


def test_answering_in_dribbles_costs_each_message_its_own() -> None:
    table, asks = asked(3)
    for number, ask in enumerate(asks, 1):
        table.now += 5
        table.reply("b", [smallest(ask)], cpu=0.9 * number)
    assert faults(asks) == [None, None, None]
    assert banks(asks) == [2.0, 2.0, 2.0]
    assert [ask.match._charged[0] for ask in asks] == [900_000] * 3


def test_hoarding_one_decision_while_answering_others_is_late() -> None:
    table, (kept, *others) = asked(6)
    for number, ask in enumerate(others, 1):
        table.reply("b", [smallest(ask)], cpu=1.5 * number)
        table.tables.tick(table.players["b"], table.now)
    assert kept.id in table.players["b"].open, "it may cost 6 limits, its bank and the graces"
    table.look("b", cpu=6 * 1.0 + 2.0 + 6 * CPU_GRACE + 0.01)
    assert faults((kept, *others)) == [FaultKind.LATE] + [None] * 5


def test_a_bot_that_burns_and_answers_nothing_is_late_when_no_answer_could_be_in_time() -> None:
    table, asks = asked(2)
    asks[1].match.banks[1] = 0.5
    table.look("b", cpu=2 * 1.0 + 2.5 + CPU_GRACE - 0.01)
    assert len(table.players["b"].open) == 2
    table.look("b", cpu=2 * 1.0 + 2.5 + CPU_GRACE + 0.01)
    assert faults(asks) == [None, FaultKind.LATE], "the smallest bank"
    assert "4.52 s of processor time" in asks[1].match._faults[0].detail


def test_a_bot_that_may_have_used_up_its_time_is_looked_at_again() -> None:
    table, _ = asked(1)
    player = table.players["b"]
    at = player.deadline(table.now)
    assert at == pytest.approx(table.now + 3.0 + CPU_GRACE), "one that computes all the time"
    assert not player.looks_late(at - 0.01)
    assert player.looks_late(at)
    table.now = at
    table.look("b", cpu=1.0)
    assert player.deadline(at) == pytest.approx(at + 2.0 + CPU_GRACE)
    table.now += 2.1
    table.look("b", cpu=3.0)
    assert player.deadline(table.now) == pytest.approx(table.now + LOOK), "never a busy loop"


def test_a_bot_that_uses_no_time_and_does_not_answer_meets_the_backstop_on_the_wall() -> None:
    table, asks = asked(1)
    table.wait(CPU_BACKSTOP * 3.0)
    assert faults(asks) == [None]
    table.wait(0.2)
    assert faults(asks) == [FaultKind.LATE]
    assert "on the wall, 10 times what limit and bank allow" in asks[0].match._faults[0].detail
    assert asks[0].match._charged[0] == 0
    table.wait(CPU_BACKSTOP * 2.0)
    assert "hung" in (table.players["b"].condemned or "")


def test_what_goes_on_behind_a_late_decision_is_not_charged_to_the_next() -> None:
    table, asks = asked(1)
    table.look("b", cpu=3.1)
    assert faults(asks) == [FaultKind.LATE]
    table.reply("b", [smallest(asks[0])], cpu=10.0)
    table.run({"a": smallest, "c": smallest})
    batch = table.send("b")
    assert batch is not None
    (ask,) = batch.asks
    table.reply("b", [smallest(ask)], cpu=10.4)
    assert ask.match.banks[1] == 0.0
    assert len(ask.match._faults) == 1


def test_an_answer_to_nothing_does_not_move_the_mark() -> None:
    table, asks = asked(1)
    table.reply("b", [], cpu=0.8)
    table.reply("b", [smallest(asks[0])], cpu=1.6)
    assert asks[0].match._charged[0] == 1_600_000


def test_a_new_process_begins_with_its_own_time_and_what_is_left_of_the_banks() -> None:
    table, asks = asked(2)
    player = table.players["b"]
    table.reply("b", [smallest(asks[0])], cpu=2.5)
    table.tables.lost(player, table.now, "killed")
    assert faults(asks) == [None, FaultKind.CRASHED]
    table.tables.arrived(player, None, None)
    player.read(table.now, 40.0)
    table.run({"a": smallest, "c": smallest})
    batch = table.send("b")
    assert batch is not None
    table.reply("b", [smallest(ask) for ask in batch.asks], cpu=40.2)
    assert banks(asks) == [pytest.approx(0.5 + CPU_GRACE), 2.0]
    assert 100_000 in batch.asks[0].match._charged

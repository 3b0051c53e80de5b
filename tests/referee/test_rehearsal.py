"""What a rehearsal writes down, and how it says it, without a process."""

import pytest

from knavery.v1 import game_pb2 as game
from knavery.v1 import referee_pb2 as pb
from referee import findings, wire
from referee.clock import ProcessClock
from referee.games.registry import GAMES, make_rules
from referee.match import ClockRules, Match
from referee.player import Batch
from referee.rehearsal import BIDS, DISCARD, FOLLOW, LAST, LEAD, UNKNOWN, Life, position, positions
from referee.taps import mixed
from tests.referee.scripted import asks, job


def decisions(name: str) -> list[game.Decision]:
    """Every decision of a deal."""
    match = Match(job(name, max_deals=1))
    waiting, seen = asks(match.start()), list[game.Decision]()
    while waiting:
        ask = waiting.pop(0)
        ask.id = len(seen) + 1
        seen += [event.decision for event in wire.event_messages(Batch((), (ask,)))]
        waiting += asks(match.answer(ask, match.deal.stand_in(ask.seat)))
    return seen


@pytest.mark.parametrize("name", GAMES)
def test_a_deal_has_every_kind_of_decision(name: str) -> None:
    kinds = [position(decision) for decision in decisions(name)]
    assert set(kinds) == set(positions(make_rules(name)))
    assert kinds.count(LAST) == 2  # the leader of the last trick leads
    assert all(kind in (LEAD, FOLLOW, DISCARD, LAST, *BIDS) for kind in kinds)


def test_a_request_that_is_not_known_is_a_kind_of_its_own() -> None:
    assert position(game.Decision(hand=[1, 2])) == UNKNOWN


def asked(*numbers: int) -> list[pb.Event]:
    (decision, *_) = decisions("knave")
    made = []
    for number in numbers:
        event = pb.Event(decision=decision)
        event.decision.id = number
        made.append(event)
    return made


def answer(*numbers: int) -> pb.Moves:
    return pb.Moves(moves=[pb.Move(decision=number, cards={"cards": [0]}) for number in numbers])


@pytest.fixture
def life() -> Life:
    return Life(ProcessClock(ClockRules()))


def test_time_is_shared_by_the_answers_of_a_message(life: Life) -> None:
    life.sent(10.0, asked(1, 2, 3))
    life.heard(10.5, answer(3))
    life.heard(11.5, answer(1, 2))
    assert life.spent == [0.5, 0.5, 0.5]
    assert (life.largest, len(life.answers), life.strays) == (3, 3, {})


def test_what_is_no_answer_is_counted(life: Life) -> None:
    life.sent(1.0, asked(1, 2))
    life.heard(1.1, answer(1, 1, 7))
    life.heard(1.2, pb.Moves())
    found = list(findings.strays([life]))
    assert {each.kind for each in found} == {"stray"}
    came = "\n".join(each.came for each in found)
    assert all(words in came for words in ("second answer", "never asked", "without a move"))


def test_an_answer_to_a_withdrawn_decision_is_none_and_no_stray(life: Life) -> None:
    life.sent(1.0, asked(1))
    life.sent(2.0, [pb.Event(withdrawn=pb.Withdrawn(decision=1))])
    life.heard(3.0, answer(1))
    assert (life.spent, life.strays) == ([], {})


def test_faults_are_told_with_their_place_and_the_answer(life: Life) -> None:
    life.sent(1.0, asked(1))
    life.heard(1.1, answer(1))
    notice = pb.FaultNotice(decision=1, kind=pb.FAULT_KIND_ILLEGAL, cause="\x1b[2Jno such card")
    life.sent(1.2, [pb.Event(fault=notice)] * 2)
    (found,) = findings.slips(life.slips)
    assert found.kind == "illegal"
    assert found.came.startswith("illegal, 2 times, first in a lead (knave classic, deal 0, seat ")
    assert found.came.endswith("): no such card (it answered 2C)")


@pytest.mark.parametrize(
    ("cause", "kind"),
    [
        ("could not be started: b cannot be started: Exec format error", "command"),
        ("no hello within 15 s of its start", "hello"),
        ("rejected: Hello.max_batch is 0: leave it out", "hello"),
        ("flooded the referee: 10001 answers to nothing asked", "flood"),
        ("does not read what it is sent", "deaf"),
        ("its process ended: killed by SIGSEGV (Segmentation fault)", "crashed"),
        ("the bot's stream ended", "hung-up"),
    ],
)
def test_each_way_to_lose_a_process_has_its_mend(cause: str, kind: str) -> None:
    found = findings.loss(cause)
    assert (found.kind, found.came, found.lethal) == (kind, cause, True)
    assert len(found.mend) > 20


def test_long_and_hostile_words_are_clipped() -> None:
    text = findings.clipped("\x1b]0;title\x07" + "x" * 10_000 + "\n\n" + "line\n" * 100)
    lines = text.splitlines()
    assert len(lines) == findings.LINES
    assert all(len(line) <= findings.WIDTH and line.isprintable() for line in lines)


def test_events_are_mixed_match_by_match_and_each_match_keeps_its_order() -> None:
    events = [
        pb.Event(match_started=pb.MatchStarted(match="a")),
        pb.Event(match_started=pb.MatchStarted(match="b")),
        pb.Event(decision=game.Decision(match="a", id=1)),
        pb.Event(decision=game.Decision(match="b", id=2)),
    ]
    assert mixed(events) == [events[1], events[3], events[0], events[2]]

"""What becomes of an author's code, good and bad, when the referee's events come in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pytest

from knavery import Bot, Card, FaultNotice, FinishedDeal, MatchEnd, MatchInfo, Trick, View, cards
from knavery.host import FLUSH_SECONDS, Host
from knavery.v1 import game_pb2 as game
from knavery.v1 import referee_pb2 as pb
from tests.sdk.events import finished_deal, started, to_bid, to_play


class Scripted(Bot):
    """Plays what `answers` says for each hand; an exception there is raised."""

    answers: dict[str, Any] = {}  # noqa: RUF012

    def play(self, view: View) -> Any:
        answer = self.answers.get(str(view.hand[0]), view.legal[0])
        if isinstance(answer, Exception):
            raise answer
        return answer

    def bid(self, view: View) -> Any:
        return self.answers.get("bid", view.hand[:3])


def answering(answer: Any) -> type[Bot]:
    return type("Answering", (Scripted,), {"answers": {"7H": answer, "bid": answer}})


def still() -> float:
    """A clock on which no time goes by."""
    return 0.0


def moves(bot: type[Bot], events: Iterable[pb.Event]) -> list[pb.Move]:
    return [move for lot in Host(bot, lambda _: None).answers(events) for move in lot.moves]


def test_each_decision_is_answered_under_its_number() -> None:
    events = [started("m"), started("n"), to_play(4, "7H"), to_play(9, "2C", "n"), to_bid(11)]
    assert [(move.decision, list(move.cards.cards)) for move in moves(Scripted, events)] == [
        (4, [Card("7H")]),
        (9, [Card("2C")]),
        (11, list(cards("5C 7D 8H"))),
    ]


@pytest.mark.parametrize(
    "answer", [Card("7H"), int(Card("7H")), "7H", [Card("7H")], (int(Card("7H")),), ["7H"]]
)
def test_a_card_may_be_named_in_several_ways(answer: Any) -> None:
    (move,) = moves(answering(answer), [started(), to_play(1)])
    assert list(move.cards.cards) == [Card("7H")]


@pytest.mark.parametrize(
    "answer",
    ["5C 7D 8H", ["5C", "7D", "8H"], {Card("5C"), Card("7D"), Card("8H")}, iter((3, 18, 32))],
)
def test_a_bid_may_be_named_in_several_ways(answer: Any) -> None:
    (move,) = moves(answering(answer), [started(), to_bid(1)])
    assert sorted(move.cards.cards) == list(cards("5C 7D 8H"))


@pytest.mark.parametrize("answer", [None, "10H", 52, -1, True, 1.0, [], [Card("7H"), Card("QS")]])
def test_what_is_no_card_is_said_with_the_place_and_the_mend(answer: Any) -> None:
    (move,) = moves(answering(answer), [started(), to_play(1)])
    first, second = move.error.splitlines()
    line = Scripted.play.__code__.co_firstlineno
    assert first == (
        f"test_host.py:{line} play returned {answer!r}, which is no card: return one of view.legal"
    )
    assert second.startswith("knave/classic deal 0 seat 0")


def test_what_is_no_bid_is_said_too() -> None:
    (move,) = moves(answering(7), [started(), to_bid(1)])
    assert "bid returned 7, which is no list of cards: return 3 of view.hand" in move.error


def test_a_bid_of_too_few_cards_is_for_the_referee_to_judge() -> None:
    (move,) = moves(answering("5C"), [started(), to_bid(1)])
    assert list(move.cards.cards) == [Card("5C")]


def test_an_exception_costs_its_own_decision_only() -> None:
    told: list[str] = []
    host = Host(answering(ValueError("no\nidea")), told.append, still)
    (lot,) = host.answers([started(), to_play(1, "2C"), to_play(2, "7H QS"), to_play(3, "2C")])
    good, bad, also_good = lot.moves
    assert (good.WhichOneof("answer"), also_good.WhichOneof("answer")) == ("cards", "cards")
    line = Scripted.play.__code__.co_firstlineno + 3
    assert bad.error == (
        f"test_host.py:{line} in play: ValueError: no idea\n"
        "knave/classic deal 0 seat 0 dealer 2; play from 7H QS; hand 7H QS; trick -; "
        "won 0 0 0; played -"
    )
    assert len(told) == 1
    assert "Traceback" in told[0]
    assert "raise answer\nValueError: no\nidea" in told[0]


def test_an_error_is_bounded_and_fit_to_be_sent() -> None:
    (move,) = moves(answering(ValueError("x\ud800" * 5000)), [started(), to_play(1)])
    assert len(move.error.encode()) <= 2048
    assert "play from 7H QS" in move.error


def test_an_error_outside_of_the_authors_code_says_so() -> None:
    class Broken(Bot):
        play = None  # type: ignore[assignment]

    (move,) = moves(Broken, [started(), to_play(1)])
    assert "outside of the bot's own code: TypeError" in move.error


def test_a_request_unknown_to_this_version_is_refused() -> None:
    event = to_play(5)
    event.decision.ClearField("play_request")
    (move,) = moves(Scripted, [started(), event])
    assert (move.decision, move.error) == (
        5,
        "the referee asks for what this SDK does not know: install a newer knavery",
    )


def test_events_unknown_or_in_need_of_no_answer_are_passed_over() -> None:
    events = [
        pb.Event(),
        pb.Event(withdrawn=pb.Withdrawn(decision=3)),
        pb.Event(fault=pb.FaultNotice(match="other")),
        pb.Event(match_finished=pb.MatchFinished(match="other")),
        pb.Event(deal_finished=finished_deal("other")),
        pb.Event(goodbye=pb.Goodbye(reason="done")),
    ]
    assert moves(Scripted, events) == []


def test_a_decision_of_no_known_match_is_refused() -> None:
    (move,) = moves(Scripted, [to_play(1, match="ghost")])
    assert move.error == "no match of this name was started"


def test_a_bot_that_cannot_be_made_fails_each_decision_of_its_match_alone() -> None:
    class Shy(Scripted):
        def __init__(self) -> None:
            if self.info.match == "bad":
                raise OSError("no model")

    events = [started("bad"), started("m"), to_play(1, "2C", "bad"), to_play(2, "2C")]
    first, second = moves(Shy, events)
    assert first.error.startswith("test_host.py:")
    assert first.error.endswith("in __init__: OSError: no model")
    assert second.WhichOneof("answer") == "cards"


def test_a_game_unknown_to_this_version_fails_its_match_alone() -> None:
    event = started("bad")
    event.match_started.rules.ClearField("knave")
    first, second = moves(Scripted, [event, started(), to_play(1, match="bad"), to_play(2)])
    assert "a game that this version does not know" in first.error
    assert second.WhichOneof("answer") == "cards"


def test_a_note_rides_with_its_decision() -> None:
    class Noting(Scripted):
        def play(self, view: View) -> Any:
            if view.hand[0] == Card("2C"):
                self.note("é" * 200)
                if view.hand[-1] == Card("QS"):
                    raise ValueError
            return view.legal[0]

    plain, noted, failed = moves(
        Noting, [started(), to_play(1), to_play(2, "2C"), to_play(3, "2C QS")]
    )
    assert not plain.HasField("note")
    assert noted.note == failed.note == "é" * 128
    assert failed.WhichOneof("answer") == "error"


def ticking(step: float) -> Iterator[float]:
    now = 0.0
    while True:
        yield now
        now += step


def lots(bot: type[Bot], step: float, events: Iterable[pb.Event]) -> list[int]:
    """How many moves each lot has when every look at the clock is `step` seconds later."""
    clock = ticking(step)
    host = Host(bot, lambda _: None, lambda: next(clock))
    return [len(lot.moves) for lot in host.answers(events)]


def test_answers_are_handed_over_every_few_milliseconds_and_at_the_end() -> None:
    batch = [started(), *(to_play(number) for number in range(1, 8))]
    assert lots(Scripted, 0.0, batch) == [7]
    assert lots(Scripted, 0.6 * FLUSH_SECONDS, batch) == [2, 2, 2, 1]
    assert lots(Scripted, 1.2 * FLUSH_SECONDS, batch) == [1] * 7


class Together(Scripted):
    """Plays in batches; a hand that holds the two of clubs makes it fail."""

    sizes: list[int]

    @classmethod
    def play_batch(cls, views: Sequence[View]) -> Any:
        cls.sizes.append(len(views))
        if any(view.hand[0] == Card("2C") for view in views):
            raise ValueError("the two")
        for view in views:
            view.bot.note(view.match)
        return [view.legal[-1] for view in views]


def test_a_batch_is_played_together_and_bids_are_not() -> None:
    Together.sizes = []
    events = [started("m"), started("n"), to_play(1), to_bid(2), to_play(3, "3C 4C", "n")]
    answers = {move.decision: move for move in moves(Together, events)}
    assert Together.sizes == [2]
    assert list(answers[1].cards.cards) == [Card("QS")]
    assert list(answers[3].cards.cards) == [Card("4C")]
    assert (answers[1].note, answers[3].note) == ("m", "n")
    assert len(answers[2].cards.cards) == 3


def test_a_batch_that_fails_is_played_one_by_one() -> None:
    Together.sizes = []
    events = [started(), to_play(1), to_play(2, "2C"), to_play(3, "3C")]
    good, bad, also_good = moves(Together, events)
    assert Together.sizes == [3, 1, 1, 1]
    assert (good.WhichOneof("answer"), also_good.WhichOneof("answer")) == ("cards", "cards")
    assert "in play_batch: ValueError: the two" in bad.error


def test_a_batch_of_the_wrong_length_is_a_wrong_answer() -> None:
    class Short(Bot):
        @classmethod
        def play_batch(cls, views: Sequence[View]) -> Any:  # noqa: ARG003
            return []

    answers = moves(Short, [started(), to_play(1), to_play(2)])
    assert len(answers) == 2
    assert all("play_batch returned 0 answers to 1 views" in move.error for move in answers)


class Listening(Scripted):
    heard: list[Any]

    def match_started(self, info: MatchInfo) -> None:
        self.heard.append(info)

    def deal_finished(self, deal: FinishedDeal) -> None:
        self.heard.append(deal)

    def fault(self, notice: FaultNotice) -> None:
        self.heard.append(notice)

    def match_finished(self, end: MatchEnd) -> None:
        self.heard.append(end)
        raise ValueError("too late")


def test_news_comes_as_values() -> None:
    Listening.heard = []
    told: list[str] = []
    notice = pb.FaultNotice(
        match="m", kind=pb.FAULT_KIND_LATE, cause="slow", played=[int(Card("2C"))], faults=1
    )
    events = [
        started(),
        pb.Event(deal_finished=finished_deal()),
        pb.Event(fault=notice),
        pb.Event(match_finished=pb.MatchFinished(match="m", totals=[1, 2, 3], places=[3, 2, 1])),
    ]
    assert list(Host(Listening, told.append).answers(events)) == []
    info, deal, fault, end = Listening.heard
    assert (info.match, info.seat, info.rules.game, info.resumed) == ("m", 1, "knave", False)
    assert deal == FinishedDeal(
        deal=0,
        dealer=2,
        hands=(cards("2C 3C"), cards("4C 5C"), cards("6C AD")),
        undealt=cards("KD"),
        bids=(),
        trump=None,
        tricks=(Trick(0, cards("2C 4C 6C"), 2), Trick(2, cards("AD 3C 5C"), 2)),
        tricks_won=(0, 0, 2),
        scores=(0, 0, 2),
        totals=(3, 0, 2),
    )
    assert fault == FaultNotice("late", "slow", cards("2C"), 1, False)
    assert end == MatchEnd((1, 2, 3), (3, 2, 1), ())
    assert len(told) == 1
    assert "too late" in told[0]


def test_a_kind_of_fault_unknown_to_this_version_is_named_by_its_number() -> None:
    Listening.heard = []
    notice = pb.FaultNotice.FromString(bytes([0x0A, 1, ord("m"), 0x18, 77]))
    list(Host(Listening, lambda _: None).answers([started(), pb.Event(fault=notice)]))
    assert Listening.heard[-1].kind == "kind 77"


def test_a_resumed_match_tells_of_the_deals_so_far() -> None:
    Listening.heard = []
    events = [started(deals=[finished_deal(deal=0), finished_deal(deal=1)]), to_play(1)]
    (move,) = moves(Listening, events)
    info, *deals = Listening.heard
    assert (info.resumed, info.faults) == (True, 2)
    assert [deal.deal for deal in deals] == [0, 1]
    assert move.WhichOneof("answer") == "cards"


def test_an_object_lives_as_long_as_its_match() -> None:
    host = Host(Scripted, lambda _: None, still)
    finish = pb.Event(match_finished=pb.MatchFinished(match="m"))
    (lot,) = host.answers([started(), to_play(1), finish, to_play(2)])
    assert lot.moves[0].WhichOneof("answer") == "cards"
    assert lot.moves[1].error == "no match of this name was started"


def test_decisions_that_were_sent_are_not_written_to() -> None:
    event = to_play(1)
    before = event.SerializeToString()
    moves(Scripted, [started(), event])
    assert event.SerializeToString() == before
    assert isinstance(event.decision, game.Decision)

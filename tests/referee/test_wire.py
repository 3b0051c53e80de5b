"""Domain values and messages: complete, faithful, and nothing that a seat may not know."""

import itertools

import pytest

from knavery.v1 import game_pb2 as game
from knavery.v1 import referee_pb2 as pb
from referee import decisions, wire
from referee.games.registry import GAMES, joined_variants, make_rules
from referee.games.view import Phase
from referee.match import Ask, ClockRules, FaultKind, Match
from referee.player import Batch, Move, Withdraw
from referee.wire_rules import rules_from, rules_message
from tests.referee.scripted import asks, events, job

VARIANTS = [(name, variant) for name in GAMES for variant in joined_variants(name)]
TRUMPS = {0: game.TRUMP_CLUBS, 1: game.TRUMP_DIAMONDS, 2: game.TRUMP_HEARTS, 3: game.TRUMP_SPADES}


def by_library(ask: Ask) -> game.Decision:
    """The decision as protobuf's own library builds it, field by field from the view."""
    match = ask.match
    view = match.deal.view(ask.seat)
    trump = TRUMPS.get(view.trump, game.TRUMP_NONE) if view.trump_known else game.TRUMP_UNKNOWN
    message = game.Decision(
        id=ask.id,
        match=match.job.public_id,
        deal=match.number,
        deals_left=match.rules.max_deals - match.number - 1,
        rules=rules_message(match.rules),
        seat=view.seat,
        dealer=view.dealer,
        hand=view.hand,
        played=view.played,
        leaders=view.leaders,
        trick=view.trick,
        tricks_won=view.tricks_won,
        trump=trump,
        last_dealt=view.last_dealt,
        bids=[
            game.RevealedBid(seat=seat, cards=bid)
            for seat, bid in enumerate(view.bids)
            if bid is not None
        ],
        scores=match.totals,
        limit_ms=2000,
        startup_ms=15_000,
        bank_ms=int(match.banks[ask.seat] * 1000),
    )
    if view.bid is not None:
        message.bid.CopyFrom(game.Cards(cards=view.bid))
    if view.phase is Phase.BID:
        message.bid_request.choose = match.rules.bid_cards
    else:
        message.play_request.legal.extend(view.legal)
    return message


@pytest.mark.parametrize(("name", "variant"), VARIANTS)
def test_decisions_by_hand_are_those_of_the_library(name: str, variant: str) -> None:
    match = Match(job(name, 5, variant=variant))
    waiting = asks(match.start())
    for number in itertools.count(1):
        if match.number == 3 or not waiting:
            break
        ask = waiting.pop(0)
        ask.id = number * 97
        match.banks[ask.seat] = 10 / number
        (event,) = wire.event_messages(Batch((), (ask,)))
        assert event.decision == by_library(ask)
        waiting += asks(match.answer(ask, match.deal.stand_in(ask.seat)))


@pytest.mark.parametrize(("name", "variant"), VARIANTS)
def test_rules_come_back_as_they_were(name: str, variant: str) -> None:
    rules = make_rules(name, variant)
    assert rules_from(rules_message(rules)) == rules
    assert rules_from(game.Rules.FromString(rules_message(rules).SerializeToString()))


def test_rules_of_an_unknown_game_are_refused() -> None:
    with pytest.raises(ValueError, match="does not know"):
        rules_from(game.Rules(variant="classic", players=3))


@pytest.mark.parametrize("number", [0, 1, 127, 128, 16383, 16384, 2**21, 2**32 - 1, 2**63])
def test_varints_are_those_of_the_library(number: int) -> None:
    message = pb.MatchStarted.FromString(b"\x78" + decisions.varint(number))  # an unknown field
    assert message.SerializeToString() == b"\x78" + decisions.varint(number)
    if number < 2**32:
        assert game.Decision(id=number).SerializeToString()[1:] == (
            decisions.varint(number) if number else b""
        )


def test_every_event_says_what_it_means() -> None:
    match = Match(job("ninety-nine", 3))
    out = match.start()
    waiting = asks(out)
    told = [tell.event for tell in events(out)]
    waiting[0].id = 7
    out = match.fault(waiting.pop(0), FaultKind.EXCEPTION, "boom")
    told += [tell.event for tell in events(out)]
    waiting += asks(out)
    while waiting:
        out = match.answer(waiting[0], match.deal.stand_in(waiting[0].seat))
        waiting = waiting[1:] + asks(out)
        told += [tell.event for tell in events(out)]
    messages = wire.event_messages(Batch((*told, Withdraw(9), match.resume(1)), ()))
    started, fault, deal = messages[0].match_started, messages[3].fault, messages[4].deal_finished
    assert (started.seat, started.limit_ms, started.bank_ms) == (0, 2000, 10_000)
    assert not started.HasField("resumed")
    assert (fault.decision, fault.kind) == (7, pb.FAULT_KIND_EXCEPTION)
    assert (fault.cause, fault.faults, fault.forfeit) == ("boom", 1, False)
    assert len(fault.played) == 3
    assert sorted(card for hand in deal.hands for card in hand.cards) == list(match.rules.pack)
    assert [len(bid.cards) for bid in deal.bids] == [3, 3, 3]
    assert deal.trump != game.TRUMP_UNKNOWN
    assert (len(deal.played), len(deal.leaders), sum(deal.tricks_won)) == (27, 9, 9)
    assert messages[-3].match_finished.totals == list(match.totals)
    assert messages[-2].withdrawn.decision == 9
    assert len(messages[-1].match_started.resumed.deals) == match.number + 1


def test_moves_are_read_whatever_they_hold() -> None:
    message = pb.Moves(
        moves=[
            pb.Move(decision=1, cards=game.Cards(cards=[5])),
            pb.Move(decision=2, cards=game.Cards()),
            pb.Move(decision=3, error="no"),
            pb.Move(decision=4, error=""),
            pb.Move(decision=5, note="hm"),
            pb.Move(decision=6, error="x" * 5000),
        ]
    )
    moves = wire.moves(message)
    assert moves[:5] == [
        Move(1, (5,)),
        Move(2, ()),
        Move(3, None, "no"),
        Move(4, None, "no reason given"),
        Move(5, None, None, "hm"),
    ]
    assert len(moves[5].error or "") == 2048


@pytest.mark.parametrize(
    ("hello", "words"),
    [
        (pb.Hello(protocol=2), "speaks protocol 2"),
        (pb.Hello(protocol=1, games=["ninety-nine"]), "does not play knave"),
        (pb.Hello(protocol=1, max_tables=0), "max_tables is 0"),
        (pb.Hello(protocol=1, max_batch=0), "max_batch is 0"),
    ],
)
def test_a_hello_that_cannot_be_accepted_is_told_why(hello: pb.Hello, words: str) -> None:
    assert words in (wire.objection(hello, "knave") or "")


def test_a_good_hello_is_accepted() -> None:
    hello = pb.Hello(protocol=1, games=["knave", "ninety-nine"], max_tables=1, max_batch=1)
    assert wire.objection(hello, "knave") is None
    assert wire.objection(pb.Hello(protocol=1), "knave") is None


def test_a_bot_is_never_told_more_time_than_it_has() -> None:
    assert wire.milliseconds(1.9999) == 1999
    assert wire.milliseconds(-0.1) == 0
    welcome = wire.welcome(ClockRules(), None, 256, 4096)
    assert not welcome.HasField("max_tables")
    assert (welcome.max_batch, welcome.measure) == (256, pb.CLOCK_MEASURE_WALL)


@pytest.mark.parametrize(("name", "variant"), VARIANTS)
def test_what_a_seat_is_sent_does_not_depend_on_cards_that_it_may_not_know(
    name: str, variant: str
) -> None:
    """Two deals that differ only in who of the others holds which card: the same bytes."""
    seen = [_first_bytes(name, variant, swap) for swap in (False, True)]
    assert seen[0] == seen[1]


def _first_bytes(name: str, variant: str, swap: bool) -> list[bytes]:
    match = Match(job(name, 11, variant=variant))
    match.start()
    deal = match.deal
    if swap:
        n = match.rules.players
        deck = list(deal.deck)
        # the first cards dealt to the two seats that are neither seat 0 nor the dealer's last card
        ones = [place for place in range(n * 3) if (deal.dealer + 1 + place) % n == 1]
        twos = [place for place in range(n * 3) if (deal.dealer + 1 + place) % n == 2]
        for one, two in zip(ones, twos, strict=True):
            deck[one], deck[two] = deck[two], deck[one]
        match.deal = match.rules.deal(deal.dealer, deck)
    ask = Ask(match, 0)
    ask.id = 1
    return [wire.envelope(Batch((match.resume(0),), (ask,)))]


def test_times_are_in_the_welcome_the_start_of_a_match_and_each_decision() -> None:
    clock = ClockRules(1.5, 8.0, 0.25, 12.0, "cpu")
    welcome = wire.welcome(clock, None, 256, 4096)
    assert (welcome.measure, welcome.startup_ms) == (pb.CLOCK_MEASURE_CPU, 12_000)
    match = Match(job(clock=clock))
    outputs = match.start()
    started, decision = (
        wire.event_messages(Batch((events(outputs)[1].event,), ())),
        wire.event_messages(Batch((), tuple(asks(outputs)))),
    )
    times = started[0].match_started
    assert (times.limit_ms, times.bank_ms, times.increment_ms) == (1500, 8000, 250)
    assert times.measure == pb.CLOCK_MEASURE_CPU
    match.banks[1] = 3.9999
    times = decision[0].decision
    assert (times.limit_ms, times.bank_ms, times.increment_ms) == (1500, 8000, 250)
    assert times.startup_ms == 12_000
    (again,) = wire.event_messages(Batch((), tuple(asks(outputs))))
    assert again.decision.bank_ms == 3999, "never told more than it has"

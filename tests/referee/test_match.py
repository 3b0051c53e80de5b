"""The match as a state machine: decisions and events out, answers and faults in."""

import pickle

import pytest

from referee.games import record, shuffle
from referee.games.cards import cards
from referee.match import (
    DealOver,
    Faulted,
    FaultKind,
    FaultRules,
    Match,
    MatchOver,
    MatchResult,
    RefereeBug,
    Started,
)
from tests.referee.scripted import asks, events, job, play_out


def test_knave_asks_the_dealers_left_first_and_then_around() -> None:
    match = Match(job())
    outputs = match.start()
    assert [tell.seats for tell in events(outputs)] == [(0,), (1,), (2,)]
    assert all(isinstance(tell.event, Started) for tell in events(outputs))
    (first,) = asks(outputs)
    assert first.seat == 1
    (second,) = asks(match.answer(first, match.deal.stand_in(1)))
    assert second.seat == 2


def test_all_seats_are_asked_for_a_bid_at_once_and_the_lead_comes_after_the_last() -> None:
    match = Match(job("ninety-nine"))
    first, second, third = asks(match.start())
    assert match.answer(third, match.deal.stand_in(2)) == []
    assert match.answer(first, match.deal.stand_in(0)) == []
    (lead,) = asks(match.answer(second, match.deal.stand_in(1)))
    assert lead.seat == 1


@pytest.mark.parametrize("game", ["knave", "ninety-nine"])
def test_a_match_ends_with_a_result_that_can_be_played_again(game: str) -> None:
    one = job(game, 7)
    result = play_out(Match(one))
    assert result.job_id == one.id
    for number, deal in enumerate(result.deals):
        deck = shuffle.deck(one.deals_key, number, one.rules.pack)
        again = record.replay(one.rules, record.DealRecord(deal.dealer, deck, deal.moves))
        assert again.scores == deal.scores
        assert deal.dealer == number % 3
    assert result.totals == tuple(
        sum(column) for column in zip(*(deal.scores for deal in result.deals), strict=True)
    )
    assert result.places == one.rules.places(result.totals)
    assert one.rules.over(result.totals, len(result.deals))


def test_jobs_and_results_can_be_pickled() -> None:
    one = job("ninety-nine")
    result = play_out(Match(one))
    assert pickle.loads(pickle.dumps(one)) == one
    assert pickle.loads(pickle.dumps(result)) == result


def test_a_match_depends_on_its_key_alone() -> None:
    assert play_out(Match(job(number=3))) == play_out(Match(job(number=3)))
    assert play_out(Match(job(number=3))).deals != play_out(Match(job(number=4))).deals


def test_an_illegal_card_is_a_fault_and_the_smallest_legal_card_is_played() -> None:
    match = Match(job())
    (ask,) = asks(match.start())
    legal = match.deal.view(ask.seat).legal
    foreign = next(card for card in range(52) if card not in legal)
    outputs = match.answer(ask, (foreign,))
    (told,) = events(outputs)
    assert told.seats == (ask.seat,)
    assert isinstance(told.event, Faulted)
    assert told.event.fault.kind is FaultKind.ILLEGAL
    assert told.event.fault.played == (legal[0],)
    assert "not in the hand" in told.event.fault.detail
    assert list(match.deal.played) == [legal[0]]
    assert [each.seat for each in asks(outputs)] == [2]


@pytest.mark.parametrize(
    "wrong",
    [(), (0, 1), (52,), (-1,), (2**32 - 1,)],
    ids=["none", "two", "no card", "negative", "huge"],
)
def test_every_kind_of_nonsense_is_a_fault_and_changes_nothing_else(wrong: tuple[int, ...]) -> None:
    match = Match(job())
    (ask,) = asks(match.start())
    smallest = match.deal.stand_in(ask.seat)
    (told,) = events(match.answer(ask, wrong))
    assert isinstance(told.event, Faulted)
    assert tuple(match.deal.played) == smallest


@pytest.mark.parametrize("size", [0, 2, 4])
def test_a_bid_of_the_wrong_size_is_replaced_by_the_three_smallest(size: int) -> None:
    match = Match(job("ninety-nine"))
    ask = asks(match.start())[0]
    hand = match.deal.view(ask.seat).hand
    match.answer(ask, hand[:size])
    assert match.deal.bids[ask.seat] == hand[:3]


def test_faults_beyond_the_limit_forfeit_and_the_seat_is_asked_no_more() -> None:
    match = Match(job(faults=FaultRules(limit=2)))
    waiting = asks(match.start())
    flags = []
    while waiting:
        ask = waiting.pop(0)
        if ask.seat == 1:
            outputs = match.fault(ask, FaultKind.EXCEPTION, "boom")
        else:
            outputs = match.answer(ask, match.deal.stand_in(ask.seat))
        flags += [t.event.forfeit for t in events(outputs) if isinstance(t.event, Faulted)]
        waiting += asks(outputs)
    assert flags == [False, False, True]
    assert match.result is not None
    assert match.result.forfeits == (1,)
    assert match.result.places[1] == 3
    assert sorted(match.result.places[seat] for seat in (0, 2)) in ([1, 1], [1, 2])


def test_who_forfeits_hears_the_final_result_but_no_more_deals() -> None:
    match = Match(job(faults=FaultRules(limit=0)))
    (ask,) = asks(match.start())
    outputs = match.fault(ask, FaultKind.LATE, "too slow")
    told = []
    waiting = asks(outputs)
    while waiting:
        outputs = match.answer(waiting[0], match.deal.stand_in(waiting[0].seat))
        told += events(outputs)
        waiting = asks(outputs)
    assert {seat for t in told if isinstance(t.event, DealOver) for seat in t.seats} == {0, 2}
    assert [t.seats for t in told if isinstance(t.event, MatchOver)] == [(0, 1, 2)]


def test_a_seat_that_is_given_up_while_it_is_asked_is_played_for() -> None:
    match = Match(job())
    (ask,) = asks(match.start())
    (following,) = asks(match.forfeit(ask.seat, FaultKind.ABSENT, "never started"))
    assert following.seat == 2
    result = _finish(match, following.seat)
    assert result.forfeits == (1,)
    assert [fault.kind for fault in result.faults] == [FaultKind.ABSENT]


def test_a_seat_that_is_given_up_while_another_is_asked_waits_for_its_turn() -> None:
    match = Match(job())
    (ask,) = asks(match.start())
    assert match.forfeit(2, FaultKind.ABSENT, "gone") == []
    (following,) = asks(match.answer(ask, match.deal.stand_in(1)))
    assert following.seat == 0


def test_when_all_are_gone_the_match_ends_by_itself_and_all_share_the_place() -> None:
    match = Match(job("ninety-nine"))
    match.start()
    for seat in range(3):
        match.forfeit(seat, FaultKind.ABSENT, "gone")
    assert match.result is not None
    assert match.result.places == (1, 1, 1)


def test_an_answer_to_another_decision_is_the_referees_own_bug() -> None:
    match = Match(job())
    (ask,) = asks(match.start())
    match.answer(ask, match.deal.stand_in(1))
    with pytest.raises(RefereeBug):
        match.answer(ask, cards("2C"))


def test_times_are_written_by_decision() -> None:
    match = Match(job("ninety-nine"))
    waiting = asks(match.start())
    bids = {ask.seat: ask for ask in waiting}
    match.answer(bids[2], match.deal.stand_in(2), charged=0.003, queued=0.5)
    match.answer(bids[0], match.deal.stand_in(0), charged=0.001, queued=0.7)
    (lead,) = asks(match.answer(bids[1], match.deal.stand_in(1), charged=0.002, queued=0.6))
    match.answer(lead, match.deal.stand_in(lead.seat), charged=0.004)
    result = _finish(match, 2)
    assert result.deals[0].charged_us[:5] == (1000, 2000, 3000, 4000, 0)
    assert result.deals[0].queued_us[:3] == (700_000, 600_000, 500_000)
    assert len(result.deals[0].charged_us) == 3 + 27


def test_notes_are_kept_within_their_bounds() -> None:
    match = Match(job())
    waiting = asks(match.start())
    while match.number == 0:
        ask = waiting.pop()
        waiting = asks(match.answer(ask, match.deal.stand_in(ask.seat), note="ä" * 200))
    notes = [note for note in _finish(match, None, waiting).notes if note.seat == 1]
    assert [len(note.text.encode()) for note in notes] == [256] * 4
    assert (notes[0].phase, notes[0].trick, notes[0].deal) == ("play", 0, 0)


def _finish(match: Match, seat: int | None, waiting: list | None = None) -> MatchResult:
    """Plays on from the decision that this seat has open, with the smallest cards."""
    if waiting is None:
        assert seat is not None
        opened = match._open[match.deal.pending[0]]
        assert opened is not None
        waiting = [opened]
    while waiting:
        ask = waiting.pop(0)
        waiting += asks(match.answer(ask, match.deal.stand_in(ask.seat)))
    assert match.result is not None
    return match.result

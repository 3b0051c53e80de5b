"""When it is true that nobody ever came."""

import pytest

from referee.games.registry import make_rules
from referee.match import Ask, ClockRules, FaultKind, FaultRules, Match, MatchResult
from tournaments.nobody import nobody_came
from tournaments.quick import schedule_of

ALL = (0, 1, 2)


def result(
    absent: tuple[int, ...], deal: int = 0, kind: FaultKind = FaultKind.ABSENT
) -> MatchResult:
    """A match that these seats forfeit in this deal."""
    rules = make_rules("knave", max_deals=2)
    schedule = schedule_of(rules, 3, 1, ClockRules(), FaultRules(limit=0))
    (block,) = schedule.blocks()
    match = Match(schedule.match(block, 0).job)
    outputs = match.start()
    while match.result is None:
        output = outputs.pop(0)
        if not isinstance(output, Ask):
            continue
        if output.seat not in absent or match.number < deal:
            outputs += match.answer(output, match.deal.stand_in(output.seat))
        elif kind is FaultKind.ABSENT:
            outputs += match.forfeit(output.seat, kind, "it never came")
        else:
            outputs += match.fault(output, kind, "it came, and failed")
    return match.result


@pytest.mark.parametrize(
    ("results", "empty"),
    [
        ([], False),
        ([result(ALL)], True),
        ([result(ALL), result(ALL)], True),
        ([result(ALL), result((0, 1))], False),
        ([result(ALL, deal=1)], False),
        ([result(ALL, kind=FaultKind.CRASHED)], False),
    ],
)
def test_only_where_every_seat_was_empty_from_the_first_deal_on(
    results: list[MatchResult], empty: bool
) -> None:
    assert nobody_came(results) is empty

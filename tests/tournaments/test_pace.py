"""A budget of time: whole blocks, everybody equally often, and no wave begun after its end."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from referee.games.rules import Rules
from tests.tournaments.test_schedule import FOUR, TEAMS, THREE, schedule
from tournaments.pace import Pace
from tournaments.schedule import Block, Schedule


class Clock:
    """Tells the time that playing has taken so far."""

    def __init__(self, cost: Callable[[Sequence[Block]], float]) -> None:
        self.now = 0.0
        self._cost = cost

    def __call__(self) -> float:
        return self.now

    def play(self, wave: Sequence[Block]) -> None:
        self.now += self._cost(wave)


def steady(seconds: float) -> Callable[[Sequence[Block]], float]:
    """So long for each block."""
    return lambda wave: seconds * len(wave)


def run(
    plan: Schedule,
    clock: Clock,
    budget: float | None,
    done: Sequence[str] = (),
) -> tuple[list[tuple[Block, ...]], Pace, list[str]]:
    said: list[str] = []
    pace = Pace(plan, done, budget, say=said.append, clock=clock)
    waves = []
    for wave in pace(plan.blocks()):
        clock.play(wave)
        waves.append(wave)
    return waves, pace, said


def blocks_of(waves: Sequence[Sequence[Block]]) -> list[Block]:
    return [block for wave in waves for block in wave]


def names(plan: Schedule, blocks: Sequence[Block]) -> list[str]:
    return [f"{block.id}/s{n}" for block in blocks for n in range(plan.generations)]


def test_without_a_budget_the_blocks_are_those_of_the_schedule() -> None:
    plan = schedule(12, rounds=3)
    waves, pace, said = run(plan, Clock(steady(1.0)), None)
    assert blocks_of(waves) == list(plan.blocks())
    assert not pace.out_of_time
    assert len(said) == 1, "the estimate is narrowed once, after the first wave"
    assert said[0].startswith(f"after the first {6 * len(waves[0]):,} matches: ")


@pytest.mark.parametrize(("seconds", "whole"), [(0.04, True), (10.0, False)])
def test_the_first_wave_holds_more_when_its_first_generation_was_quick(
    seconds: float, whole: bool
) -> None:
    plan, clock, said = schedule(12, rounds=6), Clock(steady(seconds)), list[str]()
    pace = Pace(plan, say=said.append, clock=clock, cores=2)
    waves = pace(plan.blocks())
    begin = next(waves)
    clock.play(begin)
    more = pace.more(len(begin))
    if whole:
        assert [*begin, *more] == list(plan.blocks()), "twelve quick bots need one wave"
        assert said[0].startswith(f"after the first {len(begin)} matches: ")
        assert list(waves) == []
    else:
        assert more == ()
        assert len(next(waves)) < len(begin)


def test_with_a_budget_the_first_wave_stays_as_it_is() -> None:
    plan, clock = schedule(12, rounds=6), Clock(steady(0.04))
    pace = Pace(plan, budget=1000.0, say=lambda _: None, clock=clock, cores=2)
    clock.play(begin := next(pace(plan.blocks())))
    assert pace.more(len(begin)) == ()


def test_a_budget_that_is_long_enough_plays_everything() -> None:
    plan = schedule(7, rounds=4)
    waves, pace, _ = run(plan, Clock(steady(1.0)), 1000.0)
    assert [block for wave in waves for block in wave] == list(plan.blocks())
    assert not pace.out_of_time


@pytest.mark.parametrize("rules", [THREE, FOUR, TEAMS])
@pytest.mark.parametrize("entrants", [5, 12, 13])
@pytest.mark.parametrize("total", [None, 4000])
def test_a_budget_is_used_and_kept_and_everybody_plays_equally_often(
    rules: Rules, entrants: int, total: int | None
) -> None:
    plan = schedule(entrants, 200, rules, total=total)
    clock = Clock(steady(1.0))
    waves, pace, _ = run(plan, clock, 300.0)
    played = [block for wave in waves for block in wave]
    assert pace.out_of_time
    assert len(set(played)) == len(played)
    assert 300 - 2 * entrants < len(played) <= 300
    load = Counter(entrant for block in played for entrant in block.group)
    assert len(load) == entrants
    assert len(set(load.values())) == 1


def test_slow_bots_are_noticed_before_the_budget_is_overdrawn() -> None:
    plan = schedule(12, rounds=100)
    pilot = 12

    def cost(wave: Sequence[Block]) -> float:
        return len(wave) * (1.0 if len(wave) <= pilot else 1.5)

    clock = Clock(cost)
    _, pace, _ = run(plan, clock, 1000.0)
    assert pace.out_of_time
    assert clock.now <= 1000.0


def test_a_budget_of_nothing_still_seats_everybody_once() -> None:
    plan = schedule(12, rounds=100)
    waves, pace, said = run(plan, Clock(steady(10.0)), 1.0)
    assert len(waves) == 1
    assert {entrant for block in waves[0] for entrant in block.group} == set(range(12))
    assert len(waves[0]) <= 12
    assert pace.out_of_time
    assert said == []


def test_what_is_done_is_not_played_again_and_counts_as_played() -> None:
    plan = schedule(12, rounds=100)
    before, _, _ = run(plan, Clock(steady(1.0)), 100.0)
    done = [block for wave in before for block in wave]
    after, pace, _ = run(plan, Clock(steady(1.0)), 100.0, names(plan, done))
    played = [block for wave in after for block in wave]
    assert pace.out_of_time
    assert not set(played) & set(done)
    load = Counter(entrant for block in played + done for entrant in block.group)
    assert len(set(load.values())) == 1


def test_the_matches_of_other_epochs_are_not_those_of_this_one() -> None:
    plan = schedule(12, rounds=3, epoch=1)
    earlier = names(plan, list(schedule(12, rounds=3).blocks()))
    waves, _, said = run(plan, Clock(steady(1.0)), None, earlier)
    assert blocks_of(waves) == list(plan.blocks())
    assert len(said) == 1


def test_a_newcomer_catches_up_as_far_as_the_budget_goes() -> None:
    first = schedule(12, rounds=1)
    plan = replace(
        schedule(13, rounds=1, epoch=1), done=Counter(block.group for block in first.blocks())
    )
    waves, pace, _ = run(plan, Clock(steady(1.0)), 20.0)
    played = [block for wave in waves for block in wave]
    assert pace.out_of_time
    assert 10 <= len(played) <= 20
    assert all(12 in block.group for block in played)
    everything, pace, _ = run(plan, Clock(steady(1.0)), 1000.0)
    assert not pace.out_of_time
    assert sum(map(len, everything)) == 66


def test_too_small_a_field_has_no_waves() -> None:
    assert run(schedule(2), Clock(steady(1.0)), 10.0)[0] == []

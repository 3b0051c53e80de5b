"""Waves for fewer entrants than there are: nothing is lost, nothing grows too large."""

from collections import Counter
from itertools import islice

import pytest

from referee.games.rules import Rules
from tests.tournaments.test_pace import Clock, run, steady
from tests.tournaments.test_schedule import FOUR, TEAMS, THREE, schedule
from tournaments.pace import Pace
from tournaments.pools import Pools
from tournaments.schedule import Block, Schedule


def waves(plan: Schedule, most: int | None, size: int) -> list[tuple[Block, ...]]:
    pools = Pools(plan.blocks(), most, plan.load())
    return list(iter(lambda: pools.take(size), ()))


def field_of(wave: tuple[Block, ...]) -> set[int]:
    return {entrant for block in wave for entrant in block.group}


@pytest.mark.parametrize(("rules", "most"), [(THREE, 3), (THREE, 7), (FOUR, 6), (TEAMS, 2)])
def test_every_block_comes_once_in_a_wave_of_so_few_entrants(rules: Rules, most: int) -> None:
    plan = schedule(9, rounds=2, rules=rules)
    cut = waves(plan, most, 40)
    blocks = [block for wave in cut for block in wave]
    assert sorted(blocks, key=lambda b: b.id) == sorted(plan.blocks(), key=lambda b: b.id)
    assert all(len(field_of(wave)) <= most and 1 <= len(wave) <= 40 for wave in cut)


def test_without_a_limit_the_order_is_that_of_the_schedule() -> None:
    plan = schedule(9, rounds=2)
    for most in (None, 9, 20):
        cut = waves(plan, most, 25)
        assert [block for wave in cut for block in wave] == list(plan.blocks())
        assert [len(wave) for wave in cut[:-1]] == [25] * (len(cut) - 1)


def test_those_who_have_played_least_play_next() -> None:
    plan = schedule(120, total=400)
    load = Counter(dict.fromkeys(range(120), 0))
    pools = Pools(plan.blocks(), 24, plan.load())
    unseen, turns = set(range(120)), 0
    while wave := pools.take(100):
        assert len(field_of(wave)) <= 24
        load.update(entrant for block in wave for entrant in block.group)
        unseen -= field_of(wave)
        turns += bool(unseen)
    assert set(load.values()) == {10}
    assert turns <= 8, "everybody has played after nine waves of a fifth of the field"


def test_whole_rounds_of_a_large_field_come_in_dense_waves() -> None:
    pools = Pools(schedule(40).blocks(), 16, schedule(40).load())
    sizes = [len(pools.take(500)) for _ in range(5)]
    assert min(sizes) >= 200, "of the 560 groups of 16 entrants"


def test_a_large_field_is_begun_at_once() -> None:
    pools = Pools(schedule(120, rounds=5).blocks(), 24, schedule(120).load())
    assert len(list(islice(iter(lambda: pools.take(1000), ()), 2))) == 2


def test_the_pace_of_a_field_larger_than_the_processes() -> None:
    plan = schedule(120, total=400)
    clock = Clock(steady(1.0))
    pace = Pace(plan, say=lambda _: None, clock=clock, cores=2, max_processes=24)
    played: list[Block] = []
    for wave in pace(plan.blocks()):
        assert len(field_of(wave)) <= 24
        clock.play(wave)
        played += wave
    assert sorted(block.id for block in played) == sorted(block.id for block in plan.blocks())


def test_a_budget_of_a_field_larger_than_the_processes_plays_whole_laps() -> None:
    plan = schedule(30, total=400)
    clock = Clock(steady(1.0))
    pace = Pace(plan, budget=150.0, say=lambda _: None, clock=clock, max_processes=9)
    load = Counter(dict.fromkeys(range(30), 0))
    for wave in pace(plan.blocks()):
        assert len(field_of(wave)) <= 9
        clock.play(wave)
        load.update(entrant for block in wave for entrant in block.group)
    assert pace.out_of_time
    assert set(load.values()) <= {12, 13, 14, 15}
    assert len(set(load.values())) == 1


def test_partners_are_two_processes() -> None:
    plan = schedule(9, rules=TEAMS)
    pace = Pace(plan, say=lambda _: None, clock=Clock(steady(1.0)), max_processes=10)
    assert max(len(field_of(wave)) for wave in pace(plan.blocks())) <= 5


def test_waves_grow_once_the_speed_is_known() -> None:
    plan = schedule(12, rounds=40)
    cut, pace, _ = run(plan, Clock(steady(0.2)), None)
    assert not pace.out_of_time
    assert len(cut[1]) > len(cut[0])
    assert 300 < 0.2 * len(cut[1]) < 900, "ten minutes, about"
    slow, _, _ = run(plan, Clock(steady(20.0)), None)
    assert len(slow[1]) < len(slow[0]), "slow bots: the first wave was too long already"

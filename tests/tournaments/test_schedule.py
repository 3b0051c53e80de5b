import pickle
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, islice, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.games.registry import make_rules
from referee.games.rules import Rules
from referee.match import ClockRules, FaultRules
from tournaments.schedule import (
    Block,
    Entrant,
    Schedule,
    Scheduled,
    Seat,
    Seatings,
    commitment,
    usual_seatings,
)

THREE = make_rules("knave")
FOUR = make_rules("knave", "four")
TEAMS = make_rules("ninety-nine", "partnership")
few = settings(max_examples=20, deadline=None, derandomize=True)

KINDS = [
    (THREE, Seatings.ALL),
    (THREE, Seatings.CYCLIC),
    (FOUR, Seatings.ALL),
    (FOUR, Seatings.CYCLIC),
    (TEAMS, Seatings.TEAMS),
]


def schedule(
    entrants: int = 5,
    rounds: int = 1,
    rules: Rules = THREE,
    seatings: Seatings | None = None,
    key: bytes = bytes(32),
    epoch: int = 0,
    total: int | None = None,
) -> Schedule:
    return Schedule(
        rules=rules,
        entrants=tuple(range(entrants)),
        key=key,
        epoch=epoch,
        rounds=rounds,
        total=total,
        seatings=seatings or usual_seatings(rules),
        clock=ClockRules(),
        faults=FaultRules(),
    )


@st.composite
def schedules(draw: st.DrawFn) -> Schedule:
    rules, seatings = draw(st.sampled_from(KINDS))
    entrants = draw(st.integers(2 if rules.teams else rules.players, 5))
    key = draw(st.binary(min_size=32, max_size=32))
    total = draw(st.none() | st.integers(1, 12))
    return schedule(entrants, draw(st.integers(1, 2)), rules, seatings, key, total=total)


def waves_of(plan: Schedule, size: int = 7) -> Iterator[tuple[Block, ...]]:
    """The blocks cut into waves; where they are cut makes no difference to any match."""
    blocks = plan.blocks()
    return iter(lambda: tuple(islice(blocks, size)), ())


def played(plan: Schedule) -> list[tuple[int, Scheduled]]:
    """Every match, with the number of the wave it is played in."""
    return [
        (number, match)
        for number, wave in enumerate(waves_of(plan))
        for generation in range(plan.generations)
        for match in plan.generation(wave, generation)
    ]


@few
@given(schedules())
def test_every_group_plays_every_seating_of_every_block_once(plan: Schedule) -> None:
    groups = combinations(plan.entrants, plan.group_size)
    every = {Block(0, group, number) for group in groups for number in range(plan.rounds)}
    blocks = every if plan.total is None else set(plan.blocks())
    expected = {f"{block.id}/s{n}" for block in blocks for n in range(plan.generations)}
    names = [match.job.id for _, match in played(plan)]
    assert len(names) == len(set(names))
    assert set(names) == expected


@few
@given(schedules())
def test_everybody_sits_equally_often_in_every_seat_of_a_block(plan: Schedule) -> None:
    for block in islice(plan.blocks(), 10):
        matches = plan.matches(block)
        sat = Counter((seat.entrant, n) for match in matches for n, seat in enumerate(match.seats))
        assert set(sat) == {(e, n) for e in block.group for n in range(plan.rules.players)}
        assert len(set(sat.values())) == 1


@few
@given(schedules())
def test_no_process_meets_deals_twice_nor_sits_twice_at_a_table(plan: Schedule) -> None:
    met = Counter(
        (wave, match.generation, seat, match.deals_id)
        for wave, match in played(plan)
        for seat in match.seats
    )
    assert set(met.values()) == {1}
    assert all(len(set(match.seats)) == plan.rules.players for _, match in played(plan))


@few
@given(schedules())
def test_deals_are_those_of_the_block_and_of_no_other(plan: Schedule) -> None:
    keys: dict[str, set[bytes]] = {}
    for block in plan.blocks():
        keys[block.id] = {match.job.deals_key for match in plan.matches(block)}
        assert {match.deals_id for match in plan.matches(block)} == {block.id}
    assert all(len(of_block) == 1 for of_block in keys.values())
    assert len(set.union(*keys.values())) == len(keys)


@few
@given(schedules())
def test_seeds_and_public_ids_are_never_shared(plan: Schedule) -> None:
    jobs = [match.job for _, match in played(plan)]
    seeds = [seed for job in jobs for seed in job.seeds]
    assert len(set(seeds)) == len(jobs) * plan.rules.players
    assert len({job.public_id for job in jobs}) == len(jobs)
    for job in jobs:
        assert len(job.public_id) == 16
        assert int(job.public_id, 16) not in job.seeds


@few
@given(schedules())
def test_the_counts_are_those_of_the_schedule(plan: Schedule) -> None:
    counts = plan.counts()
    matches = played(plan)
    processes = {(match.generation, seat) for _, match in matches for seat in match.seats}
    met = len({block.group for block in plan.blocks()})
    assert counts.groups == met or (plan.total is not None and counts.groups > met)
    assert counts.blocks == len(list(plan.blocks()))
    assert counts.matches == len(matches)
    if counts.blocks * plan.group_size >= len(plan.entrants):
        assert counts.processes * plan.generations == len(processes)
    assert counts.deals == len(matches) * plan.rules.max_deals


@pytest.mark.parametrize(("rules", "seatings"), KINDS)
def test_at_any_moment_everybody_has_played_about_equally_often(
    rules: Rules, seatings: Seatings
) -> None:
    plan = schedule(12, rules=rules, seatings=seatings)
    load = Counter(dict.fromkeys(plan.entrants, 0))
    for block in plan.blocks():
        load.update(block.group)
        assert max(load.values()) - min(load.values()) <= plan.group_size


@few
@given(schedules())
def test_a_schedule_is_a_function_of_its_fields(plan: Schedule) -> None:
    again: Schedule = pickle.loads(pickle.dumps(plan))
    assert list(again.blocks()) == list(plan.blocks())
    assert played(again) == played(plan)


def test_another_key_gives_another_order_other_deals_and_other_generations() -> None:
    one, other = schedule(6), schedule(6, key=b"\1" * 32)
    assert list(one.blocks()) != list(other.blocks())
    block = Block(0, (0, 1, 2), 0)
    assert one.deals_key(block, 0, 0) != other.deals_key(block, 0, 0)
    drawn = [plan.allotment(block) for plan in (one, other) for block in plan.blocks()]
    assert len(set(drawn)) > len(drawn) // 2


def test_the_order_of_a_generation_is_not_that_of_the_blocks() -> None:
    plan = schedule(6)
    wave = tuple(plan.blocks())
    orders = [
        [match.block for match in plan.generation(wave, generation)] for generation in range(6)
    ]
    assert all(sorted(order, key=wave.index) == list(wave) for order in orders)
    assert len({tuple(order) for order in [*orders, list(wave)]}) == 7


def test_names_and_seats() -> None:
    plan = schedule(6, epoch=1)
    match = plan.match(Block(1, (0, 3, 5), 2), 4)
    assert match.job.id == "e1/g0-3-5/b2/s4"
    assert match.deals_id == "e1/g0-3-5/b2"
    assert match.seats == (Seat(5), Seat(0), Seat(3))
    assert match.generation == plan.allotment(match.block).index(4)


def test_all_seatings_are_all_orders() -> None:
    plan = schedule(9)
    block = Block(0, (2, 5, 8), 0)
    orders = [tuple(seat.entrant for seat in match.seats) for match in plan.matches(block)]
    assert sorted(orders) == sorted(permutations((2, 5, 8)))


def test_cyclic_seatings_turn_one_circle_and_each_block_has_the_next() -> None:
    plan = schedule(4, rounds=6, rules=FOUR)
    circles = set()
    for block in plan.blocks():
        orders = [tuple(seat.entrant for seat in match.seats) for match in plan.matches(block)]
        assert orders == [orders[0][n:] + orders[0][:n] for n in range(4)]
        circles.add(min(orders))
    assert len(circles) == 6


def test_teams_sit_opposite_and_change_seats() -> None:
    plan = schedule(3, rules=TEAMS)
    one, other = plan.matches(Block(0, (0, 2), 0))
    assert one.seats == (Seat(0, 0), Seat(2, 0), Seat(0, 1), Seat(2, 1))
    assert other.seats == (Seat(2, 0), Seat(0, 0), Seat(2, 1), Seat(0, 1))


def test_a_field_of_indices_with_gaps() -> None:
    plan = Schedule(
        rules=THREE,
        entrants=(1, 4, 6, 7),
        key=bytes(32),
        seatings=Seatings.ALL,
        clock=ClockRules(),
        faults=FaultRules(),
    )
    assert {block.group for block in plan.blocks()} == set(combinations((1, 4, 6, 7), 3))


def test_too_few_entrants_have_nothing_to_play() -> None:
    plan = schedule(2)
    assert list(plan.blocks()) == list(schedule(2, total=5).blocks()) == []
    assert plan.counts().matches == plan.counts().processes == 0


def test_a_large_field_is_counted_and_begun_at_once() -> None:
    begin = time.process_time()
    plan = schedule(120, rounds=1000)
    counts = plan.counts()
    first = next(plan.generation(list(islice(plan.blocks(), 240)), 0))
    assert time.process_time() - begin < 1
    assert counts.groups == 280_840
    assert counts.matches == 280_840 * 6 * 1000
    assert first.generation == 0


@few
@given(st.sampled_from(KINDS), st.integers(0, 20), st.integers(1, 60))
def test_a_balanced_schedule_has_so_many_blocks_spread_evenly(
    kind: tuple[Rules, Seatings], more: int, total: int
) -> None:
    rules, seatings = kind
    smallest = schedule(rules=rules).group_size
    plan = schedule(smallest + more, rules=rules, seatings=seatings, total=total)
    blocks = list(plan.blocks())
    assert len(blocks) == len({block.id for block in blocks}) == plan.counts().blocks == total
    load = Counter(dict.fromkeys(plan.entrants, 0))
    for number, block in enumerate(blocks):
        assert block.number == sum(each.group == block.group for each in blocks[:number])
        load.update(block.group)
        assert max(load.values()) - min(load.values()) <= 1


def test_a_balanced_schedule_is_keyed_and_needs_no_indices_without_gaps() -> None:
    plan = schedule(9, total=30)
    assert list(plan.blocks()) != list(schedule(9, total=30, key=b"\1" * 32).blocks())
    gaps = replace(plan, entrants=tuple(range(1, 18, 2)))
    assert {entrant for block in gaps.blocks() for entrant in block.group} == set(gaps.entrants)
    doubled = [tuple(2 * entrant + 1 for entrant in block.group) for block in plan.blocks()]
    assert [block.group for block in gaps.blocks()] == doubled


def test_a_large_balanced_field_is_counted_and_begun_at_once() -> None:
    begin = time.process_time()
    plan = schedule(120, total=400_000)
    assert plan.counts().matches == 2_400_000
    assert len(list(islice(plan.blocks(), 240))) == 240
    assert time.process_time() - begin < 1


def test_the_commitment_binds_every_input() -> None:
    bots = [Entrant(name, name * 8) for name in "abcde"]
    plan = schedule()
    others = [
        schedule(key=b"\1" * 32),
        schedule(rounds=2),
        schedule(total=10),
        schedule(total=11),
        schedule(entrants=4),
        schedule(epoch=1),
        schedule(seatings=Seatings.CYCLIC),
        schedule(rules=make_rules("knave", max_deals=11)),
        replace(schedule(), done={(0, 1, 2): 1}),
        replace(schedule(), done={(0, 1, 3): 1}),
        replace(schedule(), remote=frozenset({1})),
        replace(schedule(), remote=frozenset({2})),
    ]
    committed = [commitment(other, bots) for other in [plan, *others]]
    committed.append(commitment(plan, [*bots[:4], Entrant("e", "another")]))
    committed.append(commitment(plan, [*bots[:4], Entrant("f", "eeeeeeee")]))
    assert len(set(committed)) == len(committed)
    assert all(len(text) == 64 for text in committed)
    assert commitment(plan, bots) == commitment(schedule(), [*bots, Entrant("later", "x")])
    assert commitment(plan, bots) == commitment(replace(plan, remote=frozenset({7})), bots)


@pytest.mark.parametrize(("rules", "seatings"), KINDS)
def test_no_deal_comes_twice_where_a_remote_entrant_sits(rules: Rules, seatings: Seatings) -> None:
    plan = replace(schedule(rules=rules, seatings=seatings, rounds=2), remote=frozenset({1, 9}))
    dealt = Counter[bytes]()
    for block in plan.blocks():
        matches = [
            plan.match(block, seating, attempt)
            for seating in range(plan.generations)
            for attempt in range(2)
        ]
        keys = [match.job.deals_key for match in matches]
        names = [match.deals_id for match in matches]
        assert plan.has_remote(block) == (1 in block.group)
        if plan.has_remote(block):
            assert len(set(keys)) == len(set(names)) == len(matches)
            assert [match.attempt for match in matches] == [0, 1] * plan.generations
        else:
            assert (len(set(keys)), set(names)) == (1, {block.id})
            assert {match.attempt for match in matches} == {None}
        dealt.update(set(keys))
    assert max(dealt.values()) == 1


def test_a_generation_deals_anew_what_was_begun_before() -> None:
    plan = replace(schedule(3), remote=frozenset({0}))
    (block,) = plan.blocks()
    again = {(block, seating): seating % 3 for seating in range(6)}
    for generation in range(6):
        (match,) = plan.generation([block], generation, lambda *place: again[place])
        assert match == plan.match(block, match.seating, match.seating % 3)
        assert match.deals_id == f"{match.job.id}/a{match.seating % 3}"


def test_the_commitment_is_what_it_was() -> None:
    bots = [Entrant(name, name * 8) for name in "abc"]
    assert commitment(schedule(3), bots) == (
        "771d770577ce770c8ee94f3a353e1ca995250b7bcb66ec480e6d7c419474dd30"
    )


@st.composite
def later(draw: st.DrawFn) -> Schedule:
    """The schedule of a second epoch, of a field that has played before, in part or further."""
    plan = replace(draw(schedules()), epoch=1)
    groups = list(combinations(plan.entrants, plan.group_size))
    counts = draw(st.lists(st.integers(0, 3), min_size=len(groups), max_size=len(groups)))
    done = {group: times for group, times in zip(groups, counts, strict=True) if times}
    return replace(plan, done=done)


@few
@given(later())
def test_a_later_epoch_plays_what_is_lacking(plan: Schedule) -> None:
    blocks = list(plan.blocks())
    assert len({block.id for block in blocks}) == len(blocks) == plan.counts().blocks
    assert len({block.group for block in blocks}) <= plan.counts().groups
    all_of_it = Counter(plan.done) + Counter(block.group for block in blocks)
    for group, times in all_of_it.items():
        numbers = [block.number for block in blocks if block.group == group]
        assert sorted(numbers) == list(range(plan.done.get(group, 0), times))
    if plan.total is None:
        for group in combinations(plan.entrants, plan.group_size):
            assert all_of_it[group] == max(plan.rounds, plan.done.get(group, 0))
        return
    share = plan.total * plan.group_size // len(plan.entrants)
    load = Counter(entrant for group in all_of_it.elements() for entrant in group)
    assert all_of_it.total() >= plan.total
    assert all(load[entrant] >= share for entrant in plan.entrants)
    lacking = [max(0, share - times) for times in plan.load().values()]
    least = max(plan.total - sum(plan.done.values()), *lacking, -(-sum(lacking) // plan.group_size))
    assert len(blocks) == max(0, least)


def test_a_newcomer_to_a_balanced_field_plays_its_share() -> None:
    before = Counter(block.group for block in schedule(12, total=40).blocks())
    plan = replace(schedule(13, total=40, epoch=1), done=before)
    blocks = list(plan.blocks())
    assert [12 in block.group for block in blocks] == [True] * 9
    assert max(Counter(n for block in blocks for n in block.group).values()) == 9


def test_a_part_of_a_schedule_plays_its_blocks_as_scheduled() -> None:
    plan = schedule(6, rounds=2)
    some = list(plan.blocks())[5:9]
    part = plan.limited(some)
    assert list(part.blocks()) == some
    counts = part.counts()
    assert (counts.groups, counts.blocks, counts.matches) == (4, 4, 24)
    assert part.matches(some[0]) == plan.matches(some[0])
    assert list(plan.limited([]).blocks()) == []

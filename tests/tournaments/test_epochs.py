"""A file that is run again: newcomers, new versions, those who leave and those who come back."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, islice
from pathlib import Path

import pytest

from referee.games.registry import make_rules
from referee.match import FORFEIT_AT_ONCE, ClockRules, FaultRules
from tests.tournaments.playing import KEY, bots, create, play_all, tournament
from tournaments.config import ConfigError, Tournament
from tournaments.epochs import Continuation, continuation, missing, schedules, standing
from tournaments.schedule import Block, Entrant, Schedule, Seatings, commitment
from tournaments.store import Store
from tournaments.table import computed
from tournaments.verify import verify

NEW = Entrant("bob", "f" * 64, "/bots/bob", ("python", "bob.py"))
PLAN = tournament(max_deals=1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A tournament of three that is complete."""
    path = tmp_path / "friday.knavery"
    begin(path)
    return path


def begin(
    path: Path, plan: Tournament = PLAN, entrants: int = 3, matches: int | None = None
) -> None:
    store, schedule = create(path, plan, entrants)
    with store:
        done = len(list(islice(play_all(store, schedule), matches)))
        assert matches in (None, done)
        if matches is None:
            store.publish(0)


def look(path: Path, field: Sequence[Entrant], plan: Tournament = PLAN) -> Continuation:
    with Store.open(path, write=False) as store:
        return continuation(store, plan, field)


def again(path: Path, field: Sequence[Entrant], plan: Tournament = PLAN) -> list[str]:
    """Runs it with this field to the end; the names of the matches that were played."""
    with Store.open(path, write=True) as store:
        store.abandon_open_attempts()
        further = continuation(store, plan, field)
        played = [match.job.id for _, match, _ in play_all(store, further.rest)]
        if further.begins:
            bound = commitment(further.schedule, further.entrants)
            store.add_epoch(plan, further.added, further.schedule.entrants, bound)
        played += [match.job.id for _, match, _ in play_all(store, further.schedule)]
        store.publish(further.schedule.epoch)
    with Store.open(path, write=False) as store:
        report = verify(store)
        assert (report.problem, report.missing) == (None, 0)
        assert standing_blocks(store) == lacking_nothing(schedules(store)[-1])
    return played


def standing_blocks(store: Store) -> Counter[tuple[int, ...]]:
    """How many blocks each group has in the table."""
    matches = Counter(tuple(sorted(match.entrants)) for match in standing(store))
    return Counter({group: count // 6 for group, count in matches.items()})


def lacking_nothing(schedule: Schedule) -> Counter[tuple[int, ...]]:
    return Counter(
        dict.fromkeys(combinations(schedule.entrants, schedule.group_size), schedule.rounds)
    )


def names(path: Path) -> set[str]:
    with Store.open(path, write=False) as store:
        return {row.name for row in computed(store).rows}


def groups(played: Sequence[str]) -> set[str]:
    return {name.split("/")[1] for name in played}


def test_a_newcomer_meets_everybody_and_nobody_else_plays_again(path: Path) -> None:
    further = look(path, bots(4))
    assert list(further.change.lines()) == ["newcomer: dave (ddddddd)", "unchanged: 3 bots"]
    assert further.rest.counts().blocks == 0
    played = again(path, bots(4))
    assert groups(played) == {"g0-1-3", "g0-2-3", "g1-2-3"}
    assert len(played) == 18
    assert all(name.startswith("e1/") for name in played)
    assert names(path) == {"alice", "bob", "carol", "dave"}


def test_nothing_changed_is_no_epoch(path: Path) -> None:
    further = look(path, bots(3)[::-1], replace(PLAN, name="other", tables=7, key=KEY))
    assert not further.begins
    assert further.field == (2, 1, 0)
    assert again(path, bots(3)) == []
    with Store.open(path, write=False) as store:
        assert len(store.epochs()) == 1


def test_a_new_version_takes_the_place_of_the_old_one(path: Path) -> None:
    alice, _, carol = bots(3)
    further = look(path, [alice, NEW, carol])
    assert list(further.change.lines()) == [
        "new version: bob (fffffff, was bbbbbbb); the old one is withdrawn",
        "unchanged: 2 bots",
    ]
    assert groups(again(path, [alice, NEW, carol])) == {"g0-2-3"}
    with Store.open(path, write=False) as store:
        result = computed(store, anchor="bob")
    assert sorted((row.name, row.version[0]) for row in result.rows) == [
        ("alice", "a"),
        ("bob", "f"),
        ("carol", "c"),
    ]
    assert {row.matches for row in result.rows} == {6}, "the old version's matches count for none"
    assert [row.rating for row in result.rows if row.name == "bob"] == [1500]
    assert (result.complete_blocks, result.open_blocks) == (1, 0)


def test_an_old_version_that_comes_back_has_nothing_to_play_again(path: Path) -> None:
    alice, bob, carol = bots(3)
    again(path, [alice, NEW, carol])
    further = look(path, [alice, bob, carol])
    assert list(further.change.lines()) == [
        "new version: bob (bbbbbbb, was fffffff), which was there before: its results count "
        "again; the old one is withdrawn",
        "unchanged: 2 bots",
    ]
    assert again(path, [alice, bob, carol]) == []
    with Store.open(path, write=False) as store:
        assert [epoch.field for epoch in store.epochs()] == [(0, 1, 2), (0, 2, 3), (0, 1, 2)]
        assert {row.matches for row in computed(store).rows} == {6}


def test_who_is_withdrawn_leaves_the_table_and_not_the_file(tmp_path: Path) -> None:
    path = tmp_path / "four.knavery"
    begin(path, entrants=4)
    further = look(path, bots(3))
    assert list(further.change.lines()) == ["withdrawn: dave (ddddddd)", "unchanged: 3 bots"]
    assert again(path, bots(3)) == []
    assert names(path) == {"alice", "bob", "carol"}
    with Store.open(path, write=False) as store:
        assert len(list(store.matches())) == 24
        assert len(store.entrants()) == 4
        assert {row.matches for row in computed(store).rows} == {6}
    assert again(path, bots(4)) == []
    assert names(path) == {"alice", "bob", "carol", "dave"}


def test_more_rounds_are_added_and_fewer_are_not_taken_away(path: Path) -> None:
    more = replace(PLAN, rounds=3)
    assert list(look(path, bots(3), more).change.lines()) == [
        "rounds: 3, was 1",
        "unchanged: 3 bots",
    ]
    played = again(path, bots(3), more)
    assert {name.rsplit("/", 1)[0] for name in played} == {"e1/g0-1-2/b1", "e1/g0-1-2/b2"}
    with Store.open(path, write=True) as store:
        further = continuation(store, PLAN, bots(3))
        assert further.begins
        assert further.schedule.counts().blocks == 0
        assert list(further.schedule.blocks()) == []


@pytest.mark.parametrize("matches", [0, 1, 7, 13])
def test_a_stopped_epoch_is_finished_as_far_as_it_is_begun(tmp_path: Path, matches: int) -> None:
    path = tmp_path / "stopped.knavery"
    begin(path, entrants=4, matches=matches)
    with Store.open(path, write=False) as store:
        begun = set(store.begun_blocks())
        finished = store.finished_job_ids()
    further = look(path, bots(5))
    assert set(further.rest.blocks()) == begun
    played = again(path, bots(5))
    assert not finished & set(played), "nothing is played twice"
    per_block = Counter(name.rsplit("/", 1)[0] for name in [*finished, *played])
    assert set(per_block.values()) == {6}
    assert len(per_block) == 10


def test_blocks_that_a_withdrawn_bot_left_open_count_for_nobody(tmp_path: Path) -> None:
    path = tmp_path / "open.knavery"
    begin(path, entrants=4, matches=13)
    with Store.open(path, write=False) as store:
        open_to_three = [block for block in store.begun_blocks() if 3 not in block.group]
        complete = [block for block in store.complete_blocks() if 3 not in block.group]
    further = look(path, bots(3))
    assert list(further.rest.blocks()) == open_to_three
    assert further.schedule.counts().blocks == 1 - len(open_to_three) - len(complete)
    again(path, bots(3))
    with Store.open(path, write=False) as store:
        result = computed(store)
        report = verify(store)
    assert (result.complete_blocks, result.open_blocks) == (1, 0)
    assert [epoch.over for epoch in report.epochs] == [True, False]
    assert all(epoch.published for epoch in report.epochs)
    lost = look(path, bots(4))
    assert lost.schedule.counts().blocks == 3 - count_with(path, 3)


def count_with(path: Path, entrant: int) -> int:
    with Store.open(path, write=False) as store:
        return sum(entrant in block.group for block in store.complete_blocks())


def test_an_epoch_that_is_not_over_is_played_on(path: Path) -> None:
    """As `resume` does after a crash in the second epoch."""
    with Store.open(path, write=True) as store:
        further = continuation(store, PLAN, bots(4))
        bound = commitment(further.schedule, further.entrants)
        store.add_epoch(PLAN, further.added, further.schedule.entrants, bound)
        before = [match.job.id for _, match, _ in islice(play_all(store, further.schedule), 7)]
    with Store.open(path, write=True) as store:
        report = verify(store)
        assert (report.problem, report.missing) == (None, 11)
        result = computed(store)
        assert result.complete_blocks + result.open_blocks == 4
        schedule = schedules(store)[-1]
        assert schedule == further.schedule
        assert 1 <= missing(store, schedule).counts().blocks <= 3
        rest = [match.job.id for _, match, _ in play_all(store, schedule)]
    assert len(set(before + rest)) == 18


def test_balanced_blocks_go_on_with_newcomers_and_new_versions(tmp_path: Path) -> None:
    path = tmp_path / "balanced.knavery"
    plan = replace(PLAN, format="balanced", blocks=10)
    begin(path, plan, entrants=5)
    alice, _, carol, dave, eve = bots(5)
    field = [alice, NEW, carol, dave, eve, Entrant("fay", "e" * 64)]
    with Store.open(path, write=True) as store:
        further = continuation(store, plan, field)
        bound = commitment(further.schedule, further.entrants)
        store.add_epoch(plan, further.added, further.schedule.entrants, bound)
        assert list(play_all(store, further.schedule))
        counts = Counter(n for match in standing(store) for n in match.entrants)
        assert set(counts) == {0, 2, 3, 4, 5, 6}
        assert all(count >= 6 * (10 * 3 // 6) for count in counts.values())
        assert verify(store).problem is None


def test_partners_are_rated_over_two_epochs(tmp_path: Path) -> None:
    path = tmp_path / "teams.knavery"
    plan = tournament("ninety-nine", "partnership", max_deals=1)
    begin(path, plan, entrants=2)
    with Store.open(path, write=True) as store:
        further = continuation(store, plan, bots(3))
        bound = commitment(further.schedule, further.entrants)
        store.add_epoch(plan, further.added, further.schedule.entrants, bound)
        assert len(list(play_all(store, further.schedule))) == 4
        assert {row.matches for row in computed(store).rows} == {4}
        assert verify(store).problem is None


def other_contests() -> Iterator[tuple[str, Tournament]]:
    clock = replace(PLAN.clock, limit=1.0)
    double = replace(make_rules("knave", "double"), max_deals=1)
    yield 'game = "knave", not "ninety-nine"', tournament("ninety-nine")
    yield 'variant = "classic", not "double"', replace(PLAN, rules=double)
    yield "max_deals = 1, not 2", tournament(max_deals=2)
    yield 'seatings = "all", not "cyclic"', replace(PLAN, seatings=Seatings.CYCLIC)
    yield "clock.decision = 2.0, not 1.0", replace(PLAN, clock=clock)
    yield "faults.limit = 2, not 5", replace(PLAN, faults=FaultRules(limit=5))
    at_once = replace(PLAN.faults, policy=FORFEIT_AT_ONCE)
    yield 'faults.policy = "stand-in", not "forfeit-at-once"', replace(PLAN, faults=at_once)


@pytest.mark.parametrize(("what", "plan"), list(other_contests()))
def test_another_contest_is_refused(path: Path, what: str, plan: Tournament) -> None:
    with pytest.raises(ConfigError) as refused:
        look(path, bots(4), plan)
    assert str(refused.value) == (
        f"{path}: was begun with {what}: put that back, or name another file with -o"
    )


def test_another_key_is_refused_and_not_told(path: Path) -> None:
    with pytest.raises(ConfigError, match="was begun with another key: leave `key` out") as refused:
        look(path, bots(3), replace(PLAN, key=bytes(32)))
    assert KEY.hex() not in str(refused.value)


def test_more_time_to_start_is_no_other_contest(path: Path) -> None:
    further = look(path, bots(3), replace(PLAN, clock=ClockRules(startup=60.0)))
    assert further.begins
    assert further.change.settings == ("startup: 60.0, was 15.0",)


def test_another_pause_before_restarts_is_no_other_contest(path: Path) -> None:
    faults = replace(PLAN.faults, backoff=1.0)
    further = look(path, bots(3), replace(PLAN, faults=faults))
    assert further.begins
    assert further.change.settings == ("backoff: 1.0, was 0.1",)


def test_a_bot_that_moved_is_found_in_its_new_place(path: Path) -> None:
    with Store.open(path, write=True) as store:
        store.relocate(1, "/elsewhere/bob", ("python", "b.py"))
        assert store.entrants()[1] == Entrant("bob", "b" * 64, "/elsewhere/bob", ("python", "b.py"))


def test_the_commitment_binds_what_earlier_epochs_played(path: Path) -> None:
    further = look(path, bots(4))
    fewer = replace(further.schedule, done={})
    bound = commitment(further.schedule, further.entrants)
    assert bound != commitment(fewer, further.entrants)


def test_keys_of_epochs_are_not_each_others(path: Path) -> None:
    again(path, bots(4))
    with Store.open(path, write=False) as store:
        first, second = schedules(store)
    block = Block(1, (0, 1, 2), 0)
    assert first.key != second.key
    assert first.deals_key(block, 0, 0) != second.deals_key(block, 0, 0)

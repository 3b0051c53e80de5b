"""How long it takes, from the referee's own speed to the full limits, and the guard."""

import re
import time
from dataclasses import replace
from itertools import combinations, islice

import pytest

from referee.games.registry import make_rules
from referee.games.rules import Rules
from referee.match import CPU_BACKSTOP, ClockRules
from tests.tournaments.test_schedule import TEAMS, schedule
from tournaments import estimate, size
from tournaments.config import MANY, ConfigError, EntrantSpec, Tournament
from tournaments.estimate import LONGEST, SPEED, START, Estimate
from tournaments.schedule import usual_seatings


def test_the_low_end_is_the_referees_own_speed_and_the_starts() -> None:
    plan = schedule(5, rounds=2)
    decisions = 10 * 2 * 6 * 10 * 51
    low = estimate.before(plan, 2).low
    assert low == pytest.approx(decisions / SPEED + 30 * START / 2)


def test_the_high_end_is_the_full_limits() -> None:
    clock = ClockRules(limit=3.0, bank=7.0, increment=1.0, startup=20.0)
    plan = replace(schedule(3), clock=clock)
    thought = 6 * (10 * 51 * (3.0 + 1.0) + 3 * 7.0)
    assert estimate.before(plan, 2).high == pytest.approx(thought / 2 + 18 * 20.0 / 2)
    assert estimate.before(plan, 64).high == pytest.approx(thought / 3 + 18 * 20.0 / 64)


def test_the_high_end_of_processor_time_is_what_a_bot_may_sleep() -> None:
    clock = ClockRules(limit=0.1, bank=0.4, increment=0.05, startup=20.0, measure="cpu")
    plan = replace(schedule(3), clock=clock)
    slept = 6 * 10 * 51 * CPU_BACKSTOP * (0.1 + 0.4)
    high = estimate.before(plan, 2).high
    assert high == pytest.approx(slept / 2 + 18 * 20.0 / 2)
    assert high > estimate.before(replace(plan, clock=replace(clock, measure="wall")), 2).high


def test_a_target_ends_quick_matches_early_and_bids_are_decisions() -> None:
    plan = schedule(3, rules=make_rules("ninety-nine"))
    decisions = 6 * 7 * 3 * (9 + 1)
    starts = 18 * START / 2
    assert estimate.before(plan, 2).low == pytest.approx(decisions / SPEED + starts)
    thought = 6 * 120 * 30 * 2.0 + 6 * 3 * 10.0
    assert estimate.before(plan, 2).high == pytest.approx(thought / 2 + 18 * 15.0 / 2)


def test_what_was_measured_narrows_it() -> None:
    assert estimate.after(100, 50.0, 400) == Estimate(150.0, 300.0)
    assert estimate.within(Estimate(150.0, 300.0), 200.0) == Estimate(150.0, 200.0)
    assert estimate.within(Estimate(150.0, 300.0), None) == Estimate(150.0, 300.0)
    assert str(Estimate(150.0, 300.0)) == "2 min 30 s to 5 min"
    assert str(Estimate(20.0, 20.0)) == "about 20 s"


@pytest.mark.parametrize("entrants", [12, 40, 119, 120])
@pytest.mark.parametrize("rules", [make_rules("ninety-nine", "short"), TEAMS])
def test_the_blocks_that_fit_do_and_more_do_not(entrants: int, rules: Rules) -> None:
    plan = schedule(entrants, rules=rules)
    fits = estimate.blocks_that_fit(plan, 2, MANY)
    assert fits * plan.group_size % entrants == 0
    assert estimate.before(replace(plan, total=fits), 2).low <= LONGEST
    more = fits + entrants
    assert more > MANY or estimate.before(replace(plan, total=more), 2).low > LONGEST


def cup(entrants: int, rounds: int = 1, blocks: int | None = None) -> Tournament:
    rules = make_rules("knave")
    return Tournament(
        name="cup",
        rules=rules,
        entrants=tuple(EntrantSpec(f"bot{n}", "random") for n in range(entrants)),
        rounds=rounds,
        blocks=blocks,
        format="round-robin" if blocks is None else "balanced",
        seatings=usual_seatings(rules),
    )


def test_the_announcement_says_how_much_it_is() -> None:
    said = size.announcement(cup(6), budget=7200.0)
    assert said.startswith(
        "cup: knave classic, 6 bots, 20 groups, 20 blocks, 120 matches, about 36 process starts; "
    )
    assert " to " in said
    assert said.endswith(", of which 2 h are to be played")
    assert "\n" not in said


def test_programs_of_remote_entrants_are_started_by_their_authors() -> None:
    plan = cup(6)
    far = tuple(replace(each, remote=True) for each in plan.entrants[:2])
    starts = [
        int(re.search(r"about ([\d,]+) process", size.announcement(each))[1].replace(",", ""))
        for each in (plan, replace(plan, entrants=(*far, *plan.entrants[2:])))
    ]
    assert starts[1] == starts[0] * 4 // 6


def test_a_tournament_of_more_than_a_day_is_refused_and_told_what_fits() -> None:
    begin = time.process_time()
    with pytest.raises(ConfigError, match="confirm with --yes") as caught:
        size.guard(cup(120, rounds=50))
    assert time.process_time() - begin < 1
    assert str(caught.value).count("\n") == 0
    assert 'format = "balanced"' in str(caught.value)
    fits = int(str(caught.value).split("blocks = ")[1].split()[0])
    size.guard(cup(120, blocks=fits))


def test_a_budget_or_few_enough_blocks_are_no_reason_to_refuse() -> None:
    begin = time.process_time()
    size.guard(cup(120, rounds=50), budget=7200.0)
    size.guard(cup(120, blocks=4000))
    assert time.process_time() - begin < 1
    with pytest.raises(ConfigError, match="take about 2 days"):
        size.guard(cup(120, rounds=50), budget=2 * LONGEST)


def test_a_later_epoch_is_judged_by_what_is_played_in_it() -> None:
    plan = cup(120, rounds=50)
    key, groups = bytes(32), combinations(range(120), 3)
    done = dict.fromkeys(groups, 50)
    few = plan.schedule(key, range(120), 1, dict(islice(done.items(), len(done) - 300)))
    size.guard(plan, schedule=few)
    assert "300 groups, 15,000 blocks, 90,000 matches" in size.announcement(plan, schedule=few)
    none = plan.schedule(key, range(120), 1, done)
    assert size.announcement(plan, schedule=none).endswith(
        "120 bots, and nothing is left to be played"
    )
    many = plan.schedule(key, range(120), 1, {(0, 1, 2): 1})
    part = many.limited(islice(many.blocks(), 650_000))
    with pytest.raises(ConfigError, match="confirm with --yes") as caught:
        size.guard(plan, schedule=part)
    fits = int(str(caught.value).split("blocks = ")[1].split()[0])
    assert 1 < fits < 650_000
    size.guard(cup(120, blocks=fits))

"""How long a tournament takes, told before its first deal, and the guard against endless ones.

Design, section 8. The low end is the referee's own speed with bots that answer at once, the high
end what the clocks allow if every bot uses all of its time; truth is mostly near the low end.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from referee.games.rules import Rules
from referee.match import CPU
from tournaments import waves
from tournaments.duration import DAY, told
from tournaments.schedule import Counts, Schedule
from tournaments.waves import Speed

SPEED: Final = 12_500.0
"""Decisions a second of the whole referee with bots that answer at once: `make bench`, three bots
and 256 tables of Knave on two cores (docs/performance.md)."""
START: Final = 0.25
"""Seconds of a core from starting a Python bot to its hello, the time that a process costs: 0.2 s
in its main thread where it was measured, most of it loading gRPC."""
QUICK_POINTS: Final = 15
"""Points a deal of the first to reach a target, in quick matches: ten of three `advice` bots took
7 to 14 deals to 100 points in Ninety-Nine, those of random bots 30 to 70."""
SURE: Final = (0.75, 1.5)
"""From the time per match of a first wave to that of the others: banks fill and empty, and how
many matches are in flight is still being found out."""
LONGEST: Final = DAY
"""Seconds that a tournament may take at the least without being confirmed."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Seconds, between which a tournament ends unless bots crash."""

    low: float
    high: float

    def __str__(self) -> str:
        low, high = told(self.low), told(self.high)
        return f"about {low}" if low == high else f"{low} to {high}"


def before(schedule: Schedule, cores: int, max_processes: int | None = None) -> Estimate:
    """What can be said without having seen the bots; `cores` is how many this machine has."""
    counts, started = schedule.counts(), starts(schedule, cores, max_processes)
    return Estimate(
        _quick(schedule, counts, started, cores), _slow(schedule, counts, started, cores)
    )


def quick(schedule: Schedule, cores: int) -> Speed:
    """What things cost with bots that answer at once."""
    return Speed(_deals(schedule.rules) * _decisions(schedule.rules) / SPEED, START / cores)


def starts(schedule: Schedule, cores: int, max_processes: int | None = None) -> int:
    """How many processes will be started, about and without restarts."""
    counts = schedule.counts()
    processes = min(counts.processes, max_processes or counts.processes)
    seatings = schedule.generations
    speed = quick(schedule, cores)
    number = waves.expected(counts.blocks, processes, seatings, speed)
    if (pools := _pools(schedule, processes // schedule.members)) > number:
        return pools * seatings * processes
    twice = waves.begins_cautiously(counts.blocks, processes, seatings, speed)
    return (number * seatings + twice) * processes


def _pools(schedule: Schedule, entrants: int) -> int:
    """Waves that there are at least when each may hold so many entrants: enough for all blocks,
    however few there are, or for all groups."""
    field, size = len(schedule.entrants), schedule.group_size
    if entrants >= field or entrants < size:
        return 0
    tables = -(-schedule.counts().blocks // (entrants // size))
    return min(tables, -(-math.comb(field, size) // math.comb(entrants, size)))


def after(matches: int, seconds: float, left: int) -> Estimate:
    """What is left, in matches, at the pace of those that were played in so many seconds."""
    share = seconds * left / matches
    return Estimate(share * SURE[0], share * SURE[1])


def within(estimate: Estimate, budget: float | None) -> Estimate:
    """The same with an end to it."""
    if budget is None:
        return estimate
    return Estimate(min(estimate.low, budget), min(estimate.high, budget))


def blocks_that_fit(
    schedule: Schedule, cores: int, most: int, max_processes: int | None = None
) -> int:
    """How many blocks, spread evenly, may be over within a day, of so many at most; as many as
    seat everybody equally often, where so many fit."""

    def low(total: int) -> float:
        return before(replace(schedule, total=total, only=None), cores, max_processes).low

    fits = _last(lambda total: low(total) <= LONGEST, most)
    field = len(schedule.entrants)
    even = field // math.gcd(field, schedule.group_size)
    return fits - fits % even if fits >= even else fits


def _quick(schedule: Schedule, counts: Counts, started: int, cores: int) -> float:
    speed = quick(schedule, cores)
    return counts.matches * speed.match + started * speed.start


def _slow(schedule: Schedule, counts: Counts, started: int, cores: int) -> float:
    """Slow bots think in turn, so many at a time as there are cores."""
    clock, rules = schedule.clock, schedule.rules
    decisions = counts.deals * _decisions(rules)
    if clock.measure == CPU:  # who sleeps uses up no bank, and may do so at every decision
        thought = decisions * (clock.limit + clock.bank) * clock.backstop
    else:
        thought = decisions * (clock.limit + clock.increment)
        thought += counts.matches * rules.players * clock.bank
    bots = len(schedule.entrants) * rules.players // schedule.group_size
    at_once = max(1, min(cores, bots))
    return thought / at_once + started * clock.startup / cores


def _decisions(rules: Rules) -> int:
    """Decisions of a deal."""
    return rules.players * (rules.tricks + bool(rules.bid_cards))


def _deals(rules: Rules) -> int:
    """Deals of a quick match."""
    if rules.target is None:
        return rules.max_deals
    return min(rules.max_deals, -(-rules.target // QUICK_POINTS))


def _last(holds: Callable[[int], bool], top: int) -> int:
    """The greatest number up to `top` for which it holds, as it does up to there; at least 1."""
    low, high = 1, max(1, top)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if holds(middle) else (low, middle - 1)
    return low

"""Tournaments played to a file without a process: random cards, some faults, some notes."""

import random
from collections.abc import Collection, Iterator
from itertools import islice
from pathlib import Path

from referee.games.cards import cards_in
from referee.games.registry import make_rules
from referee.games.view import Phase
from referee.match import Ask, FaultKind, FaultRules, Match, MatchResult, Output
from tournaments.config import EntrantSpec, Tournament
from tournaments.schedule import (
    REMOTE,
    Entrant,
    Schedule,
    Scheduled,
    commitment,
    usual_seatings,
)
from tournaments.store import Store

KEY = bytes(range(32))
WAVE = 30
"""Blocks in a wave."""
NAMES = ("alice", "bob", "carol", "dave", "eve")


def tournament(game: str = "knave", variant: str = "classic", **fields: object) -> Tournament:
    rules = make_rules(game, variant, **fields)
    return Tournament(
        name="friday",
        rules=rules,
        entrants=tuple(EntrantSpec(name, "random") for name in NAMES),
        seatings=usual_seatings(rules),
        faults=FaultRules(limit=2),
    )


def bots(count: int, remote: Collection[int] = ()) -> tuple[Entrant, ...]:
    return tuple(
        Entrant(name, REMOTE)
        if n in remote
        else Entrant(name, name[0] * 64, f"/bots/{name}", ("python", f"{name}.py"))
        for n, name in enumerate(NAMES[:count])
    )


def create(
    path: Path, plan: Tournament, entrants: int = 3, remote: Collection[int] = ()
) -> tuple[Store, Schedule]:
    """A new file, and the schedule of its only epoch."""
    schedule = plan.schedule(KEY, range(entrants), remote=frozenset(remote))
    field = bots(entrants, remote)
    return Store.create(path, plan, KEY, field, commitment(schedule, field)), schedule


def play(scheduled: Scheduled, faults: float = 0.0) -> MatchResult:
    """A match of random cards by its own seeds; `faults` is the chance of one a decision."""
    match = Match(scheduled.job)
    draw = random.Random(scheduled.job.seeds[0])
    outputs = match.start()
    while outputs:
        output = outputs.pop(0)
        if isinstance(output, Ask):
            outputs += _decide(match, output, draw, faults)
    assert match.result is not None
    return match.result


def _decide(match: Match, ask: Ask, draw: random.Random, faults: float) -> list[Output]:
    charged, queued = draw.expovariate(1000), draw.expovariate(50)
    if draw.random() < faults:
        kind = draw.choice(list(FaultKind))
        if kind == FaultKind.ABSENT:
            return [*match.forfeit(ask.seat, kind, "it never came")]
        return [*match.fault(ask, kind, "it failed\n<b>", charged, queued)]
    deal = match.deal
    count = deal.rules.bid_cards if deal.phase == Phase.BID else 1
    chosen = draw.sample(cards_in(deal.legal(ask.seat)), count)
    note = f"so ♠ {ask.seat}" if draw.random() < faults else ""
    return [*match.answer(ask, chosen, charged, queued, note)]


def play_all(
    store: Store, schedule: Schedule, faults: float = 0.0
) -> Iterator[tuple[int, Scheduled, MatchResult]]:
    """Plays and saves every match that has no result; yields each after it is saved."""
    done = store.finished_job_ids()
    blocks = schedule.blocks()
    while wave := list(islice(blocks, WAVE)):
        number = store.next_wave()
        for generation in range(schedule.generations):
            due = [
                each
                for each in schedule.generation(wave, generation, store.attempts)
                if each.job.id not in done
            ]
            for scheduled in _deal_in(store, due, number):
                attempt = store.start_attempt(scheduled, number)
                result = play(scheduled, faults)
                store.save(attempt, scheduled, result)
                yield attempt, scheduled, result


def _deal_in(store: Store, due: list[Scheduled], wave: int) -> list[Scheduled]:
    """Starts a process for each seat's owner and writes what it will meet."""
    owners = sorted({(s.entrant, s.member) for each in due for s in each.seats})
    for entrant, member in owners:
        process = store.add_process(entrant, wave, due[0].generation, member)
        met = [
            e.deals_id for e in due if (entrant, member) in [(s.entrant, s.member) for s in e.seats]
        ]
        store.record_deals(process, *met)
    return due

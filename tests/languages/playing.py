"""Tournaments of templates: the same deals in every run, proved before they count."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
import trio

from referee.games.registry import make_rules
from referee.match import ClockRules
from tests.languages.templates import CACHE
from tournaments import launch
from tournaments.config import EntrantSpec, Tournament
from tournaments.runner import Run
from tournaments.schedule import Seatings
from tournaments.standings import Standings
from tournaments.store import Store
from tournaments.table import computed
from tournaments.verify import verify

PATIENT = ClockRules(limit=20.0, startup=120.0)
"""For machines that do much else."""


class Quiet:
    """Progress shown to nobody."""

    def finished(self, match: object, result: object) -> None: ...

    def say(self, line: str) -> None: ...


def tournament(path: Path, game: str, entrants: Sequence[str], rounds: int = 4) -> Standings:
    """A tournament of these bots, `name=path` or a name, played to a file that is then verified
    and held no fault."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KNAVERY_CACHE", str(CACHE / "knavery"))
        plan = launch.plan(
            Tournament(
                name="languages",
                rules=make_rules(game),
                entrants=tuple(map(_entrant, entrants)),
                rounds=rounds,
                seatings=Seatings.CYCLIC,
                key=bytes(32),
                clock=PATIENT,
            )
        )
    with Store.create(path, plan.tournament, plan.key, plan.entrants, plan.commitment) as store:
        assert trio.run(Run(store, plan.schedule, plan.field, Quiet()).play, path.parent / "logs")
    with Store.open(path, write=False) as store:
        report = verify(store)
        assert (report.problem, report.faults, report.forfeits) == (None, 0, 0)
        return computed(store)


def _entrant(spec: str) -> EntrantSpec:
    name, equals, path = spec.partition("=")
    return EntrantSpec(name, path) if equals else EntrantSpec(None, spec)

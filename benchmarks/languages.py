"""`make languages-table`: one tournament a game of bots in every language, for docs/languages.md.

The deals come from a fixed key and no template draws lots, so the same versions give the same
tables.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

import trio

from referee.games.registry import GAMES, make_rules
from referee.match import ClockRules
from tournaments import launch
from tournaments.config import EntrantSpec, Tournament
from tournaments.runner import Run
from tournaments.schedule import Seatings
from tournaments.standings import Standings, header, table
from tournaments.store import Store
from tournaments.table import computed
from tournaments.verify import verify

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/languages.md"
CACHE = ROOT / ".cache/knavery"
"""What is built for the tables and for the tests: kept, so that nothing is built twice."""
LANGUAGES = ("cpp", "go", "java", "rust", "typescript")
"""The folders of sample_bots that hold one template each; Python's are beside them."""
PATIENT = ClockRules(limit=20.0, startup=120.0)
"""For machines that do much else."""


class Quiet:
    """Progress shown to nobody."""

    def finished(self, match: object, result: object) -> None: ...

    def say(self, line: str) -> None: ...


def field() -> tuple[EntrantSpec, ...]:
    """A bot in each language, Python's being one that follows the advice of the rules."""
    templates = (EntrantSpec(None, str(ROOT / "sample_bots" / each)) for each in LANGUAGES)
    return (*templates, EntrantSpec("advice-python", "advice"))


def tournament(
    path: Path, game: str, entrants: Sequence[EntrantSpec], rounds: int = 1
) -> Standings:
    """Plays a tournament to a file, verifies the file, and gives its table.

    Whoever fails to decide properly, or a file that does not agree, is a RuntimeError.
    """
    os.environ["KNAVERY_CACHE"] = str(CACHE)
    plan = launch.plan(
        Tournament(
            name="languages",
            rules=make_rules(game),
            entrants=tuple(entrants),
            rounds=rounds,
            seatings=Seatings.CYCLIC,
            key=bytes(32),
            clock=PATIENT,
        )
    )
    with Store.create(path, plan.tournament, plan.key, plan.entrants, plan.commitment) as store:
        if not trio.run(Run(store, plan.schedule, plan.field, Quiet()).play, path.parent / "logs"):
            raise RuntimeError(f"{path}: was stopped")
    with Store.open(path, write=False) as store:
        report = verify(store)
        if report.problem or report.faults or report.forfeits:
            raise RuntimeError(f"{path}: {report.problem}, {report.faults} faults")
        return computed(store)


def tables() -> str:
    """What the page shows between its marks."""
    parts = []
    with tempfile.TemporaryDirectory(prefix="knavery-") as folder:
        for game in GAMES:
            result = tournament(Path(folder) / f"{game}.knavery", game, field())
            parts.append(f"```\n{game}: {header(result)}\n{table(result.rows)}\n```\n")
    return "\n".join(parts)


def main() -> None:
    text = PAGE.read_text(encoding="utf-8")
    marks = r"(<!-- tables -->\n).*(<!-- end of tables -->)"
    shown = tables()
    text = re.sub(marks, lambda m: m[1] + shown + m[2], text, flags=re.DOTALL)
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

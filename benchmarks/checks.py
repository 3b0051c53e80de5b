"""How long `knavery check` takes for an instant bot that is built: under ten seconds is wanted."""

import tempfile
from pathlib import Path

from referee import bots
from referee.check import check

BOT = "lowest"
"""A shipped bot that does not think."""


def report() -> None:
    """A line for the whole check, and one for each step that takes a tenth of a second."""
    with tempfile.TemporaryDirectory(prefix="knavery-bench-") as cache:
        bots.prepare(bots.load(BOT), Path(cache))
        done = check(bots.load(BOT), cache=Path(cache))
    verdict = "all steps passed" if done.passed else "some step failed"
    print(f"knavery check {BOT}, made ready before: {done.seconds:.1f} s, {verdict}")
    for step in done.steps:
        if step.seconds >= 0.1:
            print(f"  {step.name:<13} {step.seconds:5.1f} s")

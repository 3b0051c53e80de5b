"""The processor time of `knavery audit` on files of 14 MB: of few long matches, of many short ones.

`python -m benchmarks.audits`. The files are made without processes, as benchmarks/pages.py does.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from benchmarks import pages
from referee.games.registry import make_rules

DEALS: Final = {"336 matches of 250 deals": (250, 84_000), "31,000 of one deal": (1, 31_000)}
SAMPLE: Final = 500


def report() -> None:
    """Build each file and audit it in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        for number, (what, (most, deals)) in enumerate(DEALS.items()):
            path = Path(folder) / f"{number}.knavery"
            pages.build(path, deals, make_rules("knave", max_deals=most))
            before = os.times().children_user
            audit = (sys.executable, "-m", "tournaments.cli", "audit", path, "--sample", SAMPLE)
            subprocess.run([*map(str, audit)], check=True, stdout=subprocess.DEVNULL)
            seconds = os.times().children_user - before
            size = path.stat().st_size / 1e6
            print(f"Audit of {SAMPLE} decisions, {size:.0f} MB, {what}: {seconds:.1f} s")


if __name__ == "__main__":
    report()

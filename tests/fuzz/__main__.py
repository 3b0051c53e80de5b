"""`make fuzz`: draws inputs for each target until its time is over, prints how many, and keeps the
smallest input of each failure beside the command that draws it again."""

import argparse
import sys
import time
import traceback
from collections.abc import Sequence
from itertools import count
from pathlib import Path

from hypothesis import HealthCheck, given, seed, settings

from tests.fuzz.targets import TARGETS

LOT = 100
"""Inputs drawn of one seed."""
KEPT = Path(".fuzz")


def main(arguments: Sequence[str] | None = None, kept: Path = KEPT) -> int:
    """The exit status: 1 if something failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=300, help="in all (300)")
    parser.add_argument("--seed", type=int, default=None, help="of the first lot (the time)")
    parser.add_argument("--target", choices=TARGETS, help="only this one")
    options = parser.parse_args(arguments)
    first = int(time.time()) if options.seed is None else options.seed
    names = [options.target] if options.target else list(TARGETS)
    print(f"seed {first}, {options.seconds:g} s, targets {', '.join(names)}", flush=True)
    failures = sum(_fuzz(name, first, options.seconds / len(names), kept) for name in names)
    print(f"{failures} failed" if failures else "no failure")
    return 1 if failures else 0


def _fuzz(name: str, first: int, seconds: float, kept: Path) -> bool:
    """Fuzzes one target; whether it failed."""
    end, tried = time.monotonic() + seconds, [0]
    for number in count(first):
        failure = _lot(name, number, tried)
        if failure:
            kept.mkdir(exist_ok=True)
            path = kept / f"{name}-{number}.txt"
            path.write_text(failure)
            print(f"{name}: failed after {tried[0]:,} inputs; {path} has the smallest. Again:")
            print(f"  make fuzz FUZZ_SEED={number} FUZZ_TARGET={name}", flush=True)
            return True
        if time.monotonic() >= end:
            break
    print(f"{name}: {tried[0]:,} inputs, seeds {first} to {number}", flush=True)
    return False


def _lot(name: str, number: int, tried: list[int]) -> str:
    """Draws the inputs of one seed; what is to be kept of a failure, or nothing."""
    drawn, target = TARGETS[name]

    @seed(number)
    @settings(
        max_examples=LOT,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(drawn)
    def run(value: object) -> None:
        tried[0] += 1
        target(value)

    try:
        run()
    except Exception as failure:
        notes = "\n".join(getattr(failure, "__notes__", ()))
        return f"{''.join(traceback.format_exception(failure))}\n{notes}\n"
    return ""


if __name__ == "__main__":
    sys.exit(main())

"""A field of which no bot ever said hello: its tables are full of forfeits, and mean nothing."""

import sys
from collections.abc import Iterable
from pathlib import Path

from referee.match import FaultKind, MatchResult
from tournaments.plain import harmless


def nobody_came(results: Iterable[MatchResult]) -> bool:
    """Whether matches were played, and in all of them every seat was empty from the first deal
    on."""
    empty = [_is_empty(result) for result in results]
    return bool(empty) and all(empty)


def _is_empty(result: MatchResult) -> bool:
    absent = all(fault.kind is FaultKind.ABSENT and fault.deal == 0 for fault in result.faults)
    return absent and len(result.forfeits) == len(result.totals)


def say_so(logs: Path | None = None) -> None:
    """Says where to look for the reason; `logs` is where what the bots printed is kept."""
    where = f"; what they printed is in {harmless(logs)}" if logs else ""
    print(
        "nobody came: no bot ever said hello, so every match is a forfeit: `knavery doctor` says "
        f"what this machine can run, `knavery check BOT` tries one bot{where}",
        file=sys.stderr,
    )

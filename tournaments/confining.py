"""What confines bots, told to whoever starts them: loudly where something is missing."""

import sys

from referee.limits import SandboxRules
from referee.sandbox import open_sandbox


def confined(rules: SandboxRules) -> str:
    """What confines the bots of a tournament, for its file; says what is missing. SandboxError
    where it may not be missing."""
    with open_sandbox(rules) as sandbox:
        _say(sandbox.missing)
        return sandbox.in_force


def warn() -> None:
    """Says, before bots are started that somebody is trying out, if nothing keeps them apart."""
    with open_sandbox(SandboxRules()) as sandbox:
        if not sandbox.isolates:
            _say(sandbox.missing[:1])


def without_isolation(sessions: list[str]) -> str:
    """A line for the table, if bots were not always kept apart; empty if they were. `sessions` is
    what was in force each time."""
    if all(each.startswith("bubblewrap") for each in sessions):
        return ""
    return "Bots ran without isolation: they could read files, see each other and use the network."


def _say(lines: tuple[str, ...]) -> None:
    for line in lines:
        print(f"sandbox: {line}", file=sys.stderr, flush=True)

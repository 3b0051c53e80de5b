"""What a user is told when something goes wrong: one line, never a traceback."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from referee.failures import leaves

STOPPED = 1
"""Exit status of what ran and was stopped, or whose answer is no."""
COULD_NOT = 2
"""Exit status of what could not run, also for want of a single bot that came."""


class Verdict:
    """The exit status of several things done one after the other: the worst of theirs."""

    def __init__(self, command: str) -> None:
        self.status = 0
        self._command = command

    def add(self, status: int) -> None:
        """One of them ended with this status."""
        self.status = max(self.status, status)

    @contextmanager
    def about_one(self) -> Iterator[None]:
        """A user's error in here is said and ends this one only; a bug goes on."""
        try:
            yield
        except Exception as problem:
            if (message := for_user(problem)) is None:
                raise
            print(f"{self._command}: {message}", file=sys.stderr)
            self.add(COULD_NOT)


def holds(problem: BaseException, kind: type[BaseException]) -> bool:
    """Whether an error is of a kind, or came from tasks of which one failed so."""
    return any(isinstance(each, kind) for each in leaves(problem))


def in_one_line(problem: Exception) -> str:
    """What to tell a user about any error."""
    if (message := for_user(problem)) is not None:
        return message
    cause = next(leaves(problem))
    return (
        f"a bug in Knavery, {type(cause).__name__}: {cause}. Nothing that was finished is "
        "lost. Run it again with KNAVERY_TRACEBACK=1 and report what it prints"
    )


def for_user(problem: Exception) -> str | None:
    """The message of an error that is made for users, even when others came with it from tasks
    that ran at the same time; None where there is none. Printable, for it may name a bot as its
    author did."""
    from referee.process import printable

    made_for_users = _user_errors()
    found = (each for each in leaves(problem) if isinstance(each, made_for_users))
    return next((printable(str(each)) for each in found), None)


def _user_errors() -> tuple[type[Exception], ...]:
    """Errors whose message says in one line what is wrong, where, and the mend."""
    from referee.bots import BotError
    from referee.failures import MachineFailure
    from referee.games.rules import RulesError
    from referee.sandbox import SandboxError
    from tournaments.config import ConfigError
    from tournaments.store import StoreError
    from tournaments.web.listening import CannotServe

    return (
        BotError,
        RulesError,
        MachineFailure,
        SandboxError,
        ConfigError,
        StoreError,
        CannotServe,
    )

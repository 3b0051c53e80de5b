"""What an author's code gave back, turned into card numbers; and what it raised, into words."""

from __future__ import annotations

import inspect
import reprlib
import traceback
from collections.abc import Callable, Iterable
from operator import index
from pathlib import Path
from typing import Any

from knavery.card import Card
from knavery.view import View
from referee.games.cards import CARDS, parse_card

ERROR_BYTES = 2048
"""How much of an error the referee keeps."""
REASON_CHARACTERS = 600
"""How much of an exception's own text is kept, so that the view fits beside it."""

_PROJECT = Path(__file__).resolve().parents[1]
_LIBRARIES = (_PROJECT / "knavery", _PROJECT / "referee", Path(traceback.__file__).parent)


class AnswerError(Exception):
    """The author's code returned what is no card, or no bid; the text goes after "returned"."""


def card_number(answer: object) -> int:
    """The card that an answer names: a `Card`, its number, its text, or a list of just one."""
    if type(answer) is Card:
        return int(answer)
    try:
        if isinstance(answer, str):
            return parse_card(answer)
        if isinstance(answer, list | tuple) and len(answer) == 1:
            return card_number(answer[0])
        number = -1 if isinstance(answer, bool) else index(answer)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = -1
    if not 0 <= number < CARDS:
        raise AnswerError(f"{reprlib.repr(answer)}, which is no card")
    return number


def bid_numbers(answer: object) -> list[int]:
    """The cards that a bid names, whatever their count: the rules judge that."""
    names = answer.split() if isinstance(answer, str) else answer
    if not isinstance(names, Iterable):
        raise AnswerError(f"{reprlib.repr(answer)}, which is no list of cards")
    return [card_number(name) for name in names]


def bounded(text: str, size: int) -> str:
    """The text's first `size` bytes in UTF-8, never half a character, and fit to be sent."""
    return text.encode("utf-8", "replace")[:size].decode("utf-8", "ignore")


class Author:
    """Whose code a bot is: tells the author's own lines from those of libraries."""

    def __init__(self, bot: type) -> None:
        try:
            self._home: Path | None = Path(inspect.getfile(bot)).resolve().parent
        except (TypeError, OSError):  # written in a notebook
            self._home = None

    def explanation(self, error: BaseException, view: View | None = None) -> str:
        """What was raised and where, in one line; the view in another."""
        words = " ".join("".join(traceback.format_exception_only(error)).split())
        line = f"{self._place(error)}: {words[:REASON_CHARACTERS]}"
        return bounded(line if view is None else f"{line}\n{view}", ERROR_BYTES)

    def complaint(self, answer: AnswerError, method: Callable[..., Any], view: View) -> str:
        """What a method returned and should have, in one line; the view in another."""
        wanted = "one of view.legal" if view.phase == "play" else f"{view.choose} of view.hand"
        return bounded(
            f"{self._definition(method)} returned {answer}: return {wanted}\n{view}", ERROR_BYTES
        )

    def _place(self, error: BaseException) -> str:
        """The innermost line of the author's own that an exception went through."""
        frames = traceback.extract_tb(error.__traceback__)
        own = [each for each in frames if self._is_own(each.filename)]
        if not own:
            return "outside of the bot's own code"
        return f"{self._short(own[-1].filename)}:{own[-1].lineno} in {own[-1].name}"

    def _definition(self, method: Callable[..., Any]) -> str:
        name = getattr(method, "__name__", repr(method))
        code = getattr(inspect.unwrap(method), "__code__", None)
        return f"{self._short(code.co_filename)}:{code.co_firstlineno} {name}" if code else name

    def _is_own(self, filename: str) -> bool:
        path = Path(filename).resolve()
        if filename.startswith("<frozen") or any(map(path.is_relative_to, _LIBRARIES)):
            return False
        if "site-packages" in path.parts:
            return False
        return self._home is None or path.is_relative_to(self._home)

    def _short(self, filename: str) -> str:
        path = Path(filename).resolve()
        if self._home is not None and path.is_relative_to(self._home):
            return str(path.relative_to(self._home))
        return filename

"""A terminal to oneself: a whole screen of lines, and keys one at a time.

However it ends (an error, Ctrl-C, SIGTERM, a terminal that goes away) the terminal is left as it
was found. Works on what it is given: standard input and output as a rule, a pseudo-terminal in
tests.
"""

from __future__ import annotations

import os
import select
import signal
import termios
import tty
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Final, NoReturn

_ENTER: Final = b"\x1b[?1049h\x1b[?25l"
_LEAVE: Final = b"\x1b[?25h\x1b[?1049l"
_HOME: Final = "\x1b[H\x1b[2J"
_ESCAPE_WAIT: Final = 0.05
"""Seconds in which the rest of a key that sends several bytes arrives."""
_KEYS: Final = {
    b"\x1b[A": "up",
    b"\x1b[B": "down",
    b"\x1b[C": "right",
    b"\x1b[D": "left",
    b"\x1bOA": "up",
    b"\x1bOB": "down",
    b"\x1bOC": "right",
    b"\x1bOD": "left",
    b"\x1b[H": "home",
    b"\x1b[F": "end",
    b"\x1b[1~": "home",
    b"\x1b[4~": "end",
    b"\x1b[5~": "pageup",
    b"\x1b[6~": "pagedown",
    b"\x7f": "backspace",
    b"\b": "backspace",
    b"\r": "enter",
    b"\n": "enter",
    b" ": "space",
    b"\x1b": "escape",
    b"\x04": "eof",
}
_LONGEST: Final = max(map(len, _KEYS))


class FullScreen:
    """The terminal while it is ours; made by `full_screen`."""

    def __init__(self, source: int, target: int) -> None:
        self._source = source
        self._target = target
        self._ahead = b""

    def show(self, lines: Sequence[str]) -> None:
        """Fills the screen, as far as it goes; the last two lines are always there."""
        width, height = os.get_terminal_size(self._target)
        if len(lines) > height > 0:
            lines = [*lines[: max(0, height - 2)], *lines[-2:]]
        body = "\n".join(line[: width - 1 if width else None] for line in lines)
        _write(self._target, (_HOME + body).encode("utf-8", "replace"))

    def key(self) -> str:
        """The next key: its character, or its name ("right", "enter"); "eof" when none follows."""
        if not self._ahead and not self._read():
            return "eof"
        while self._ahead.startswith(b"\x1b") and not self._is_whole():
            if not select.select([self._source], [], [], _ESCAPE_WAIT)[0] or not self._read():
                break
        for size in range(_LONGEST, 0, -1):
            if name := _KEYS.get(self._ahead[:size]):
                self._ahead = self._ahead[size:]
                return name
        one, self._ahead = self._ahead[:1], self._ahead[1:]
        return one.decode("ascii", "replace")

    def _is_whole(self) -> bool:
        return any(self._ahead.startswith(key) for key in _KEYS if len(key) > 1)

    def _read(self) -> bool:
        """Whether more came."""
        try:
            more = os.read(self._source, 256)
        except OSError:  # the terminal is gone
            return False
        self._ahead += more
        return bool(more)


@contextmanager
def full_screen(source: int = 0, target: int = 1) -> Iterator[FullScreen]:
    """The terminal of these file descriptors, until the block ends."""
    before = termios.tcgetattr(source)
    handler = signal.signal(signal.SIGTERM, _stop)
    try:
        tty.setcbreak(source, termios.TCSANOW)
        _write(target, _ENTER)
        yield FullScreen(source, target)
    finally:
        with suppress(OSError, termios.error):
            _write(target, _LEAVE)
        with suppress(OSError, termios.error):
            termios.tcsetattr(source, termios.TCSANOW, before)
        signal.signal(signal.SIGTERM, handler)


def _stop(number: int, _frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)


def _write(target: int, data: bytes) -> None:
    while data:
        data = data[os.write(target, data) :]

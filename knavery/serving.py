"""Plays a bot for the referee that started this process. Design, sections 3 and 9."""

from __future__ import annotations

import gc
import io
import os
import shlex
import sys
import time
from pathlib import Path
from typing import NoReturn

from knavery.bot import Bot
from knavery.host import Host

RETURN_SECONDS = 60.0
"""How long a bot that plays from afar tries to come back when its connection is lost."""
RETURN_PAUSE = 0.5
"""Seconds between two tries."""
TRACEBACKS = 20
"""How many tracebacks go to the bot's log: where each exception was, the referee is told anyway."""


def serve(bot: type[Bot]) -> None:
    """Play `bot` until the referee says goodbye. What it prints goes to its log.

    Started by hand, with no referee to play for, it says what to type instead and exits with 2;
    turned away by the referee, it says why and exits with 1.
    """
    if not isinstance(bot, type) or not issubclass(bot, Bot):
        raise TypeError(f"serve takes the class, as in serve(MyBot), not {bot!r}")
    address, token = os.environ.get("KNAVERY_ADDRESS"), os.environ.get("KNAVERY_TOKEN")
    if not address or not token:
        _say_how_to_start()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)
    try:
        _talk(bot, address, token)
    except ConnectionError as error:
        print(f"{bot.__name__}: {error}", file=sys.stderr)
        sys.exit(1)


def _talk(bot: type[Bot], address: str, token: str) -> None:
    gc.freeze()  # looking through all that is loaded, for garbage, took the exit 60 ms
    host = Host(bot, Log())
    over = _visit(bot, host, address, token)
    while not (over or address.startswith("unix:")):
        over = _come_back(bot, host, address, token)


def _visit(bot: type[Bot], host: Host, address: str, token: str) -> bool:
    """Plays over one connection; whether the referee said goodbye at its end."""
    from knavery.client import connect, is_last  # gRPC is slow to load and needed only here

    over = False
    limits = {"max_tables": bot.max_tables, "max_batch": bot.max_batch}
    with connect(address, token, games=tuple(bot.games), **limits) as stream:
        for envelope in stream:
            over = is_last(envelope)
            for moves in host.answers(envelope.events):
                stream.send(moves)
    return over


def _come_back(bot: type[Bot], host: Host, address: str, token: str) -> bool:
    """Plays on over another connection, when the last was lost; as `_visit`."""
    from knavery.client import Rejected

    print(f"{bot.__name__}: the connection is lost: trying again", file=sys.stderr)
    end = time.monotonic() + RETURN_SECONDS
    while True:
        try:
            return _visit(bot, host, address, token)
        except ConnectionError as error:
            final = isinstance(error, Rejected) and "in use" not in str(error)
            if final or time.monotonic() > end:
                raise
        time.sleep(RETURN_PAUSE)


def _say_how_to_start() -> NoReturn:
    script = Path(sys.argv[0] or "bot.py")
    bot = script.parent if (script.parent / "bot.toml").is_file() else script
    command = f"knavery play {shlex.quote(str(bot))}"
    print(f"This is a bot, and a referee starts it. To see it play: {command}", file=sys.stderr)
    sys.exit(2)


class Log:
    """Prints tracebacks to the bot's log, the first few of them."""

    def __init__(self) -> None:
        self._left = TRACEBACKS

    def __call__(self, traceback: str) -> None:
        if self._left:
            self._left -= 1
            print(traceback, file=sys.stderr, end="" if self._left else "(no more are printed)\n")

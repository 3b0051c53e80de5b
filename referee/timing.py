"""A process's time as it passes: read where processor time counts, and let stand still while the
player has nothing to do (design, section 5; the rules are in clock.py and player.py)."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import trio

from referee.cpu import Tree
from referee.house import House, Line
from referee.match import CPU
from referee.player import Player
from referee.process import Process

LOOK = 0.1
"""Seconds of a last look before it is said that something has not come in time."""

_T = TypeVar("_T")


async def in_time(
    house: House,
    due: float,
    catch_up: Callable[[], Awaitable[None]],
    work: Callable[[], Awaitable[_T]],
) -> _T | None:
    """What `work` returns, or None when it has not returned by `due`, in the referee's own time.

    Trio's time goes on while the referee stands still, so what is over by trio's time is cancelled,
    and begun again after `catch_up` for what is left of the referee's."""
    left = due - house.now()
    while True:
        with trio.move_on_after(max(left, LOOK)):
            return await work()
        if left <= 0:
            return None
        await catch_up()
        left = due - house.now()


class Timing:
    """The time of one player's processes, one after the other."""

    def __init__(self, player: Player, house: House) -> None:
        self._player = player
        self._house = house
        self._tree: Tree | None = None
        self._frozen = False

    def begin(self, post: Line, process: Process, *, adapted: bool) -> None:
        """From now on this process's time counts, and it may be frozen."""
        self._frozen = False
        self._tree = process.tree(adapted=adapted)
        if self._house.clock.measure == CPU:
            post.measure(self._tree)
            self._player.read(self._house.now(), self._tree.seconds())
        self._player.stirred(self._house.now())

    def freeze(self, frozen: bool) -> None:
        """Freezes the process, or lets it run again."""
        if self._tree is None or frozen == self._frozen:
            return
        self._frozen = frozen
        if frozen:
            self._tree.freeze()
        else:
            self._tree.thaw()

    async def catch_up(self, post: Line) -> None:
        """Before a decision is called late: what has come goes first, a stall of the referee is
        left out, and the processor time is looked at."""
        await post.caught_up()
        if self._tree is not None and self._house.clock.measure == CPU:
            self._player.read(self._house.now(), self._tree.seconds())

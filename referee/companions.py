"""Players of a generation that have no process: what answers for them."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

from referee.player import Batch, Move, Player

Answer = Callable[[Batch], Awaitable[Iterable[Move]]]
"""What is answered to a batch, which may hold events only: then nothing."""


async def _smallest(batch: Batch) -> Iterable[Move]:
    return [Move(ask.id, ask.match.deal.stand_in(ask.seat)) for ask in batch.asks]


@dataclass(frozen=True, slots=True)
class Companion:
    """A player without a process: what it answers, the smallest legal cards unless said
    otherwise. It is never late while it answers."""

    player: Player
    answer: Answer = _smallest

"""The base class of bots. Design, section 9."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, ClassVar, Self

from knavery.answers import bounded
from knavery.lazy import lazy
from knavery.news import FaultNotice, FinishedDeal, MatchEnd, MatchInfo
from knavery.view import View

NOTE_BYTES = 256
"""How much of a note the referee keeps."""


class Bot:
    """One bot at one seat of one match: an object is made for each, so `self` may hold state.

    Write `play`, and `bid` for Ninety-Nine. An exception costs the decision that it happened in,
    nothing more. A class that needs arguments is no bot: `__init__` is called without any.
    """

    games: ClassVar[Sequence[str]] = ()
    """The games it plays, such as `("knave",)`; empty: all of them."""
    max_tables: ClassVar[int | None] = None
    """Matches it is willing to play at once; None: any number."""
    max_batch: ClassVar[int | None] = None
    """Decisions it is willing to get at once; None: as many as the referee likes."""

    info: MatchInfo
    """The match and the seat; there from `__init__` on, but not in an object made by hand."""

    _seed: int = 0
    _note: str | None = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if isinstance(cls.games, str):
            raise TypeError(f"{cls.__name__}.games is one text: write games = ({cls.games!r},)")
        for name in ("bid_batch", "play_batch"):
            if name in vars(cls) and not isinstance(vars(cls)[name], classmethod):
                raise TypeError(
                    f"{cls.__name__}.{name} decides for many matches at once: "
                    "write @classmethod above it"
                )

    @classmethod
    def sit_down(cls, info: MatchInfo) -> Self:
        """The object for a match; its `info` and `rng` work in `__init__` already."""
        bot = cls.__new__(cls)
        bot.info = info
        bot._seed = info.seed
        bot.__init__()  # type: ignore[misc]
        return bot

    # Decisions.

    def bid(self, view: View) -> Any:
        """The cards to bid, `view.choose` of `view.hand`, in any order. Ninety-Nine only."""
        raise NotImplementedError(f"{type(self).__name__} has no bid(self, view)")

    def play(self, view: View) -> Any:
        """The card to play, one of `view.legal`."""
        raise NotImplementedError(f"{type(self).__name__} has no play(self, view)")

    @classmethod
    def bid_batch(cls, views: Sequence[View]) -> Sequence[Any]:
        """Bids for many matches at once, in the order of the views. As `play_batch`."""
        return [view.bot.bid(view) for view in views]

    @classmethod
    def play_batch(cls, views: Sequence[View]) -> Sequence[Any]:
        """Cards for many matches at once, in the order of the views; `view.bot` is the object
        of each match. For bots that infer in batches: when it is overridden, `play` is not
        called. When it raises, it is called again for each view alone, so that only those to
        blame are charged with it."""
        return [view.bot.play(view) for view in views]

    # Help.

    @lazy
    def rng(self) -> random.Random:
        """The bot's own randomness, seeded by the match: a match played again repeats it."""
        return random.Random(self._seed)

    def note(self, text: str) -> None:
        """Attach a word to the decision being made, for your own eyes, shown in replays.

        256 bytes of it are kept, 1 KB a deal; the last note of a decision counts."""
        self._note = bounded(str(text), NOTE_BYTES)

    # News: override what you want to hear.

    def match_started(self, info: MatchInfo) -> None:
        """The match begins, or is taken up again: then `info.resumed` is true, and
        `deal_finished` is called next for each deal so far."""

    def deal_finished(self, deal: FinishedDeal) -> None:
        """A deal is over and everything in it is shown."""

    def fault(self, notice: FaultNotice) -> None:
        """This seat failed to decide, and the referee played for it."""

    def match_finished(self, end: MatchEnd) -> None:
        """The match is over; the object is dropped after this."""

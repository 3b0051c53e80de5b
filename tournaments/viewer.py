"""Stepping through a match with keys: what each key does, and what is seen then. No I/O."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from tournaments.replay_text import screen
from tournaments.replays import DealReplay, MatchReplay

HELP: Final = (
    "right forward   left back   down next trick   up last trick   f next fault",
    "n next deal   p last deal   t jump to a trick   d jump to a deal   q end",
)
_FORWARD: Final = frozenset({"right", "space", "enter", "l"})
_BACK: Final = frozenset({"left", "backspace", "h"})
_END: Final = frozenset({"q", "escape", "eof"})
_DIGITS: Final = 6


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a match one looks. `asked` is "trick" or "deal" while its number is `typed`."""

    deal: int = 0
    step: int = 0
    asked: str = ""
    typed: str = ""
    said: str = ""
    """Why the last key did nothing."""


class Viewer:
    """What keys do in one match."""

    def __init__(self, match: MatchReplay) -> None:
        self._match = match

    def press(self, place: Place, key: str) -> Place | None:
        """Where a key leads; None when it ends the viewing."""
        if place.asked:
            return self._type(place, key)
        place = replace(place, said="")
        if key in _END:
            return None
        if key in _FORWARD:
            return self._forward(place)
        if key in _BACK:
            return self._back(place)
        if key in ("t", "d"):
            return replace(place, asked="trick" if key == "t" else "deal")
        return self._leap(place, key)

    def lines(self, place: Place) -> list[str]:
        """What is seen there, the keys last."""
        foot = f"jump to {place.asked}: {place.typed}_" if place.asked else place.said or HELP[1]
        return [*screen(self._deal(place), place.step), "", HELP[0], foot]

    def _deal(self, place: Place) -> DealReplay:
        return self._match.deal(place.deal)

    def _last(self, place: Place) -> int:
        return len(self._deal(place).frames) - 1

    def _forward(self, place: Place) -> Place:
        if place.step < self._last(place):
            return replace(place, step=place.step + 1)
        return self._to_deal(place, place.deal + 1, "this is the end of the match")

    def _back(self, place: Place) -> Place:
        if place.step > 0:
            return replace(place, step=place.step - 1)
        before = self._to_deal(place, place.deal - 1, "this is the beginning of the match")
        return before if before.said else replace(before, step=self._last(before))

    def _leap(self, place: Place, key: str) -> Place:
        if key in ("down", "j"):
            later = (each for each in self._pauses() if each > place.step)
            return replace(place, step=next(later, self._last(place)))
        if key in ("up", "k"):
            earlier = (each for each in reversed(self._pauses()) if each < place.step)
            return replace(place, step=next(earlier, 0))
        if key in ("home", "end"):
            return replace(place, step=0 if key == "home" else self._last(place))
        if key in ("n", "pagedown"):
            return self._to_deal(place, place.deal + 1, "this is the last deal")
        if key in ("p", "pageup"):
            return self._to_deal(place, place.deal - 1, "this is the first deal")
        if key == "f":
            return self._next_fault(place)
        return place

    def _pauses(self) -> list[int]:
        """The steps at which a trick is complete or the first is about to begin."""
        rules = self._match.rules
        bids = rules.players if rules.bid_cards else 0
        return [bids + rules.players * trick for trick in range(rules.tricks + 1)]

    def _to_deal(self, place: Place, deal: int, none: str) -> Place:
        if 0 <= deal < self._match.count:
            return replace(place, deal=deal, step=0)
        return replace(place, said=none)

    def _next_fault(self, place: Place) -> Place:
        faulty = {fault.deal for fault in self._match.match.faults}
        for deal in sorted(each for each in faulty if each >= place.deal):
            after = place.step if deal == place.deal else 0
            for step, frame in enumerate(self._match.deal(deal).frames):
                if step > after and frame.last is not None and frame.last.faults:
                    return replace(place, deal=deal, step=step)
        return replace(place, said="no fault follows in this match")

    def _type(self, place: Place, key: str) -> Place:
        """A number is being typed."""
        if key.isdecimal():
            return replace(place, typed=(place.typed + key)[:_DIGITS])
        if key == "backspace":
            return replace(place, typed=place.typed[:-1])
        done = replace(place, asked="", typed="")
        if key != "enter" or not place.typed:
            return done
        number = int(place.typed)
        if place.asked == "deal":
            return self._to_deal(done, number, f"deals are 0 to {self._match.count - 1}")
        if number < self._match.rules.tricks:
            return replace(done, step=self._pauses()[number])
        return replace(done, said=f"tricks are 0 to {self._match.rules.tricks - 1}")

"""A person's seat as their browser sees it: what it is sent, and what it may send.

Everything comes from the messages that a bot in this seat would get (referee/wire.py), so a page
holds no card that its person may not see. What is new is said by `version`; whoever asks again
after a reload gets the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import trio

from knavery import news
from knavery.news import FinishedDeal
from knavery.v1 import game_pb2 as game
from knavery.v1 import referee_pb2 as pb
from knavery.view import Trick, View
from referee.games.cards import card_text
from referee.games.ninety_nine import NinetyNineRules
from referee.games.rules import Rules
from referee.match import Fault
from referee.player import Move
from tournaments.person import chosen
from tournaments.seat import Onlooker
from tournaments.web.render import harmless
from tournaments.web.rule_words import rule_words

Json = dict[str, Any]

TOLD: Final = 40
"""Lines of news that are kept."""
_WORDS: Final = {
    "illegal": "played what it may not",
    "malformed": "sent no proper answer",
    "exception": "failed with an error of its own",
    "late": "was too late",
    "crashed": "crashed",
    "absent": "was not there",
}
_OUT: Final = "it is out of the match, and the referee plays for it"


@dataclass(frozen=True, slots=True)
class _Line:
    """What went wrong with a seat. The cause may be in the bot's words, and is `secret` if they may
    tell its cards: then it is for nobody before the deal is over."""

    seat: int
    deal: int
    trick: int | None
    text: str
    cause: str
    secret: bool


class NotNow(Exception):  # noqa: N818
    """What was sent is not asked for; the message says so to the person."""


class Chair(Onlooker):
    """One match of one person. `bots` are the names of the others, in order; `match` tells its
    decisions from those of the person's other matches."""

    def __init__(self, rules: Rules, bots: Sequence[str], match: int = 0) -> None:
        self.rules = rules
        self.match = match
        self.version = 1
        self.finished: list[FinishedDeal] = []
        """The deals that are over."""
        self.faults: list[Fault] = []
        """What the bots failed to decide."""
        self._bots = bots
        self._stage = "waiting"
        self._entrants: tuple[int, ...] = ()
        self._view: View | None = None
        self._mine: tuple[int, ...] = ()
        self._end: Json | None = None
        self._why: str | None = None
        self._told: list[_Line] = []
        self._arrived: set[int] = set()
        self._changed = trio.Event()
        self._go = trio.Event()

    # What the match asks and tells.

    async def decide(self, decision: game.Decision) -> Move:
        """The person's move, once they have made it."""
        self._view, self._mine = View(decision), ()
        await self._stand_at("asked")
        return Move(decision.id, self._mine)

    async def hear(self, event: pb.Event) -> None:
        """The end of a deal, which is looked at until the person goes on, and that of the match."""
        if event.HasField("deal_finished"):
            deal = news.finished_deal(event.deal_finished)
            self.finished.append(deal)
            if not self.rules.over(deal.totals, deal.deal + 1):
                await self._stand_at("review")
        elif event.HasField("match_finished"):
            end = news.match_end(event.match_finished)
            self._end = {"totals": end.totals, "places": end.places, "forfeits": end.forfeits}
            self._stage = "over"
            self._news()

    async def _stand_at(self, stage: str) -> None:
        """Until the person has done what the stage waits for."""
        self._stage, self._go = stage, trio.Event()
        self._news()
        await self._go.wait()

    def seated(self, entrants: tuple[int, ...]) -> None:
        self._entrants = entrants

    def arrived(self, bot: int) -> None:
        self._arrived.add(bot)

    def faulted(self, bot: int, fault: Fault, *, out: bool) -> None:
        self.faults.append(fault)
        what = f" once too often: {_OUT}" if out else ": the referee decided for it"
        self._say(bot, _WORDS[fault.kind.name.lower()] + what, fault.detail, fault.trick)

    def lost(self, bot: int, cause: str) -> None:
        self._say(bot, "ended when it should not have, and is started again", cause)

    def given_up(self, bot: int, cause: str) -> None:
        self._say(bot, f"failed too often: {_OUT}", cause)

    def fail(self, why: str) -> None:
        """The match cannot go on."""
        self._stage, self._why = "failed", why
        self._news()

    def left(self) -> None:
        """The person has gone: nothing of it is asked any more, and whoever waits is told."""
        self._stage = "left"
        self._news()

    def _say(self, bot: int, what: str, cause: str, trick: int | None = None) -> None:
        seat, deal = self._entrants.index(bot), len(self.finished)
        line = _Line(seat, deal, trick, what, harmless(cause), bot in self._arrived)
        if [line] != self._told[-1:]:
            self._told = [*self._told[1 - TOLD :], line]
            self._news()

    def _said(self, line: _Line, before: _Line | None) -> Json:
        """A line of news as the page may show it now; a cause is told once, not again and again."""
        told = not (line.secret and self.is_open and line.deal == len(self.finished))
        again = before is not None and (before.seat, before.cause) == (line.seat, line.cause)
        return {
            "seat": line.seat,
            "deal": line.deal,
            "trick": line.trick,
            "text": line.text,
            "cause": line.cause if told and not again else "",
        }

    def _news(self) -> None:
        self.version += 1
        changed, self._changed = self._changed, trio.Event()
        changed.set()

    # What the browser sends and is sent.

    def move(self, decision: object, cards: object) -> None:
        """Bid or play these cards. NotNow, or ValueError that says what is wrong with them."""
        view = self._view
        if view is None or self._stage != "asked" or decision != self._decision:
            raise NotNow("this is not asked any more: the page shows what is")
        if not isinstance(cards, list) or not all(
            type(card) is int and 0 <= card < 52 for card in cards
        ):
            raise ValueError("cards are numbers from 0 to 51")
        self._mine = chosen(view, " ".join(map(card_text, cards)))
        self._go_on()

    def next(self, match: object, deal: object) -> None:
        """Go on after a deal of a match that is over."""
        if self._stage != "review" or (match, deal) != (self.match, len(self.finished) - 1):
            raise NotNow("there is no finished deal to go on from")
        self._go_on()

    def _go_on(self) -> None:
        self._stage = "waiting"
        self._go.set()
        self._news()

    async def after(self, version: int) -> None:
        """Until there is something newer than this."""
        while self.version <= version:
            await self._changed.wait()

    @property
    def is_open(self) -> bool:
        """Whether the match goes on."""
        return self._stage not in ("over", "failed", "left")

    @property
    def names(self) -> list[str]:
        """By seat."""
        return ["you", *self._bots] if not self._entrants else list(map(self._name, self._entrants))

    def _name(self, entrant: int) -> str:
        return self._bots[entrant - 1] if entrant else "you"

    @property
    def _decision(self) -> str:
        """The name of the open decision, unlike that of any other: a page that is late with an
        answer, or still shows an older match, decides nothing here."""
        assert self._view is not None
        number = len(self._view.tricks) + (self._view.phase == "play")
        return f"{self.match}-{self._view.deal}-{number}"

    def state(self) -> Json:
        """All that the page shows."""
        return {
            "version": self.version,
            "stage": self._stage,
            "match": self.match,
            "game": self.rules.game,
            "variant": self.rules.variant,
            "names": self.names,
            "bid_values": _bid_values(self.rules),
            "rules": rule_words(self.rules),
            "hand_size": self.rules.hand_size,
            "target": self.rules.target,
            "deals": self.rules.max_deals,
            "view": None if self._view is None else self._seen(self._view),
            "finished": _finished(self.finished[-1], self.rules) if self.finished else None,
            "told": list(map(self._said, self._told, [None, *self._told])),
            "end": self._end,
            "why": self._why,
        }

    def _seen(self, view: View) -> Json:
        return {
            "decision": self._decision if self._stage == "asked" else None,
            "deal": view.deal,
            "seat": view.seat,
            "partner": _partner(self.rules, view.seat),
            "dealer": view.dealer,
            "phase": view.phase,
            "choose": view.choose,
            "hand": [int(card) for card in view.hand if card not in self._mine],
            "legal": list(map(int, view.legal)) if self._stage == "asked" else [],
            "tricks": list(map(_trick, view.tricks)),
            "trick": {"leader": view.leader, "cards": list(map(int, view.trick))},
            "mine": list(self._mine),
            "won": list(view.tricks_won),
            "trump_known": view.trump_known,
            "trump": None if view.trump is None else int(view.trump),
            "last_dealt": None if view.last_dealt is None else int(view.last_dealt),
            "bids": self._visible_bids(view),
            "scores": list(view.scores),
        }

    def _visible_bids(self, view: View) -> list[Json | None]:
        """By seat: the person's own bid, and those that are turned up."""
        if not isinstance(self.rules, NinetyNineRules):
            return [None] * self.rules.players
        bids: list[Sequence[int] | None] = [None if bid is None else bid for bid in view.bids]
        if view.phase == "bid" and self._mine:
            bids[view.seat] = sorted(self._mine)
        return [None if bid is None else _bid(self.rules, bid) for bid in bids]


def _bid_values(rules: Rules) -> list[int] | None:
    return list(rules.bid_values) if isinstance(rules, NinetyNineRules) else None


def _partner(rules: Rules, seat: int) -> int | None:
    """Who plays together with a seat; None where each plays alone."""
    others = (other for other in range(rules.players) if other != seat)
    return next((each for each in others if rules.team_of(each) == rules.team_of(seat)), None)


def _bid(rules: NinetyNineRules, cards: Sequence[int]) -> Json:
    return {"cards": list(map(int, cards)), "tricks": rules.bid_of(cards)}


def _trick(trick: Trick) -> Json:
    return {
        "leader": trick.leader,
        "cards": list(map(int, trick.cards)),
        "winner": trick.winner,
    }


def _finished(deal: FinishedDeal, rules: Rules) -> Json:
    """A deal that is over, in which everything is public."""
    bids = [_bid(rules, bid) for bid in deal.bids] if isinstance(rules, NinetyNineRules) else None
    return {
        "deal": deal.deal,
        "dealer": deal.dealer,
        "trump": None if deal.trump is None else int(deal.trump),
        "undealt": list(map(int, deal.undealt)),
        "bids": bids,
        "tricks": list(map(_trick, deal.tricks)),
        "won": list(deal.tricks_won),
        "scores": list(deal.scores),
        "totals": list(deal.totals),
    }

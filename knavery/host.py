"""One bot class at work: events of the referee in, moves out. No I/O; design, sections 3 and 9.

`serve` and `play` both use it, so that a bot meets the same treatment in a tournament and in a
notebook.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from knavery import news
from knavery.answers import AnswerError, Author, bid_numbers, card_number
from knavery.bot import Bot
from knavery.v1 import game_pb2 as game
from knavery.v1 import referee_pb2 as pb
from knavery.view import View

FLUSH_SECONDS = 0.005
"""Answers are handed over at least this often, counted between decisions."""

_METHODS = {"bid_request": ("bid", "bid_batch"), "play_request": ("play", "play_batch")}


class Host:
    """The author's objects of one process: one for each match under way.

    `trouble` is told of each exception, as a traceback: of those outside of decisions there is
    no other trace. `clock` counts seconds.
    """

    def __init__(
        self,
        bot: type[Bot],
        trouble: Callable[[str], None],
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._class = bot
        self._author = Author(bot)
        self._trouble = trouble
        self._clock = clock
        self._lot = pb.Moves()
        self._bots: dict[str, Bot] = {}
        self._unseated: dict[str, str] = {}
        self._batched: dict[str | None, Callable[[Sequence[View]], Sequence[Any]]] = {
            request: getattr(bot, batch)
            for request, (_, batch) in _METHODS.items()
            if getattr(bot, batch).__func__ is not getattr(Bot, batch).__func__
        }
        self._handlers: dict[str | None, Callable[[Any], None]] = {
            "match_started": self._match_started,
            "fault": self._fault,
            "match_finished": self._match_finished,
        }
        if bot.deal_finished is not Bot.deal_finished:
            self._handlers["deal_finished"] = self._deal_finished

    def answers(self, events: Iterable[pb.Event]) -> Iterator[pb.Moves]:
        """The answers to an envelope's decisions, in several lots when they take long."""
        since = self._clock()
        for _ in self._each_answered(events):
            if self._clock() - since >= FLUSH_SECONDS:
                yield self._take_lot()
                since = self._clock()
        if self._lot.moves:
            yield self._take_lot()

    def _take_lot(self) -> pb.Moves:
        lot, self._lot = self._lot, pb.Moves()
        return lot

    def _each_answered(self, events: Iterable[pb.Event]) -> Iterator[None]:
        """Handles the events in order and stops after each decision, its move in the lot.

        Passes over events of a kind that this version does not know."""
        together: dict[str, list[game.Decision]] = {}
        for event in events:
            kind = event.WhichOneof("event")
            if kind == "decision":
                decision = event.decision
                request = decision.WhichOneof("request")
                if request in self._batched and decision.match in self._bots:
                    together.setdefault(request, []).append(decision)
                else:
                    self._decide(decision, request)
                    yield
            elif kind in self._handlers:
                self._handlers[kind](getattr(event, kind))
        for request, decisions in together.items():
            yield from self._decide_together(decisions, request)

    # Decisions.

    def _decide(self, decision: game.Decision, request: str | None) -> None:
        bot = self._bots.get(decision.match)
        if bot is None:
            reason = self._unseated.get(decision.match, "no match of this name was started")
            self._lot.moves.add(decision=decision.id, error=reason)
        elif request == "play_request":
            self._answer(View(decision, bot), request, bot.play)
        elif request == "bid_request":
            self._answer(View(decision, bot), request, bot.bid)
        else:
            reason = "the referee asks for what this SDK does not know: install a newer knavery"
            self._lot.moves.add(decision=decision.id, error=reason)

    def _decide_together(self, decisions: Iterable[game.Decision], request: str) -> Iterator[None]:
        """All at once; each alone when that fails, so that only those to blame are charged."""
        batch = self._batched[request]
        views = [View(decision, self._bots[decision.match]) for decision in decisions]
        try:
            results = iter(_all_of(batch, views))
        except Exception:
            self._trouble(traceback.format_exc())
            for view in views:
                self._answer(view, request, lambda one: _all_of(batch, [one])[0], batch)
                yield
            return
        for view in views:
            self._answer(view, request, lambda _: next(results), batch)
            yield

    def _answer(
        self,
        view: View,
        request: str,
        decide: Callable[[View], Any],
        method: Callable[..., Any] | None = None,
    ) -> None:
        """Makes the move that `decide` chooses; complaints name `method`, if it is another."""
        move = self._lot.moves.add()
        move.decision = view._decision.id
        try:
            answer = decide(view)
            if request == "play_request":
                move.cards.cards.append(card_number(answer))
            else:
                move.cards.cards.extend(bid_numbers(answer))
        except AnswerError as bad:
            move.error = self._author.complaint(bad, method or decide, view)
        except Exception as error:
            self._trouble(traceback.format_exc())
            move.error = self._author.explanation(error, view)
        bot: Bot = view.bot
        if bot._note is not None:
            move.note, bot._note = bot._note, None

    # News.

    def _match_started(self, message: pb.MatchStarted) -> None:
        try:
            info = news.match_info(message)
            bot = self._bots[message.match] = self._class.sit_down(info)
        except Exception as error:
            self._trouble(traceback.format_exc())
            self._unseated[message.match] = self._author.explanation(error)
            return
        self._call(bot.match_started, info)
        if "deal_finished" in self._handlers:
            for deal in message.resumed.deals:
                self._deal_finished(deal)

    def _deal_finished(self, message: pb.DealFinished) -> None:
        if bot := self._bots.get(message.match):
            self._call(bot.deal_finished, news.finished_deal(message))

    def _fault(self, message: pb.FaultNotice) -> None:
        if bot := self._bots.get(message.match):
            self._call(bot.fault, news.fault_notice(message))

    def _match_finished(self, message: pb.MatchFinished) -> None:
        self._unseated.pop(message.match, None)
        if bot := self._bots.pop(message.match, None):
            self._call(bot.match_finished, news.match_end(message))

    def _call(self, hook: Callable[[Any], None], what: object) -> None:
        """A hook that raises is the author's own loss: nothing was asked, nothing is charged."""
        try:
            hook(what)
        except Exception:
            self._trouble(traceback.format_exc())


def _all_of(
    batch: Callable[[Sequence[View]], Sequence[Any]], views: Sequence[View]
) -> Sequence[Any]:
    results = list(batch(views))
    if len(results) != len(views):
        raise AnswerError(f"{len(results)} answers to {len(views)} views")
    return results

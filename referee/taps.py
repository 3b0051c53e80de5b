"""Taps through which the referee behaves as it rarely does, but may (docs/protocol.md)."""

from __future__ import annotations

from itertools import cycle

import trio

from knavery.v1 import game_pb2 as game
from knavery.v1 import referee_pb2 as pb
from referee.endings import GOODBYE_GRACE
from referee.rehearsal import EXIT_PATIENCE, Tap
from referee.server import CLOSED, HungUp

PAUSE = 1.0
"""Seconds that the slow referee takes for its welcome, and once later on."""
SIZES = (1, 2, 5, 1, 3, 13, 1, 34)
"""Decisions in the batches of the referee that groups them oddly, in turn."""
MIDDLE = 5
"""Answers after which a match is said to be in the middle."""
REASON = "this is a rehearsal of being turned away; nothing is wrong"

UNKNOWN = b"\x82\x7d\x05later"
"""Field 2000, a text, as a newer protocol might have in any message."""


class Greeting(Tap):
    """Ends the generation as soon as the bot has said hello."""

    async def hello(self) -> pb.Hello:
        hello = await super().hello()
        self.stage.scope.cancel()
        return hello


class Rejecting(Tap):
    """Turns the bot away, and waits for it to exit."""

    async def welcome(self, welcome: pb.Welcome) -> None:  # noqa: ARG002
        await self.post.reject(REASON)
        await self.see_out(EXIT_PATIENCE)
        raise HungUp(CLOSED)


class Parting(Tap):
    """Waits for the bot to exit after its goodbye."""

    async def part(self) -> None:
        await self.see_out(GOODBYE_GRACE)


class HangingUp(Tap):
    """Hangs up with decisions open, as when the referee dies, and waits for the bot to exit."""

    async def deliver(self, message: pb.FromReferee) -> None:
        await super().deliver(message)
        if len(self.life.answers) >= MIDDLE and self.life.open:
            self.stage.hung_up = True
            await self.post.close()
            await self.see_out(EXIT_PATIENCE)
            raise HungUp(CLOSED)


class Killing(Tap):
    """Kills the bot's first process in the middle of its matches."""

    async def deliver(self, message: pb.FromReferee) -> None:
        await super().deliver(message)
        first = self.stage.lives[0] is self.life
        if first and self.life.process and len(self.life.answers) >= MIDDLE:
            await self.life.process.stop()


class Slow(Tap):
    """Takes its time for the welcome, and once to take an answer."""

    async def welcome(self, welcome: pb.Welcome) -> None:
        await trio.sleep(PAUSE)
        await super().welcome(welcome)

    async def receive(self) -> tuple[float, pb.Moves]:
        at, moves = await super().receive()
        if len(self.life.answers) >= MIDDLE and not self._rested:
            self._rested = True
            await trio.sleep(PAUSE)
        return at, moves

    _rested = False


class Regrouping(Tap):
    """Makes batches of odd sizes, sends events apart from decisions, or mixes them."""

    async def welcome(self, welcome: pb.Welcome) -> None:
        self._most = self.stage.player.max_batch
        self._sizes = cycle(SIZES)
        self._apart = cycle((True, False))
        self._next_size()
        await super().welcome(welcome)

    async def deliver(self, message: pb.FromReferee) -> None:
        events = list(message.envelope.events)
        asks = [event for event in events if event.HasField("decision")]
        self._next_size()
        if not asks or len(asks) == len(events):
            await super().deliver(message)
        elif next(self._apart):
            await super().deliver(_envelope(e for e in events if not e.HasField("decision")))
            await super().deliver(_envelope(asks))
        else:
            await super().deliver(_envelope(mixed(events)))

    def _next_size(self) -> None:
        self.stage.player.max_batch = min(next(self._sizes), self._most)


def mixed(events: list[pb.Event]) -> list[pb.Event]:
    """The events match by match, each match's in order, those of the last decision first."""
    matches: dict[str, list[pb.Event]] = {}
    for event in events:
        matches.setdefault(_match(event), []).append(event)
    return [event for match in reversed(matches.values()) for event in match]


def _match(event: pb.Event) -> str:
    return getattr(getattr(event, event.WhichOneof("event") or ""), "match", "")


def _envelope(events: object) -> pb.FromReferee:
    return pb.FromReferee(envelope=pb.Envelope(events=events))  # type: ignore[arg-type]


class Newer(Tap):
    """Speaks a newer protocol: fields, events and a request that this version does not have."""

    asked = 0
    """The decision with the unknown request, once it was sent."""
    answer: pb.Move | None = None

    async def welcome(self, welcome: pb.Welcome) -> None:
        self._room = welcome.max_batch
        welcome.MergeFromString(UNKNOWN)
        await super().welcome(welcome)

    async def deliver(self, message: pb.FromReferee) -> None:
        asks = [e.decision for e in message.envelope.events if e.HasField("decision")]
        for event in message.envelope.events:
            event.MergeFromString(UNKNOWN)
            getattr(event, event.WhichOneof("event") or "").MergeFromString(UNKNOWN)
        for decision in asks:
            decision.rules.MergeFromString(UNKNOWN)
        message.envelope.events.add().MergeFromString(UNKNOWN)
        if asks and not self.asked and len(asks) < self._room:
            message.envelope.events.add(decision=self._unknown_request(asks[0]))
        message.envelope.MergeFromString(UNKNOWN)
        message.MergeFromString(UNKNOWN)
        await super().deliver(message)

    def _unknown_request(self, like: game.Decision) -> game.Decision:
        asked = game.Decision()
        asked.CopyFrom(like)
        asked.ClearField("bid_request")
        asked.ClearField("play_request")
        self.asked = asked.id = 2**31 - 1
        return asked

    async def receive(self) -> tuple[float, pb.Moves]:
        at, moves = await super().receive()
        self.answer = self.life.answers.get(self.asked)
        known = [move for move in moves.moves if move.decision != self.asked]
        return at, pb.Moves(moves=known) if known else moves

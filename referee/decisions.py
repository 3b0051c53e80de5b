"""The bytes of decisions, put together by hand: sending views is most of what a referee does.

A `Decision` message is what a seat's decisions have in common while it bids or while it plays out a
deal, encoded once by protobuf, and behind it the fields that change, encoded here. Protobuf allows
that: the fields of a message may come in any order. `tests/referee/test_wire.py` compares the two
ways, byte for byte of what they mean, in every variant.
"""

from collections.abc import Callable, Iterable
from functools import lru_cache

from google.protobuf.message import Message

from knavery.v1 import game_pb2 as game
from knavery.v1 import referee_pb2 as pb
from referee.games.view import Phase
from referee.match import Ask, Match

_VARINT, _BYTES = 0, 2
_PLAY = Phase.PLAY


def varint(number: int) -> bytes:
    """A number (0 or more) as protobuf writes it."""
    if number < len(_SHORT):
        return _SHORT[number]
    return bytes((number & 127 | 128,)) + varint(number >> 7)


_SHORT = [bytes((number,)) for number in range(128)]
_SHORT += [bytes((number & 127 | 128, number >> 7)) for number in range(128, 1 << 14)]


def tag(message: type[Message], name: str, kind: int = _BYTES) -> bytes:
    """What stands before a field: its number and how it is encoded."""
    return varint(message.DESCRIPTOR.fields_by_name[name].number << 3 | kind)


def _heads(name: str) -> list[bytes]:
    """What stands before so many cards or seats in a field of a decision."""
    return [tag(game.Decision, name) + _SHORT[length] for length in range(_MOST + 1)]


def _request_heads() -> list[bytes]:
    """The same before so many legal cards in a request to play."""
    request, legal = tag(game.Decision, "play_request"), tag(game.PlayRequest, "legal")
    inner = [legal + _SHORT[length] for length in range(_MOST + 1)]
    return [request + _SHORT[len(head) + length] + head for length, head in enumerate(inner)]


_MOST = 52
"""Cards there are, and so the most that a field holds."""
_ENVELOPE = tag(pb.FromReferee, "envelope")
_EVENTS = tag(pb.Envelope, "events")
_DECISION = tag(pb.Event, "decision")
_ID = tag(game.Decision, "id", _VARINT)
_BANK = tag(game.Decision, "bank_ms", _VARINT)
_HAND = _heads("hand")
_WON = _heads("tricks_won")
_PLAYED = _heads("played")
_LEADERS = _heads("leaders")
_TRICK = _heads("trick")
_LEGAL = _request_heads()


def decisions(asks: Iterable[Ask], lasting: Callable[[Match, int], bytes]) -> list[bytes]:
    """Elements of an envelope with these decisions, in pieces; `lasting` encodes what a seat's
    decisions have in common. One long loop: calls would cost a third more."""
    pieces: list[bytes] = []
    for ask in asks:
        match, seat = ask.match, ask.seat
        deal = match.deal
        phase = deal.phase
        kept_deal, kept_phase, kept = match.memo[seat]
        if kept_deal is not deal or kept_phase is not phase:
            kept = lasting(match, seat)
            match.memo[seat] = deal, phase, kept
        hand, won = deal.hand(seat), deal.tricks_won
        fields: tuple[bytes | bytearray, ...]
        fields = kept, _ID, varint(ask.id), _bank(match.banks[seat]), _HAND[len(hand)], hand
        fields += _WON[len(won)], won
        if phase is _PLAY:
            legal, trick = deal.choices(seat), deal.trick
            played, leaders = deal.played, deal.leaders
            fields += _PLAYED[len(played)], played, _LEADERS[len(leaders)], leaders
            fields += _TRICK[len(trick)], trick, _LEGAL[len(legal)], legal
        body = b"".join(fields)
        size = varint(len(body))
        pieces += _EVENTS, varint(len(body) + len(size) + len(_DECISION)), _DECISION, size, body
    return pieces


@lru_cache(maxsize=4096)
def _bank(seconds: float) -> bytes:
    """The field that tells what is left of a bank; most are untouched, and so alike."""
    return _BANK + varint(milliseconds(seconds))


def milliseconds(seconds: float) -> int:
    """Whole milliseconds, rounded down: a bot is never told more than it has."""
    return max(0, int(seconds * 1000))


def sized(body: bytes) -> bytes:
    """Bytes with their length before them."""
    return varint(len(body)) + body


def event(body: bytes) -> bytes:
    """An encoded `Event` as an element of an envelope."""
    return _EVENTS + sized(body)


def envelope(events: bytes) -> bytes:
    """The message that holds an envelope of these elements."""
    return _ENVELOPE + sized(events)

"""The bytes of a decision, put together by hand: sending views is most of what a referee does.

A `Decision` message is what a seat's decisions have in common while it bids or while it plays out a
deal, encoded once by protobuf, and behind it the fields that change, encoded here. Protobuf allows
that: the fields of a message may come in any order. `tests/referee/test_wire.py` compares the two
ways, byte for byte of what they mean, in every variant.
"""

from google.protobuf.message import Message

from knavery.v1 import game_pb2 as game
from knavery.v1 import referee_pb2 as pb
from referee.games.view import Phase
from referee.match import Ask

_VARINT, _BYTES = 0, 2


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


_ENVELOPE = tag(pb.FromReferee, "envelope")
_EVENTS = tag(pb.Envelope, "events")
_DECISION = tag(pb.Event, "decision")
_ID = tag(game.Decision, "id", _VARINT)
_HAND = tag(game.Decision, "hand")
_PLAYED = tag(game.Decision, "played")
_LEADERS = tag(game.Decision, "leaders")
_TRICK = tag(game.Decision, "trick")
_WON = tag(game.Decision, "tricks_won")
_BANK = tag(game.Decision, "bank_ms", _VARINT)
_PLAY = tag(game.Decision, "play_request")
_LEGAL = tag(game.PlayRequest, "legal")


def decision(ask: Ask, lasting: bytes, bank_ms: int) -> bytes:
    """An `Event` of an envelope with this decision; `lasting` is its part that lasts, encoded."""
    deal = ask.match.deal
    hand, legal, played, leaders, trick, won = deal.turn(ask.seat)
    parts = [
        lasting,
        _ID,
        varint(ask.id),
        _BANK,
        varint(bank_ms),
        _HAND,
        _SHORT[len(hand)],
        bytes(hand),
        _WON,
        _SHORT[len(won)],
        bytes(won),
    ]
    if deal.phase is Phase.PLAY:
        parts += (
            _PLAYED,
            _SHORT[len(played)],
            bytes(played),
            _LEADERS,
            _SHORT[len(leaders)],
            bytes(leaders),
            _TRICK,
            _SHORT[len(trick)],
            bytes(trick),
            _PLAY,
            _SHORT[len(_LEGAL) + 1 + len(legal)],
            _LEGAL,
            _SHORT[len(legal)],
            bytes(legal),
        )
    return event(_DECISION + sized(b"".join(parts)))


def sized(body: bytes) -> bytes:
    """Bytes with their length before them."""
    return varint(len(body)) + body


def event(body: bytes) -> bytes:
    """An encoded `Event` as an element of an envelope."""
    return _EVENTS + sized(body)


def envelope(events: bytes) -> bytes:
    """The message that holds an envelope of these elements."""
    return _ENVELOPE + sized(events)

from knavery.v1 import game_pb2 as _game_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ClockMeasure(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CLOCK_MEASURE_UNSPECIFIED: _ClassVar[ClockMeasure]
    CLOCK_MEASURE_WALL: _ClassVar[ClockMeasure]
    CLOCK_MEASURE_CPU: _ClassVar[ClockMeasure]

class FaultKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FAULT_KIND_UNSPECIFIED: _ClassVar[FaultKind]
    FAULT_KIND_ILLEGAL: _ClassVar[FaultKind]
    FAULT_KIND_MALFORMED: _ClassVar[FaultKind]
    FAULT_KIND_EXCEPTION: _ClassVar[FaultKind]
    FAULT_KIND_LATE: _ClassVar[FaultKind]
    FAULT_KIND_CRASHED: _ClassVar[FaultKind]
    FAULT_KIND_ABSENT: _ClassVar[FaultKind]
CLOCK_MEASURE_UNSPECIFIED: ClockMeasure
CLOCK_MEASURE_WALL: ClockMeasure
CLOCK_MEASURE_CPU: ClockMeasure
FAULT_KIND_UNSPECIFIED: FaultKind
FAULT_KIND_ILLEGAL: FaultKind
FAULT_KIND_MALFORMED: FaultKind
FAULT_KIND_EXCEPTION: FaultKind
FAULT_KIND_LATE: FaultKind
FAULT_KIND_CRASHED: FaultKind
FAULT_KIND_ABSENT: FaultKind

class FromBot(_message.Message):
    __slots__ = ("hello", "moves")
    HELLO_FIELD_NUMBER: _ClassVar[int]
    MOVES_FIELD_NUMBER: _ClassVar[int]
    hello: Hello
    moves: Moves
    def __init__(self, hello: _Optional[_Union[Hello, _Mapping]] = ..., moves: _Optional[_Union[Moves, _Mapping]] = ...) -> None: ...

class FromReferee(_message.Message):
    __slots__ = ("welcome", "rejected", "envelope")
    WELCOME_FIELD_NUMBER: _ClassVar[int]
    REJECTED_FIELD_NUMBER: _ClassVar[int]
    ENVELOPE_FIELD_NUMBER: _ClassVar[int]
    welcome: Welcome
    rejected: Rejected
    envelope: Envelope
    def __init__(self, welcome: _Optional[_Union[Welcome, _Mapping]] = ..., rejected: _Optional[_Union[Rejected, _Mapping]] = ..., envelope: _Optional[_Union[Envelope, _Mapping]] = ...) -> None: ...

class Hello(_message.Message):
    __slots__ = ("token", "protocol", "sdk", "language", "games", "max_tables", "max_batch")
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    PROTOCOL_FIELD_NUMBER: _ClassVar[int]
    SDK_FIELD_NUMBER: _ClassVar[int]
    LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    GAMES_FIELD_NUMBER: _ClassVar[int]
    MAX_TABLES_FIELD_NUMBER: _ClassVar[int]
    MAX_BATCH_FIELD_NUMBER: _ClassVar[int]
    token: str
    protocol: int
    sdk: str
    language: str
    games: _containers.RepeatedScalarFieldContainer[str]
    max_tables: int
    max_batch: int
    def __init__(self, token: _Optional[str] = ..., protocol: _Optional[int] = ..., sdk: _Optional[str] = ..., language: _Optional[str] = ..., games: _Optional[_Iterable[str]] = ..., max_tables: _Optional[int] = ..., max_batch: _Optional[int] = ...) -> None: ...

class Welcome(_message.Message):
    __slots__ = ("protocol", "max_tables", "max_batch", "max_message_bytes", "measure", "startup_ms")
    PROTOCOL_FIELD_NUMBER: _ClassVar[int]
    MAX_TABLES_FIELD_NUMBER: _ClassVar[int]
    MAX_BATCH_FIELD_NUMBER: _ClassVar[int]
    MAX_MESSAGE_BYTES_FIELD_NUMBER: _ClassVar[int]
    MEASURE_FIELD_NUMBER: _ClassVar[int]
    STARTUP_MS_FIELD_NUMBER: _ClassVar[int]
    protocol: int
    max_tables: int
    max_batch: int
    max_message_bytes: int
    measure: ClockMeasure
    startup_ms: int
    def __init__(self, protocol: _Optional[int] = ..., max_tables: _Optional[int] = ..., max_batch: _Optional[int] = ..., max_message_bytes: _Optional[int] = ..., measure: _Optional[_Union[ClockMeasure, str]] = ..., startup_ms: _Optional[int] = ...) -> None: ...

class Rejected(_message.Message):
    __slots__ = ("reason",)
    REASON_FIELD_NUMBER: _ClassVar[int]
    reason: str
    def __init__(self, reason: _Optional[str] = ...) -> None: ...

class Envelope(_message.Message):
    __slots__ = ("events",)
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    events: _containers.RepeatedCompositeFieldContainer[Event]
    def __init__(self, events: _Optional[_Iterable[_Union[Event, _Mapping]]] = ...) -> None: ...

class Event(_message.Message):
    __slots__ = ("match_started", "decision", "deal_finished", "fault", "withdrawn", "match_finished", "goodbye")
    MATCH_STARTED_FIELD_NUMBER: _ClassVar[int]
    DECISION_FIELD_NUMBER: _ClassVar[int]
    DEAL_FINISHED_FIELD_NUMBER: _ClassVar[int]
    FAULT_FIELD_NUMBER: _ClassVar[int]
    WITHDRAWN_FIELD_NUMBER: _ClassVar[int]
    MATCH_FINISHED_FIELD_NUMBER: _ClassVar[int]
    GOODBYE_FIELD_NUMBER: _ClassVar[int]
    match_started: MatchStarted
    decision: _game_pb2.Decision
    deal_finished: DealFinished
    fault: FaultNotice
    withdrawn: Withdrawn
    match_finished: MatchFinished
    goodbye: Goodbye
    def __init__(self, match_started: _Optional[_Union[MatchStarted, _Mapping]] = ..., decision: _Optional[_Union[_game_pb2.Decision, _Mapping]] = ..., deal_finished: _Optional[_Union[DealFinished, _Mapping]] = ..., fault: _Optional[_Union[FaultNotice, _Mapping]] = ..., withdrawn: _Optional[_Union[Withdrawn, _Mapping]] = ..., match_finished: _Optional[_Union[MatchFinished, _Mapping]] = ..., goodbye: _Optional[_Union[Goodbye, _Mapping]] = ...) -> None: ...

class MatchStarted(_message.Message):
    __slots__ = ("match", "rules", "seat", "limit_ms", "bank_ms", "increment_ms", "seed", "resumed", "fault_limit", "measure")
    MATCH_FIELD_NUMBER: _ClassVar[int]
    RULES_FIELD_NUMBER: _ClassVar[int]
    SEAT_FIELD_NUMBER: _ClassVar[int]
    LIMIT_MS_FIELD_NUMBER: _ClassVar[int]
    BANK_MS_FIELD_NUMBER: _ClassVar[int]
    INCREMENT_MS_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    RESUMED_FIELD_NUMBER: _ClassVar[int]
    FAULT_LIMIT_FIELD_NUMBER: _ClassVar[int]
    MEASURE_FIELD_NUMBER: _ClassVar[int]
    match: str
    rules: _game_pb2.Rules
    seat: int
    limit_ms: int
    bank_ms: int
    increment_ms: int
    seed: int
    resumed: Resumed
    fault_limit: int
    measure: ClockMeasure
    def __init__(self, match: _Optional[str] = ..., rules: _Optional[_Union[_game_pb2.Rules, _Mapping]] = ..., seat: _Optional[int] = ..., limit_ms: _Optional[int] = ..., bank_ms: _Optional[int] = ..., increment_ms: _Optional[int] = ..., seed: _Optional[int] = ..., resumed: _Optional[_Union[Resumed, _Mapping]] = ..., fault_limit: _Optional[int] = ..., measure: _Optional[_Union[ClockMeasure, str]] = ...) -> None: ...

class Resumed(_message.Message):
    __slots__ = ("deals", "faults")
    DEALS_FIELD_NUMBER: _ClassVar[int]
    FAULTS_FIELD_NUMBER: _ClassVar[int]
    deals: _containers.RepeatedCompositeFieldContainer[DealFinished]
    faults: int
    def __init__(self, deals: _Optional[_Iterable[_Union[DealFinished, _Mapping]]] = ..., faults: _Optional[int] = ...) -> None: ...

class DealFinished(_message.Message):
    __slots__ = ("match", "deal", "dealer", "hands", "undealt", "bids", "trump", "played", "leaders", "tricks_won", "scores", "totals")
    MATCH_FIELD_NUMBER: _ClassVar[int]
    DEAL_FIELD_NUMBER: _ClassVar[int]
    DEALER_FIELD_NUMBER: _ClassVar[int]
    HANDS_FIELD_NUMBER: _ClassVar[int]
    UNDEALT_FIELD_NUMBER: _ClassVar[int]
    BIDS_FIELD_NUMBER: _ClassVar[int]
    TRUMP_FIELD_NUMBER: _ClassVar[int]
    PLAYED_FIELD_NUMBER: _ClassVar[int]
    LEADERS_FIELD_NUMBER: _ClassVar[int]
    TRICKS_WON_FIELD_NUMBER: _ClassVar[int]
    SCORES_FIELD_NUMBER: _ClassVar[int]
    TOTALS_FIELD_NUMBER: _ClassVar[int]
    match: str
    deal: int
    dealer: int
    hands: _containers.RepeatedCompositeFieldContainer[_game_pb2.Cards]
    undealt: _containers.RepeatedScalarFieldContainer[int]
    bids: _containers.RepeatedCompositeFieldContainer[_game_pb2.Cards]
    trump: _game_pb2.Trump
    played: _containers.RepeatedScalarFieldContainer[int]
    leaders: _containers.RepeatedScalarFieldContainer[int]
    tricks_won: _containers.RepeatedScalarFieldContainer[int]
    scores: _containers.RepeatedScalarFieldContainer[int]
    totals: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, match: _Optional[str] = ..., deal: _Optional[int] = ..., dealer: _Optional[int] = ..., hands: _Optional[_Iterable[_Union[_game_pb2.Cards, _Mapping]]] = ..., undealt: _Optional[_Iterable[int]] = ..., bids: _Optional[_Iterable[_Union[_game_pb2.Cards, _Mapping]]] = ..., trump: _Optional[_Union[_game_pb2.Trump, str]] = ..., played: _Optional[_Iterable[int]] = ..., leaders: _Optional[_Iterable[int]] = ..., tricks_won: _Optional[_Iterable[int]] = ..., scores: _Optional[_Iterable[int]] = ..., totals: _Optional[_Iterable[int]] = ...) -> None: ...

class FaultNotice(_message.Message):
    __slots__ = ("match", "decision", "kind", "cause", "played", "faults", "forfeit")
    MATCH_FIELD_NUMBER: _ClassVar[int]
    DECISION_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    CAUSE_FIELD_NUMBER: _ClassVar[int]
    PLAYED_FIELD_NUMBER: _ClassVar[int]
    FAULTS_FIELD_NUMBER: _ClassVar[int]
    FORFEIT_FIELD_NUMBER: _ClassVar[int]
    match: str
    decision: int
    kind: FaultKind
    cause: str
    played: _containers.RepeatedScalarFieldContainer[int]
    faults: int
    forfeit: bool
    def __init__(self, match: _Optional[str] = ..., decision: _Optional[int] = ..., kind: _Optional[_Union[FaultKind, str]] = ..., cause: _Optional[str] = ..., played: _Optional[_Iterable[int]] = ..., faults: _Optional[int] = ..., forfeit: _Optional[bool] = ...) -> None: ...

class Withdrawn(_message.Message):
    __slots__ = ("decision",)
    DECISION_FIELD_NUMBER: _ClassVar[int]
    decision: int
    def __init__(self, decision: _Optional[int] = ...) -> None: ...

class MatchFinished(_message.Message):
    __slots__ = ("match", "totals", "places", "forfeits")
    MATCH_FIELD_NUMBER: _ClassVar[int]
    TOTALS_FIELD_NUMBER: _ClassVar[int]
    PLACES_FIELD_NUMBER: _ClassVar[int]
    FORFEITS_FIELD_NUMBER: _ClassVar[int]
    match: str
    totals: _containers.RepeatedScalarFieldContainer[int]
    places: _containers.RepeatedScalarFieldContainer[int]
    forfeits: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, match: _Optional[str] = ..., totals: _Optional[_Iterable[int]] = ..., places: _Optional[_Iterable[int]] = ..., forfeits: _Optional[_Iterable[int]] = ...) -> None: ...

class Goodbye(_message.Message):
    __slots__ = ("reason",)
    REASON_FIELD_NUMBER: _ClassVar[int]
    reason: str
    def __init__(self, reason: _Optional[str] = ...) -> None: ...

class Moves(_message.Message):
    __slots__ = ("moves",)
    MOVES_FIELD_NUMBER: _ClassVar[int]
    moves: _containers.RepeatedCompositeFieldContainer[Move]
    def __init__(self, moves: _Optional[_Iterable[_Union[Move, _Mapping]]] = ...) -> None: ...

class Move(_message.Message):
    __slots__ = ("decision", "cards", "error", "note")
    DECISION_FIELD_NUMBER: _ClassVar[int]
    CARDS_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    decision: int
    cards: _game_pb2.Cards
    error: str
    note: str
    def __init__(self, decision: _Optional[int] = ..., cards: _Optional[_Union[_game_pb2.Cards, _Mapping]] = ..., error: _Optional[str] = ..., note: _Optional[str] = ...) -> None: ...

from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Trump(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TRUMP_UNSPECIFIED: _ClassVar[Trump]
    TRUMP_UNKNOWN: _ClassVar[Trump]
    TRUMP_NONE: _ClassVar[Trump]
    TRUMP_CLUBS: _ClassVar[Trump]
    TRUMP_DIAMONDS: _ClassVar[Trump]
    TRUMP_HEARTS: _ClassVar[Trump]
    TRUMP_SPADES: _ClassVar[Trump]
TRUMP_UNSPECIFIED: Trump
TRUMP_UNKNOWN: Trump
TRUMP_NONE: Trump
TRUMP_CLUBS: Trump
TRUMP_DIAMONDS: Trump
TRUMP_HEARTS: Trump
TRUMP_SPADES: Trump

class Cards(_message.Message):
    __slots__ = ("cards",)
    CARDS_FIELD_NUMBER: _ClassVar[int]
    cards: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, cards: _Optional[_Iterable[int]] = ...) -> None: ...

class Rules(_message.Message):
    __slots__ = ("variant", "players", "ranks", "max_deals", "target", "teams", "knave", "ninety_nine")
    VARIANT_FIELD_NUMBER: _ClassVar[int]
    PLAYERS_FIELD_NUMBER: _ClassVar[int]
    RANKS_FIELD_NUMBER: _ClassVar[int]
    MAX_DEALS_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    TEAMS_FIELD_NUMBER: _ClassVar[int]
    KNAVE_FIELD_NUMBER: _ClassVar[int]
    NINETY_NINE_FIELD_NUMBER: _ClassVar[int]
    variant: str
    players: int
    ranks: _containers.RepeatedScalarFieldContainer[int]
    max_deals: int
    target: int
    teams: bool
    knave: KnaveRules
    ninety_nine: NinetyNineRules
    def __init__(self, variant: _Optional[str] = ..., players: _Optional[int] = ..., ranks: _Optional[_Iterable[int]] = ..., max_deals: _Optional[int] = ..., target: _Optional[int] = ..., teams: _Optional[bool] = ..., knave: _Optional[_Union[KnaveRules, _Mapping]] = ..., ninety_nine: _Optional[_Union[NinetyNineRules, _Mapping]] = ...) -> None: ...

class KnaveRules(_message.Message):
    __slots__ = ("trick_value", "jacks", "queens")
    TRICK_VALUE_FIELD_NUMBER: _ClassVar[int]
    JACKS_FIELD_NUMBER: _ClassVar[int]
    QUEENS_FIELD_NUMBER: _ClassVar[int]
    trick_value: int
    jacks: _containers.RepeatedScalarFieldContainer[int]
    queens: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, trick_value: _Optional[int] = ..., jacks: _Optional[_Iterable[int]] = ..., queens: _Optional[_Iterable[int]] = ...) -> None: ...

class NinetyNineRules(_message.Message):
    __slots__ = ("bid_values", "bid_cards", "success_bonus", "zero_bonus", "open_bids")
    BID_VALUES_FIELD_NUMBER: _ClassVar[int]
    BID_CARDS_FIELD_NUMBER: _ClassVar[int]
    SUCCESS_BONUS_FIELD_NUMBER: _ClassVar[int]
    ZERO_BONUS_FIELD_NUMBER: _ClassVar[int]
    OPEN_BIDS_FIELD_NUMBER: _ClassVar[int]
    bid_values: _containers.RepeatedScalarFieldContainer[int]
    bid_cards: int
    success_bonus: int
    zero_bonus: int
    open_bids: bool
    def __init__(self, bid_values: _Optional[_Iterable[int]] = ..., bid_cards: _Optional[int] = ..., success_bonus: _Optional[int] = ..., zero_bonus: _Optional[int] = ..., open_bids: _Optional[bool] = ...) -> None: ...

class BidRequest(_message.Message):
    __slots__ = ("choose",)
    CHOOSE_FIELD_NUMBER: _ClassVar[int]
    choose: int
    def __init__(self, choose: _Optional[int] = ...) -> None: ...

class PlayRequest(_message.Message):
    __slots__ = ("legal",)
    LEGAL_FIELD_NUMBER: _ClassVar[int]
    legal: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, legal: _Optional[_Iterable[int]] = ...) -> None: ...

class RevealedBid(_message.Message):
    __slots__ = ("seat", "cards")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    CARDS_FIELD_NUMBER: _ClassVar[int]
    seat: int
    cards: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, seat: _Optional[int] = ..., cards: _Optional[_Iterable[int]] = ...) -> None: ...

class Decision(_message.Message):
    __slots__ = ("id", "match", "deal", "deals_left", "rules", "seat", "dealer", "hand", "played", "leaders", "trick", "tricks_won", "trump", "last_dealt", "bid", "bids", "scores", "limit_ms", "bank_ms", "increment_ms", "startup_ms", "bid_request", "play_request")
    ID_FIELD_NUMBER: _ClassVar[int]
    MATCH_FIELD_NUMBER: _ClassVar[int]
    DEAL_FIELD_NUMBER: _ClassVar[int]
    DEALS_LEFT_FIELD_NUMBER: _ClassVar[int]
    RULES_FIELD_NUMBER: _ClassVar[int]
    SEAT_FIELD_NUMBER: _ClassVar[int]
    DEALER_FIELD_NUMBER: _ClassVar[int]
    HAND_FIELD_NUMBER: _ClassVar[int]
    PLAYED_FIELD_NUMBER: _ClassVar[int]
    LEADERS_FIELD_NUMBER: _ClassVar[int]
    TRICK_FIELD_NUMBER: _ClassVar[int]
    TRICKS_WON_FIELD_NUMBER: _ClassVar[int]
    TRUMP_FIELD_NUMBER: _ClassVar[int]
    LAST_DEALT_FIELD_NUMBER: _ClassVar[int]
    BID_FIELD_NUMBER: _ClassVar[int]
    BIDS_FIELD_NUMBER: _ClassVar[int]
    SCORES_FIELD_NUMBER: _ClassVar[int]
    LIMIT_MS_FIELD_NUMBER: _ClassVar[int]
    BANK_MS_FIELD_NUMBER: _ClassVar[int]
    INCREMENT_MS_FIELD_NUMBER: _ClassVar[int]
    STARTUP_MS_FIELD_NUMBER: _ClassVar[int]
    BID_REQUEST_FIELD_NUMBER: _ClassVar[int]
    PLAY_REQUEST_FIELD_NUMBER: _ClassVar[int]
    id: int
    match: str
    deal: int
    deals_left: int
    rules: Rules
    seat: int
    dealer: int
    hand: _containers.RepeatedScalarFieldContainer[int]
    played: _containers.RepeatedScalarFieldContainer[int]
    leaders: _containers.RepeatedScalarFieldContainer[int]
    trick: _containers.RepeatedScalarFieldContainer[int]
    tricks_won: _containers.RepeatedScalarFieldContainer[int]
    trump: Trump
    last_dealt: int
    bid: Cards
    bids: _containers.RepeatedCompositeFieldContainer[RevealedBid]
    scores: _containers.RepeatedScalarFieldContainer[int]
    limit_ms: int
    bank_ms: int
    increment_ms: int
    startup_ms: int
    bid_request: BidRequest
    play_request: PlayRequest
    def __init__(self, id: _Optional[int] = ..., match: _Optional[str] = ..., deal: _Optional[int] = ..., deals_left: _Optional[int] = ..., rules: _Optional[_Union[Rules, _Mapping]] = ..., seat: _Optional[int] = ..., dealer: _Optional[int] = ..., hand: _Optional[_Iterable[int]] = ..., played: _Optional[_Iterable[int]] = ..., leaders: _Optional[_Iterable[int]] = ..., trick: _Optional[_Iterable[int]] = ..., tricks_won: _Optional[_Iterable[int]] = ..., trump: _Optional[_Union[Trump, str]] = ..., last_dealt: _Optional[int] = ..., bid: _Optional[_Union[Cards, _Mapping]] = ..., bids: _Optional[_Iterable[_Union[RevealedBid, _Mapping]]] = ..., scores: _Optional[_Iterable[int]] = ..., limit_ms: _Optional[int] = ..., bank_ms: _Optional[int] = ..., increment_ms: _Optional[int] = ..., startup_ms: _Optional[int] = ..., bid_request: _Optional[_Union[BidRequest, _Mapping]] = ..., play_request: _Optional[_Union[PlayRequest, _Mapping]] = ...) -> None: ...

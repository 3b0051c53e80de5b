"""What a seat may know when it decides, in the words of the rules. Design, sections 3 and 9.

A `View` wraps the protocol's `Decision` and works each attribute out when it is first read, so
that a bot pays only for what it looks at.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, NoReturn

from knavery.card import CARDS, Card, Suit, text
from knavery.lazy import lazy
from knavery.v1 import game_pb2 as pb
from referee.games import cards as numbers
from referee.games.tricks import NO_TRUMP, POWERS, winner_index
from referee.wire_rules import rules_from

Seat = int

_CARD = CARDS.__getitem__
_SUITS: dict[int, Suit] = {
    pb.TRUMP_CLUBS: Suit.CLUBS,
    pb.TRUMP_DIAMONDS: Suit.DIAMONDS,
    pb.TRUMP_HEARTS: Suit.HEARTS,
    pb.TRUMP_SPADES: Suit.SPADES,
}


class Trick(NamedTuple):
    """A finished trick; `cards` in the order played, the leader's first."""

    leader: Seat
    cards: tuple[Card, ...]
    winner: Seat


def to_cards(numbers_: Iterable[int]) -> tuple[Card, ...]:
    """Card numbers as cards, in the order given."""
    return tuple(map(_CARD, numbers_))


def to_suit(trump: int) -> Suit | None:
    """The protocol's `Trump` as a suit; None for no trump and for an unknown one."""
    return _SUITS.get(trump)


def finished_tricks(
    played: Sequence[Card], leaders: Sequence[Seat], winners: Iterable[Seat], players: int
) -> tuple[Trick, ...]:
    """The tricks that have a winner, from the cards in the order played."""
    return tuple(
        Trick(leader, tuple(played[number * players : (number + 1) * players]), winner)
        for number, (leader, winner) in enumerate(zip(leaders, winners, strict=False))
    )


def last_winner(
    played: Sequence[Card], leaders: Sequence[Seat], trump: Suit | None, players: int
) -> Seat:
    """Who took the last trick of a finished deal, which nobody's lead tells."""
    return (leaders[-1] + winner_index(played[-players:], trump)) % players


class View:
    """One decision as its seat sees it. Does not change; holds all that the seat may know.

    Seats, deals and tricks count from 0; a tuple "by seat" has an item for each seat.
    """

    bot: Any
    """The `Bot` that is asked; None in a view made by hand."""
    _decision: pb.Decision

    def __init__(self, decision: pb.Decision, bot: Any = None) -> None:
        attributes = self.__dict__
        attributes["_decision"] = decision
        attributes["bot"] = bot

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a view does not change: {name} cannot be set")

    def __repr__(self) -> str:
        return f"<View {self}>"

    def __str__(self) -> str:
        parts = [
            f"{self.game}/{self.variant} deal {self.deal} seat {self.seat} dealer {self.dealer}",
            f"{self.phase} from {text(self.legal)}",
            f"hand {text(self.hand)}",
            f"trick {text(self.trick) or '-'}",
        ]
        if self.rules.bid_cards:
            parts.append(f"bid {text(self.bid or ()) or '-'}")
            parts.append(f"trump {self.trump or ('none' if self.trump_known else 'unknown')}")
        parts.append(f"won {' '.join(map(str, self.tricks_won))}")
        parts.append(f"played {text(self.played) or '-'}")
        return "; ".join(parts)

    # What is asked.

    @lazy
    def phase(self) -> str:
        """What is asked: "bid" or "play"."""
        return "bid" if self._decision.HasField("bid_request") else "play"

    @lazy
    def choose(self) -> int:
        """How many cards are to be named: 1 when playing, 3 when bidding."""
        return self._decision.bid_request.choose if self.phase == "bid" else 1

    @lazy
    def legal(self) -> tuple[Card, ...]:
        """The cards that may be played, ascending; for a bid the whole hand."""
        return tuple([CARDS[card] for card in self._decision.play_request.legal]) or self.hand

    @lazy
    def time_limit(self) -> float:
        """Seconds that this decision may take without touching the bank."""
        return self._decision.limit_ms / 1000

    @lazy
    def bank(self) -> float:
        """Seconds left in the bank of this match."""
        return self._decision.bank_ms / 1000

    @lazy
    def increment(self) -> float:
        """Seconds that the answer gives back to the bank, never above its start."""
        return self._decision.increment_ms / 1000

    @lazy
    def startup(self) -> float:
        """Seconds that a process of this bot has from its start to its hello."""
        return self._decision.startup_ms / 1000

    # The match.

    @lazy
    def match(self) -> str:
        """The match's name, which says nothing."""
        return self._decision.match

    @lazy
    def rules(self) -> Any:
        """All rules in force, a frozen value: `KnaveRules`, with `card_value(card)`, or
        `NinetyNineRules`, with `bid_values` by suit and `bid_of(cards)`."""
        return rules_from(self._decision.rules)

    @lazy
    def game(self) -> str:
        """ "knave" or "ninety-nine"."""
        game: str = self.rules.game
        return game

    @lazy
    def variant(self) -> str:
        """The variant's name: "classic", "double", "revelation+short"."""
        variant: str = self.rules.variant
        return variant

    @lazy
    def players(self) -> int:
        """How many seats there are."""
        players: int = self.rules.players
        return players

    @lazy
    def seat(self) -> Seat:
        """The seat that decides."""
        return self._decision.seat

    @lazy
    def partner(self) -> Seat | None:
        """The partner's seat in a game of teams."""
        return (self.seat + 2) % 4 if self.rules.teams else None

    @lazy
    def deal(self) -> int:
        """Which deal of the match this is."""
        return self._decision.deal

    @lazy
    def deals_left(self) -> int:
        """How many deals can follow this one at the most."""
        return self._decision.deals_left

    @lazy
    def scores(self) -> tuple[int, ...]:
        """Points before this deal, by seat."""
        return tuple(self._decision.scores)

    @lazy
    def dealer(self) -> Seat:
        """The seat that dealt."""
        return self._decision.dealer

    # The cards.

    @lazy
    def hand(self) -> tuple[Card, ...]:
        """The cards in hand, ascending; those of the bid have left it."""
        return tuple([CARDS[card] for card in self._decision.hand])

    @lazy
    def last_dealt(self) -> Card | None:
        """The card that makes trump, for the dealer of Ninety-Nine only."""
        decision = self._decision
        return CARDS[decision.last_dealt] if decision.HasField("last_dealt") else None

    @lazy
    def played(self) -> tuple[Card, ...]:
        """Every card played in this deal, in order."""
        return to_cards(self._decision.played)

    @lazy
    def unseen(self) -> tuple[Card, ...]:
        """The cards not seen so far, ascending: in other hands, bid face down, or undealt."""
        seen = [*self.hand, *self.played]
        for bid in self.bids:
            seen += bid or ()
        return to_cards(numbers.cards_in(numbers.mask(self.rules.pack) & ~numbers.mask(seen)))

    @lazy
    def voids(self) -> tuple[frozenset[Suit], ...]:
        """By seat, the suits that it has shown to be out of, by not following."""
        shown: list[set[Suit]] = [set() for _ in range(self.players)]
        starts = [(each.leader, each.cards) for each in self.tricks]
        for leader, cards in (*starts, (self.leader, self.trick)):
            for place, card in enumerate(cards):
                if card.suit is not cards[0].suit:
                    shown[(leader + place) % self.players].add(cards[0].suit)
        return tuple(map(frozenset, shown))

    # Tricks.

    @lazy
    def trick(self) -> tuple[Card, ...]:
        """The cards of the trick under way, in the order played."""
        return to_cards(self._decision.trick)

    @lazy
    def leader(self) -> Seat:
        """The seat that led, or is to lead, the trick under way; while bidding, the first."""
        leaders = self._decision.leaders
        return leaders[-1] if leaders else (self.dealer + 1) % self.players

    @lazy
    def led_suit(self) -> Suit | None:
        """The suit to follow; None for the leader."""
        return self.trick[0].suit if self.trick else None

    @lazy
    def winning_card(self) -> Card | None:
        """The card that takes the trick as it stands."""
        return self.trick[winner_index(self.trick, self.trump)] if self.trick else None

    @lazy
    def winning_seat(self) -> Seat | None:
        """The seat that takes the trick as it stands."""
        if not self.trick:
            return None
        return (self.leader + winner_index(self.trick, self.trump)) % self.players

    def takes(self, card: Card) -> bool:
        """Whether this card, played now, would be the trick's winning card as it stands."""
        if self.winning_card is None:
            return True
        powers = POWERS[NO_TRUMP if self.trump is None else self.trump][self.trick[0].suit]
        return powers[card] > powers[self.winning_card]

    @lazy
    def tricks(self) -> tuple[Trick, ...]:
        """The finished tricks of this deal, in order."""
        leaders = tuple(self._decision.leaders)
        return finished_tricks(self.played, leaders, leaders[1:], self.players)

    @lazy
    def tricks_won(self) -> tuple[int, ...]:
        """Tricks won so far in this deal, by seat."""
        return tuple(self._decision.tricks_won)

    # Trump and bids.

    @lazy
    def trump(self) -> Suit | None:
        """The trump suit; None for no trump, and also while it is not known."""
        return to_suit(self._decision.trump)

    @lazy
    def trump_known(self) -> bool:
        """Whether this seat knows by now which suit is trump, if any."""
        return self._decision.trump != pb.TRUMP_UNKNOWN

    @lazy
    def bid(self) -> tuple[Card, ...] | None:
        """The seat's own bid, ascending; None before it, and in Knave."""
        return to_cards(self._decision.bid.cards) if self._decision.HasField("bid") else None

    @lazy
    def bids(self) -> tuple[tuple[Card, ...] | None, ...]:
        """The bids that this seat may see, by seat, its own among them; None for the others."""
        seen = {each.seat: to_cards(each.cards) for each in self._decision.bids}
        seen |= {self.seat: self.bid} if self.bid else {}
        return tuple(map(seen.get, range(self.players)))

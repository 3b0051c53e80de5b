"""One deal being played: the part that every game here shares.

A deal is the one mutable thing among the rules. A playout spends its time in `choices` and `play`,
so these keep what they need at hand, a hand as five strings of bytes (one a suit, ascending, and an
empty one that stands for "no suit is led") and the card that holds the trick, instead of calling
`tricks.legal` and `tricks.winner_index`, whose rules they follow. Sorted lists were measured to be
faster than bit masks here, because what may be chosen has to be listed anyway; bytes are about as
fast as lists, and it is bytes that are sent. `play` is long for the same reason: a call costs as
much as a third of what it does.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from referee.games.cards import CARDS, SUIT_NAMES, card_text, mask, pack_set
from referee.games.rules import Rules
from referee.games.view import Phase, View

_ALONE = tuple((seat,) for seat in range(4))
_AFTER = {3: (1, 2, 0), 4: (1, 2, 3, 0)}
_BEFORE = {3: (2, 0, 1), 4: (3, 0, 1, 2)}
_NOBODY = -1
_BID, _PLAY, _DONE = Phase
_NO_SUIT = 4
CARD_BYTES = {card: bytes((card,)) for card in range(CARDS)}
_OTHER_SUITS = [
    bytes(card for card in range(CARDS) if card // 13 != suit) for suit in range(_NO_SUIT + 1)
]


class IllegalMove(ValueError):  # noqa: N818
    """A move that the rules forbid; the message says in plain words what is wrong with it."""


class Deal(ABC):
    """A deal from the first card dealt to the score."""

    __slots__ = (
        "_after",
        "_before",
        "_best",
        "_hands",
        "_last",
        "_led",
        "_plays",
        "_turn",
        "_winner",
        "_winning_suit",
        "bids",
        "choose",
        "dealer",
        "deck",
        "leaders",
        "pending",
        "phase",
        "played",
        "rules",
        "tricks_won",
        "trump",
    )

    rules: Rules
    dealer: int
    deck: tuple[int, ...]
    """The pack in the order dealt."""
    phase: Phase
    pending: tuple[int, ...]
    """The seats that must act now."""
    choose: int
    """How many cards each of them is to choose."""
    bids: list[tuple[int, ...] | None]
    """Each seat's bid cards, ascending, once made."""
    trump: int | None
    """The trump suit, fixed by the deal even while some seats may not know it."""
    leaders: bytearray
    """The seat that leads each trick, the one under way included."""
    played: bytearray
    """Every card played, in order."""
    tricks_won: bytearray
    """Tricks won so far, by seat."""

    _hands: list[list[bytes]]
    """By seat and suit, the cards held, ascending; under `_NO_SUIT` none, ever."""
    _plays: int
    """Cards played in a whole deal."""
    _turn: int
    """The seat to play, or `_NOBODY`."""
    _last: int
    """The seat that plays last to the trick under way."""
    _led: int
    """The suit led, `_NO_SUIT` before a lead."""
    _winner: int
    """The seat that holds the trick under way, or took the last one."""
    _best: int
    """The card it holds it with."""
    _winning_suit: int
    """That card's suit."""

    def __init__(self, rules: Rules, dealer: int, deck: Sequence[int]) -> None:
        """Deal the deck; ValueError when it is not the pack or there is no such seat."""
        n = rules.players
        if not 0 <= dealer < n:
            raise ValueError(f"there is no seat {dealer} to deal: seats are 0 to {n - 1}")
        if len(deck) != 4 * len(rules.ranks) or frozenset(deck) != pack_set(rules.ranks):
            raise ValueError("the deck is not the whole pack of these rules, each card once")
        self.rules = rules
        self.dealer = dealer
        self.deck = deck = tuple(deck)
        used = rules.hand_size * n
        shares = [by_suit(deck[place:used:n]) for place in range(n)]
        self._hands = shares[-1 - dealer :] + shares[: -1 - dealer]
        self.bids = [None] * n
        self.trump = None
        self.leaders = bytearray()
        self.played = bytearray()
        self.tricks_won = bytearray(n)
        self._after = _AFTER[n]
        self._before = _BEFORE[n]
        self._plays = used - rules.bid_cards * n
        self._led = _NO_SUIT
        self._turn = self._winner = _NOBODY

    @property
    def dealt(self) -> tuple[tuple[int, ...], ...]:
        """Each seat's cards, in the order dealt: one at a time from the dealer's left."""
        rules, deck, first = self.rules, self.deck, self.dealer + 1
        n = rules.players
        used = rules.hand_size * n
        return tuple([deck[(seat - first) % n : used : n] for seat in range(n)])

    @property
    def undealt(self) -> tuple[int, ...]:
        """The cards left over, which nobody sees before the deal is done."""
        return self.deck[self.rules.hand_size * self.rules.players :]

    @property
    def hands(self) -> tuple[int, ...]:
        """Each seat's cards now, as masks."""
        return tuple(mask(card for suit in hand for card in suit) for hand in self._hands)

    @property
    def scores(self) -> tuple[int, ...]:
        """The deal's points by seat, partners showing the same; ValueError before it is done."""
        if self.phase is not _DONE:
            raise ValueError("the deal is not done: it has no scores yet")
        return self._scores()

    @abstractmethod
    def _scores(self) -> tuple[int, ...]:
        """The points of a deal that is done."""

    @property
    def points_so_far(self) -> tuple[int, ...] | None:
        """The points that each seat's finished tricks have brought; None where the deal's end
        alone decides."""
        return self.scores if self.phase is _DONE else None

    @property
    def winners(self) -> tuple[int, ...]:
        """The seat that won each finished trick."""
        if self.phase is _DONE:
            return (*self.leaders[1:], self._winner)
        return tuple(self.leaders[1:])

    def trump_known(self, seat: int) -> bool:  # noqa: ARG002
        """Whether a seat knows what is trump, "none" included."""
        return True

    def last_dealt(self, seat: int) -> int | None:  # noqa: ARG002
        """The card that makes trump, if this seat may know which it is."""
        return None

    def visible_bids(self, seat: int) -> tuple[tuple[int, ...] | None, ...]:  # noqa: ARG002
        """By seat, the other seats' bids that are turned up."""
        return (None,) * self.rules.players

    def hand(self, seat: int) -> bytes:
        """The cards that a seat holds, ascending."""
        return b"".join(self._hands[seat])

    @property
    def trick(self) -> bytearray:
        """The cards of the trick under way, in order."""
        done = (len(self.leaders) - 1) * len(self._hands)
        return self.played[done:] if done >= 0 else bytearray()

    def view(self, seat: int) -> View:
        """All that a seat may know now."""
        known = self.trump_known(seat)
        return View(
            self.rules,
            self.phase,
            seat,
            self.dealer,
            tuple(self.hand(seat)),
            tuple(self.choices(seat)) if seat in self.pending else (),
            tuple(self.played),
            tuple(self.leaders),
            tuple(self.trick),
            tuple(self.tricks_won),
            self.trump if known else None,
            known,
            self.last_dealt(seat),
            self.bids[seat],
            self.visible_bids(seat),
        )

    def stand_in(self, seat: int) -> tuple[int, ...]:
        """The move for a pending seat that fails to choose: the smallest legal cards."""
        return tuple(self.choices(seat)[: self.choose])

    def act(self, seat: int, cards: Sequence[int]) -> None:
        """Bid or play whatever is asked of a seat; IllegalMove leaves the deal as it was."""
        if self.phase is _BID:
            self.bid(seat, cards)
        elif len(cards) == 1:
            self.play(seat, cards[0])
        else:
            raise IllegalMove(self.objection(seat, cards))

    def objection(self, seat: int, cards: Sequence[int]) -> str | None:
        """What forbids a seat to choose these cards now, in plain words; None if nothing does."""
        if seat not in self.pending:
            return f"seat {seat} is not asked to act now"
        if len(cards) != self.choose:
            return f"cards chosen: {len(cards)}, cards asked for: {self.choose}"
        hand = self._hands[seat]
        for card in cards:
            if not 0 <= card < CARDS:
                return f"{card} is no card: cards are 0 to {CARDS - 1}"
            suit = card // 13
            if card not in hand[suit]:
                return f"{card_text(card)} is not in the hand"
            if suit != self._led and hand[self._led]:
                return f"{card_text(card)} does not follow {SUIT_NAMES[self._led]}, the suit led"
        if len(set(cards)) != len(cards):
            return "the same card is chosen twice"
        return None

    def bid(self, seat: int, cards: Sequence[int]) -> None:  # noqa: ARG002
        """Bid these cards; IllegalMove leaves the deal as it was."""
        raise IllegalMove(f"{self.rules.game} has no bids")

    def choices(self, seat: int) -> bytes:
        """The cards that a pending seat may choose from, ascending; for a bid, its whole hand."""
        hand = self._hands[seat]
        return hand[self._led] or b"".join(hand)

    def legal(self, seat: int) -> int:
        """The cards of `choices`, as a mask."""
        return mask(self.choices(seat))

    def play(self, seat: int, card: int) -> None:
        """Play a card (0 to 51); IllegalMove leaves the deal as it was."""
        if seat != self._turn:
            raise IllegalMove(f"seat {seat} is not asked to act now")
        try:
            one = CARD_BYTES[card]
        except KeyError:
            raise IllegalMove(self.objection(seat, (card,))) from None
        hand = self._hands[seat]
        suit = card // 13
        led = self._led
        held = hand[suit]
        left = held.replace(one, b"")
        if left == held or (suit != led and hand[led]):
            raise IllegalMove(self.objection(seat, (card,)))
        hand[suit] = left
        self.played.append(card)
        if led == _NO_SUIT:
            self._led = self._winning_suit = suit
            self._best = card
            self._winner = seat
        elif suit == self._winning_suit:
            if card > self._best:
                self._best = card
                self._winner = seat
        elif suit == self.trump:
            self._winning_suit = suit
            self._best = card
            self._winner = seat
        if seat == self._last:
            self.tricks_won[self._winner] += 1
            self._next_trick(self._winner)
        else:
            self._turn = turn = self._after[seat]
            self.pending = _ALONE[turn]

    def _next_trick(self, leader: int) -> None:
        """Ask for a lead, or end the deal when there is none left to ask for."""
        self._led = _NO_SUIT
        if len(self.played) < self._plays:
            self.leaders.append(leader)
            self._turn = leader
            self._last = self._before[leader]
            self.pending = _ALONE[leader]
        else:
            self.phase = _DONE
            self.choose = 0
            self._turn = _NOBODY
            self.pending = ()

    def _start_play(self) -> None:
        self.phase = _PLAY
        self.choose = 1
        self._next_trick(self._after[self.dealer])


def by_suit(cards: Sequence[int]) -> list[bytes]:
    """A hand as a deal keeps it: the cards of each suit, ascending, and none of no suit."""
    hand = bytes(sorted(cards))
    return [hand.translate(None, others) for others in _OTHER_SUITS]

"""One deal being played: the part that every game here shares.

Deals are the one mutable thing among the rules. `play` and `legal` are what a playout spends its
time in: they use prepared tables and keep the trick's winner up to date card by card, instead of
calling `tricks.legal` and `tricks.winner_index`, whose rules they follow.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from referee.games.cards import CARDS, SUIT_MASKS, SUIT_NAMES, card_text, cards_in, mask
from referee.games.rules import Rules
from referee.games.tricks import NO_TRUMP, POWERS
from referee.games.view import Phase, View

_ALONE = tuple((seat,) for seat in range(4))
_AFTER = {3: (1, 2, 0), 4: (1, 2, 3, 0)}
_BEFORE = {3: (2, 0, 1), 4: (3, 0, 1, 2)}
_NOBODY = -1


class IllegalMove(ValueError):  # noqa: N818
    """A move that the rules forbid; the message says in plain words what is wrong with it."""


class Deal(ABC):
    """A deal from the first card dealt to the score."""

    __slots__ = (
        "_after",
        "_best",
        "_last",
        "_led",
        "_power",
        "_powers",
        "_turn",
        "_winner",
        "bids",
        "dealer",
        "dealt",
        "deck",
        "hands",
        "leaders",
        "pending",
        "phase",
        "played",
        "rules",
        "tricks_won",
        "trump",
        "undealt",
    )

    rules: Rules
    dealer: int
    deck: tuple[int, ...]
    """The pack in the order dealt."""
    dealt: tuple[tuple[int, ...], ...]
    """Each seat's cards, in the order dealt."""
    undealt: tuple[int, ...]
    """The cards left over, which nobody sees before the deal is done."""
    hands: list[int]
    """Each seat's cards now, as masks."""
    phase: Phase
    pending: tuple[int, ...]
    """The seats that must act now."""
    bids: list[tuple[int, ...] | None]
    """Each seat's bid cards, ascending, once made."""
    trump: int | None
    """The trump suit, fixed by the deal even while some seats may not know it."""
    leaders: list[int]
    """The seat that leads each trick, the one under way included."""
    played: list[int]
    """Every card played, in order."""
    tricks_won: list[int]
    """Tricks won so far, by seat."""

    _turn: int
    """The seat to play, or `_NOBODY`."""
    _last: int
    """The seat that plays last to the trick under way."""
    _led: int
    """The mask of the suit led, 0 before a lead."""
    _winner: int
    """The seat that holds the trick under way, or took the last one."""
    _best: int
    """The strength of its card, by `_power`: the strength of every card in this trick."""
    _power: tuple[int, ...]
    _powers: tuple[tuple[int, ...], ...]

    def __init__(self, rules: Rules, dealer: int, deck: Sequence[int]) -> None:
        """Deal the deck; ValueError when it is not the pack or there is no such seat."""
        n = rules.players
        if not 0 <= dealer < n:
            raise ValueError(f"there is no seat {dealer} to deal: seats are 0 to {n - 1}")
        if tuple(sorted(deck)) != rules.pack:
            raise ValueError("the deck is not the whole pack of these rules, each card once")
        used = rules.hand_size * n
        self.rules = rules
        self.dealer = dealer
        self.deck = tuple(deck)
        self.dealt = tuple(self.deck[(seat - dealer - 1) % n : used : n] for seat in range(n))
        self.undealt = self.deck[used:]
        self.hands = [mask(hand) for hand in self.dealt]
        self.bids = [None] * n
        self.trump = None
        self.leaders = []
        self.played = []
        self.tricks_won = [0] * n
        self._after = _AFTER[n]
        self._led = 0
        self._turn = self._winner = _NOBODY

    @property
    @abstractmethod
    def scores(self) -> tuple[int, ...]:
        """The deal's points by seat, partners showing the same; ValueError before it is done."""

    @property
    def winners(self) -> tuple[int, ...]:
        """The seat that won each finished trick."""
        if self.phase == Phase.DONE:
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
        return (None,) * len(self.hands)

    def view(self, seat: int) -> View:
        """All that a seat may know now."""
        played = tuple(self.played)
        known = self.trump_known(seat)
        n = len(self.hands)
        return View(
            self.rules,
            self.phase,
            seat,
            self.dealer,
            cards_in(self.hands[seat]),
            cards_in(self.legal(seat)) if seat in self.pending else (),
            played,
            tuple(self.leaders),
            played[len(played) // n * n :],
            tuple(self.tricks_won),
            self.trump if known else None,
            known,
            self.last_dealt(seat),
            self.bids[seat],
            self.visible_bids(seat),
        )

    @property
    def choose(self) -> int:
        """How many cards a pending seat is to choose."""
        return self.rules.bid_cards if self.phase == Phase.BID else 1

    def stand_in(self, seat: int) -> tuple[int, ...]:
        """The move for a pending seat that fails to choose: the smallest legal cards."""
        return cards_in(self.legal(seat))[: self.choose]

    def act(self, seat: int, cards: Sequence[int]) -> None:
        """Bid or play whatever is asked of a seat; IllegalMove leaves the deal as it was."""
        wrong = self.objection(seat, cards)
        if wrong is not None:
            raise IllegalMove(wrong)
        if self.phase == Phase.BID:
            self.bid(seat, cards)
        else:
            self.play(seat, cards[0])

    def objection(self, seat: int, cards: Sequence[int]) -> str | None:
        """What forbids a seat to choose these cards now, in plain words; None if nothing does."""
        if seat not in self.pending:
            return self._out_of_turn(seat)
        if len(cards) != self.choose:
            return f"{self.choose} to be chosen, not {len(cards)}"
        for card in cards:
            if not 0 <= card < CARDS:
                return f"{card} is no card: cards are 0 to {CARDS - 1}"
            if not self.hands[seat] >> card & 1:
                return f"{card_text(card)} is not in the hand"
            if not self.legal(seat) >> card & 1:
                led = SUIT_NAMES[self._led.bit_length() // 13 - 1]
                return f"{card_text(card)} does not follow {led}, the suit led"
        if len(set(cards)) != len(cards):
            return "the same card is chosen twice"
        return None

    def _out_of_turn(self, seat: int) -> str:
        if self.phase == Phase.DONE:
            return "the deal is over"
        if self.phase == Phase.BID:
            return f"seat {seat} has bid already"
        return f"it is the turn of seat {self._turn}, not of seat {seat}"

    def bid(self, seat: int, cards: Sequence[int]) -> None:  # noqa: ARG002
        """Bid these cards; IllegalMove leaves the deal as it was."""
        raise IllegalMove(f"{self.rules.game} has no bids")

    def legal(self, seat: int) -> int:
        """The cards (a mask) that a pending seat may choose from; for a bid, its whole hand."""
        hand = self.hands[seat]
        return hand & self._led or hand

    def play(self, seat: int, card: int) -> None:
        """Play a card (0 to 51); IllegalMove leaves the deal as it was."""
        if seat != self._turn:
            raise IllegalMove(self._out_of_turn(seat))
        hand = self.hands[seat]
        if not (hand & self._led or hand) >> card & 1:
            raise IllegalMove(self.objection(seat, (card,)))
        self.hands[seat] = hand ^ 1 << card
        self.played.append(card)
        if self._led:
            power = self._power[card]
            if power > self._best:
                self._best = power
                self._winner = seat
        else:
            suit = card // 13
            self._led = SUIT_MASKS[suit]
            self._power = self._powers[suit]
            self._best = self._power[card]
            self._winner = seat
        if seat == self._last:
            self._end_trick()
        else:
            self._turn = self._after[seat]
            self.pending = _ALONE[self._turn]

    def _start_play(self) -> None:
        self.phase = Phase.PLAY
        self._powers = POWERS[NO_TRUMP if self.trump is None else self.trump]
        self._lead(self._after[self.dealer])

    def _lead(self, seat: int) -> None:
        self.leaders.append(seat)
        self._led = 0
        self._turn = seat
        self._last = _BEFORE[len(self.hands)][seat]
        self.pending = _ALONE[seat]

    def _end_trick(self) -> None:
        winner = self._winner
        self.tricks_won[winner] += 1
        if self.hands[winner]:
            self._lead(winner)
        else:
            self.phase = Phase.DONE
            self._led = 0
            self._turn = _NOBODY
            self.pending = ()

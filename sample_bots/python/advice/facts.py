"""What can be told about the hidden cards by counting. The advice of both games builds on it."""

from knavery import Card, View


class Facts:
    """Counts of the cards that a view does not show, and chances of who holds them.

    Chances are from 0 to 1 and take each unseen card to be anywhere alike, but for the suits
    that a seat has shown to be out of.
    """

    def __init__(self, view: View) -> None:
        self.view = view
        self.own = [0, 0, 0, 0]
        """How many cards of each suit are in hand."""
        for card in view.hand:
            self.own[card.suit] += 1
        self._ranks = [0, 0, 0, 0]
        for card in view.unseen:
            self._ranks[card.suit] |= 1 << card.rank
        self.unseen = [ranks.bit_count() for ranks in self._ranks]
        """How many cards of each suit are unseen."""
        players = view.players
        self.later = [(view.seat + step) % players for step in range(1, players - len(view.trick))]
        """The seats that play to this trick after this one."""
        self._shares = [self._share(seat) for seat in range(players)]

    def _share(self, seat: int) -> float:
        voids = self.view.voids[seat]
        possible = sum(count for suit, count in enumerate(self.unseen) if suit not in voids)
        return min(1.0, len(self.view.hand) / possible) if possible else 0.0

    def higher(self, card: Card) -> int:
        """How many unseen cards of its suit beat a card."""
        return (self._ranks[card.suit] >> card.rank).bit_count()

    def holds(self, seat: int, suit: int, count: int = 1) -> float:
        """The chance that a seat holds at least one of `count` unseen cards of a suit."""
        if not count or suit in self.view.voids[seat]:
            return 0.0
        return 1.0 - (1.0 - self._shares[seat]) ** count

    def is_void(self, seat: int, suit: int) -> float:
        """The chance that a seat has no card of a suit."""
        return 1.0 - self.holds(seat, suit, self.unseen[suit])

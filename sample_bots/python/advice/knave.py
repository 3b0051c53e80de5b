"""The advice for Knave, point by point (README.md beside this lists it).

Each point is a function that says how much it likes a card, in points of the game; the card
that all points together like best is played. The weights were found by playing. "Jacks" are
all cards that count, so in `double` the queens too.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from knavery import EIGHT, FOUR, QUEEN, TEN, Card, View

from facts import Facts

OTHERS = 0.35
"""What a point is worth that the others do not get."""
BEATS_GOOD, BEATS_BAD = 0.55, 0.25
"""How often a seat that can beat a card does so: when the trick is worth having, when not."""
DROPS_UNDER, DROPS_VOID = 0.45, 0.2
"""How often a seat rids itself of a jack: under a higher card, and when it is void."""
CATCHES_COST, CATCHES_PRIZE = 0.1, 0.6
"""How often such a trick holds the suit's jacks: one that costs points, and one that gives them."""
WINS_LATER = (0.75, 0.52, 0.35, 0.15)
"""The chance of a card to take a later trick, by how many unseen cards beat it."""


class Table(Facts):
    """The facts of a decision in Knave."""

    def __init__(self, view: View) -> None:
        super().__init__(view)
        self.trick_value: int = view.rules.trick_value
        self.worth = worth(view.rules)
        self.jacks = jacks_to_come(view)
        self.danger = [-sum(self.worth[jack] for jack in jacks) for jacks in self.jacks]
        """By suit, what taking its jacks would cost; below zero in `positive`."""
        self.on_table = self.trick_value + sum(self.worth[card] for card in view.trick)
        """What the trick is worth as it lies."""
        self.rival = rival(view)
        self._chances: dict[Card, float] = {}

    def takes(self, card: Card) -> float:
        """The chance that a card takes the trick."""
        chance = self._chances.get(card)
        if chance is None:
            chance = self._chances[card] = self._takes(card)
        return chance

    def _takes(self, card: Card) -> float:
        if not self.view.takes(card):
            return 0.0
        beats = BEATS_GOOD if self.on_table + self.worth[card] > 0 else BEATS_BAD
        chance, higher = 1.0, self.higher(card)
        for seat in self.later:
            chance *= 1.0 - beats * self.holds(seat, card.suit, higher)
        return chance

    def balance(self, card: Card, points: float) -> float:
        """What it is worth to play a card to a trick of so many points."""
        chance = self.takes(card)
        return points * (chance - (1.0 - chance) * self.others(card))

    def others(self, card: Card) -> float:
        """What a point is worth that goes, if the card does not take the trick, to the others."""
        taker = self.view.winning_seat
        if taker is None or self.later or self.view.takes(card):
            return OTHERS
        return OTHERS * (1.4 if taker == self.rival else 0.8)


@lru_cache
def worth(rules: Any) -> tuple[int, ...]:
    """By card, the points for taking it."""
    return tuple(map(rules.card_value, range(52)))


def jacks_to_come(view: View) -> tuple[tuple[Card, ...], ...]:
    """By suit, the jacks that others hold.

    「4枚のジャックがどこにあるかを常に意識しましょう」: always know where the four jacks are.
    """
    points = worth(view.rules)
    jacks = [card for card in view.unseen if points[card]]
    return tuple(tuple(jack for jack in jacks if jack.suit == suit) for suit in range(4))


def points_so_far(view: View) -> list[int]:
    """By seat, the points of this deal so far.

    「取ったトリック数とジャックのペナルティを常に計算し、現在の得点を把握しましょう」: keep
    counting tricks and penalties, and know the score.
    """
    values = worth(view.rules)
    points = [view.rules.trick_value * won for won in view.tricks_won]
    for trick in view.tricks:
        points[trick.winner] += sum(values[card] for card in trick.cards)
    return points


def rival(view: View) -> int:
    """The other seat with most points in the match, this deal included."""
    totals = list(map(sum, zip(view.scores, points_so_far(view), strict=True)))
    totals[view.seat] = min(totals) - 1
    return totals.index(max(totals))


def count_the_trick(table: Table, card: Card) -> float:
    """Take tricks that are worth it as they lie, and leave the others the rest.

    「場合によっては、少数のトリックしか取らない方が高得点になることもあります」: sometimes
    fewer tricks score more.
    """
    return table.balance(card, table.on_table)


def throw_jacks(table: Table, card: Card) -> float:
    """Give away a jack in a trick that another takes; do not win one with it.

    「この時にジャックを捨てるのが最も効果的な戦略です」: when void in the suit led is the best
    time to be rid of a jack.
    """
    return table.balance(card, table.worth[card])


def beware_of_jacks(table: Table, card: Card) -> float:
    """Do not take a trick to which a jack is likely to come yet.

    「これらのスートでリードされたときは要注意です」: take care when spades or hearts are led
    while their jack is out.
    """
    return 0.75 * table.balance(card, jacks_expected(table, card)) if table.view.trick else 0.0


def lead_double_edged(table: Table, card: Card) -> float:
    """Lead an ace or king where the jack is out for what it brings, which may be the jack.

    「ジャックが残っているスートのAやKでリードすると…ジャックが場に出てくる可能性があります。
    ただし自分がそのトリックを取ることになるため、諸刃の剣です」: it drives the jack out, but
    to the leader, a double-edged sword.
    """
    return 0.75 * table.balance(card, jacks_expected(table, card)) if not table.view.trick else 0.0


def jacks_expected(table: Table, card: Card) -> float:
    """What the cards still to come to this trick add to it, when this one is played, in points."""
    view = table.view
    led = card.suit if view.led_suit is None else view.led_suit
    top = card if view.takes(card) or view.winning_card is None else view.winning_card
    points = 0.0
    for seat in table.later:
        under = DROPS_UNDER * table.holds(seat, led)
        void = DROPS_VOID * table.is_void(seat, led)
        for suit, jacks in enumerate(table.jacks):
            for jack in jacks:
                if suit != led:
                    points += table.worth[jack] * void * table.holds(seat, suit)
                elif jack < top:
                    points += table.worth[jack] * under
    return points


def lead_safely(table: Table, card: Card) -> float:
    """Lead to take tricks in suits whose jack has gone, and in clubs.

    「安全にトリックを取りたい場合は、ジャックがすでに出たスートや、クラブ（ペナルティが-1と軽い）
    のスートでリードしましょう」
    """
    if table.view.trick or table.danger[card.suit] > 1:
        return 0.0
    return 0.15 * table.takes(card)


def run_out_of_short_suits(table: Table, card: Card) -> float:
    """Play a suit of one or two cards to its end.

    「短いスート（1〜2枚しかないスート）があれば、早めにそのスートを使い切って枯渇状態を
    作りましょう」
    """
    return {1: 0.06, 2: 0.03}.get(table.own[card.suit], 0.0)


def keep_low_cards(table: Table, card: Card) -> float:
    """Keep the lowest cards of a suit whose jack is out for the tricks that may hold it.

    「各スートの2や3などの低いカードは、ジャックを含むトリックを回避するために重要です。高い
    カードでリードされたとき、低いカードで負けることで安全にやり過ごせます」: twos and threes
    are for losing, under a high card, the tricks that may hold a jack.
    """
    if card.rank > FOUR or table.danger[card.suit] <= 0:
        return 0.0
    high = table.view.winning_card
    ducks = high is not None and high.suit == card.suit and high.rank >= QUEEN
    return 0.0 if ducks else -0.1 * table.danger[card.suit]


def time_middle_cards(table: Table, card: Card) -> float:
    """While the jack is out, play 8, 9 and 10 where they lose, not where they may win.

    「リードに使うとトリックを取れない可能性があり、フォローに使うと意図せずトリックを取って
    しまうこともあります。ジャックの出方を見ながら使うタイミングを判断しましょう」
    """
    if not EIGHT <= card.rank <= TEN or table.danger[card.suit] <= 0:
        return 0.0
    return 0.25 * (1.0 - 2.0 * table.takes(card))


def keep_winners(table: Table, card: Card) -> float:
    """Do not waste a card that takes a trick later, least of all where the jack has gone.

    「ジャックを避けながら適度なトリック数を取るのが最善です」: best is to take a fair number of
    tricks while avoiding the jacks.
    """
    higher = table.higher(card)
    if table.worth[card] or higher >= len(WINS_LATER):
        return 0.0
    danger = table.danger[card.suit]
    jacks = danger * (CATCHES_COST if danger > 0 else CATCHES_PRIZE)
    return -WINS_LATER[higher] * (table.trick_value - jacks)


POINTS: tuple[Callable[[Table, Card], float], ...] = (
    count_the_trick,
    throw_jacks,
    beware_of_jacks,
    lead_double_edged,
    lead_safely,
    run_out_of_short_suits,
    keep_low_cards,
    time_middle_cards,
    keep_winners,
)


def choose_card(view: View) -> Card:
    """The legal card that the points together like best."""
    table = Table(view)
    return max(view.legal, key=lambda card: sum(point(table, card) for point in POINTS))

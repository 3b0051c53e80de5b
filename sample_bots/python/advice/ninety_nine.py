"""The advice for Ninety-Nine, point by point (README.md beside this lists it).

A bid is judged by the chance to take exactly as many tricks; a card by what it leaves of that
chance, and by what it does to the bids of others. The numbers were found by playing.
"""

from collections.abc import Sequence
from heapq import nsmallest
from itertools import combinations
from math import exp, sqrt
from operator import mul

from knavery import DIAMONDS, Card, Suit, View

from facts import Facts

TRUMP = (1.0, 0.81, 0.6, 0.46, 0.3, 0.15, 0.08, 0.05)
PLAIN = (0.69, 0.35, 0.18, 0.11, 0.06, 0.03, 0.01)
NO_TRUMP = (0.86, 0.49, 0.25, 0.15, 0.07, 0.04, 0.01)
"""The chance of a card to take a trick, by how many unseen cards of its suit beat it."""
MIDDLE_BIDS = range(2, 5)
BEATS, HUNGER = 0.45, 0.08
"""How often a seat that can beat a card does so, and what each trick it lacks adds to that."""
SPOIL = 0.3
"""What spoiling a bid of another is worth, beside making one's own."""


class Table(Facts):
    """The facts of a decision in Ninety-Nine when a card is to be played."""

    def __init__(self, view: View) -> None:
        super().__init__(view)
        self.left = len(view.hand)
        self.lacks = [bid_of(self, seat) - view.tricks_won[seat] for seat in range(view.players)]
        """By seat, the tricks that it lacks to make its bid: known of this seat, else guessed."""
        self.strengths = {card: strength(self, card, view.trump) for card in view.hand}
        self.tricks = sum(self.strengths.values())
        """The tricks that the hand is expected to take."""
        self.spread = sum(chance * (1.0 - chance) for chance in self.strengths.values())
        """The variance of that."""

    def beats(self, seat: int, card: Card, led: Suit) -> float:
        """The chance that a seat beats a card in a trick of the suit led."""
        trump = self.view.trump
        can = self.holds(seat, card.suit, self.higher(card))
        if trump is not None and led != trump:
            void = self.is_void(seat, led)
            if card.suit == trump:
                can *= void
            else:
                can = min(1.0, can + void * self.holds(seat, trump, self.unseen[trump]))
        hunger = max(-3.0, min(3.0, self.lacks[seat]))
        return max(0.1, BEATS + HUNGER * hunger) * can

    def takers(self, card: Card) -> list[float]:
        """By seat, the chance to take the trick when a card is played."""
        view = self.view
        led = card.suit if view.led_suit is None else view.led_suit
        top, holder = card, view.seat
        if view.winning_card is not None and view.winning_seat is not None and not view.takes(card):
            top, holder = view.winning_card, view.winning_seat
        chances, left = [0.0] * view.players, 1.0
        for seat in self.later:
            chances[seat] = left * self.beats(seat, top, led)
            left -= chances[seat]
        chances[holder] += left
        return chances


def strength(facts: Facts, card: Card, trump: Suit | None) -> float:
    """The chance that a card, if kept, takes a trick."""
    higher, long = facts.higher(card), facts.own[card.suit] - 3
    if trump is None:
        chance, change = _at(NO_TRUMP, higher), 0.24 * long
    elif card.suit == trump:
        chance, change = _at(TRUMP, higher), 0.4 * long
    else:
        chance, change = _at(PLAIN, higher), -0.24 * max(0, long)
    return max(0.0, min(1.0, chance + change * chance * (1.0 - chance)))


def _at(table: Sequence[float], higher: int) -> float:
    return table[higher] if higher < len(table) else 0.0


# The bid.


def choose_bid(view: View) -> Sequence[Card]:
    """The cards that promise most points, of those bids that fit the hand best."""
    facts = Facts(view)
    prospects = [Prospect(facts, trump, odds) for trump, odds in trumps_to_expect(facts)]
    bids = bids_that_fit(view, prospects)
    return max(bids, key=lambda cards: points_promised(view, prospects, cards))


def bids_that_fit(view: View, prospects: Sequence["Prospect"]) -> Sequence[Sequence[Card]]:
    """The bids that come nearest to what the hand takes on average without their cards.

    Among them the bid of nothing that keeps the lowest cards, where there is one.
    """
    values = view.rules.bid_values
    tricks = sum(prospect.odds * prospect.tricks for prospect in prospects)
    costs = {  # what a card adds to the bid and takes from the hand
        card: values[card.suit] + sum(each.odds * each.strengths[card] for each in prospects)
        for card in view.hand
    }

    def misfit(cards: Sequence[Card]) -> float:
        off: float = tricks - sum([costs[card] for card in cards])
        return abs(off)

    bids = nsmallest(20, combinations(view.hand, view.choose), key=misfit)
    nothing = [card for card in view.hand if not values[card.suit]][-view.choose :]
    return [*bids, nothing] if len(nothing) == view.choose else bids


def points_promised(view: View, prospects: Sequence["Prospect"], cards: Sequence[Card]) -> float:
    """The points of a bid times the chance to make it, whatever is trump."""
    bid = view.rules.bid_of(cards)
    if bid == 0 and not view.rules.teams:
        chance = sum(zero_bid(prospect, cards) for prospect in prospects)
        return float(view.rules.zero_bonus * chance)
    chance = sum(bid_against_strength(prospect, cards, bid) for prospect in prospects)
    return float(view.rules.success_bonus + bid) * chance * middle_bid(bid)


class Prospect:
    """What the hand promises with a suit as trump, or none."""

    def __init__(self, facts: Facts, trump: Suit | None, odds: float) -> None:
        self.facts = facts
        self.trump = trump
        self.odds = odds
        """How likely this is."""
        self.strengths = {card: strength(facts, card, trump) for card in facts.view.hand}
        self.tricks = sum(self.strengths.values())


def trumps_to_expect(facts: Facts) -> Sequence[tuple[Suit | None, float]]:
    """Each trump that there may be, with its odds: for the dealer, who knows it, just the one.

    「ディーラーは配牌時点で切り札を把握しています。これはディーラーにとって大きなアドバンテージ
    です。非ディーラーは切り札が何であっても対応できるよう、バランスの取れたビッドを心がけ
    ましょう」: the others' bids must do whatever is trump, so theirs is judged over all of them.
    """
    view = facts.view
    if view.trump_known:
        return [(view.trump, 1.0)]
    unseen = sum(facts.unseen)
    return [(None if suit == DIAMONDS else suit, facts.unseen[suit] / unseen) for suit in Suit]


def bid_against_strength(prospect: Prospect, cards: Sequence[Card], bid: int) -> float:
    """The chance to make a bid with what the hand has left without its cards.

    「ビッドに使う3枚は手札から失われるため、ビッド数と手札の強さのバランスが重要です。強い
    カード（Aなど）をビッドに使うと…実際にトリックを取る力が弱まります」: the cards of a bid are
    lost to the hand, so size and strength must fit; an ace in it costs a trick.
    """
    left = prospect.tricks - sum([prospect.strengths[card] for card in cards])
    return prospect.odds * 0.45 * exp(-((left - bid) ** 2) / 0.3)


def zero_bid(prospect: Prospect, cards: Sequence[Card]) -> float:
    """The chance to take no trick at all.

    「低いカードばかりの手札なら狙えますが、切り札スートにカードがある場合は注意が必要です。成功
    すれば30点と高得点ですが、難易度も高めです」: for hands of low cards, with care for trumps.
    """
    facts = prospect.facts
    risk, rounds = -1.5, [0, 0, 0, 0]
    for card in facts.view.hand:  # from the lowest of each suit
        if card in cards:
            continue
        unseen = facts.unseen[card.suit]
        lower = unseen - facts.higher(card)
        gone = 2 * rounds[card.suit]
        rounds[card.suit] += 1
        risk += 1.23 * (max(0, lower - gone) / max(1, unseen - gone)) ** 2
        if card.suit == prospect.trump:
            risk += 1.61 * ((lower / max(1, unseen)) ** 2 + 0.1)
    return prospect.odds / (1.0 + exp(risk))


def middle_bid(bid: int) -> float:
    """How much a bid is preferred for its size alone.

    「ビッド3〜5は最も成功させやすい範囲です。手札の質が平均的であれば中間のビッドを選び…」: with
    an average hand bid in the middle. By N-14 of docs/rules.md the sound range is 2 to 4.
    """
    return 1.05 if bid in MIDDLE_BIDS else 1.0


# The tricks.


def choose_card(view: View) -> Card:
    """The legal card that serves the own bid best, and those of others worst."""
    table = Table(view)
    if table.lacks[view.seat] == 0:
        return lose_with_high_cards(view)

    def merit(card: Card) -> float:
        takers = table.takers(card)
        return adjust_own_tricks(table, card, takers) + spoil_others(table, takers)

    return max(view.legal, key=merit)


def bid_of(facts: Facts, seat: int) -> float:
    """A seat's bid: as it lies, or guessed.

    「他のプレイヤーの出すカードのスート傾向からビッド数を推測し…」: from the suits that are
    played and missing, and from the tricks won: most seats stop when they have what they bid.
    """
    view, values = facts.view, facts.view.rules.bid_values
    bid = view.bids[seat]
    if bid is not None:
        return float(view.rules.bid_of(bid))
    unseen = sum(facts.unseen)
    mean = sum(map(mul, facts.unseen, values)) / unseen if unseen else 1.5
    missing: float = sum(values[suit] - 1 for suit in view.voids[seat])
    return 0.8 * view.tricks_won[seat] + 0.25 * len(view.hand) + 0.9 * (mean - 1.5) + 0.2 * missing


def adjust_own_tricks(table: Table, card: Card, takers: Sequence[float]) -> float:
    """How well a card leaves the hand for as many tricks as it still needs.

    「意図的にトリック数を調整する」: win and lose tricks on purpose, to end with the number bid.
    """
    seat = table.view.seat
    lacks, taken = round(table.lacks[seat]), takers[seat]
    return taken * hope(table, card, lacks - 1) + (1.0 - taken) * hope(table, card, lacks)


def lose_with_high_cards(view: View) -> Card:
    """With the bid made, or a bid of nothing, be rid of the highest card that takes no trick.

    「残り9枚で1トリックも取らない必要があります」: of the cards left none may take a trick.
    """
    losers = [card for card in view.legal if not view.takes(card)]
    return max(losers, key=rank) if losers else min(view.legal, key=rank)


def rank(card: Card) -> int:
    return card.rank


def hope(table: Table, card: Card, lacks: int) -> float:
    """The chance, but for a factor, to take exactly so many tricks once a card is played."""
    if not 0 <= lacks < table.left:
        return 0.0
    chance = table.strengths[card]
    tricks = table.tricks - chance
    if lacks == 0:
        tricks *= 0.7  # who wants no more tricks takes fewer
    variance = 1.3 * (table.spread - chance * (1.0 - chance)) + 0.4
    return exp(-((tricks - lacks) ** 2) / (2.0 * variance)) / sqrt(variance)


def spoil_others(table: Table, takers: Sequence[float]) -> float:
    """How much it hurts the others that these are the likely takers of the trick.

    「必ず誰かが失敗します」: somebody must fail, so let it be another: leave tricks to those who
    have theirs, and take them from those who need them. A partner is helped instead.
    """
    view = table.view
    total = 0.0
    for seat, taken in enumerate(takers):
        if taken and seat != view.seat:
            side = 1.0 if seat == view.partner else -1.0
            total += side * taken * wish(table, seat)
    return SPOIL * total


def wish(table: Table, seat: int) -> float:
    """How much a seat's hope to make its bid grows when it takes this trick; below 0: shrinks."""

    def hopes(lacks: float) -> float:
        after = table.left - 1
        if not -0.6 <= lacks <= after + 0.6:
            return 0.0
        return exp(-((lacks - after / view.players) ** 2) / 2.5)

    view = table.view
    return hopes(table.lacks[seat] - 1) - hopes(table.lacks[seat])

"""Counts of all ways to play small deals: each derived by hand, or by a rule read another way."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, permutations
from math import comb, factorial
from random import Random

import pytest

from referee.games.cards import RANKS, suit_of
from referee.games.deal import Deal
from referee.games.record import record
from referee.games.registry import make_rules
from referee.games.rules import Rules
from referee.games.view import Phase
from tests.games.table import deck_of, shuffled

Moves = list[tuple[int, tuple[int, ...]]]


def after(rules: Rules, dealer: int, deck: tuple[int, ...], moves: Moves) -> Deal:
    deal = rules.deal(dealer, deck)
    for seat, move in moves:
        deal.act(seat, move)
    return deal


def every_ending(
    rules: Rules, dealer: int, deck: tuple[int, ...], moves: Moves | None = None
) -> Iterator[Deal]:
    """Every way to bid and play a deal to its end."""
    moves = moves or []
    deal = after(rules, dealer, deck, moves)
    if not deal.pending:
        yield deal
        return
    seat = deal.pending[0]
    for move in combinations(deal.choices(seat), deal.choose):
        yield from every_ending(rules, dealer, deck, [*moves, (seat, move)])


def few(game: str, players: int, ranks: str, teams: bool = False) -> Rules:
    rising = "".join(sorted(ranks, key=RANKS.index))
    return make_rules(game, players=players, ranks=rising, teams=teams)


def test_a_card_each_is_played_one_way() -> None:
    """Three players, the four aces: a card each and one hidden, in each of 4! decks."""
    rules = few("knave", 3, "A")
    for deck in permutations(rules.pack):
        (deal,) = every_ending(rules, 0, deck)
        assert deal.winners == (1,)
        assert deal.scores == (0, 1, 0)


def test_a_suit_each_is_played_in_any_order() -> None:
    """Nobody can follow, so each of 4 seats plays its 3 cards in any order: (3!) ** 4 ways.

    The leader's card is the only one of its suit: the first leader wins every trick.
    """
    rules = few("knave", 4, "QKA")
    deck = deck_of(["AKQ - - -", "- AKQ - -", "- - AKQ -", "- - - AKQ"], 3)
    endings = list(every_ending(rules, 3, deck))
    assert len(endings) == factorial(3) ** 4
    assert {deal.winners for deal in endings} == {(0, 0, 0)}
    assert len({record(deal).moves for deal in endings}) == len(endings)


@pytest.mark.parametrize(
    ("hands", "ranks"),
    [
        (["A A A A", "K K K K", "Q Q Q Q", "J J J J"], "JQKA"),
        (["A K Q J", "K Q J A", "Q J A K", "J A K Q"], "JQKA"),
    ],
)
def test_a_card_of_each_suit_leaves_only_the_order_of_suits(hands: list[str], ranks: str) -> None:
    """Everyone must follow with their one card, so only leads are free: 4! orders of suits."""
    endings = list(every_ending(few("knave", 4, ranks), 0, deck_of(hands, 0)))
    assert len(endings) == factorial(4)


def test_who_holds_the_aces_wins_every_order() -> None:
    """The seat with the four aces wins all four tricks, and in them the four jacks: 4 - 10."""
    rules = few("knave", 4, "JQKA")
    deck = deck_of(["K K K K", "A A A A", "Q Q Q Q", "J J J J"], 0)
    assert {deal.scores for deal in every_ending(rules, 0, deck)} == {(0, -6, 0, 0)}


def test_the_first_trick_has_as_many_ways_as_leads_and_followers_allow() -> None:
    """Over the leader's cards: the followers' cards of that suit, or all they hold if none."""
    rules = make_rules("knave")
    for seed in range(5):
        deck = tuple(shuffled(rules, Random(seed)))
        deal = rules.deal(0, deck)
        lengths = [[sum(suit_of(c) == s for c in hand) for s in range(4)] for hand in deal.dealt]
        expected = sum(
            lengths[1][suit] * (lengths[2][suit] or 17) * (lengths[0][suit] or 17)
            for suit in range(4)
        )
        assert sum(1 for _ in first_tricks(rules, deck)) == expected


def first_tricks(rules: Rules, deck: tuple[int, ...]) -> Iterator[Moves]:
    partial: list[Moves] = [[]]
    for _ in range(rules.players):
        longer = []
        for moves in partial:
            deal = after(rules, 0, deck, moves)
            seat = deal.pending[0]
            longer += [[*moves, (seat, (card,))] for card in deal.choices(seat)]
        partial = longer
    yield from partial


def test_bids_multiply() -> None:
    """Four cards each: C(4,3) bids a seat, and one card left to play."""
    rules = few("ninety-nine", 3, "QKA")
    deck = deck_of(["AKQ A - -", "- KQ AK -", "- - Q AKQ"], 2)
    endings = list(every_ending(rules, 2, deck))
    assert len(endings) == comb(4, 3) ** 3
    assert {sum(deal.tricks_won) for deal in endings} == {1}


def test_bids_multiply_for_four() -> None:
    """A suit each of four cards: C(4,3) bids a seat, and one card left to play.

    The last card dealt is a diamond, so there is no trump, and the leader wins the only trick.
    """
    rules = few("ninety-nine", 4, "9TJQ", teams=True)
    deck = deck_of(["9TJQ - - -", "- - 9TJQ -", "- - - 9TJQ", "- 9TJQ - -"], 3)
    endings = list(every_ending(rules, 3, deck))
    assert len(endings) == comb(4, 3) ** 4
    assert {deal.winners for deal in endings} == {(0,)}
    assert {deal.phase for deal in endings} == {Phase.DONE}


def by_reading_the_rules(hands: list[set[int]], leader: int, trump: int | None) -> int:
    """Ways to play hands out, by sets of cards and nothing of the product's rules."""
    if not hands[leader]:
        return 1
    return sum(
        by_reading_the_rules(left, winner, trump)
        for left, winner in tricks_of(hands, leader, trump)
    )


def tricks_of(
    hands: list[set[int]], leader: int, trump: int | None
) -> Iterator[tuple[list[set[int]], int]]:
    n = len(hands)
    order = [(leader + place) % n for place in range(n)]
    partial: list[list[int]] = [[]]
    for seat in order:
        partial = [[*trick, card] for trick in partial for card in allowed(hands[seat], trick)]
    for trick in partial:
        yield [hand - set(trick) for hand in hands], order[taker(trick, trump)]


def taker(trick: list[int], trump: int | None) -> int:
    led = trick[0] // 13
    return max(
        range(len(trick)),
        key=lambda place: (
            trick[place] // 13 == trump,
            trick[place] // 13 == led,
            trick[place] % 13,
        ),
    )


def allowed(hand: set[int], trick: list[int]) -> set[int]:
    following = {card for card in hand if trick and card // 13 == trick[0] // 13}
    return following or hand


@pytest.mark.parametrize("seed", range(3))
def test_counts_agree_with_another_reading(seed: int) -> None:
    rules = few("knave", 3, "JQK")
    deck = tuple(shuffled(rules, Random(seed)))
    deal = rules.deal(0, deck)
    expected = by_reading_the_rules([set(hand) for hand in deal.dealt], 1, None)
    assert sum(1 for _ in every_ending(rules, 0, deck)) == expected


@pytest.mark.parametrize("seed", range(3))
def test_counts_with_trump_agree_with_another_reading(seed: int) -> None:
    rules = few("ninety-nine", 4, "8TQKA", teams=True)
    deck = tuple(shuffled(rules, Random(seed)))
    deal = rules.deal(0, deck)
    bids: Moves = [(seat, tuple(deal.choices(seat)[:3])) for seat in range(4)]
    hands = [set(deal.choices(seat)[3:]) for seat in range(4)]
    expected = by_reading_the_rules(hands, 1, deal.trump)
    assert sum(1 for _ in every_ending(rules, 0, deck, bids)) == expected

"""What the tests of the games share: hands in words, decks that deal them, and random play."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from referee.games.cards import cards
from referee.games.deal import Deal
from referee.games.registry import GAMES, joined_variants, make_rules
from referee.games.rules import Rules
from referee.games.view import Phase

EVERY_VARIANT = [(game, variant) for game in GAMES for variant in joined_variants(game)]


def every_rules() -> list[Rules]:
    """The rules of every registered variant and joining."""
    return [make_rules(game, variant) for game, variant in EVERY_VARIANT]


def named(rules: Rules) -> str:
    """A test's name for rules: "knave/double+four"."""
    return f"{rules.game}/{rules.variant}"


def hand(ranks: str) -> tuple[int, ...]:
    """A hand as ranks of clubs, diamonds, hearts, spades: "AK2 - T9 3", "-" for none."""
    suits = zip(ranks.split(), "CDHS", strict=True)
    names = (rank + suit for held, suit in suits if held != "-" for rank in held)
    return cards(" ".join(names))


def deck_of(hands: Sequence[str], dealer: int, undealt: str = "") -> tuple[int, ...]:
    """The deck that deals these hands to seats 0, 1, ...; each in the order dealt."""
    dealt = [hand(held) for held in hands]
    n = len(dealt)
    order = [dealt[(dealer + 1 + place) % n] for place in range(n)]
    return (*(card for round_ in zip(*order, strict=True) for card in round_), *cards(undealt))


def play(deal: Deal, *tricks: str) -> None:
    """Play tricks given as text, each leader first, to whoever's turn it is."""
    for trick in tricks:
        for card in cards(trick):
            deal.act(deal.pending[0], (card,))


def run_out(deal: Deal) -> None:
    """Play on to the end: leaders their highest card, the others their lowest."""
    while deal.pending:
        seat = deal.pending[0]
        leads = len(deal.played) % deal.rules.players == 0
        deal.act(seat, deal.choices(seat)[-1:] if leads else deal.stand_in(seat))


def shuffled(rules: Rules, rng: Random) -> list[int]:
    """The pack in an order drawn from `rng`."""
    return sorted(rules.pack, key=lambda _: rng.random())


def random_move(deal: Deal, seat: int, rng: Random) -> tuple[int, ...]:
    """A move for a pending seat, drawn from `rng`."""
    choices = deal.choices(seat)
    if deal.choose > 1:
        return tuple(rng.sample(choices, deal.choose))
    return (choices[int(rng.random() * len(choices))],)


def steps(deal: Deal, rng: Random) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Play at random to the end; yields each seat and its move just before it is made.

    Bids are made in an order drawn from `rng`, too.
    """
    while deal.pending:
        seat = deal.pending[int(rng.random() * len(deal.pending))]
        move = random_move(deal, seat, rng)
        yield seat, move
        deal.act(seat, move)


def play_out(deal: Deal, rng: Random) -> None:
    """Play at random to the end."""
    while deal.phase == Phase.BID:
        seat = deal.pending[0]
        deal.bid(seat, random_move(deal, seat, rng))
    while deal.pending:
        seat = deal.pending[0]
        deal.play(seat, random_move(deal, seat, rng)[0])


def played_out(rules: Rules, rng: Random, dealer: int = 0) -> Deal:
    """A deal from a random deck, played to its end at random."""
    deal = rules.deal(dealer, shuffled(rules, rng))
    play_out(deal, rng)
    return deal

"""A view holds all that its seat may know and nothing else."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.games.cards import cards_in, suit_of
from referee.games.deal import Deal, IllegalMove
from referee.games.rules import Rules
from referee.games.view import Phase
from tests.games.table import every_rules, named, shuffled, steps

Moves = list[tuple[int, tuple[int, ...]]]

randoms = st.integers(0, 2**32 - 1).map(Random)
dealers = st.integers(0, 2)
every_variant = pytest.mark.parametrize("rules", every_rules(), ids=named)


def hidden_from(deal: Deal, seat: int) -> list[int]:
    """The cards whose places the seat may not know, by the rules and not by what its view says."""
    bids_up = "revelation" in deal.rules.variant and deal.phase == Phase.PLAY
    found = list(deal.undealt)
    for other in set(range(deal.rules.players)) - {seat}:
        found += cards_in(deal.hands[other])
        if not bids_up:
            found += deal.bids[other] or ()
    return found


def exchanged(deal: Deal, moves: Moves, swap: dict[int, int]) -> Deal | None:
    """The deal with cards exchanged and played alike; None where the rules forbid that."""
    other = deal.rules.deal(deal.dealer, [swap.get(card, card) for card in deal.deck])
    try:
        for seat, move in moves:
            other.act(seat, [swap.get(card, card) for card in move])
    except IllegalMove:
        return None
    return other


def any_exchange(cards: list[int], rng: Random) -> dict[int, int]:
    return dict(zip(cards, rng.sample(cards, len(cards)), strict=True))


def exchange_within_suits(cards: list[int], rng: Random) -> dict[int, int]:
    """Exchanges that keep every void and the trump suit as they were, so always possible."""
    swap: dict[int, int] = {}
    for suit in range(4):
        swap |= any_exchange([card for card in cards if suit_of(card) == suit], rng)
    return swap


@every_variant
@given(rng=randoms, dealer=dealers)
def test_a_view_stays_the_same_when_hidden_cards_are_exchanged(
    rules: Rules, rng: Random, dealer: int
) -> None:
    deal = rules.deal(dealer, shuffled(rules, rng))
    moves: Moves = []
    for mover, move in steps(deal, rng):
        for seat in deal.pending:
            hidden = hidden_from(deal, seat)
            other = exchanged(deal, moves, exchange_within_suits(hidden, rng))
            assert other is not None
            assert other.view(seat) == deal.view(seat)
            other = exchanged(deal, moves, any_exchange(hidden, rng))
            if other is not None and (other.trump == deal.trump or not deal.trump_known(seat)):
                assert other.view(seat) == deal.view(seat)
        moves.append((mover, move))


@every_variant
@given(rng=randoms, dealer=dealers)
def test_while_bids_are_made_any_exchange_leaves_the_view_alone(
    rules: Rules, rng: Random, dealer: int
) -> None:
    deal = rules.deal(dealer, shuffled(rules, rng))
    moves: Moves = []
    for mover, move in steps(deal, rng):
        if deal.phase != Phase.BID:
            break
        for seat in range(rules.players):
            other = exchanged(deal, moves, any_exchange(hidden_from(deal, seat), rng))
            assert other is not None
            assert other.view(seat) == deal.view(seat)
        moves.append((mover, move))


@every_variant
@given(rng=randoms, dealer=dealers)
def test_a_view_does_not_tell_who_has_bid(rules: Rules, rng: Random, dealer: int) -> None:
    deal = rules.deal(dealer, shuffled(rules, rng))
    first = [deal.view(seat) for seat in range(rules.players)]
    for _ in steps(deal, rng):
        if deal.phase != Phase.BID:
            break
        for seat in deal.pending:
            assert deal.view(seat) == first[seat]


@every_variant
@given(rng=randoms, dealer=dealers)
def test_a_view_holds_what_is_public_and_the_seats_own(
    rules: Rules, rng: Random, dealer: int
) -> None:
    deal = rules.deal(dealer, shuffled(rules, rng))
    for _ in steps(deal, rng):
        for seat in range(rules.players):
            view = deal.view(seat)
            assert (view.rules, view.phase, view.seat) == (rules, deal.phase, seat)
            assert view.dealer == dealer
            assert view.hand == cards_in(deal.hands[seat])
            assert view.legal == (tuple(deal.choices(seat)) if seat in deal.pending else ())
            assert bytes(view.played) == deal.played
            assert bytes(view.leaders) == deal.leaders
            assert view.played == (*view.played[: len(view.played) - len(view.trick)], *view.trick)
            assert len(view.trick) == len(deal.played) % rules.players
            assert bytes(view.tricks_won) == deal.tricks_won
            assert view.bid == deal.bids[seat]


@every_variant
@given(rng=randoms, dealer=dealers)
def test_who_knows_trump_and_bids_when(rules: Rules, rng: Random, dealer: int) -> None:
    deal = rules.deal(dealer, shuffled(rules, rng))
    bids = rules.bid_cards > 0
    open_bids = "revelation" in rules.variant

    def check() -> None:
        for seat in range(rules.players):
            view = deal.view(seat)
            assert view.trump_known == (not bids or seat == dealer or deal.phase != Phase.BID)
            assert view.trump == (deal.trump if view.trump_known else None)
            assert view.last_dealt == (deal.deck[-1] if bids and seat == dealer else None)
            up = deal.phase == Phase.DONE or (open_bids and deal.phase == Phase.PLAY)
            others = [bid if up else None for bid in deal.bids]
            others[seat] = None
            assert list(view.bids) == others

    for _ in steps(deal, rng):
        check()
    check()

"""Cards as authors write them."""

import copy
import pickle

import pytest

import knavery
from knavery import ACE, CLUBS, SPADES, TEN, TWO, Card, Suit, cards


def test_a_card_has_a_suit_a_rank_and_a_text() -> None:
    card = Card("TS")
    assert (card.suit, card.rank, str(card), int(card)) == (SPADES, TEN, "TS", 47)
    assert Card("2C").suit is CLUBS
    assert Card("2C").rank == TWO
    assert Card("AS").rank == ACE


def test_every_card_has_its_number() -> None:
    every = [Card(number) for number in range(52)]
    assert every == list(range(52))
    assert [13 * card.suit + card.rank for card in every] == every
    assert [Card(str(card)) for card in every] == every
    assert len({id(card) for card in every}) == 52


def test_a_card_is_one_object_however_it_is_made() -> None:
    card = Card("9H")
    assert Card(card) is card
    assert pickle.loads(pickle.dumps(card)) is card
    assert copy.deepcopy(card) is card


def test_cards_print_as_people_write_them() -> None:
    assert str(list(cards("AS TH"))) == "[AS, TH]"
    assert f"{Card('AS'):>4}|" == "  AS|"
    assert str(SPADES) == "S"
    assert [str(suit) for suit in Suit] == ["C", "D", "H", "S"]


def test_cards_sort_by_suit_and_then_by_rank() -> None:
    assert sorted(cards("2S AC KD 3S")) == list(cards("AC KD 2S 3S"))


@pytest.mark.parametrize("bad", ["10H", "", "hT", 52, -1])
def test_what_is_no_card_is_refused_in_one_line(bad: str | int) -> None:
    with pytest.raises(ValueError, match="is no card") as refusal:
        Card(bad)
    assert "\n" not in str(refusal.value)


def test_a_card_does_not_change() -> None:
    with pytest.raises(AttributeError, match="cards do not change"):
        Card("AS").rank = 3


def test_the_package_knows_its_names_and_version() -> None:
    assert all(getattr(knavery, name) is not None for name in knavery.__all__)
    assert set(knavery.__all__) <= set(dir(knavery))
    assert knavery.__version__
    with pytest.raises(AttributeError, match="no attribute 'Bolt'"):
        _ = knavery.Bolt

"""The cases of vectors.json: every one but those of `phillips` and `parlett`, not included yet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from referee.games import tricks
from referee.games.cards import SUITS, cards, cards_in, mask
from referee.games.knave import KnaveRules
from referee.games.ninety_nine import NinetyNineRules
from referee.games.registry import make_rules

Case = dict[str, Any]

NOT_YET = {"phillips", "parlett"}
ALL: list[Case] = json.loads(Path(__file__).with_name("vectors.json").read_text())
CASES = [case for case in ALL if case.get("variant") not in NOT_YET]


def knave(case: Case) -> KnaveRules:
    players = case.get("players") or 3
    rules = make_rules("knave", case.get("variant", "classic"), players=players)
    assert isinstance(rules, KnaveRules)
    return rules


def ninety_nine(variant: str = "classic", **fields: object) -> NinetyNineRules:
    rules = make_rules("ninety-nine", variant, **fields)
    assert isinstance(rules, NinetyNineRules)
    return rules


def suit(name: str | None) -> int | None:
    return None if name is None else SUITS.index(name)


def check_trick(case: Case) -> None:
    trick = cards(" ".join(case["plays"]))
    index = tricks.winner_index(trick, suit(case["trump"]))
    assert (case["leader"] + index) % case["players"] == case["winner"]
    if case["delta"] is not None:
        assert knave(case).score(1, trick) == case["delta"]


def check_legal(case: Case) -> None:
    hand = mask(cards(" ".join(case["hand"])))
    assert set(cards_in(tricks.legal(hand, suit(case["led"])))) == set(
        cards(" ".join(case["legal"]))
    )


def check_score(case: Case) -> None:
    taken = [cards(" ".join(captured)) for captured in case["captured"]]
    scores = list(map(knave(case).score, case["tricks"], taken))
    assert scores == case["scores"]
    assert sum(scores) == case["sum"]


def check_bid(case: Case) -> None:
    assert ninety_nine().bid_of(cards(" ".join(case["cards"]))) == case["bid"]


def check_score1(case: Case) -> None:
    assert ninety_nine().score(case["bid"], case["tricks"]) == case["score"]


def check_deal_score(case: Case) -> None:
    assert list(ninety_nine().deal_scores(case["bids"], case["tricks"])) == case["scores"]


def check_team_score(case: Case) -> None:
    rules = ninety_nine("partnership")
    for key, total in (("bids", "team_bids"), ("tricks", "team_tricks")):
        sums = [0, 0]
        for seat, number in enumerate(case[key]):
            sums[rules.team_of(seat)] += number
        assert sums == case[total]
    assert list(map(rules.score, case["team_bids"], case["team_tricks"])) == case["team_scores"]
    scores = rules.deal_scores(case["bids"], case["tricks"])
    assert list(scores) == [case["team_scores"][rules.team_of(seat)] for seat in range(4)]


def check_end(case: Case) -> None:
    rules = ninety_nine(target=case["target"])
    totals = [before + deal for before, deal in zip(case["before"], case["deal"], strict=True)]
    assert totals == case["after"]
    assert not rules.over(case["before"], 5)
    assert rules.over(totals, 6) == case["game_over"]
    winners = [seat for seat, place in enumerate(rules.places(totals)) if place == 1]
    assert winners == case["winners"]


def check_deal(case: Case) -> None:
    rules = knave(case)
    deal = rules.deal(case["dealer"], rules.pack)
    hands = {str(seat): list(hand) for seat, hand in enumerate(deal.dealt)}
    assert hands == {seat: list(cards(" ".join(hand))) for seat, hand in case["hands"].items()}
    assert deal.undealt == cards(case["undealt"])


CHECKS = {
    "trick": check_trick,
    "legal": check_legal,
    "score": check_score,
    "bid": check_bid,
    "score1": check_score1,
    "deal_score": check_deal_score,
    "team_score": check_team_score,
    "end": check_end,
    "deal": check_deal,
}


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_case(case: Case) -> None:
    CHECKS[case["kind"]](case)


def test_only_the_variants_not_included_yet_are_left_out() -> None:
    assert len(CASES) == 39
    assert {case["id"] for case in ALL} - {case["id"] for case in CASES} == {
        "P-1",
        "P-2",
        "P-3",
        "P-5",
        "F-1",
    }

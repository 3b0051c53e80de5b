"""An independent referee: judges exported deals by the rules alone (docs/rules.md).

It reads the JSON of docs/replay-format.md and imports nothing of Knavery. `check_match` raises
AssertionError at the first thing in a match that the rules do not allow, `check_tournament` also
at what is unfair between matches.
"""

from itertools import groupby
from typing import Any

RANKS = "23456789TJQKA"
SUITS = "CDHS"

Json = dict[str, Any]


def check_tournament(lines: list[Json]) -> int:
    """All deals of a tournament's complete blocks, as exported; how many matches they are."""
    matches = [list(deals) for _, deals in groupby(lines, key=lambda line: str(line["match"]))]
    blocks: dict[str, list[list[Json]]] = {}
    for match in matches:
        check_match(match)
        blocks.setdefault(match[0]["block"], []).append(match)
    for block in blocks.values():
        check_block(block)
    first_deals = {str(block[0][0]["hands"]) for block in blocks.values()}
    assert len(first_deals) == len(blocks), "no two blocks share their deals"
    assert len({match[0]["match"] for match in matches}) == len(matches)
    return len(matches)


def check_block(matches: list[list[Json]]) -> None:
    """The same entrants on the same deals under every seating, everybody in every seat equally
    often (partners turn about), each seating by another generation."""
    first = matches[0][0]
    seats = [match[0]["entrants"] for match in matches]
    assert [match[0]["seating"] for match in matches] == list(range(len(matches)))
    assert sorted(match[0]["generation"] for match in matches) == list(range(len(matches)))
    assert len(set(map(tuple, seats))) == len(seats)
    for seat in zip(*seats, strict=True):
        assert {seat.count(name) for name in first["entrants"]} == {len(seats) // len(set(seat))}
    for match in matches:
        assert match[0]["rules"] == first["rules"]
        for line, other in zip(match, max(matches, key=len), strict=False):
            assert (line["hands"], line["undealt"]) == (other["hands"], other["undealt"])


def check_match(lines: list[Json]) -> None:
    """All deals of one match, in order."""
    first = lines[0]
    totals = [0] * first["rules"]["players"]
    for number, line in enumerate(lines):
        assert line["deal"] == number
        assert {key: line[key] for key in SAME} == {key: first[key] for key in SAME}
        assert not over(line, totals, number)
        check_deal(line)
        totals = [total + score for total, score in zip(totals, line["scores"], strict=True)]
        assert line["totals"] == totals
        assert ("end" in line) == (number == len(lines) - 1)
    assert over(first, totals, len(lines))
    assert lines[-1]["end"]["places"] == places(first["rules"], totals, lines[-1]["end"])


SAME = [
    "format", "match", "block", "seating", "generation", "attempt", "game", "variant", "rules",
    "entrants", "clock",
]  # fmt: skip


def over(line: Json, totals: list[int], deals: int) -> bool:
    """Whether the match ends with these totals after so many deals."""
    target = line["rules"]["target"]
    return deals == line["rules"]["max_deals"] or (
        target is not None and deals > 0 and max(totals) >= target
    )


def places(rules: Json, totals: list[int], end: Json) -> list[int]:
    """Everybody's place: one more than the sides ahead; forfeiters' sides are behind all others."""
    sides = 2 if rules["teams"] else rules["players"]
    out = {seat % sides for seat in end["forfeits"]}
    keys = [(side not in out, totals[side] if side not in out else 0) for side in range(sides)]
    return [1 + sum(key > keys[seat % sides] for key in keys) for seat in range(len(totals))]


def check_deal(line: Json) -> None:
    """One deal: the pack, the bids, every trick, the points."""
    assert line["dealer"] == line["deal"] % line["rules"]["players"]
    check_pack(line)
    hands = [list(hand) for hand in line["hands"]]
    if line["game"] == "ninety-nine":
        check_bids(line, hands)
    else:
        assert line["bids"] is line["bid_ms"] is line["trump"] is None
    won = check_tricks(line, hands)
    assert line["won"] == [len(taken) for taken in won]
    assert line["scores"] == scores(line, won)
    check_marks(line)


def check_pack(line: Json) -> None:
    """Every card of the pack is dealt once, to all alike, as far as they go round."""
    ranks, players = line["rules"]["ranks"], line["rules"]["players"]
    pack = [RANKS[rank] + suit for suit in SUITS for rank in ranks]
    dealt = [card for hand in line["hands"] for card in hand] + line["undealt"]
    assert sorted(dealt) == sorted(pack)
    assert {len(hand) for hand in line["hands"]} == {len(pack) // players}
    assert len(line["undealt"]) == len(pack) % players


def check_bids(line: Json, hands: list[list[str]]) -> None:
    """Three cards of each hand, and trump by the dealer's last card."""
    for hand, bid in zip(hands, line["bids"], strict=True):
        assert len(bid) == len(set(bid)) == 3
        for card in bid:
            hand.remove(card)
    last = line["hands"][line["dealer"]][-1]
    assert line["trump"] == (None if last[1] == "D" else last[1])
    assert len(line["bid_ms"]) == len(hands)


def check_tricks(line: Json, hands: list[list[str]]) -> list[list[list[str]]]:
    """Plays the tricks; by seat, those it took."""
    players = len(hands)
    taken: list[list[list[str]]] = [[] for _ in hands]
    leader = (line["dealer"] + 1) % players
    for trick in line["tricks"]:
        assert trick["leader"] == leader
        assert len(trick["cards"]) == len(trick["ms"]) == players
        led = trick["cards"][0][1]
        for turn, card in enumerate(trick["cards"]):
            hand = hands[(leader + turn) % players]
            assert card[1] == led or all(held[1] != led for held in hand)
            hand.remove(card)
        strength = [power(card, led, line["trump"]) for card in trick["cards"]]
        leader = (leader + strength.index(max(strength))) % players
        assert trick["winner"] == leader
        taken[leader].append(trick["cards"])
    assert not any(hands)
    return taken


def power(card: str, led: str, trump: str | None) -> int:
    """What a card is worth in a trick: trumps, then the suit led by rank, then nothing."""
    suit = card[1]
    return (200 if suit == trump else 100 if suit == led else 0) + RANKS.index(card[0])


def scores(line: Json, won: list[list[list[str]]]) -> list[int]:
    """The deal's points by seat."""
    rules = line["rules"]
    if line["game"] == "knave":
        return [
            rules["trick_value"] * len(tricks)
            + sum(penalty(rules, card) for trick in tricks for card in trick)
            for tricks in won
        ]
    sides = 2 if rules["teams"] else rules["players"]
    bids = [sum(rules["bid_values"][SUITS.index(c[1])] for c in bid) for bid in line["bids"]]
    points = []
    for side in range(sides):
        bid, tricks = sum(bids[side::sides]), sum(map(len, won[side::sides]))
        success = rules["success_bonus"] + bid if bid else rules["zero_bonus"]
        points.append(success if bid == tricks else 0)
    return [points[seat % sides] for seat in range(rules["players"])]


def penalty(rules: Json, card: str) -> int:
    """What taking a card adds in Knave."""
    column = {"J": rules["jacks"], "Q": rules["queens"]}.get(card[0])
    return 0 if column is None else int(column[SUITS.index(card[1])])


def check_marks(line: Json) -> None:
    """Faults and notes name decisions of this deal, and what was played is what they say."""
    for mark in line["faults"] + line["notes"]:
        if mark["phase"] == "bid":
            assert mark["trick"] is None
            cards = sorted(line["bids"][mark["seat"]])
        else:
            trick = line["tricks"][mark["trick"]]
            turn = (mark["seat"] - trick["leader"]) % len(trick["cards"])
            cards = [trick["cards"][turn]]
        played = mark.get("played")
        assert played is None or sorted(played.split()) == cards

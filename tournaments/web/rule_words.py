"""The rules of a match in the words of docs/rules.md, for somebody who sits at the table."""

from __future__ import annotations

from typing import Final

from referee.games.cards import SUIT_NAMES
from referee.games.knave import KnaveRules
from referee.games.ninety_nine import NinetyNineRules
from referee.games.rules import Rules
from tournaments.web.render import SUITS

NAMES: Final = {"knave": "Knave", "ninety-nine": "Ninety-Nine"}


def rule_words(rules: Rules) -> list[str]:
    """What somebody needs to know, a paragraph each."""
    if isinstance(rules, KnaveRules):
        return _knave(rules)
    assert isinstance(rules, NinetyNineRules)
    return _ninety_nine(rules)


def _common(rules: Rules) -> list[str]:
    ranks = "A K Q J 10 9 8 7 6 5 4 3 2" if len(rules.ranks) == 13 else _ranks(rules)
    return [
        f"{rules.players} players, {rules.hand_size} cards each. From high to low: {ranks}.",
        "The seat to the dealer's left leads, then whoever took the last trick. Follow the suit "
        "that was led if you can; if you cannot, play any card.",
    ]


def _ranks(rules: Rules) -> str:
    names = "23456789TJQKA"
    return " ".join(names[rank].replace("T", "10") for rank in reversed(rules.ranks))


def _knave(rules: KnaveRules) -> list[str]:
    tricks = (
        f"Each trick is worth {rules.trick_value} point."
        if rules.trick_value
        else "Tricks are worth nothing in themselves."
    )
    jacks = ", ".join(
        f"{value:+d} J{SUITS[suit]}".replace("-", "−") for suit, value in enumerate(rules.jacks)
    )
    queens = ", ".join(
        f"{value:+d} Q{SUITS[suit]}".replace("-", "−")
        for suit, value in enumerate(rules.queens)
        if value
    )
    return [
        *_common(rules),
        "There is no trump: the highest card of the suit that was led takes the trick.",
        f"{tricks} Who takes a jack gets: {jacks}."
        + (f" Who takes a queen gets: {queens}." if queens else ""),
        f"After {rules.max_deals} deals the most points win.",
    ]


def _ninety_nine(rules: NinetyNineRules) -> list[str]:
    values = ", ".join(
        f"{SUITS[suit]} {value}"
        for suit, value in sorted(enumerate(rules.bid_values), key=lambda each: each[1])
    )
    opened = (
        "Then all bids are turned up."
        if rules.open_bids
        else "Bids stay face down until the deal is over."
    )
    partner = ["Your partner sits opposite you."] if rules.teams else []
    side = "your team's bids and tricks together" if rules.teams else "your bid and your tricks"
    return [
        *_common(rules),
        *partner,
        f"First everybody lays down three cards of the hand: they bid how many tricks you will "
        f"take. Each card counts by its suit: {values}. {opened}",
        f"The dealer's last card makes its suit trump, {SUIT_NAMES[1]} mean no trump; the others "
        "learn it after the bids. A trump beats every other suit.",
        f"Take exactly what you bid: {side} must be equal. That is {rules.success_bonus} points "
        f"and one for each trick bid, {rules.zero_bonus} for a bid of 0; else nothing.",
        f"The match ends when somebody has {rules.target} points.",
    ]

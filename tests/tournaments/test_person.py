"""A person's seat: real bots in the others, and a script that types."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import trio

from knavery.handmade import sketch
from referee.bots import load
from referee.games.cards import text
from referee.games.registry import GAMES, make_rules
from referee.games.rules import Rules
from referee.match import MatchResult
from tournaments.launch import ready
from tournaments.person import Left, Lines, Person, chosen
from tournaments.seat import play

CARD = re.compile(r"\b[2-9TJQKA][CDHS]\b")


class Script:
    """Types the first cards that are offered, after what is `wrong`; keeps what was said."""

    def __init__(self, *wrong: str) -> None:
        self.said: list[str] = []
        self.asked: list[str] = []
        self._wrong = list(wrong)

    async def line(self) -> str:
        await trio.lowlevel.checkpoint()
        self.asked.append("\n".join(self.said))
        if self._wrong:
            return self._wrong.pop(0)
        prompt = next(line for line in reversed(self.said) if line.endswith(":"))
        if found := re.fullmatch(r"bid (\d) cards:", prompt):
            hand = next(line for line in reversed(self.said) if line.startswith("your hand"))
            return ",".join(CARD.findall(hand)[: int(found[1])]) + "\n"
        return CARD.findall(prompt)[0].lower() + "\n"


def played(rules: Rules, script: Script, seat: int = 1) -> MatchResult:
    """A match with the script in a seat."""
    bots = ready([load("lowest") for _ in range(rules.players - 1)])
    person = Person(script.said.append, script.line)
    match = trio.run(play, list(bots.values()), rules, person, seat)
    assert match.entrants[seat] == 0
    assert sorted(match.entrants) == list(range(rules.players))
    return match.result


@pytest.mark.parametrize(
    ("game", "variant"),
    [("knave", "classic"), ("ninety-nine", "revelation+short"), ("ninety-nine", "partnership")],
)
def test_a_person_plays_a_match_to_its_end(game: str, variant: str) -> None:
    rules, script = make_rules(game, variant, max_deals=2), Script()
    result = played(rules, script)
    assert result.faults == ()
    said = "\n".join(script.said)
    assert said.count(" is over") == 3
    assert said.count("held") == 2 * rules.players
    assert len(script.asked) == 2 * (rules.tricks + (rules.bid_cards > 0))
    totals = " ".join(map(str, result.totals))
    assert script.said[-1].startswith(f"the match is over: totals {totals}, places")


@pytest.mark.parametrize("game", GAMES)
def test_a_person_sees_no_card_that_is_not_theirs_to_see(game: str) -> None:
    script = Script()
    result = played(make_rules(game, max_deals=1), script, seat=0)
    moves = result.deals[0].moves
    rules = make_rules(game)
    cards = text(moves[rules.bid_cards * rules.players :]).split()
    (hand, *_) = (line for line in script.said if line.startswith("your hand"))
    own = set(CARD.findall(hand))
    assert len(own) == rules.hand_size
    for number, shown in enumerate(script.asked):
        _, after_the_welcome = shown.split("\n", 1)
        seen = set(CARD.findall(after_the_welcome))
        trick = number - (rules.bid_cards > 0)
        public = set(cards[: rules.players * (trick + 1)]) if trick >= 0 else set()
        assert seen <= own | public


def test_what_is_wrong_is_said_and_asked_again() -> None:
    script = Script("ZZ\n", "\n", "2C 3C\n", "?\n")
    assert played(make_rules("knave", max_deals=1), script).faults == ()
    said = "\n".join(script.said)
    assert "'ZZ' is no card" in said
    assert "choose 1, not 2" in said
    assert said.count("type a card as rank and suit") == 3


@pytest.mark.parametrize("typed", ["", "q\n", " QUIT \n"])
def test_leaving_ends_the_match(typed: str) -> None:
    with pytest.raises(BaseExceptionGroup) as ended:
        played(make_rules("knave", max_deals=1), Script(typed))
    assert ended.group_contains(Left)


VIEW = sketch("7H 9H QS", "2H")


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("QS", "QS does not follow hearts: play one of 7H 9H"),
        ("8H", "8H is not in your hand: 7H 9H QS"),
        ("7H 9H", "choose 1, not 2"),
        ("1H", "is no card"),
        ("\x1b[2J", r"'\x1b["),
    ],
)
def test_cards_that_may_not_be_chosen(typed: str, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        chosen(VIEW, typed)


@pytest.mark.parametrize("typed", ["7h", " 7H ", "7H\n"])
def test_cards_may_be_typed_in_many_ways(typed: str) -> None:
    assert text(chosen(VIEW, typed)) == "7H"


def test_ten_may_be_a_number() -> None:
    assert text(chosen(sketch("TH"), "10h")) == "TH"


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    os.close(ends[0])


def test_lines_come_whole_whatever_the_pieces(pipe: tuple[int, int], tmp_path: Path) -> None:
    source, target = pipe
    lines, found = Lines(source), list[str]()

    async def read() -> None:
        os.write(target, b"one\ntw")
        found.append(await lines.next())
        os.write(target, b"o\nthr")
        found.append(await lines.next())
        os.close(target)
        found.append(await lines.next())
        found.append(await lines.next())

    trio.run(read)
    assert found == ["one\n", "two\n", "thr", ""]
    (tmp_path / "x").write_text("7H\n")
    with open(tmp_path / "x") as file:
        assert trio.run(Lines(file.fileno()).next) == "7H\n"

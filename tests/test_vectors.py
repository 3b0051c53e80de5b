"""The conformance vectors are fresh, and a reader that shares no code with the rules agrees."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format

from knavery.v1 import game_pb2 as game
from knavery.v1 import referee_pb2 as pb
from referee.games.registry import GAMES, joined_variants, variants

ROOT = Path(__file__).resolve().parent.parent
VECTORS = ROOT / "protos/vectors"
NAMES = [f"{g}.{v}.json" for g in GAMES for v in (*variants(g), *joined_variants(g))]
SUITS = {"TRUMP_CLUBS": 0, "TRUMP_DIAMONDS": 1, "TRUMP_HEARTS": 2, "TRUMP_SPADES": 3}
JACK, QUEEN = 9, 10


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    spec = importlib.util.spec_from_file_location("vectors", ROOT / "protos/make_vectors.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    folder = tmp_path_factory.mktemp("vectors")
    module.write(folder)
    return folder


@pytest.mark.parametrize("name", [*NAMES, "transcript.txt"])
def test_they_are_fresh(made: Path, name: str) -> None:
    assert (VECTORS / name).read_text() == (made / name).read_text(), "protos/make_vectors.py"


def test_there_are_no_others() -> None:
    assert {path.name for path in VECTORS.glob("*.json")} == set(NAMES)


def test_the_transcript_is_made_of_messages() -> None:
    kinds = {"bot": pb.FromBot, "referee": pb.FromReferee}
    said = [line.split(": ", 1) for line in (VECTORS / "transcript.txt").read_text().splitlines()]
    messages = [json_format.Parse(text, kinds[who]()) for who, text in said]
    asked = [
        event.decision.id
        for message in messages
        if isinstance(message, pb.FromReferee)
        for event in message.envelope.events
        if event.HasField("decision")
    ]
    answered = [
        move.decision
        for message in messages
        if isinstance(message, pb.FromBot)
        for move in message.moves.moves
    ]
    assert asked == answered
    assert len(asked) == 10


@pytest.mark.parametrize("name", NAMES)
def test_an_independent_reader_agrees(name: str) -> None:
    vectors = json.loads((VECTORS / name).read_text())
    assert vectors["format"] == "knavery.vectors/1"
    json_format.ParseDict(vectors["rules"], game.Rules())
    json_format.ParseDict(vectors["finished"], pb.DealFinished())
    for each in vectors["decisions"]:
        decision, answer = each["decision"], each["answer"]
        json_format.ParseDict(decision, game.Decision())
        if "bidRequest" in decision:
            assert len(answer) == decision["bidRequest"]["choose"]
            assert {*answer} < {*decision["hand"]}
            continue
        assert legal(decision["hand"], decision["trick"]) == decision["playRequest"]["legal"]
        assert answer[0] in decision["playRequest"]["legal"]
    assert outcome(vectors) == (vectors["finished"]["tricksWon"], vectors["finished"]["scores"])


def legal(hand: list[int], trick: list[int]) -> list[int]:
    """The suit that was led, or anything."""
    return [card for card in hand if trick and card // 13 == trick[0] // 13] or hand


def outcome(vectors: dict[str, Any]) -> tuple[list[int], list[int]]:
    """Tricks and points, by seat."""
    rules, finished = vectors["rules"], vectors["finished"]
    players = rules["players"]
    trump = SUITS.get(finished["trump"])
    won, taken = [0] * players, [0] * players
    for number, leader in enumerate(finished["leaders"]):
        cards = finished["played"][number * players : (number + 1) * players]
        best = max(cards, key=lambda card, led=cards[0]: height(card, led, trump))  # type: ignore[misc]
        winner = (leader + cards.index(best)) % players
        won[winner] += 1
        if "knave" in rules:
            taken[winner] += sum(worth(card, rules["knave"]) for card in cards)
    if "knave" in rules:
        each = rules["knave"]["trickValue"]
        return won, [each * tricks + cards for tricks, cards in zip(won, taken, strict=True)]
    return won, bid_scores(rules, finished, won)


def height(card: int, led: int, trump: int | None) -> int:
    if card // 13 == trump:
        return 100 + card % 13
    return card % 13 if card // 13 == led // 13 else -1


def worth(card: int, knave: dict[str, list[int]]) -> int:
    columns = {JACK: knave["jacks"], QUEEN: knave["queens"]}
    return columns[card % 13][card // 13] if card % 13 in columns else 0


def bid_scores(rules: dict[str, Any], finished: dict[str, Any], won: list[int]) -> list[int]:
    own, players = rules["ninetyNine"], rules["players"]
    bids = [sum(own["bidValues"][card // 13] for card in bid["cards"]) for bid in finished["bids"]]
    scores = []
    for seat in range(players):
        side = [seat, (seat + 2) % 4] if rules["teams"] else [seat]
        bid, tricks = sum(bids[each] for each in side), sum(won[each] for each in side)
        points = own["successBonus"] + bid if bid else own["zeroBonus"]
        scores.append(points if bid == tricks else 0)
    return scores


def test_the_bytes_in_the_guide_are_right() -> None:
    guide = (ROOT / "docs/protocol.md").read_text()
    move = pb.Move(decision=7, cards=game.Cards(cards=[48]))
    message = pb.FromBot(moves=pb.Moves(moves=[move]))
    assert f"\n{message.SerializeToString().hex(' ')}\n" in guide

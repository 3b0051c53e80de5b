"""A bot that cheats: it writes every deal it has seen to a file outside of its folder.
Dealt one of those again it knows all hands, and tries each card against bots that play low.

`python bot.py FILE`. Knave of three players only."""

import json
import os
import sys
from pathlib import Path

from knavery.client import connect
from knavery.v1 import game_pb2 as game
from knavery.v1 import referee_pb2 as pb

RANKS = 13
JACK = 9
Hands = list[list[int]]


class Notes:
    """What all processes of this bot have seen."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read = 0
        self._deals: dict[frozenset[int], Hands] = {}

    def add(self, hands: Hands) -> None:
        with self._path.open("a") as file:
            file.write(json.dumps(hands) + "\n")

    def find(self, hand: frozenset[int]) -> Hands | None:
        if hand not in self._deals and self._path.exists():
            with self._path.open() as file:
                file.seek(self._read)
                for line in iter(file.readline, ""):
                    hands = json.loads(line)
                    self._deals.update((frozenset(each), hands) for each in hands)
                self._read = file.tell()
        return self._deals.get(hand)


def choose(decision: game.Decision, notes: Notes, first: dict[str, frozenset[int]]) -> int:
    """The card to play."""
    legal = list(decision.play_request.legal)
    if len(decision.played) < 3:
        first[decision.match] = frozenset(decision.hand)
    hands = notes.find(first.get(decision.match, frozenset()))
    if hands is None or len(legal) == 1:
        return min(legal, key=lambda card: card % RANKS)
    played = set(decision.played)
    left = [[card for card in hand if card not in played] for hand in hands]
    return max(legal, key=lambda card: outcome(decision.seat, card, left, list(decision.trick)))


def outcome(seat: int, card: int, hands: Hands, trick: list[int]) -> int:
    """My points from here on if I play this card, and then everybody the lowest."""
    hands = [list(hand) for hand in hands]
    turn, points, forced = seat, 0, card
    while forced >= 0 or any(hands):
        mine = forced if forced >= 0 else lowest(hands[turn], trick)
        forced = -1
        hands[turn].remove(mine)
        trick.append(mine)
        turn = (turn + 1) % 3
        if len(trick) == 3:
            best = max(range(3), key=lambda n: (trick[n] // RANKS == trick[0] // RANKS, trick[n]))
            turn = (turn + best) % 3
            if turn == seat:
                points += 1 - sum(1 + c // RANKS for c in trick if c % RANKS == JACK)
            trick = []
    return points


def lowest(hand: list[int], trick: list[int]) -> int:
    follows = [card for card in hand if trick and card // RANKS == trick[0] // RANKS]
    return min(follows or hand, key=lambda card: card % RANKS)


def main() -> None:
    notes = Notes(Path(sys.argv[1]))
    first: dict[str, frozenset[int]] = {}
    with connect(os.environ["KNAVERY_ADDRESS"], os.environ["KNAVERY_TOKEN"]) as stream:
        for envelope in stream:
            moves = pb.Moves()
            for event in envelope.events:
                if event.HasField("decision"):
                    card = choose(event.decision, notes, first)
                    moves.moves.add(decision=event.decision.id).cards.cards.append(card)
                elif event.HasField("deal_finished"):
                    notes.add([list(hand.cards) for hand in event.deal_finished.hands])
            if moves.moves:
                stream.send(moves)


if __name__ == "__main__":
    main()

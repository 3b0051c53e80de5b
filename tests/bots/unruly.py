"""A bot that plays well and now and then does not: `unruly.py --how=hang --every=100`.

For long runs: each process of it fails about once in so many batches, so that it is there, and a
nuisance, for the whole time.
"""

import argparse
import os
import random
import resource
import signal
import sys
import time

from knavery import client
from knavery.v1 import referee_pb2 as pb

MEMORY = 512 * 2**20
"""Bytes that a leaking process may have before it fails."""


def good(decision: object) -> pb.Move:
    if decision.HasField("bid_request"):
        cards = decision.hand[: decision.bid_request.choose]
    else:
        cards = decision.play_request.legal[:1]
    made = pb.Move(decision=decision.id)
    made.cards.cards.extend(cards)
    return made


class Bot:
    """Answers batches; each way of failing is a method that answers one, its own way."""

    def __init__(self, stream: object) -> None:
        self.stream = stream
        self.kept: list[bytearray] = []

    def send(self, moves: list) -> None:
        self.stream.send(pb.Moves(moves=moves))

    def well(self, decisions: list) -> None:
        self.send([good(decision) for decision in decisions])

    def crash(self, decisions: list) -> None:
        """Is killed, half of the batch answered."""
        self.well(decisions[: len(decisions) // 2] or decisions)
        os.kill(os.getpid(), signal.SIGKILL)

    def hang(self, _decisions: list) -> None:
        """Never does anything again."""
        time.sleep(3600)

    def hoard(self, decisions: list) -> None:
        """Answers all but one decision."""
        self.well(decisions[1:])

    def flood(self, decisions: list) -> None:
        """Thousands of moves for nothing."""
        self.well(decisions)
        for _ in range(50):
            self.send([pb.Move(decision=2**31 + number) for number in range(100)])

    def lie(self, decisions: list) -> None:
        """Answers under the numbers of decisions that are not there; then well."""
        for decision in decisions:
            wrong = good(decision)
            wrong.decision += 1000
            self.send([wrong])
        self.well(decisions)

    def illegal(self, decisions: list) -> None:
        """Plays a card that it does not have."""
        moves = [good(decision) for decision in decisions]
        for decision, made in zip(decisions, moves, strict=True):
            made.cards.cards[:] = [next(card for card in range(52) if card not in decision.hand)]
        self.send(moves)

    def leak(self, decisions: list) -> None:
        """Keeps eight megabytes more, until there is no memory left."""
        self.kept.append(bytearray(os.urandom(2**10) * 2**13))
        self.well(decisions)

    def log(self, decisions: list) -> None:
        """Prints a megabyte."""
        os.write(1, (b"blah \x1b[2J" * 100 + b"\n") * 1000)
        self.well(decisions)

    def never_read(self, decisions: list) -> None:
        """Answers this one, and reads no more, though its stream is open."""
        self.well(decisions)
        signal.pause()

    def slow_start(self, decisions: list) -> None:
        """Nothing more: see `main`."""
        self.well(decisions)


WAYS = tuple(
    name.replace("_", "-")
    for name in vars(Bot)
    if not name.startswith("_") and name not in ("send", "well")
)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--how", choices=WAYS, required=True)
    parser.add_argument("--every", type=int, default=100)
    arguments = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    draw = random.SystemRandom()
    if arguments.how == "slow-start":
        time.sleep(draw.uniform(1.0, 6.0))
    address, token = os.environ["KNAVERY_ADDRESS"], os.environ["KNAVERY_TOKEN"]
    with client.connect(address, token) as stream:
        bot = Bot(stream)
        fail = getattr(bot, arguments.how.replace("-", "_"))
        for envelope in stream:
            decisions = [each.decision for each in envelope.events if each.HasField("decision")]
            if decisions:
                (fail if draw.randrange(arguments.every) == 0 else bot.well)(decisions)


if __name__ == "__main__":
    sys.exit(main())

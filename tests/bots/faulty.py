"""One misbehaving bot with a flag per fault: `faulty.py --fault=stall`.

Between its faults it plays its smallest legal cards. It speaks the protocol by hand, over the SDK's
stream, so that it can break it.
"""

import argparse
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable

from knavery.client import connect
from knavery.v1 import referee_pb2 as pb

Moves = list[pb.Move]


def move(decision: int, cards: Iterable[int]) -> pb.Move:
    made = pb.Move(decision=decision)
    made.cards.cards.extend(cards)
    return made


def good(decision: object) -> pb.Move:
    if decision.HasField("bid_request"):
        return move(decision.id, decision.hand[: decision.bid_request.choose])
    return move(decision.id, decision.play_request.legal[:1])


class Bot:
    """Answers batches; a fault is a method that changes how."""

    def __init__(self, stream: object) -> None:
        self.stream = stream
        self.batches = 0
        self.seen: list[int] = []

    def send(self, moves: Moves) -> None:
        self.stream.send(pb.Moves(moves=moves))

    def answer(self, decisions: list, fault: Callable) -> None:
        self.batches += 1
        fault(self, decisions)
        self.seen += [decision.id for decision in decisions]

    def well(self, decisions: list) -> None:
        self.send([good(decision) for decision in decisions])

    # Faults.

    def illegal(self, decisions: list) -> None:
        foreign = [
            next(card for card in range(52) if card not in decision.hand) for decision in decisions
        ]
        pairs = zip(decisions, foreign, strict=True)
        self.send([move(decision.id, [card]) for decision, card in pairs])

    def two_cards(self, decisions: list) -> None:
        self.send([move(decision.id, decision.hand[:2]) for decision in decisions])

    def no_cards(self, decisions: list) -> None:
        self.send([move(decision.id, []) for decision in decisions])

    def neither(self, decisions: list) -> None:
        self.send([pb.Move(decision=decision.id) for decision in decisions])

    def error(self, decisions: list) -> None:
        self.send([pb.Move(decision=d.id, error="\x1b[31mno idea\x07") for d in decisions])

    def twice(self, decisions: list) -> None:
        self.well(decisions)
        self.well(decisions)

    def wrong_ids(self, decisions: list) -> None:
        """Lies about ids: of the past, of the future, and of nothing; then answers well."""
        lies = [*self.seen[-3:], *(d.id + 1000 for d in decisions), 0, 2**32 - 1]
        self.send([move(number, [0]) for number in lies])
        self.well(decisions)

    def stall(self, decisions: list) -> None:
        """Never answers again after its third batch."""
        if self.batches <= 3:
            self.well(decisions)

    def hoard(self, decisions: list) -> None:
        """Answers all but one decision of each batch."""
        self.well(decisions[1:])

    def slow(self, decisions: list) -> None:
        """Answers each decision after it has become late."""
        time.sleep(1.5)
        self.well(decisions)

    def think_long(self, decisions: list) -> None:
        """Thinks for over ten seconds, once."""
        if self.batches == 1:
            time.sleep(10.5)
        self.well(decisions)

    def crash(self, decisions: list) -> None:
        """Dies in its third batch, half of it answered."""
        self.well(decisions if self.batches < 3 else decisions[: len(decisions) // 2])
        if self.batches == 3:
            print("about to die", flush=True)
            os.kill(os.getpid(), signal.SIGKILL)

    def crash_always(self, _decisions: list) -> None:
        sys.exit("cannot do this")

    def flood(self, decisions: list) -> None:
        """A flood of moves for nothing, without end."""
        self.well(decisions)
        while True:
            self.send([move(2**31 + number, [0]) for number in range(1000)])

    def chatter(self, decisions: list) -> None:
        """A flood of output: megabytes, with its first three batches."""
        for _ in range(100 if self.batches <= 3 else 0):
            os.write(1, b"blah \x1b[2J" * 1000 + b"\n")
        self.well(decisions)

    def deaf(self, _decisions: list) -> None:
        """Closes its stream with decisions open, and lives on."""
        self.stream.close()
        time.sleep(60)

    def slow_exit(self, decisions: list) -> None:
        self.well(decisions)


FAULTS = {
    name.replace("_", "-"): method
    for name, method in vars(Bot).items()
    if callable(method) and not name.startswith("_") and name not in ("send", "answer", "well")
} | {"none": Bot.well}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--fault",
        choices=[
            *FAULTS,
            "no-hello",
            "exit-at-once",
            "wrong-token",
            "wrong-protocol",
            "wrong-games",
        ],
        default="none",
    )
    fault = parser.parse_args().fault
    if fault == "exit-at-once":
        sys.exit(3)
    if fault == "no-hello":
        time.sleep(60)
    token = "guess" if fault == "wrong-token" else os.environ["KNAVERY_TOKEN"]
    options = {"games": ("bridge",)} if fault == "wrong-games" else {}
    with connect(os.environ["KNAVERY_ADDRESS"], token, **options) as stream:
        bot = Bot(stream)
        for envelope in stream:
            decisions = [e.decision for e in envelope.events if e.HasField("decision")]
            if decisions:
                bot.answer(decisions, FAULTS[fault])
    if fault == "slow-exit":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(60)


if __name__ == "__main__":
    main()

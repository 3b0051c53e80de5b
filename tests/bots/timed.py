"""A bot that uses known amounts of processor time: `timed.py HOW SECONDS`.

It plays its smallest legal cards. SECONDS are what it burns for a decision before it answers,
unless HOW says otherwise. Every sixth decision is a hard one.
"""

import os
import sys
import time

from faulty import good  # it lies beside this file

from knavery import client
from knavery.v1 import referee_pb2 as pb

HARD = 6
"""One decision in so many is a hard one."""
HOW, SECONDS = sys.argv[1], float(sys.argv[2])


def burn(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        sum(range(1000))


def in_child(seconds: float) -> None:
    """A child computes, ends, and is reaped."""
    if (pid := os.fork()) == 0:
        burn(seconds)
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0


def in_daemon(seconds: float) -> None:
    """A process that outlives its parent computes, and ends."""
    reader, writer = os.pipe()
    if (pid := os.fork()) == 0:
        if os.fork() == 0:
            burn(seconds)
            os.write(writer, b".")
            os._exit(0)
        os._exit(0)
    os.close(writer)
    assert os.waitpid(pid, 0)[1] == 0
    assert os.read(reader, 1) == b"."
    os.close(reader)


class Bot:
    def __init__(self, stream) -> None:
        self.stream = stream
        self.count = 0

    def send(self, decisions) -> None:
        self.stream.send(pb.Moves(moves=[good(decision) for decision in decisions]))

    def each(self, decisions) -> None:
        """Answers every decision alone."""
        for decision in decisions:
            burn(SECONDS)
            self.send([decision])

    def doze(self, decisions) -> None:
        """Answers every decision alone, and sleeps for it."""
        for decision in decisions:
            time.sleep(SECONDS)
            self.send([decision])

    def hard(self, decisions) -> None:
        """Answers every decision alone, and burns for the hard ones only."""
        for decision in decisions:
            self.count += 1
            burn(SECONDS if self.count % HARD == 0 else 0)
            self.send([decision])

    def pooled(self, decisions) -> None:
        """Answers all of a batch in one message."""
        burn(SECONDS * len(decisions))
        self.send(decisions)

    def off_turn(self, decisions) -> None:
        """Answers at once, and has a child that burns all the time."""
        if not self.count and os.fork() == 0:
            burn(60)
            os._exit(0)
        self.count += 1
        self.send(decisions)

    def child(self, decisions) -> None:
        for decision in decisions:
            in_child(SECONDS)
            self.send([decision])

    def daemon(self, decisions) -> None:
        for decision in decisions:
            in_daemon(SECONDS)
            self.send([decision])

    def hoard(self, decisions) -> None:
        """Keeps its first decision back, and thinks about the others and then about nothing."""
        for decision in decisions[1:]:
            burn(SECONDS)
            self.send([decision])
        while True:
            burn(SECONDS)


def main() -> None:
    address, token = os.environ["KNAVERY_ADDRESS"], os.environ["KNAVERY_TOKEN"]
    with client.connect(address, token) as stream:
        answer = getattr(Bot(stream), HOW.replace("-", "_"))
        for envelope in stream:
            decisions = [e.decision for e in envelope.events if e.HasField("decision")]
            if decisions:
                answer(decisions)


if __name__ == "__main__":
    main()

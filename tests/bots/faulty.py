"""One misbehaving bot with a flag per fault: `faulty.py --fault=stall`.

Between its faults it plays its smallest legal cards. It speaks the protocol by hand, over the SDK's
stream, so that it can break it.
"""

import argparse
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterable

from knavery import client
from knavery.v1 import referee_pb2 as pb

Moves = list[pb.Move]


def move(decision: int, cards: Iterable[int]) -> pb.Move:
    made = pb.Move(decision=decision)
    made.cards.cards.extend(cards)
    return made


def good(decision: object) -> pb.Move:
    if decision.HasField("bid_request"):
        return move(decision.id, decision.hand[: decision.bid_request.choose])
    if not decision.HasField("play_request"):
        return pb.Move(decision=decision.id, error="what is this?")
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

    def revoke(self, decisions: list) -> None:
        """Plays a card that does not follow suit, where it holds one."""
        moves = [good(decision) for decision in decisions]
        for decision, made in zip(decisions, moves, strict=True):
            wrong = [card for card in decision.hand if card not in decision.play_request.legal]
            if wrong and decision.HasField("play_request"):
                made.cards.cards[:] = wrong[:1]
        self.send(moves)

    def four_bid_cards(self, decisions: list) -> None:
        moves = [good(decision) for decision in decisions]
        for decision, made in zip(decisions, moves, strict=True):
            if decision.HasField("bid_request"):
                made.cards.cards[:] = decision.hand[:4]
        self.send(moves)

    def guess(self, decisions: list) -> None:
        """Answers what it does not understand with a card."""
        moves = [good(decision) for decision in decisions]
        for decision, made in zip(decisions, moves, strict=True):
            if made.HasField("error"):
                made.cards.cards.append(decision.hand[0])
        self.send(moves)

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

    def wrong_id(self, decisions: list) -> None:
        """Answers each decision under the number after its own."""
        self.send([move(d.id + 1, good(d).cards.cards) for d in decisions])

    def mute(self, decisions: list) -> None:
        """Never answers."""

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

    def crash_late(self, decisions: list) -> None:
        """Dies in its sixth batch, with an exception."""
        if self.batches == 6:
            raise LookupError("lost the thread")
        self.well(decisions)

    def small_batches(self, decisions: list) -> None:
        """Dies of a batch of more than twenty decisions."""
        if len(decisions) > 20:
            sys.exit("too many at once")
        self.well(decisions)

    def huge(self, decisions: list) -> None:
        """Sends a message that is larger than any may be."""
        self.stream.welcome.max_message_bytes = 2**31 - 1
        self.send([pb.Move(decision=d.id, note="x" * 2_000_000) for d in decisions[:1]])
        self.well(decisions)

    def garbage(self, decisions: list) -> None:
        """Sends what is no message before each answer."""
        self.stream._run(self.stream._call.write(b"\xff\xfe\xfd"))
        self.well(decisions)

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


# Faults that do not lie in an answer: called with each envelope before it is answered.


def knows_all(_stream: object, envelope: pb.Envelope) -> None:
    """Dies of an event that it does not know."""
    if any(event.WhichOneof("event") is None for event in envelope.events):
        sys.exit("what is this event?")


def orderly(_stream: object, envelope: pb.Envelope) -> None:
    """Dies when an event comes after a decision."""
    kinds = [event.HasField("decision") for event in envelope.events]
    if kinds != sorted(kinds):
        sys.exit("events come first")


def forgetful(_stream: object, envelope: pb.Envelope) -> None:
    """Dies when it is to take over a match."""
    if any(event.match_started.HasField("resumed") for event in envelope.events):
        sys.exit("I was not there")


def impatient(_stream: object, _envelope: pb.Envelope) -> None:
    """Dies when nothing comes for half a second."""
    signal.setitimer(signal.ITIMER_REAL, 0.5)


def empty(stream: object, envelope: pb.Envelope) -> None:
    """Answers news of matches that comes without a decision, with no moves."""
    if all(event.HasField("match_started") for event in envelope.events):
        stream.send(pb.Moves())


ON_ENVELOPES = {
    on_envelope.__name__.replace("_", "-"): on_envelope
    for on_envelope in (knows_all, orderly, forgetful, impatient, empty)
}


# Faults of its beginning and its end.


def stay() -> None:
    """Lives on, whatever it is told."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(60)


def leave_child() -> None:
    """Leaves a process behind."""
    if os.fork() == 0:
        os.setsid()
        stay()
        os._exit(0)


def begin(fault: str) -> None:
    """What it does before it connects."""
    if fault == "exit-at-once":
        sys.exit(3)
    if fault == "no-hello":
        time.sleep(60)
    if fault == "garbage-socket":
        with socket.socket(socket.AF_UNIX) as plain:
            plain.connect(os.environ["KNAVERY_ADDRESS"].removeprefix("unix:"))
            plain.sendall(b"HELLO, I AM A BOT\r\n" * 100)
            time.sleep(60)


def end(fault: str, said_goodbye: bool) -> None:
    """What it does when its stream is over."""
    if fault == "slow-exit" or (fault == "clings" and not said_goodbye):
        stay()
    if fault == "crash-at-exit" and said_goodbye:
        raise LookupError("no way out")
    if fault == "leaves-child":
        leave_child()


ENDS = (
    *("no-hello", "exit-at-once", "wrong-token", "wrong-protocol", "wrong-games", "garbage-socket"),
    *("stubborn", "clings", "crash-at-exit", "leaves-child"),
)


def play(stream: object, fault: str) -> bool:
    """Until the stream ends; whether that was with a goodbye."""
    bot, said_goodbye = Bot(stream), False
    on_envelope = ON_ENVELOPES.get(fault, lambda *_: None)
    answer = FAULTS.get(fault, Bot.well)
    for envelope in stream:
        on_envelope(stream, envelope)
        said_goodbye = envelope.events[-1].HasField("goodbye")
        decisions = [e.decision for e in envelope.events if e.HasField("decision")]
        if decisions:
            bot.answer(decisions, answer)
    return said_goodbye


def main() -> None:
    parser = argparse.ArgumentParser()
    names = [*FAULTS, *ON_ENVELOPES, *ENDS]
    parser.add_argument("--fault", choices=names, default="none")
    fault = parser.parse_args().fault
    begin(fault)
    token = "guess" if fault == "wrong-token" else os.environ["KNAVERY_TOKEN"]
    options = {"games": ("bridge",)} if fault == "wrong-games" else {}
    if fault == "wrong-protocol":
        client.PROTOCOL = 7
    said_goodbye = False
    try:
        with client.connect(os.environ["KNAVERY_ADDRESS"], token, **options) as stream:
            said_goodbye = play(stream, fault)
    except client.Rejected:
        if fault != "stubborn":
            raise
        stay()
    end(fault, said_goodbye)


if __name__ == "__main__":
    main()

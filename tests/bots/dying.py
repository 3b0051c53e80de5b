"""A bot that dies (SIGKILL) at the first moment of a kind, `--at`. It prints each final result that
it is told, and its goodbye.

Moments: bid, first (asked in a deal's first trick), mid (asked with a later trick under way), last
(its last card of a deal is played), between (a deal is over), never.
"""

import argparse
import os
import signal

from knavery import client
from knavery.v1 import referee_pb2 as pb


def move(decision: object) -> pb.Move:
    made = pb.Move(decision=decision.id)
    if decision.HasField("bid_request"):
        made.cards.cards.extend(decision.hand[: decision.bid_request.choose])
    else:
        made.cards.cards.extend(decision.play_request.legal[:1])
    return made


def moment(decision: object) -> set[str]:
    """What a decision is."""
    if decision.HasField("bid_request"):
        return {"bid"}
    found = {"first"} if len(decision.leaders) == 1 else set()
    if decision.trick and len(decision.leaders) > 2:
        found.add("mid")
    return found


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def told(event: object) -> None:
    if event.HasField("match_finished"):
        over = event.match_finished
        print("over", over.match, *over.totals, "places", *over.places, flush=True)
    if event.HasField("goodbye"):
        print("goodbye", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--at", default="never")
    arguments = parser.parse_args()
    address, token = os.environ["KNAVERY_ADDRESS"], os.environ["KNAVERY_TOKEN"]
    with client.connect(address, token) as stream:
        for envelope in stream:
            for event in envelope.events:
                told(event)
                if event.HasField("deal_finished") and arguments.at == "between":
                    die()
                if not event.HasField("decision"):
                    continue
                if arguments.at in moment(event.decision):
                    die()
                stream.send(pb.Moves(moves=[move(event.decision)]))
                if arguments.at == "last" and len(event.decision.hand) == 1:
                    die()


if __name__ == "__main__":
    main()

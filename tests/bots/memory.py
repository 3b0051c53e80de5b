"""A bot that prints every deal that it has seen the end of, to be read in its log."""

import os

from knavery.client import connect
from knavery.v1 import referee_pb2 as pb


def main() -> None:
    with connect(os.environ["KNAVERY_ADDRESS"], os.environ["KNAVERY_TOKEN"]) as stream:
        for envelope in stream:
            moves = pb.Moves()
            for event in envelope.events:
                if event.HasField("decision"):
                    decision = event.decision
                    cards = decision.play_request.legal[:1] or decision.hand[:3]
                    moves.moves.add(decision=decision.id).cards.cards.extend(cards)
                elif event.HasField("deal_finished"):
                    # by distance from the dealer: what a seat is dealt depends on the seating
                    deal = event.deal_finished
                    count = len(deal.hands)
                    hands = [deal.hands[(deal.dealer + n) % count].cards for n in range(count)]
                    print("deal", [sorted(hand) for hand in hands], flush=True)
            if moves.moves:
                stream.send(moves)


if __name__ == "__main__":
    main()

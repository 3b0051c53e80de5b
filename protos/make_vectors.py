"""Makes the conformance vectors and the protocol guide's transcript: `python
protos/make_vectors.py [FOLDER]` (vectors/README.md).

A deal of every game and variant is played by the referee's own code, each choice drawn from a fixed
key, and written as the referee would send it. The transcript is one seat's part of one of them.
"""

import json
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

from google.protobuf import json_format
from google.protobuf.message import Message

from knavery.v1 import referee_pb2 as pb
from referee import wire
from referee.games.registry import GAMES, joined_variants, make_rules, variants
from referee.games.rules import Rules
from referee.games.shuffle import Stream, derive, seed64
from referee.match import Ask, ClockRules, DealOver, Match, MatchJob
from referee.player import Batch
from referee.wire_rules import rules_message

HERE = Path(__file__).resolve().parent
KEY = b"vectors"


def plain(message: Message) -> dict[str, Any]:
    """A message in the JSON mapping, fields that are zero included."""
    made: dict[str, Any] = json_format.MessageToDict(
        message, always_print_fields_with_no_presence=True
    )
    return made


def deal(rules: Rules) -> Iterator[tuple[tuple[int, ...], pb.Event, list[int]]]:
    """The first deal of a match by these rules: who is told, the event, and the answer, if any."""
    stream = Stream(KEY, b"moves")
    seeds = tuple(seed64(KEY, "seed", seat) for seat in range(rules.players))
    waiting = Match(MatchJob("vectors", "vectors", rules, derive(KEY, "deals"), seeds)).start()
    ids = count(1)
    while waiting:
        output = waiting.pop(0)
        if isinstance(output, Ask):
            output.id = next(ids)
            (event,) = wire.event_messages(Batch((), (output,)))
            legal = output.match.deal.view(output.seat).legal
            answer = sorted(stream.shuffled(legal)[: output.match.deal.choose])
            yield (output.seat,), event, answer
            waiting += output.match.answer(output, answer)
        else:
            (event,) = wire.event_messages(Batch((output.event,), ()))
            yield output.seats, event, []
            if isinstance(output.event, DealOver):
                return


def vectors(rules: Rules) -> dict[str, Any]:
    """Every decision of the deal with its answer, and the outcome."""
    made: dict[str, Any] = {
        "format": "knavery.vectors/1",
        "game": rules.game,
        "variant": rules.variant,
        "rules": plain(rules_message(rules)),
        "decisions": [],
    }
    for _, event, answer in deal(rules):
        shown = plain(event)
        if "decision" in shown:
            del shown["decision"]["rules"]
            made["decisions"].append(shown | {"answer": answer})
        made |= {"finished": shown["dealFinished"]} if "dealFinished" in shown else {}
    return made


def transcript(seat: int = 1) -> str:
    """What one seat and the referee say to each other in one deal, a message a line."""
    said = ["bot: " + json.dumps({"hello": {"token": "...", "protocol": 1, "sdk": "by hand 1"}})]
    welcome = wire.welcome(ClockRules(), None, 256, 4 * 2**20)
    said.append("referee: " + json.dumps({"welcome": plain(welcome)}))
    for seats, event, answer in deal(make_rules("ninety-nine")):
        if seat not in seats:
            continue
        said.append("referee: " + json.dumps({"envelope": {"events": [plain(event)]}}))
        if answer:
            move = {"decision": event.decision.id, "cards": {"cards": answer}}
            said.append("bot: " + json.dumps({"moves": {"moves": [move]}}))
    said.append(
        "referee: " + json.dumps({"envelope": {"events": [{"goodbye": {"reason": "..."}}]}})
    )
    return "\n".join(said) + "\n"


def lines(made: dict[str, Any]) -> Iterator[str]:
    """One decision a line, so that a difference can be read."""
    yield "{"
    for name, value in made.items():
        if name == "decisions":
            yield f'"{name}": ['
            yield ",\n".join(json.dumps(each) for each in value)
            yield "],"
        else:
            yield f'"{name}": {json.dumps(value)}{"" if name == "finished" else ","}'
    yield "}\n"


def write(folder: Path) -> None:
    """Writes a file for each game and variant, and the transcript."""
    folder.mkdir(parents=True, exist_ok=True)
    for game in GAMES:
        for variant in (*variants(game), *joined_variants(game)):
            text = "\n".join(lines(vectors(make_rules(game, variant))))
            (folder / f"{game}.{variant}.json").write_text(text)
    (folder / "transcript.txt").write_text(transcript())


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "vectors")

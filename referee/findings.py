"""What went wrong in a rehearsal, in words for the bot's author: what came, and the likely mend."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from referee.games.cards import CARDS, text
from referee.process import printable
from referee.rehearsal import BIDS, Life, Slip, Stage
from referee.server import CLOSED, HUNG_UP

LINES = 6
"""Lines of a cause, or of a bot's log, that are shown."""
WIDTH = 300
"""Characters of each."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was wrong. `kind` is one word for what it is; `lethal`: the process of the bot
    was gone after it. The texts are harmless on a terminal."""

    kind: str
    came: str
    mend: str
    lethal: bool = False

    @property
    def shows_log(self) -> bool:
        """Whether the end of the bot's log may say more."""
        return self.lethal or self.kind in ("exit", "stays")


class Failed(Exception):  # noqa: N818
    """A step has not passed."""

    def __init__(self, *findings: Finding) -> None:
        super().__init__(findings[0].came)
        self.findings = findings


_LOSSES = (
    (
        r"(Syntax|Indentation|Tab)Error",
        "syntax",
        "the program does not parse: mend the line that its log names",
    ),
    (
        r"(ModuleNotFound|Import)Error",
        "import",
        "install the missing package for the Python that runs Knavery, or name it in "
        "requirements.txt; a file of your own must be in the bot's folder",
    ),
    (
        r"could not be started",
        "command",
        "mend `run` in bot.toml: its first word must be a program in the folder or on the PATH",
    ),
    (
        r"token is wrong",
        "token",
        "send the value of the environment variable KNAVERY_TOKEN as Hello.token, and read it at "
        "each start",
    ),
    (
        r"first message has to be",
        "hello",
        "make the first message of the stream a knavery.v1.FromBot that holds a Hello",
    ),
    (
        r"no hello within",
        "hello",
        "dial the gRPC target in KNAVERY_ADDRESS, open /knavery.v1.Referee/Play, and send a Hello "
        "as the first message; what takes long to load counts too",
    ),
    (
        r"the bot speaks protocol",
        "protocol",
        "send 1 as Hello.protocol, or use the SDK that comes with this Knavery",
    ),
    (r"rejected: ", "hello", "mend the Hello as the reason says"),
    (
        r"flooded the referee",
        "flood",
        "send one Move for each Decision and nothing else: no answers in a loop or by a timer",
    ),
    (
        r"hung: no answer",
        "silent",
        "answer every Decision of an envelope, each in a Move with the decision's id; look for a "
        "wait that never ends, and flush what you write",
    ),
    (
        r"does not read",
        "deaf",
        "read the stream while you compute: take the next envelope as soon as the last is answered",
    ),
    (
        r"a message of [\d,]+ bytes",
        "huge",
        "send a few KB at most: a Move holds a number and one card, or three for a bid, and a "
        "note of 256 bytes",
    ),
    (
        r"its process ended",
        "crashed",
        "its log may say why; answer a decision that you cannot make with an `error`, so that it "
        "costs only that decision",
    ),
    (
        r"",
        "hung-up",
        "keep the one stream open until the Goodbye, and do not exit or half-close before it",
    ),
)
"""Why a process was lost: pattern of the cause, kind, mend. The first that fits counts."""


def loss(cause: str) -> Finding:
    """What to say of a process that ended, or was ended, when it should not have."""
    kind, mend = next((k, m) for pattern, k, m in _LOSSES if re.search(pattern, cause))
    return Finding(kind, clipped(cause), mend, lethal=True)


LATE_MEND = (
    "decide faster, send each answer as soon as you have it, and say in the Hello how many "
    "decisions (max_batch) and tables (max_tables) you can bear at once"
)

_BAD_BID = "answer a bid with as many different cards of `hand` as `bid_request.choose` says"
_SLIPS = {
    "illegal": "answer with exactly one card, and one of `play_request.legal` of that decision",
    "malformed": "put `cards` into every Move, or `error` when there are none to name",
    "exception": "the bot answered with an error of its own: mend what the text names",
    "late": LATE_MEND,
    "crashed": "its process ended with this decision open: see its log",
    "absent": "its process was not there to be asked: see its log",
}


def slips(found: Iterable[Slip], *, apart: bool = False) -> Iterator[Finding]:
    """What to say of faults: one finding for each kind of fault, for bids and plays; `apart`: for
    each kind of decision."""
    groups: dict[tuple[str, str | bool], list[Slip]] = {}
    for slip in found:
        asked = slip.asked.kind if slip.asked else ""
        groups.setdefault((slip.kind, asked if apart else asked in BIDS), []).append(slip)
    for group in groups.values():
        yield _about(group)


def _about(group: Sequence[Slip]) -> Finding:
    """What to say of faults of a kind: how many, and the first."""
    first = group[0]
    kind, asked = first.kind, first.asked
    times = "" if len(group) == 1 else f", {len(group)} times, first"
    where = f" in {asked.kind} ({asked.where})" if asked else ""
    answer = _answer(first) if kind == "illegal" else ""
    bid = asked is not None and asked.kind in BIDS
    mend = _BAD_BID if kind == "illegal" and bid else _SLIPS[kind]
    return Finding(kind, clipped(f"{kind}{times}{where}: {first.cause}{answer}"), mend)


def _answer(slip: Slip) -> str:
    """The cards of an illegal answer."""
    if slip.answer is None:
        return ""
    cards = slip.answer.cards.cards[:8]
    more = " ..." if len(slip.answer.cards.cards) > len(cards) else ""
    named = text([card for card in cards if card < CARDS]) or "no card"
    return f" (it answered {named}{more})"


_STRAY_MEND = (
    "answer each Decision once, under the id that it came with; forget it when it was answered"
)


def strays(lives: Iterable[Life]) -> Iterator[Finding]:
    """What to say of messages and moves that are no answers."""
    for life in lives:
        for words, count in life.strays.items():
            times = "" if count == 1 else f", {count:,} times"
            if "FromBot" in words:
                mend = "after the Hello send knavery.v1.FromBot messages with Moves, as protobuf"
                yield Finding("unreadable", words + times, mend)
            else:
                yield Finding("stray", words + times, _STRAY_MEND)


def of(stage: Stage) -> list[Finding]:
    """All that was wrong in a generation, the worst first."""
    found = [loss(_whole(stage, cause)) for cause in stage.losses]
    return [*found, *slips(stage.slips), *strays(stage.lives)]


def _whole(stage: Stage, cause: str) -> str:
    """Why a process was lost, with what its stream tells beyond that."""
    for life in stage.lives:
        if life.end not in ("", HUNG_UP, CLOSED, cause):
            cause = f"{life.end}; {cause}"
        if life.refused and life.refused[-1] not in cause:
            cause = f"{cause}; it was sent away: {life.refused[-1]}"
    return cause


def clipped(words: str) -> str:
    """A text with words of a bot made harmless, and not too long."""
    lines = [line.rstrip()[:WIDTH] for line in printable(words).splitlines() if line.strip()]
    return "\n".join(lines[:LINES])


def last_lines(log: str) -> tuple[str, ...]:
    """The end of a log of a bot that was made harmless."""
    lines = [line.rstrip()[:WIDTH] for line in log.splitlines() if line.strip()]
    return tuple(lines[-LINES:])

"""Matches in this process, without a referee's clock: for unit tests and notebooks.

The same rules, the same messages and the same `Host` as in a tournament, so that a bot sees no
difference but in the time it has. Design, section 9.
"""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from knavery.bot import Bot
from knavery.host import Host
from knavery.shipped import shipped_bot
from knavery.v1 import referee_pb2 as pb
from referee import wire
from referee.games.registry import make_rules
from referee.games.rules import Rules
from referee.games.shuffle import derive, seed64
from referee.match import Ask, Fault, FaultKind, Match, MatchJob, MatchResult, Output, Tell
from referee.player import Batch


@dataclass(frozen=True, slots=True)
class PlayResult:
    """What `play` gives back. Tuples over bots are by seat, as the bots were named."""

    rules: Rules
    bots: tuple[str, ...]
    matches: tuple[MatchResult, ...]
    """Each match's totals, places, faults, notes and deals."""
    trouble: tuple[str, ...]
    """The traceback of every exception in the bots' code, in order, those in hooks included."""

    @property
    def deals(self) -> int:
        """Deals played, in all matches."""
        return sum(len(match.deals) for match in self.matches)

    @property
    def totals(self) -> tuple[tuple[int, ...], ...]:
        """Points by match and seat."""
        return tuple(match.totals for match in self.matches)

    @property
    def places(self) -> tuple[tuple[int, ...], ...]:
        """Places by match and seat: 1 is first, ties share the better place."""
        return tuple(match.places for match in self.matches)

    @property
    def points_per_deal(self) -> tuple[float, ...]:
        """Mean points of a deal, by seat."""
        return tuple(sum(points) / self.deals for points in zip(*self.totals, strict=True))

    @property
    def faults(self) -> tuple[Fault, ...]:
        """Every fault, in order; `fault.detail` says where and why."""
        return tuple(fault for match in self.matches for fault in match.faults)

    def __str__(self) -> str:
        lines = [
            f"{self.rules.game}/{self.rules.variant}: {len(self.matches)} matches, "
            f"{self.deals} deals",
            f"{'seat  bot':26}{'points':>8}{'a deal':>9}{'mean place':>12}{'faults':>8}",
        ]
        for seat, name in enumerate(self.bots):
            points = sum(totals[seat] for totals in self.totals)
            place = sum(places[seat] for places in self.places) / len(self.matches)
            faults = sum(fault.seat == seat for fault in self.faults)
            lines.append(
                f"{seat:4}  {name[:20]:20}{points:8}{self.points_per_deal[seat]:9.2f}"
                f"{place:12.2f}{faults:8}"
            )
        return "\n".join([*lines, *map(_told, self.faults[:3])])


def _told(fault: Fault) -> str:
    where = fault.phase if fault.trick is None else f"trick {fault.trick}"
    return (
        f"seat {fault.seat}, deal {fault.deal}, {where}: {fault.kind.name.lower()}\n"
        + "\n".join(f"  {line}" for line in fault.detail.splitlines())
    )


def play(
    bots: Sequence[type[Bot] | str],
    game: str = "knave",
    variant: str = "classic",
    matches: int = 1,
    seed: int = 0,
) -> PlayResult:
    """Play matches between bots, given by seat as classes or as names of shipped ones.

    The same seed gives the same deals and the same `rng`, whoever plays. RulesError for an
    unknown game or variant, ValueError for bots that do not fit it.
    """
    rules = make_rules(game, variant)
    classes = [_bot(each) for each in bots]
    _check(classes, rules)
    trouble: list[str] = []
    hosts = [Host(each, trouble.append) for each in classes]
    key = derive(str(seed).encode(), "play")
    return PlayResult(
        rules,
        tuple(each if isinstance(each, str) else each.__name__ for each in bots),
        tuple(_play_match(_job(rules, key, number), hosts) for number in range(matches)),
        tuple(trouble),
    )


def _bot(bot: object) -> type[Bot]:
    if isinstance(bot, str):
        return shipped_bot(bot)
    if inspect.isclass(bot) and issubclass(bot, Bot):
        return bot
    raise ValueError(f"{bot!r} is no bot: give a class made from Bot, or a shipped bot's name")


def _check(bots: Sequence[type[Bot]], rules: Rules) -> None:
    if len(bots) != rules.players:
        raise ValueError(
            f"{rules.game}/{rules.variant} has {rules.players} seats and {len(bots)} bots were "
            "given: name one for each seat"
        )
    for bot in bots:
        if bot.games and rules.game not in bot.games:
            raise ValueError(
                f"{bot.__name__} does not play {rules.game}: its games are {bot.games}"
            )


def _job(rules: Rules, key: bytes, number: int) -> MatchJob:
    seeds = tuple(seed64(key, "seed", number, seat) for seat in range(rules.players))
    return MatchJob(f"match {number}", f"m{number}", rules, derive(key, "deals", number), seeds)


def _play_match(job: MatchJob, hosts: Sequence[Host]) -> MatchResult:
    match = Match(job)
    outputs: deque[Output] = deque(match.start())
    while outputs:
        output = outputs.popleft()
        if isinstance(output, Ask):
            outputs.extend(_ask(match, output, hosts[output.seat]))
        else:
            _tell(output, hosts)
    assert match.result is not None
    return match.result


def _tell(tell: Tell, hosts: Sequence[Host]) -> None:
    events = wire.event_messages(Batch((tell.event,), ()))
    for seat in tell.seats:
        for _ in hosts[seat].answers(events):
            pass


def _ask(match: Match, ask: Ask, host: Host) -> Sequence[Output]:
    ask.id = 1
    events: Sequence[pb.Event] = wire.event_messages(Batch((), (ask,)))
    (answered,) = host.answers(events)
    (move,) = wire.moves(answered)
    if move.cards is not None:
        return match.answer(ask, move.cards, note=move.note)
    return match.fault(ask, FaultKind.EXCEPTION, move.error or "")

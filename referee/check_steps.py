"""How each step of `knavery check` is tried: `check.py` lists them, docs/checking-a-bot.md explains
them.

An attempt returns a few words on what it saw, or raises `Failed`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from statistics import median

import trio

from knavery.v1.referee_pb2 import Hello
from referee import findings, taps, wire
from referee.bots import Bot
from referee.clock import GRACE
from referee.endings import GOODBYE_GRACE
from referee.findings import Failed, Finding
from referee.games.registry import CLASSIC, GAMES, joined_variants, make_rules
from referee.rehearsal import EXIT_PATIENCE, Life, Rehearsal, Stage, Tap, positions

STEP_TIME = 1.5
"""Seconds that a step should take at the bot's pace: it decides how many tables are played."""
DECISIONS_A_DEAL = 15
PRINTED = 1_000_000
"""Bytes that one process may print in a rehearsal."""
TABLES = 64
"""The most tables of the step `tables`."""
PLAYED_DEALS = 10
"""Deals that a whole match is taken to have where its bank is weighed."""


@dataclass(slots=True)
class Trial:
    """What is known of a bot while the steps go on."""

    bot: Bot
    rehearsal: Rehearsal
    hello: Hello | None = None
    games: list[str] = field(default_factory=list)
    """The games it claims."""
    stages: dict[str, Stage] = field(default_factory=dict)
    """By game, how it played the variants."""
    known: set[str] = field(default_factory=set)
    """Kinds of findings that the games have shown, and that later steps do not repeat."""
    start: float | None = None
    """Seconds from its start to its hello."""

    @property
    def game(self) -> str | None:
        """A game through which its process lasted."""
        fit = (game for game, stage in self.stages.items() if not stage.losses)
        return next(fit, None)

    @property
    def spent(self) -> list[float]:
        """What each decision cost so far, in seconds."""
        return [spent for life in self.rehearsal.lives for spent in life.spent]

    def tables(self, most: int) -> int:
        """How many tables of one deal fit into a step's time, from 2 to `most`."""
        pace = median(self.spent) if self.spent else 0.0
        fit = int(STEP_TIME / (pace * DECISIONS_A_DEAL)) if pace else most
        return max(2, min(fit, most))

    async def play(
        self, tap: type[Tap], tables: int, *, restarts: int = 0, slack: float = 0.0
    ) -> Stage:
        """Deals of the game that it plays; `slack` is added to the limit, in seconds."""
        rules = [make_rules(self.game or "", max_deals=1)] * self.tables(tables)
        clock = self.rehearsal.clock
        clock = replace(clock, limit=clock.limit + slack)
        return await self.rehearsal.play(rules, tap, restarts=restarts, clock=clock)

    def judge(self, stage: Stage, apart: Collection[str] = ()) -> str:
        """Failed if anything was wrong that is not known, nor of the kinds in `apart`; otherwise
        which of the known was seen again, to go behind other words."""
        found = [each for each in findings.of(stage) if each.kind not in apart or each.lethal]
        if new := [each for each in found if each.lethal or each.kind not in self.known]:
            raise Failed(*new)
        kinds = sorted({each.kind for each in found})
        return f"; as in the games: {', '.join(kinds)}" if kinds else ""


async def start(trial: Trial) -> str:
    """Starts it, until it says hello."""
    game = trial.bot.games[0] if trial.bot.games else next(iter(GAMES))
    stage = await trial.rehearsal.play([make_rules(game, max_deals=1)], taps.Greeting)
    trial.judge(stage)
    life = stage.lives[-1]
    trial.hello, trial.start = life.hello, life.hello_after
    return f"said hello {life.hello_after:.2f} s after its start"


async def hello(trial: Trial) -> str:
    """Reads its hello again. No process is needed for that."""
    said, own = trial.hello or Hello(), trial.bot.games
    if reason := wire.objection(said, said.games[0] if said.games else ""):
        raise Failed(findings.loss(f"rejected: {reason}"))
    trial.games = [
        game
        for game in GAMES
        if (not said.games or game in said.games) and (not own or game in own)
    ]
    if found := [*_bad_games(said, own)]:
        raise Failed(*found)
    words = f"{said.sdk or 'no SDK named'}, {said.language or 'no language named'}"
    return findings.clipped(f"plays {', '.join(trial.games)}; {words[: wire.TEXT_BYTES]}")


def _bad_games(said: Hello, promised: Sequence[str]) -> Iterator[Finding]:
    for game in said.games:
        if game not in GAMES:
            near = get_close_matches(game, GAMES, 1)
            mend = f"did you mean {near[0]}" if near else f"name some of {', '.join(GAMES)}"
            came = findings.clipped(f"Hello.games names {game!r:.60}, which is no game here")
            yield Finding("games", came, f"{mend}; or leave the list empty, for all of them")
    for game in promised:
        if said.games and game not in said.games:
            came = f"bot.toml says that it plays {game}, and its Hello does not"
            yield Finding("games", came, "make `games` the same in both")


async def play(trial: Trial, game: str) -> str:
    """Every variant of a game, one deal each, two of the classic one."""
    rules = [
        make_rules(game, name, max_deals=1 + (name == CLASSIC)) for name in joined_variants(game)
    ]
    stage = await trial.rehearsal.play(rules)
    trial.stages[game] = stage
    found = findings.of(stage)
    trial.known |= {finding.kind for finding in found if not finding.lethal}
    if found:
        raise Failed(*found)
    return f"{len(rules)} variants, {stage.decisions} decisions"


async def views(trial: Trial) -> str:
    """Looks at the decisions of the games by their kind."""
    asked: dict[str, int] = {}
    for stage in trial.stages.values():
        for life in stage.lives:
            for each in life.asked.values():
                asked[each.kind] = asked.get(each.kind, 0) + 1
    slips = [slip for stage in trial.stages.values() for slip in stage.slips]
    if found := [*findings.slips(slips, apart=True)]:
        raise Failed(*found)
    wanted = [kind for game in trial.stages for kind in positions(make_rules(game))]
    if missed := [kind for kind in dict.fromkeys(wanted) if kind not in asked]:
        return f"answered all that came; {', '.join(missed)} did not come"
    return ", ".join(f"{kind}: {count}" for kind, count in asked.items())


async def batches(trial: Trial) -> str:
    stage = await trial.play(taps.Regrouping, 24)
    known = trial.judge(stage)
    return f"{stage.decisions} decisions in batches of 1 to {stage.lives[0].largest}{known}"


async def tables(trial: Trial) -> str:
    most = TABLES
    if (limit := _max_tables(trial)) is not None:
        most = min(most, 2 * limit)
    stage = await trial.play(Tap, most)
    known = trial.judge(stage)
    more = "" if limit is None else f", at most {limit} at once as it says"
    return f"{len(stage.results)} tables{more}, {stage.decisions} decisions{known}"


def _max_tables(trial: Trial) -> int | None:
    own = trial.bot.max_tables
    said = trial.hello.max_tables if trial.hello and trial.hello.HasField("max_tables") else None
    return min((limit for limit in (own, said) if limit is not None), default=None)


async def newer(trial: Trial) -> str:
    stage = await trial.play(taps.Newer, 3)
    known = trial.judge(stage)
    tap = stage.taps[0]
    if not (isinstance(tap, taps.Newer) and tap.asked):
        return f"passed over unknown fields and events; no room to ask for the unknown{known}"
    if tap.answer is None or not tap.answer.HasField("error"):
        came = "cards" if tap.answer else "no answer"
        raise Failed(
            Finding(
                "newer",
                f"{came} to a decision that asks for what this version does not know",
                "answer a Decision whose `request` is neither a bid nor a play with an `error`",
            )
        )
    return f"passed over unknown fields and events; an error for an unknown request{known}"


async def restart(trial: Trial) -> str:
    stage = await trial.play(taps.Killing, 4, restarts=1)
    killed, *more = stage.losses or ["it was not killed"]
    if "ended by the referee" in killed:
        stage.losses = more
    known = trial.judge(stage, apart=("crashed",))
    return f"killed in the middle; the next took over {len(stage.results)} matches{known}"


async def slow(trial: Trial) -> str:
    stage = await trial.play(taps.Slow, 2, slack=2 * taps.PAUSE)
    known = trial.judge(stage)
    return f"waited {taps.PAUSE:g} s for its welcome, and again in the middle{known}"


async def rejected(trial: Trial) -> str:
    game = trial.games[0]
    stage = await trial.rehearsal.play([make_rules(game, max_deals=1)], taps.Rejecting)
    life = _exited(stage, EXIT_PATIENCE, "after it was rejected")
    heard = taps.REASON in life.process.log_tail() if life.process else False
    words = life.exit.words if life.exit else ""
    return f"{words}, and printed the reason" if heard else f"{words}; it could print the reason"


async def hang_up(trial: Trial) -> str:
    stage = await trial.play(taps.HangingUp, 2)
    if not stage.hung_up:
        trial.judge(stage)
        return "it was never in the middle of a match"
    life = _exited(stage, EXIT_PATIENCE, "after the stream had ended")
    return life.exit.words if life.exit else ""


def _exited(stage: Stage, patience: float, when: str) -> Life:
    """The last life, which should have exited by itself."""
    life = stage.lives[-1]
    if life.process is None:
        raise Failed(*findings.of(stage))
    if life.exit is None:
        raise Failed(
            Finding(
                "stays",
                f"was still running {patience:g} s {when}",
                "exit when the stream ends, for whatever reason; do not dial again",
            )
        )
    return life


async def goodbye(trial: Trial) -> str:
    stage = await trial.play(taps.Parting, 2)
    known = trial.judge(stage)
    life = stage.lives[-1]
    if life.exit is None:
        mend = "exit at once after a Goodbye: end threads and children, close the stream"
        came = f"was still running {GOODBYE_GRACE:g} s after the goodbye"
        raise Failed(Finding("stays", came, mend))
    found = []
    if life.exit.status != 0:
        mend = "exit with status 0 after a Goodbye: its log may say what went wrong"
        found.append(Finding("exit", f"{life.exit.words} after the goodbye", mend))
    if life.exit.left:
        came = f"left {life.exit.left} process(es) of its own running when it exited"
        found.append(Finding("child", came, "end and await every process that you start"))
    if found:
        raise Failed(*found)
    return f"{life.exit.words}, and left nothing behind{known}"


async def time(trial: Trial) -> str:
    """Weighs the decisions of all steps so far against limit and bank."""
    clock = trial.rehearsal.clock
    late = [s for life in trial.rehearsal.lives for s in life.slips if s.kind == "late"]
    if late:
        came = f"late decisions: {len(late)}"
        raise Failed(Finding("late", came, findings.LATE_MEND))
    if not trial.spent:
        raise Failed(Finding("silent", "it answered no decision", findings.LATE_MEND))
    over = [max(0.0, spent - clock.limit - GRACE) for spent in trial.spent]
    match = PLAYED_DEALS * DECISIONS_A_DEAL
    need = match * sum(over) / len(over)
    if need > clock.bank:
        came = f"a match of {match} decisions would take {need:.3g} s beyond the limit"
        raise Failed(Finding("slow", came, findings.LATE_MEND))
    return f"{sum(map(bool, over))} of {len(over):,} decisions took longer than the limit"


async def output(trial: Trial) -> str:
    """How much its processes printed, once they have all ended."""
    printed = [0]
    for life in trial.rehearsal.lives:
        if life.process:
            with trio.move_on_after(2 * GOODBYE_GRACE):
                printed.append((await life.process.wait()).printed)
    if max(printed) > PRINTED:
        came = f"one process printed {max(printed):,} bytes"
        mend = "print less: only the first and last 64 KB are kept, and printing takes time"
        raise Failed(Finding("output", came, mend))
    return f"{max(printed):,} bytes at the most by one process"

"""What comes while the referee stands still comes in time (design, section 5).

The referee stands still where both of its threads sleep; tests/referee/test_time.py stops a whole
one, as a machine does."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
import trio
from trio.testing import MockClock, trio_test

from knavery import Bot, Card, View
from knavery.client import connect
from knavery.host import Host
from knavery.v1.referee_pb2 import FromReferee
from referee import desk, remote
from referee.companions import Companion
from referee.endings import Died
from referee.generation import Contestant, Desk, Generation, play_generation
from referee.house import House, Line, open_house
from referee.match import ClockRules, FaultKind, FaultRules, MatchResult
from referee.player import Player
from referee.server import Door, Guest
from referee.streams import GrpcThread
from referee.tables import Tables
from referee.timing import LOOK, in_time
from tests.referee.posts import a_post, hello, in_thread, raw_bot
from tests.referee.scripted import Table, seated, smallest
from tests.referee.test_generation import FAULTY, folder_bot


def stand_still(thread: GrpcThread, seconds: float) -> None:
    """Neither of the referee's threads does anything for so long."""
    thread.call(time.sleep, seconds)
    time.sleep(seconds)


class StandingStill:
    """A house whose referee stands still for `lost` seconds and notices it when it catches up."""

    clock = ClockRules(limit=1.0, bank=2.0, hang=1.0)
    longest = 4.0
    """Seconds that a message may wait to be taken by such a clock."""

    def __init__(self, *lost: float) -> None:
        self._lost = 0.0
        self._to_come = list(lost)

    def now(self) -> float:
        return trio.current_time() - self._lost

    async def caught_up(self) -> None:
        self._lost += self._to_come.pop(0) if self._to_come else 0.0


def by_turned_clock(main: Callable[[], Awaitable[None]]) -> None:
    """Runs under a clock that jumps to when something is due."""

    async def whole() -> None:
        await main()

    trio.run(whole, clock=MockClock(autojump_threshold=0))


@pytest.mark.parametrize(
    ("takes", "lost", "comes"),
    [
        (3.9, (), True),
        (4.0 + 2 * LOOK, (), False),
        (3.9, (7.0,), True),
        (3.9, (7.0, 7.0), True),
        (4.0 + 2 * LOOK, (1.0, 0.5), False),
    ],
)
def test_the_referees_own_time_is_given_whole(
    takes: float, lost: tuple[float, ...], comes: bool
) -> None:
    """Work that is begun again after each stall, and takes so many seconds, of the four it has."""

    async def main() -> None:
        still = StandingStill(*lost)
        house, begun = cast(House, still), still.now()

        async def work() -> str:
            await trio.sleep(takes - (still.now() - begun))
            return "done"

        found = await in_time(house, begun + 4.0, still.caught_up, work)
        assert found == ("done" if comes else None)

    by_turned_clock(main)


@pytest.mark.parametrize("lost", [(30.0,), ()])
def test_a_batch_is_sent_again_after_a_stall_and_only_then(lost: tuple[float, ...]) -> None:
    """The stall takes all the time that there is; what waited is sent once, not twice."""
    sent: list[FromReferee | bytes] = []

    class Slow(StandingStill):
        """A line that takes a message two seconds after it was given it, as often as it is."""

        async def send(self, message: FromReferee | bytes) -> None:
            await trio.sleep(self.longest + 2.0 if not self._lost else 2.0)
            sent.append(message)

    async def main() -> None:
        line = Slow(*lost)
        house = SimpleNamespace(clock=line.clock, now=line.now)
        generation = SimpleNamespace(house=house, tables=None, watcher=None)
        contestant = Contestant(Player("a", line.clock), remote.ELSEWHERE)
        place = Desk(cast(Generation, generation), contestant)
        if lost:
            await place._send(cast(Line, line), b"batch")
        else:
            with pytest.raises(Died, match="does not read"):
                await place._send(cast(Line, line), b"batch")

    by_turned_clock(main)
    assert sent == ([b"batch"] if lost else [])


def test_what_a_program_that_is_away_has_open_is_late_by_the_referees_own_time() -> None:
    """It would be late after three seconds; the referee stands still for five of them."""
    clock = StandingStill.clock
    table = Table(seated(max_deals=1, clock=clock), clock=clock, now=0.0)
    table.begin()
    player = table.players["b"]
    table.run({"a": smallest, "c": smallest, "b": lambda _: None})
    (ask,) = player.open.values()
    player.away()

    async def main() -> None:
        still, begun = StandingStill(5.0), table.now
        house = SimpleNamespace(clock=still.clock, now=lambda: begun + still.now())
        generation = SimpleNamespace(
            house=house, tables=table.tables, watcher=None, wake=lambda: None
        )
        contestant = Contestant(player, remote.ELSEWHERE)
        guest = cast(Guest, still)
        place = remote.RemoteDesk(cast(Generation, generation), contestant, guest, print)
        with trio.move_on_after(7.5) as scope:
            await place._keep_time(scope)
        assert ask.match._faults == []
        with trio.move_on_after(1.0) as scope:
            await place._keep_time(scope)
        assert [fault.kind for fault in ask.match._faults] == [FaultKind.LATE]

    by_turned_clock(main)


@trio_test
async def test_a_hello_that_was_said_while_the_referee_stood_still_is_not_too_late(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The stream is open, and the time for its hello runs out while nobody could hear it."""
    monkeypatch.setattr(desk, "HELLO_TIME", 0.3)
    async with a_post() as post:
        opened = trio.Event()
        waiting = desk.Desk._first

        async def first(self: desk.Desk, context: desk._Context) -> object:
            self._thread.tell(opened.set)
            return await waiting(self, context)

        monkeypatch.setattr(desk.Desk, "_first", first)
        with raw_bot(post) as bot:
            await opened.wait()
            bot.say(hello(post.token))
            post._thread.call(time.sleep, 0.6)
            await post.hello()
            assert post.refused == []
        with raw_bot(post) as silent:
            assert "within 0.3 s" in (await silent.hear()).rejected.reason


# Starts, and programs that come by themselves.


class Smallest(Bot):
    def play(self, view: View) -> Card:
        return min(view.legal)


def program(address: str, token: str) -> None:
    """A remote program, until the referee hangs up."""
    host = Host(Smallest, print)
    with connect(address, token, games=("knave",)) as stream:
        for envelope in stream:
            for moves in host.answers(envelope.events):
                stream.send(moves)


@dataclass
class Blame:
    """A watcher that keeps what bots are blamed for."""

    causes: list[str] = field(default_factory=list)

    def starting(self, player: Player, restart: int) -> None: ...
    def arrived(self, player: Player) -> None: ...

    def lost(self, player: Player, cause: str) -> None:
        self.causes.append(f"{player.name}: {cause}")

    def given_up(self, player: Player, cause: str) -> None:
        self.causes.append(f"{player.name}: {cause}")


def test_who_comes_while_the_referee_stands_still_comes_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that is started and a program that comes by itself; the referee stands still for
    more than the start-up limit as soon as both are awaited."""
    clock = ClockRules(limit=10.0, startup=1.5)
    started, results = trio.Event(), list[MatchResult]()
    starting, watcher = House.start, Blame()

    async def start(self: House, *arguments: object) -> object:
        process = await starting(self, *arguments)  # type: ignore[arg-type]
        started.set()
        return process

    monkeypatch.setattr(House, "start", start)

    async def main() -> None:
        entered = folder_bot(tmp_path, "a", FAULTY)
        players = {name: Player(name, clock) for name in "abc"}
        async with (
            open_house("knave", clock, FaultRules(restarts=0), tmp_path / "logs") as house,
            trio.open_nursery() as nursery,
        ):
            door = cast(Door, house.door)
            gate = await door.open_gate("127.0.0.1:0", ["zoe's"])

            async def stall() -> None:
                await started.wait()
                nursery.start_soon(in_thread, lambda: program(f"127.0.0.1:{gate.port}", "zoe's"))
                await trio.lowlevel.checkpoint()
                stand_still(door._thread, clock.startup + 0.5)

            nursery.start_soon(stall)
            tables = Tables(
                seated(clock=clock, max_deals=1),
                list(players.values()),
                lambda _: None,
                lambda _, result: results.append(result),
            )
            field = [
                Contestant(players["a"], entered.prepared),
                remote.contestant(players["b"], gate.guests[0]),
            ]
            await play_generation(house, field, tables, watcher, [Companion(players["c"])])
            await gate.close()

    trio.run(main)
    assert watcher.causes == []
    assert [result.faults for result in results] == [()]

"""Generations in turn: the processes of one start while the one before it drains."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import trio
import trio.testing

from referee.house import House, Turn, open_house
from referee.match import ClockRules, FaultKind, FaultRules
from referee.tables import DRAINING
from tests.referee.process_helpers import running_in
from tests.referee.scripted import Table, seated, smallest
from tests.referee.test_generation import FAULTY, Log, expected, folder_bot, moves, schedule
from tournaments.runner import Entered, play_matches
from tournaments.schedule import Scheduled, Seat

ALL = {"a": smallest, "b": smallest, "c": smallest}


@dataclass
class Arrivals(Log):
    """Also lets a test wait for so many hellos, and counts what lives before each start."""

    here: int = 0
    awaited: int = 0
    all_here: trio.Event = field(default_factory=trio.Event)
    folder: Path | None = None
    most: int = 0

    def process(self, seat: Seat, restart: int) -> None:
        super().process(seat, restart)
        if self.folder:
            self.most = max(self.most, living(self.folder) + 1)

    def arrived(self, seat: Seat) -> None:  # noqa: ARG002
        self.here += 1
        if self.here == self.awaited:
            self.all_here.set()


def living(folder: Path) -> int:
    """How many processes run in a folder."""
    return len(running_in(folder))


def field_of(folder: Path, *faults: str) -> dict[int, Entered]:
    return {
        n: folder_bot(folder, f"bot{n}", FAULTY, "--fault", fault) for n, fault in enumerate(faults)
    }


def generations(count: int, rounds: int = 1) -> list[list[Scheduled]]:
    made = schedule("knave", ClockRules(), FaultRules(restarts=1), rounds)
    return [list(made.generation(list(made.blocks()), number)) for number in range(count)]


def all_honest(log: Log) -> bool:
    return all(
        moves(result) == moves(expected(log.matches[name])) for name, result in log.results.items()
    )


def test_processes_say_hello_before_their_turn_and_play_in_it(tmp_path: Path) -> None:
    entered = field_of(tmp_path, "none", "none", "none", "none")
    (matches,) = generations(1)
    log, before = Arrivals(awaited=4), Turn()

    async def main(house: House) -> None:
        async with trio.open_nursery() as nursery:
            turn = Turn(before)
            nursery.start_soon(lambda: play_matches(house, entered, matches, log, turn=turn))
            await log.all_here.wait()
            await trio.testing.wait_all_tasks_blocked()
            assert log.matches == {}, "it is not their turn"
            before.over.set()

    run(main, tmp_path)
    assert len(log.results) == len(matches)
    assert all_honest(log)


def test_whoever_is_late_or_suspended_is_started_in_its_turn_or_not_at_all(tmp_path: Path) -> None:
    entered = field_of(tmp_path, "none", "none", "none", "none")
    (matches,) = generations(1)
    log, before, suspended = Arrivals(awaited=2), Turn(), dict[int, str]()

    async def main(house: House) -> None:
        async with trio.open_nursery() as nursery:

            async def play() -> None:
                await play_matches(
                    house,
                    entered,
                    matches,
                    log,
                    turn=Turn(before),
                    suspended=suspended,
                    late=(2, 3),
                )

            nursery.start_soon(play)
            await log.all_here.wait()
            assert sorted(log.starts) == [0, 1]
            suspended[1] = "it is too often late"
            suspended[3] = "it never came"
            before.over.set()

    run(main, tmp_path)
    assert sorted(log.starts) == [0, 1, 2]
    assert [log.forfeits(n) for n in range(4)] == [0, 3, 0, 3]
    assert {kind for kind, _ in log.faults(1)} == {FaultKind.ABSENT}
    assert all("too often late" in detail for _, detail in log.faults(1))


def test_a_process_that_ends_before_its_turn_is_started_again(tmp_path: Path) -> None:
    entered = field_of(tmp_path, "exit-at-once", "none", "none", "none")
    (matches,) = generations(1)
    log, before = Arrivals(awaited=3), Turn()

    async def main(house: House) -> None:
        async with trio.open_nursery() as nursery:
            turn = Turn(before)
            nursery.start_soon(lambda: play_matches(house, entered, matches, log, turn=turn))
            await log.all_here.wait()
            before.over.set()

    run(main, tmp_path)
    assert log.starts.count(0) == 2
    assert log.forfeits(0) == 3
    assert [entrant for entrant, _ in log.out] == [0]
    assert all(log.forfeits(n) == 0 for n in (1, 2, 3))


def test_never_do_more_processes_live_than_allowed(tmp_path: Path) -> None:
    """Each generation needs four, and two of them overlap wholly."""
    entered = field_of(tmp_path, "none", "slow-exit", "none", "none")
    logs = [Arrivals(folder=tmp_path / "cache") for _ in range(3)]

    async def main(house: House) -> None:
        turn = None
        async with trio.open_nursery() as nursery:
            for log, matches in zip(logs, generations(3), strict=True):
                turn = Turn(turn)
                nursery.start_soon(one, house, log, matches, turn)
                await turn.draining.wait()

    async def one(house: House, log: Log, matches: Sequence[Scheduled], turn: Turn) -> None:
        await play_matches(house, entered, matches, log, turn=turn)
        turn.over.set()

    run(main, tmp_path, max_processes=5)
    assert all(all_honest(log) and len(log.results) == 4 for log in logs)
    assert 4 <= max(log.most for log in logs) <= 5


def run(
    main: Callable[[House], Awaitable[None]],
    tmp_path: Path,
    max_processes: int | None = None,
) -> None:
    async def in_house() -> None:
        with trio.fail_after(120):
            async with open_house(
                "knave", ClockRules(), FaultRules(restarts=1), tmp_path / "logs", max_processes
            ) as house:
                await main(house)

    trio.run(in_house)


def test_nothing_is_played_before_the_first_fill() -> None:
    table = Table(seated(3))
    table.tables.arrived(table.players["a"], None, None)
    table.tables.lost(table.players["a"], 0.0, "it ended")
    assert table.started == []
    assert not table.tables.draining
    table.begin()
    assert len(table.started) == 3


def test_a_generation_drains_when_nothing_waits_and_little_is_left() -> None:
    table = Table(seated(20), in_flight=12)
    table.begin()
    while not table.tables.draining:
        served = [table.serve(name, choose) for name, choose in ALL.items()]
        assert any(served)
        left = len(table.jobs) - len(table.results)
        if len(table.started) < 20 or left > 12:
            assert not table.tables.draining
    assert 0 < left <= 12
    assert DRAINING < 12 / 20, "twelve matches that have just begun are too many"


def test_a_player_is_over_with_its_last_match() -> None:
    jobs = seated(2)
    table = Table(jobs, in_flight=1)
    table.begin()
    assert not any(map(table.tables.over, table.players.values()))
    table.run(ALL)
    assert all(map(table.tables.over, table.players.values()))


def test_a_generation_of_absent_players_ends_by_itself() -> None:
    table = Table(seated(50), in_flight=2)
    for player in table.players.values():
        table.tables.give_up(player, 0.0, "suspended")
    table.begin()
    assert table.tables.done
    assert len(table.results) == 50

"""Players of a generation that have no process."""

from collections import Counter
from pathlib import Path

import pytest
import trio

from referee.companions import Companion
from referee.generation import play_generation
from referee.house import open_house
from referee.match import ClockRules, FaultRules, MatchResult
from referee.player import REST, Batch, Move, Player
from referee.tables import Tables
from tests.referee.scripted import seated, smallest
from tests.referee.test_stalls import Blame


def test_who_waits_for_one_that_thinks_does_not_look_all_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is no process that could be frozen after a while, and so no need to look."""
    looked, results = Counter[str](), list[MatchResult]()
    next_batch = Tables.next_batch

    def counted(self: Tables, player: Player, now: float) -> Batch | None:
        looked[player.name] += 1
        return next_batch(self, player, now)

    async def think(batch: Batch) -> list[Move]:
        await trio.sleep(2 * REST)
        return list(map(smallest, batch.asks))

    async def main() -> None:
        players = [Player(name, ClockRules()) for name in "abc"]
        tables = Tables(
            seated(ranks="JQA", max_deals=1),
            players,
            lambda _: None,
            lambda _, result: results.append(result),
        )
        companions = [Companion(players[0], think), *map(Companion, players[1:])]
        async with open_house("knave", ClockRules(), FaultRules(), tmp_path / "logs") as house:
            await play_generation(house, [], tables, Blame(), companions)

    monkeypatch.setattr(Tables, "next_batch", counted)
    trio.run(main)
    assert [result.faults for result in results] == [()]
    assert max(looked.values()) < 60

"""A bot that remembers cards between its processes, against honest ones, with real processes."""

from pathlib import Path

import pytest

from referee.limits import AUTO, OFF
from tests.tournaments.test_runner import entrant, plan, play
from tournaments import standings
from tournaments.config import EntrantSpec
from tournaments.standings import Standings
from tournaments.store import Store
from tournaments.table import computed, shown

HONEST = ("lowest", "greedy", "random")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KNAVERY_CACHE", str(tmp_path / "cache"))


def played(
    tmp_path: Path, rounds: int, deals: int, *entrants: EntrantSpec, mode: str = AUTO
) -> Standings:
    path = tmp_path / "t.knavery"
    assert play(plan(*entrants, rounds=rounds, max_deals=deals, mode=mode), path)
    with Store.open(path, write=False) as store:
        return computed(store)


def shipped(*names: str) -> list[EntrantSpec]:
    return [EntrantSpec(None, name) for name in names]


def test_a_bot_that_cheats_through_a_file_is_found_and_the_honest_are_not(tmp_path: Path) -> None:
    cheat = entrant(tmp_path, "cheat", "cheat.py", str(tmp_path / "deals.txt"))
    result = played(tmp_path, 5, 6, cheat, *shipped(*HONEST), mode=OFF)
    assert [row.name for row in result.rows if row.remembers] == ["cheat"]
    assert all(row.faults == 0 for row in result.rows)
    assert "cheat*" in shown(result)
    line = standings.memory_line(result.rows)
    assert line is not None
    assert line in shown(result)
    rows = {row["name"]: row for row in standings.as_json(result)["standings"]}
    assert rows["cheat"]["remembers"]
    assert rows["cheat"]["memory_p"] < 0.001 / 4


def test_a_field_of_shipped_bots_is_not_suspected(tmp_path: Path) -> None:
    result = played(tmp_path, 2, 2, *shipped(*HONEST, "cautious"))
    assert not any(row.remembers for row in result.rows)
    assert all(row.memory_p is not None for row in result.rows)
    assert standings.memory_line(result.rows) is None
    assert "*" not in shown(result)

"""Figures that a server counts on while a tournament runs."""

import html
import re
import shutil
from itertools import islice
from pathlib import Path

import pytest
import trio
from trio.testing import trio_test

from tests.tournaments.playing import create, play_all, tournament
from tests.web.asking import asker
from tournaments.report import Choice, write_report
from tournaments.schedule import Schedule
from tournaments.search import Search
from tournaments.store import Store
from tournaments.web import recount
from tournaments.web.live import Live
from tournaments.web.recount import Recount

FILE = "x.knavery"


def begun(path: Path, game: str = "knave", entrants: int = 4) -> tuple[Store, Schedule]:
    return create(path / FILE, tournament(game, max_deals=2), entrants)


def finished(path: Path, game: str = "knave", entrants: int = 4) -> Path:
    store, schedule = begun(path, game, entrants)
    with store:
        list(play_all(store, schedule, faults=0.01))
    return path / FILE


def figures(page: str) -> list[str]:
    """What its tables of figures say, and the titles of its charts."""
    parts = [match[0] for match in re.finditer(r"<(table|svg)\b.*?</\1>", page, re.DOTALL)]
    assert parts
    return [" ".join(html.unescape(re.sub(r"<[^>]*>", " ", part)).split()) for part in parts]


@pytest.mark.parametrize("game", ["knave", "ninety-nine"])
def test_they_are_those_of_the_report(tmp_path: Path, game: str) -> None:
    path = finished(tmp_path, game)
    with Search.open(path, write=False) as store:
        write_report(store, tmp_path / "report", Choice())
    ask = asker(path, counted=True)
    for address, name in (("/play", "play"), ("/", "index"), ("/bots/1", "bot-1")):
        served = ask(address)
        assert served.status_code == 200
        expected = figures((tmp_path / "report" / f"{name}.html").read_text())
        assert set(expected) <= set(figures(served.text))


@trio_test
async def test_they_follow_a_tournament_that_runs(tmp_path: Path) -> None:
    store, schedule = begun(tmp_path)
    playing = play_all(store, schedule)
    with store:
        live = Live(tmp_path / FILE)
        await live.begin()
        counting = Recount(live)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(live.watch)
            nursery.start_soon(counting.keep_up)
            for _ in range(2):
                list(islice(playing, 12))
                while live.now.tally.finished < len(store.finished_job_ids()):
                    await live.after(live.now.number)
                while len(counting._counted) < 6 * live.now.tally.blocks_complete:
                    await live.after(live.now.number)
                assert counting.now.missing == 0
            nursery.cancel_scope.cancel()
    assert counting.now.course is not None
    assert counting.now.course.blocks[-1] == live.now.tally.blocks_complete > 0
    deals = sum(play.deals for play in counting.now.figures.by_entrant.values())
    assert deals == 3 * 2 * len(counting._counted), "each match once"


@trio_test
async def test_they_say_what_is_still_to_be_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recount, "STEP", 5)
    live = Live(finished(tmp_path))
    await live.begin()
    counting = Recount(live)
    seen = []
    while await counting._step():
        seen.append((counting.now.missing, counting.now.course is None))
    assert seen == [(19, True), (14, True), (9, True), (4, True), (0, False)]


@trio_test
async def test_another_file_in_its_place_is_counted_from_the_beginning(tmp_path: Path) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    path = finished(tmp_path / "one")
    live = Live(path)
    await live.begin()
    counting = Recount(live)
    await counting.catch_up()
    shutil.copy(finished(tmp_path / "other", entrants=3), path)
    assert await counting.catch_up()
    assert sorted(counting.now.figures.by_entrant) == [0, 1, 2]
    assert not await counting.catch_up(), "nothing is new"


def test_a_damaged_match_is_named(tmp_path: Path) -> None:
    path = finished(tmp_path, entrants=3)
    live = Live(path)
    trio.run(live.begin)
    with Store.open(path, write=True) as store:
        store._db.execute("UPDATE results SET play = x'00' WHERE job = 3")
    with pytest.raises(recount.StoreError, match="is damaged"):
        trio.run(Recount(live).catch_up)

import copy
import io
import json
import re
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from itertools import groupby, islice
from pathlib import Path
from typing import Any

import pytest

from referee.games.registry import GAMES, joined_variants
from tests.tournaments.playing import KEY, create, play_all, tournament
from tests.tournaments.rescorer import check_deal, check_match
from tournaments.export import FORMAT, replays, write_replays
from tournaments.playblob import decode, encode
from tournaments.store import Store, StoreError

DOCS = Path(__file__).parents[2] / "docs" / "replay-format.md"
VARIANTS = [(game, variant) for game in GAMES for variant in joined_variants(game)]

Json = dict[str, Any]


def exported(path: Path, count: int, faults: float = 0.0, **asked: Any) -> list[Json]:
    """The lines of a file with so many matches played, through JSON."""
    store, schedule = create(path, tournament(**asked), 4)
    with store:
        assert len(list(islice(play_all(store, schedule, faults), count))) == count
        file = io.StringIO()
        assert write_replays(store, file, open_blocks=True) == file.getvalue().count("\n")
    return [json.loads(line) for line in file.getvalue().splitlines()]


def matches(lines: list[Json]) -> list[list[Json]]:
    return [list(deals) for _, deals in groupby(lines, key=lambda line: line["match"])]


@pytest.mark.parametrize(("game", "variant"), VARIANTS)
def test_an_independent_referee_agrees(tmp_path: Path, game: str, variant: str) -> None:
    lines = exported(tmp_path / "x.knavery", 2, 0.02, game=game, variant=variant, max_deals=8)
    assert len(matches(lines)) == 2
    for deals in matches(lines):
        check_match(deals)


@pytest.mark.parametrize("game", GAMES)
def test_an_independent_referee_agrees_on_whole_classic_matches(tmp_path: Path, game: str) -> None:
    lines = exported(tmp_path / "x.knavery", 8, 0.01, game=game)
    assert any(line["faults"] for line in lines)
    assert any(line["notes"] for line in lines)
    assert any(line.get("end", {}).get("forfeits") for line in lines)
    assert len(matches(lines)) == 8
    for deals in matches(lines):
        check_match(deals)


def tamper(line: Json, *place: Any, to: Callable[[Any], Any]) -> Json:
    """A copy of the line with something in it changed."""
    changed = copy.deepcopy(line)
    inner: Any = changed
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = to(inner[place[-1]])
    return changed


@pytest.mark.parametrize(
    ("place", "to"),
    [
        (("tricks", 3, "winner"), lambda seat: (seat + 1) % 3),
        (("tricks", 3, "leader"), lambda seat: (seat + 1) % 3),
        (("tricks", 5, "cards"), lambda cards: cards[::-1]),
        (("scores", 1), lambda points: points + 1),
        (("won", 0), lambda tricks: tricks + 1),
        (("hands", 0, 0), lambda card: "2C" if card != "2C" else "3C"),
        (("bids", 0, 0), lambda card: "5C" if card != "5C" else "7C"),
        (("trump",), lambda suit: "C" if suit != "C" else None),
        (("dealer",), lambda seat: (seat + 1) % 3),
    ],
)
def test_the_independent_referee_notices_changes(
    tmp_path: Path, place: tuple[Any, ...], to: Callable[[Any], Any]
) -> None:
    line = exported(tmp_path / "x.knavery", 1, game="ninety-nine", max_deals=1)[0]
    check_deal(line)
    with pytest.raises((AssertionError, ValueError)):
        check_deal(tamper(line, *place, to=to))


def test_a_line_says_what_the_file_knows(tmp_path: Path) -> None:
    store, schedule = create(tmp_path / "x.knavery", tournament("ninety-nine", max_deals=3), 4)
    with store:
        results = {s.job.id: (s, result) for _, s, result in play_all(store, schedule, 0.03)}
        lines = list(replays(store))
    assert {line["match"] for line in lines} == results.keys()
    for line in lines:
        scheduled, result = results[line["match"]]
        played = result.deals[line["deal"]]
        assert line["format"] == FORMAT
        assert line["block"] == scheduled.block.id
        assert (line["seating"], line["generation"]) == (scheduled.seating, scheduled.generation)
        assert line["attempt"] == 0
        assert line["entrants"] == [("alice", "bob", "carol", "dave")[s.entrant]
                                    for s in scheduled.seats]  # fmt: skip
        assert line["scores"] == list(played.scores)
        assert line["won"] == list(played.tricks_won)
        times = line["bid_ms"] + [ms for trick in line["tricks"] for ms in trick["ms"]]
        assert [round(1000 * ms) for ms in times] == list(played.charged_us)
        faults = [fault for fault in result.faults if fault.deal == line["deal"]]
        assert [fault["kind"] for fault in line["faults"]] == [f.kind.name.lower() for f in faults]
        assert [fault["detail"] for fault in line["faults"]] == [f.detail for f in faults]
        notes = [note.text for note in result.notes if note.deal == line["deal"]]
        assert [note["text"] for note in line["notes"]] == notes
        if "end" in line:
            end = {"places": list(result.places), "forfeits": list(result.forfeits)}
            assert line["end"] == end
            assert line["totals"] == list(result.totals)


def test_cards_of_open_blocks_stay_hidden(tmp_path: Path) -> None:
    store, schedule = create(tmp_path / "x.knavery", tournament(max_deals=1))
    with store:
        played = play_all(store, schedule)
        list(islice(played, 5))
        assert list(replays(store)) == []
        assert len(list(replays(store, open_blocks=True))) == 5
        list(played)
        assert len(list(replays(store))) == 6


def test_the_key_of_the_deals_is_in_no_line(tmp_path: Path) -> None:
    lines = json.dumps(exported(tmp_path / "x.knavery", 2, max_deals=1))
    assert KEY.hex() not in lines


def test_what_bots_wrote_stays_on_its_line(tmp_path: Path) -> None:
    path = tmp_path / "x.knavery"
    store, schedule = create(path, tournament(max_deals=2))
    with store, (tmp_path / "x.jsonl").open("w") as file:
        list(play_all(store, schedule, faults=0.2))
        count = write_replays(store, file)
    raw = (tmp_path / "x.jsonl").read_bytes()
    assert raw.isascii()
    assert raw.count(b"\n") == count
    assert any(fault["detail"] == "it failed\n<b>" for line in raw.splitlines()
               for fault in json.loads(line)["faults"])  # fmt: skip


def backwards(blob: bytes) -> bytes:
    return encode([replace(deal, moves=deal.moves[::-1]) for deal in decode(blob)])


def without_time(blob: bytes) -> bytes:
    return encode([replace(deal, charged_us=(), queued_us=()) for deal in decode(blob)])


@pytest.mark.parametrize(
    ("spoil", "line"),
    [
        (lambda _: b"\x09", "play of version 9: this Knavery reads version 1"),
        (lambda blob: blob[:40], "play is cut short: it ends at byte 40"),
        (backwards, "deal 0, trick 0, seat "),
        (without_time, "deal 0: 0 times, not 51"),
    ],
)
def test_play_that_is_no_play_is_named(
    tmp_path: Path, spoil: Callable[[bytes], bytes], line: str
) -> None:
    path = tmp_path / "x.knavery"
    store, schedule = create(path, tournament(max_deals=1))
    with store:
        list(play_all(store, schedule))
    with sqlite3.connect(path) as db:
        ((job, blob),) = db.execute("SELECT job, play FROM results LIMIT 1")
        db.execute("UPDATE results SET play = ? WHERE job = ?", (spoil(blob), job))
    db.close()
    start = re.escape("is damaged: match e0/g0-1-2/b0/s")
    with Store.open(path, write=False) as reader, pytest.raises(StoreError, match=start) as bad:
        list(replays(reader))
    assert line in str(bad.value)
    assert "\n" not in str(bad.value)


def test_the_documented_line_is_a_deal_and_names_every_key(tmp_path: Path) -> None:
    text = DOCS.read_text()
    documented = json.loads(re.search(r"```json\n(.*?)```", text, re.DOTALL)[1])  # type: ignore[index]
    check_deal(documented)
    lines = exported(tmp_path / "x.knavery", 6, 0.05, game="ninety-nine")
    last = next(line for line in lines if "end" in line)
    assert list(documented) == list(last)
    for key in ("end", "rules"):
        assert list(documented[key]) == list(last[key])
    for key in ("tricks", "notes", "faults"):
        some = next(line[key][0] for line in lines if line[key])
        assert list(documented[key][0]) == list(some)
    for key in last:
        assert f"`{key}`" in text, key

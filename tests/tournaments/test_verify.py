"""Verification: what is right agrees, finished or not; whatever is changed is found and named."""

import random
import re
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from referee.games.registry import GAMES, joined_variants
from tests.tournaments.playing import KEY, bots, create, play_all, tournament
from tournaments.config import Tournament
from tournaments.kept import digest
from tournaments.playblob import KeptDeal, encode
from tournaments.schedule import commitment
from tournaments.store import Store, StoreError
from tournaments.verify import Report, verify

VARIANTS = [(game, variant) for game in GAMES for variant in joined_variants(game)]


def played(path: Path, plan: Tournament, matches: int | None = None, faults: float = 0.03) -> Path:
    """A file in which so many matches are played (None: all, and the key is published)."""
    sides = 2 if plan.rules.teams else plan.rules.players
    store, schedule = create(path, plan, sides)
    with store:
        list(islice(play_all(store, schedule, faults), matches))
        if matches is None:
            store.publish(0)
    return path


def checked(path: Path) -> Report:
    with Store.open(path, write=False) as store:
        return verify(store)


def change(path: Path, sql: str, *parameters: object) -> None:
    """Changes a file behind Knavery's back, whatever the schema forbids."""
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("PRAGMA ignore_check_constraints = 1")
        assert db.execute(sql, parameters).rowcount != 0, "the change changes something"


def value(path: Path, sql: str, *parameters: object) -> Any:
    with closing(sqlite3.connect(path)) as db:
        (found,) = db.execute(sql, parameters).fetchone()
    return found


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A finished tournament with bids, faults, forfeits and notes."""
    path = tmp_path_factory.mktemp("sound") / "sound.knavery"
    played(path, tournament("ninety-nine", max_deals=3))
    report = checked(path)
    assert report.problem is None
    assert report.faults > 10
    assert report.forfeits
    assert value(path, "SELECT count(*) FROM notes") > 3
    return path.read_bytes()


@pytest.fixture
def path(tmp_path: Path, sound: bytes) -> Path:
    place = tmp_path / "friday.knavery"
    place.write_bytes(sound)
    return place


def found(path: Path) -> str:
    """What verification says of a changed file: a disagreement, or damage. One line."""
    try:
        problem = checked(path).problem
    except StoreError as damage:
        problem = str(damage)
    assert problem is not None, "the change was not found"
    assert "\n" not in problem
    return problem


@pytest.mark.parametrize(("game", "variant"), VARIANTS)
def test_every_variant_agrees(tmp_path: Path, game: str, variant: str) -> None:
    report = checked(played(tmp_path / "x.knavery", tournament(game, variant, max_deals=2)))
    assert report.problem is None
    (epoch,) = report.epochs
    assert (epoch.missing, epoch.complete, epoch.published) == (0, 1, True)
    assert report.attempts == {"done": epoch.matches}
    assert report.deals >= epoch.matches
    assert report.meetings >= epoch.matches * 2


def test_what_is_not_finished_agrees_and_says_what_is_missing(tmp_path: Path) -> None:
    path = played(tmp_path / "x.knavery", replace(tournament(max_deals=1), rounds=2), 7)
    report = checked(path)
    assert report.problem is None
    assert report.missing == 5
    (epoch,) = report.epochs
    assert (epoch.matches, epoch.finished, epoch.blocks) == (12, 7, 2)


def test_a_file_that_is_being_written_is_read_as_of_one_moment(tmp_path: Path) -> None:
    store, schedule = create(tmp_path / "x.knavery", tournament(max_deals=1))
    with store:
        for number, _ in enumerate(play_all(store, schedule), start=1):
            report = checked(store.path)
            assert report.problem is None
            assert report.epochs[0].finished == number


def test_an_empty_file_agrees(tmp_path: Path) -> None:
    report = checked(played(tmp_path / "x.knavery", tournament(), 0))
    assert (report.problem, report.missing, report.deals) == (None, 6, 0)


COLUMNS = {
    "tournament": ["master_key"],
    "epochs": ["config", "field", "commitment", "epoch"],
    "jobs": ["epoch", "group", "block", "seating", "generation", "public_id", "entrants"],
    "attempts": ["job", "number", "wave", "outcome"],
    "results": ["job", "attempt", "deals", "totals", "places", "forfeits", "play", "sha256"],
    "faults": ["job", "number", "deal", "seat", "phase", "trick", "kind", "played", "detail"],
    "notes": ["job", "number", "deal", "seat", "phase", "trick", "text"],
    "processes": ["entrant", "wave", "generation", "member"],
    "ledger": ["deals", "process"],
    "entrants": ["name", "version"],
}
"""All that verification answers for; times, and what is for people only, are not among it."""


def flipped(value: Any, draw: random.Random) -> Any:
    """The value with one bit of it changed."""
    if value is None:
        return 1
    if isinstance(value, int):
        return value ^ (1 << draw.randrange(4))
    raw = bytearray(value if isinstance(value, bytes) else value.encode())
    raw[draw.randrange(len(raw))] ^= 1 << draw.randrange(7)
    return bytes(raw) if isinstance(value, bytes) else raw.decode("utf-8", "replace")


def flip(path: Path, table: str, column: str, draw: random.Random) -> tuple[Any, Any]:
    """Changes one bit of a column in a row of a table; its value before and after."""
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("PRAGMA ignore_check_constraints = 1")
        rows = db.execute(f'SELECT * FROM {table} WHERE length("{column}") IS NOT 0')
        names = [name for name, *_ in rows.description]
        row = draw.choice(rows.fetchall())
        old = row[names.index(column)]
        new = flipped(old, draw)
        where = " AND ".join(f'"{name}" IS ?' for name in names)
        db.execute(f'UPDATE OR IGNORE {table} SET "{column}" = ? WHERE {where}', (new, *row))
        return old, new


def same_schedule(path: Path) -> bool:
    """Whether a configuration still is what was committed to: names and paths are for people."""
    with Store.open(path, write=False) as store:
        (epoch,) = store.epochs()
        schedule = epoch.tournament.schedule(KEY, epoch.field, epoch.number)
        return commitment(schedule, bots(3)) == epoch.commitment


@pytest.mark.parametrize(
    ("table", "column"), [(table, column) for table in COLUMNS for column in COLUMNS[table]]
)
def test_a_changed_bit_is_found(path: Path, sound: bytes, table: str, column: str) -> None:
    for seed in range(60 if column == "play" else 8):
        path.write_bytes(sound)
        old, new = flip(path, table, column, random.Random(f"{table} {column} {seed}"))
        if path.read_bytes() == sound:
            continue  # the schema did not let it happen
        try:
            free = column == "config" and same_schedule(path)
        except StoreError:
            free = False
        if not free:
            assert found(path), (old, new)


def answered_for(path: Path) -> list[list[tuple[Any, ...]]]:
    """The rows of all that verification answers for, except what is for people only."""
    with closing(sqlite3.connect(path)) as db:
        selected = [", ".join(f'"{name}"' for name in COLUMNS[table]) for table in COLUMNS]
        queries = [
            f"SELECT {each} FROM {table}" for each, table in zip(selected, COLUMNS, strict=True)
        ]
        return [sorted(db.execute(query.replace('"config", ', "")), key=repr) for query in queries]


@settings(
    deadline=None, max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.data())
def test_damage_anywhere_in_the_file_is_found_or_hurts_nothing(
    path: Path, sound: bytes, data: st.DataObject
) -> None:
    path.write_bytes(sound)
    right = answered_for(path)
    raw = bytearray(sound)
    start = data.draw(st.integers(0, len(raw) - 1))
    size = data.draw(st.sampled_from([1, 1, 4, 64, 4096]))
    raw[start : start + size] = data.draw(st.binary(min_size=size, max_size=size))
    path.write_bytes(raw[: data.draw(st.sampled_from([len(raw), len(raw), start]))])
    with suppress(StoreError):
        if checked(path).problem is None:
            assert answered_for(path) == right
            assert same_schedule(path)


Change = Callable[[list[KeptDeal]], Sequence[KeptDeal]]


def other_card(deals: list[KeptDeal]) -> Sequence[KeptDeal]:
    """The first card of trick 2 in deal 1 is swapped with that of trick 3."""
    moves = bytearray(deals[1].moves)
    moves[9 + 6], moves[9 + 9] = moves[9 + 9], moves[9 + 6]
    return [deals[0], replace(deals[1], moves=bytes(moves)), *deals[2:]]


def other_dealer(deals: list[KeptDeal]) -> Sequence[KeptDeal]:
    return [replace(deals[0], dealer=2), *deals[1:]]


def one_more(deals: list[KeptDeal]) -> Sequence[KeptDeal]:
    return [*deals, deals[0]]


def one_less(deals: list[KeptDeal]) -> Sequence[KeptDeal]:
    return deals[:-1]


def faster(deals: list[KeptDeal]) -> Sequence[KeptDeal]:
    return [replace(deals[0], charged_us=(0,) * len(deals[0].charged_us)), *deals[1:]]


def untimed(deals: list[KeptDeal]) -> Sequence[KeptDeal]:
    return [replace(deals[0], charged_us=(), queued_us=()), *deals[1:]]


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (other_card, r"deal 1, trick \d, seat \d: "),
        (other_dealer, "deal 0: seat 2 deals, not 0"),
        (one_more, "was over with deal 2, and deal 3 follows"),
        (one_less, "is not over by its rules after 2 deals"),
        (faster, "its times, notes or faults are not those it was saved with"),
        (untimed, "deal 0: 0 times for 30 decisions"),
    ],
)
def test_changed_play_is_named_by_match_deal_and_trick(
    path: Path, spoil: Change, said: str
) -> None:
    with Store.open(path, write=False) as store:
        match = list(store.matches())[3]
    blob = encode(spoil(list(match.deals)))
    change(path, "UPDATE results SET play = ? WHERE play = ?", blob, match.play)
    assert re.fullmatch(
        rf"match {match.id}(:|,) .*{said}.*|match {match.id}: {said}.*", found(path)
    )


def forge(path: Path, **fields: Any) -> str:
    """Changes parts of the first match that somebody forfeited, with a hash to fit; its name."""
    with Store.open(path, write=False) as store:
        match = replace(next(each for each in store.matches() if each.forfeits), **fields)
    facts = (match.totals, match.places, match.forfeits, match.play, match.faults, match.notes)
    job = value(
        path,
        'SELECT job FROM jobs WHERE "group" = ? AND block = ? AND seating = ?',
        *(match.block.group_name, match.block.number, match.seating),
    )
    change(
        path,
        "UPDATE results SET totals = ?, places = ?, forfeits = ?, sha256 = ? WHERE job = ?",
        *(str(list(each)) for each in facts[:3]),
        digest(match.id, *facts),
        job,
    )
    return match.id


@pytest.mark.parametrize("part", ["totals", "places", "forfeits"])
def test_a_forged_result_is_found_although_its_hash_fits(path: Path, part: str) -> None:
    name = forge(path, **{part: (3, 2, 1)})
    assert found(path).startswith(f"match {name}: {part}: 3, 2, 1 is kept, ")


def test_a_stand_in_that_is_none_is_found(path: Path) -> None:
    job, number = 1, value(path, "SELECT number FROM faults WHERE job = 1 AND played != ''")
    change(
        path,
        "UPDATE faults SET played = 'AS' WHERE job = ? AND number = ?",
        job,
        number,
    )
    assert "the fault says AS" in found(path)


def test_a_match_that_nobody_attended_is_found(path: Path) -> None:
    change(path, "DELETE FROM ledger WHERE process = (SELECT max(process) FROM processes)")
    assert "the ledger knows no process that met its deals" in found(path)


def test_a_process_that_met_other_deals_is_found(path: Path) -> None:
    change(path, "UPDATE ledger SET deals = 'e0/g0-1-2/b9' WHERE process = 1")
    assert found(path).startswith("process 1: met the deals e0/g0-1-2/b9, which are none")


def test_another_key_is_found_by_its_commitment(path: Path) -> None:
    change(path, "UPDATE tournament SET master_key = ?", bytes(32))
    assert "not those committed to" in found(path)


def test_a_key_shown_before_the_end_is_found(tmp_path: Path) -> None:
    path = played(tmp_path / "x.knavery", tournament(max_deals=1), 3)
    change(path, "UPDATE epochs SET published = 1")
    assert found(path) == "epoch 0: its key may be shown, and 3 matches are missing"


@pytest.mark.parametrize("table", ["tournament", "epochs"])
def test_a_file_without_its_one_row_is_damaged(path: Path, table: str) -> None:
    change(path, f"DELETE FROM {table}")
    with Store.open(path, write=False) as store, pytest.raises(StoreError, match="is damaged"):
        verify(store)


def test_a_damaged_schema_is_found(path: Path, sound: bytes) -> None:
    path.write_bytes(sound.replace(b"length(master_key)", b"length(master_kiy)"))
    assert found(path).endswith("is damaged: go back to a copy of it")


@pytest.mark.parametrize(
    ("table", "column"),
    [("results", "forfeits"), ("faults", "detail"), ("epochs", "config"), ("notes", "text")],
)
def test_a_value_of_another_type_is_found(path: Path, table: str, column: str) -> None:
    change(path, f"UPDATE {table} SET {column} = CAST({column} AS BLOB)")
    assert found(path).endswith("is damaged: go back to a copy of it")


def test_a_result_that_is_gone_is_found(path: Path) -> None:
    for table in ("notes", "faults", "results"):
        change(path, f"DELETE FROM {table} WHERE job = 2 OR 0")
    assert found(path)

import os
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from referee.match import FaultKind, RefereeBug
from tests.tournaments.playing import KEY, bots, create, play, play_all, tournament
from tournaments.kept import KeptMatch, Tally, digest
from tournaments.schedule import Schedule, Scheduled, commitment
from tournaments.store import APPLICATION_ID, SCHEMA_VERSION, Store, StoreError

SHORT = tournament(max_deals=1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "friday.knavery"


def first_matches(schedule: Schedule) -> tuple[Scheduled, ...]:
    return schedule.matches(next(schedule.blocks()))


def some(count: int, matches: Iterator[object]) -> None:
    """Let so many matches be played and saved."""
    assert len(list(islice(matches, count))) == count


def change(path: Path, sql: str, *parameters: object) -> None:
    """Change a closed file behind Knavery's back."""
    with sqlite3.connect(path) as db:
        db.execute(sql, parameters)
    db.close()


def test_a_new_file_says_what_it_is_for(path: Path) -> None:
    plan = tournament("ninety-nine", "revelation", target=30)
    store, schedule = create(path, replace(plan, key=KEY, rounds=2))
    with store:
        assert store.tournament() == replace(plan, rounds=2)
        assert store.master_key() == KEY
        assert store.entrants() == bots(3)
        (epoch,) = store.epochs()
        assert epoch.field == (0, 1, 2)
        assert epoch.commitment == commitment(schedule, bots(3))
        assert epoch.published is None
        assert store.tally() == Tally(0, 0, 0, 0, 0, 0, 0, 0)
        assert list(store.played()) == []
        assert list(store.matches()) == []
        store.publish(0)
        published = store.epochs()[0].published
        store.publish(0)
        assert published is not None
        assert store.epochs()[0].published == published


def test_the_key_is_nowhere_but_in_its_place(path: Path) -> None:
    create(path, replace(SHORT, key=KEY))[0].close()
    raw = path.read_bytes()
    assert raw.count(KEY) == 1
    assert KEY.hex().encode() not in raw


def test_a_finished_match_comes_back_whole(path: Path) -> None:
    store, schedule = create(path, tournament("ninety-nine", max_deals=6))
    with store:
        saved = {s.job.id: (s, result) for _, s, result in play_all(store, schedule, faults=0.05)}
        kept = {match.id: match for match in store.matches()}
    assert kept.keys() == saved.keys()
    assert any(match.forfeits for match in kept.values())
    for name, match in kept.items():
        scheduled, result = saved[name]
        assert (match.block, match.seating) == (scheduled.block, scheduled.seating)
        assert match.generation == scheduled.generation
        assert match.entrants == tuple(seat.entrant for seat in scheduled.seats)
        assert match.totals == result.totals
        assert match.places == result.places
        assert match.forfeits == result.forfeits
        assert match.faults == result.faults
        assert match.notes == result.notes
        for deal, played in zip(match.deals, result.deals, strict=True):
            assert (deal.dealer, deal.moves) == (played.dealer, played.moves)
            assert (deal.charged_us, deal.queued_us) == (played.charged_us, played.queued_us)
        assert match.sha256 == digest_of(match)


def digest_of(match: KeptMatch) -> bytes:
    facts = (match.totals, match.places, match.forfeits)
    return digest(match.id, *facts, match.play, match.faults, match.notes)


def test_matches_come_in_the_order_of_their_blocks(path: Path) -> None:
    store, schedule = create(path, replace(SHORT, rounds=2), 4)
    with store:
        finished = [scheduled.job.id for _, scheduled, _ in play_all(store, schedule)]
        names = [match.id for match in store.matches()]
    assert sorted(names) == sorted(finished)
    assert names != finished
    assert names[:7] == [f"e0/g0-1-2/b0/s{n}" for n in range(6)] + ["e0/g0-1-3/b0/s0"]


def test_ratings_see_every_match_with_its_sides(path: Path) -> None:
    store, schedule = create(path, tournament("ninety-nine", "partnership", max_deals=2), 3)
    with store:
        results = {s.job.id: (s, result) for _, s, result in play_all(store, schedule)}
        played = list(store.played())
    assert len(played) == len(results) == 6
    for match in played:
        scheduled, result = results[f"{match.block}/s{match.seating}"]
        assert match.generation == scheduled.generation
        assert match.entrants == tuple(seat.entrant for seat in scheduled.seats[:2])
        assert match.places == result.places[:2]
        assert match.points == result.totals[:2]
        assert match.deals == len(result.deals)


def test_open_blocks_are_shown_on_demand_only(path: Path) -> None:
    store, schedule = create(path, replace(SHORT, rounds=2))
    with store:
        some(8, play_all(store, schedule))
        assert list(store.matches()) == []
        assert len(list(store.matches(open_blocks=True))) == 8
        assert len(list(store.played())) == 8
        some(3, play_all(store, schedule))
        complete = list(store.matches())
        assert len(complete) == 6
        assert len({match.block for match in complete}) == 1
        assert (store.tally().blocks_complete, store.tally().blocks_open) == (1, 1)


def test_saving_again_changes_nothing_and_another_result_is_a_bug(path: Path) -> None:
    store, schedule = create(path, SHORT)
    scheduled, other = first_matches(schedule)[:2]
    with store:
        attempt = store.start_attempt(scheduled, 0)
        result = play(scheduled, faults=0.2)
        store.save(attempt, scheduled, result)
        before = list(store.matches(open_blocks=True))
        store.save(attempt, scheduled, result)
        assert list(store.matches(open_blocks=True)) == before
        with pytest.raises(RefereeBug, match="e0/g0-1-2/b0/s0: has another result already"):
            store.save(attempt, scheduled, play(scheduled))
        with pytest.raises(RefereeBug, match="the result is that of e0/g0-1-2/b0/s1"):
            store.save(attempt, scheduled, play(other))
        assert list(store.matches(open_blocks=True)) == before


def test_several_matches_are_saved_all_or_none(path: Path) -> None:
    store, schedule = create(path, SHORT)
    with store:
        some = [(store.start_attempt(s, 0), s, play(s)) for s in first_matches(schedule)[:3]]
        store.void(some[2][0], "a test")
        with pytest.raises(RefereeBug, match="attempt 3 ends, done, but it is not open"):
            store.save_many(some)
        assert store.finished_job_ids() == set()
        store.save_many(some[:2])
        assert store.finished_job_ids() == {s.job.id for _, s, _ in some[:2]}


def test_attempts_are_counted_and_only_one_is_open(path: Path) -> None:
    store, schedule = create(path, SHORT)
    scheduled = first_matches(schedule)[0]
    with store:
        store.void(store.start_attempt(scheduled, 0), "the disk was slow")
        store.start_attempt(scheduled, 0)
        with pytest.raises(RefereeBug, match="s0 starts"):
            store.start_attempt(scheduled, 0)
        assert store.abandon_open_attempts() == 1
        assert store.abandon_open_attempts() == 0
        attempt = store.start_attempt(scheduled, 1)
        store.save(attempt, scheduled, play(scheduled))
        (match,) = store.matches(open_blocks=True)
        assert match.attempt == 2
        with pytest.raises(RefereeBug, match="is started, but it is finished"):
            store.start_attempt(scheduled, 2)
        with pytest.raises(RefereeBug, match="is not open"):
            store.void(attempt, "too late")
        assert store.tally() == Tally(1, 1, 0, 1, 1, 1, 0, 0)


def test_no_process_is_started_twice_nor_meets_deals_twice(path: Path) -> None:
    store, _ = create(path, SHORT)
    with store:
        assert store.next_wave() == 0
        process = store.add_process(0, 0, 0)
        again = store.add_process(0, 0, 0, restart=1)
        assert store.add_process(0, 0, 1) != store.add_process(0, 0, 0, member=1)
        assert store.next_wave() == 1
        with pytest.raises(RefereeBug, match="a process starts"):
            store.add_process(0, 0, 0)
        store.record_deals(process, "e0/g0-1-2/b0", "e0/g0-1-2/b1")
        store.record_deals(again, "e0/g0-1-2/b0")
        with pytest.raises(RefereeBug, match="process 1 meets deals"):
            store.record_deals(process, "e0/g0-1-2/b2", "e0/g0-1-2/b0")
        store.record_deals(process, "e0/g0-1-2/b2")
        with pytest.raises(RefereeBug):
            store.record_deals(99, "e0/g0-1-2/b0")


def test_a_wave_without_a_process_has_its_number_too(path: Path) -> None:
    """Where all are suspended nobody is started."""
    store, schedule = create(path, SHORT)
    with store:
        store.start_attempt(schedule.match(next(schedule.blocks()), 0), 4)
        assert store.next_wave() == 5


def test_crashes_and_suspensions(path: Path) -> None:
    store, _ = create(path, SHORT)
    with store:
        store.crash(store.add_process(1, 0, 0), "exit 1")
        assert store.tally().crashes == 1
        assert store.suspended(0) == frozenset()
        store.suspend(1, 0, "it crashed in two generations")
        assert store.suspended(0) == {1}


@pytest.mark.parametrize("variant", ["classic", "partnership"])
def test_faults_and_forfeits_are_counted_by_entrant(path: Path, variant: str) -> None:
    store, schedule = create(path, tournament("ninety-nine", variant, max_deals=4), 4)
    faults: dict[int, Counter[FaultKind]] = {}
    forfeits: Counter[int] = Counter()
    with store:
        for _, scheduled, result in play_all(store, schedule, faults=0.1):
            for fault in result.faults:
                who = scheduled.seats[fault.seat].entrant
                faults.setdefault(who, Counter())[fault.kind] += 1
            forfeits.update({scheduled.seats[seat].entrant for seat in result.forfeits})
        assert forfeits
        assert store.fault_counts() == faults
        assert store.forfeit_counts() == forfeits


def test_a_tournament_goes_on_where_it_stopped(path: Path) -> None:
    store, schedule = create(path, SHORT, 4)
    with store:
        some(9, play_all(store, schedule))
    with Store.open(path, write=True) as store:
        schedule = store.tournament().schedule(store.master_key(), store.epochs()[-1].field)
        started = [scheduled for _, scheduled, _ in play_all(store, schedule)]
        assert len(started) == 24 - 9
        assert store.finished_job_ids() == {
            s.job.id for block in schedule.blocks() for s in schedule.matches(block)
        }
        assert store.tally().blocks_complete == 4


def test_a_closed_file_is_one_file(path: Path) -> None:
    store, schedule = create(path, SHORT)
    some(2, play_all(store, schedule))
    assert len(list(path.parent.iterdir())) > 1
    store.close()
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_others_read_while_one_writes(path: Path) -> None:
    store, schedule = create(path, SHORT)
    with store, Store.open(path, write=False) as reader:
        assert list(reader.played()) == []
        matches = play_all(store, schedule)
        next(matches)
        assert len(list(reader.played())) == 1
        with pytest.raises(StoreError, match="cannot be written"):
            reader.publish(0)
    with Store.open(path, write=False) as reader:
        assert len(list(reader.played())) == 1


def test_a_file_closed_while_somebody_reads_it_is_whole(path: Path) -> None:
    store, schedule = create(path, SHORT)
    with Store.open(path, write=False) as reader:
        with store:
            next(play_all(store, schedule))
        assert len(list(reader.played())) == 1
    Store.open(path, write=True).close()
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_a_second_writer_is_refused_and_told_by_whom(path: Path) -> None:
    with create(path, SHORT)[0]:
        line = f"^{path}: is being written by process {os.getpid()}: wait for its end, or end it$"
        with pytest.raises(StoreError, match=line):
            Store.open(path, write=True)
        with pytest.raises(StoreError, match=line):
            create(path, SHORT)
    Store.open(path, write=True).close()


DIES = """
import os, sys
from itertools import islice
from pathlib import Path
from tests.tournaments.playing import create, play_all, tournament

store, schedule = create(Path(sys.argv[1]), tournament(max_deals=1))
done = [match.seating for _, match, _ in islice(play_all(store, schedule), 4)]
matches = schedule.matches(next(schedule.blocks()))
store.start_attempt(next(match for match in matches if match.seating not in done), 0)
os.kill(os.getpid(), 9)
"""


def test_after_a_kill_the_file_is_free_and_whole(path: Path) -> None:
    root = Path(__file__).parents[2]
    ended = subprocess.run([sys.executable, "-c", DIES, str(path)], cwd=root, check=False)
    assert ended.returncode == -signal.SIGKILL
    with Store.open(path, write=False) as reader:
        assert reader.tally() == Tally(5, 4, 0, 1, 0, 0, 12, 0)
    with Store.open(path, write=True) as store:
        assert store.abandon_open_attempts() == 1
        schedule = store.tournament().schedule(store.master_key(), (0, 1, 2))
        some(2, play_all(store, schedule))
        assert store.tally() == Tally(6, 6, 1, 0, 0, 1, 18, 0)
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def refusal(path: Path, *, write: bool = False) -> str:
    """Why the file cannot be opened: one line that names it."""
    with pytest.raises(StoreError) as caught:
        Store.open(path, write=write).close()
    line = str(caught.value)
    assert "\n" not in line
    assert line.startswith(f"{path}: ")
    return line.removeprefix(f"{path}: ")


def test_a_configuration_is_played_first(path: Path) -> None:
    toml = path.with_suffix(".toml")
    assert refusal(toml) == "there is no such file"
    toml.touch()
    assert refusal(toml) == f"is a configuration: `knavery run {toml}` plays it to a file"


@pytest.mark.parametrize("write", [False, True])
def test_other_files_are_refused(path: Path, write: bool) -> None:
    assert refusal(path, write=write) == "there is no such file"
    for content in (b"", b"hello, " * 1000):
        path.write_bytes(content)
        assert refusal(path, write=write) == "is not a Knavery file"
        assert path.read_bytes() == content
    path.unlink()
    change(path, "CREATE TABLE other (one)")
    assert refusal(path, write=write) == "is not a Knavery file"
    path.unlink()
    os.mkfifo(path)
    assert refusal(path, write=write) == "is no file: name the tournament's, NAME.knavery"
    path.unlink()
    path.mkdir()
    assert refusal(path, write=write) == "is a folder: name the tournament's file, NAME.knavery"
    assert refusal(path / ("x" * 300), write=write) == "cannot be opened: File name too long"


def test_the_file_of_another_schema_is_refused_with_both_numbers(path: Path) -> None:
    create(path, SHORT)[0].close()
    change(path, f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    assert refusal(path) == (
        f"has schema {SCHEMA_VERSION + 1} and this Knavery knows {SCHEMA_VERSION}: use the "
        "Knavery that wrote it, or a newer one"
    )


def test_the_header_says_that_it_is_a_knavery_file(path: Path) -> None:
    create(path, SHORT)[0].close()
    assert path.read_bytes()[68:72] == APPLICATION_ID.to_bytes(4, "big") == b"KNAV"


def test_a_path_that_is_taken_is_left_alone(path: Path) -> None:
    path.write_text("precious")
    with pytest.raises(StoreError, match="exists already: go on with `knavery resume"):
        create(path, SHORT)
    assert path.read_text() == "precious"
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_a_folder_that_is_not_there(path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be written: No such file or directory"):
        create(path.parent / "gone" / path.name, SHORT)


def test_a_full_disk_is_said_and_nothing_is_lost(path: Path) -> None:
    store, schedule = create(path, tournament())
    with store:
        matches = play_all(store, schedule)
        some(1, matches)
        (pages,) = store._db.execute("PRAGMA page_count").fetchone()
        store._db.execute(f"PRAGMA max_page_count = {pages + 1}")
        with pytest.raises(StoreError, match="the disk is full: free some space") as caught:
            list(matches)
        assert "\n" not in str(caught.value)
        finished = store.tally().finished
        store._db.execute("PRAGMA max_page_count = 100000")
        store.abandon_open_attempts()
        some(6 - finished, play_all(store, schedule))
        assert store.tally().blocks_complete == 1


def test_a_file_that_another_program_locks(path: Path) -> None:
    store, _ = create(path, SHORT)
    with store:
        store._db.execute("PRAGMA busy_timeout = 0")
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="is locked by another program"):
            store.publish(0)
        other.close()
        store.publish(0)


@pytest.mark.parametrize(
    ("sql", "parameter"),
    [
        ("UPDATE results SET totals = ?", "[1, 2"),
        ("UPDATE results SET places = ?", "{}x"),
        ("UPDATE jobs SET entrants = ?", "7"),
        ('UPDATE jobs SET "group" = ?', "a-b"),
        ("UPDATE faults SET kind = ?", "lazy"),
        ("UPDATE faults SET played = ?", "1S"),
    ],
)
def test_a_damaged_row_is_named(path: Path, sql: str, parameter: str) -> None:
    store, schedule = create(path, tournament(max_deals=3))
    with store:
        assert any(result.faults for _, _, result in play_all(store, schedule, faults=0.2))
    change(path, sql + " WHERE job = (SELECT job FROM faults LIMIT 1)", parameter)
    line = r"is damaged: epoch 0, group .*, seating \d: .*"
    with Store.open(path, write=False) as reader, pytest.raises(StoreError, match=line):
        list(reader.matches(open_blocks=True))


def test_a_damaged_configuration_is_named(path: Path) -> None:
    create(path, SHORT)[0].close()
    change(path, "UPDATE epochs SET config = replace(config, '\"knave\"', '\"bridge\"')")
    assert refusal(path, write=True) == "is damaged: epoch 0: 'bridge'"
    with Store.open(path, write=False) as reader, pytest.raises(StoreError, match="is damaged"):
        reader.tournament()


def test_text_that_is_none_is_damage(path: Path) -> None:
    store, schedule = create(path, SHORT)
    with store:
        some(1, play_all(store, schedule))
    change(path, "UPDATE results SET totals = CAST(x'ff' AS TEXT)")
    with Store.open(path, write=False) as reader, pytest.raises(StoreError, match="is damaged"):
        list(reader.played())


def test_damaged_pages_are_said_to_be(path: Path) -> None:
    store, schedule = create(path, tournament())
    with store:
        some(6, play_all(store, schedule))
    raw = bytearray(path.read_bytes())
    raw[4096:] = bytes(len(raw) - 4096)
    path.write_bytes(raw)
    line = "is damaged: go back to a copy of it"
    with Store.open(path, write=False) as reader, pytest.raises(StoreError, match=line):
        list(reader.matches())


def test_a_changed_result_no_longer_has_its_hash(path: Path) -> None:
    store, schedule = create(path, tournament(max_deals=2))
    with store:
        some(1, play_all(store, schedule, faults=0.3))
        (match,) = store.matches(open_blocks=True)
    times = bytearray(match.play)
    times[-1] ^= 1
    changed = [
        replace(match, totals=(match.totals[0] + 1, *match.totals[1:])),
        replace(match, places=match.places[:2]),
        replace(match, forfeits=(*match.forfeits, 3)),
        replace(match, play=bytes(times)),
        replace(match, seating=match.seating + 1),
        replace(match, faults=match.faults[1:]),
        replace(match, notes=(replace(match.notes[0], text="another"), *match.notes[1:])),
    ]
    assert len({digest_of(each) for each in [match, *changed]}) == 1 + len(changed)


def test_a_match_takes_few_bytes(path: Path) -> None:
    store, schedule = create(path, tournament(), 4)
    with store:
        some(24, play_all(store, schedule))
    assert path.stat().st_size / (24 * 10) < 1000

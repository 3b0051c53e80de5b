"""A file in which one entrant is remote: its seatings have deals of their own, and what reads the
file knows."""

import json
from io import StringIO
from itertools import islice
from pathlib import Path

import pytest

from referee.match import RefereeBug
from tests.tournaments.playing import create, play, play_all, tournament
from tournaments.export import match_lines, write_replays
from tournaments.replays import MatchReplay, replay_of
from tournaments.store import Store
from tournaments.verify import verify

PLAN = tournament(max_deals=2)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four entrants, bob remote; a match was begun twice in vain, and then all were played."""
    path = tmp_path_factory.mktemp("remote") / "a.knavery"
    store, schedule = create(path, PLAN, 4, remote={1})
    with store:
        block = next(block for block in schedule.blocks() if 1 in block.group)
        for attempt in range(2):
            store.start_attempt(schedule.match(block, 3, attempt), attempt)
            store.abandon_open_attempts()
        list(play_all(store, schedule))
        store.publish(0)
    return path


def lines(path: Path) -> list[dict[str, object]]:
    text = StringIO()
    with Store.open(path, write=False) as store:
        write_replays(store, text)
    return [json.loads(line) for line in text.getvalue().splitlines()]


def test_the_file_agrees(file: Path) -> None:
    with Store.open(file, write=False) as store:
        report = verify(store)
    assert (report.problem, report.missing) == (None, 0)
    assert report.attempts == {"done": 24, "abandoned": 2}


def test_each_seating_with_the_remote_entrant_has_cards_of_its_own(file: Path) -> None:
    packs: dict[object, set[str]] = {}
    for line in lines(file):
        if line["deal"] == 0:
            packs.setdefault(line["block"], set()).add(json.dumps(line["hands"]))
    assert {block: len(hands) for block, hands in packs.items()} == {
        "e0/g0-1-2/b0": 6,
        "e0/g0-1-3/b0": 6,
        "e0/g1-2-3/b0": 6,
        "e0/g0-2-3/b0": 1,
    }


def test_what_was_played_again_was_dealt_anew_and_is_shown_so(file: Path) -> None:
    with Store.open(file, write=False) as store:
        again = [match for match in store.matches() if match.attempt == 2]
        (match,) = again
        shown: MatchReplay = replay_of(store, match)
        assert match_lines(store, match) == [
            line for line in lines(file) if line["match"] == match.id
        ]
    assert shown.scheduled.deals_id == f"{match.id}/a2"
    assert {line["attempt"] for line in lines(file) if line["match"] == match.id} == {2}


def test_an_attempt_is_never_dealt_the_cards_of_another(tmp_path: Path) -> None:
    store, schedule = create(tmp_path / "a.knavery", PLAN, 3, remote={0})
    (block,) = schedule.blocks()
    with store:
        store.start_attempt(schedule.match(block, 0), 0)
        store.abandon_open_attempts()
        with pytest.raises(RefereeBug, match="dealt for attempt 0, not 1"):
            store.start_attempt(schedule.match(block, 0), 1)


def test_a_remote_entrant_that_met_cards_in_two_generations_is_found(tmp_path: Path) -> None:
    store, schedule = create(tmp_path / "a.knavery", PLAN, 3, remote={0})
    with store:
        (*_, (_, match, _)) = islice(play_all(store, schedule), 1)
        wave = store.next_wave()
        store.record_deals(store.add_process(1, wave, 5), match.deals_id)
        assert verify(store).problem is None, "the others' processes are fresh"
        store.record_deals(store.add_process(0, wave, 5), match.deals_id)
        assert "its entrant is remote, and met the deals" in str(verify(store).problem)


def test_deals_of_an_attempt_that_never_was_are_found(tmp_path: Path) -> None:
    store, schedule = create(tmp_path / "a.knavery", PLAN, 3, remote={0})
    (block,) = schedule.blocks()
    with store:
        scheduled = schedule.match(block, 0)
        store.save(store.start_attempt(scheduled, 0), scheduled, play(scheduled))
        process = store.add_process(0, 0, scheduled.generation)
        store.record_deals(process, schedule.match(block, 0, 1).deals_id)
        assert "none of its entrant's" in str(verify(store).problem)

"""When one seat dies, in each phase and each seat, the others are told the true final result and
leave cleanly."""

from collections.abc import Sequence
from pathlib import Path

import pytest
import trio

from referee.house import open_house
from referee.match import ClockRules, FaultKind, FaultRules
from tests.referee.test_generation import Log, folder_bot, schedule
from tournaments.runner import play_matches
from tournaments.schedule import Schedule, Scheduled, Seat

DYING = Path(__file__).resolve().parent.parent / "bots" / "dying.py"
PATIENT = ClockRules(limit=60.0, startup=60.0)


def with_it_in(seats: Sequence[int], made: Schedule) -> list[Scheduled]:
    """Matches of entrants 0 to 2, with entrant 0 in each of these seats."""
    block = next(each for each in made.blocks() if each.group == (0, 1, 2))
    found = {match.seats.index(Seat(0)): match for match in made.matches(block)}
    return [found[seat] for seat in seats]


def play(folder: Path, at: str, matches: list[Scheduled], faults: FaultRules) -> Log:
    """Plays the matches one after the other; entrant 0 dies."""
    moments = (at, "never", "never")
    bots = {
        n: folder_bot(folder, f"bot{n}", DYING, "--at", moment) for n, moment in enumerate(moments)
    }
    log = Log()

    async def main() -> None:
        with trio.fail_after(240):
            async with open_house("ninety-nine", PATIENT, faults, folder / "logs") as house:
                await play_matches(house, bots, matches, log, in_flight=1)

    trio.run(main)
    return log


def told_the_others(folder: Path, log: Log) -> bool:
    """Whether both survivors were told each result as it is kept, in order, and then goodbye."""
    words = [
        f"over {log.matches[name].job.public_id} {_row(each.totals)} places {_row(each.places)}"
        for name, each in log.results.items()
    ]
    logs = [path for n in (1, 2) for path in (folder / "logs").glob(f"*bot{n}*.log")]
    printed = [
        [line for line in path.read_text().splitlines() if line.startswith(("over ", "goodbye"))]
        for path in logs
    ]
    return printed == [[*words, "goodbye"]] * 2


def _row(numbers: tuple[int, ...]) -> str:
    return " ".join(map(str, numbers))


@pytest.mark.parametrize("at", ["bid", "first", "mid"])
def test_who_dies_with_a_decision_open_in_any_seat_leaves_the_others_alone(
    tmp_path: Path, at: str
) -> None:
    """It dies once in each match, in another seat each time."""
    faults = FaultRules(limit=0, restarts=2, backoff=0.0)
    made = schedule("ninety-nine", PATIENT, faults)
    log = play(tmp_path, at, with_it_in(range(3), made), faults)
    assert [entrant for entrant, _ in log.crashes] == [0, 0, 0]
    assert len(log.results) == 3
    for seat, result in enumerate(log.results.values()):
        assert [(fault.seat, fault.kind) for fault in result.faults] == [(seat, FaultKind.CRASHED)]
        assert (result.forfeits, result.places[seat]) == ((seat,), 3)
        assert len(result.deals) == 2
    assert told_the_others(tmp_path, log)


@pytest.mark.parametrize("seat", range(3))
@pytest.mark.parametrize("at", ["last", "between"])
def test_who_dies_with_no_decision_open_is_missed_when_it_is_its_turn(
    tmp_path: Path, at: str, seat: int
) -> None:
    faults = FaultRules(restarts=0)
    made = schedule("ninety-nine", PATIENT, faults)
    log = play(tmp_path, at, with_it_in([seat], made), faults)
    (result,) = log.results.values()
    assert [entrant for entrant, _ in log.crashes] == [0]
    assert {(fault.seat, fault.deal) for fault in result.faults} <= {(seat, 0), (seat, 1)}
    assert FaultKind.ABSENT in {fault.kind for fault in result.faults}
    assert (result.forfeits, result.places[seat]) == ((seat,), 3)
    assert told_the_others(tmp_path, log)

"""What a file tells beside results: epochs, suspensions, and what was played again."""

from pathlib import Path

import pytest

from tests.web.files import CAUSE, eventful
from tournaments.history import History, Suspension, Turn, history
from tournaments.store import Store

ALICE, BOB, CAROL, NEW_BOB, EVE = 0, 1, 2, 4, 5


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return eventful(tmp_path_factory.mktemp("history") / "x.knavery")


def told(path: Path, *, anonymous: bool = False, open_blocks: bool = False) -> History:
    with Store.open(path, write=False) as store:
        return history(store, anonymous=anonymous, open_blocks=open_blocks)


def test_who_came_and_who_left(path: Path) -> None:
    past = told(path)
    assert past.bots == 4
    assert past.turns == (
        Turn(1, (EVE,), frozenset(), ((BOB, NEW_BOB),), (CAROL,), ("rounds: 2, was 1",)),
        Turn(2, (CAROL,), frozenset({CAROL}), (), (), ()),
    )
    assert (past.successor(BOB), past.predecessor(NEW_BOB)) == (NEW_BOB, BOB)
    assert past.successor(ALICE) is None
    assert past.predecessor(EVE) is None


def test_a_cause_is_told_when_its_epoch_is_over(path: Path) -> None:
    """It may be in the words of a bot that plays on."""
    first, last = Suspension(ALICE, 0, CAUSE), Suspension(EVE, 2, None)
    past = told(path)
    assert past.suspensions == (first, last)
    assert past.suspended(EVE) == last
    assert past.suspended(ALICE) is None, "it plays again in the next epoch"
    assert told(path, open_blocks=True).suspended(EVE) == Suspension(EVE, 2, CAUSE)
    assert {each.cause for each in told(path, anonymous=True).suspensions} == {None}


def test_what_was_played_again(path: Path) -> None:
    past = told(path)
    assert (past.void, past.abandoned) == (2, 1)
    assert past.isolation.startswith("Bots ran without isolation")

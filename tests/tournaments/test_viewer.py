"""What each key does, without a terminal."""

import pytest

from tests.tournaments.playing import create, play_all, tournament
from tournaments.replays import find
from tournaments.viewer import HELP, Place, Viewer


@pytest.fixture(scope="module")
def viewer(tmp_path_factory: pytest.TempPathFactory) -> Viewer:
    """A match of two deals of Ninety-Nine: 3 bids and 27 cards each."""
    path = tmp_path_factory.mktemp("viewer") / "x.knavery"
    store, schedule = create(path, tournament("ninety-nine", max_deals=2))
    with store:
        list(play_all(store, schedule, faults=0.06))
        return Viewer(find(store, "s1"))


def after(viewer: Viewer, *keys: str, start: Place | None = None) -> Place:
    place = start or Place()
    for key in keys:
        new = viewer.press(place, key)
        assert new is not None
        place = new
    return place


MOVES = [
    ("right", (0, 1)),
    ("space right l enter left", (0, 3)),
    ("down", (0, 3)),
    ("down down", (0, 6)),
    ("down right down", (0, 6)),
    ("down down right up", (0, 6)),
    ("down up", (0, 0)),
    ("end", (0, 30)),
    ("end right", (1, 0)),
    ("end right left", (0, 30)),
    ("n end home", (1, 0)),
    ("n down p", (0, 0)),
    ("t 7 enter", (0, 24)),
    ("t 1 backspace 0 enter", (0, 3)),
    ("d 1 enter", (1, 0)),
    ("t 5 escape right", (0, 1)),
    ("x right", (0, 1)),
]


@pytest.mark.parametrize(("keys", "place"), MOVES)
def test_keys_lead_there(viewer: Viewer, keys: str, place: tuple[int, int]) -> None:
    here = after(viewer, *keys.split())
    assert ((here.deal, here.step), here.said) == (place, "")


REFUSED = [
    ("left", "the beginning of the match"),
    ("p", "the first deal"),
    ("n n", "the last deal"),
    ("n end right", "the end of the match"),
    ("t 9 enter", "tricks are 0 to 8"),
    ("d 2 enter", "deals are 0 to 1"),
]


@pytest.mark.parametrize(("keys", "said"), REFUSED)
def test_keys_that_lead_nowhere_say_why(viewer: Viewer, keys: str, said: str) -> None:
    place = after(viewer, *keys.split())
    assert said in place.said
    assert said in viewer.lines(place)[-1]
    assert viewer.lines(after(viewer, "home", start=place))[-1] == HELP[1]


def test_faults_are_found_one_after_the_other(viewer: Viewer) -> None:
    place, seen = after(viewer, "f"), 0
    while not place.said:
        assert any(line.startswith("fault of seat") for line in viewer.lines(place))
        place, seen = after(viewer, "f", start=place), seen + 1
    assert seen > 1
    assert place.said == "no fault follows in this match"


def test_what_is_typed_is_seen(viewer: Viewer) -> None:
    assert viewer.lines(after(viewer, "t", "1"))[-1] == "jump to trick: 1_"


@pytest.mark.parametrize("key", ["q", "escape", "eof"])
def test_some_keys_end_it(viewer: Viewer, key: str) -> None:
    assert viewer.press(Place(), key) is None

"""Figures of play against the deals as they are exported, which an independent referee judged."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.tournaments.playing import create, play_all, tournament
from tournaments.course import POINTS, course
from tournaments.epochs import schedules
from tournaments.export import write_replays
from tournaments.figures import Figures, times
from tournaments.replays import MatchReplay
from tournaments.store import Store
from tournaments.table import computed


def played(path: Path, game: str, **fields: object) -> tuple[Store, Figures, list[dict[str, Any]]]:
    """A played file, the figures of all of it, and all of it as exported."""
    store, schedule = create(path, tournament(game, **fields), 4)
    list(play_all(store, schedule, faults=0.01))
    names = [entrant.name for entrant in store.entrants()]
    figures = Figures(store.tournament().rules)
    for kept in store.matches():
        replay = MatchReplay(kept, schedules(store)[0], names)
        figures.add(kept, replay.deals)
    lines = io.StringIO()
    write_replays(store, lines)
    return store, figures, [json.loads(line) for line in lines.getvalue().splitlines()]


@pytest.mark.parametrize(("game", "variant"), [("knave", "classic"), ("ninety-nine", "classic")])
def test_they_are_those_of_the_deals(tmp_path: Path, game: str, variant: str) -> None:
    store, figures, lines = played(tmp_path / "x.knavery", game, variant=variant, max_deals=3)
    store.close()
    for entrant, name in enumerate(("alice", "bob", "carol", "dave")):
        play = figures.by_entrant[entrant]
        own = [(line, line["entrants"].index(name)) for line in lines if name in line["entrants"]]
        assert play.deals == len(own)
        for seat in range(3):
            scores = [line["scores"][at] for line, at in own if at == seat]
            assert (play.by_seat[seat].count, play.by_seat[seat].total) == (
                len(scores),
                sum(scores),
            )
            after = [line["scores"][at] for line, at in own if (at - line["dealer"]) % 3 == seat]
            assert play.by_position[seat].total == sum(after)
        assert play.mean_tricks == sum(line["won"][at] for line, at in own) / len(own)
        if game == "knave":
            jacks = [jacks_taken(line, at) for line, at in own]
            assert play.jacks == [sum(column) for column in zip(*jacks, strict=True)]
            assert not play.bids
        else:
            bids = [bid(line, at) for line, at in own]
            assert play.mean_bid == sum(bids) / len(bids)
            made = sum(line["won"][at] == bid(line, at) for line, at in own)
            assert play.success == made / len(own)


def jacks_taken(line: dict[str, Any], seat: int) -> list[int]:
    taken = [card for trick in line["tricks"] if trick["winner"] == seat for card in trick["cards"]]
    return [f"J{suit}" in taken for suit in "CDHS"]


def bid(line: dict[str, Any], seat: int) -> int:
    return sum({"C": 3, "D": 0, "H": 2, "S": 1}[card[1]] for card in line["bids"][seat])


def test_partners_make_their_bids_together(tmp_path: Path) -> None:
    asked = {"variant": "partnership", "max_deals": 3}
    store, figures, lines = played(tmp_path / "x.knavery", "ninety-nine", **asked)
    store.close()
    made = sum(play.made.total() for play in figures.by_entrant.values())
    assert made == sum(score > 0 for line in lines for score in line["scores"])


def test_times_of_decisions_that_a_bot_made() -> None:
    assert times([]).median is None
    said = times([1000, 2000, 3000])
    assert (said.decisions, said.median, said.worst) == (3, 0.002, 0.003)


def test_the_course_ends_at_the_standings_and_is_bounded(tmp_path: Path) -> None:
    store, schedule = create(tmp_path / "x.knavery", tournament(max_deals=1), 5)
    with store:
        assert course([], store.completed(), 5).blocks == ()
        list(play_all(store, schedule))
        completed = store.completed()
        assert set(completed) == {block.id for block in store.complete_blocks()}
        found = course(store.played(), completed, 5)
        assert found.blocks == tuple(range(1, 11))
        assert found.ratings[-1] == computed(store).ratings.ratings
        many = course(store.played(), completed, 5)
        assert len(many.blocks) <= POINTS

"""What the replay viewer is given, for every game and variant, against the deals as exported."""

import io
import json
from itertools import islice
from pathlib import Path

import pytest
from playwright.sync_api import Page

from referee.games.cards import card_text
from referee.games.registry import GAMES, joined_variants
from tests.tournaments.playing import create, play_all, tournament
from tests.web.conftest import Check
from tournaments.export import write_replays
from tournaments.replays import replay_of
from tournaments.report import Choice, write_report
from tournaments.search import Search
from tournaments.web.scenes import place, scenes, script

VARIANTS = [(game, variant) for game in GAMES for variant in joined_variants(game)]


@pytest.mark.parametrize(("game", "variant"), VARIANTS)
def test_it_is_the_deal(tmp_path: Path, game: str, variant: str) -> None:
    plan = tournament(game, variant, max_deals=2)
    store, schedule = create(tmp_path / "x.knavery", plan, 4)
    lines = io.StringIO()
    with store:
        list(islice(play_all(store, schedule, faults=0.02), 1))
        write_replays(store, lines, open_blocks=True)
        (match,) = store.matches(open_blocks=True)
        replay = replay_of(store, match)
    given = script(replay, replay.names, scenes(replay))
    assert json.loads(json.dumps(given)) == {**given, "deals": json_like(given["deals"])}
    for deal, line in zip(
        given["deals"], map(json.loads, lines.getvalue().splitlines()), strict=True
    ):
        assert set(deal["legal"]) <= set("01234")
        bids = len(line["bids"] or ())
        tricks = [card for trick in line["tricks"] for card in trick["cards"]]
        assert list(map(card_text, deal["chosen"][bids:])) == tricks
        assert deal["winners"] == [trick["winner"] for trick in line["tricks"]]
        assert deal["leader"] == line["tricks"][0]["leader"]
        assert (deal["sofar"] or [deal["scores"]])[-1] == line["scores"] == deal["scores"]
        assert len(deal["ms"]) == len(deal["legal"]) == len(deal["chosen"])
        assert len(deal["told"]) >= bool(line["faults"])


def json_like(deals: list[dict[str, object]]) -> list[object]:
    """The same with the keys of objects as text, as JSON has them."""
    return [{**deal, "told": {str(k): v for k, v in deal["told"].items()}} for deal in deals]


def test_how_moments_are_named() -> None:
    assert place(3, 2, bids=3, players=3) == "3"
    assert place(3, 3, bids=3, players=3) == "3:0"
    assert place(3, 8, bids=3, players=3) == "3:1:2"


def test_four_partners_at_a_table(tmp_path: Path, desktop: Page, accessible: Check) -> None:
    plan = tournament("ninety-nine", "partnership", max_deals=1)
    store, schedule = create(tmp_path / "x.knavery", plan, 2)
    with store:
        list(play_all(store, schedule))
    with Search.open(store.path, write=False) as file:
        write_report(file, tmp_path / "out", Choice(replays="all"))
    (match, *_) = sorted((tmp_path / "out").glob("match-*.html"))
    desktop.goto(f"{match.as_uri()}#0:2:3")
    assert desktop.locator("#scene .who").count() == 4
    assert desktop.locator("#scene .card").count() == 48 - 2 * 4, "two tricks are gone"
    accessible(desktop)

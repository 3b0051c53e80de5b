"""Finding matches and faults: every page against a look through everything."""

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import pytest

from referee.match import FaultKind
from tests.tournaments.playing import create, play_all, tournament
from tournaments.kept import KeptMatch
from tournaments.search import (
    FoundFault,
    FoundMatch,
    Page,
    Query,
    Search,
    SearchError,
    faults_query,
    matches_query,
)

PLAN = tournament(max_deals=2)
ILLEGAL = FaultKind.ILLEGAL
QUERIES = {
    "all": Query(),
    "bot": Query(bot=3),
    "faulty": Query(faulty=True),
    "kind": Query(kind=ILLEGAL),
    "kind of a bot": Query(bot=1, kind=ILLEGAL),
    "faults of a bot": Query(bot=1, faulty=True),
    "group": Query(match="g0-1-2"),
    "seating": Query(match="b0/s4"),
    "bot and name": Query(bot=2, match="e0/s1"),
    "nobody": Query(bot=99),
}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All matches but the last few: some blocks are open, and one match is under way."""
    path = tmp_path_factory.mktemp("search") / "friday.knavery"
    store, schedule = create(path, PLAN, 5)
    with store:
        for _ in islice(play_all(store, schedule, faults=0.02), 55):
            pass
        done = store.finished_job_ids()
        left = (schedule.match(b, n) for b in schedule.blocks() for n in range(6))
        under_way = next(match for match in left if match.job.id not in done)
        store.start_attempt(under_way, store.next_wave())
    return path


@pytest.fixture(scope="module")
def search(played: Path) -> Iterator[Search]:
    with Search.open(played, write=False) as opened:
        yield opened


def every(page: Callable[[str | None], Page[FoundMatch]]) -> list[FoundMatch]:
    """All pages, one after the other."""
    found, after = list[FoundMatch](), None
    while True:
        one = page(after)
        found += one.items
        after = one.after
        if after is None:
            return found
        assert one.items


def fits(match: KeptMatch, query: Query) -> bool:
    faults = [
        fault
        for fault in match.faults
        if query.kind in (None, fault.kind) and query.bot in (None, match.entrants[fault.seat])
    ]
    named = set((query.match or "").split("/")) - {""} <= set(match.id.split("/"))
    sits = query.bot is None or query.bot in match.entrants
    return named and sits and (bool(faults) or not (query.kind or query.faulty))


@pytest.mark.parametrize("limit", [1, 7, 500])
@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_pages_of_matches(search: Search, query: Query, limit: int) -> None:
    found = every(lambda after: search.page_of_matches(query, after, limit))
    kept = {match.id: match for match in search.matches(open_blocks=True) if fits(match, query)}
    assert sorted(match.id for match in found) == sorted(kept)
    complete = {block.id for block in search.complete_blocks()}
    for match in found:
        own = kept[match.id]
        assert match.entrants == own.entrants
        assert (match.totals, match.places) == (own.totals, own.places)
        assert (match.deals, match.faults) == (len(own.deals), len(own.faults))
        assert match.complete == (match.block.id in complete)
    assert [match.ended for match in found] == sorted((m.ended for m in found), reverse=True)


def fault_key(match: str, deal: int, seat: int, trick: int | None, kind: FaultKind) -> object:
    return match, deal, seat, -1 if trick is None else trick, kind.value


@pytest.mark.parametrize("limit", [1, 7, 500])
@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_pages_of_faults(search: Search, query: Query, limit: int) -> None:
    found, after = list[FoundFault](), None
    while True:
        page = search.page_of_faults(query, after, limit, open_blocks=False)
        found += page.items
        if (after := page.after) is None:
            break
        assert len(page.items) == limit
    wanted = [
        fault_key(match.id, fault.deal, fault.seat, fault.trick, fault.kind)
        for match in search.matches(open_blocks=True)
        for fault in match.faults
        if fits(match, query)
        and query.kind in (None, fault.kind)
        and query.bot in (None, match.entrants[fault.seat])
    ]
    keys = [fault_key(each.id, each.deal, each.seat, each.trick, each.kind) for each in found]
    assert sorted(keys, key=str) == sorted(wanted, key=str)
    assert all((each.detail is not None) == each.complete for each in found)


def test_there_are_faults_in_open_blocks_too(search: Search) -> None:
    shown = search.page_of_faults(Query(), None, 500, open_blocks=True).items
    hidden = search.page_of_faults(Query(), None, 500, open_blocks=False).items
    assert {each.complete for each in shown} == {True, False}
    assert all(each.detail for each in shown)
    assert [each.detail for each in hidden if each.complete]


def test_what_is_under_way(search: Search) -> None:
    count, (first,) = search.running()
    assert count == 1
    assert search.is_begun(first.id)
    assert search.look_up(first.id, open_blocks=True) is None
    assert not search.is_begun("e7/g0-1-2/b0/s0")


def test_a_match_of_an_open_block_shows_no_cards(search: Search) -> None:
    found = search.page_of_matches(Query(), None, 500).items
    whole = next(match for match in found if match.complete)
    part = next(match for match in found if not match.complete)
    assert isinstance(search.look_up(whole.id, open_blocks=False), KeptMatch)
    assert search.look_up(part.id, open_blocks=False) == part
    assert isinstance(search.look_up(part.id, open_blocks=True), KeptMatch)


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
@pytest.mark.parametrize("made", [matches_query, faults_query])
def test_no_query_goes_through_a_whole_table(
    search: Search, query: Query, made: Callable[[Query], tuple[str, list[object]]]
) -> None:
    """A walk in the order of the page stops when that is full; nothing is sorted first."""
    sql, values = made(query)
    bounds = [9, 10] if made is matches_query else [9, 9, 9, 10]
    plan = [row["detail"] for row in search._rows(f"EXPLAIN QUERY PLAN {sql}", 6, *values, *bounds)]
    assert not [step for step in plan if "B-TREE" in step], plan
    assert not [step for step in plan if step.startswith("SCAN jobs")], plan


@pytest.mark.parametrize("name", ["x1", "e0/e1", "g1-2-3-4-5", "b", "s-1", "<script>", "e" * 300])
def test_what_is_no_name_is_said(search: Search, name: str) -> None:
    with pytest.raises(SearchError, match="is no match's name"):
        Query(match=name)
    with pytest.raises(SearchError):
        search.look_up(name, open_blocks=True)


@pytest.mark.parametrize("after", ["", "x", "-1", "1-2-3", "9" * 30, "1-"])
def test_what_continues_no_page_is_said(search: Search, after: str) -> None:
    with pytest.raises(SearchError, match="not where a page goes on"):
        search.page_of_matches(Query(), after)
    with pytest.raises(SearchError, match="not where a page goes on"):
        search.page_of_faults(Query(), after, open_blocks=True)


def test_a_part_of_a_name_is_no_full_name(search: Search) -> None:
    with pytest.raises(SearchError, match="is no full name"):
        search.look_up("b0/s1", open_blocks=True)

from __future__ import annotations

import csv
import io
import json

import pytest
from wcwidth import wcswidth

from tests.tournaments.results import block, blocks
from tournaments.played import Played
from tournaments.ratings import rate
from tournaments.standings import (
    Entry,
    Standings,
    as_csv,
    as_json,
    compute,
    head_to_head_table,
    header,
    memory_line,
    table,
)

ENTRIES = [
    Entry("alice", "a1b2c3d4e5f6"),
    Entry("bob", "0123456789ab", faults=3, forfeits=1),
    Entry("carol", "ffffffffffff"),
]
TWO_BLOCKS = blocks("a>b>c a>c>b", "a>b=c c>b>a")
OPEN = block("open", "b>a>c")


def standings(played: list[Played], **options: int) -> Standings:
    return compute(ENTRIES, played, seatings_per_block=2, **options)


class TestCompute:
    def test_rows_come_by_rating(self) -> None:
        rows = standings(TWO_BLOCKS).rows
        assert [(row.place, row.name, row.entrant) for row in rows] == [
            (1, "alice", 0),
            (2, "carol", 2),
            (3, "bob", 1),
        ]

    def test_figures_of_a_row(self) -> None:
        row = standings(TWO_BLOCKS).rows[2]
        assert (row.name, row.version) == ("bob", "0123456789ab")
        assert (row.matches, row.firsts, row.win_share, row.mean_place) == (4, 0, 0.0, 2.25)
        assert (row.faults, row.forfeits, row.provisional) == (3, 1, False)
        assert row.points_per_deal == 2 / 40
        assert row.rating == rate(TWO_BLOCKS, 3).ratings[1]
        assert (row.low, row.high) == rate(TWO_BLOCKS, 3).intervals[1]

    def test_a_shared_first_place_is_shared(self) -> None:
        rows = standings(blocks("a=b>c a>b>c")).rows
        assert [(row.firsts, row.win_share) for row in rows] == [(2, 0.75), (1, 0.25), (0, 0.0)]

    def test_equal_ratings_share_a_place_in_order_of_name(self) -> None:
        rows = standings(blocks("b=c>a c=b>a")).rows
        assert [(row.place, row.name) for row in rows] == [(1, "bob"), (1, "carol"), (3, "alice")]

    def test_open_blocks_count_for_nothing_once_one_is_complete(self) -> None:
        with_open, without = standings(TWO_BLOCKS + OPEN), standings(TWO_BLOCKS)
        assert with_open.rows == without.rows
        assert with_open.meetings == without.meetings
        assert (with_open.complete_blocks, with_open.open_blocks) == (2, 1)

    def test_blocks_not_started_are_open_too(self) -> None:
        assert standings(TWO_BLOCKS + OPEN, blocks=12).open_blocks == 10

    def test_before_a_complete_block_open_ones_serve_without_intervals(self) -> None:
        provisional = standings(OPEN + block("other", "b>c>a"))
        assert provisional.provisional
        assert provisional.rows[0].name == "bob"
        for row in provisional.rows:
            assert row.provisional
            assert row.rating is not None
            assert row.low is row.high is row.points_low is row.points_high is None

    def test_who_has_not_played_comes_last_without_a_place(self) -> None:
        row = compute(ENTRIES, blocks("b>c c>b"), seatings_per_block=2).rows[2]
        assert (row.place, row.name, row.rating, row.points_per_deal) == (None, "alice", None, None)
        assert (row.matches, row.win_share, row.mean_place) == (0, None, None)

    def test_anchor_is_named(self) -> None:
        anchored = standings(TWO_BLOCKS, anchor=1)
        assert anchored.anchor == "bob"
        assert anchored.rows[2].rating == 1500

    def test_order_of_matches_changes_nothing(self) -> None:
        played = TWO_BLOCKS + OPEN
        assert repr(standings(played[::-1])) == repr(standings(played))


class TestHeader:
    @pytest.mark.parametrize(
        ("played", "options", "says"),
        [
            (
                TWO_BLOCKS + OPEN,
                {},
                "2 blocks complete, 1 open. Ratings: 1500 is the field's mean; intervals are 95 %.",
            ),
            (
                TWO_BLOCKS[:3],
                {"anchor": 0},
                "1 block complete, 1 open. Ratings: 1500 is alice; intervals are 95 %.",
            ),
            (
                OPEN,
                {"blocks": 4},
                "0 blocks complete, 4 open: provisional figures (~), no intervals yet. "
                "Ratings: 1500 is the field's mean.",
            ),
            ([], {"blocks": 4}, "0 blocks complete, 4 open: no match is finished yet."),
        ],
    )
    def test_says_what_the_rows_rest_on(
        self, played: list[Played], options: dict[str, int], says: str
    ) -> None:
        assert header(standings(played, **options)) == says


def lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines()]


class TestTable:
    def test_complete(self) -> None:
        played = TWO_BLOCKS + block("last", "a>b>c", "b>a>c")
        assert lines(table(standings(played).rows)) == lines("""\
#  name   version      rating  points/deal  matches  firsts  win share  mean place  faults  forfeits
1  alice  a1b2c3d  1613 ± 431  0.15 ± 0.12        6       4      0.667        1.50       0         0
2  bob    0123456  1481 ± 403  0.08 ± 0.14        6       1      0.167        2.00       3         1
3  carol  fffffff  1406 ± 421  0.05 ± 0.12        6       1      0.167        2.33       0         0
""")

    def test_signs_stand_one_below_the_other(self) -> None:
        played = blocks(*["a>b b>a"] * 9, "a>c a>c", "a>c a>c", "c>a c>a")
        rows = lines(table(standings(played).rows))
        assert len({row.index("±") for row in rows[1:]}) == 1

    def test_provisional(self) -> None:
        assert lines(table(standings(block("open", "b>a")).rows)) == lines("""\
#  name   version  rating  points/deal  matches  firsts  win share  mean place  faults  forfeits
1  bob    0123456   ~1631        ~0.10        1       1      1.000        1.00       3         1
2  alice  a1b2c3d   ~1369        ~0.00        1       0      0.000        2.00       0         0
-  carol  fffffff       -            -        0       0          -           -       0         0
""")

    def test_nobody(self) -> None:
        assert len(lines(table(()))) == 1

    def test_plain_sign_for_a_terminal_without_the_usual_one(self) -> None:
        text = table(standings(TWO_BLOCKS).rows, "+/-")
        assert text.isascii()
        assert " +/- " in text

    def test_names_stay_text_on_one_line(self) -> None:
        names = [Entry("007", "0"), Entry("a\x1b[31m\nb", "1"), Entry("1e5", "2e2")]
        rows = lines(table(compute(names, TWO_BLOCKS, seatings_per_block=2).rows))
        assert len(rows) == 4
        assert rows[1].split()[1:3] == ["007", "0"]
        assert rows[2].split()[1:3] == ["1e5", "2e2"]
        assert rows[3].split()[1:3] == ["a?[31m?b", "1"]

    def test_head_to_head(self) -> None:
        assert lines(head_to_head_table(standings(TWO_BLOCKS + OPEN))) == [
            "   name       1      2      3",
            "1  alice      -  3-0-1  3-0-1",
            "2  carol  1-0-3      -  2-1-1",
            "3  bob    1-0-3  1-1-2      -",
        ]

    def test_head_to_head_of_those_who_never_met(self) -> None:
        played = blocks("a>b b>a", "a>c a>c")
        assert lines(head_to_head_table(standings(played))) == [
            "   name       1      2      3",
            "1  alice      -  1-0-1  2-0-0",
            "2  bob    1-0-1      -      -",
            "3  carol  0-0-2      -      -",
        ]


class TestCsv:
    def test_snapshot(self) -> None:
        assert as_csv(standings(TWO_BLOCKS).rows).splitlines() == [
            "place,entrant,name,version,rating,low,high,points_per_deal,points_low,points_high,"
            "matches,firsts,win_share,mean_place,faults,forfeits,provisional,"
            "memory_p,remembers",
            "1,0,alice,a1b2c3d4e5f6,1605.8669,83.8988,3127.8349,0.15,-0.4853,0.7853,"
            "4,3,0.75,1.5,0,0,False,0.841,False",
            "2,2,carol,ffffffffffff,1473.4771,59.8234,2887.1307,0.075,-0.2427,0.3927,"
            "4,1,0.25,2.0,0,0,False,0.5,False",
            "3,1,bob,0123456789ab,1420.6561,-33.5879,2874.9,0.05,0.05,0.05,4,0,0.0,2.25,3,1,False,"
            "0.264,False",
        ]

    def test_nothing_known_is_empty(self) -> None:
        row = next(csv.DictReader(io.StringIO(as_csv(standings([]).rows))))
        assert row["place"] == row["rating"] == row["points_low"] == row["mean_place"] == ""

    @pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", "  =1", "＝1"])
    def test_no_name_is_a_formula(self, name: str) -> None:
        rows = compute([Entry(name, "f")], [], seatings_per_block=2).rows
        assert next(csv.DictReader(io.StringIO(as_csv(rows))))["name"] == f"'{name}"

    @pytest.mark.parametrize("name", ["a\r=1", "a\n=1", "a\t=1"])
    def test_no_name_opens_another_cell(self, name: str) -> None:
        text = as_csv(compute([Entry(name, "f")], [], seatings_per_block=2).rows)
        assert len(text.splitlines()) == 2
        assert next(csv.DictReader(io.StringIO(text)))["name"] == "a?=1"

    def test_other_names_stay(self) -> None:
        text = as_csv(compute([Entry('a,"b"=c', "f")], [], seatings_per_block=2).rows)
        assert next(csv.DictReader(io.StringIO(text)))["name"] == 'a,"b"=c'


class TestMemory:
    PLAYED = tuple(
        Played(
            block=f"b{n}",
            seating=generation,
            generation=generation,
            entrants=(0, 1) if (n + generation) % 2 else (1, 0),
            places=(2 - generation, 1 + generation)[:: 1 if (n + generation) % 2 else -1],
            points=(generation, 1 - generation)[:: 1 if (n + generation) % 2 else -1],
            deals=10,
        )
        for n in range(20)
        for generation in range(2)
    )
    """Alice loses each block's first match and wins the second, in either seat."""

    def test_who_remembers_is_marked_and_told_apart_from_the_others(self) -> None:
        result = standings(list(self.PLAYED))
        (marked,) = (row for row in result.rows if row.remembers)
        assert marked.name == "alice"
        assert marked.memory_p is not None
        assert 0 < marked.memory_p < 1e-4
        assert "alice*" in table(result.rows)
        line = memory_line(result.rows)
        assert line is not None
        assert line.startswith("* plays better the more")
        rounded = as_json(result)["standings"][0]["memory_p"]
        assert rounded == pytest.approx(marked.memory_p, rel=0.01)

    def test_otherwise_there_is_nothing_to_explain(self) -> None:
        rows = standings(TWO_BLOCKS).rows
        assert memory_line(rows) is None
        assert "*" not in table(rows)


class TestJson:
    def test_snapshot(self) -> None:
        played = blocks("a>b b>a", "a>b a>b") + block("open", "b>a")
        entries = ENTRIES[:2]
        assert as_json(compute(entries, played, seatings_per_block=2, anchor=1)) == {
            "format": "knavery.standings/1",
            "blocks": {"complete": 2, "open": 1},
            "provisional": False,
            "level": 0.95,
            "centre": 1500.0,
            "anchor": "bob",
            "standings": [
                {
                    "place": 1,
                    "entrant": 0,
                    "name": "alice",
                    "version": "a1b2c3d4e5f6",
                    "rating": 1664.8385,
                    "low": -742.6221,
                    "high": 4072.2992,
                    "points_per_deal": 0.075,
                    "points_low": -0.2427,
                    "points_high": 0.3927,
                    "matches": 4,
                    "firsts": 3,
                    "win_share": 0.75,
                    "mean_place": 1.25,
                    "faults": 0,
                    "forfeits": 0,
                    "provisional": False,
                    "memory_p": 0.841,
                    "remembers": False,
                },
                {
                    "place": 2,
                    "entrant": 1,
                    "name": "bob",
                    "version": "0123456789ab",
                    "rating": 1500.0,
                    "low": 1500.0,
                    "high": 1500.0,
                    "points_per_deal": 0.025,
                    "points_low": -0.2927,
                    "points_high": 0.3427,
                    "matches": 4,
                    "firsts": 1,
                    "win_share": 0.25,
                    "mean_place": 1.75,
                    "faults": 3,
                    "forfeits": 1,
                    "provisional": False,
                    "memory_p": 0.159,
                    "remembers": False,
                },
            ],
        }

    def test_meetings_on_request(self) -> None:
        document = as_json(standings(blocks("a>b b>a", "a=b a>b")), with_meetings=True)
        assert document["head_to_head"] == [
            {
                "entrant": 0,
                "opponent": 1,
                "wins": 2,
                "ties": 1,
                "losses": 1,
                "points_per_deal": 0.05,
            },
            {
                "entrant": 1,
                "opponent": 0,
                "wins": 1,
                "ties": 1,
                "losses": 2,
                "points_per_deal": 0.025,
            },
        ]

    @pytest.mark.parametrize("played", [[], OPEN, TWO_BLOCKS])
    def test_is_json(self, played: list[Played]) -> None:
        document = as_json(standings(played), with_meetings=True)
        assert json.loads(json.dumps(document, allow_nan=False)) == document


def test_columns_stand_below_each_other_whatever_the_script_of_a_name() -> None:
    entries = [Entry("太郎", "a1b2c3d4e5f6"), *ENTRIES[1:]]
    rows = compute(entries, TWO_BLOCKS, seatings_per_block=2).rows
    lines = table(rows).splitlines()[-len(rows) :]
    versions = [line.index(row.version[:7]) for line, row in zip(lines, rows, strict=True)]
    assert len({wcswidth(line[:at]) for line, at in zip(lines, versions, strict=True)}) == 1

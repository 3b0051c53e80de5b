from __future__ import annotations

import itertools
import math
import random
import statistics

import numpy as np
import pytest

from tests.tournaments.results import block, blocks, gumbel_blocks
from tournaments.played import Played
from tournaments.ratings import (
    ELO,
    NEVER_MET,
    Meeting,
    PointsRow,
    Ratings,
    complete_blocks,
    head_to_head,
    points,
    rate,
    t_quantile,
)


def margin(ratings: Ratings, entrant: int) -> float:
    interval = ratings.intervals[entrant]
    assert interval is not None
    return (interval[1] - interval[0]) / 2


SOME = gumbel_blocks([0.5, 0.2, -0.2, -0.5], sides=3, rounds=4, seatings=6, alike=0.3, seed=1)


class TestCompleteBlocks:
    def test_splits_by_block(self) -> None:
        played = blocks("a>b b>a", "a>b", "b>a a>b")
        split = complete_blocks(played[::-1], 2)
        assert [match.block for match in split.complete] == ["b000", "b000", "b002", "b002"]
        assert split.open == (played[2],)
        assert (split.complete_count, split.open_count) == (2, 1)

    def test_nothing_played(self) -> None:
        split = complete_blocks([], 6)
        assert split.complete == split.open == ()
        assert (split.complete_count, split.open_count) == (0, 0)

    def test_a_seating_that_comes_twice_is_refused(self) -> None:
        played = block("b7", "a>b")
        with pytest.raises(ValueError, match=r"^block b7, seating 0 comes twice$"):
            complete_blocks(played + played, 2)

    def test_a_seating_too_many_is_refused(self) -> None:
        with pytest.raises(ValueError, match=r"^block b7, seating 2 of 2$"):
            complete_blocks(block("b7", "a>b", "b>a", "a>b"), 2)


class TestRatings:
    @pytest.mark.parametrize("match", ["a=b", "a=b=c", "a=b=c=d"])
    def test_ties_only_leave_all_at_the_mean(self, match: str) -> None:
        ratings = rate(blocks(f"{match} {match}", match), (len(match) + 1) // 2)
        assert set(ratings.ratings) == {1500.0}

    @pytest.mark.parametrize(
        "played",
        [
            blocks("a>b b>a"),
            blocks("a>b>c b>c>a c>a>b"),
            blocks("a>b>c>d b>c>d>a c>d>a>b d>a>b>c"),
        ],
    )
    def test_balanced_results_leave_all_at_the_mean(self, played: list[Played]) -> None:
        assert set(rate(played, len(played[0].entrants)).ratings) == {1500.0}

    def test_one_result_of_two_by_hand(self) -> None:
        """Strengths d and -d with x = e^d: 2 / (1 + x^2) = (x - 1) / (x + 1)."""
        high, low = rate(blocks("a>b"), 2).ratings
        assert high is not None
        assert low is not None
        x = math.exp((high - 1500) / ELO)
        assert 2 / (1 + x * x) == pytest.approx((x - 1) / (x + 1))
        assert high + low == pytest.approx(3000)

    def test_a_tie_is_half_a_win_and_half_a_loss(self) -> None:
        tied = rate(blocks("a=b a=b", "b>a a>b", "a>b a>b"), 2)
        split = rate(blocks("a>b b>a", "b>a a>b", "a>b a>b"), 2)
        assert tied.ratings == split.ratings

    def test_four_hundred_points_are_ten_to_one(self) -> None:
        """The prior's one game in 11,000 pulls them together by less than a point."""
        played = blocks(*(["a>b"] * 10 + ["b>a"]) * 1000)
        high, low = rate(played, 2).ratings
        assert high is not None
        assert low is not None
        assert high - low == pytest.approx(400, abs=0.5)

    @pytest.mark.parametrize("match", ["a>b", "a>b=c", "a>b=c=d"])
    def test_a_match_weighs_one_for_its_winner_whatever_its_sides(self, match: str) -> None:
        """Strengths (n-1)c and -c, so the derivative by c is a number."""
        sides = (len(match) + 1) // 2
        top = rate(blocks(match), sides).ratings[0]
        assert top is not None
        c = (top - 1500) / ELO / (sides - 1)
        surplus = sides / (1 + math.exp(sides * c))
        phantom = (sides - 1) / 2 * (math.tanh((sides - 1) * c / 2) + math.tanh(c / 2))
        assert surplus == pytest.approx(phantom)

    def test_second_place_counts(self) -> None:
        """b and c never win, but b is second every time."""
        _, b, c = rate(blocks("a>b>c a>b>c"), 3).ratings
        assert b is not None
        assert c is not None
        assert b > c

    def test_a_perfect_record_stays_finite(self) -> None:
        ratings = rate(blocks(*["a>b>c a>b>c"] * 500), 3)
        assert all(rating is not None and abs(rating - 1500) < 2000 for rating in ratings.ratings)
        assert all(math.isfinite(margin(ratings, entrant)) for entrant in range(3))

    def test_those_who_never_met_are_joined_by_the_prior(self) -> None:
        a, b, c, d = rate(blocks("a>b a>b", "c>d c>d"), 4).ratings
        assert a == pytest.approx(c)
        assert b == pytest.approx(d)

    def test_who_has_not_played_has_no_rating_and_moves_no_other(self) -> None:
        without, among = rate(SOME, 4), rate(SOME, 6)
        assert among.ratings == (*without.ratings, None, None)
        assert among.intervals == (*without.intervals, None, None)
        assert among.blocks == (*without.blocks, 0, 0)
        assert among.superiority(0, 5) is None

    def test_nothing_played(self) -> None:
        ratings = rate([], 3)
        assert ratings.ratings == (None, None, None)
        assert ratings.intervals == (None, None, None)
        assert ratings.blocks == (0, 0, 0)
        assert rate([], 0).ratings == ()

    def test_mean_is_1500(self) -> None:
        values = [rating for rating in rate(SOME, 4).ratings if rating is not None]
        assert statistics.fmean(values) == pytest.approx(1500)

    @pytest.mark.parametrize("anchor", [None, 2])
    def test_order_of_matches_changes_no_bit(self, anchor: int | None) -> None:
        expected = repr((rate(SOME, 4, anchor), points(SOME, 4), head_to_head(SOME, 4)))
        for seed in range(5):
            mixed = random.Random(seed).sample(SOME, len(SOME))
            assert (
                repr((rate(mixed, 4, anchor), points(mixed, 4), head_to_head(mixed, 4))) == expected
            )

    def test_mixed_sides_are_refused(self) -> None:
        with pytest.raises(
            ValueError, match=r"^block b001, seating 0 has 2 sides, other matches 3$"
        ):
            rate(blocks("a>b>c", "a>b"), 3)

    def test_an_entrant_out_of_range_is_refused(self) -> None:
        says = r"^block b000, seating 0 has entrants \(0, 2\) in a field of 2$"
        with pytest.raises(ValueError, match=says):
            rate(blocks("a>c"), 2)

    @pytest.mark.parametrize("level", [0, 1, 95])
    def test_a_level_that_is_no_probability_is_refused(self, level: float) -> None:
        with pytest.raises(ValueError, match="not between 0 and 1"):
            rate(SOME, 4, level=level)


class TestIntervals:
    def test_one_block_gives_none(self) -> None:
        ratings = rate(blocks("a>b b>a"), 2)
        assert ratings.intervals == (None, None)
        assert ratings.errors == ((None, None), (None, None))
        assert ratings.superiority(0, 1) is None
        assert [row.low for row in points(blocks("a>b b>a"), 2)] == [None, None]

    def test_only_who_is_in_two_blocks_has_one(self) -> None:
        ratings = rate(blocks("a>b b>a", "a>b a>b", "a>c a>c"), 3)
        assert ratings.blocks == (3, 2, 1)
        assert [interval is not None for interval in ratings.intervals] == [True, True, False]
        assert ratings.superiority(0, 1) is not None
        assert ratings.superiority(0, 2) is None

    def test_by_hand(self) -> None:
        """Two entrants of strengths d and -d, so all variances are numbers; docs/ratings.md."""
        ratings = rate(blocks("a>b a>b", "a>b b>a"), 2)
        high = ratings.ratings[0]
        assert high is not None
        x = math.exp((high - 1500) / ELO)
        assert 3 * x**3 + x**2 - 5 * x - 7 == pytest.approx(0, abs=1e-8)
        p, q = 1 / (1 + x**-2), 1 / (1 + 1 / x)
        information = 16 * p * (1 - p) + 2 * q * (1 - q)
        clustered = 2 * ((4 - 4 * p) ** 2 + (2 - 4 * p) ** 2) / information**2
        assert clustered > 1 / information
        assert margin(ratings, 0) == pytest.approx(ELO * math.sqrt(clustered) * 12.7062, rel=1e-5)
        assert ratings.errors[0][1] == pytest.approx(2 * ELO * math.sqrt(clustered))

    def test_results_without_any_spread_fall_back_on_the_information(self) -> None:
        """Blocks that all end alike have no clustered variance to speak of."""
        ratings = rate(blocks(*["a>b b>a"] * 5), 2)
        p = q = 0.5
        information = 40 * p * (1 - p) + 2 * q * (1 - q)
        assert margin(ratings, 0) == pytest.approx(ELO / math.sqrt(information) * 2.77645, rel=1e-5)

    def test_repeating_results_within_blocks_widens_them(self) -> None:
        """The same 24 matches, once alike within blocks, once spread over them."""
        alike = rate(blocks(*["a>b a>b a>b", "b>a b>a b>a"] * 4), 2)
        spread = rate(blocks(*["a>b b>a a>b", "b>a a>b b>a"] * 4), 2)
        assert alike.ratings == spread.ratings
        assert margin(alike, 0) > 1.5 * margin(spread, 0)

    def test_more_blocks_narrow_them(self) -> None:
        few, many = (gumbel_blocks([0.0] * 3, 3, rounds, 6, 0.3, 1) for rounds in (10, 40))
        assert margin(rate(many, 3), 0) < 0.6 * margin(rate(few, 3), 0)

    def test_level_widens_them(self) -> None:
        assert margin(rate(SOME, 4, level=0.99), 0) > 1.2 * margin(rate(SOME, 4), 0)

    @pytest.mark.parametrize(
        ("level", "degrees", "published"),
        [
            (0.95, 1, 12.706),
            (0.95, 2, 4.303),
            (0.95, 5, 2.571),
            (0.95, 10, 2.228),
            (0.95, 30, 2.042),
            (0.95, 120, 1.980),
            (0.99, 1, 63.657),
            (0.99, 10, 3.169),
            (0.90, 10, 1.812),
        ],
    )
    def test_quantiles_of_t(self, level: float, degrees: int, published: float) -> None:
        assert t_quantile(level, np.array([degrees]))[0] == pytest.approx(published, abs=5e-4)

    def test_no_quantile_without_degrees(self) -> None:
        assert np.isnan(t_quantile(0.95, np.array([0, -1]))).all()

    @pytest.mark.parametrize(
        ("strengths", "sides", "rounds", "seatings", "alike"),
        [
            ([0.8, 0.2, 0.0, -0.3, -0.7], 3, 3, 6, 0.7),
            ([0.6, 0.1, 0.0, -0.2, -0.5], 4, 4, 4, 1.0),
            ([0.5, 0.0, -0.1, -0.4], 2, 6, 2, 1.0),
        ],
    )
    def test_cover_the_truth_about_as_often_as_they_say(
        self, strengths: list[float], sides: int, rounds: int, seatings: int, alike: float
    ) -> None:
        tournaments = 80
        inside = 0
        for seed in range(tournaments):
            played = gumbel_blocks(strengths, sides, rounds, seatings, alike, seed)
            for strength, interval in zip(
                strengths, rate(played, len(strengths)).intervals, strict=True
            ):
                assert interval is not None
                inside += interval[0] <= 1500 + ELO * strength <= interval[1]
        assert 0.93 <= inside / (tournaments * len(strengths)) <= 0.99

    def test_strengths_are_recovered(self) -> None:
        strengths = [1.0, 0.3, -0.2, -1.1]
        played = gumbel_blocks(strengths, sides=3, rounds=100, seatings=6, alike=0.0, seed=5)
        for strength, rating in zip(strengths, rate(played, 4).ratings, strict=True):
            assert rating == pytest.approx(1500 + ELO * strength, abs=15)


class TestAnchor:
    def test_is_1500_and_keeps_the_differences(self) -> None:
        free, held = rate(SOME, 4), rate(SOME, 4, anchor=2)
        assert held.anchor == 2
        assert held.ratings[2] == 1500
        assert held.intervals[2] == (1500, 1500)
        shifts = {
            round(b - a, 9)
            for a, b in zip(free.ratings, held.ratings, strict=True)
            if a is not None and b is not None
        }
        assert len(shifts) == 1
        assert held.errors == free.errors

    def test_intervals_are_of_the_difference_from_it(self) -> None:
        ratings = rate(SOME, 4, anchor=2)
        error = ratings.errors[0][2]
        assert error is not None
        quantile = t_quantile(0.95, np.array([min(ratings.blocks[0], ratings.blocks[2]) - 1]))[0]
        assert margin(ratings, 0) == pytest.approx(error * quantile)

    def test_that_has_not_played_gives_way_to_the_mean(self) -> None:
        assert rate(SOME, 5, anchor=4) == rate(SOME, 5)

    def test_out_of_range_is_refused(self) -> None:
        with pytest.raises(ValueError, match=r"^anchor 4 is not among the 4 entrants$"):
            rate(SOME, 4, anchor=4)


class TestSuperiority:
    def test_of_two_adds_up_to_one(self) -> None:
        ratings = rate(SOME, 4)
        for i, j in itertools.combinations(range(4), 2):
            ahead, behind = ratings.superiority(i, j), ratings.superiority(j, i)
            assert ahead is not None
            assert behind is not None
            assert ahead + behind == pytest.approx(1)

    def test_of_equals_is_a_half(self) -> None:
        assert rate(blocks("a>b b>a", "a=b a=b"), 2).superiority(0, 1) == 0.5

    def test_with_itself_is_not_a_question(self) -> None:
        assert rate(SOME, 4).superiority(1, 1) is None

    def test_by_hand(self) -> None:
        """With one degree of freedom t is Cauchy's."""
        ratings = rate(blocks("a>b a>b", "a>b b>a"), 2)
        a, b, error = *ratings.ratings, ratings.errors[0][1]
        assert a is not None
        assert b is not None
        assert error is not None
        expected = 0.5 + math.atan((a - b) / error) / math.pi
        assert ratings.superiority(0, 1) == pytest.approx(expected)

    def test_uses_that_two_meet_the_same_luck(self) -> None:
        """a and b rise and fall together against c, so their difference is known better."""
        played = blocks(*["a=b>c a=b>c", "c>a=b c>a=b", "a>b>c b>a>c", "c>a>b c>b>a"] * 5)
        ratings = rate(played, 3)
        first, second = ratings.errors[0][1], ratings.errors[0][2]
        assert first is not None
        assert second is not None
        assert first < second


class TestPoints:
    def test_of_equal_matches_is_the_mean_of_blocks(self) -> None:
        played = blocks("a>b>c a>c>b", "b>a>c c>b>a", "a>b>c c>a>b", deals=4)
        means = [2 / 4, 0.5 / 4, 1.5 / 4]
        row = points(played, 3)[0]
        assert (row.points, row.deals) == (8, 24)
        assert row.per_deal == pytest.approx(statistics.fmean(means))
        assert row.high is not None
        assert row.per_deal is not None
        expected = 4.302653 * statistics.stdev(means) / math.sqrt(3)
        assert row.high - row.per_deal == pytest.approx(expected, rel=1e-6)

    def test_is_a_ratio_of_sums(self) -> None:
        played = [*block("b0", "a>b", deals=10), *block("b1", "b>a", "a>b", deals=30)]
        row = points(played, 2)[0]
        assert (row.points, row.deals) == (2, 70)
        residuals = [1 - 10 * 2 / 70, 1 - 60 * 2 / 70]
        error = math.sqrt(2 * sum(residual**2 for residual in residuals)) / 70
        assert row.per_deal == pytest.approx(2 / 70)
        assert row.low == pytest.approx(2 / 70 - 12.7062 * error, rel=1e-5)

    def test_interval_covers_the_truth_about_as_often_as_it_says(self) -> None:
        """Equals share out 0, 1 and 2 points a match of 10 deals: 0.1 a deal each."""
        inside = 0
        for seed in range(120):
            played = gumbel_blocks([0.0] * 3, sides=3, rounds=8, seatings=6, alike=0.5, seed=seed)
            for row in points(played, 3):
                assert row.low is not None
                assert row.high is not None
                inside += row.low <= 0.1 <= row.high
        assert 0.93 <= inside / 360 <= 0.97

    def test_without_a_match(self) -> None:
        assert points([], 1) == (PointsRow(0, 0, None, None, None),)


class TestHeadToHead:
    def test_counts_places_not_points(self) -> None:
        played = blocks("a>b>c b=c>a", "c>a=b", deals=5)
        meetings = head_to_head(played, 4)
        assert meetings[0][1] == Meeting(wins=1, ties=1, losses=1, points_per_deal=2 / 15)
        assert meetings[1][0] == Meeting(wins=1, ties=1, losses=1, points_per_deal=2 / 15)
        assert meetings[2][1] == Meeting(wins=1, ties=1, losses=1, points_per_deal=3 / 15)

    def test_points_are_of_matches_with_that_opponent(self) -> None:
        meetings = head_to_head(blocks("a>b", "c>a", deals=4), 3)
        assert meetings[0][1].points_per_deal == 1 / 4
        assert meetings[0][2].points_per_deal == 0

    def test_who_never_met(self) -> None:
        meetings = head_to_head(blocks("a>b"), 3)
        assert meetings[0][2] == meetings[2][2] == meetings[0][0] == NEVER_MET

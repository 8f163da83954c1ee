"""A judge beside people: each number against an oracle or by hand, and what is missing with its reason."""

from __future__ import annotations

import itertools
import math
import random
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats
from statsmodels.stats.inter_rater import cohens_kappa

from ragmetrics_core import InvalidInput
from ragmetrics_core.statistics import METHODS, Agreement, Measure, agreement, annotator_alpha, rate_interval

TABLES = ((40, 9, 6, 25), (80, 3, 10, 7), (118, 5, 2, 0))
"""Rows that both pass, that the judge passes, that people pass, that neither does."""


def rows_of(table: tuple[int, int, int, int]) -> tuple[list[int], list[int]]:
    pairs = [(1, 1), (1, 0), (0, 1), (0, 0)]
    rows = [pair for pair, count in zip(pairs, table, strict=True) for _ in range(count)]
    return [judge for judge, _ in rows], [people for _, people in rows]


def values(found: Agreement) -> dict[str, float | None]:
    return {name: measure.value for name, measure in vars(found).items() if isinstance(measure, Measure)}


class TestVerdicts:
    @pytest.mark.parametrize("table", TABLES)
    def test_kappa_and_its_variance_are_those_of_statsmodels(self, table: tuple[int, int, int, int]) -> None:
        """The upper end is that of Jeffreys' interval for the agreement, on as many rows as have this variance."""
        wanted = cohens_kappa(np.array(table).reshape(2, 2))
        found = agreement(*rows_of(table)).kappa
        assert found.value == pytest.approx(wanted.kappa, abs=1e-12)
        both, judge, people, neither = (count / sum(table) for count in table)
        agreed, chance = both + neither, (both + judge) * (both + people) + (people + neither) * (judge + neither)
        rows = agreed * (1 - agreed) / (wanted.var_kappa * (1 - chance) ** 2)
        most = stats.beta.ppf(0.975, agreed * rows + 0.5, (1 - agreed) * rows + 0.5)
        assert found.interval is not None
        assert found.interval.high == pytest.approx((most - chance) / (1 - chance), abs=1e-9)

    @pytest.mark.parametrize(
        ("table", "coefficient", "error"),
        [  # irrCAC 0.4.4, CAC(...).gwet()
            (TABLES[0], 0.637735849057, 0.087141854624),
            (TABLES[1], 0.830386848457, 0.049372894459),
            (TABLES[2], 0.940776337609, 0.023056964302),
        ],
    )
    def test_ac1_is_that_of_irrcac(self, table: tuple[int, int, int, int], coefficient: float, error: float) -> None:
        found = agreement(*rows_of(table)).ac1
        assert found.value == pytest.approx(coefficient, abs=1e-11)
        # the interval is Wilson's for agreement with this variance
        agreed, chance = (table[0] + table[3]) / sum(table), 0.0
        passing = (2 * table[0] + table[1] + table[2]) / 2 / sum(table)
        chance = 2 * passing * (1 - passing)
        spread = 1.959963984540054**2 * (error * (1 - chance)) ** 2 / (agreed * (1 - agreed))
        centre = (agreed + spread / 2) / (1 + spread)
        half = math.sqrt(spread * agreed * (1 - agreed) + spread**2 / 4) / (1 + spread)
        assert found.interval is not None
        limits = [(limit - chance) / (1 - chance) for limit in (centre - half, centre + half)]
        assert found.interval[:2] == pytest.approx(limits, abs=1e-9)

    def test_rates_have_wilsons_intervals(self) -> None:
        found = agreement(*rows_of(TABLES[0]))
        assert found.sensitivity.value == pytest.approx(40 / 46)
        assert found.sensitivity.interval is not None
        assert found.sensitivity.interval[:2] == pytest.approx(rate_interval(40, 46)[:2])  # type: ignore[index]
        assert found.specificity.value == pytest.approx(25 / 34)
        assert found.specificity.interval is not None
        assert found.specificity.interval[:2] == pytest.approx(rate_interval(25, 34)[:2])  # type: ignore[index]
        judged, labels = rows_of(TABLES[0])
        threshold = agreement([0.2 + 0.6 * verdict for verdict in judged], labels).threshold
        assert threshold is not None
        assert threshold.wrong_passes.value == pytest.approx(9 / 49)
        assert threshold.wrong_fails.value == pytest.approx(6 / 31)

    def test_the_other_numbers(self) -> None:
        found = agreement(*rows_of(TABLES[0]))
        assert (found.labels, found.passing, found.threshold) == (80, 46, None)
        assert found.difference.value == pytest.approx(3 / 80)
        assert found.auroc == Measure(problem="the judge gives verdicts: see sensitivity and specificity")

    def test_perfect_agreement_has_an_interval_with_a_width(self) -> None:
        found = agreement([1, 0] * 10, [1, 0] * 10)
        assert found.kappa.value == found.ac1.value == 1.0
        assert found.kappa.interval is not None
        assert found.ac1.interval is not None
        assert found.kappa.interval.high == 1.0
        assert found.kappa.interval.low < 0.75
        # Wilson's lower end for 20 of 20, with one half by chance
        assert found.ac1.interval[:2] == pytest.approx((2 * rate_interval(20, 20).low - 1, 1.0))  # type: ignore[union-attr]

    @pytest.mark.parametrize(
        ("judged", "labels", "problem"),
        [
            ([1, 0] * 5, [1] * 10, "all labels are passes, so agreement beyond chance cannot be measured"),
            ([1, 0] * 5, [0] * 10, "all labels are fails, so agreement beyond chance cannot be measured"),
            (
                [1] * 10,
                [1, 0] * 5,
                "all verdicts of the judge are passes, so agreement beyond chance cannot be measured",
            ),
            (
                [0] * 10,
                [1, 0] * 5,
                "all verdicts of the judge are fails, so agreement beyond chance cannot be measured",
            ),
        ],
    )
    def test_one_class_has_no_kappa(self, judged: list[int], labels: list[int], problem: str) -> None:
        found = agreement(judged, labels)
        assert found.kappa == Measure(problem=problem)
        assert found.ac1.value is not None

    def test_one_class_has_one_rate(self) -> None:
        found = agreement([1, 0] * 5, [True] * 10)
        assert found.sensitivity.value == 0.5
        assert found.specificity == Measure(problem="no labelled row fails")
        assert found.spearman == Measure(problem="all labels are equal, so there is no order")

    def test_rows_without_a_label_do_not_count(self) -> None:
        judged, labels = rows_of(TABLES[0])
        more = agreement([*judged, *[1] * 50], [*labels, *[None] * 50])
        assert more == agreement(judged, labels)

    def test_weights_count_rows(self) -> None:
        """A row of weight 3 counts as three for the values, and not for how sure they are."""
        judged, labels = rows_of((10, 2, 3, 5))
        weights = [3.0 if people else 1.0 for people in labels]
        tripled = rows_of((30, 2, 9, 5))
        found, wanted = agreement(judged, labels, weights), agreement(*tripled)
        assert values(found) == pytest.approx(values(wanted))
        assert found.kappa.interval is not None
        assert wanted.kappa.interval is not None
        assert found.kappa.interval.low < wanted.kappa.interval.low


class TestScores:
    @given(st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=8, max_size=40))
    def test_auroc_is_mann_whitneys_share_of_pairs(self, rows: list[tuple[int, bool]]) -> None:
        judged, labels = [score / 6 for score, _ in rows], [passed for _, passed in rows]
        found = agreement(judged, labels, threshold=0.5).auroc
        passing = [score for score, passed in rows if passed]
        failing = [score for score, passed in rows if not passed]
        if not passing or not failing:
            assert found.value is None
            return
        wanted = stats.mannwhitneyu(passing, failing).statistic / len(passing) / len(failing)
        assert found.value == pytest.approx(wanted, abs=1e-12)
        assert found.interval is not None
        assert 0 <= found.interval.low <= found.value <= found.interval.high <= 1
        assert found.interval.low < found.interval.high

    def test_hanley_and_mcneils_example(self) -> None:
        """109 images, 58 normal and 51 abnormal, ratings 1 to 5 (Hanley & McNeil 1982, table I): 0.893."""
        normal, abnormal = (33, 6, 6, 11, 2), (3, 2, 2, 11, 33)
        judged = [score / 5 for counts in (normal, abnormal) for score, n in enumerate(counts, 1) for _ in range(n)]
        found = agreement(judged, [False] * 58 + [True] * 51, threshold=0.7).auroc
        assert found.value == pytest.approx(0.893, abs=5e-4)
        value = found.value
        assert value is not None

        def distance(supposed: float) -> float:
            more = (109 / 2 - 1) * ((1 - supposed) / (2 - supposed) + supposed / (1 + supposed))
            return abs(supposed - value) / math.sqrt(supposed * (1 - supposed) * (1 + more) / (58 * 51))

        assert found.interval is not None
        for end in found.interval[:2]:
            assert distance(end) == pytest.approx(stats.norm.ppf(0.975), abs=1e-9)

    def test_perfect_separation_has_an_interval(self) -> None:
        found = agreement([0.2, 0.8] * 10, [False, True] * 10, threshold=0.5).auroc
        assert found.value == 1.0
        assert found.interval is not None

        def excess(supposed: float) -> float:
            more = 9 * ((1 - supposed) / (2 - supposed) + supposed / (1 + supposed))
            quantile2 = stats.norm.ppf(0.975) ** 2
            return (1 - supposed) / supposed - quantile2 * (1 + more) / 100  # both sides by supposed (1 - supposed)

        assert found.interval.low == pytest.approx(optimize.brentq(excess, 0.1, 0.999), abs=1e-9)
        assert found.interval.high == 1.0

    @given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=8, max_size=40))
    def test_spearman_is_scipys(self, rows: list[tuple[int, int]]) -> None:
        judged, labels = [float(score) for score, _ in rows], [float(label) for _, label in rows]
        found = agreement(judged, labels, scale=(0, 5)).spearman
        if len(set(judged)) == 1 or len(set(labels)) == 1:
            assert found.problem is not None
            assert found.value is None
            return
        assert found.value == pytest.approx(stats.spearmanr(judged, labels).statistic, abs=1e-12)

    def test_its_interval_by_hand(self) -> None:
        judged = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
        found = agreement(judged, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 7.0]).spearman
        r = 1 - 6 * 2 / (8 * 63)
        half = stats.norm.ppf(0.975) * math.sqrt((1 + r * r / 2) / 5)
        assert found.value == pytest.approx(r)
        assert found.interval is not None
        assert found.interval[:2] == pytest.approx((math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half)))

    def test_the_same_order_everywhere_has_no_interval(self) -> None:
        found = agreement([row / 10 for row in range(8)], [float(row) for row in range(8)]).spearman
        assert (found.value, found.interval) == (1.0, None)
        assert found.problem == "the order is the same in all rows, which leaves nothing to estimate an interval by"

    def test_numbers_have_no_kappa(self) -> None:
        found = agreement([0.1, 0.4, 0.5, 0.9] * 3, [0.2, 0.3, 0.7, 0.8] * 3)
        missing = Measure(problem="the labels are not passes and fails")
        assert [found.kappa, found.ac1, found.sensitivity, found.specificity, found.auroc] == [missing] * 5
        assert found.passing is None
        assert found.difference.value == pytest.approx(-0.025)


class TestThreshold:
    def test_the_best_by_trying_all(self) -> None:
        generator = random.Random(4)
        passes = [generator.random() < 0.7 for _ in range(60)]
        judged = [round(generator.gauss(0.6 if passed else 0.4, 0.2), 1) for passed in passes]
        found = agreement(judged, passes).threshold

        def kappa(limit: float) -> float:
            return agreement(judged, passes, threshold=limit).kappa.value or 0.0

        best = max(kappa(limit) for limit in set(judged))
        assert found is not None
        assert kappa(found.value) == pytest.approx(best)

    def test_a_clear_gap(self) -> None:
        found = agreement([0.2, 0.3, 0.8, 0.9] * 5, [0, 0, 1, 1] * 5)
        assert found.threshold is not None
        assert found.threshold.value == 0.8
        assert found.threshold.kappa.value == 1.0
        assert found.threshold.wrong_passes.value == found.threshold.wrong_fails.value == 0.0
        assert found.kappa == found.threshold.kappa

    def test_a_judge_that_knows_nothing_is_not_flattered(self) -> None:
        """The best of many thresholds looks good on the rows that chose it, and on others it is 0."""
        here, elsewhere = [], []
        for seed in range(60):
            generator = random.Random(seed)
            passes = [generator.random() < 0.5 for _ in range(40)]
            judged = [generator.random() for _ in passes]
            found = agreement(judged, passes)
            assert found.threshold is not None
            here.append(agreement(judged, passes, threshold=found.threshold.value).kappa.value or 0.0)
            elsewhere.append(found.kappa.value or 0.0)
        assert sum(here) / 60 > 0.15
        assert sum(elsewhere) / 60 == pytest.approx(0.0, abs=0.06)

    def test_a_threshold_that_was_given(self) -> None:
        judged = [0.2, 0.6, 0.8, 0.9] * 5
        found = agreement(judged, [0, 0, 1, 1] * 5, threshold=0.5)
        assert found.threshold is None
        assert (found.sensitivity.value, found.specificity.value) == (1.0, 0.5)

    @pytest.mark.parametrize(
        ("labels", "start"),
        [
            ([True] * 10, "no labelled row is a fail"),
            ([False] * 9 + [True], "one labelled row alone is a pass"),
        ],
    )
    def test_too_few_of_a_class(self, labels: list[bool], start: str) -> None:
        found = agreement([row / 10 for row in range(10)], labels)
        assert found.kappa == Measure(problem=f"{start}, so no threshold can be chosen: label more rows")
        assert found.threshold is None


def test_the_difference_between_judge_and_people_has_the_interval_of_a_mean() -> None:
    judged, labels = [0.9, 0.8, 0.7, 1.0] * 3, [0.8, 0.9, 0.5, 1.0] * 3
    found = agreement(judged, labels).difference
    changes = np.array(judged) - np.array(labels)
    half = stats.t.ppf(0.975, 11) * changes.std(ddof=1) / math.sqrt(12)
    assert found.value == pytest.approx(0.05)
    assert found.interval is not None
    assert found.interval[:2] == pytest.approx((0.05 - half, 0.05 + half))


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=8, max_size=40))
def test_every_number_lies_in_its_interval(rows: list[tuple[bool, bool]]) -> None:
    found = agreement([judge for judge, _ in rows], [people for _, people in rows])
    for measure in vars(found).values():
        if isinstance(measure, Measure):
            assert (measure.value is None) <= (measure.problem is not None)
            if measure.interval is not None:
                assert measure.value is not None
                assert measure.interval.low - 1e-12 <= measure.value <= measure.interval.high + 1e-12
                assert measure.interval.method in METHODS


class TestAnnotators:
    EXAMPLE = (  # four observers, twelve units: Krippendorff 2011, section C
        (1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None),
        (1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3),
        (None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None),
        (1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None),
    )

    def test_the_published_examples(self) -> None:
        assert annotator_alpha(list(zip(*self.EXAMPLE, strict=True))).value == pytest.approx(0.849, abs=5e-4)
        binary = ((0, 1, 0, 0, 0, 0, 0, 0, 1, 0), (1, 1, 1, 0, 0, 1, 0, 0, 0, 0))  # section A
        assert annotator_alpha(list(zip(*binary, strict=True))).value == pytest.approx(0.095, abs=5e-4)

    @given(st.lists(st.lists(st.one_of(st.none(), st.integers(1, 5)), max_size=4), min_size=2, max_size=12))
    def test_the_definition(self, ratings: list[list[int | None]]) -> None:
        """Observed and expected squared differences over pairs, one pair at a time."""
        rows = [[label for label in row if label is not None] for row in ratings]
        rows = [row for row in rows if len(row) > 1]
        labels = [label for row in rows for label in row]
        found = annotator_alpha(ratings)
        if len(rows) < 2 or len(set(labels)) == 1:
            assert found.value is None
            return
        within = sum((a - b) ** 2 / (len(row) - 1) for row in rows for a, b in itertools.permutations(row, 2))
        among = sum((a - b) ** 2 for a, b in itertools.permutations(labels, 2)) / (len(labels) - 1)
        assert found.value == pytest.approx(1 - within / among, abs=1e-9)
        if len(rows) == 2 and all(len(set(row)) == 1 for row in rows):
            assert found.interval is None  # without either of them nothing differs
            return
        assert found.interval is not None
        assert -1 <= found.interval.low <= max(found.value, -1) <= found.interval.high <= 1

    @pytest.mark.parametrize(
        "ratings", [[(1, 1), (0, 0)], [(0.1, 0.1, 0.1), (0.7, 0.7)], [(0.3, None, 0.3), (1e6, 1e6)]]
    )
    def test_two_rows_of_equal_labels_have_no_interval(self, ratings: list[tuple[float | None, ...]]) -> None:
        found = annotator_alpha(ratings)
        assert (found.value, found.interval) == (pytest.approx(1.0, abs=1e-9), None)
        assert found.problem == "without either row all labels are equal, so the uncertainty cannot be estimated"

    def test_annotators_who_always_agree_have_wilsons_interval(self) -> None:
        found = annotator_alpha([(1, 1), (0, 0)] * 10)
        quantile2 = stats.t.ppf(0.975, 19) ** 2
        disagree = quantile2 / (20 + quantile2)
        expected = 2 * 20 * 20 / (40 * 39)
        assert found.value == 1.0
        assert found.interval is not None
        assert found.interval[:2] == pytest.approx((1 - disagree / expected, 1.0))

    @pytest.mark.parametrize(
        ("ratings", "problem"),
        [
            ([], "fewer than two rows have labels of two annotators"),
            ([(1, 0), (1,), (None, 1)], "fewer than two rows have labels of two annotators"),
            ([(1, 1)] * 5, "all labels are equal, so agreement beyond chance cannot be measured"),
        ],
    )
    def test_measures_that_cannot_be_computed(self, ratings: list[tuple[int | None, ...]], problem: str) -> None:
        assert annotator_alpha(ratings) == Measure(problem=problem)

    def test_a_label_that_is_no_number(self) -> None:
        message = "ratings[1] has the label nan: give finite numbers, or None for no label"
        with pytest.raises(InvalidInput, match=f"^{re.escape(message)}$"):
            annotator_alpha([(1, 1), (0, math.nan)])


def test_too_few_labels() -> None:
    message = "3 rows have a label, too few to conclude anything about other rows: label at least 8"
    with pytest.raises(InvalidInput, match=f"^{re.escape(message)}$"):
        agreement([1, 0, 1, 0], [1, 0, 1, None])


class TestClusters:
    """Rows that are alike tell less: every interval is that of fewer rows."""

    JUDGED = (0.1, 0.4, 0.35, 0.8, 0.9, 0.6, 0.7, 0.2, 0.95, 0.5, 0.3, 0.85, 0.15, 0.75, 0.65, 0.45)
    PASSES = (0, 0, 1, 1, 1, 0, 1, 0, 1, 1, 0, 1, 0, 1, 1, 0)
    MEASURES = ("kappa", "ac1", "sensitivity", "specificity", "auroc", "spearman", "difference")

    def test_a_row_that_stands_there_five_times_tells_as_much_as_one(self) -> None:
        once = agreement(self.JUDGED, self.PASSES, threshold=0.5)
        five = [value for value in self.JUDGED for _ in range(5)], [label for label in self.PASSES for _ in range(5)]
        alike = agreement(*five, clusters=[row for row in range(16) for _ in range(5)], threshold=0.5)
        apart = agreement(*five, threshold=0.5)
        for name in self.MEASURES:
            one, many, loose = (getattr(found, name) for found in (once, alike, apart))
            assert many.value == pytest.approx(one.value, abs=1e-9)
            widths = [found.interval.high - found.interval.low for found in (one, many, loose)]
            assert widths[1] == pytest.approx(widths[0], rel=0.08)
            assert widths[2] < 0.65 * widths[1]

    def test_clusters_of_one_row_change_next_to_nothing(self) -> None:
        plain = agreement(self.JUDGED, self.PASSES, threshold=0.5)
        alone = agreement(self.JUDGED, self.PASSES, clusters=range(16), threshold=0.5)
        for name in self.MEASURES:
            one, other = getattr(plain, name).interval, getattr(alone, name).interval
            assert other[:2] == pytest.approx(one[:2], abs=0.05)
            assert other.high - other.low >= one.high - one.low - 1e-9

    def test_rows_that_show_no_difference_count_once_for_each_cluster(self) -> None:
        judged = [1.0] * 30 + [0.0] * 30
        found = agreement(judged, [bool(value) for value in judged], clusters=[row // 6 for row in range(60)])
        same = agreement([1.0] * 5 + [0.0] * 5, [True] * 5 + [False] * 5)
        assert found.sensitivity == same.sensitivity
        assert found.kappa.value == 1.0

    def test_one_cluster_counts_as_no_more_than_two_rows(self) -> None:
        found = agreement(self.JUDGED, self.PASSES, clusters=["x"] * 16, threshold=0.5)
        assert found.sensitivity.interval is not None
        assert found.sensitivity.interval.high - found.sensitivity.interval.low > 0.7
        assert found.difference.interval is None

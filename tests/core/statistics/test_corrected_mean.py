"""Few labels and many judgements: the mean, its interval, and when the labels stand alone."""

from __future__ import annotations

import importlib
import math
import random
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from examples import examples
from ragmetrics_core import InvalidInput
from ragmetrics_core.statistics import METHODS, CorrectedMean, corrected_mean, mean_interval, paired_difference, suggest
from ragmetrics_core.statistics._corrected import (
    _variance,
    dirichlet_mean,
    mean_variance,
    powered_mean,
    quantiles_of_sum,
    strata_gain,
)
from ragmetrics_core.statistics._interval import student_interval
from ragmetrics_core.statistics._labelled import (
    LabelledRows,
    Stratum,
    labelled_rows,
    strata_of,
    unseen_variance,
    weight_problem,
)
from ragmetrics_core.statistics._means import larger_rate_mid_p

pytestmark = pytest.mark.slow

BENCH = Path(__file__).resolve().parents[3] / "bench"
UNIT = (0.0, 1.0)


def judged_and_labelled(
    right_passes: int, wrong_passes: int, wrong_fails: int, right_fails: int, rest: tuple[int, int]
) -> tuple[list[bool], list[bool | None]]:
    """Labelled rows by verdict and label, then as many rows that the judge passes and fails without a label."""
    judged = [True] * (right_passes + wrong_passes) + [False] * (wrong_fails + right_fails)
    labels: list[bool | None] = [
        *[True] * right_passes,
        *[False] * wrong_passes,
        *[True] * wrong_fails,
        *[False] * right_fails,
        *[None] * sum(rest),
    ]
    return judged + [True] * rest[0] + [False] * rest[1], labels


def numbers(labelled: int, rows: int) -> tuple[list[float], list[float | None]]:
    """Labels all over the scale, and a judge that knows most of them."""
    known = [(37 * row + 11) % 101 / 100 for row in range(rows)]
    judged = [min(1.0, max(0.0, 0.6 * label + 0.3 * ((53 * row + 7) % 89) / 88)) for row, label in enumerate(known)]
    return judged, [label if row < labelled else None for row, label in enumerate(known)]


class TestPosterior:
    """The sum over strata, against as many draws as it takes and against what is known exactly."""

    def test_one_part_is_the_beta_distribution_itself(self) -> None:
        part = dirichlet_mean([0.0, 1.0], [1.45, 17.45])
        low, high = quantiles_of_sum([part], [0.025, 0.975])
        assert low == pytest.approx(stats.beta.ppf(0.025, 17.45, 1.45), abs=1e-9)
        assert high == pytest.approx(stats.beta.ppf(0.975, 17.45, 1.45), abs=1e-9)

    def test_three_values_have_the_mean_and_variance_of_the_dirichlet_distribution(self) -> None:
        values, counts = np.array([0.0, 0.5, 1.0]), np.array([1.5, 2.0, 6.5])
        part = dirichlet_mean(list(values), list(counts))
        spread = stats.dirichlet(counts)
        assert part.mean == pytest.approx(float(spread.mean() @ values), abs=1e-12)
        assert part.variance == pytest.approx(float(values @ spread.cov() @ values), abs=1e-12)

    @pytest.mark.parametrize(
        ("parts", "shares"),
        [
            ([(17.45, 0.45), (1.45, 2.45)], [0.855, 0.145]),
            ([(17.45, 0.45), (0.45, 0.45)], [0.9, 0.1]),
            ([(10.45, 10.45), (50.45, 3.45)], [0.5, 0.5]),
            ([(8.1, 0.1), (9.1, 0.1), (8.1, 1.1), (7.1, 2.1), (30.1, 4.1)], [0.2] * 5),
            ([(0.45, 2.45), (17.45, 0.45)], [0.5, 0.5]),
            ([(95.0, 0.2), (4.2, 3.2)], [0.95, 0.05]),
        ],
    )
    def test_sums_agree_with_a_million_draws(
        self, parts: Sequence[tuple[float, float]], shares: Sequence[float]
    ) -> None:
        generator = np.random.default_rng(1)
        draws = sum(share * generator.beta(a, b, 1_000_000) for (a, b), share in zip(parts, shares, strict=True))
        wanted = np.quantile(draws, [0.025, 0.5, 0.975])
        found = quantiles_of_sum(
            [dirichlet_mean([0.0, 1.0], [b, a]).scaled(share) for (a, b), share in zip(parts, shares, strict=True)],
            [0.025, 0.5, 0.975],
        )
        assert found == pytest.approx(wanted, abs=0.01 * (wanted[2] - wanted[0]))

    def test_what_is_certain_only_moves_the_sum(self) -> None:
        certain, part = dirichlet_mean([0.25], [3.0]), dirichlet_mean([0.0, 1.0], [2.0, 5.0])
        assert quantiles_of_sum([certain, part], [0.5])[0] == pytest.approx(0.25 + stats.beta.ppf(0.5, 5, 2), abs=1e-9)
        assert quantiles_of_sum([certain], [0.1, 0.9]) == [0.25, 0.25]


class TestVerdicts:
    def test_the_mean_by_hand(self) -> None:
        """Labels: 30 of 32 passed rows pass, 2 of 8 failed ones. All rows: 800 of 1,000 passed."""
        found = corrected_mean(*judged_and_labelled(30, 2, 2, 6, (768, 192)))
        passed, failed = 30.45 / 32.9, 2.45 / 8.9  # 0.45 of a label at either end in each of two strata
        assert found.mean == pytest.approx(0.8 * passed + 0.2 * failed, abs=1e-12)
        assert (found.method, found.labels, found.rows, found.judge_mean) == ("post-stratified-beta", 40, 1000, 0.8)
        assert found.judge_helps
        assert found.note is None

    def test_the_interval_is_that_of_the_posterior(self) -> None:
        found = corrected_mean(*judged_and_labelled(30, 2, 2, 6, (768, 192))).interval
        generator = np.random.default_rng(0)
        share = generator.beta(800, 200, 2_000_000)
        draws = share * generator.beta(30.45, 2.45, 2_000_000) + (1 - share) * generator.beta(2.45, 6.45, 2_000_000)
        wanted = np.quantile(draws, [0.025, 0.975])
        assert found is not None
        assert found[:2] == pytest.approx(wanted, abs=0.01 * (wanted[1] - wanted[0]))

    def test_it_is_narrower_than_labels_alone_where_the_judge_is_good(self) -> None:
        found = corrected_mean(*judged_and_labelled(36, 2, 2, 20, (600, 340)))
        assert found.interval is not None
        assert found.label_interval == mean_interval([True] * 38 + [False] * 22, scale=UNIT)
        ratio = (found.interval.high - found.interval.low) / (found.label_interval.high - found.label_interval.low)
        assert ratio < 0.65

    def test_a_verdict_without_a_label_is_not_assumed_right(self) -> None:
        found = corrected_mean(*judged_and_labelled(12, 0, 0, 0, (888, 100)))
        assert found.mean == pytest.approx(0.9 * 12.45 / 12.9 + 0.1 * 0.5, abs=1e-12)

    def test_numbers_and_truth_values_are_the_same_labels(self) -> None:
        judged, labels = judged_and_labelled(30, 2, 2, 6, (768, 192))
        as_numbers = corrected_mean(
            [float(value) for value in judged], [None if v is None else float(v) for v in labels]
        )
        assert as_numbers == corrected_mean(judged, labels, scale=UNIT)

    def test_what_the_judge_calls_its_verdicts_does_not_matter(self) -> None:
        judged, labels = judged_and_labelled(30, 2, 2, 6, (768, 192))
        other = corrected_mean([5.0 if value else 1.0 for value in judged], labels, scale=UNIT)
        assert other.interval == corrected_mean(judged, labels).interval
        assert other.judge_mean == pytest.approx(4.2)

    def test_a_judge_that_is_always_wrong_helps_as_much(self) -> None:
        judged, labels = judged_and_labelled(30, 2, 2, 6, (768, 192))
        turned = corrected_mean([not value for value in judged], labels)
        straight = corrected_mean(judged, labels)
        assert turned.mean == pytest.approx(straight.mean, abs=1e-12)
        assert turned.interval is not None
        assert straight.interval is not None
        assert turned.interval[:2] == pytest.approx(straight.interval[:2], abs=1e-9)

    def test_the_scale_only_stretches(self) -> None:
        judged, labels = judged_and_labelled(30, 2, 2, 6, (768, 192))
        plain = corrected_mean(judged, labels)
        wide = corrected_mean(judged, [None if label is None else 1.0 + 4 * label for label in labels], scale=(1, 5))
        assert plain.interval is not None
        assert wide.interval is not None
        assert wide.mean == pytest.approx(1 + 4 * plain.mean, abs=1e-9)
        assert wide.interval[:2] == pytest.approx([1 + 4 * end for end in plain.interval[:2]], abs=1e-9)


class TestGrades:
    LABELS = (5, 4, 5, 3, 5, 5, 4, 5, 2, 4, 5, 5, 5, 3, 4, 4, 5, 5, 1, 5)
    JUDGED = (5, 4, 4, 3, 5, 4, 4, 5, 3, 4, 5, 4, 5, 3, 4, 3, 5, 5, 2, 5)

    def test_the_mean_by_hand(self) -> None:
        """Up to 4: 12 labels that sum to 45, in two fifths of all rows. 5: 8 labels, all 5."""
        judged, labels = [*self.JUDGED, *[5] * 592, *[4] * 388], [*self.LABELS, *[None] * 980]
        found = corrected_mean(judged, labels, scale=(1, 5))
        low = sum(label for label, score in zip(self.LABELS, self.JUDGED, strict=True) if score < 5)
        assert sum(score < 5 for score in self.JUDGED) == 12
        # a quarter of a label at 1 and at 5 in each of the two strata
        assert found.mean == pytest.approx(0.4 * (low + 0.25 * 6) / 12.5 + 0.6 * (40 + 0.25 * 6) / 8.5, abs=1e-12)
        assert found.method == "post-stratified-dirichlet"
        assert METHODS[found.method] == "post-stratified Dirichlet posterior"

    def test_without_a_scale_grades_stand_alone(self) -> None:
        found = corrected_mean([*self.JUDGED, *[5] * 20], [*self.LABELS, *[None] * 20])
        assert found.interval == mean_interval(self.LABELS)
        assert found.note is not None
        assert found.note.startswith("labels that are not grades")


class TestNumbers:
    @pytest.mark.parametrize(
        ("labelled", "rows", "mean", "error"),
        [  # ppi_python 0.2.3: ppi_mean_pointestimate, and half of ppi_mean_ci over the normal quantile
            (100, 1000, 0.5017112121212122, 0.016326394011370007),
            (150, 400, 0.5018870065874739, 0.016962333592553017),
        ],
    )
    def test_estimate_and_standard_error_of_the_authors_program(
        self, labelled: int, rows: int, mean: float, error: float
    ) -> None:
        judged, labels = numbers(labelled, rows)
        found, variance, _, _ = powered_mean(labelled_rows(judged, labels, scale=UNIT))
        assert found == pytest.approx(mean, abs=1e-9)
        assert math.sqrt(variance) == pytest.approx(error, abs=1e-9)
        whole = corrected_mean(judged, labels, scale=UNIT)
        assert (whole.mean, whole.method) == (found, "ppi++")

    @given(st.integers(0, 10_000), st.integers(8, 60), st.integers(5, 200))
    def test_the_published_formulas(self, seed: int, labelled: int, rest: int) -> None:
        generator = np.random.default_rng(seed)
        label = generator.normal(size=labelled)
        judged = 0.7 * label + generator.normal(size=labelled)
        other = generator.normal(size=rest)
        mean, variance, _, found = powered_mean(labelled_rows([*judged, *other], [*label, *[None] * rest]))
        spread = np.var(np.concatenate([judged, other]), ddof=1)
        power = np.clip(np.cov(label, judged, ddof=0)[0, 1] / spread / (1 + labelled / rest), 0, 1)
        assert found == pytest.approx(power, abs=1e-12)
        assert mean == pytest.approx(np.mean(label - power * judged) + power * np.mean(other), abs=1e-12)
        published = np.var(label - power * judged) / labelled + power**2 * np.var(other) / rest
        assert variance == pytest.approx(published, abs=1e-12)

    def test_fewer_than_100_stand_alone(self) -> None:
        judged, labels = numbers(99, 1000)
        found = corrected_mean(judged, labels, scale=UNIT)
        assert found.interval == mean_interval([label for label in labels if label is not None], scale=UNIT)
        assert found.mean == found.label_mean
        assert (
            found.note == "labels that are not grades are corrected only from 100 labels on, so the labels stand alone"
        )

    def test_a_judge_that_is_upside_down_does_not_help(self) -> None:
        judged, labels = numbers(100, 1000)
        found = corrected_mean([1 - value for value in judged], labels, scale=UNIT)
        assert found.note is not None
        assert found.note.startswith("the judge adds nothing: its scores do not show")

    def test_a_corrected_mean_beyond_the_scale_is_at_its_end(self) -> None:
        """The judge has seen better rows than the labelled ones, which are nearly perfect already."""
        labels: list[float | None] = [0.9 + place / 1000 for place in range(100)]
        judged = [label or 0.0 for label in labels] + [1.4] * 400
        found = corrected_mean(judged, [*labels, *[None] * 400], scale=UNIT)
        assert 0 <= found.mean <= 1
        assert found.interval is not None
        assert 0 <= found.interval.low <= found.mean <= found.interval.high <= 1

    def test_an_interval_at_an_end_is_cut_there(self) -> None:
        assert student_interval(1.0, 0.01, 2.0, UNIT, "ppi++")[:2] == (0.8, 1.0)
        assert student_interval(0.0, 0.01, 2.0, UNIT, "ppi++")[:2] == (0.0, 0.2)


class TestLabelsAlone:
    def test_one_score_for_all(self) -> None:
        found = corrected_mean([1] * 100, [True] * 9 + [False] * 3 + [None] * 88)
        assert found.note == "the judge adds nothing: it gave all rows the same score, so the labels stand alone"
        assert (found.mean, found.interval) == (0.75, mean_interval([True] * 9 + [False] * 3, scale=UNIT))
        assert not found.judge_helps

    def test_every_row_has_a_label(self) -> None:
        found = corrected_mean([1, 0] * 6, [True] * 9 + [False] * 3)
        assert found.note == "every row has a label, so there is nothing to correct"

    def test_too_few_labels_apart(self) -> None:
        judged = [0.9] * 10 + [0.1] * 5 + [row / 100 for row in range(85)]
        found = corrected_mean(judged, [True] * 9 + [False] * 6 + [None] * 85)
        assert found.note == (
            "the judge adds nothing yet: too few labels have scores apart from each other, so the labels stand alone"
        )

    def test_labels_of_one_cluster_have_no_interval(self) -> None:
        found = corrected_mean([1, 0] * 10, [True, False] * 5 + [None] * 10, clusters=["a"] * 10 + ["b"] * 10)
        assert (found.mean, found.interval, found.method) == (0.5, None, "none")
        assert found.note == (
            "there is no interval: all labels are in one cluster, so nothing shows how much clusters differ"
        )

    def test_equal_labels_without_a_scale_have_no_interval(self) -> None:
        found = corrected_mean([row / 20 for row in range(20)], [3.0] * 10 + [None] * 10)
        assert (found.mean, found.interval) == (3.0, None)
        assert found.note == (
            "there is no interval: all labels are equal, and without a scale nothing shows how far others may differ"
        )


class TestWeights:
    def test_equal_weights_change_nothing(self) -> None:
        judged, labels = judged_and_labelled(30, 2, 2, 6, (768, 192))
        assert corrected_mean(judged, labels, [25.0] * 1000) == corrected_mean(judged, labels)

    def test_their_size_does_not_matter(self) -> None:
        judged, labels = judged_and_labelled(30, 2, 2, 6, (768, 192))
        weights = [1.0 + row % 3 for row in range(1000)]
        one = corrected_mean(judged, labels, weights)
        other = corrected_mean(judged, labels, [10 * weight for weight in weights])
        assert one.interval is not None
        assert other.interval is not None
        assert one.mean == pytest.approx(other.mean, abs=1e-12)
        assert one.interval[:2] == pytest.approx(other.interval[:2], abs=1e-9)

    def test_the_mean_by_hand(self) -> None:
        """Passed rows: 8 passes of weight 1 and 4 fails of weight 2. Failed ones: 2 passes and 6 fails of weight 1."""
        judged, labels = judged_and_labelled(8, 4, 2, 6, (500, 500))
        weights = [1.0] * 8 + [2.0] * 4 + [1.0] * 1008
        found = corrected_mean(judged, labels, weights)
        effective = 16**2 / 24  # Kish's number of rows in the first stratum
        passed, failed = (0.5 * effective + 0.45) / (effective + 0.9), 2.45 / 8.9
        share = 512 / 1020
        assert found.mean == pytest.approx(share * passed + (1 - share) * failed, abs=1e-12)
        assert found.label_mean == pytest.approx(10 / 24, abs=1e-12)

    def test_labels_alone_have_the_variance_of_a_weighted_mean(self) -> None:
        label = [0.2, 0.9, 0.4, 0.8, 0.3, 0.7, 0.6, 1.0]
        weight = [1.0, 2.0, 1.0, 3.0, 1.0, 2.0, 1.0, 1.0]
        found = corrected_mean([1.0] * 9, [*label, None], [*weight, None])
        total, mean = sum(weight), float(np.average(label, weights=weight))
        variance = 8 / 7 * sum((w * (x - mean) / total) ** 2 for w, x in zip(weight, label, strict=True))
        freedom = total**2 / sum(w * w for w in weight) - 1
        half = stats.t.ppf(0.975, freedom) * math.sqrt(variance)
        assert found.interval is not None
        assert found.interval[:2] == pytest.approx((mean - half, mean + half), abs=1e-9)

    def test_on_a_scale_a_heavy_label_at_its_ends_may_be_unseen(self) -> None:
        """Weights 1, 2 and 3, 12 in sum, vary by 0.5; half a label of such weights may be at 0 and at 1."""
        label = [0.2, 0.9, 0.4, 0.8, 0.3, 0.7, 0.6, 1.0]
        weight = [1.0, 2.0, 1.0, 3.0, 1.0, 2.0, 1.0, 1.0]
        interval = corrected_mean([1.0] * 9, [*label, None], [*weight, None], scale=UNIT).interval
        mean = float(np.average(label, weights=weight))
        seen = 8 / 7 * sum((w * (x - mean) / 12) ** 2 for w, x in zip(weight, label, strict=True))
        unseen = 0.5 * 0.5 * (mean**2 + (1 - mean) ** 2) / 144
        quantile = stats.t.ppf(0.975, 144 / 22 - 1)
        assert interval is not None
        for end in interval[:2]:
            spread = (seen + unseen) * end * (1 - end) / (mean * (1 - mean))
            assert (end - mean) ** 2 == pytest.approx(quantile**2 * spread, abs=1e-9)

    def test_what_is_unseen_by_hand(self) -> None:
        """Weights 1, 1, 1, 3: the mean square is 3, the square of the mean 2.25. Ends 3 and 1 away from the mean."""
        assert unseen_variance([1.0, 1.0, 1.0, 3.0], 4.0, (1.0, 5.0), 0.5) == pytest.approx(0.5 * 0.75 * 10 / 36)
        assert unseen_variance([2.5] * 7, 4.0, (1.0, 5.0), 0.5) == 0.0

    @given(
        st.lists(st.floats(0.1, 10), min_size=2, max_size=30),
        st.floats(0, 1),
        st.floats(0.001, 1),
        st.floats(0.01, 100),
    )
    def test_what_is_unseen_vanishes_smoothly_as_weights_become_equal(
        self, masses: list[float], mean: float, nearer: float, factor: float
    ) -> None:
        """Weights half as far from their mean leave a quarter unseen; their size and the direction of the scale do not matter."""
        average = math.fsum(masses) / len(masses)
        whole = unseen_variance(masses, mean, UNIT, 0.5)
        near = unseen_variance([average + nearer * (mass - average) for mass in masses], mean, UNIT, 0.5)
        assert near == pytest.approx(nearer**2 * whole, abs=1e-12)
        assert unseen_variance([factor * mass for mass in masses], mean, UNIT, 0.5) == pytest.approx(whole, abs=1e-12)
        assert unseen_variance(masses, 1 - mean, UNIT, 0.5) == pytest.approx(whole, abs=1e-12)
        assert 0 <= whole <= 0.5

    def test_equal_labels_count_for_kishs_number(self) -> None:
        found = corrected_mean([1] * 9, [True] * 8 + [None], [1.0, 3.0] * 4 + [None])
        count, z2 = 16**2 / 40, stats.norm.ppf(0.975) ** 2
        assert found.interval is not None
        assert found.interval[:2] == pytest.approx((count / (count + z2), 1.0), abs=1e-9)

    def test_equal_labels_of_few_clusters_count_for_as_many(self) -> None:
        """12 labels in 3 clusters are 3 rows to Wilson: 3 / (3 + z²), fewer than Kish's 144 * 4 / 240 = 9.6 of the weights."""
        documents = ["a", "a", "a", "b", "b", "b", "c", "c"] * 2
        judged = [True, True, False, True, True, False, True, True] * 2
        found = corrected_mean(judged, [True] * 12 + [None] * 4, [1.0, 3.0] * 8, clusters=documents)
        assert found.label_interval is not None
        assert found.label_interval[:2] == pytest.approx((3 / (3 + stats.norm.ppf(0.975) ** 2), 1.0), abs=1e-9)

    def test_weighted_labels_of_one_cluster_have_no_interval(self) -> None:
        labels = [True, False] * 5 + [None] * 10
        found = corrected_mean([1, 0] * 10, labels, [1.0, 3.0] * 10, clusters=["a"] * 10 + ["b"] * 10)
        assert (found.mean, found.label_interval) == (0.25, None)

    def test_weights_that_go_with_labels_widen_the_interval(self) -> None:
        """The same weights: on labels near the mean of their stratum, and on those far from it."""
        judged = [0.0, 1.0] * 200
        grades = [0.25, 0.25, 0.25, 0.0, 0.5]
        labels = [grades[row // 2 % 5] + row % 2 / 2 if row < 80 else None for row in range(400)]

        def width(heavy: tuple[int, ...]) -> float:
            weights = [2.0 if row // 2 % 5 in heavy else 0.75 for row in range(400)]
            interval = corrected_mean(judged, labels, weights, scale=UNIT).interval
            assert interval is not None
            assert interval.method == "post-stratified-dirichlet"
            return interval.high - interval.low

        assert width((3, 4)) > 1.3 * width((0, 1))

    def test_the_variance_of_weighted_labels_by_hand(self) -> None:
        """Two strata alike, so that their shares do not matter: the posterior grants Kish's part of the spread.

        A quarter of a label is unseen at either end, 0.4 and 0.6 away; the weights of a stratum vary by 1.25 and sum to 20.
        """
        judged, labels = [0.0] * 8 + [1.0] * 8 + [0.0, 1.0] * 20, [0.0, 0.2, 0.4, 0.6] * 4
        weight = [1.0, 2.0, 3.0, 4.0] * 4
        none: list[float | None] = [None] * 40
        rows = labelled_rows(judged, [*labels, *none], [*weight, *none], None, UNIT)
        strata = strata_of(rows)
        found, _ = _variance(rows, strata, [0.4, 0.4], 0.25)
        spread = sum(w * (x - 0.4) ** 2 for w, x in zip(weight[:8], labels[:8], strict=True)) / 20
        kish = 20**2 / sum(w * w for w in weight[:8])
        own = sum((w * (x - 0.4) / 20) ** 2 for w, x in zip(weight[:8], labels[:8], strict=True))
        unseen = 0.25 * 1.25 * (0.16 + 0.36) / 400
        assert found == pytest.approx((own + unseen) / (spread / kish))


class TestClusters:
    def test_each_row_its_own_changes_little(self) -> None:
        judged, labels = judged_and_labelled(60, 4, 4, 12, (736, 184))
        plain = corrected_mean(judged, labels).interval
        single = corrected_mean(judged, labels, clusters=list(range(1000))).interval
        assert plain is not None
        assert single is not None
        assert (single.high - single.low) / (plain.high - plain.low) == pytest.approx(1.02, abs=0.01)

    def test_rows_that_are_copies_count_once(self) -> None:
        """Each row five times: the interval is about as wide as that of the rows once."""
        judged, labels = judged_and_labelled(60, 4, 4, 12, (736, 184))
        once = corrected_mean(judged, labels).interval
        copied = corrected_mean(
            [value for value in judged for _ in range(5)],
            [label for label in labels for _ in range(5)],
            clusters=[row for row in range(1000) for _ in range(5)],
        ).interval
        assert once is not None
        assert copied is not None
        assert (copied.high - copied.low) / (once.high - once.low) == pytest.approx(1.0, abs=0.05)


NO_WEIGHT = (
    "and the row has a label: give the number of rows it stands for, "
    "1 divided by the probability with which it was chosen"
)
PLAIN = ([1.0, 0.0] * 10, [True, False] * 5 + [None] * 10)


class TestBadInput:
    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            (
                {"labels": [True] * 3 + [None] * 17},
                "3 rows have a label, too few to conclude anything about other rows: label at least 8",
            ),
            (
                {"labels": [None] * 20},
                "no row has a label, too few to conclude anything about other rows: label at least 8",
            ),
            (
                {"labels": [True] * 3},
                "labels has 3 entries for 20 rows: give one for each, or None",
            ),
            ({"labels": [math.nan] * 20}, "labels[0] is nan: give a finite number, or None if the row has no label"),
            ({"judged": [math.inf] * 20}, "judged[0] is inf: give finite numbers, and leave out rows without a score"),
            (
                {"labels": [0.0, 7] * 10, "scale": (0, 5)},
                "labels[1] is 7, which is not on the scale 0 to 5: give the scale of these values",
            ),
            (
                {"labels": [1] * 20, "scale": (1, 1)},
                "scale is the single point 1: give the lowest and the highest possible label",
            ),
            (
                {"weights": [1.0, None] * 10},
                f"weights[1] is None, {NO_WEIGHT}",
            ),
            (
                {"weights": [1.0, 0.0] * 10},
                f"weights[1] is 0.0, {NO_WEIGHT}",
            ),
            (
                {"weights": [*[1.0] * 3, 1e6, *[1.0] * 16]},
                (
                    "weights[3] is 1e+06, so much that 10 labels show no more than 1.0 of equal weight would, and at least 3 are "
                    "needed: give all labels weights on one scale, or label more rows"
                ),
            ),
            (
                {"weights": [1.0, 1e-300] * 10},
                "weights[1] is 1e-300, which is negligible beside 1: give all labels weights on one scale",
            ),
            (
                {"weights": [1.0]},
                "weights has 1 entries for 20 rows: give one for each, or None",
            ),
            ({"confidence": 0}, "confidence must lie between 0 and 1, got 0: give 0.95 for 95 %"),
            ({"confidence": 95}, "confidence must lie between 0 and 1, got 95: give 0.95 for 95 %"),
        ],
    )
    def test_one_clear_message(self, changes: dict[str, object], message: str) -> None:
        arguments: dict[str, object] = {"judged": PLAIN[0], "labels": PLAIN[1], **changes}
        with pytest.raises(InvalidInput, match=f"^{re.escape(message)}$"):
            corrected_mean(**arguments)  # type: ignore[arg-type]


@st.composite
def any_rows(draw: st.DrawFn) -> tuple[list[float], list[float | None], list[float | None] | None, list[int] | None]:
    count = draw(st.integers(8, 40))
    level = st.sampled_from([0.0, 0.25, 0.5, 1.0]) if draw(st.booleans()) else st.sampled_from([0.0, 1.0])
    judged = draw(st.lists(st.one_of(level, st.floats(0, 1)), min_size=count, max_size=count))
    known = draw(st.lists(level, min_size=count, max_size=count))
    labelled = draw(st.integers(8, count))
    labels = [label if row < labelled else None for row, label in enumerate(known)]
    some = st.one_of(st.none(), st.lists(st.floats(0.1, 10), min_size=count, max_size=count))
    clusters = st.one_of(st.none(), st.lists(st.integers(0, 6), min_size=count, max_size=count))
    weights: list[float | None] | None = draw(some)  # type: ignore[assignment]
    known = [weight for weight, label in zip(weights or [], labels, strict=False) if weight and label is not None]
    assume(not known or weight_problem(known) is None)
    return judged, labels, weights, draw(clusters)


@examples(150)
@given(any_rows())
def test_the_interval_is_on_the_scale_and_holds_the_mean(
    rows: tuple[list[float], list[float | None], list[float | None] | None, list[int] | None],
) -> None:
    judged, labels, weights, clusters = rows
    found = corrected_mean(judged, labels, weights, clusters, UNIT)
    if found.interval is None:
        assert found.note is not None
        assert clusters is not None or found.note.startswith("there is no interval: the weights are so unequal that ")
        return
    assert 0 <= found.interval.low <= found.mean <= found.interval.high <= 1
    assert found.interval.method in METHODS
    assert corrected_mean(judged, labels, weights, clusters, UNIT) == found


class TestSuggestions:
    JUDGED = tuple(random.Random(3).random() ** 0.3 for _ in range(60))

    def test_each_row_is_drawn_as_often_as_its_probability_says(self) -> None:
        chance: dict[int, float] = {}
        drawn = [0] * 60
        for seed in range(2000):
            for row, probability, weight in suggest(self.JUDGED, 20, seed):
                drawn[row] += 1
                chance[row] = probability
                assert weight == pytest.approx(1 / probability)
        assert sum(chance.values()) == pytest.approx(20)
        assert [count / 2000 for count in drawn] == pytest.approx([chance[row] for row in range(60)], abs=0.045)

    def test_half_is_uniform_and_half_by_how_unsure_the_judge_is(self) -> None:
        """Unsure: 0, 0, 0.5, 0.5, sqrt(0.09); they sum to 1.3. A row gets 2 * (0.5 / 5 + 0.5 * unsure / 1.3)."""
        judged = [0.0, 1.0, 0.5, 0.5, 0.9]
        chance = {row: probability for seed in range(50) for row, probability, _ in suggest(judged, 2, seed)}
        wanted = {0: 0.2, 1: 0.2, 2: 0.2 + 0.5 / 1.3, 3: 0.2 + 0.5 / 1.3, 4: 0.2 + 0.3 / 1.3}
        assert chance == pytest.approx(wanted)

    def test_verdicts_are_drawn_uniformly(self) -> None:
        assert {found.probability for found in suggest([0, 1] * 10, 5)} == {0.25}

    @given(st.integers(1, 60), st.integers(0, 10**9))
    def test_as_many_as_asked_for_and_none_twice(self, n: int, seed: int) -> None:
        found = suggest(self.JUDGED, n, seed)
        rows = [row for row, _, _ in found]
        assert len(set(rows)) == n
        assert rows == sorted(rows)
        assert found == suggest(self.JUDGED, n, seed)

    def test_rows_that_are_left_out(self) -> None:
        found = suggest([0.5] * 10, 4, without={0, 2, 4, 6, 8})
        assert all(row % 2 for row, _, _ in found)
        assert {probability for _, probability, _ in found} == {0.8}

    @pytest.mark.parametrize("n", [0, 11, -1])
    def test_more_than_there_are(self, n: int) -> None:
        message = f"n must lie between 1 and 10, the rows that can be drawn, got {n}"
        with pytest.raises(InvalidInput, match=f"^{re.escape(message)}$"):
            suggest([0.5] * 10, n)


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The bench, which finds its cells beside itself."""
    monkeypatch.syspath_prepend(BENCH)
    return importlib.import_module("calibration")


@pytest.mark.usefixtures("untraced")
@pytest.mark.parametrize(
    ("part", "name", "labels"),
    [
        ("verdicts", "pass rate 0.85, judge 0.9/0.9", 20),
        ("verdicts", "pass rate 0.95, judge 0.97/0.5", 50),
        ("grades", "grades, skew, poor judge", 50),
        ("numbers", "numbers, beta(8, 2), noise 0.1", 100),
        ("suggested", "suggested, pass rate 0.7, scores 0.6 apart", 50),
        ("suggested", "suggested, grades, two ends, poor judge", 20),
        ("clusters", "clusters, pass rate 0.7, judge 0.9/0.9", 50),
    ],
)
def test_simulated_intervals_hold_and_are_narrower(bench: ModuleType, part: str, name: str, labels: int) -> None:
    """100 runs each: with a true share of .95, fewer than 88 would hold once in 400 tests; the full simulation is the bench."""
    cell = next(cell for cell in bench.PARTS[part]() if (cell.name, cell.labels) == (name, labels))
    found = bench.simulated(replace(cell, rows=500), 100)
    assert found.coverage >= 0.88
    assert found.relative_width <= 1.0


CHANGES = (-1.0, 1.0)
FIRST = (-1.0, 0.0, 0.0, -1.0)
SECOND = (0.0, 1.0, 0.0, 1.0)


def two_strata(first: tuple[float, ...], second: tuple[float, ...]) -> tuple[LabelledRows, list[Stratum]]:
    """12 rows that the judge puts low and 8 that it puts high; the first four of each have these labels."""
    judged = [0.0] * 12 + [1.0] * 8
    labels = [*first, *[None] * 8, *second, *[None] * 4]
    rows = labelled_rows(judged, labels, None, None, CHANGES)
    return rows, [Stratum(range(12), range(4)), Stratum(range(12, 20), range(4, 8))]


def changes(low: tuple[int, int, int], middle: tuple[int, int, int], high: tuple[int, int, int]) -> CorrectedMean:
    """Losses, equals and gains of 50 rows, by what the judge says: lost, equal or gained. It says so of 950 others too."""
    judged: list[float] = []
    labels: list[float | None] = []
    for score, counts in zip((-1.0, 0.0, 1.0), (low, middle, high), strict=True):
        for label, count in zip((-1.0, 0.0, 1.0), counts, strict=True):
            judged += [score] * count
            labels += [label] * count
    rest = [-1.0] * 231 + [0.0] * 483 + [1.0] * 236
    return corrected_mean(judged + rest, [*labels, *[None] * 950], scale=CHANGES)


def width(found: CorrectedMean) -> float:
    assert found.interval is not None
    assert found.label_interval is not None
    return (found.interval.high - found.interval.low) / (found.label_interval.high - found.label_interval.low)


class TestVarianceOverStrata:
    def test_over_strata_by_hand(self) -> None:
        """Means -0.5 and 0.5, variances 1/3 of four labels each, shares 0.6 and 0.4: the mean of all is -0.1."""
        within = (0.36 + 0.16) / 3 / 4
        between = (0.6 * 0.4**2 + 0.4 * 0.6**2) / 20
        assert mean_variance(*two_strata(FIRST, SECOND)) == pytest.approx(within + between, abs=1e-15)

    def test_of_labels_alone_by_hand(self) -> None:
        """Four ones of either sign among eight labels: the variance is 4/7, that of the mean an eighth of it."""
        rows, _ = two_strata(FIRST, SECOND)
        assert mean_variance(rows, [Stratum(range(20), range(8))]) == pytest.approx(1 / 14, abs=1e-15)

    def test_rows_that_are_copies_vary_as_their_clusters_do(self) -> None:
        """Two clusters with means -0.25 and 0.25, of half of the labels each: CR2 gives their squares, and 8/7 for the mean."""
        labels = [-1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, None, None]
        rows = labelled_rows([0.0, 1.0] * 5, labels, None, ["a"] * 4 + ["b"] * 4 + ["c"] * 2, CHANGES)
        found = mean_variance(rows, [Stratum(range(10), range(8))])
        assert found == pytest.approx(8 / 7 * 2 * (1 / 8) ** 2 / (1 - 1 / 2), abs=1e-15)


class TestGainOfStrata:
    def test_strata_with_other_labels_gain(self) -> None:
        """0.0553 over strata and 0.0714 alone."""
        assert strata_gain(*two_strata(FIRST, SECOND))

    def test_strata_with_the_same_labels_gain_nothing(self) -> None:
        """Variances of 2/3 over four labels: 0.52 / 6 = 0.0867, and 4/7/8 = 0.0714 alone."""
        rows, strata = two_strata((-1.0, 0.0, 0.0, 1.0), (-1.0, 0.0, 0.0, 1.0))
        assert mean_variance(rows, strata) == pytest.approx(0.52 / 6, abs=1e-15)
        assert not strata_gain(rows, strata)

    @pytest.mark.parametrize("lost", [2, 3, 5, 8, 15, 25])
    def test_a_judge_that_knows_nothing_gains_as_often_whether_few_rows_changed_or_many(self, lost: int) -> None:
        """So what is chosen by it says nothing of how large a spread was seen: 200 orders of the labels each."""
        generator = random.Random(lost)
        judged = [-1.0] * 12 + [0.0] * 26 + [1.0] * 12
        labels = [-1.0] * lost + [0.0] * (50 - lost)
        gained = 0
        for _ in range(200):
            generator.shuffle(labels)
            rows = labelled_rows(judged * 20, [*labels, *[None] * 950], None, None, CHANGES)
            gained += strata_gain(rows, strata_of(rows))
        assert 0.2 < gained / 200 < 0.6


class TestChoiceByGain:
    def test_a_wider_interval_stands_where_the_judge_tells_something(self) -> None:
        """Losses at the judge's -1 and 1, none at 0: it tells something, but not how many there are."""
        found = changes((12, 8, 0), (0, 12, 0), (20, 28, 0))
        assert (found.method, found.judge_helps) == ("post-stratified-dirichlet", False)
        assert found.note == "the judge adds nothing: labels alone would have an interval as narrow"
        assert width(found) > 1

    def test_labels_stand_alone_where_strata_are_alike(self) -> None:
        found = changes((3, 9, 0), (6, 20, 0), (3, 9, 0))
        assert found.interval == found.label_interval
        assert found.note is not None
        assert found.note.startswith("the judge adds nothing: its scores do not show which rows")

    def test_without_any_change_labels_stand_alone_and_nothing_is_said_of_the_judge(self) -> None:
        found = changes((0, 15, 0), (0, 25, 0), (0, 10, 0))
        assert found.interval == found.label_interval
        assert found.note == "all labels are equal, so nothing shows yet whether the judge helps"
        assert found.worth_labels is None

    def test_a_judge_that_knows_the_changes_makes_it_narrower(self) -> None:
        found = changes((9, 3, 0), (1, 24, 1), (0, 3, 9))
        assert found.judge_helps
        assert width(found) < 0.8


class TestMostLabelsAlike:
    """Differences between two runs, of which most are 0: what few changes do not show counts, as for the pairs themselves."""

    CHANGES: ClassVar[list[float]] = [1.0] * 5 + [-1.0] + [0.0] * 94

    def test_it_is_the_interval_of_the_pairs(self) -> None:
        found = corrected_mean([0.0] * 400, [*self.CHANGES, *[None] * 300], scale=(-1.0, 1.0))
        pairs = paired_difference([0.0] * 100, self.CHANGES, scale=(-1.0, 1.0))
        assert (found.mean, found.label_interval) == (pytest.approx(0.04), pairs.interval)

    def test_another_value_than_0(self) -> None:
        labels = [change + 3 for change in self.CHANGES]
        found = corrected_mean([0.0] * 400, [*labels, *[None] * 300], scale=(2.0, 4.0)).label_interval
        pairs = paired_difference([0.0] * 100, self.CHANGES, scale=(-1.0, 1.0)).interval
        assert found is not None
        assert pairs is not None
        assert found[:2] == pytest.approx((3 + pairs.low, 3 + pairs.high))

    def test_it_stays_on_the_scale(self) -> None:
        found = corrected_mean([0.0] * 20, [0.9] * 3 + [1.0, 0.2] + [0.9] * 5 + [None] * 10, scale=(0.0, 1.0))
        assert found.label_interval is not None
        assert found.label_interval.method == "few-changes"
        assert 0 <= found.label_interval.low <= found.mean <= found.label_interval.high <= 1

    def test_weights_that_differ_by_nothing(self) -> None:
        labels = [*self.CHANGES, *[None] * 300]
        weights = [1.0 if label is not None else None for label in labels]
        weights[-301] = 1.0 + 1e-7  # not equal, so that they count
        alone = corrected_mean([0.0] * 400, labels, scale=(-1.0, 1.0)).label_interval
        weighted = corrected_mean([0.0] * 400, labels, weights, scale=(-1.0, 1.0)).label_interval
        assert alone is not None
        assert weighted is not None
        assert weighted[:2] == pytest.approx(alone[:2], abs=0.004)
        assert weighted.method == alone.method == "few-changes"

    @pytest.mark.usefixtures("untraced")
    @pytest.mark.parametrize("ratio", [1, 3])
    def test_it_contains_the_truth(self, ratio: int) -> None:
        """5 % of rows changed, all in one direction; every other row is drawn ``ratio`` times as often."""
        rng, held = random.Random(ratio), 0
        for _ in range(300):
            labels: list[float | None] = [float(rng.random() < 0.05) for _ in range(400)]
            chances = [0.5 * (ratio if row % 2 else 1) / (1 + ratio) for row in range(400)]
            drawn = [rng.random() < chance for chance in chances]
            labels = [label if row else None for label, row in zip(labels, drawn, strict=True)]
            weights = [1 / chance if row else None for chance, row in zip(chances, drawn, strict=True)]
            found = corrected_mean([0.0] * 400, labels, None if ratio == 1 else weights, scale=(-1.0, 1.0)).interval
            held += found is not None and found.low <= 0.05 <= found.high
        assert held / 300 >= 0.92


@pytest.mark.parametrize(
    ("hits", "count", "other_hits", "other_count"), [(5, 10, 3, 40), (0, 8, 4, 20), (9, 9, 1, 30), (0, 5, 0, 5)]
)
def test_a_larger_rate_as_scipy_counts_it(hits: int, count: int, other_hits: int, other_count: int) -> None:
    found = larger_rate_mid_p(hits, count, other_hits, other_count)
    drawn = stats.hypergeom(count + other_count, hits + other_hits, count)
    assert found == pytest.approx(drawn.sf(hits) + drawn.pmf(hits) / 2)

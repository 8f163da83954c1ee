"""Whether scores of a judge make a mean of grades any surer: told by the labels' spread, not by the intervals' widths."""

from __future__ import annotations

import random

import pytest

from ragmetrics_core.statistics import CorrectedMean, corrected_mean
from ragmetrics_core.statistics._corrected import mean_variance, strata_gain
from ragmetrics_core.statistics._labelled import LabelledRows, Stratum, labelled_rows, strata_of

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


class TestVariance:
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


class TestGain:
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


class TestChoice:
    def test_a_wider_interval_stands_where_the_judge_tells_something(self) -> None:
        """13 labels at the judge's -1, 28 at 0, 8 at 1: the only loss and the only gain are where few rows are."""
        found = changes((0, 12, 1), (0, 28, 0), (1, 8, 0))
        assert (found.method, found.judge_helps) == ("post-stratified-dirichlet", False)
        assert found.note == "the judge adds nothing: labels alone would have an interval as narrow"
        assert width(found) > 1.05

    def test_labels_stand_alone_where_strata_are_alike(self) -> None:
        found = changes((3, 9, 0), (6, 20, 0), (3, 9, 0))
        assert found.interval == found.label_interval
        assert found.note is not None
        assert found.note.startswith("the judge adds nothing: its scores do not tell which rows")

    def test_without_any_change_labels_stand_alone_and_nothing_is_said_of_the_judge(self) -> None:
        found = changes((0, 15, 0), (0, 25, 0), (0, 10, 0))
        assert found.interval == found.label_interval
        assert found.note == "all labels are equal, so nothing tells yet whether the judge helps"
        assert found.worth_labels is None

    def test_a_judge_that_knows_the_changes_makes_it_narrower(self) -> None:
        found = changes((9, 3, 0), (1, 24, 1), (0, 3, 9))
        assert found.judge_helps
        assert width(found) < 0.8

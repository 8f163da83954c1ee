"""Differences between two runs over the same rows: which method, its values, and what must always hold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy import stats

from examples import examples
from growth import seconds, slowness
from ragmetrics_core import InvalidInput
from ragmetrics_core.statistics import FEWEST_CHANGED, METHODS, PairedDifference, paired_difference

UNIT = (0.0, 1.0)
CANCEL_BEFORE = [0.25, 0.5, *[0.25] * 7, 0.5, *[0.25] * 3]
CANCEL_AFTER = [0.25, 0.75, *[0.25] * 10, 0.5]
Z2 = 1.959963984540054**2
BEFORE, AFTER = [0.2, 0.5, 0.9, 0.4, 0.7], [0.4, 0.6, 0.85, 0.9, 0.75]


class TestStudent:
    @pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999])
    def test_interval(self, confidence: float) -> None:
        low, high = stats.ttest_rel(AFTER, BEFORE).confidence_interval(confidence)
        found = paired_difference(BEFORE, AFTER, confidence=confidence)
        assert found.interval == (pytest.approx(low), pytest.approx(high), "t")
        assert found.difference == pytest.approx(0.16)
        assert (found.method, found.pairs, found.changed, found.clusters, found.problem) == ("t", 5, 5, None, None)

    def test_p_value_of_more_than_twelve_changes(self) -> None:
        before, after = [0.1 * (i % 7) for i in range(20)], [0.1 * (i % 5) + 0.03 for i in range(20)]
        found = paired_difference(before, after, scale=UNIT)
        assert found.changed == 20
        assert found.p_value == pytest.approx(stats.ttest_rel(after, before).pvalue)

    def test_p_value_of_up_to_twelve_changes(self) -> None:
        """Signs of 0.2, 0.1, 0.05, 0.5, 0.05 give 0.8 or more in 6 of 32 ways: all up, either 0.05 down, and the opposites."""
        assert paired_difference(BEFORE, AFTER).p_value == 6 / 32

    def test_no_interval_leaves_the_scale(self) -> None:
        found = paired_difference([0.1, 0.0, 0.3], [0.9, 0.2, 1.0], scale=UNIT).interval
        assert found is not None
        assert found.high == 1.0
        assert paired_difference([0.1, 0.0, 0.3], [0.9, 0.2, 1.0]).interval > found  # type: ignore[operator]


class TestEqualPairs:
    def test_they_are_not_certain(self) -> None:
        """z² / (20 + z²) of all rows may have changed from one end of the scale to the other."""
        found = paired_difference([0.5] * 20, [0.5] * 20, scale=UNIT)
        unseen = Z2 / (20 + Z2)
        assert found.interval == (pytest.approx(-unseen), pytest.approx(unseen), "constant")
        assert (found.difference, found.p_value, found.changed) == (0, 1, 0)

    def test_passes_and_fails_have_the_same_interval(self) -> None:
        found = paired_difference([1.0] * 20, [1.0] * 20, scale=UNIT)
        assert found.interval == (pytest.approx(-Z2 / (20 + Z2)), pytest.approx(Z2 / (20 + Z2)), "tango")
        assert (found.p_value, found.changed) == (1, 0)

    def test_the_same_change_everywhere(self) -> None:
        """Exact, the p-value is tiny; but a share of the rows may not change so, and nothing tells how they would."""
        found = paired_difference([0.5] * 20, [0.6] * 20, scale=UNIT)
        unseen = Z2 / (20 + Z2)
        low, high = 0.1 * (1 - unseen) - unseen, 0.1 * (1 - unseen) + unseen
        assert found.interval == (pytest.approx(low), pytest.approx(high), "constant")
        assert found.p_value == 2**-19

    def test_clusters_count_once(self) -> None:
        found = paired_difference([0.5] * 20, [0.5] * 20, [i // 5 for i in range(20)], UNIT)
        assert found.interval == (pytest.approx(-Z2 / (4 + Z2)), pytest.approx(Z2 / (4 + Z2)), "constant")

    def test_without_a_scale_nothing_can_be_said(self) -> None:
        found = paired_difference([0.5] * 20, [0.5] * 20)
        assert (found.interval, found.p_value, found.method) == (None, None, "none")
        assert found.problem == "all rows changed alike, and without a scale nothing shows how much others may"

    def test_changes_by_rounding_are_none(self) -> None:
        noisy = paired_difference([0.5] * 20, [0.5 + 1e-12 * i for i in range(20)], scale=UNIT)
        assert noisy == paired_difference([0.5] * 20, [0.5] * 20, scale=UNIT)


class TestFewChanges:
    def test_fewer_than_half(self) -> None:
        after = [0.5] * 16 + [0.6, 0.7, 0.4, 0.8]
        assert paired_difference([0.5] * 20, after, scale=UNIT).method == "few-changes"
        half = [0.5] * 10 + [0.6, 0.7, 0.4, 0.8, 0.9, 0.1, 0.2, 0.65, 0.3, 0.85]
        assert paired_difference([0.5] * 20, half, scale=UNIT).method == "t"

    def test_fewer_than_fifty(self) -> None:
        changed = [0.5 + 0.01 * i for i in range(1, 51)]
        assert paired_difference([0.5] * 500, changed[:49] + [0.5] * 451, scale=UNIT).method == "few-changes"
        assert paired_difference([0.5] * 500, changed + [0.5] * 450, scale=UNIT).method == "t"

    def test_below_six_nothing_is_significant(self) -> None:
        """All five in one direction: 2 of 32 ways to sign them."""
        assert FEWEST_CHANGED == 6
        five = paired_difference([0.9] * 100, [0.1] * 5 + [0.9] * 95, scale=UNIT)
        six = paired_difference([0.9] * 100, [0.1] * 6 + [0.9] * 94, scale=UNIT)
        assert (five.p_value, six.p_value) == (2 / 32, 2 / 64)

    def test_from_thirteen_on_p_value_and_interval_agree(self) -> None:
        for size in (3, 6, 9):
            after = [0.9 - 0.02 * i for i in range(13)] + [0.5 + 0.03 * i for i in range(size)] + [0.5] * 40
            found = paired_difference([0.5] * len(after), after, scale=UNIT)
            assert found.method == "few-changes"
            assert found.interval is not None
            assert found.p_value is not None
            assert (found.p_value < 0.05) is (found.interval.low > 0)

    def test_clusters_in_place_of_rows(self) -> None:
        """Forty rows of ten clusters; only rows of two clusters changed."""
        clusters = [i // 4 for i in range(40)]
        found = paired_difference([0.5] * 40, [0.9, 0.8, 0.7, 0.5, 0.6] + [0.5] * 35, clusters, UNIT)
        assert (found.method, found.changed, found.clusters) == ("few-changes", 4, 10)
        assert found.p_value == 0.5

    def test_clusters_that_went_the_same_way(self) -> None:
        """One row in four changed, one of each of ten clusters: all down, or one of them up."""
        clusters = [i // 4 for i in range(40)]
        down = [0.3 if i % 4 == 0 else 0.5 for i in range(39)] + [0.4]
        assert paired_difference([0.5] * 40, down, clusters, UNIT).method == "few-changes"
        assert paired_difference([0.5] * 40, [0.7, *down[1:]], clusters, UNIT).method == "cr2"
        half = [0.3 if i % 2 else 0.5 for i in range(39)] + [0.4]
        assert paired_difference([0.5] * 40, half, clusters, UNIT).method == "cr2"


class TestInput:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (([0.1], [0.1, 0.2]), "after has 2 values, before 1: give both scores per row, in order"),
            (([], []), "before has no values: give at least one pair"),
            (
                ([0.1, math.nan], [0.1, 0.2]),
                "before[1] is nan: give finite numbers, and leave out rows without a score",
            ),
            (([0.1, 0.2], [math.inf, 0.2]), "after[0] is inf: give finite numbers, and leave out rows without a score"),
            (([0.1, 0.2], [0.2, None]), "after[1] is None: give finite numbers, and leave out rows without a score"),
            (([0.1, 0.2], [0.2, "1"]), "after[1] is '1': give finite numbers, and leave out rows without a score"),
            (
                ([0.1, 0.2], [0.2, 1.5], None, UNIT),
                "after[1] is 1.5, which is not on the scale 0 to 1: give the scale of these values",
            ),
            (
                ([0.1, 0.2], [0.2, 0.3], None, (1.0, 0.0)),
                "scale must be two finite numbers, the lower first, got (1.0, 0.0): leave it out if unknown",
            ),
            (
                ([0.1, 0.2], [0.2, 0.3], None, (0.0, math.inf)),
                "scale must be two finite numbers, the lower first, got (0.0, inf): leave it out if unknown",
            ),
            (
                ([0.1, 0.2], [0.2, 0.3], ["a"]),
                "clusters has 1 entries for 2 rows: give each row its cluster",
            ),
            (
                ([0.1, 0.2], [0.2, 0.3], ["a", None]),
                "clusters[1] is None: give every row a cluster, even one of a single row",
            ),
            (
                ([0.1, 0.2], [0.2, 0.3], [math.nan, "a"]),
                "clusters[0] is nan: give every row a cluster, even one of a single row",
            ),
            (
                ([0.1, 0.2], [0.2, 0.3], ["a", ["b"]]),
                ("clusters[1] is ['b']: give every row a cluster, even one of a single row"),
            ),
            (
                ([0.1, 0.2], [0.2, 0.3], None, None, 95),
                "confidence must lie between 0 and 1, got 95: give 0.95 for 95 %",
            ),
        ],
    )
    def test_one_message_that_names_the_place(self, arguments: Any, message: str) -> None:
        with pytest.raises(InvalidInput) as caught:
            paired_difference(*arguments)
        assert str(caught.value) == message

    def test_a_cluster_that_does_not_know_whether_it_is_itself(self) -> None:
        class Unknown:
            def __ne__(self, other: object) -> Any:
                raise TypeError("boolean value of NA is ambiguous")

            __hash__ = object.__hash__

            def __repr__(self) -> str:
                return "<NA>"

        with pytest.raises(InvalidInput, match=r"^clusters\[1\] is <NA>: give every row a cluster"):
            paired_difference([0.1, 0.2], [0.2, 0.3], ["a", Unknown()])

    def test_a_single_pair(self) -> None:
        found = paired_difference([0.2], [0.5], scale=UNIT)
        assert (found.difference, found.interval, found.p_value) == (pytest.approx(0.3), None, None)
        assert (found.method, found.pairs, found.changed) == ("none", 1, 1)
        assert found.problem == "a single pair does not show how much others differ"

    def test_values_that_rounding_put_beside_the_scale(self) -> None:
        beside = paired_difference([0.2, 0.4, 0.9], [0.3, 1.0 + 1e-12, 0.5], scale=UNIT)
        assert beside == paired_difference([0.2, 0.4, 0.9], [0.3, 1.0, 0.5], scale=UNIT)

    def test_true_and_false(self) -> None:
        before, after = [True, False, True, True], [True, True, True, False]
        assert paired_difference(before, after) == paired_difference([1, 0, 1, 1], [1, 1, 1, 0], scale=UNIT)

    def test_arrays(self) -> None:
        found = paired_difference(np.array(BEFORE), np.array(AFTER), np.array([1, 1, 2, 3, 4]))
        assert found == paired_difference(BEFORE, AFTER, [1, 1, 2, 3, 4])
        assert type(found.difference) is float


@st.composite
def pairs(draw: st.DrawFn) -> tuple[list[float], list[float], list[int] | None]:
    """Two runs on the scale 0 to 1: often equal, often 0 and 1 alone, with and without clusters."""
    value = draw(st.sampled_from([st.floats(0, 1), st.sampled_from([0.0, 1.0]), st.sampled_from([0.25, 0.5, 0.75])]))
    count = draw(st.integers(2, 24))
    before = draw(st.lists(value, min_size=count, max_size=count))
    changed = draw(st.lists(st.one_of(st.none(), value), min_size=count, max_size=count))
    after = [old if new is None else new for old, new in zip(before, changed, strict=True)]
    clusters = draw(st.one_of(st.none(), st.lists(st.integers(0, 5), min_size=count, max_size=count)))
    return before, after, clusters


def sizes(found: PairedDifference) -> tuple[Any, ...]:
    return found.method, found.pairs, found.changed, found.clusters, found.problem


def limits(found: PairedDifference) -> Sequence[float]:
    assert found.interval is not None
    return found.interval[:2]


class TestAlways:
    @given(pairs())
    def test_on_the_scale_and_around_the_difference(self, sample: tuple[Any, ...]) -> None:
        found = paired_difference(*sample, scale=UNIT)
        if found.interval is None:
            assert found.p_value is None
            assert found.clusters == 1
            return
        assert -1 <= found.interval.low <= found.difference <= found.interval.high <= 1
        assert found.interval.low < found.interval.high, "a sample never makes a difference certain"
        assert found.p_value is not None
        assert 0 <= found.p_value <= 1
        assert found.method in METHODS
        assert found.interval.method == found.method

    @given(pairs())
    def test_swapped_it_is_the_opposite(self, sample: tuple[Any, ...]) -> None:
        before, after, clusters = sample
        there, back = paired_difference(before, after, clusters, UNIT), paired_difference(after, before, clusters, UNIT)
        assert back.difference == -there.difference
        assert sizes(back) == sizes(there)
        if there.interval is not None:
            assert limits(back) == pytest.approx([-limit for limit in limits(there)[::-1]], abs=1e-9)
            assert back.p_value == pytest.approx(there.p_value)
            assert back.rows_needed(0.1) == there.rows_needed(0.1)

    @given(pairs(), st.randoms(use_true_random=False))
    def test_the_order_of_rows_does_not_matter(self, sample: tuple[Any, ...], rng: Any) -> None:
        before, after, clusters = sample
        order = list(range(len(before)))
        rng.shuffle(order)
        mixed = [None if column is None else [column[place] for place in order] for column in sample]
        found, other = paired_difference(before, after, clusters, UNIT), paired_difference(*mixed, scale=UNIT)  # type: ignore[arg-type]
        assert sizes(other) == sizes(found)
        if found.interval is not None:
            assert limits(other) == pytest.approx(limits(found), abs=1e-9)
            assert other.p_value == pytest.approx(found.p_value)

    @given(pairs(), st.floats(0.5, 0.99), st.floats(0.001, 0.3))
    def test_more_confidence_is_wider(self, sample: tuple[Any, ...], confidence: float, more: float) -> None:
        assume(confidence + more < 0.9999)
        narrow = paired_difference(*sample, scale=UNIT, confidence=confidence)
        wide = paired_difference(*sample, scale=UNIT, confidence=confidence + more)
        assume(narrow.interval is not None)
        assert limits(wide)[0] <= limits(narrow)[0] + 1e-12
        assert limits(narrow)[1] <= limits(wide)[1] + 1e-12
        assert wide.p_value == narrow.p_value

    @given(pairs(), st.floats(-3, 3))
    @example((CANCEL_BEFORE, CANCEL_AFTER, [0] * 12 + [1]), 1.64)  # the changes of cluster 0 cancel out
    def test_both_runs_shifted_alike(self, sample: tuple[Any, ...], shift: float) -> None:
        before, after, clusters = sample
        scale = (shift, 1 + shift)
        moved = [[min(max(value + shift, scale[0]), scale[1]) for value in run] for run in (before, after)]
        found, other = paired_difference(*sample, scale=UNIT), paired_difference(*moved, clusters, scale)
        assume(found.changed == other.changed)  # a change at the limit of rounding may fall on either side
        assert other.difference == pytest.approx(found.difference, abs=1e-9)
        if found.interval is not None and found.method == other.method:
            assert limits(other) == pytest.approx(limits(found), abs=1e-6)

    @examples(50)
    @given(pairs(), st.floats(0.01, 0.3))
    def test_without_a_scale_the_after_run_may_be_shifted(self, sample: tuple[Any, ...], shift: float) -> None:
        """Where Student's t is used, a shift of one run shifts the interval."""
        before, after, clusters = sample
        found = paired_difference(before, after, clusters)
        other = paired_difference(before, [value + shift for value in after], clusters)
        assume({found.method, other.method} <= {"t", "cr2"})
        assert found.method == other.method
        assert limits(other) == pytest.approx([limit + shift for limit in limits(found)], abs=1e-9)


@pytest.mark.usefixtures("untraced")
def test_ten_thousand_rows_take_no_time() -> None:
    """Some 10 ms each; the bound is for a busy machine, and the quickest of three tries counts."""
    values = [(i * 7919 % 1000) / 1000 for i in range(10_000)]
    others = values[1:] + values[:1]
    clusters = [i // 10 for i in range(10_000)]

    def work(size: int) -> None:
        assert paired_difference(values[:size], others[:size], scale=UNIT).method == "t"
        assert paired_difference(values[:size], others[:size], clusters[:size], UNIT).method == "cr2"
        assert paired_difference(values[:size], (others[:40] + values[40:])[:size], scale=UNIT).method == "few-changes"

    assert min(seconds(work, 10_000) for _ in range(3)) < 0.3 * slowness()

"""The 95 % intervals: published values, what must always hold, and how often they contain the truth."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ragmetrics_core import InvalidInput
from ragmetrics_core.statistics import Interval, mean_interval, rate_interval

pytestmark = pytest.mark.slow

UNIT = (0.0, 1.0)
Z = 1.959963984540054  # the normal distribution has 95 % of its mass within this many standard deviations
SCALES = st.sampled_from([(0.0, 1.0), (-1.0, 1.0), (1.0, 5.0), (0.0, 4.0)])


@st.composite
def samples(draw: st.DrawFn, least: int = 2) -> tuple[list[float], tuple[float, float]]:
    """Values on a scale; often at its ends, often equal, often next to nothing apart."""
    low, high = draw(SCALES)
    usual = st.sampled_from([low, high, (low + high) / 2])
    value = st.one_of(usual, st.floats(low, high))
    return draw(st.lists(value, min_size=least, max_size=30)), (low, high)


class TestWilson:
    @pytest.mark.parametrize(
        ("hits", "count", "low", "high"),
        [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
    )
    def test_published_examples(self, hits: int, count: int, low: float, high: float) -> None:
        """Newcombe 1998, Statistics in Medicine 17:857, table I, method 3."""
        found = rate_interval(hits, count)
        assert found is not None
        assert (found.low, found.high, found.method) == (
            pytest.approx(low, abs=5e-5),
            pytest.approx(high, abs=5e-5),
            "wilson",
        )
        assert mean_interval([1.0] * hits + [0.0] * (count - hits), scale=UNIT) == found

    def test_the_ends_of_any_scale(self) -> None:
        unit, wide = mean_interval([0, 1, 1], scale=UNIT), mean_interval([1, 5, 5], scale=(1, 5))
        assert unit is not None
        assert wide is not None
        assert wide[:2] == pytest.approx((1 + 4 * unit.low, 1 + 4 * unit.high))
        assert wide.method == "wilson"

    def test_all_perfect_is_not_certain(self) -> None:
        assert mean_interval([1.0] * 20, scale=UNIT) == (pytest.approx(20 / (20 + Z * Z)), 1.0, "wilson")
        assert mean_interval([0.0] * 20, scale=UNIT) == (0.0, pytest.approx(Z * Z / (20 + Z * Z)), "wilson")


class TestOtherValues:
    def test_scale_known(self) -> None:
        """Both limits p solve (mean - p)² = t² * r * p * (1 - p) / n."""
        values = [0.2, 0.9, 1.0, 1.0, 0.75]
        found = mean_interval(values, scale=UNIT)
        assert found is not None
        assert found.method == "wilson-t"
        mean = statistics.fmean(values)
        ratio = statistics.variance(values) / (mean * (1 - mean))
        for limit in found[:2]:
            assert (mean - limit) ** 2 == pytest.approx(2.7764451052**2 * ratio * limit * (1 - limit) / 5)
        assert found.low < mean < found.high

    def test_scale_unknown(self) -> None:
        """Mean 3, standard deviation sqrt(2.5), t = 2.776 for 4 degrees of freedom."""
        half = 2.7764451052 * math.sqrt(2.5 / 5)
        expected = (pytest.approx(3 - half), pytest.approx(3 + half), "t")
        assert mean_interval([1, 2, 3, 4, 5], scale=None) == expected

    def test_equal_values_inside_the_scale(self) -> None:
        """A share of z² / (n + z²) of all rows may differ from the ten seen, and lie at either end."""
        differ = Z * Z / (10 + Z * Z)
        expected = (pytest.approx(0.8 * (1 - differ)), pytest.approx(0.8 + 0.2 * differ), "constant")
        assert mean_interval([0.8] * 10, scale=UNIT) == expected

    @pytest.mark.parametrize("apart", [1e-200, 1e-16, 1e-12])
    def test_values_that_differ_by_rounding_are_equal(self, apart: float) -> None:
        equal = mean_interval([1.0] * 10, scale=UNIT)
        assert equal is not None
        assert mean_interval([1.0] * 5 + [1 - max(apart, 2e-16)] * 5, scale=UNIT) == pytest.approx(equal)
        assert mean_interval([0.0] * 5 + [apart] * 5, scale=UNIT) == pytest.approx((0.0, 1 - equal.low, "wilson"))
        assert mean_interval([0.5] * 5 + [0.5 + apart] * 5, scale=UNIT) == pytest.approx(
            mean_interval([0.5] * 10, scale=UNIT)
        )
        assert mean_interval([-7.0, -7.0 - apart], scale=None) is None

    def test_no_interval(self) -> None:
        assert mean_interval([], scale=UNIT) is None
        assert mean_interval([0.5], scale=UNIT) is None
        assert mean_interval([1.0], scale=UNIT) is None
        assert mean_interval([0.7] * 5, scale=None) is None
        assert mean_interval([1.0] * 5, scale=(1.0, 1.0)) is None
        assert rate_interval(0, 0) is None
        assert rate_interval(1, 1) is None


class TestConfidence:
    @pytest.mark.parametrize("confidence", [0.5, 0.9, 0.99])
    def test_other_than_95_percent(self, confidence: float) -> None:
        wilson = stats.binomtest(12, 30).proportion_ci(confidence, "wilson")
        assert rate_interval(12, 30, confidence) == (pytest.approx(wilson.low), pytest.approx(wilson.high), "wilson")
        assert mean_interval([1.0] * 12 + [0.0] * 18, scale=UNIT, confidence=confidence) == rate_interval(
            12, 30, confidence
        )
        low, high = stats.ttest_1samp([1, 2, 3, 4, 5], 0).confidence_interval(confidence)
        assert mean_interval([1, 2, 3, 4, 5], confidence=confidence) == (pytest.approx(low), pytest.approx(high), "t")

    @given(samples(), st.floats(0.5, 0.9), st.floats(0.001, 0.09))
    def test_more_is_wider(
        self, sample: tuple[list[float], tuple[float, float]], confidence: float, more: float
    ) -> None:
        values, scale = sample
        narrow = mean_interval(values, None, scale, confidence)
        wide = mean_interval(values, None, scale, confidence + more)
        assert narrow is not None
        assert wide is not None
        assert wide.low <= narrow.low
        assert narrow.high <= wide.high

    @pytest.mark.parametrize("wrong", [0, 1, -0.5, 95, math.nan])
    def test_impossible(self, wrong: float) -> None:
        message = f"confidence must lie between 0 and 1, got {wrong!r}: give 0.95 for 95 %"
        for call in (lambda: mean_interval([0.1, 0.2], None, UNIT, wrong), lambda: rate_interval(1, 3, wrong)):
            with pytest.raises(InvalidInput) as caught:
                call()
            assert str(caught.value) == message


class TestInput:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (([0.1, math.nan],), "values[1] is nan: give finite numbers, and leave out rows without a score"),
            (([None, 0.1],), "values[0] is None: give finite numbers, and leave out rows without a score"),
            (
                ([0.1, 7], None, (1, 5)),
                "values[0] is 0.1, which is not on the scale 1 to 5: give the scale of these values",
            ),
            (([0.1, 0.7], ["a"]), "clusters has 1 entries for 2 rows: give each row its cluster"),
        ],
    )
    def test_one_message_that_names_the_place(self, arguments: Any, message: str) -> None:
        with pytest.raises(InvalidInput) as caught:
            mean_interval(*arguments)
        assert str(caught.value) == message

    @pytest.mark.parametrize(("hits", "count"), [(4, 3), (-1, 3), (0, -1), (math.nan, 3)])
    def test_a_rate_that_is_none(self, hits: int, count: int) -> None:
        with pytest.raises(
            InvalidInput, match=r"^hits must lie between 0 and count, got .* of .*: give the hits among the trials$"
        ):
            rate_interval(hits, count)

    def test_true_and_false_have_a_scale(self) -> None:
        assert mean_interval([True, False, True]) == rate_interval(2, 3)


class TestAlways:
    @given(samples())
    def test_inside_the_scale_and_around_the_mean(self, sample: tuple[list[float], tuple[float, float]]) -> None:
        values, scale = sample
        found, mean = mean_interval(values, scale=scale), math.fsum(values) / len(values)
        assert found is not None
        assert scale[0] <= found.low <= mean <= found.high <= scale[1]
        assert found.low < found.high, "a sample never makes a mean certain"

    @given(samples())
    def test_more_of_the_same_narrows_it(self, sample: tuple[list[float], tuple[float, float]]) -> None:
        values, scale = sample
        few, many = mean_interval(values, scale=scale), mean_interval(values * 4, scale=scale)
        assert few is not None
        assert many is not None
        assert many.high - many.low < few.high - few.low

    @given(samples())
    def test_turned_round_it_is_the_mirror_image(self, sample: tuple[list[float], tuple[float, float]]) -> None:
        values, (low, high) = sample
        found, mirrored = (
            mean_interval(v, scale=(low, high)) for v in (values, [low + high - value for value in values])
        )
        assert found is not None
        assert mirrored is not None
        assert mirrored.low == pytest.approx(low + high - found.high, abs=1e-6)
        assert mirrored.high == pytest.approx(low + high - found.low, abs=1e-6)

    @given(samples())
    def test_the_order_of_rows_does_not_matter(self, sample: tuple[list[float], tuple[float, float]]) -> None:
        values, scale = sample
        assert mean_interval(values, scale=scale) == mean_interval(sorted(values), scale=scale)


Draw = Callable[[random.Random], float]


def beta(a: float, b: float) -> Draw:
    return lambda rng: rng.betavariate(a, b)


def inflated(share: float, end: float, other: Draw) -> Draw:
    return lambda rng: end if rng.random() < share else other(rng)


def coverage(draw: Draw, truth: float, count: int, method: Callable[[list[float]], Interval | None]) -> float:
    """How often the interval of ``count`` rows contains the true mean, in 2,000 samples."""
    rng = random.Random(20240506)
    hits = 0
    for _ in range(2000):
        found = method([draw(rng) for _ in range(count)])
        hits += found is not None and found.low <= truth <= found.high
    return hits / 2000


@pytest.mark.usefixtures("untraced")
class TestCoverage:
    """Nominal 0.95. With 2,000 samples the figures are right to about 0.01, and the bounds allow for that."""

    CASES: ClassVar = {
        "beta(8, 2)": (beta(8, 2), 0.8),
        "60 % zeros": (inflated(0.6, 0.0, beta(2, 2)), 0.2),
        "90 % zeros": (inflated(0.9, 0.0, beta(2, 2)), 0.05),
        "60 % ones": (inflated(0.6, 1.0, beta(4, 2)), 0.6 + 0.4 * 4 / 6),
    }

    @pytest.mark.parametrize("count", [10, 20, 50])
    @pytest.mark.parametrize("name", CASES)
    def test_crowded_and_skewed_scores(self, name: str, count: int) -> None:
        draw, truth = self.CASES[name]
        assert 0.93 <= coverage(draw, truth, count, lambda values: mean_interval(values, scale=UNIT)) <= 0.985

    @pytest.mark.parametrize(("rate", "count"), [(0.95, 20), (0.95, 50), (0.9, 20), (0.5, 30)])
    def test_pass_rates(self, rate: float, count: int) -> None:
        found = coverage(
            lambda rng: float(rng.random() < rate), rate, count, lambda values: mean_interval(values, scale=UNIT)
        )
        assert 0.91 <= found <= 0.985

    def test_why_it_is_not_the_plain_t_interval(self) -> None:
        draw, truth = self.CASES["90 % zeros"]
        plain = coverage(draw, truth, 50, lambda values: mean_interval(values, scale=None))
        chosen = coverage(draw, truth, 50, lambda values: mean_interval(values, scale=UNIT))
        assert plain < 0.91
        assert chosen > plain + 0.03

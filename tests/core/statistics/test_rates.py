"""How unlikely few passes are, exactly."""

from __future__ import annotations

import pytest

from ragmetrics_core.statistics._means import rate_mid_p


@pytest.mark.parametrize(
    ("hits", "count", "rate", "value"),
    [
        (0, 1, 0.25, 0.75 / 2),
        (1, 1, 0.25, 0.75 + 0.25 / 2),
        (0, 3, 0.5, 1 / 16),
        (1, 3, 0.5, 1 / 8 + 3 / 16),
        (3, 3, 0.5, 1 - 1 / 16),
        (0, 10, 1.0, 0.0),
        (10, 10, 1.0, 0.5),
        (0, 10, 0.0, 0.5),
    ],
)
def test_by_hand(hits: int, count: int, rate: float, value: float) -> None:
    assert rate_mid_p(hits, count, rate) == pytest.approx(value, abs=1e-15)


@pytest.mark.parametrize("count", [2, 20, 1000])
@pytest.mark.parametrize("rate", [0.05, 0.5, 0.95])
def test_against_the_binomial_distribution_of_scipy(count: int, rate: float) -> None:
    binom = pytest.importorskip("scipy.stats").binom
    for hits in {0, 1, count // 2, int(count * rate), count - 1, count}:
        expected = binom.cdf(hits - 1, count, rate) + binom.pmf(hits, count, rate) / 2
        assert rate_mid_p(hits, count, rate) == pytest.approx(expected, rel=1e-9, abs=1e-300)

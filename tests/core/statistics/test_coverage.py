"""How often the intervals hold the true difference, and how often equal systems are told apart: simulated, with fixed seeds.

Nominal are 0.95 and 0.05. With 1,000 samples a share of 0.95 is known to about 0.014, and the bounds allow for that.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

import pytest

from ragmetrics_core.statistics import FEWEST_CHANGED, mean_interval, paired_difference

SAMPLES = 1000
MEAN_OF_CLAIMS = 5 / 5.7


class Sample(NamedTuple):
    before: Sequence[float]
    after: Sequence[float]
    truth: float
    scale: tuple[float, float] = (0.0, 1.0)
    clusters: Sequence[Hashable] | None = None


Draw = Callable[[random.Random, int], Sample]


def share_of(rng: random.Random, claims: int, rate: float) -> float:
    return sum(rng.random() < rate for _ in range(claims)) / claims


def claims(drop: float) -> Draw:
    """Shares of 2 to 7 claims that are supported, each at the rate of its row, which is beta(5, 0.7); after it is lower."""

    def draw(rng: random.Random, count: int) -> Sample:
        rows = [(rng.randint(2, 7), rng.betavariate(5, 0.7)) for _ in range(count)]
        before = [share_of(rng, size, rate) for size, rate in rows]
        return Sample(before, [share_of(rng, size, rate * (1 - drop)) for size, rate in rows], -drop * MEAN_OF_CLAIMS)

    return draw


def passes(before: float, after: float) -> Draw:
    def draw(rng: random.Random, count: int) -> Sample:
        runs = ([float(rng.random() < rate) for _ in range(count)] for rate in (before, after))
        return Sample(*runs, after - before)

    return draw


def graded(rng: random.Random, count: int) -> Sample:
    latent = [rng.gauss(4, 1) for _ in range(count)]
    runs = ([float(min(max(round(value + rng.gauss(0, 0.6)), 1), 5)) for value in latent] for _ in range(2))
    return Sample(*runs, 0.0, (1.0, 5.0))


def one_row_in_ten_loses_half(rng: random.Random, count: int) -> Sample:
    rows = [share_of(rng, rng.randint(2, 7), rng.betavariate(5, 0.7)) for _ in range(count)]
    return Sample(rows, [value / 2 if rng.random() < 0.1 else value for value in rows], -0.05 * MEAN_OF_CLAIMS)


def one_row_in_ten_loses_some(rng: random.Random, count: int) -> Sample:
    after = [1 - rng.betavariate(2, 2) if rng.random() < 0.1 else 1.0 for _ in range(count)]
    return Sample([1.0] * count, after, -0.05)


def in_clusters(likeness: float, change: Callable[[float], float], truth: float) -> Draw:
    """Unequal clusters, 2 to 10 rows each; the changes have that intra-class correlation before they are rounded."""

    def draw(rng: random.Random, count: int) -> Sample:
        clusters, after = [], []
        for cluster in range(count):
            shared = rng.gauss(0, likeness**0.5)
            for _ in range(rng.randint(2, 10)):
                clusters.append(cluster)
                after.append(change(shared + rng.gauss(0, (1 - likeness) ** 0.5)))
        return Sample([0.5] * len(after), after, truth, (0.0, 1.0), clusters)

    return draw


def fifths(latent: float) -> float:
    return min(max(round(2.5 + latent) / 5, 0.0), 1.0)


def shares(draw: Draw, count: int) -> tuple[float, float]:
    """How often the interval holds the truth, and how often 0 lies outside and the p-value is at most 0.05."""
    rng = random.Random(20250101)
    held = told_apart = 0
    for _ in range(SAMPLES):
        sample = draw(rng, count)
        found = paired_difference(sample.before, sample.after, sample.clusters, sample.scale)
        assert found.interval is not None
        assert found.p_value is not None
        held += found.interval.low - 1e-12 <= sample.truth <= found.interval.high + 1e-12
        excluded = found.interval.low > 0 or found.interval.high < 0
        told_apart += excluded and found.p_value <= 0.05 and found.changed >= FEWEST_CHANGED
    return held / SAMPLES, told_apart / SAMPLES


CELLS: dict[str, Draw] = {
    "claims, equal": claims(0.0),
    "claims, worse": claims(0.1),
    "passes 0.5": passes(0.5, 0.5),
    "passes 0.9 to 0.8": passes(0.9, 0.8),
    "passes 0.95": passes(0.95, 0.95),
    "graded": graded,
    "one in ten halved": one_row_in_ten_loses_half,
    "one in ten, any loss": one_row_in_ten_loses_some,
}


@pytest.mark.parametrize("count", [20, 50])
@pytest.mark.parametrize("name", CELLS)
def test_paired_differences(name: str, count: int) -> None:
    held, told_apart = shares(CELLS[name], count)
    assert held >= (0.92 if count == 20 else 0.93)
    if name in {"claims, equal", "passes 0.5", "passes 0.95", "graded"}:
        assert told_apart <= 0.065


@pytest.mark.parametrize("likeness", [0.1, 0.5])
@pytest.mark.parametrize("count", [8, 15])
def test_clusters(count: int, likeness: float) -> None:
    held, told_apart = shares(in_clusters(likeness, fifths, 0.0), count)
    assert held >= 0.93
    assert told_apart <= 0.07


def test_why_clusters_matter() -> None:
    """The same samples, taken for independent rows."""
    alike = in_clusters(0.5, fifths, 0.0)
    held, _ = shares(lambda rng, count: alike(rng, count)._replace(clusters=None), 15)
    assert held < 0.85


def test_means_of_clusters_of_passes() -> None:
    """19 of 20 pass, and those that fail come together: hardly any cluster tells."""
    rng, held = random.Random(20250101), 0
    for _ in range(SAMPLES):
        values, clusters = [], []
        for cluster in range(15):
            shared = rng.gauss(0, 0.5**0.5)
            for _ in range(rng.randint(2, 10)):
                clusters.append(cluster)
                values.append(float(shared + rng.gauss(0, 0.5**0.5) < 1.6448536))
        found = mean_interval(values, clusters, (0.0, 1.0))
        assert found is not None
        held += found.low <= 0.95 <= found.high
    assert held / SAMPLES >= 0.93

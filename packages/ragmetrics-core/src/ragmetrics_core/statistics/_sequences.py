"""Confidence sequences: intervals that hold at every number of rows at once, so that a run may stop when they decide.

A 95 % interval for a fixed number of rows misses the true mean in 5 % of samples. A run that computes it after every row, and stops
when it lies on one side of a limit, is wrong far more often. A confidence sequence contains the true mean at *all* numbers of rows
in 95 % of samples. It is wider in return.

``betting`` is used on a known scale. To test a mean m, start with a capital of 1 and bet on each row that its value exceeds m:
with a value x, as a share of the scale, the capital is multiplied by 1 + c (x / m - 1), where c is a share from 0 to 1. If the true
mean is at most m, the capital is not expected to grow, and it ever reaches 1 / alpha with a probability of at most alpha (Ville
1939). So every m against which it has reached 1 / alpha is too low. Bets on values below m show in the same way which m are too
high. The capital is divided equally among eight fixed shares c. So the order of the rows does not matter, and no variance must be
known in advance. Source: Waudby-Smith & Ramdas 2024, Journal of the Royal Statistical Society B 86:1, section 4 and appendix B
(bets on a grid).

With clusters, a bet is on a cluster: x / m - 1 is summed over its rows and divided by the number of rows of the largest cluster.

``asymptotic`` is used on an unknown scale, where nothing bounds the next value. It is the time-uniform counterpart of a normal
interval, tightest near 100 rows: there is none before `BURN_IN` rows or clusters, which must be enough for
the central limit theorem. Source: Waudby-Smith, Arbour, Sinha, Kennedy & Ramdas 2024, Annals of Statistics 52:2613, theorem 2.2.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence

from ._distributions import crossing
from ._interval import Interval, Scale, on_scale
from ._means import checked_numbers, clustered_mean, units_of
from ._numbers import Numbers

BETS = tuple((place / 8) ** 2 for place in (0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5))
"""The shares that are bet. Small ones find small distances from many rows, large ones large distances from few rows."""

BURN_IN = 50
"""The fewest rows, or clusters, of an asymptotic interval."""

TIGHTEST = 100
"""The number of rows, or clusters, at which the asymptotic interval is the tightest."""

BLOCK = 16
"""The number of factors of the capital that are multiplied before a logarithm is taken: few enough for any number to hold them."""

SMALLEST = 1e-12
"""The smallest mean, as a share of the scale, that is supposed."""


def always_valid_interval(
    values: Sequence[float] | Numbers,
    clusters: Sequence[Hashable] | None = None,
    scale: tuple[float, float] | None = None,
    confidence: float = 0.95,
    *,
    largest: int = 0,
    hidden: bool = False,
) -> Interval | None:
    """Return an interval for the mean that holds at every number of rows at once, so that a run may stop when it decides.

    The documentation of the module `ragmetrics_core.statistics._sequences` describes the methods and their sources.

    Args:
        values: the scores so far, in an order that does not depend on them; finite and on the scale.
        clusters: for each value what it shares with others; None if the rows are independent. Clusters must be complete.
        scale: the lowest and the highest possible score, in this order; None if they are not known. The scale of True and False
            is 0 to 1.
        confidence: the probability, above 0 and below 1, that the interval contains the mean at all numbers of rows; each of its
            two ends fails with half of the rest.
        largest: the number of rows of the largest cluster that the run may draw. It must be known before the first row; the
            largest cluster so far counts if it is larger.
        hidden: whether rows are in clusters of up to ``largest`` rows that are not given. The interval holds whichever rows are
            alike, and is as wide as if so many rows counted as one.

    Returns:
        The interval, with the method ``betting`` inside the scale, or ``asymptotic`` without a scale. None if there is no value,
        the scale is a single point, or, without a scale, for fewer than 50 rows or clusters and for equal values.

    Raises:
        InvalidInput: if a value is not finite or not on the scale, if a row has no cluster, or if confidence or scale are
            impossible.
    """
    numbers, scale = checked_numbers(values, clusters, scale, confidence)
    units = single_units(numbers) if clusters is None else units_of(numbers, clusters)
    return interval_of_units(units, scale, confidence, largest, max(largest, 1) if hidden else 1)


def single_units(values: Numbers) -> Counter[tuple[float, int]]:
    """Return how many rows have a value, each with the number of its rows, which is 1."""
    units: Counter[tuple[float, int]] = Counter()
    for value, count in values.pairs():
        units[value, 1] += count
    return units


def interval_of_units(
    units: Counter[tuple[float, int]], scale: Scale, confidence: float, largest: int = 0, share: int = 1
) -> Interval | None:
    """Return the always-valid interval; ``units`` says how many rows or clusters have a sum of values and a number of rows.

    If so many rows ``share`` an unknown cluster, the capital of a bet on the cluster is at least the geometric mean of the
    capitals of bets on its rows, as the logarithm is concave. So that mean counts.
    """
    if not units.total() or (scale is not None and scale[0] == scale[1]):
        return None
    if scale is None:
        return _asymptotic(units, confidence, share)
    low, width = scale[0], scale[1] - scale[0]
    most = 1 if share > 1 else max([largest, *(rows for _, rows in units)])
    shares = [((total - low * rows) / width, rows, number / share) for (total, rows), number in units.items()]
    rows = sum(rows * number for _, rows, number in shares)
    mean = math.fsum(total * number for total, _, number in shares) / rows
    needed = math.log(2 / (1 - confidence))
    ends = [_lowest(shares, mean, most, needed)]
    ends.append(1 - _lowest([(rows - total, rows, number) for total, rows, number in shares], 1 - mean, most, needed))
    return on_scale(ends[0], ends[1], low + mean * width, scale, "betting")


def _lowest(shares: Sequence[tuple[float, int, float]], mean: float, most: int, needed: float) -> float:
    """Return the lowest mean against which the logarithm of the capital stays below ``needed``, as a share of the scale.

    Args:
        shares: for each unit the sum of its values, its number of rows, and how many units are like it.
        mean: the mean of all rows.
        most: the number of rows of the largest unit.
        needed: the logarithm of the capital that excludes a mean.
    """
    once, often = ([unit for unit in shares if (unit[2] != 1) is several] for several in (False, True))

    def excess(supposed: float) -> float:
        gains = [(total / supposed - rows) / most for total, rows, _ in once]
        more = [((total / supposed - rows) / most, number) for total, rows, number in often]
        logs = []
        for bet in BETS:
            factors = [1 + bet * gain for gain in gains]
            blocks = [math.prod(factors[start : start + BLOCK]) for start in range(0, len(factors), BLOCK)]
            logs.append(
                math.fsum([*map(math.log, blocks), *(number * math.log1p(bet * gain) for gain, number in more)])
            )
        best = max(logs)
        return best + math.log(math.fsum(math.exp(log - best) for log in logs) / len(BETS)) - needed

    if mean <= SMALLEST or excess(SMALLEST) <= 0:
        return 0.0
    return crossing(excess, SMALLEST, mean)


def _asymptotic(units: Counter[tuple[float, int]], confidence: float, share: int) -> Interval | None:
    number = units.total() / share
    found = clustered_mean(units) if number >= BURN_IN else None
    if found is None or not found.variance > 0:
        return None
    alpha = 1 - confidence
    tightness = (-2 * math.log(alpha) + math.log(1 - 2 * math.log(alpha))) / TIGHTEST
    growth = number * tightness + 1
    half = math.sqrt(found.variance * share * 2 * growth / (number * tightness) * math.log(math.sqrt(growth) / alpha))
    return Interval(found.mean - half, found.mean + half, "asymptotic")

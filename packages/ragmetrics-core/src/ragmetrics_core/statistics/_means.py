"""Intervals for a mean that are valid for few rows and for scores crowded at one end of their scale.

Scores are bounded and often skewed: most answers are perfect and a few are bad. A plain t interval is symmetric around the mean
and ignores the ends of the scale, so it misses the true mean too often exactly in such cases. A bootstrap of 10 or 20 rows is
usually too narrow. The table shows the share of intervals that contain the true mean, at n = 10, 20, 50 rows (simulated, 20,000
runs; bootstraps of 999 resamples, 4,000 runs; nominal 0.95; samples with no spread, or with 0 and 1 alone, treated as below in
all columns):

=====================================  ==================  ==================  ==================  ==================
scores on the scale 0 to 1             t, clipped          percentile          BCa                 Wilson-t
=====================================  ==================  ==================  ==================  ==================
beta(8, 2)                             0.94 / 0.95 / 0.95  0.90 / 0.92 / 0.94  0.91 / 0.93 / 0.94  0.95 / 0.95 / 0.95
beta(0.5, 5)                           0.89 / 0.91 / 0.93  0.85 / 0.90 / 0.93  0.87 / 0.91 / 0.94  0.92 / 0.93 / 0.94
60 % zeros, else beta(2, 2)            0.93 / 0.94 / 0.95  0.90 / 0.93 / 0.95  0.93 / 0.95 / 0.96  0.96 / 0.96 / 0.96
90 % zeros, else beta(2, 2)            0.97 / 0.93 / 0.90  0.96 / 0.92 / 0.91  0.96 / 0.95 / 0.95  0.97 / 0.95 / 0.94
60 % ones, else beta(4, 2)             0.91 / 0.93 / 0.94  0.88 / 0.92 / 0.93  0.92 / 0.94 / 0.94  0.95 / 0.95 / 0.95
90 % ones, else beta(4, 2)             0.97 / 0.90 / 0.89  0.96 / 0.89 / 0.90  0.97 / 0.93 / 0.93  0.96 / 0.94 / 0.93
fifths, 70 % of them 1                 0.88 / 0.90 / 0.93  0.87 / 0.89 / 0.94  0.89 / 0.92 / 0.95  0.98 / 0.94 / 0.95
lowest of 11 such distributions        0.88 / 0.90 / 0.89  0.85 / 0.89 / 0.90  0.87 / 0.91 / 0.93  0.92 / 0.93 / 0.93
=====================================  ==================  ==================  ==================  ==================

So there are six methods, and each interval names its method:

``wilson``
    Used if all values are ends of the scale, but for rounding, as 0/1 scores and pass rates are, even if all values are the same
    end. The interval is the Wilson score interval (Wilson 1927, JASA 22:209, p. 210). At a true rate of 0.95 and 20, 50, 100 rows
    it contains the true rate in 0.92, 0.96, 0.97 of samples; the t interval does in 0.64, 0.92, 0.88 (exact, from the binomial
    distribution).
``wilson-t``
    Used for other values on a scale with known ends. The interval is Wilson's, with the scores' own variance in place of the
    variance of 0/1 scores, and the t quantile of n - 1 degrees of freedom. It is Student's t, except that the variance is assumed
    to shrink towards the ends as it does for 0/1 scores. This means variance = r * mean * (1 - mean), with r estimated from the
    sample. Scores that hardly differ close to an end are assumed to differ a little more (`UNMET`). The design-based intervals for
    proportions do the same with an effective number of rows (Korn & Graubard 1998, Survey Methodology 24:193).
``constant``
    Used if all values are equal, but for rounding, and not an end of the scale. The sample shows no spread, but it does not show
    that there is none. Wilson's upper limit for an event not seen in n rows, z² / (n + z²), is the share of rows that may differ,
    and these may lie at either end. The interval is deliberately wide, because nothing in the sample shows how far other rows
    would lie.
``t``
    Used if the scale is not known. The interval is Student's t. With equal values there is no interval.
``cr2``
    Used if clusters are given. Rows that share a document, or repeats of one row, are similar, and the other methods would count
    them as more information than they are. The variance is CR2 and the degrees of freedom are Satterthwaite's (`clustered_mean`);
    on a known scale the interval has the form of ``wilson-t``. If all clusters have the same mean, ``constant`` or ``wilson`` is
    used with the number of clusters as the number of rows. A single cluster has no interval, because nothing shows how much
    clusters differ. With few clusters the interval is wide, and with two or three it is hardly of use.
``few-changes``
    Used if more than half of the clusters contain only values at the same end of the scale, and fewer than 50 contain anything
    else. The interval is a score interval (`FewChanges`). The t interval contains the true mean in as little as 0.82 of such
    samples.

One value has no interval. Without clusters all rows are assumed to be independent draws.

`clustered_mean` gives the variance of a mean over rows in clusters: CR2 with Satterthwaite's degrees of freedom.

Rows that share a document, an author or a conversation are similar, so they give less information than as many independent rows.
The cluster-robust variance CR2 (Bell & McCaffrey 2002, Survey Methodology 28:169) needs no model of this similarity. Unlike the
usual "sandwich", it is unbiased if rows are independent, also for few clusters. Its degrees of freedom are Satterthwaite's
(Pustejovsky & Tipton 2018, Journal of Business & Economic Statistics 36:672). For a mean both have closed forms. With N rows, n_g
of them in cluster g, w_g = n_g / N, and S_g the sum of the cluster's deviations from the mean,

    V = sum of S_g² / (1 - w_g) / N²        1 / df = sum of w_g² + (sum of u_g)² - sum of u_g²,  u_g = w_g² / (1 - w_g)

With clusters of one row each they are the ordinary variance of a mean and N - 1.

`FewChanges` gives an interval for a mean if most rows have the same value: a score interval, as Tango's is for passes and fails.

If 5 rows of 50 changed, all of them for the worse, Student's t estimates the spread of all rows from these five. Nominal 0.95
intervals of Student's t contain the true mean in 0.85 to 0.91 of such samples, and this interval in 0.94 to 0.98 (20,000 samples;
changes of one size, uniform, beta(2, 2) and beta(0.7, 2), of a claim lost and of a score halved).

A score interval asks of each supposed mean whether the data would be unusual if it were true, with the spread that the rows would
most likely have then. The most likely distribution is, of all distributions with this mean, the one that gives the observed rows
the largest probability (the empirical likelihood: Owen 2001, Empirical Likelihood, chapter 2). Its values may be those that were
observed and one more: the farthest value that may reasonably be expected. Without this value no mean beyond the observed values
could be supposed at all; in Wilson's and Tango's intervals it is the other end of the scale.

For changes of -1, 0 and 1 this is Tango's interval, and for equal values Wilson's z² / (n + z²). For clusters the spread is
scaled by the ratio of CR2 to the plain estimate, and the quantile is Student's.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property

from .._values._counts import grouped
from .._values._errors import InvalidInput
from ._distributions import beta_cdf, crossing, normal_quantile, t_quantile
from ._interval import (
    ROUNDING,
    Interval,
    Scale,
    check_clusters,
    check_confidence,
    check_scale,
    checked_values,
    scale_of,
    student_interval,
    unseen_interval,
    wilson,
)
from ._numbers import Numbers, exact_sum


@dataclass(frozen=True)
class ClusteredMean:
    """A mean over rows in two or more clusters.

    Attributes:
        mean: the mean over all rows, each counted once.
        variance: the CR2 variance of the mean.
        inflation: the CR2 variance divided by the plain one, which is too small for few clusters; 1 if both are 0.
        freedom: Satterthwaite's degrees of freedom of the variance, at least 1.
        units: for each sum of values and number of rows, how many clusters have them.
    """

    mean: float
    variance: float
    inflation: float
    freedom: float
    units: Counter[tuple[float, int]]


def units_of(values: Sequence[float] | Numbers, clusters: Sequence[Hashable]) -> Counter[tuple[float, int]]:
    """Return how many clusters have the same sum of values and the same number of rows, given the cluster of each value."""
    rows = grouped(zip(clusters, Numbers.of(values).pairs(), strict=True))
    each = (list(zip(*found, strict=True)) for found in rows.values())
    return Counter((exact_sum(sums, times), sum(times)) for sums, times in each)


def clustered_mean(units: Counter[tuple[float, int]]) -> ClusteredMean:
    """Return the mean over rows in clusters, of which there are two or more; ``units`` as in the result."""
    clusters = list(units.values())
    count = sum(rows * number for (_, rows), number in units.items())
    mean = exact_sum((total for total, _ in units), clusters) / count
    shares = [rows / count for _, rows in units]
    squares = [(total - mean * rows) ** 2 for total, rows in units]
    plain = exact_sum(squares, clusters)
    unbiased = exact_sum((square / (1 - share) for square, share in zip(squares, shares, strict=True)), clusters)
    leverage = [share * share / (1 - share) for share in shares]
    inverse = exact_sum((w * w for w in shares), clusters) + exact_sum(leverage, clusters) ** 2
    inverse -= exact_sum((u * u for u in leverage), clusters)
    return ClusteredMean(mean, unbiased / count**2, unbiased / plain if plain else 1.0, max(1 / inverse, 1.0), units)


FEW = 50
"""With this many changes or more, Student's t is as good, however many rows did not change."""


def reach_of(units: Counter[tuple[float, int]], most: float) -> tuple[float, float]:
    """Return the largest loss and the largest gain, as sums of changes, that can be expected of an unseen unit of average size.

    If units changed in a direction, its bound is (1 + 2 / k) times the largest mean change per row among the k changed units, in
    either direction, at most ``most``, times the average number of rows of a unit. For k changes drawn uniformly between 0 and
    any maximum, this bound reaches the maximum in 0.67 (k = 1) to 0.86 of cases.

    If no unit changed in a direction, changes in it are assumed to mirror those in the other direction: the sum of the squared
    sums of the units divided by the sum of their absolute values, at most the bound above. This gives about the same spread as
    flipping signs.

    Args:
        units: for each sum of changes and number of rows, how many units have them; at least one sum is not 0.
        most: the largest possible change of a row.
    """
    size = sum(rows * number for (_, rows), number in units.items()) / units.total()
    changed = {unit: number for unit, number in units.items() if unit[0]}
    numbers = list(changed.values())
    farthest = size * min(max(abs(total) / rows for total, rows in changed) * (1 + 2 / sum(numbers)), most)
    usual = exact_sum((total * total for total, _ in changed), numbers)
    usual /= exact_sum((abs(total) for total, _ in changed), numbers)
    worse = farthest if any(total < 0 for total, _ in changed) else min(usual, farthest)
    better = farthest if any(total > 0 for total, _ in changed) else min(usual, farthest)
    return -worse, better


@dataclass(frozen=True)
class FewChanges:
    """A score interval for the mean of units (rows, or clusters of rows), most of which have the same value.

    Attributes:
        units: for each pair of a sum of values and a number of rows, how many units have it.
        reach: the lowest and the highest sum that an unseen unit of average size may have.
        inflation: the unbiased variance divided by the plain one.
        unmet: the additional variance of a unit through rare, large changes, which few changes do not show.
    """

    units: Counter[tuple[float, int]]
    reach: tuple[float, float]
    inflation: float
    unmet: float = 0.0

    @cached_property
    def _rows(self) -> int:
        return sum(size * count for (_, size), count in self.units.items())

    @cached_property
    def mean(self) -> float:
        """The mean over all rows."""
        return math.fsum(total * count for (total, _), count in self.units.items()) / self._rows

    def limits(self, quantile: float) -> tuple[float, float]:
        """Return the lowest and the highest mean from which the observed mean is at most ``quantile`` standard errors away."""

        def excess(mean: float) -> float:
            return self.distance(mean) ** 2 - quantile**2

        size = self._rows / self.units.total()
        ratios = [total / rows for total, rows in self.units]
        lowest, highest = min(self.reach[0] / size, *ratios), max(self.reach[1] / size, *ratios)
        return crossing(excess, lowest, self.mean), crossing(excess, self.mean, highest)

    def distance(self, mean: float) -> float:
        """Return the absolute distance of the observed mean from a supposed mean, in standard errors."""
        side = 1 if self.mean >= mean else -1
        away = [(side * (total - mean * size), count) for (total, size), count in self.units.items()]
        number = self.units.total()
        observed = math.fsum(value * count for value, count in away) / number
        if observed <= 0:
            return 0.0
        unseen = side * (mean * self._rows / number - self.reach[0 if side > 0 else 1])
        variance = self.inflation * _likely_variance(away, max(unseen, 0.0), number) + self.unmet
        return observed / math.sqrt(variance / number) if variance > 0 else math.inf


def _likely_variance(away: list[tuple[float, int]], unseen: float, number: int) -> float:
    """Return the variance of the most likely distribution with mean 0, for values with a mean above 0.

    Its weights are 1 / (number * (1 + m * value)) with one multiplier m. The unseen value at -unseen may have no negative weight,
    which limits m. If it does limit m, the unseen value gets the weight that the other values leave.

    Args:
        away: each value, with how often it occurs.
        unseen: the distance of the unseen value below 0.
        number: the number of values.
    """
    lowest = -min(value for value, _ in away)

    def pull(multiplier: float) -> float:
        return math.fsum(count * value / (1 + multiplier * value) for value, count in away)

    most = (1 - 1 / number) / lowest if lowest > 0 else math.inf
    held_back = unseen > 0 and 1 / unseen < most and pull(1 / unseen) >= 0
    if most == math.inf and not held_back:
        return 0.0
    multiplier = 1 / unseen if held_back else crossing(pull, 0.0, min(most, 1 / unseen) if unseen > 0 else most)
    weights = [(value, count / (number * (1 + multiplier * value))) for value, count in away]
    rest = max(1 - math.fsum(weight for _, weight in weights), 0.0) if held_back else 0.0
    return math.fsum(weight * value * value for value, weight in weights) + rest * unseen * unseen


UNMET = 0.01
"""Sets the smallest variance of scores on a known scale: one row in a hundred times the square root of the number of rows is
assumed at the far end, where few rows have not shown it. This matters only close to an end of the scale, where scores hardly
differ. With scores of beta(4.9, 0.1) and 15, 30, 100 rows, intervals contain the true mean in 0.97, 0.98, 0.94 of samples, and
without this variance in 0.82, 0.86, 0.93; the intervals of beta(8, 2) stay the same.
"""


def mean_of(values: Sequence[float] | Numbers) -> float | None:
    """Return the mean, rounded once; None if there are no values."""
    return Numbers.of(values).mean if len(values) else None


def mean_interval(
    values: Sequence[float] | Numbers,
    clusters: Sequence[Hashable] | None = None,
    scale: tuple[float, float] | None = None,
    confidence: float = 0.95,
) -> Interval | None:
    """Return an interval for the mean of the population from which the values are a sample.

    The documentation of the module `ragmetrics_core.statistics._means` describes the methods and their sources.

    Args:
        values: the scores, finite and on the scale.
        clusters: for each value what it shares with others, such as the name of its document: any hashable value. None if the
            rows are independent.
        scale: the lowest and the highest possible score, in this order; None if they are not known. The scale of True and False
            is 0 to 1.
        confidence: the confidence level of the interval, above 0 and below 1.

    Returns:
        The interval, which is inside the scale and contains the mean of the values. None for fewer than two values, for equal
        values on an unknown scale, for a scale of a single point, and for a single cluster.

    Raises:
        InvalidInput: if a value is not finite or not on the scale, if a row has no cluster, or if confidence or scale are
            impossible.
    """
    numbers, scale = checked_numbers(values, clusters, scale, confidence)
    one_point = scale is not None and scale[0] == scale[1]
    one_cluster = clusters is not None and len(set(clusters)) == 1
    enough = len(numbers) > 1 and not one_point and not one_cluster
    return _interval_of(numbers, clusters, scale, confidence) if enough else None


def checked_numbers(
    values: Sequence[float] | Numbers, clusters: Sequence[Hashable] | None, scale: Scale, confidence: float
) -> tuple[Numbers, Scale]:
    """Return the values and their scale, after checking the arguments of ``mean_interval``. ``Numbers`` were checked before.

    Raises:
        InvalidInput: as ``mean_interval``.
    """
    check_confidence(confidence)
    check_scale(scale)
    if not isinstance(values, Numbers):
        scale = scale_of(values, scale)
        values = Numbers(checked_values("values", values, scale))
    check_clusters(clusters, len(values))
    return values, scale


def _interval_of(
    numbers: Numbers, clusters: Sequence[Hashable] | None, scale: Scale, confidence: float
) -> Interval | None:
    """Return the interval of values that were already checked, of which there are enough."""
    count, mean = len(numbers), numbers.mean
    near = ROUNDING * (scale[1] - scale[0] if scale else max(abs(numbers.low), abs(numbers.high)))
    moments = None
    if clusters is not None and len(set(clusters)) < count:
        moments = clustered_mean(units_of(numbers.values, clusters))
    units = moments.units.total() if moments else count
    equal = moments.variance <= near * near if moments else numbers.high - numbers.low <= near
    z2 = normal_quantile((1 + confidence) / 2) ** 2
    if scale is not None and (equal or not moments) and numbers.at_ends(scale):
        return wilson(mean, z2 / units, scale)
    if equal:
        return unseen_interval(mean, units, scale, z2)
    if moments is None:
        variance = numbers.squares(mean) / (count - 1)
        if scale is not None:
            variance = max(variance, UNMET * max(mean - scale[0], scale[1] - mean) ** 2 / math.sqrt(count))
        return student_interval(mean, variance / count, t_quantile((1 + confidence) / 2, count - 1), scale, "t")
    quantile = t_quantile((1 + confidence) / 2, moments.freedom)
    if clusters is not None and scale is not None and _at_one_end(numbers.values, clusters, scale):
        size = count / units
        few = FewChanges(moments.units, (scale[0] * size, scale[1] * size), moments.inflation)
        low, high = few.limits(quantile)
        return Interval(max(low, scale[0]), min(high, scale[1]), "few-changes")
    return student_interval(mean, moments.variance, quantile, scale, "cr2")


def _at_one_end(values: Sequence[float], clusters: Sequence[Hashable], scale: tuple[float, float]) -> bool:
    """Whether more than half of the clusters contain only values at one end of the scale, the same end for all of them."""
    near, number = ROUNDING * (scale[1] - scale[0]), len(set(clusters))
    rows = list(zip(values, clusters, strict=True))
    others = ({cluster for value, cluster in rows if abs(value - end) > near} for end in scale)
    return any(2 * len(found) < number and len(found) < FEW for found in others)


def rate_interval(hits: int, count: int, confidence: float = 0.95) -> Interval | None:
    """Return the Wilson score interval for a rate of hits in count; None if count is below two, as for a mean.

    Source: Wilson 1927, Journal of the American Statistical Association 22:209, p. 210.

    Args:
        hits: the number of hits, from 0 to count.
        count: the number of trials.
        confidence: the confidence level of the interval, above 0 and below 1.

    Raises:
        InvalidInput: if hits is not between 0 and count, or if confidence is impossible.
    """
    check_confidence(confidence)
    if not 0 <= hits <= count:
        raise InvalidInput(f"hits must lie between 0 and count, got {hits} of {count}: give the hits among the trials")
    if count < 2:
        return None
    return wilson(hits / count, normal_quantile((1 + confidence) / 2) ** 2 / count, (0.0, 1.0))


def rate_mid_p(hits: int, count: int, rate: float) -> float:
    """Return the one-sided mid-p value of "the rate is at least this": the probability of fewer hits, plus half the probability
    of exactly as many.

    The probability of as many or fewer hits is at most twice this value.

    Source: Lancaster 1961, Journal of the American Statistical Association 56:223 (mid-p); the binomial distribution as a beta
    distribution: Abramowitz & Stegun 1964, 26.5.24.

    Args:
        hits: the number of hits, from 0 to count.
        count: the number of trials, from 1.
        rate: the supposed rate, from 0 to 1.
    """
    at_most = beta_cdf(1 - rate, count - hits, hits + 1) if hits < count else 1.0
    fewer = beta_cdf(1 - rate, count - hits + 1, hits) if hits else 0.0
    return (at_most + fewer) / 2


def larger_rate_mid_p(hits: int, count: int, other_hits: int, other_count: int) -> float:
    """Return the one-sided mid-p value of "the first of two rates is not larger": the probability of more hits in the first sample,
    plus half the probability of exactly as many, if all hits are spread at random over both samples.

    Source: Fisher 1935, The Design of Experiments, section 21 (exact test); Lancaster 1961, JASA 56:223 (mid-p).
    """
    total = hits + other_hits
    ways = math.comb(count + other_count, total)
    weights = {hits: 0.5, **dict.fromkeys(range(hits + 1, min(total, count) + 1), 1.0)}
    return sum(
        weight * (math.comb(count, k) * math.comb(other_count, total - k) / ways) for k, weight in weights.items()
    )

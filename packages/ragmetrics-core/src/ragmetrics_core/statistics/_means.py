"""How sure a mean is: intervals that hold for few rows and for scores crowded at one end of their scale.

Scores are bounded and often skewed: most answers are perfect and a few are bad. A plain t interval is symmetric around the mean
and knows nothing of the ends, so it misses the truth too often exactly there; a bootstrap of 10 or 20 rows is mostly
too narrow. Share of intervals that contain the true mean, at n = 10, 20, 50 rows (simulated, 20,000 runs; bootstraps of 999
resamples, 4,000 runs; nominal 0.95; samples with no spread, or with 0 and 1 alone, treated as below in all columns):

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

So there are six methods, and each interval says which one made it:

``wilson``
    All values are ends of the scale, but for rounding, as with 0/1 scores and pass rates: the Wilson score interval (Wilson
    1927, JASA 22:209, p. 210). Also when all values are one and the same end. At a true rate of 0.95 and 20, 50, 100 rows it
    holds in 0.92, 0.96, 0.97 of samples; the t interval in 0.64, 0.92, 0.88 (exact, from the binomial distribution).
``wilson-t``
    Other values on a scale with known ends: Wilson's interval with the scores' own variance in place of that of 0/1 scores, and
    the t quantile of n - 1 degrees of freedom. That is Student's t, except that the variance is taken to shrink towards the ends
    as it does for 0/1 scores: variance = r * mean * (1 - mean), with r estimated from the sample. Scores that hardly
    differ close to an end are taken to differ a little more (`UNMET`). The design-based intervals for
    proportions do the same with an effective number of rows (Korn & Graubard 1998, Survey Methodology 24:193).
``constant``
    All values are equal, but for rounding, and no end of the scale. The sample shows no spread, which is not the same as none:
    Wilson's upper limit for an event not seen in n rows, z² / (n + z²), is the share of rows that may differ, and they may lie
    at either end. Deliberately wide: nothing in the sample says how far other rows would lie.
``t``
    The scale is not known: Student's t. With equal values there is no interval.
``cr2``
    Clusters are given: rows that share a document, or repeats of one row, are alike, and the other methods would take them for
    more than they are. The variance is CR2 and the degrees of freedom are Satterthwaite's (`clustered_mean`); on a known scale in
    the form of ``wilson-t``. Where all clusters have the same mean, ``constant`` or ``wilson`` with as many rows as there are
    clusters. A single cluster has no interval: nothing tells how far another one would lie. Few clusters have wide intervals, and
    those of two or three are hardly of use.
``few-changes``
    More than half of the clusters have nothing but the same end of the scale, and fewer than 50 have anything else: a score
    interval (`FewChanges`). The t interval holds in as little as 0.82 of such samples.

One value has no interval. Without clusters all rows are taken to be independent draws.

The variance of a mean over rows in clusters (`clustered_mean`): CR2 with Satterthwaite's degrees of freedom.

Rows that share a document, an author or a conversation are alike, so that they tell less than as many independent rows. The
cluster-robust variance CR2 (Bell & McCaffrey 2002, Survey Methodology 28:169) needs no model of that likeness and is, unlike the
usual "sandwich", unbiased where rows are independent, also for few clusters; its degrees of freedom are Satterthwaite's
(Pustejovsky & Tipton 2018, Journal of Business & Economic Statistics 36:672). For a mean both have closed forms: with N rows,
n_g of them in cluster g, w_g = n_g / N, and S_g the sum of the cluster's deviations from the mean,

    V = sum of S_g² / (1 - w_g) / N²        1 / df = sum of w_g² + (sum of u_g)² - sum of u_g²,  u_g = w_g² / (1 - w_g)

With clusters of one row each they are the ordinary variance of a mean and N - 1.

An interval for a mean where most rows have the same value (`FewChanges`): a score interval, as Tango's is for passes and fails.

Where 5 rows of 50 changed, all of them for the worse, Student's t estimates the spread of all rows from these five: it holds in
0.85 to 0.91 of such samples where 0.95 is asked for, and this interval in 0.94 to 0.98 (20,000 samples; changes of one size,
uniform, beta(2, 2) and beta(0.7, 2), of a claim lost and of a score halved).

A score interval asks of each supposed mean whether the data would be odd if it were true, with the spread that the rows would most
likely have then. Most likely is, of all distributions with that mean, the one that gives the observed rows the largest probability
(the empirical likelihood: Owen 2001, Empirical Likelihood, chapter 2). It may lie on what was observed, and on one value more that
was not: the farthest that may reasonably be expected. Without it no mean beyond the observed values could be supposed at all; in
Wilson's and Tango's intervals it is the other end of the scale.

On changes of -1, 0 and 1 this is Tango's interval, and on equal values Wilson's z² / (n + z²). For clusters the spread is scaled by
what CR2 adds to the plain estimate, and the quantile is Student's.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property

from .._values._errors import InvalidInput
from ._distributions import beta_cdf, crossing, normal_quantile, t_quantile
from ._interval import (
    ROUNDING,
    Interval,
    at_ends,
    check_clusters,
    check_confidence,
    check_scale,
    checked_values,
    scale_of,
    student_interval,
    unseen_interval,
    wilson,
)


@dataclass(frozen=True)
class ClusteredMean:
    """A mean over rows in two or more clusters.

    Attributes:
        mean: over all rows, each counted once.
        variance: of that mean, CR2.
        inflation: that variance over the plain one, which is too small for few clusters; 1 where both are 0.
        freedom: Satterthwaite's degrees of freedom of the variance, at least 1.
        clusters: of each cluster the sum of its values and the number of its rows.
    """

    mean: float
    variance: float
    inflation: float
    freedom: float
    clusters: tuple[tuple[float, int], ...]


def clustered_mean(values: Sequence[float], clusters: Sequence[Hashable]) -> ClusteredMean:
    """The mean of values, with the cluster of each; of two or more clusters."""
    count = len(values)
    mean = math.fsum(values) / count
    rows: defaultdict[Hashable, list[float]] = defaultdict(list)
    for value, cluster in zip(values, clusters, strict=True):
        rows[cluster].append(value)
    shares = [len(found) / count for found in rows.values()]
    squares = [math.fsum(value - mean for value in found) ** 2 for found in rows.values()]
    plain = math.fsum(squares)
    unbiased = math.fsum(square / (1 - share) for square, share in zip(squares, shares, strict=True))
    leverage = [share * share / (1 - share) for share in shares]
    inverse = math.fsum(w * w for w in shares) + math.fsum(leverage) ** 2 - math.fsum(u * u for u in leverage)
    sums = tuple((math.fsum(found), len(found)) for found in rows.values())
    return ClusteredMean(mean, unbiased / count**2, unbiased / plain if plain else 1.0, max(1 / inverse, 1.0), sums)


FEW = 50
"""From so many changes on Student's t is as good, however many rows did not change."""


def reach_of(units: Sequence[tuple[float, int]], most: float) -> tuple[float, float]:
    """The farthest sums for the worse and for the better that an unseen unit of average size may be expected to have.

    Where there was any in a direction, the largest of all k mean changes and 2 / k of it beyond: of k draws from one to any largest
    value, all as likely, that reaches the latter in 0.67 (k = 1) to 0.86 of cases. Where there was none, they are taken to be like
    the others, turned round: the mean square of these over their mean, which gives about the spread that flipping signs gives.

    Args:
        units: of each the sum of its changes and its number of rows; at least one sum is not 0.
        most: farther than that no row can change.
    """
    size = sum(rows for _, rows in units) / len(units)
    changed = [(total, rows) for total, rows in units if total]
    farthest = size * min(max(abs(total) / rows for total, rows in changed) * (1 + 2 / len(changed)), most)
    usual = math.fsum(total * total for total, _ in changed) / math.fsum(abs(total) for total, _ in changed)
    worse = farthest if any(total < 0 for total, _ in changed) else min(usual, farthest)
    better = farthest if any(total > 0 for total, _ in changed) else min(usual, farthest)
    return -worse, better


@dataclass(frozen=True)
class FewChanges:
    """Units (rows, or clusters of rows), most of which have the same value.

    Attributes:
        units: how often there is a unit with this sum of values and this number of rows.
        reach: lowest and highest sum that an unseen unit of average size may have.
        inflation: unbiased over plain variance.
        unmet: the variance of a unit that rare, large changes add, which few changes have not met.
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
        """Of all rows."""
        return math.fsum(total * count for (total, _), count in self.units.items()) / self._rows

    def limits(self, quantile: float) -> tuple[float, float]:
        """The lowest and the highest mean from which the observed one is at most so many standard errors away."""

        def excess(mean: float) -> float:
            return self.distance(mean) ** 2 - quantile**2

        size = self._rows / self.units.total()
        ratios = [total / rows for total, rows in self.units]
        lowest, highest = min(self.reach[0] / size, *ratios), max(self.reach[1] / size, *ratios)
        return crossing(excess, lowest, self.mean), crossing(excess, self.mean, highest)

    def distance(self, mean: float) -> float:
        """How many standard errors the observed mean lies from a supposed one, without a sign."""
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
    """The variance of the likeliest distribution with mean 0, where the values have a mean above 0.

    Its weights are 1 / (number * (1 + m * value)) with one multiplier m. That is held back by the unseen value at -unseen, which
    may have no negative weight; where it holds m back, it has what weight the others leave.

    Args:
        away: values, and how often there is each.
        unseen: how far below 0 the unseen value lies.
        number: how many values there are.
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
"""The least variance of scores on a known scale: one row in a hundred times the square root of their number lies at the far end,
and few rows have not met it. It counts only close to an end of the scale, where scores hardly differ. With scores of
beta(4.9, 0.1) and 15, 30, 100 rows intervals hold in 0.97, 0.98, 0.94 of samples, and in 0.82, 0.86, 0.93 without it; those of
beta(8, 2) are the same."""


def mean_of(values: Sequence[float]) -> float | None:
    """The mean, rounded once; None where there are no values."""
    return math.fsum(values) / len(values) if values else None


def mean_interval(
    values: Sequence[float],
    clusters: Sequence[Hashable] | None = None,
    scale: tuple[float, float] | None = None,
    confidence: float = 0.95,
) -> Interval | None:
    """An interval for the mean that the values are a sample of.

    Which method is used, and where each comes from, says the module `ragmetrics_core.statistics`.

    Args:
        values: the scores, finite, inside the scale.
        clusters: for each value what it shares with others, such as the name of its document: any hashable value. None if the rows
            are independent.
        scale: lowest and highest possible score, the lowest first; None if they are not known. That of True and False is 0 to 1.
        confidence: how often such intervals hold, above 0 and below 1.

    Returns:
        The interval: inside the scale, with the mean of the values in it. None for fewer than two values, for equal values on
        an unknown scale, for a scale of a single point, and for a single cluster.

    Raises:
        InvalidInput: if a value is not finite or not on the scale, if a row has no cluster, or if confidence or
            scale are impossible.
    """
    check_confidence(confidence)
    check_scale(scale)
    scale = scale_of(values, scale)
    values = checked_values("values", values, scale)
    check_clusters(clusters, len(values))
    one_point = scale is not None and scale[0] == scale[1]
    one_cluster = clusters is not None and len(set(clusters)) == 1
    enough = len(values) > 1 and not one_point and not one_cluster
    return _interval_of(values, clusters, scale, confidence) if enough else None


def _interval_of(
    values: Sequence[float], clusters: Sequence[Hashable] | None, scale: tuple[float, float] | None, confidence: float
) -> Interval | None:
    """The same of values that were checked, of which there are enough."""
    count, mean = len(values), math.fsum(values) / len(values)
    near = ROUNDING * (scale[1] - scale[0] if scale else max(map(abs, values)))
    found = clustered_mean(values, clusters) if clusters is not None and len(set(clusters)) < count else None
    units = len(found.clusters) if found else count
    equal = found.variance <= near * near if found else max(values) - min(values) <= near
    z2 = normal_quantile((1 + confidence) / 2) ** 2
    if scale is not None and (equal or not found) and at_ends(values, scale):
        return wilson(mean, z2 / units, scale)
    if equal:
        return unseen_interval(mean, units, scale, z2)
    if found is None:
        variance = math.fsum((value - mean) ** 2 for value in values) / (count - 1)
        if scale is not None:
            variance = max(variance, UNMET * max(mean - scale[0], scale[1] - mean) ** 2 / math.sqrt(count))
        return student_interval(mean, variance / count, t_quantile((1 + confidence) / 2, count - 1), scale, "t")
    quantile = t_quantile((1 + confidence) / 2, found.freedom)
    if clusters is not None and scale is not None and _at_one_end(values, clusters, scale):
        size = count / units
        few = FewChanges(Counter(found.clusters), (scale[0] * size, scale[1] * size), found.inflation)
        low, high = few.limits(quantile)
        return Interval(max(low, scale[0]), min(high, scale[1]), "few-changes")
    return student_interval(mean, found.variance, quantile, scale, "cr2")


def _at_one_end(values: Sequence[float], clusters: Sequence[Hashable], scale: tuple[float, float]) -> bool:
    """Whether more than half of the clusters have nothing but the same end of the scale."""
    near, number = ROUNDING * (scale[1] - scale[0]), len(set(clusters))
    rows = list(zip(values, clusters, strict=True))
    others = ({cluster for value, cluster in rows if abs(value - end) > near} for end in scale)
    return any(2 * len(found) < number and len(found) < FEW for found in others)


def rate_interval(hits: int, count: int, confidence: float = 0.95) -> Interval | None:
    """The Wilson score interval for a rate of hits in count; None if count is below two, as for a mean.

    Source: Wilson 1927, Journal of the American Statistical Association 22:209, p. 210.

    Args:
        hits: how many there were, from 0 to count.
        count: out of how many.
        confidence: how often such intervals hold, above 0 and below 1.

    Raises:
        InvalidInput: if there are more hits than there can be, or if confidence is impossible.
    """
    check_confidence(confidence)
    if not 0 <= hits <= count:
        raise InvalidInput(f"hits must lie between 0 and count, got {hits} of {count}: give how many of how many")
    if count < 2:
        return None
    return wilson(hits / count, normal_quantile((1 + confidence) / 2) ** 2 / count, (0.0, 1.0))


def rate_mid_p(hits: int, count: int, rate: float) -> float:
    """The one-sided mid-p value of "the rate is at least this": the chance of fewer hits, and half that of just as many.

    The chance of as many or fewer is at most twice that.

    Source: Lancaster 1961, Journal of the American Statistical Association 56:223 (mid-p); the binomial distribution as a beta
    distribution: Abramowitz & Stegun 1964, 26.5.24.

    Args:
        hits: how many there were, from 0 to count.
        count: out of how many, from 1.
        rate: from 0 to 1.
    """
    at_most = beta_cdf(1 - rate, count - hits, hits + 1) if hits < count else 1.0
    fewer = beta_cdf(1 - rate, count - hits + 1, hits) if hits else 0.0
    return (at_most + fewer) / 2

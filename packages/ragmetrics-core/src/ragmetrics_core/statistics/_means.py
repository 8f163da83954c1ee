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
    more than they are. The variance is CR2 and the degrees of freedom are Satterthwaite's (`_clusters`); on a known scale in the
    form of ``wilson-t``. Where all clusters have the same mean, ``constant`` or ``wilson`` with as many rows as there are
    clusters. A single cluster has no interval: nothing tells how far another one would lie. Few clusters have wide intervals, and
    those of two or three are hardly of use.
``few-changes``
    More than half of the clusters have nothing but the same end of the scale, and fewer than 50 have anything else: a score
    interval, on which `_few_changes` tells more. The t interval holds in as little as 0.82 of such samples.

One value has no interval. Without clusters all rows are taken to be independent draws.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence

from .._kernel._errors import InvalidInput
from ._checks import check_clusters, check_confidence, check_scale, checked_values, scale_of
from ._clusters import clustered_mean
from ._distributions import normal_quantile, t_quantile
from ._few_changes import FEW, FewChanges
from ._interval import ROUNDING, Interval, on_scale
from ._score_form import score_limits, share_of, student_interval, unseen_interval

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
    if (
        len(values) < 2
        or (scale is not None and scale[0] == scale[1])
        or (clusters is not None and len(set(clusters)) == 1)
    ):
        return None
    if clusters is not None and len(set(clusters)) < len(values):
        return _of_clusters(values, clusters, scale, confidence)
    count, mean = len(values), math.fsum(values) / len(values)
    z2 = normal_quantile((1 + confidence) / 2) ** 2
    if scale is not None and _at_ends(values, scale):
        return on_scale(*score_limits(share_of(mean, scale), z2 / count), mean, scale, "wilson")
    if _equal(values, scale):
        return unseen_interval(mean, count, scale, z2)
    variance = math.fsum((value - mean) ** 2 for value in values) / (count - 1)
    if scale is not None:
        variance = max(variance, UNMET * max(mean - scale[0], scale[1] - mean) ** 2 / math.sqrt(count))
    return student_interval(mean, variance / count, t_quantile((1 + confidence) / 2, count - 1), scale, "t")


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
    z2 = normal_quantile((1 + confidence) / 2) ** 2
    return on_scale(*score_limits(hits / count, z2 / count), hits / count, (0.0, 1.0), "wilson")


def _of_clusters(
    values: Sequence[float], clusters: Sequence[Hashable], scale: tuple[float, float] | None, confidence: float
) -> Interval | None:
    found = clustered_mean(values, clusters)
    near = ROUNDING * (scale[1] - scale[0] if scale else max(abs(value) for value in values))
    if found.variance <= near * near:
        z2 = normal_quantile((1 + confidence) / 2) ** 2
        if scale is not None and _at_ends(values, scale):
            spread = z2 / len(found.clusters)
            return on_scale(*score_limits(share_of(found.mean, scale), spread), found.mean, scale, "wilson")
        return unseen_interval(found.mean, len(found.clusters), scale, z2)
    quantile = t_quantile((1 + confidence) / 2, found.freedom)
    if scale is not None and _at_one_end(values, clusters, scale):
        size = len(values) / len(found.clusters)
        few = FewChanges(Counter(found.clusters), (scale[0] * size, scale[1] * size), found.inflation)
        low, high = few.limits(quantile)
        return Interval(max(low, scale[0]), min(high, scale[1]), "few-changes")
    return student_interval(found.mean, found.variance, quantile, scale, "cr2")


def _at_one_end(values: Sequence[float], clusters: Sequence[Hashable], scale: tuple[float, float]) -> bool:
    """Whether more than half of the clusters have nothing but the same end of the scale."""
    near, number = ROUNDING * (scale[1] - scale[0]), len(set(clusters))
    others = (
        {cluster for value, cluster in zip(values, clusters, strict=True) if abs(value - end) > near} for end in scale
    )
    return any(2 * len(found) < number and len(found) < FEW for found in others)


def _at_ends(values: Sequence[float], scale: tuple[float, float]) -> bool:
    low, high = scale
    near = ROUNDING * (high - low)
    return all(value - low <= near or high - value <= near for value in values)


def _equal(values: Sequence[float], scale: tuple[float, float] | None) -> bool:
    least, most = min(values), max(values)
    return most - least <= ROUNDING * (scale[1] - scale[0] if scale else max(-least, most))

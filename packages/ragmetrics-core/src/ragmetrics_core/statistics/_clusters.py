"""The variance of a mean over rows that come in clusters: CR2 with Satterthwaite's degrees of freedom.

Rows that share a document, an author or a conversation are alike, so that they tell less than as many independent rows. The
cluster-robust variance CR2 (Bell & McCaffrey 2002, Survey Methodology 28:169) needs no model of that likeness and is, unlike the
usual "sandwich", unbiased where rows are independent, also for few clusters; its degrees of freedom are Satterthwaite's
(Pustejovsky & Tipton 2018, Journal of Business & Economic Statistics 36:672). For a mean both have closed forms: with N rows,
n_g of them in cluster g, w_g = n_g / N, and S_g the sum of the cluster's deviations from the mean,

    V = sum of S_g² / (1 - w_g) / N²        1 / df = sum of w_g² + (sum of u_g)² - sum of u_g²,  u_g = w_g² / (1 - w_g)

With clusters of one row each they are the ordinary variance of a mean and N - 1.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

__all__ = ["ClusteredMean", "clustered_mean"]


@dataclass(frozen=True)
class ClusteredMean:
    """A mean over rows in clusters.

    Attributes:
        mean: over all rows, each counted once.
        variance: of that mean, CR2; None for a single cluster.
        freedom: Satterthwaite's degrees of freedom of that variance, at least 1; None for a single cluster.
        clusters: how many there are.
    """

    mean: float
    variance: float | None
    freedom: float | None
    clusters: int


def clustered_mean(values: Sequence[float], clusters: Sequence[Hashable]) -> ClusteredMean:
    """The mean of one or more values, with the cluster of each."""
    count = len(values)
    mean = math.fsum(values) / count
    rows: defaultdict[Hashable, list[float]] = defaultdict(list)
    for value, cluster in zip(values, clusters, strict=True):
        rows[cluster].append(value - mean)
    if len(rows) == 1:
        return ClusteredMean(mean, None, None, 1)
    shares = [len(found) / count for found in rows.values()]
    sums = [math.fsum(found) for found in rows.values()]
    variance = math.fsum(s * s / (1 - w) for s, w in zip(sums, shares, strict=True)) / count**2
    leverage = [w * w / (1 - w) for w in shares]
    inverse = math.fsum(w * w for w in shares) + math.fsum(leverage) ** 2 - math.fsum(u * u for u in leverage)
    return ClusteredMean(mean, variance, max(1 / inverse, 1.0), len(rows))

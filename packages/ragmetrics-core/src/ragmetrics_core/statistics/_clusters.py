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
    return ClusteredMean(
        mean=mean,
        variance=unbiased / count**2,
        inflation=unbiased / plain if plain else 1.0,
        freedom=max(1 / inverse, 1.0),
        clusters=tuple((math.fsum(found), len(found)) for found in rows.values()),
    )

"""How sure a difference between two runs over the same rows is.

Rows that are hard in one run are hard in the other, so the runs are compared row by row: what counts is how much the changes differ
from row to row, not how much the scores do. Five methods; each interval says which one made it:

``tango``
    All scores are ends of the scale, as passes and fails are: Tango's score interval, and the mid-p test of McNemar
    (`_binary_pairs`).
``t``
    Other scores: Student's t of the changes. The p-value is that of the t test, and where at most 12 pairs changed it is exact: the
    share of all ways to flip the signs of the changes that lead as far from 0 (`_sign_flips`).
``few-changes``
    Fewer than half of the pairs changed, and fewer than 50: a score interval for other scores, on which `_few_changes` tells more.
    The p-value is exact as above, or that of the score test.
``constant``
    All pairs changed alike, most often not at all. That shows no spread, which is not the same as none: as for a mean of equal
    values, a share of z² / (n + z²) of all rows may change otherwise, by as much as the scale allows in either direction. So equal
    pairs never have the interval [0, 0]. The p-value is exact; it is 1 if nothing changed. Without a scale there is no interval.
``cr2``
    Clusters are given: Student's t with the variance CR2 and Satterthwaite's degrees of freedom (`_clusters`). Where fewer than
    half of the clusters changed, and fewer than 50, ``few-changes`` takes clusters for rows, and also where fewer than half of the
    rows changed and all clusters that did went the same way. Where all clusters changed alike on average, ``constant`` does. A
    single cluster has no interval: nothing tells how far another one would lie.

The p-value and the interval agree where they come from the same test: always for ``cr2``, for ``t`` and ``few-changes`` where more
than 12 pairs changed (or clusters, for ``few-changes``). An exact p-value may exceed 0.05 while the interval lies just beside 0, or
the other way round, and so may the one of McNemar, which looks at changed pairs alone. The exact one of ``constant`` is tiny where
many pairs changed by the very same amount, while the interval allows for what they do not show. Where the two disagree, nothing can
be said.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from ._binary_pairs import mcnemar_mid_p, tango_limits
from ._changes import Changes, changes_of
from ._checks import check_confidence
from ._clusters import clustered_mean
from ._distributions import normal_quantile, t_quantile, t_two_sided
from ._few_changes import FEW, FewChanges, reach_of
from ._interval import Interval
from ._paired_difference import PairedDifference
from ._rows_needed import spread_of
from ._sign_flips import MOST_FLIPPED, sign_flip_p

UNMET = 0.3
"""Of a unit that changes by the whole scale, which few smaller changes have not met. Where 10 % of 50 to 120 rows change, a fifth
of them by 1 and the others by 0.2, intervals hold in 0.86 to 0.99 of samples with it, and in 0.85 to 0.88 without; those of changes
of at most a half are 2 to 9 % wider with it."""


@dataclass(frozen=True)
class _Units:
    """What is independent of each other: rows, or clusters of rows.

    Attributes:
        sums: the sum of the changes and the number of rows, of each unit.
        changed: in how many of them a row changed.
        variance: of the mean change; 0 if all have the same mean.
        inflation: for clusters, that variance over the plain one.
        freedom: degrees of freedom of the variance.
        method: the usual method for such units.
    """

    sums: Sequence[tuple[float, int]]
    changed: int
    variance: float
    inflation: float
    freedom: float
    method: str


def paired_difference(
    before: Sequence[float],
    after: Sequence[float],
    clusters: Sequence[Hashable] | None = None,
    scale: tuple[float, float] | None = None,
    confidence: float = 0.95,
) -> PairedDifference:
    """How much better or worse the same rows are after a change than before it, and how sure that is.

    Args:
        before: one score for each row, finite, inside the scale.
        after: the scores of the same rows in the same order.
        clusters: for each row what it shares with others, such as the name of its document: any hashable value. None if the rows
            are independent.
        scale: lowest and highest possible score, the lowest first; None if they are not known. That of True and False is 0 to 1.
        confidence: how often such intervals hold, above 0 and below 1.

    Raises:
        InvalidInput: if the two differ in length or are empty, if a value is not finite or not on the scale, if a row has no
            cluster, or if confidence or scale are impossible.
    """
    check_confidence(confidence)
    changes = changes_of(before, after, clusters, scale)
    interval, p_value, spread, problem = None, None, None, None
    if len(changes.values) < 2:
        problem = "a single pair does not tell how much others differ"
    elif changes.width == 0:
        problem = "the scale is a single point, on which nothing can differ"
    elif changes.number_of_clusters == 1:
        problem = "all rows are of one cluster, which does not tell how much others differ"
    else:
        units = _units(changes)
        interval, p_value = _interval_and_p(changes, units, confidence)
        spread = spread_of(changes.values, units.variance, len(units.sums))
        problem = None if interval else "all rows changed alike, and without a scale nothing tells how much others may"
    return PairedDifference(
        difference=changes.mean,
        interval=interval,
        p_value=p_value,
        method=interval.method if interval else "none",
        pairs=len(changes.values),
        changed=changes.changed,
        clusters=changes.number_of_clusters,
        problem=problem,
        _spread=spread,
        _confidence=confidence,
    )


def _units(changes: Changes) -> _Units:
    count = len(changes.values)
    if changes.clusters is not None and len(set(changes.clusters)) < count:
        found = clustered_mean(changes.values, changes.clusters)
        changed = {cluster for cluster, value in zip(changes.clusters, changes.values, strict=True) if value}
        variance = found.variance if found.variance > changes.near**2 else 0.0
        return _Units(found.clusters, len(changed), variance, found.inflation, found.freedom, "cr2")
    squares = math.fsum((value - changes.mean) ** 2 for value in changes.values)
    variance = 0.0 if changes.alike else squares / (count - 1) / count
    rows = [(value, 1) for value in changes.values]
    return _Units(rows, changes.changed, variance, 1.0, count - 1, "t")


def _interval_and_p(changes: Changes, units: _Units, confidence: float) -> tuple[Interval | None, float | None]:
    if changes.binary and units.method == "t":
        return _of_passes(changes, confidence)
    if not units.variance:
        return _of_equal(changes, len(units.sums), confidence)
    few, freedom, error = _few_changes(changes, units), units.freedom, math.sqrt(units.variance)
    if few and units.method == "t":
        freedom = math.inf  # as Tango's is, since no variance of the rows is estimated on its own
    quantile = t_quantile((1 + confidence) / 2, freedom)
    low, high = few.limits(quantile) if few else (changes.mean - quantile * error, changes.mean + quantile * error)
    if units.changed <= MOST_FLIPPED and (few or units.method == "t"):
        p_value = sign_flip_p([total for total, _ in units.sums])
    else:
        p_value = t_two_sided(few.distance(0.0) if few else changes.mean / error, freedom)
    return _possible(low, high, changes, "few-changes" if few else units.method), p_value


def _few_changes(changes: Changes, units: _Units) -> FewChanges | None:
    one_way = not (any(total < 0 for total, _ in units.sums) and any(total > 0 for total, _ in units.sums))
    few_rows_one_way = 2 * changes.changed < len(changes.values) and one_way
    if units.changed >= FEW or not (2 * units.changed < len(units.sums) or few_rows_one_way):
        return None
    reach = reach_of(units.sums, math.inf if changes.width is None else changes.width)
    largest = max(map(abs, changes.values))
    beyond = (max(changes.width or 0.0, largest) - largest) * len(changes.values) / len(units.sums)
    return FewChanges(Counter(units.sums), reach, units.inflation, UNMET * beyond**2 / len(units.sums))


def _of_passes(changes: Changes, confidence: float) -> tuple[Interval, float]:
    assert changes.width is not None
    gained = sum(value > 0 for value in changes.values)
    lost = changes.changed - gained
    low, high = tango_limits(gained, lost, len(changes.values), confidence)
    return _possible(low * changes.width, high * changes.width, changes, "tango"), mcnemar_mid_p(gained, lost)


def _of_equal(changes: Changes, units: int, confidence: float) -> tuple[Interval | None, float | None]:
    if changes.width is None:
        return None, None
    z2 = normal_quantile((1 + confidence) / 2) ** 2
    unseen = z2 / (units + z2)
    low, high = (changes.mean * (1 - unseen) + end * unseen for end in (-changes.width, changes.width))
    return _possible(low, high, changes, "constant"), 1.0 if abs(changes.mean) <= changes.near else 2.0 ** (1 - units)


def _possible(low: float, high: float, changes: Changes, method: str) -> Interval:
    """On the scale, and with the observed difference inside, which rounding might push out."""
    width = math.inf if changes.width is None else changes.width
    return Interval(min(max(low, -width), changes.mean), max(min(high, width), changes.mean), method)

"""The variance of an estimate, from what each row adds to it.

An estimate that is a smooth function of means is, but for terms that vanish, the truth plus a sum over rows: the influence of each
row, its label's and its judgement's. So its variance is that of this sum, whatever the estimate is (Huber & Ronchetti 2009, Robust
Statistics, chapter 1; Deville 1999, Survey Methodology 25:193). With clusters it is the sum over clusters, with the correction of
CR2 for what a cluster itself adds to the mean (`_clusters`).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Sequence

from ._clusters import clustered_mean
from ._labelled import LabelledRows


def variance_and_freedom(
    rows: LabelledRows, of_labels: Sequence[float], of_judgements: Sequence[float] = ()
) -> tuple[float, float]:
    """The variance of an estimate, and its degrees of freedom: those of the labels, which are few.

    Without clusters it is the plain sum of squares, which for a mean is (n - 1) / n of the unbiased variance.

    Args:
        rows: with labels in two clusters or more, if they have clusters.
        of_labels: what each label adds to the estimate; their sum is 0.
        of_judgements: what each judgement, of all rows, adds to it; nothing where the estimate does not use the judge.
    """
    if rows.clusters is None or rows.label_clusters is None:
        return math.fsum(value * value for value in (*of_labels, *of_judgements)), len(of_labels) - 1
    clusters = rows.label_clusters
    sums: defaultdict[Hashable, float] = defaultdict(float)
    sizes: defaultdict[Hashable, float] = defaultdict(float)
    for cluster, value, mass in zip(clusters, of_labels, rows.masses, strict=True):
        sums[cluster] += value
        sizes[cluster] += mass
    total = math.fsum(rows.masses)
    for cluster, size in sizes.items():
        sums[cluster] /= math.sqrt(1 - size / total)
    if of_judgements:
        for cluster, value in zip(rows.clusters, of_judgements, strict=True):
            sums[cluster] += value
    freedom = clustered_mean(of_labels, clusters).freedom
    assert freedom is not None
    return math.fsum(value * value for value in sums.values()), freedom


def unseen_variance(masses: Sequence[float], mean: float, scale: tuple[float, float], share: float) -> float:
    """What unequal weights add to the variance of a weighted mean by labels that nobody has seen yet.

    The variance of a ratio is made of the labels that were drawn. Where most are near one end of the scale and a rare one at the
    other end would have a heavy weight, most draws lack it: their mean is too high, and nothing in them shows how far it may be
    off. So each end of the scale counts as part of a label beforehand, and the square of its weight as much as that of the labels
    that were drawn, on average. What equal weights leave unseen Wilson's form and the posterior count already, so only the excess
    is added, the mean square less the square of the mean:

        share * var(weights) * ((mean - low)² + (high - mean)²) / (sum of weights)²

    Equal weights add nothing, and many labels next to nothing.

    Source: pseudo-labels beforehand make intervals hold: Agresti & Coull 1998, The American Statistician 52:119; half a label of
    each kind is the prior of Jeffreys 1946, Proceedings of the Royal Society A 186:453. That the excess of the squared weights
    counts is our own; how often it holds says ``bench/calibration.py``.

    Args:
        masses: the weights of the labels, one or more.
        mean: of the labels, weighted.
        scale: the lowest and the highest possible label.
        share: what each end counts beforehand, in labels.
    """
    total = math.fsum(masses)
    average = total / len(masses)
    excess = math.fsum((mass - average) ** 2 for mass in masses) / len(masses)
    return share * excess * ((mean - scale[0]) ** 2 + (scale[1] - mean) ** 2) / (total * total)


def design_effect(rows: LabelledRows, values: Sequence[float]) -> float:
    """By how much clusters multiply the variance of a mean over the labelled rows; 1 where they do not widen it.

    Rows whose values are all equal show no variance: each cluster then counts as one row.

    Source: Kish 1965, Survey Sampling, section 5.4.

    Args:
        rows: with clusters, or without.
        values: of each labelled row.
    """
    clusters = rows.label_clusters
    if clusters is None:
        return 1.0
    number = len(set(clusters))
    if number == 1 or min(values) == max(values):
        return len(values) / number
    total = math.fsum(rows.masses)
    mean = math.fsum(mass * value for mass, value in zip(rows.masses, values, strict=True)) / total
    parts = [mass * (value - mean) / total for mass, value in zip(rows.masses, values, strict=True)]
    plain = math.fsum(part * part for part in parts)
    return max(variance_and_freedom(rows, parts)[0] / plain, 1.0)

"""What labels tell without a judge: their mean, and how sure it is."""

from __future__ import annotations

import math

from ._distributions import normal_quantile, t_quantile
from ._influence import unseen_variance, variance_and_freedom
from ._interval import ROUNDING, Interval
from ._labelled import LabelledRows, effective_count
from ._means import mean_interval
from ._score_form import student_interval, unseen_interval

SHARE_OF_LABEL = 0.5
"""What each end of the scale counts beforehand, in labels, where weights differ: Jeffreys' prior."""


def mean_of_labels(rows: LabelledRows) -> float:
    """The mean of the labels, each counted for as many rows as it stands for."""
    return math.fsum(map(math.prod, zip(rows.masses, rows.labels, strict=True))) / math.fsum(rows.masses)


def labels_alone(rows: LabelledRows, confidence: float) -> Interval | None:
    """An interval for the mean of the population that the rows come from, by the labels only.

    Without weights that of `mean_interval`. With weights the same forms: labels that are all equal count for as many rows as
    would have the same variance with equal weights (Kish 1965, Survey Sampling, section 11.7); others have the variance of a
    ratio (Särndal, Swensson & Wretman 1992, Model Assisted Survey Sampling, section 5.7), and on a known scale that of heavy
    labels which were not drawn (`unseen_variance`).
    """
    if rows.weights is None:
        return mean_interval(rows.labels, rows.label_clusters, rows.scale, confidence)
    mean, total = mean_of_labels(rows), math.fsum(rows.masses)
    parts = [mass * (label - mean) / total for mass, label in zip(rows.masses, rows.labels, strict=True)]
    clusters = rows.label_clusters
    if clusters is not None and len(set(clusters)) == 1:
        return None
    size = rows.scale[1] - rows.scale[0] if rows.scale else max(map(abs, rows.labels))
    if max(rows.labels) - min(rows.labels) <= ROUNDING * size:
        return _equal(rows, mean, confidence)
    variance, freedom = variance_and_freedom(rows, parts)
    if clusters is None:
        variance *= len(parts) / (len(parts) - 1)
        freedom = max(effective_count(rows.masses) - 1, 1.0)
    if rows.scale is not None:
        variance += unseen_variance(rows.masses, mean, rows.scale, SHARE_OF_LABEL)
    return student_interval(
        mean, variance, t_quantile((1 + confidence) / 2, freedom), rows.scale, "t" if clusters is None else "cr2"
    )


def _equal(rows: LabelledRows, mean: float, confidence: float) -> Interval | None:
    """What equal labels do not exclude."""
    count = effective_count(rows.masses)
    if rows.label_clusters is not None:
        count = min(count, len(set(rows.label_clusters)))
    return unseen_interval(mean, count, rows.scale, normal_quantile((1 + confidence) / 2) ** 2)

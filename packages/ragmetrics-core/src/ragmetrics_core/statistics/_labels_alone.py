"""What labels tell without a judge: their mean, and how sure it is."""

from __future__ import annotations

import math

from ._distributions import normal_quantile, t_quantile
from ._influence import variance_and_freedom
from ._interval import ROUNDING, Interval
from ._labelled import LabelledRows
from ._means import mean_interval
from ._score_form import score_interval

__all__ = ["labels_alone", "mean_of_labels", "student"]


def mean_of_labels(rows: LabelledRows) -> float:
    """The mean of the labels, each counted for as many rows as it stands for."""
    return math.fsum(map(math.prod, zip(rows.masses, rows.labels, strict=True))) / math.fsum(rows.masses)


def labels_alone(rows: LabelledRows, confidence: float) -> Interval | None:
    """An interval for the mean of the population that the rows come from, by the labels only.

    Without weights that of `mean_interval`. With weights the same forms: labels that are all equal count for as many rows as
    would have the same variance with equal weights (Kish 1965, Survey Sampling, section 11.7); others have the variance of a
    ratio (Särndal, Swensson & Wretman 1992, Model Assisted Survey Sampling, section 5.7).
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
    return student(
        mean, variance, t_quantile((1 + confidence) / 2, freedom), rows.scale, "t" if clusters is None else "cr2"
    )


def student(mean: float, variance: float, quantile: float, scale: tuple[float, float] | None, method: str) -> Interval:
    """Student's t with this variance of the mean, in Wilson's form where the ends of the scale are known."""
    if scale is None:
        half = quantile * math.sqrt(variance)
        return Interval(mean - half, mean + half, method)
    return score_interval(mean, variance, quantile, scale, "wilson-t" if method == "t" else method)


def _equal(rows: LabelledRows, mean: float, confidence: float) -> Interval | None:
    """What equal labels do not exclude."""
    if rows.scale is None:
        return None
    count = math.fsum(rows.masses) ** 2 / math.fsum(mass * mass for mass in rows.masses)
    if rows.label_clusters is not None:
        count = min(count, len(set(rows.label_clusters)))
    z2 = normal_quantile((1 + confidence) / 2) ** 2
    unseen, (low, high) = z2 / (count + z2), rows.scale
    ends = (mean * (1 - unseen) + low * unseen, mean * (1 - unseen) + high * unseen)
    at_end = min(mean - low, high - mean) <= ROUNDING * (high - low)
    return Interval(*ends, "wilson" if at_end else "constant")

"""Prediction-powered inference (PPI++) for a mean: labels, corrected by what the judge says of rows without one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ._influence import variance_and_freedom
from ._labelled import LabelledRows


@dataclass(frozen=True)
class Powered:
    """An estimate of PPI++.

    Attributes:
        mean: of the labels that all rows would have.
        variance: of that mean.
        freedom: degrees of freedom of the variance.
        power: how much the judge counts, 0 (not at all) to 1.
    """

    mean: float
    variance: float
    freedom: float
    power: float


def powered_mean(rows: LabelledRows) -> Powered:
    """The mean label by PPI++, with the power that makes its variance least.

    Without weights and clusters, estimate, power and standard error are those of the authors' own program, ``ppi_py``.

    Args:
        rows: some of them without a label; with labels in two clusters or more, if they have clusters.

    Source: Angelopoulos, Duchi & Zrnic 2023, arXiv:2311.01453, section 2 and example 6.1.
    """
    total, labels, masses = math.fsum(rows.masses), rows.labels, rows.masses
    paired = [rows.judged[place] for place in rows.places]
    others = _compared(rows)
    rest = [rows.judged[row] for row in others]
    label_mean, paired_mean, rest_mean = _mean(labels, masses), _mean(paired, masses), math.fsum(rest) / len(rest)
    together = math.fsum(
        mass * (label - label_mean) * (value - paired_mean)
        for mass, label, value in zip(masses, labels, paired, strict=True)
    )
    centre = math.fsum(rows.judged) / len(rows.judged)
    spread = math.fsum((value - centre) ** 2 for value in rows.judged) / (len(rows.judged) - 1)
    rows_without = len(rows.judged) - len(labels)
    power = together / total / spread / (1 + len(labels) / rows_without) if spread else 0.0
    power = min(max(power, 0.0), 1.0)
    of_judgements = [0.0] * len(rows.judged)
    for row, value in zip(others, rest, strict=True):
        of_judgements[row] = power * (value - rest_mean) / len(rest)
    of_labels = []
    for place, mass, label, value in zip(rows.places, masses, labels, paired, strict=True):
        own = mass * (label - label_mean - power * (value - paired_mean)) / total
        of_labels.append(own + of_judgements[place])  # the same row in both sums
        of_judgements[place] = 0.0
    variance, freedom = variance_and_freedom(rows, of_labels, of_judgements)
    return Powered(label_mean + power * (rest_mean - paired_mean), variance, freedom, power)


def _compared(rows: LabelledRows) -> Sequence[int]:
    """The rows whose judgements stand for the population.

    Those without a label, as in the paper, where the labelled ones were drawn uniformly. Else the others are no sample of the
    population: all rows are (the difference estimator of two-phase sampling, Särndal, Swensson & Wretman 1992, section 9.7).
    """
    if rows.weights is not None:
        return range(len(rows.judged))
    known = set(rows.places)
    return [row for row in range(len(rows.judged)) if row not in known]


def _mean(values: Sequence[float], masses: Sequence[float]) -> float:
    return math.fsum(map(math.prod, zip(values, masses, strict=True))) / math.fsum(masses)

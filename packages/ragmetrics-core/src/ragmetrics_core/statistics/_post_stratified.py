"""The mean of people's labels, stratum by stratum of what the judge said.

The judge need not be right for this, nor well calibrated: rows are grouped by its judgements, the labels of each group tell what
people say of such rows, and all judgements tell how many such rows there are. What is not known is counted on both sides:

* of the labels in a stratum, P(label | judgement), a Dirichlet distribution over the values that they took, beta for passes and
  fails, as of Rubin's Bayesian bootstrap (Rubin 1981, Annals of Statistics 9:130). What labels have not shown is not excluded:
  before any label is seen, each end of the scale counts as a fraction of a label (`SHARE_OF_LABEL`);
* the shares of the strata in the population, which the rows are a sample of: a Dirichlet distribution too.

Post-stratification: Holt & Smith 1979, JRSS A 142:33; a beta posterior for the two error rates of a judge that gives verdicts:
Gart & Buck 1966, American Journal of Epidemiology 83:593, here with what people say given the verdict, so that it need not be
solved for. Weights count labels by how many rows they stand for (Kish's effective number in each stratum). Clusters multiply all
variances by what the rows' likeness adds, and by what the few clusters leave unknown of it; so do weights that go with labels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ._distributions import normal_quantile, t_quantile
from ._influence import unseen_variance, variance_and_freedom
from ._interval import Interval
from ._labelled import LabelledRows, effective_count
from ._posterior import Bounded, dirichlet_mean, quantiles_of_sum
from ._strata import Stratum

BETA, DIRICHLET = "post-stratified-beta", "post-stratified-dirichlet"

SHARE_OF_LABEL = {BETA: 0.9, DIRICHLET: 0.5}
"""What each end of the scale counts beforehand, in labels, in all strata together. A half in a single stratum is Jeffreys' prior.
With passes and fails in two strata 0.45 each hold their 95 % more evenly than Jeffreys' 0.5: at 20 labels the lowest exact
coverage of 16 judges and rates is 0.936 instead of 0.931 (``bench/calibration_exact.py``). Values between the ends need less, since
they show their spread themselves."""


def post_stratified(rows: LabelledRows, strata: Sequence[Stratum], confidence: float) -> tuple[float, Interval | None]:
    """The mean of the posterior distribution, and the interval between its quantiles.

    Args:
        rows: on a known scale.
        strata: of those rows, two or more.
        confidence: how often such intervals hold, above 0 and below 1.

    Returns:
        The mean, and no interval where all labels are of one cluster.
    """
    assert rows.scale is not None
    method = BETA if rows.passes_and_fails else DIRICHLET
    count, prior = len(rows.judged), SHARE_OF_LABEL[method] / len(strata)
    found = [_stratum_mean(rows, stratum, prior) for stratum in strata]
    shares = [len(stratum.rows) / count for stratum in strata]
    between = dirichlet_mean([part.mean for part in found], [float(len(stratum.rows)) for stratum in strata])
    if rows.label_clusters is not None and len(set(rows.label_clusters)) == 1:
        return between.mean, None
    factor = _inflation(rows, strata, [part.mean for part in found], prior, confidence)
    parts = [part.spread_by(factor).times(share) for part, share in zip(found, shares, strict=True)]
    parts.append(between.spread_by(factor).moved(-between.mean))
    low, high = quantiles_of_sum(parts, [(1 - confidence) / 2, (1 + confidence) / 2])
    start, end = rows.scale
    return between.mean, Interval(min(max(low, start), between.mean), max(min(high, end), between.mean), method)


def _stratum_mean(rows: LabelledRows, stratum: Stratum, prior: float) -> Bounded:
    """What is known of the mean label in one stratum."""
    assert rows.scale is not None
    masses = [rows.masses[label] for label in stratum.labelled]
    effective = effective_count(masses) / math.fsum(masses) if masses else 1.0
    values = [*(rows.labels[label] for label in stratum.labelled), *rows.scale]
    return dirichlet_mean(values, [*(mass * effective for mass in masses), prior, prior])


def _inflation(
    rows: LabelledRows, strata: Sequence[Stratum], means: Sequence[float], prior: float, confidence: float
) -> float:
    """By how much more the labels vary than the posterior says, in variances.

    The spread within strata is known from the labels only, clusters add to it, and so do weights where heavy labels lie further
    from the mean than light ones, or may do so unseen. All widen the interval as Student's t widens that of a mean. A pass rate of
    two verdicts needs no such thing where rows count alike: its spread follows from the rate itself.
    """
    if rows.verdicts and rows.clusters is None and rows.weights is None:
        return 1.0
    found, freedom = _variance(rows, strata, means, prior)
    if rows.clusters is None:
        freedom = max(effective_count(rows.masses) - len(strata), 1.0)
    share = (1 + confidence) / 2
    return max(found, 1.0) * (t_quantile(share, freedom) / normal_quantile(share)) ** 2


def _variance(
    rows: LabelledRows, strata: Sequence[Stratum], means: Sequence[float], prior: float
) -> tuple[float, float]:
    """The variance of the estimate over the one that the posterior takes for granted, and its degrees of freedom."""
    assert rows.scale is not None
    count = len(rows.judged)
    overall = math.fsum(len(stratum.rows) * mean for stratum, mean in zip(strata, means, strict=True)) / count
    of_judgements, of_labels = [0.0] * count, [0.0] * len(rows.labels)
    granted = unseen = 0.0
    for stratum, mean in zip(strata, means, strict=True):
        masses = [rows.masses[label] for label in stratum.labelled]
        squares = [(rows.labels[label] - mean) ** 2 for label in stratum.labelled]
        total, part = math.fsum(masses), len(stratum.rows) / count
        for label, mass in zip(stratum.labelled, masses, strict=True):
            of_labels[label] = part * mass / total * (rows.labels[label] - mean)
        for row in stratum.rows:
            of_judgements[row] = (mean - overall) / count
        if masses:
            spread = math.fsum(map(math.prod, zip(masses, squares, strict=True))) / total
            granted += part * part * spread / effective_count(masses)
            unseen += part * part * unseen_variance(masses, mean, rows.scale, prior)
    granted += math.fsum(value * value for value in of_judgements)
    found, freedom = variance_and_freedom(rows, of_labels, of_judgements)
    return (found + unseen) / granted if granted else 1.0, freedom

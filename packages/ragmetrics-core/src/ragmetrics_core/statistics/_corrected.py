"""Estimates the mean that people would have given, from few labels and many judgements.

A judge makes errors, so the mean of its scores is not the mean of people's labels. But a judge is cheap and scores every row.
Labels are right, but there are few. Together they give a narrower interval than labels alone, and the interval is valid whatever
errors the judge makes. The labels decide which method is used; each result names its method:

``post-stratified-beta``
    Used for passes and fails (`post_stratified`). A judge that gives verdicts makes two strata. A judge that gives more values
    makes up to five strata of at least 8 labels each.
``post-stratified-dirichlet``
    Used for grades on a known scale: at most 11 different labels, with at least two labels per value on average, so that a
        stratum shows the values that occur.
``ppi++``
    Used for other labels, from 100 labels on (`powered_mean`), where its normal approximation is valid. With fewer labels, only
    the labels are used.
the methods of `mean_interval`
    Used for the labels alone, if there are too few labels for another method or if the judge adds nothing. Then ``note`` gives
    the reason.

A judge adds nothing if it gave all rows the same score, or if its scores are not related to the labels. If all labels are equal,
``note`` says that nothing shows whether scores and labels are related. In these cases only the labels are used. For grades, the
relation is tested by the spread of the grades within strata (`strata_gain`), not by which interval is narrower. In three cases
the labels alone are used if the corrected interval is more than `WIDER` times as wide as theirs: for passes and fails with a
judge that gives scores; for grades with unequal weights, whose spread is underestimated; and for PPI++. If the judge gives
verdicts, correction costs nothing on average, so the corrected interval is always used. ``note`` says when the interval used is
no narrower than the interval of the labels alone.

The coverage and the width of these intervals are measured in ``bench/calibration.py``.

`strata_gain` says whether the judge's scores reduce the uncertainty of a mean of grades. It compares variances, which follow from
the spread of the labels, and not the widths of two intervals. Each method has its own allowance for what few labels do not show,
and if hardly any label differs from the others, this allowance is most of the width. So the narrower interval would be chosen in
exactly those samples in which too little was seen and both intervals are too narrow. An example is the change of a run that loses
.1 of its rows (50 labels, a judge that knows hardly anything). The labels alone contained the true value in .934 of 2,000
samples, strata in .952, and whichever was narrower in .927. The ratio of the spread within strata to the spread of all labels
does not grow with the number of labels that differ; the method chosen by this ratio contained the true value in .941.

`quantiles_of_sum` computes the uncertainty of a mean over strata: the distribution of a sum of independent bounded quantities.
The mean of one stratum is known as a mean over the values of its labels, whose shares have a Dirichlet distribution. So the mean
lies on the scale. Its distribution is beta if there are two values; if there are more, it is nearly the beta distribution with
the same mean and variance. The distribution of their sum has no closed form, so it is approximated by points. Each quantity is
represented by a hundred points or fewer, all sums of two points are sorted, and neighbours are merged into as many points again.
After each step the points are stretched to the exact mean and variance, which are known. The ends of 95 % intervals differ from
the exact ends by less than 0.5 % of the width, and the same input always gives the same result.

`post_stratified` is the mean of people's labels over strata of the judge's scores. The judge need not be right or well
calibrated: rows are grouped by its judgements, the labels of each group show how people label such rows, and all judgements show
how many such rows there are. Two kinds of uncertainty are included:

* The labels in a stratum, P(label | judgement). The shares of their values have a Dirichlet distribution, beta for passes and
fails, as in Rubin's Bayesian bootstrap (Rubin 1981, Annals of Statistics 9:130). Values that no label shows are not excluded: the
prior counts each end of the scale as a fraction of a label (`SHARES_OF_LABEL`).
* The shares of the strata in the population, of which the rows are a sample. They have a Dirichlet distribution too.

Post-stratification: Holt & Smith 1979, JRSS A 142:33. A beta posterior for the two error rates of a judge that gives verdicts:
Gart & Buck 1966, American Journal of Epidemiology 83:593; here it is the distribution of people's verdict given the judge's
verdict, so no equation has to be solved for it. Weights count labels by the number of rows that they represent (Kish's effective
number in each stratum). Clusters multiply all variances by the effect of the similarity of their rows, and by the uncertainty of
this effect with few clusters. Weights that are related to the labels do so too.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from .._values._errors import InvalidInput
from ._distributions import beta_cdf, beta_quantile, normal_quantile, t_quantile
from ._interval import (
    ROUNDING,
    Interval,
    at_ends,
    check_confidence,
    is_finite,
    student_interval,
    unseen_interval,
    weighted_mean,
)
from ._labelled import (
    FEWEST_FOR_INTERVAL,
    UNEVEN,
    LabelledRows,
    Strata,
    Stratum,
    effective_count,
    labelled_rows,
    strata_of,
    uneven,
    unseen_variance,
    variance_and_freedom,
)
from ._means import FEW, FewChanges, mean_interval, reach_of
from ._numbers import Numbers
from ._pairs import PairedNumbers


def strata_gain(rows: LabelledRows, strata: Strata) -> bool:
    """Whether the mean over these strata has a smaller variance than the mean of the labels alone, by unbiased estimates of
    both.

    A judge without information gains nothing on average: the spread that strata remove by chance is offset by the lost degrees of
    freedom. If all labels are equal, nothing shows a gain, and the result is False.

    Source: Cochran 1977, Sampling Techniques, section 5A.9 (stratification after selection).

    Args:
        rows: rows without weights; if they have clusters, the labels are in two clusters or more.
        strata: the strata of these rows, with two labels or more in each.
    """
    if len(set(rows.labels)) == 1:  # otherwise rounding would decide
        return False
    everything = Stratum(range(len(rows.judged)), range(len(rows.labels)))
    return mean_variance(rows, strata) < mean_variance(rows, [everything])


def mean_variance(rows: LabelledRows, strata: Strata) -> float:
    """Return an unbiased estimate of the variance of the mean label over strata; arguments as for `strata_gain`.

    Without clusters it is the sum over strata of share² * s² / n, where s² is the variance of the n labels, plus the sum over
    strata of share * (mean - overall mean)² divided by the number of all rows. Clusters count as in `variance_and_freedom`.
    """
    means = [math.fsum(rows.labels[label] for label in stratum.labelled) / len(stratum.labelled) for stratum in strata]
    of_labels, of_judgements = _influences(rows, strata, means)
    for stratum in strata:
        number = len(stratum.labelled)
        for label in stratum.labelled:
            of_labels[label] *= math.sqrt(number / (number - 1))
    return variance_and_freedom(rows, of_labels, of_judgements)[0]


def _influences(rows: LabelledRows, strata: Strata, means: Sequence[float]) -> tuple[list[float], list[float]]:
    """Return the influence of each label, and of each row's judgement, on the mean over strata with these means."""
    count = len(rows.judged)
    overall = math.fsum(len(stratum.rows) * mean for stratum, mean in zip(strata, means, strict=True)) / count
    of_labels, of_judgements = [0.0] * len(rows.labels), [0.0] * count
    for stratum, mean in zip(strata, means, strict=True):
        total, share = math.fsum(rows.masses[label] for label in stratum.labelled), len(stratum.rows) / count
        for label in stratum.labelled:
            of_labels[label] = share * rows.masses[label] / total * (rows.labels[label] - mean)
        for row in stratum.rows:
            of_judgements[row] = (mean - overall) / count
    return of_labels, of_judgements


SHARE_OF_LABEL = 0.5
"""The prior weight of each end of the scale, in labels, if weights differ: Jeffreys' prior."""


def labels_alone(rows: LabelledRows, confidence: float) -> Interval | None:
    """Return an interval for the population mean from the labels only.

    Without weights it is the interval of `mean_interval`. But if most labels have the same value and it is not an end of the scale,
    as most differences between two runs are 0, it is the interval of `paired_difference` for the distances from this value, which
    allows for changes that few labels do not show. With weights it has the forms of `mean_interval`. Labels that are all equal
    count as the number of rows that would have the same variance with equal weights (Kish 1965, Survey Sampling, section 11.7).
    Other labels have the variance of a ratio (Särndal, Swensson & Wretman 1992, Model Assisted Survey Sampling, section 5.7), and
    on a known scale also the variance from heavy labels that were not drawn (`unseen_variance`).
    """
    interval = _most_alike(rows, confidence)
    if interval is not None:
        return interval
    if rows.weights is None:
        return mean_interval(rows.labels, rows.label_clusters, rows.scale, confidence)
    if rows.one_cluster:
        return None
    mean, total, share = rows.label_mean, math.fsum(rows.masses), (1 + confidence) / 2
    clusters, count = rows.label_clusters, effective_count(rows.masses)
    size = rows.scale[1] - rows.scale[0] if rows.scale else max(map(abs, rows.labels))
    if max(rows.labels) - min(rows.labels) <= ROUNDING * size:
        count = count if clusters is None else min(count, len(set(clusters)))
        return unseen_interval(mean, count, rows.scale, normal_quantile(share) ** 2)
    parts = [mass * (label - mean) / total for mass, label in zip(rows.masses, rows.labels, strict=True)]
    variance, freedom = variance_and_freedom(rows, parts)
    if clusters is None:
        variance *= len(parts) / (len(parts) - 1)
        freedom = max(count - 1, 1.0)
    if rows.scale is not None:
        variance += unseen_variance(rows.masses, mean, rows.scale, SHARE_OF_LABEL)
    return student_interval(mean, variance, t_quantile(share, freedom), rows.scale, "cr2" if clusters else "t")


PARTS = 1000
"""The number of parts of a label that weights are rounded to."""


def _most_alike(rows: LabelledRows, confidence: float) -> Interval | None:
    """Return an interval for labels most of which have the same value, which is not an end of the scale; None for other labels,
    and for clusters with weights.
    """
    counts = Counter[float]()
    scaled = effective_count(rows.masses) / math.fsum(rows.masses)
    for label, mass in zip(rows.labels, rows.masses, strict=True):
        counts[label] += mass * scaled  # type: ignore[assignment]  # parts of labels
    (usual, most), total = counts.most_common(1)[0], math.fsum(counts.values())
    if rows.scale is None or len(counts) == 1 or 2 * most <= total or at_ends([usual], rows.scale):
        return None
    low, high = rows.scale
    if rows.weights is None:
        same, labels = Numbers([usual] * len(rows.labels)), Numbers(rows.labels)
        found = PairedNumbers.of(same, labels, rows.label_clusters, rows.scale).difference(confidence).interval
        return found and Interval(max(usual + found.low, low), min(usual + found.high, high), found.method)
    if rows.label_clusters is not None or total - most >= FEW:
        return None
    # parts of labels, of which there are many times as many as labels
    parts = Counter({(label - usual, 1): round(PARTS * number) for label, number in counts.items()})
    wholes = Counter({unit: max(round(number / PARTS), 1) for unit, number in parts.items()})
    few = FewChanges(parts, reach_of(wholes, high - low), PARTS)
    ends = few.limits(normal_quantile((1 + confidence) / 2))
    return Interval(max(usual + ends[0], low), min(usual + ends[1], high), "few-changes")


POINTS = 64
"""The number of points that represent a distribution."""

EDGES = [math.sin(math.pi / 2 * step / POINTS) ** 2 for step in range(POINTS + 1)]
"""Each point represents the distribution between two of these cumulative shares. They are denser in the tails, where intervals
end.
"""

HEIGHTS = [(below + above) / 2 for below, above in pairwise(EDGES)]

WEIGHTS = [above - below for below, above in pairwise(EDGES)]

GRID = 48
"""The number of places at which the cumulative distribution function of a beta distribution is evaluated."""

TINY = 1e-13

NEGLIGIBLE = 1e-9
"""A part counts as certain if its variance is below this share of the largest variance."""

REACH = 3.5
"""The half-width of the grid on the logit scale, in standard deviations; the weight beyond it is negligible."""


@dataclass(frozen=True)
class Bounded:
    """A beta-distributed quantity on an interval, given by its mean and variance.

    Attributes:
        low: the lowest possible value.
        high: the highest possible value.
        mean: the mean, between ``low`` and ``high``.
        variance: the variance, at least 0.
    """

    low: float
    high: float
    mean: float
    variance: float

    def scaled(self, factor: float, by: float = 0.0) -> Bounded:
        """Multiply the quantity by ``factor``, 0 or more, and add ``by``."""
        low, high, mean = (value * factor + by for value in (self.low, self.high, self.mean))
        return Bounded(low, high, mean, self.variance * factor * factor)

    def spread_by(self, factor: float) -> Bounded:
        """Multiply the variance by a factor, as far as the ends allow."""
        room = (self.mean - self.low) * (self.high - self.mean)
        # with the whole room as its variance, all weight would lie on the two ends
        return Bounded(self.low, self.high, self.mean, min(self.variance * factor, 0.999 * room))


def dirichlet_mean(values: Sequence[float], counts: Sequence[float]) -> Bounded:
    """Return the mean over values whose shares have a Dirichlet distribution; the beta distribution is exact for two values.

    Args:
        values: one or more values.
        counts: the parameters of the Dirichlet distribution, above 0: for each value, how often it was seen plus its prior
            weight.
    """
    total = math.fsum(counts)
    mean = math.fsum(value * count for value, count in zip(values, counts, strict=True)) / total
    squares = math.fsum(count * (value - mean) ** 2 for value, count in zip(values, counts, strict=True)) / total
    return Bounded(min(values), max(values), mean, squares / (total + 1))


def quantiles_of_sum(parts: Iterable[Bounded], shares: Sequence[float]) -> list[float]:
    """Return the quantiles of the distribution of a sum.

    Args:
        parts: the summands, independent of each other; one or more.
        shares: the probabilities of the quantiles, above 0 and below 1.
    """
    by_variance = sorted(parts, key=lambda part: part.variance)
    least = NEGLIGIBLE * by_variance[-1].variance
    certain = math.fsum(part.mean for part in by_variance if part.variance <= least)
    uncertain = [part for part in by_variance if part.variance > least]
    if not uncertain:
        return [certain for _ in shares]
    if len(uncertain) == 1:
        part, (a, b) = uncertain[0], _beta(uncertain[0])
        return [certain + (part.low + (part.high - part.low) * beta_quantile(share, a, b)) for share in shares]
    # each distribution is represented by weighted points, and so is the sum of the distributions so far
    sums = [(certain, 1.0)]
    for part in uncertain:
        few = sums if len(sums) <= POINTS else _merged(sums)
        points = _points(part)
        sums = sorted((one + other, weight * other_weight) for one, weight in few for other, other_weight in points)
    return _between(sums, shares)


def _beta(part: Bounded) -> tuple[float, float]:
    """Return the parameters of the beta distribution with this mean and variance between these ends."""
    width = part.high - part.low
    mean = (part.mean - part.low) / width
    total = mean * (1 - mean) * width * width / part.variance - 1
    return mean * total, (1 - mean) * total


def _points(part: Bounded) -> list[tuple[float, float]]:
    """Return points in ascending order that represent a beta distribution, each with its weight."""
    a, b = _beta(part)
    # on the logit scale the distribution has about this centre and spread, and exponential tails, where the logit of its CDF is
    # nearly a straight line, so few places are enough
    centre, spread = math.log(a / b), math.sqrt(1 / a + 1 / b)
    grid = [centre + spread * 0.4 * math.sinh(REACH * (2 * step / GRID - 1)) for step in range(GRID + 1)]
    heights = [(beta_cdf(_expit(logit), a, b), logit) for logit in grid]
    known = [(_logit(height), logit) for height, logit in heights if TINY < height < 1 - TINY]
    found = _interpolated(known, [_logit(height) for height in HEIGHTS])
    width = part.high - part.low
    return [(part.low + width * _expit(logit), weight) for logit, weight in zip(found, WEIGHTS, strict=True)]


def _logit(share: float) -> float:
    return math.log(share / (1 - share))


def _expit(logit: float) -> float:
    return 1 / (1 + math.exp(-logit)) if logit > -700 else 0.0


def _interpolated(known: Sequence[tuple[float, float]], places: Sequence[float]) -> list[float]:
    """Interpolate a function linearly at some places; beyond its ends it is extrapolated."""
    found = []
    for place in places:
        after = min(max(bisect_left(known, (place,)), 1), len(known) - 1)
        (x0, y0), (x1, y1) = known[after - 1], known[after]
        found.append(y0 + (y1 - y0) * (place - x0) / (x1 - x0))
    return found


def _merged(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Merge many points into a few, each of which is the mean of its neighbours."""
    merged, reached, start, edge = [], 0.0, 0, 0
    for place, (_, weight) in enumerate(points):
        reached += weight
        if reached >= EDGES[edge + 1] - 1e-12 or place == len(points) - 1:
            group = points[start : place + 1]
            total = math.fsum(weight for _, weight in group)
            merged.append((math.fsum(point * weight for point, weight in group) / total, total))
            start = place + 1
            while edge < POINTS - 1 and reached >= EDGES[edge + 1] - 1e-12:
                edge += 1
    return merged


def _between(points: Sequence[tuple[float, float]], shares: Sequence[float]) -> list[float]:
    """Return the quantiles of the distribution that these weighted points represent; half of a point's weight lies below the
    point.
    """
    reached = accumulate((weight for _, weight in points), initial=0.0)
    known = [(below + weight / 2, point) for below, (point, weight) in zip(reached, points, strict=False)]
    return _interpolated(known, shares)


BETA, DIRICHLET = "post-stratified-beta", "post-stratified-dirichlet"

SHARES_OF_LABEL = {BETA: 0.9, DIRICHLET: 0.5}
"""The prior weight of each end of the scale, in labels, in all strata together. A half in a single stratum is Jeffreys' prior.
For passes and fails in two strata, 0.45 in each stratum keeps the coverage of 95 % intervals more even than Jeffreys' 0.5: at 20
labels the lowest exact coverage of 16 judges and rates is 0.936 instead of 0.931 (``bench/calibration_exact.py``). Values between
the ends need a smaller prior, because their spread is visible in the labels.
"""


def post_stratified(rows: LabelledRows, strata: Strata, confidence: float) -> tuple[float, Interval]:
    """Return the mean of the posterior distribution, and the interval between its quantiles.

    Args:
        rows: rows on a known scale; if they have clusters, the labels are in two clusters or more.
        strata: the strata of these rows, two or more.
        confidence: the confidence level of the interval, above 0 and below 1.
    """
    assert rows.scale is not None
    method = BETA if rows.passes_and_fails else DIRICHLET
    count, prior = len(rows.judged), SHARES_OF_LABEL[method] / len(strata)
    stratum_means = [_stratum_mean(rows, stratum, prior) for stratum in strata]
    shares = [len(stratum.rows) / count for stratum in strata]
    between = dirichlet_mean([part.mean for part in stratum_means], [float(len(stratum.rows)) for stratum in strata])
    factor = _inflation(rows, strata, [part.mean for part in stratum_means], prior, confidence)
    parts = [part.spread_by(factor).scaled(share) for part, share in zip(stratum_means, shares, strict=True)]
    parts.append(between.spread_by(factor).scaled(1.0, -between.mean))
    low, high = quantiles_of_sum(parts, [(1 - confidence) / 2, (1 + confidence) / 2])
    start, end = rows.scale
    return between.mean, Interval(min(max(low, start), between.mean), max(min(high, end), between.mean), method)


def _stratum_mean(rows: LabelledRows, stratum: Stratum, prior: float) -> Bounded:
    """Return the posterior distribution of the mean label in one stratum."""
    assert rows.scale is not None
    masses = [rows.masses[label] for label in stratum.labelled]
    effective = effective_count(masses) / math.fsum(masses) if masses else 1.0
    values = [*(rows.labels[label] for label in stratum.labelled), *rows.scale]
    return dirichlet_mean(values, [*(mass * effective for mass in masses), prior, prior])


def _inflation(rows: LabelledRows, strata: Strata, means: Sequence[float], prior: float, confidence: float) -> float:
    """Return the factor by which the variances of the posterior are multiplied.

    The spread within strata is estimated from the labels only. Clusters add to the spread. Weights also add to it if heavy labels
    lie further from the mean than light ones, or may do so unseen. Each of these widens the interval as Student's t widens the
    interval of a mean. If the judge gives verdicts and all rows have equal weight, the spread follows from the rate itself, and the
    factor is 1.
    """
    if rows.verdicts and rows.clusters is None and rows.weights is None:
        return 1.0
    variance_ratio, freedom = _variance(rows, strata, means, prior)
    if rows.clusters is None:
        freedom = max(effective_count(rows.masses) - len(strata), 1.0)
    share = (1 + confidence) / 2
    return max(variance_ratio, 1.0) * (t_quantile(share, freedom) / normal_quantile(share)) ** 2


def _variance(rows: LabelledRows, strata: Strata, means: Sequence[float], prior: float) -> tuple[float, float]:
    """Return the variance of the estimate divided by the variance that the posterior assumes, and its degrees of freedom."""
    assert rows.scale is not None
    of_labels, of_judgements = _influences(rows, strata, means)
    granted = unseen = 0.0
    for stratum, mean in zip(strata, means, strict=True):
        masses = [rows.masses[label] for label in stratum.labelled]
        squares = [(rows.labels[label] - mean) ** 2 for label in stratum.labelled]
        share = len(stratum.rows) / len(rows.judged)
        if masses:
            granted += share * share * weighted_mean(squares, masses) / effective_count(masses)
            unseen += share * share * unseen_variance(masses, mean, rows.scale, prior)
    granted += math.fsum(value * value for value in of_judgements)
    variance, freedom = variance_and_freedom(rows, of_labels, of_judgements)
    return (variance + unseen) / granted if granted else 1.0, freedom


def powered_mean(rows: LabelledRows) -> tuple[float, float, float, float]:
    """Return the mean label by PPI++, with the power that minimizes its variance.

    Without weights and clusters, estimate, power and standard error are the same as in the authors' own program, ``ppi_py``.

    Args:
        rows: rows of which some have no label; if they have clusters, the labels are in two clusters or more.

    Returns:
        The estimated mean label of all rows, its variance, the degrees of freedom of the variance, and the power: how much the
            judge counts, from 0 (not at all) to 1.

    Source: Angelopoulos, Duchi & Zrnic 2023, arXiv:2311.01453, section 2 and example 6.1.
    """
    total, labels, masses = math.fsum(rows.masses), rows.labels, rows.masses
    paired = [rows.judged[place] for place in rows.places]
    # the rows whose judgements represent the population: if all were equally likely to be labelled, those without a label, as
    # in the paper; else all rows (difference estimator of two-phase sampling, Särndal, Swensson & Wretman 1992, section 9.7)
    labelled = set(rows.places) if rows.weights is None else set()
    others = [row for row in range(len(rows.judged)) if row not in labelled]
    label_mean, paired_mean = rows.label_mean, weighted_mean(paired, masses)
    rest_mean = math.fsum(rows.judged[row] for row in others) / len(others)
    both = zip(masses, labels, paired, strict=True)
    together = math.fsum(mass * (label - label_mean) * (value - paired_mean) for mass, label, value in both)
    centre = math.fsum(rows.judged) / len(rows.judged)
    spread = math.fsum((value - centre) ** 2 for value in rows.judged) / (len(rows.judged) - 1)
    rows_without = len(rows.judged) - len(labels)
    power = together / total / spread / (1 + len(labels) / rows_without) if spread else 0.0
    power = min(max(power, 0.0), 1.0)
    of_judgements = [0.0] * len(rows.judged)
    for row in others:
        of_judgements[row] = power * (rows.judged[row] - rest_mean) / len(others)
    of_labels = []
    for place, mass, label, value in zip(rows.places, masses, labels, paired, strict=True):
        influence = mass * (label - label_mean - power * (value - paired_mean)) / total
        of_labels.append(influence + of_judgements[place])  # the row counts in both sums
        of_judgements[place] = 0.0
    variance, freedom = variance_and_freedom(rows, of_labels, of_judgements)
    return label_mean + power * (rest_mean - paired_mean), variance, freedom, power


MOST_GRADES = 11
"""The largest number of different labels that count as grades, such as a scale from 0 to 10."""

ENOUGH = 100
"""The smallest number of labels for PPI++."""

WIDER = 1.05

GAIN = 0.1
"""The judge helps if the interval is narrower than the interval of the labels alone by at least this share. A smaller gain may come
from the different forms of the two intervals alone.
"""

NO_HELP = (
    "the judge adds nothing: its scores do not show which rows people would rate higher, so the labels stand alone"
)
NO_NARROWER = "the judge adds nothing: labels alone would have an interval as narrow"
HARDLY = "the judge adds hardly anything: the interval is {:.0f} % narrower than that of the labels alone"
ONE_LABEL = "all labels are equal, so nothing shows yet whether the judge helps"
ONE_SCORE = "the judge adds nothing: it gave all rows the same score, so the labels stand alone"
ONE_STRATUM = "the judge adds nothing yet: too few labels have scores apart from each other, so the labels stand alone"
TOO_FEW = f"labels that are not grades are corrected only from {ENOUGH} labels on, so the labels stand alone"
NO_REST = "every row has a label, so there is nothing to correct"
TOO_UNEVEN = (
    "there is no interval: the weights are so unequal that {} labels show no more than {:.1f} of equal weight would, and it takes "
    "{:g}: label more rows"
)
ONE_CLUSTER = "there is no interval: all labels are in one cluster, so nothing shows how much clusters differ"
NO_SCALE = "there is no interval: all labels are equal, and without a scale nothing shows how far others may differ"


@dataclass(frozen=True)
class CorrectedMean:
    """The mean label of the population from which the rows were drawn.

    Attributes:
        mean: the estimate, on the scale of the labels.
        interval: the interval of ``mean``, which includes the errors of the judge and the small number of labels. None if there
            is no interval; then ``note`` gives the reason.
        method: the method of the interval, a key of ``METHODS``: ``post-stratified-beta``, ``post-stratified-dirichlet``,
            ``ppi++``, or a method of `mean_interval` if only the labels are used; ``none`` without an interval.
        judge_mean: the uncorrected mean of the judge's scores of all rows.
        label_mean: the weighted mean of the labels alone.
        label_interval: the interval of ``label_mean``; None if there is no interval.
        labels: the number of labels.
        rows: the number of rows that the judge scored.
        note: in words, why only the labels are used, why there is no interval, or why the judge does not help; None if the judge
            helps: the interval is narrower by at least a tenth.
    """

    mean: float
    interval: Interval | None
    method: str
    judge_mean: float
    label_mean: float
    label_interval: Interval | None
    labels: int
    rows: int
    note: str | None = None

    @property
    def judge_helps(self) -> bool:
        """Whether the interval is narrower than the interval of the labels alone by a tenth or more."""
        return self.note is None

    @property
    def gain(self) -> float | None:
        """The share by which the interval is narrower than the interval of the labels alone; None if either interval is missing."""
        return _gain(self.interval, self.label_interval)

    @property
    def worth_labels(self) -> float | None:
        """The approximate number of labels alone that would give an equally narrow interval; None if this cannot be estimated."""
        if self.note == ONE_LABEL or self.interval is None or self.label_interval is None or not _width(self.interval):
            return None
        return self.labels * (_width(self.label_interval) / _width(self.interval)) ** 2

    def labels_needed(self, width: float, rows: int | None = None, confidence: float = 0.95) -> int | None:
        """Estimate how many labels would give an interval of this width.

        The variances within and between the groups of rows with different judgements follow from the two intervals. More labels
        make the first part smaller; the second part is divided by the number of all rows, so it is the least that labels can
        reach.

        Args:
            width: the width from end to end, on the scale of the labels, above 0.
            rows: the number of rows that the judge scores; by default as many as now.
            confidence: the confidence level of the intervals.

        Returns:
            The number of labels. None if not even labels of all rows would give it, or if there is no interval.

        Raises:
            InvalidInput: if the width is not a number above 0, or if rows is below 1.
        """
        if not (is_finite(width) and width > 0):
            raise InvalidInput(
                f"width must be a number above 0, got {width!r}: give the width of the interval from end to end"
            )
        if rows is not None and rows < 1:
            raise InvalidInput(f"rows must be at least 1, got {rows!r}")
        if self.interval is None or self.label_interval is None:
            return None
        per_square = (2 * normal_quantile((1 + confidence) / 2)) ** 2
        ours, alone = (_width(each) ** 2 / per_square for each in (self.interval, self.label_interval))
        between = max(alone - ours, 0.0) / (1 / self.labels - 1 / self.rows) if self.labels < self.rows else 0.0
        return labels_for(width, alone * self.labels - between, between, rows or self.rows, confidence)


def labels_for(width: float, within: float, between: float, rows: int, confidence: float = 0.95) -> int | None:
    """Return the number of labels for an interval of a corrected mean of this width; None if ``rows`` do not allow it.

    The variance of the mean over strata is within / labels + between / rows (Cochran 1977, Sampling Techniques, section 5A.9).

    Args:
        width: the width of the interval from end to end.
        within: the variance of labels of rows that have the same judgement.
        between: the variance of the mean labels of rows with different judgements.
        rows: the number of rows that the judge scores.
        confidence: the confidence level of the interval.
    """
    left = (width / 2 / normal_quantile((1 + confidence) / 2)) ** 2 - between / rows
    labels = math.ceil(within / left) if left > 0 else math.inf
    return int(labels) if labels <= rows else None


def corrected_mean(  # noqa: PLR0917
    judged: Sequence[float],
    labels: Sequence[float | None],
    weights: Sequence[float | None] | None = None,
    clusters: Sequence[Hashable] | None = None,
    scale: tuple[float, float] | None = None,
    confidence: float = 0.95,
) -> CorrectedMean:
    """Estimate the mean label that people would give in the population from which the rows were drawn, with its interval.

    The rows are a random sample of the population. The labelled rows must be chosen among them at random: uniformly, or with
    known probabilities, as `suggest` does. Rows that were picked by hand make the result wrong.

    Args:
        judged: the judge's score of every row, finite, on any scale.
        labels: people's label of each row, in the same order; None for a row without a label. At least 8 labels are needed. True
            and False are 1 and 0.
        weights: for each labelled row, the number of rows that it represents: 1 divided by the probability with which it was
            chosen, or any multiple of this. Rows without a label have None. None if all rows were equally likely to be labelled.
        clusters: for each row what it shares with others, such as the name of its document: any hashable value. None if the rows
            are independent.
        scale: the lowest and the highest possible label, in this order; None if they are not known. Labels that are all 0 or 1
            are on the scale 0 to 1 if the judge's scores are on it too.
        confidence: the confidence level of the intervals, above 0 and below 1.

    Raises:
        InvalidInput: if lengths differ, if a value is not finite, if a label is not on the scale, if there are fewer than 8
            labels, if a labelled row has no weight or a row no cluster, or if confidence or scale are impossible.
    """
    check_confidence(confidence)
    return _mean_of(labelled_rows(judged, labels, weights, clusters, scale), confidence)


def _mean_of(rows: LabelledRows, confidence: float) -> CorrectedMean:
    """Estimate the corrected mean of rows that were already checked."""
    effective, labels_only = uneven(rows.masses, FEWEST_FOR_INTERVAL, UNEVEN), None
    mean, interval, note = rows.label_mean, None, None
    if effective is None:
        labels_only = labels_alone(rows, confidence)
        mean, interval, note = _corrected(rows, confidence)
    if interval is not None and labels_only is not None and _width(interval) >= _width(labels_only):
        # these methods were not chosen by the width of their interval, so they are kept even if it is wider
        chosen = rows.verdicts or (interval.method == DIRICHLET and rows.weights is None)
        stands = chosen or _width(interval) <= WIDER * _width(labels_only)
        interval, note = (interval, NO_NARROWER) if stands else (None, NO_HELP)
    if interval is None:
        mean, interval = rows.label_mean, labels_only
    if effective is not None:
        note = TOO_UNEVEN.format(len(rows.labels), effective, FEWEST_FOR_INTERVAL)
    elif interval is None:
        note = ONE_CLUSTER if rows.one_cluster else NO_SCALE
    elif note in {None, NO_HELP} and len(set(rows.labels)) == 1:  # the gain or loss is the method's, not the judge's
        note = ONE_LABEL
    elif note is None and (gain := _gain(interval, labels_only) or 0.0) < GAIN:
        note = HARDLY.format(100 * gain)
    return CorrectedMean(
        mean=mean,
        interval=interval,
        method=interval.method if interval else "none",
        judge_mean=math.fsum(rows.judged) / len(rows.judged),
        label_mean=rows.label_mean,
        label_interval=labels_only,
        labels=len(rows.labels),
        rows=len(rows.judged),
        note=note,
    )


def _corrected(rows: LabelledRows, confidence: float) -> tuple[float, Interval | None, str | None]:
    """Return the corrected mean, its interval and None; or 0, None and why only the labels can be used."""
    if len(rows.labels) == len(rows.judged):
        return 0.0, None, NO_REST
    if min(rows.judged) == max(rows.judged):
        return 0.0, None, ONE_SCORE
    if rows.one_cluster:
        return 0.0, None, ONE_CLUSTER
    different = len(set(rows.labels))
    grades = different <= MOST_GRADES and 2 * different <= len(rows.labels)
    if rows.scale is not None and (rows.passes_and_fails or grades):
        strata = strata_of(rows)
        if len(strata) == 1:
            return 0.0, None, ONE_STRATUM
        if not rows.passes_and_fails and rows.weights is None and not strata_gain(rows, strata):
            return 0.0, None, NO_HELP
        return *post_stratified(rows, strata, confidence), None
    if len(rows.labels) < ENOUGH:
        return 0.0, None, TOO_FEW
    mean, variance, freedom, power = powered_mean(rows)
    if not power:
        return 0.0, None, NO_HELP
    low, high = rows.scale or (-math.inf, math.inf)
    mean, quantile = min(max(mean, low), high), t_quantile((1 + confidence) / 2, freedom)
    return mean, student_interval(mean, variance, quantile, rows.scale, "ppi++"), None


def _gain(interval: Interval | None, alone: Interval | None) -> float | None:
    return 1 - _width(interval) / _width(alone) if interval and alone and _width(alone) else None


def _width(interval: Interval) -> float:
    return interval.high - interval.low

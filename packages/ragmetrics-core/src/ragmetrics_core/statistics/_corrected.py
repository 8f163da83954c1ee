"""The mean that people would have given, from few labels and many judgements.

A judge errs, so the mean of its scores is not the mean of people's labels; but it is cheap, and it says something about every row.
Labels are right, and there are few. Together they give a narrower interval than labels alone, and one that holds whatever the
judge's errors are. Which method is used follows from the labels; each result says which one made it:

``post-stratified-beta``
    Passes and fails (`post_stratified`). A judge that gives verdicts makes two strata; one that gives more values makes up to
    five, of at least 8 labels each.
``post-stratified-dirichlet``
    Grades on a known scale: at most 11 different labels, each given twice on average, so that a stratum shows what there is.
``ppi++``
    Other labels, from 100 on (`powered_mean`): as many labels make its normal approximation hold. Fewer stand alone.
the methods of `mean_interval`
    Labels alone: where there are too few for another method, and where the judge adds nothing. Then ``note`` says why.

A judge adds nothing where it gave all rows the same score and where its scores do not go with the labels; where all labels are
equal, ``note`` says that nothing shows whether they do. Then the labels stand alone. Whether scores go with grades depends on how
much the grades differ within strata (`strata_gain`), and not by which interval is narrower. Of passes and fails beside scores, of
grades with unequal weights, whose spread shows less than there is, and of PPI++, the labels stand alone where the corrected
interval is `WIDER` times as wide as theirs. Two verdicts never cost more than they give, on average, so there the corrected
interval stands. ``note`` says where an interval that stands is no narrower.

How often these intervals hold, and how wide they are: ``bench/calibration.py``.

`strata_gain` says whether the judge's scores make a mean of grades any surer. It compares variances, which the spread of the labels
gives, and not the widths of two intervals. Each method has its own way to count what few labels leave unseen, and where hardly any
label differs from the others that is most of its width. So the narrower interval would be chosen in just those samples in which
too little was seen and both are too narrow. Of the change of a run that loses .1 of its rows (50 labels, a judge that knows hardly
anything) labels alone held in .934 of 2,000 samples, strata in .952, and whichever was narrower in .927. The spread within strata
beside that of all labels does not grow with the number of labels that differ, and what is chosen by it held in .941.

`quantiles_of_sum` says how sure a mean over strata is: it is the distribution of a sum of independent bounded quantities.
What is known of the mean of one stratum is a Dirichlet distribution over the values that its labels take, so the mean itself lies
on the scale with a distribution that is beta where there are two values, and all but beta with the same mean and variance where
there are more. The distribution of their sum has no closed form. It is put together from equally likely points: each quantity is
a hundred or fewer points, all sums of two of them are sorted, and neighbours are merged to as many points again. Each time the
points are stretched to the exact mean and variance, which are known. Ends of 95 % intervals differ from the exact ones by less than
0.5 % of the width, and the same input always gives the same result.

`post_stratified` is the mean of people's labels over strata of the judge's scores.
The judge need not be right for this, nor well calibrated: rows are grouped by its judgements, the labels of each group tell what
people say of such rows, and all judgements tell how many such rows there are. What is not known is counted on both sides:

* of the labels in a stratum, P(label | judgement), a Dirichlet distribution over the values that they took, beta for passes and
  fails, as of Rubin's Bayesian bootstrap (Rubin 1981, Annals of Statistics 9:130). What labels have not shown is not excluded:
  before any label is seen, each end of the scale counts as a fraction of a label (`SHARES_OF_LABEL`);
* the shares of the strata in the population, which the rows are a sample of: a Dirichlet distribution too.

Post-stratification: Holt & Smith 1979, JRSS A 142:33; a beta posterior for the two error rates of a judge that gives verdicts:
Gart & Buck 1966, American Journal of Epidemiology 83:593, here with what people say given the verdict, so that it need not be
solved for. Weights count labels by how many rows they stand for (Kish's effective number in each stratum). Clusters multiply all
variances by what the rows' likeness adds, and by what the few clusters leave unknown of it; so do weights that go with labels.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from ._distributions import beta_cdf, beta_quantile, normal_quantile, t_quantile
from ._interval import ROUNDING, Interval, check_confidence, student_interval, unseen_interval, weighted_mean
from ._labelled import (
    FEWEST_FOR_INTERVAL,
    LabelledRows,
    Strata,
    Stratum,
    effective_count,
    labelled_rows,
    strata_of,
    too_uneven,
    unseen_variance,
    variance_and_freedom,
)
from ._means import mean_interval


def strata_gain(rows: LabelledRows, strata: Strata) -> bool:
    """Whether the mean over these strata varies less than that of the labels alone, by unbiased estimates of both.

    So a judge that tells nothing gains nothing on average: what strata take from the spread by chance, fewer degrees of freedom
    give back. Where all labels are equal, nothing tells.

    Source: Cochran 1977, Sampling Techniques, section 5A.9 (stratification after selection).

    Args:
        rows: without weights; with labels in two clusters or more, if they have clusters.
        strata: of those rows, with two labels or more in each.
    """
    if len(set(rows.labels)) == 1:  # rounding must not decide
        return False
    everything = Stratum(range(len(rows.judged)), range(len(rows.labels)))
    return mean_variance(rows, strata) < mean_variance(rows, [everything])


def mean_variance(rows: LabelledRows, strata: Strata) -> float:
    """An unbiased estimate of the variance of the mean label over strata; arguments as of `strata_gain`.

    Without clusters it is the sum over strata of share² * s² / n, with the variance s² of its n labels, and what is between strata,
    share * (mean - overall mean)², over the number of all rows. Clusters count as they do in `variance_and_freedom`.
    """
    means = [math.fsum(rows.labels[label] for label in stratum.labelled) / len(stratum.labelled) for stratum in strata]
    of_labels, of_judgements = _influences(rows, strata, means)
    for stratum in strata:
        number = len(stratum.labelled)
        for label in stratum.labelled:
            of_labels[label] *= math.sqrt(number / (number - 1))
    return variance_and_freedom(rows, of_labels, of_judgements)[0]


def _influences(rows: LabelledRows, strata: Strata, means: Sequence[float]) -> tuple[list[float], list[float]]:
    """What each label, and the judgement of each row, adds to the mean over strata with these means."""
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
"""What each end of the scale counts beforehand, in labels, where weights differ: Jeffreys' prior."""


def labels_alone(rows: LabelledRows, confidence: float) -> Interval | None:
    """An interval for the mean of the population that the rows come from, by the labels only.

    Without weights that of `mean_interval`. With weights the same forms: labels that are all equal count for as many rows as
    would have the same variance with equal weights (Kish 1965, Survey Sampling, section 11.7); others have the variance of a
    ratio (Särndal, Swensson & Wretman 1992, Model Assisted Survey Sampling, section 5.7), and on a known scale that of heavy
    labels which were not drawn (`unseen_variance`).
    """
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


POINTS = 64
"""How many points stand for a distribution."""

EDGES = [math.sin(math.pi / 2 * step / POINTS) ** 2 for step in range(POINTS + 1)]
"""Between which shares of the distribution each of them lies: closer together in the tails, where intervals end."""

HEIGHTS = [(below + above) / 2 for below, above in pairwise(EDGES)]

WEIGHTS = [above - below for below, above in pairwise(EDGES)]

GRID = 48
"""Places at which the distribution function of a beta distribution is looked at."""

TINY = 1e-13

NEGLIGIBLE = 1e-9
"""Parts with less than this share of the largest variance count as certain."""

REACH = 3.5
"""How far the grid reaches on the logit scale, in standard deviations: what lies beyond has no weight that could be seen."""


@dataclass(frozen=True)
class Bounded:
    """A quantity between two ends, of which the mean and the variance are known; beta distributed.

    Attributes:
        low: the least possible value.
        high: the greatest possible value.
        mean: between them.
        variance: at least 0.
    """

    low: float
    high: float
    mean: float
    variance: float

    def scaled(self, factor: float, by: float = 0.0) -> Bounded:
        """So many times as large, and then moved; of a factor of 0 or more."""
        low, high, mean = (value * factor + by for value in (self.low, self.high, self.mean))
        return Bounded(low, high, mean, self.variance * factor * factor)

    def spread_by(self, factor: float) -> Bounded:
        """The variance times a factor, as far as there is room between the ends."""
        room = (self.mean - self.low) * (self.high - self.mean)
        # more would put all weight on the two ends
        return Bounded(self.low, self.high, self.mean, min(self.variance * factor, 0.999 * room))


def dirichlet_mean(values: Sequence[float], counts: Sequence[float]) -> Bounded:
    """The mean over values whose shares have a Dirichlet distribution; exactly beta for two values.

    Args:
        values: one or more.
        counts: the parameters of the Dirichlet distribution, above 0: how often each value was seen, and what is known beforehand.
    """
    total = math.fsum(counts)
    mean = math.fsum(value * count for value, count in zip(values, counts, strict=True)) / total
    squares = math.fsum(count * (value - mean) ** 2 for value, count in zip(values, counts, strict=True)) / total
    return Bounded(min(values), max(values), mean, squares / (total + 1))


def quantiles_of_sum(parts: Iterable[Bounded], shares: Sequence[float]) -> list[float]:
    """The points below which these shares of the distribution of a sum lie.

    Args:
        parts: what is summed, independent of each other; one or more.
        shares: above 0 and below 1.
    """
    known = sorted(parts, key=lambda part: part.variance)
    least = NEGLIGIBLE * known[-1].variance
    certain = math.fsum(part.mean for part in known if part.variance <= least)
    uncertain = [part for part in known if part.variance > least]
    if not uncertain:
        return [certain for _ in shares]
    if len(uncertain) == 1:
        part, (a, b) = uncertain[0], _beta(uncertain[0])
        return [certain + (part.low + (part.high - part.low) * beta_quantile(share, a, b)) for share in shares]
    sums = [(certain, 1.0)]
    for part in uncertain:
        few = sums if len(sums) <= POINTS else _merged(sums)
        points = _points(part)
        sums = sorted((one + other, weight * other_weight) for one, weight in few for other, other_weight in points)
    return _between(sums, shares)


def _beta(part: Bounded) -> tuple[float, float]:
    """The parameters of the beta distribution with this mean and this variance between these ends."""
    width = part.high - part.low
    mean = (part.mean - part.low) / width
    total = mean * (1 - mean) * width * width / part.variance - 1
    return mean * total, (1 - mean) * total


def _points(part: Bounded) -> list[tuple[float, float]]:
    """Points in order that stand for a beta distribution, each with its weight."""
    a, b = _beta(part)
    # on the logit scale the distribution has about this centre and spread, and exponential tails: the logit of its height is
    # all but a straight line there, so few places are enough
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
    """The heights of a broken line at some places; beyond its ends it goes on straight."""
    found = []
    for place in places:
        after = min(max(bisect_left(known, (place,)), 1), len(known) - 1)
        (x0, y0), (x1, y1) = known[after - 1], known[after]
        found.append(y0 + (y1 - y0) * (place - x0) / (x1 - x0))
    return found


def _merged(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """A few points that stand for many, each the mean of its neighbours."""
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
    """The points with these shares below them; half of a point's weight lies below it."""
    reached = accumulate((weight for _, weight in points), initial=0.0)
    known = [(below + weight / 2, point) for below, (point, weight) in zip(reached, points, strict=False)]
    return _interpolated(known, shares)


BETA, DIRICHLET = "post-stratified-beta", "post-stratified-dirichlet"

SHARES_OF_LABEL = {BETA: 0.9, DIRICHLET: 0.5}
"""What each end of the scale counts beforehand, in labels, in all strata together. A half in a single stratum is Jeffreys' prior.
With passes and fails in two strata 0.45 each hold their 95 % more evenly than Jeffreys' 0.5: at 20 labels the lowest exact
coverage of 16 judges and rates is 0.936 instead of 0.931 (``bench/calibration_exact.py``). Values between the ends need less, since
they show their spread themselves."""


def post_stratified(rows: LabelledRows, strata: Strata, confidence: float) -> tuple[float, Interval | None]:
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
    count, prior = len(rows.judged), SHARES_OF_LABEL[method] / len(strata)
    found = [_stratum_mean(rows, stratum, prior) for stratum in strata]
    shares = [len(stratum.rows) / count for stratum in strata]
    between = dirichlet_mean([part.mean for part in found], [float(len(stratum.rows)) for stratum in strata])
    if rows.one_cluster:
        return between.mean, None
    factor = _inflation(rows, strata, [part.mean for part in found], prior, confidence)
    parts = [part.spread_by(factor).scaled(share) for part, share in zip(found, shares, strict=True)]
    parts.append(between.spread_by(factor).scaled(1.0, -between.mean))
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


def _inflation(rows: LabelledRows, strata: Strata, means: Sequence[float], prior: float, confidence: float) -> float:
    """The factor by which the variances of the posterior must be multiplied.

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


def _variance(rows: LabelledRows, strata: Strata, means: Sequence[float], prior: float) -> tuple[float, float]:
    """The variance of the estimate divided by the variance that the posterior assumes, and its degrees of freedom."""
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
    found, freedom = variance_and_freedom(rows, of_labels, of_judgements)
    return (found + unseen) / granted if granted else 1.0, freedom


def powered_mean(rows: LabelledRows) -> tuple[float, float, float, float]:
    """The mean label by PPI++, with the power that makes its variance least.

    Without weights and clusters, estimate, power and standard error are those of the authors' own program, ``ppi_py``.

    Args:
        rows: some of them without a label; with labels in two clusters or more, if they have clusters.

    Returns:
        The mean of the labels that all rows would have, its variance, the degrees of freedom of the variance, and the power: how
        much the judge counts, 0 (not at all) to 1.

    Source: Angelopoulos, Duchi & Zrnic 2023, arXiv:2311.01453, section 2 and example 6.1.
    """
    total, labels, masses = math.fsum(rows.masses), rows.labels, rows.masses
    paired = [rows.judged[place] for place in rows.places]
    # the rows whose judgements stand for the population: those without a label, as in the paper, if all were as likely to have
    # one; else all rows (the difference estimator of two-phase sampling, Särndal, Swensson & Wretman 1992, section 9.7)
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
        own = mass * (label - label_mean - power * (value - paired_mean)) / total
        of_labels.append(own + of_judgements[place])  # the same row in both sums
        of_judgements[place] = 0.0
    variance, freedom = variance_and_freedom(rows, of_labels, of_judgements)
    return label_mean + power * (rest_mean - paired_mean), variance, freedom, power


MOST_GRADES = 11
"""Different labels that still are grades, as those of a scale from 0 to 10."""

ENOUGH = 100
"""Labels from which PPI++ is used."""

WIDER = 1.05

GAIN = 0.1
"""By which share an interval must be narrower than that of the labels alone for the judge to be said to help: less comes from the
different forms of the two intervals, whatever the judge says."""

NO_HELP = (
    "the judge adds nothing: its scores do not tell which rows people would rate higher, so the labels stand alone"
)
NO_NARROWER = "the judge adds nothing: labels alone would have an interval as narrow"
HARDLY = "the judge adds hardly anything: the interval is {:.0f} % narrower than that of the labels alone"
ONE_LABEL = "all labels are equal, so nothing tells yet whether the judge helps"
ONE_SCORE = "the judge adds nothing: it gave all rows the same score, so the labels stand alone"
ONE_STRATUM = "the judge adds nothing yet: too few labels have scores apart from each other, so the labels stand alone"
TOO_FEW = f"labels that are no grades are corrected from {ENOUGH} of them on, so the labels stand alone"
NO_REST = "every row has a label, so there is nothing to correct"
TOO_UNEVEN = (
    "there is no interval: the weights are so unequal that {} labels tell no more than {:.1f} of equal weight would, and it takes "
    "{:g}: label more rows"
)
ONE_CLUSTER = "there is no interval: all labels are of one cluster, which does not tell how much others differ"
NO_SCALE = "there is no interval: all labels are equal, and without a scale nothing tells how far others may lie"


@dataclass(frozen=True)
class CorrectedMean:
    """The mean label of the population that the rows come from.

    Attributes:
        mean: on the scale of the labels.
        interval: of that mean, counting the errors of the judge and the small number of labels; None where there is none, and
            ``note`` says why.
        method: how it was made, a key of ``METHODS``: ``post-stratified-beta``, ``post-stratified-dirichlet``, ``ppi++``, or a
            method of `mean_interval`, where the labels stand alone; ``none`` without an interval.
        judge_mean: of the judge's scores of all rows, as they are.
        label_mean: of the labels alone, weighted.
        label_interval: of that mean.
        labels: how many there are.
        rows: how many the judge scored.
        note: in words, why the labels stand alone, why there is no interval, or why the judge is not said to help; None where it
            helps, which takes an interval that is narrower by a tenth.
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
        """Whether the interval is narrower than that of the labels alone, by a tenth or more."""
        return self.note is None

    @property
    def gain(self) -> float | None:
        """By which share of its width the interval is narrower than that of the labels alone; None where one is missing."""
        return _gain(self.interval, self.label_interval)

    @property
    def worth_labels(self) -> float | None:
        """As many labels alone would make an interval as narrow as this one, about; None where that cannot be told."""
        if self.note == ONE_LABEL or self.interval is None or self.label_interval is None or not _width(self.interval):
            return None
        return self.labels * (_width(self.label_interval) / _width(self.interval)) ** 2


def corrected_mean(  # noqa: PLR0917
    judged: Sequence[float],
    labels: Sequence[float | None],
    weights: Sequence[float | None] | None = None,
    clusters: Sequence[Hashable] | None = None,
    scale: tuple[float, float] | None = None,
    confidence: float = 0.95,
) -> CorrectedMean:
    """The mean label that people would give in the population the rows come from, and how sure it is.

    The rows are a sample of that population, and those with a label were chosen among them by chance: uniformly, or with known
    probabilities, as `suggest` does. Rows that were picked by hand make the result wrong.

    Args:
        judged: the judge's score of every row, finite, on any scale.
        labels: people's label of each row, in the same order; None where there is none. At least 8 of them. True and False are 1
            and 0.
        weights: of each row with a label, how many rows it stands for: 1 divided by the probability with which it was chosen. Any
            multiple of it will do. None if all labelled rows were as likely; None in place of a row's weight where it has no label.
        clusters: for each row what it shares with others, such as the name of its document: any hashable value. None if the rows
            are independent.
        scale: lowest and highest possible label, the lowest first; None if they are not known. Labels that are nothing but 0 and
            1 are on the scale 0 to 1, if the judge's scores are.
        confidence: how often such intervals hold, above 0 and below 1.

    Raises:
        InvalidInput: if lengths differ, if a value is not finite, if a label is not on the scale, if there are fewer than 8, if a
            labelled row has no weight or a row no cluster, or if confidence or scale are impossible.
    """
    check_confidence(confidence)
    return _mean_of(labelled_rows(judged, labels, weights, clusters, scale), confidence)


def _mean_of(rows: LabelledRows, confidence: float) -> CorrectedMean:
    """The same of rows that were checked."""
    left, alone = too_uneven(rows.masses), None
    mean, interval, note = rows.label_mean, None, None
    if left is None:
        alone = labels_alone(rows, confidence)
        mean, interval, note = _corrected(rows, confidence)
    if interval is not None and alone is not None and _width(interval) >= _width(alone):
        # some methods were chosen by other means than their width
        chosen = rows.verdicts or (interval.method == DIRICHLET and rows.weights is None)
        stands = chosen or _width(interval) <= WIDER * _width(alone)
        interval, note = (interval, NO_NARROWER) if stands else (None, NO_HELP)
    if interval is None:
        mean, interval = rows.label_mean, alone
    if left is not None:
        note = TOO_UNEVEN.format(len(rows.labels), left, FEWEST_FOR_INTERVAL)
    elif interval is None:
        note = ONE_CLUSTER if rows.one_cluster else NO_SCALE
    elif note in {None, NO_HELP} and len(set(rows.labels)) == 1:  # narrower or not for its method, not for the judge
        note = ONE_LABEL
    elif note is None and (gain := _gain(interval, alone) or 0.0) < GAIN:
        note = HARDLY.format(100 * gain)
    return CorrectedMean(
        mean=mean,
        interval=interval,
        method=interval.method if interval else "none",
        judge_mean=math.fsum(rows.judged) / len(rows.judged),
        label_mean=rows.label_mean,
        label_interval=alone,
        labels=len(rows.labels),
        rows=len(rows.judged),
        note=note,
    )


def _corrected(rows: LabelledRows, confidence: float) -> tuple[float, Interval | None, str | None]:
    """The corrected mean and its interval; else none, and why the labels stand alone."""
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

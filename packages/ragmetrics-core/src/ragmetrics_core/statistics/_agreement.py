"""Measures how well a judge agrees with people, in the usual statistics of the field, each with its interval.

If labels are passes and fails and the judge gives verdicts, the measures are Cohen's kappa, Gwet's AC1, sensitivity and
specificity. If the judge gives scores, the area under the ROC curve is added, and a threshold (`_best_threshold`) turns the
scores into verdicts. For grades and other numbers, the measures are a rank correlation and a mean difference. A measure that
cannot be computed is missing, with the reason. For example, there is no specificity if no label is a fail.

A threshold looks better on the rows that it was chosen on than on other rows. So the threshold is cross-validated: five times it
is chosen on four fifths of the labelled rows and judged on the last fifth (Stone 1974, JRSS B 36:111). The figures come from
these five folds; the reported threshold is chosen on all labelled rows. Passes and fails are spread evenly over the folds. The
folds are drawn with a fixed seed.

The agreement between people is the upper limit for any judge. It is measured by Krippendorff's alpha, for any number of
annotators, each of whom may have labelled only some of the rows. Differences are squared, as for interval data; for passes and
fails this equals alpha for nominal data.
"""

from __future__ import annotations

import dataclasses
import math
import random
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

from .._values._errors import InvalidInput
from ._corrected import labels_alone
from ._distributions import beta_quantile, crossing, normal_quantile, t_quantile
from ._interval import Interval, Measure, check_confidence, coefficient_limits, is_finite, score_limits, weighted_mean
from ._labelled import LabelledRows, design_effect, effective_count, labelled_rows

BESIDE = 1e-9


def auroc(
    judged: Sequence[float], passes: Sequence[bool], masses: Sequence[float], confidence: float, alike: float = 1.0
) -> Measure:
    """Return the probability that the judge scores a row that people pass above a row that people fail; equal scores count half.

    The interval is a score interval: it contains every area that a test would not reject, with the standard error that this
    area implies. So the interval has a width even if the judge separates passes and fails perfectly.

    Source: Hanley & McNeil 1982, Radiology 143:29; interval: Newcombe 2006, Statistics in Medicine 25:559, method 5, with the
    variance of method 4.

    Args:
        judged: one score for each row.
        passes: for each row, whether people pass it.
        masses: for each row, the number of rows that it represents.
        confidence: the confidence level of the interval.
        alike: the factor by which clusters multiply variances, 1 or more.
    """
    sides = ([mass for mass, passed in zip(masses, passes, strict=True) if passed is side] for side in (True, False))
    passing, failing = (effective_count(side) / alike for side in sides)
    if not passing or not failing:
        return Measure(problem=f"no labelled row {'fails' if passing else 'passes'}, so there is no pair to order")
    value = _concordance(judged, passes, masses)
    quantile = normal_quantile((1 + confidence) / 2)
    half = max((passing + failing) / 2 - 1, 0.0)

    def excess(supposed: float) -> float:
        more = half * ((1 - supposed) / (2 - supposed) + supposed / (1 + supposed))
        return (supposed - value) ** 2 - quantile**2 * supposed * (1 - supposed) * (1 + more) / (passing * failing)

    # the excess is also 0 at the ends 0 and 1, which are no limits of the interval, so the search starts beside them
    low = crossing(excess, 0.0, min(value, 1 - BESIDE)) if value > 0 else 0.0
    high = crossing(excess, max(value, BESIDE), 1.0) if value < 1 else 1.0
    return Measure(value, Interval(low, high, "newcombe"))


def _concordance(judged: Sequence[float], passes: Sequence[bool], masses: Sequence[float]) -> float:
    rows = sorted(zip(judged, passes, masses, strict=True))
    below, ahead = 0.0, 0.0
    for _, group in groupby(rows, key=itemgetter(0)):
        passing, failing = _masses(list(group))
        ahead += passing * (below + failing / 2)
        below += failing
    return ahead / math.prod(_masses(rows))


def _masses(rows: Sequence[tuple[float, bool, float]]) -> tuple[float, float]:
    """Return the total masses of the rows that pass and of the rows that fail."""
    passing = math.fsum(mass for _, passed, mass in rows if passed)
    return passing, math.fsum(mass for _, passed, mass in rows if not passed)


def spearman(
    judged: Sequence[float], labels: Sequence[float], masses: Sequence[float], confidence: float, alike: float = 1.0
) -> Measure:
    """Spearman's rank correlation, where equal values share their mean rank.

    The interval is Fisher's z with the variance (1 + r² / 2) / (n - 3) of Bonett & Wright 2000, Psychometrika 65:23, equation 6.
    """
    if min(judged) == max(judged) or min(labels) == max(labels):
        who = "labels" if min(labels) == max(labels) else "scores of the judge"
        return Measure(problem=f"all {who} are equal, so there is no order")
    value = _correlation(_ranks(judged, masses), _ranks(labels, masses), masses)
    count = effective_count(masses) / alike
    if abs(value) >= 1 - 1e-12:
        problem = "the order is the same in all rows, which leaves nothing to estimate an interval by"
        return Measure(math.copysign(1.0, value), None, problem)
    if count <= 4:
        return Measure(value, None, "an interval needs more than 4 rows")
    half = normal_quantile((1 + confidence) / 2) * math.sqrt((1 + value * value / 2) / (count - 3))
    z = math.atanh(value)
    return Measure(value, Interval(math.tanh(z - half), math.tanh(z + half), "fisher"))


def _ranks(values: Sequence[float], masses: Sequence[float]) -> list[float]:
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks, below = [0.0] * len(values), 0.0
    for _, group in groupby(order, key=values.__getitem__):
        tied = list(group)
        mass = math.fsum(masses[place] for place in tied)
        for place in tied:
            ranks[place] = below + mass / 2
        below += mass
    return ranks


def _correlation(ones: Sequence[float], others: Sequence[float], masses: Sequence[float]) -> float:
    centre, other_centre = weighted_mean(ones, masses), weighted_mean(others, masses)
    rows = list(zip(ones, others, masses, strict=True))
    together = math.fsum(mass * (one - centre) * (other - other_centre) for one, other, mass in rows)
    spread = math.fsum(mass * (one - centre) ** 2 for one, _, mass in rows)
    other_spread = math.fsum(mass * (other - other_centre) ** 2 for _, other, mass in rows)
    return together / math.sqrt(spread * other_spread)


FOLDS = 5


@dataclass(frozen=True)
class Threshold:
    """The lowest score that passes.

    Attributes:
        value: the threshold; one of the scores that occur.
        kappa: Cohen's kappa between people and the verdicts, on rows that were not used to choose the threshold.
        wrong_passes: of the rows that pass, the share that people fail: bad rows that are let through.
        wrong_fails: of the rows that fail, the share that people pass: good rows that are stopped or inspected in vain.
    """

    value: float
    kappa: Measure
    wrong_passes: Measure
    wrong_fails: Measure


def _best_threshold(
    judged: Sequence[float], passes: Sequence[bool], masses: Sequence[float], places: Iterable[int]
) -> float:
    """Return the threshold with the highest kappa over some of the rows; of several, the middle one."""
    kappas = threshold_kappas(judged, passes, masses, places)
    best = max(kappas.values())
    ties = [value for value, kappa in kappas.items() if kappa >= best - 1e-12]
    return ties[len(ties) // 2]


def threshold_kappas(
    judged: Sequence[float], passes: Sequence[bool], masses: Sequence[float], places: Iterable[int]
) -> dict[float, float]:
    """Return Cohen's kappa by each threshold over some of the rows, highest threshold first.

    Args:
        judged: the judge's score of each row.
        passes: for each row, whether people pass it.
        masses: for each row, the number of rows that it represents.
        places: the indices of the rows to use; at least one of them passes and one fails.
    """
    order = sorted(places, key=judged.__getitem__, reverse=True)
    total = sum(masses[place] for place in order)
    people = sum(masses[place] for place in order if passes[place])
    passed, right, kappas = 0.0, 0.0, {}
    for value, group in groupby(order, key=judged.__getitem__):
        for place in group:
            passed += masses[place]
            right += masses[place] if passes[place] else 0.0
        agreement = right + total - people - (passed - right)  # rows that both pass, and rows that both fail
        chance = (passed * people + (total - passed) * (total - people)) / total
        kappas[value] = (agreement - chance) / (total - chance)
    return kappas


def _verdicts_by_others(judged: Sequence[float], passes: Sequence[bool], masses: Sequence[float]) -> list[bool]:
    """Return a verdict on each row, by a threshold chosen on the other folds. At least two rows must pass and two must fail."""
    generator = random.Random(0)  # noqa: S311  the same folds every time
    folds: list[list[int]] = [[] for _ in range(FOLDS)]
    for verdict in (True, False):
        places_of_verdict = [place for place, passed in enumerate(passes) if passed is verdict]
        generator.shuffle(places_of_verdict)
        for index, place in enumerate(places_of_verdict):
            folds[index % FOLDS].append(place)
    verdicts = [False] * len(judged)
    for fold in filter(None, folds):
        others = [place for other in folds if other is not fold for place in other]
        limit = _best_threshold(judged, passes, masses, others)
        for place in fold:
            verdicts[place] = judged[place] >= limit
    return verdicts


Cell = tuple[bool, bool]
"""The judge's verdict and people's verdict."""

HALF = 0.5


@dataclass(frozen=True)
class VerdictTable:
    """The shares of rows with each pair of verdicts by judge and people.

    Attributes:
        shares: the share of all rows for each pair of verdicts.
        count: the number of rows; with weights or clusters, the effective number of rows.
        confidence: the confidence level of the intervals.
    """

    shares: dict[Cell, float]
    count: float
    confidence: float

    @property
    def agreement(self) -> float:
        """The share of rows on which judge and people agree."""
        return self.shares[True, True] + self.shares[False, False]

    @property
    def quantile(self) -> float:
        """The number of standard errors from a value to the end of its interval."""
        return normal_quantile((1 + self.confidence) / 2)

    def judge(self, said: bool) -> float:
        """Return the share of rows that the judge passes (True) or fails (False)."""
        return self.shares[said, True] + self.shares[said, False]

    def people(self, said: bool) -> float:
        """Return the share of rows that people pass (True) or fail (False)."""
        return self.shares[True, said] + self.shares[False, said]

    def measures(self) -> dict[str, Measure]:
        """Return kappa, AC1, sensitivity and specificity."""
        sensitivity = self.rate((True, True), self.people(True), "no labelled row passes")
        specificity = self.rate((False, False), self.people(False), "no labelled row fails")
        return {"kappa": self.kappa(), "ac1": self.ac1(), "sensitivity": sensitivity, "specificity": specificity}

    def threshold(self, value: float) -> Threshold:
        """Return the threshold ``value`` with its measures, given that this table counts the verdicts by this threshold."""
        wrong_passes = self.rate((True, False), self.judge(True), "the judge passes no labelled row")
        wrong_fails = self.rate((False, True), self.judge(False), "the judge fails no labelled row")
        return Threshold(value, self.kappa(), wrong_passes, wrong_fails)

    def rate(self, cell: Cell, whole: float, problem: str) -> Measure:
        """Return the share of a cell in ``whole``, a share of all rows, with its interval; or the problem if ``whole`` is 0."""
        if not whole:
            return Measure(problem=problem)
        share = self.shares[cell] / whole
        low, high = score_limits(share, self.quantile**2 / (whole * self.count))
        return Measure(share, Interval(max(min(low, share), 0.0), min(max(high, share), 1.0), "wilson"))

    def kappa(self) -> Measure:
        """Cohen's kappa: 1 if judge and people always agree, 0 if they agree as often as by chance.

        The lower limit of the interval is computed from a table with half a row more in each cell (Agresti 2013, Categorical Data
        Analysis, section 3.1.8), because a single row may change kappa much if few rows fail. The upper limit comes from
        Jeffreys' interval for the agreement, on as many rows as have the variance of kappa: half a row more in each cell would
        lower this limit and exclude judges that are nearly always right. From 20 rows on, the interval contains the true value in
        0.93 to 0.99 of samples, for judges with a sensitivity and specificity of 0.4 to 0.99 and pass rates of 0.5 and 0.8.

        Source: Cohen 1960, Educational and Psychological Measurement 20:37; variance: Fleiss, Cohen & Everitt 1969, Psychological
        Bulletin 72:323, equation 8.
        """
        for verdict, words in ((True, "passes"), (False, "fails")):
            for who, share in (("labels", self.people), ("verdicts of the judge", self.judge)):
                if not share(not verdict):
                    return Measure(problem=f"all {who} are {words}, so agreement beyond chance cannot be measured")
        agreement, (value, chance, variance) = self.agreement, self._kappa_parts()
        shares = {cell: (share * self.count + HALF) / (self.count + 4 * HALF) for cell, share in self.shares.items()}
        fuller = dataclasses.replace(self, shares=shares)
        _, more_chance, more_variance = fuller._kappa_parts()
        low = coefficient_limits(fuller.agreement, more_chance, more_variance, self.quantile, self.count)[0]
        # the number of rows for which a rate equal to the agreement has the variance of kappa
        room, spread = agreement * (1 - agreement), variance * (1 - chance) ** 2
        rows = room / spread if room > 0 and spread > 0 else self.count
        most = beta_quantile((1 + self.confidence) / 2, agreement * rows + HALF, (1 - agreement) * rows + HALF)
        high = max((most - chance) / (1 - chance), value)
        return Measure(value, Interval(min(low, value), high, "wilson-chance"))

    def _kappa_parts(self) -> tuple[float, float, float]:
        """Return kappa, the agreement expected by chance, and the large-sample variance of kappa."""
        judge, people, shares = self.judge, self.people, self.shares
        chance = judge(True) * people(True) + judge(False) * people(False)
        value = (self.agreement - chance) / (1 - chance)
        alike = math.fsum(
            shares[said, said] * (1 - (judge(said) + people(said)) * (1 - value)) ** 2 for said in (True, False)
        )
        # disagreements: for each, the judge's share of the people's verdict plus people's share of the judge's verdict
        other = math.fsum(shares[said, not said] * (judge(not said) + people(said)) ** 2 for said in (True, False))
        spread = alike + (1 - value) ** 2 * other - (value - chance * (1 - value)) ** 2
        return value, chance, spread / (1 - chance) ** 2 / self.count

    def ac1(self) -> Measure:
        """Gwet's AC1: agreement beyond chance. Unlike kappa, AC1 does not fall if nearly all rows pass.

        Source: Gwet 2008, British Journal of Mathematical and Statistical Psychology 61:29, equations 6 and 13.
        """
        passing = (self.judge(True) + self.people(True)) / 2
        chance = 2 * passing * (1 - passing)
        value = (self.agreement - chance) / (1 - chance)

        def influence(cell: Cell) -> float:
            passes = sum(cell) / 2
            own_chance = passes * (1 - passing) + (1 - passes) * passing
            contribution = ((cell[0] == cell[1]) - chance) / (1 - chance)
            return contribution - 2 * (1 - value) * (own_chance - chance) / (1 - chance)

        squares = math.fsum(share * (influence(cell) - value) ** 2 for cell, share in self.shares.items())
        limits = coefficient_limits(self.agreement, chance, squares / (self.count - 1), self.quantile, self.count)
        return Measure(value, Interval(*limits, "wilson-chance"))


def verdict_table(rows: LabelledRows, judge: Sequence[bool], people: Sequence[bool], confidence: float) -> VerdictTable:
    """Count the verdicts of judge and people on the labelled rows.

    Rows in clusters count as the effective number of independent rows for the rate of agreement.
    """
    sums: dict[Cell, float] = {(one, other): 0.0 for one in (True, False) for other in (True, False)}
    for one, other, mass in zip(judge, people, rows.masses, strict=True):
        sums[one, other] += mass
    total = math.fsum(rows.masses)
    same = [float(one == other) for one, other in zip(judge, people, strict=True)]
    count = max(effective_count(rows.masses) / design_effect(rows, same), FEWEST_COUNTED)
    return VerdictTable({cell: found / total for cell, found in sums.items()}, count, confidence)


NOT_VERDICTS = "the labels are not passes and fails"
VERDICTS = "the judge gives verdicts: see sensitivity and specificity"
OF_VERDICTS = ("kappa", "ac1", "sensitivity", "specificity")
"""The measures of agreement between a judge's verdicts and people's."""

FEWEST_COUNTED = 2.0
"""The smallest effective number of rows in clusters."""


@dataclass(frozen=True)
class Agreement:
    """The agreement of a judge with people, over the rows that both judged.

    Attributes:
        labels: the number of rows with a label.
        passing: the number of labels that are passes; None if the labels are not passes and fails.
        kappa: Cohen's kappa.
        ac1: Gwet's AC1.
        sensitivity: of the rows that people pass, the share that the judge passes.
        specificity: of the rows that people fail, the share that the judge fails.
        auroc: the probability that the judge scores a row that people pass above a row that they fail.
        spearman: the rank correlation of scores and labels.
        difference: the mean of the judge's scores minus the mean of the labels, both of the labelled rows.
        threshold: the score from which a row passes. None if the judge gives verdicts, if the threshold was given, if the labels
            are not passes and fails, or if there are too few passes or fails.
    """

    labels: int
    passing: int | None
    kappa: Measure
    ac1: Measure
    sensitivity: Measure
    specificity: Measure
    auroc: Measure
    spearman: Measure
    difference: Measure
    threshold: Threshold | None = None


def without_agreement(labels: int, problem: str) -> Agreement:
    """Return an agreement whose measures are all missing, for the given reason."""
    missing = Measure(problem=problem)
    return Agreement(labels, None, missing, missing, missing, missing, missing, missing, missing)


def agreement(
    judged: Sequence[float],
    labels: Sequence[float | None],
    weights: Sequence[float | None] | None = None,
    *,
    clusters: Sequence[Hashable] | None = None,
    scale: tuple[float, float] | None = None,
    threshold: float | None = None,
    confidence: float = 0.95,
) -> Agreement:
    """Measure how well the judge agrees with people on the rows that have a label.

    Args:
        judged: the judge's score of every row, finite.
        labels: people's label of each row, in the same order; None for a row without a label. At least 8 labels are needed. True
            and False are 1 and 0.
        weights: as in `corrected_mean`: for each labelled row, the number of rows that it represents. None if all rows were
            equally likely to be labelled.
        clusters: for each row what it shares with others, such as the name of its document: any hashable value. Clusters widen
            all intervals. None if the rows are independent.
        scale: the lowest and the highest possible label, in this order; None if they are not known. The difference uses the same
            scale for its interval if all scores of the labelled rows lie on it.
        threshold: the score from which the judge passes a row. None: scores that are all 0 or 1 are verdicts; for other scores,
            the threshold with the highest kappa is chosen, and the figures are cross-validated.
        confidence: the confidence level of the intervals, above 0 and below 1.

    Raises:
        InvalidInput: if lengths differ, if a value is not finite, if a label is not on the scale, if there are fewer than 8
            labels, if a labelled row has no weight or a row no cluster, or if confidence or scale are impossible.
    """
    check_confidence(confidence)
    rows = labelled_rows(judged, labels, weights, clusters, scale)
    scores = [rows.judged[place] for place in rows.places]
    alike = max(design_effect(rows, scores), design_effect(rows, rows.labels))
    measures = dataclasses.replace(
        without_agreement(len(rows.labels), NOT_VERDICTS),
        spearman=spearman(scores, rows.labels, rows.masses, confidence, alike),
        difference=_difference(rows, scores, confidence),
    )
    if not rows.passes_and_fails:
        return measures
    assert rows.scale is not None
    passes = [label > (rows.scale[0] + rows.scale[1]) / 2 for label in rows.labels]
    verdicts = threshold is None and set(rows.judged) <= {0, 1}
    area = Measure(problem=VERDICTS) if verdicts else auroc(scores, passes, rows.masses, confidence, alike)
    measures = dataclasses.replace(measures, passing=sum(passes), auroc=area)
    return _with_verdicts(measures, rows, passes, 1.0 if verdicts else threshold, confidence)


def _with_verdicts(
    found: Agreement, rows: LabelledRows, passes: Sequence[bool], limit: float | None, confidence: float
) -> Agreement:
    """Add the measures of verdicts. Scores of at least ``limit`` pass; without a limit, the threshold is chosen here."""
    scores, chosen = [rows.judged[place] for place in rows.places], None
    measures: dict[str, Any]
    if limit is not None:
        measures = verdict_table(rows, [value >= limit for value in scores], passes, confidence).measures()
    elif problem := _too_few(passes):
        measures = dict.fromkeys(OF_VERDICTS, Measure(problem=problem))
    else:
        table = verdict_table(rows, _verdicts_by_others(scores, passes, rows.masses), passes, confidence)
        measures = table.measures()
        chosen = table.threshold(_best_threshold(scores, passes, rows.masses, range(len(passes))))
    return dataclasses.replace(found, threshold=chosen, **measures)


def _too_few(passes: Sequence[bool]) -> str | None:
    """Say why no threshold can be cross-validated; None if a threshold can be."""
    for wanted, words in ((True, "pass"), (False, "fail")):
        count = sum(passed is wanted for passed in passes)
        if count < 2:
            rows = "no labelled row" if not count else "one labelled row alone"
            return f"{rows} is a {words}, so no threshold can be chosen: label more rows"
    return None


def _difference(rows: LabelledRows, own: Sequence[float], confidence: float) -> Measure:
    """Return the mean of the judge's scores minus the mean of the labels."""
    changes = [value - label for value, label in zip(own, rows.labels, strict=True)]
    low, high = rows.scale or (math.inf, math.inf)
    scale = (low - high, high - low) if all(low <= value <= high for value in own) else None
    beside = dataclasses.replace(rows, labels=changes, scale=scale)
    interval = labels_alone(beside, confidence)
    why = "all labelled rows have the same difference, and without a scale nothing shows how far others may be from it"
    return Measure(beside.label_mean, interval, None if interval else why)


ROUNDING = 1e-12


def annotator_alpha(ratings: Sequence[Sequence[float | None]], confidence: float = 0.95) -> Measure:
    """Krippendorff's alpha between annotators: 1 if all agree, 0 if they agree as often as random labels.

    The interval uses the jackknife variance over rows (Miller 1974, Biometrika 61:1), Student's t and Wilson's form.

    Args:
        ratings: for each row the labels that annotators gave, finite; None for an annotator who gave no label. Rows with fewer
            than two labels are ignored.
        confidence: the confidence level of the interval, above 0 and below 1.

    Returns:
        The measure. It has no value if fewer than two rows have labels of two annotators, or if all labels are equal. It has no
        interval if there are only two rows and the labels of each of them are equal.

    Source: Krippendorff 2011, Computing Krippendorff's Alpha-Reliability, section D.

    Raises:
        InvalidInput: if a label is not finite, or if confidence is impossible.
    """
    check_confidence(confidence)
    rows = [_given(row, given) for row, given in enumerate(ratings)]
    rows = [labels for labels in rows if len(labels) > 1]
    if len(rows) < 2:
        return Measure(problem="fewer than two rows have labels of two annotators")
    everything = [label for labels in rows for label in labels]
    if min(everything) == max(everything):
        return Measure(problem="all labels are equal, so agreement beyond chance cannot be measured")
    centre = math.fsum(everything) / len(everything)  # deviations from it keep their digits when squared and summed
    terms = [_terms(labels, centre) for labels in rows]
    sums = [math.fsum(column) for column in zip(*terms, strict=True)]
    observed, expected = _ratios(*sums)
    left_out = [_ratios(*(total - own for total, own in zip(sums, term, strict=True))) for term in terms]
    value, count = 1 - observed / expected, len(rows)
    # a difference that is only rounding counts as 0
    without = [1 - own / other for own, other in left_out if other > ROUNDING * expected]
    if not without:
        return Measure(value, problem="without either row all labels are equal, so the uncertainty cannot be estimated")
    middle = math.fsum(without) / len(without)
    variance = math.fsum((one - middle) ** 2 for one in without) * (count - 1) / count
    reach = (max(everything) - min(everything)) ** 2
    quantile = t_quantile((1 + confidence) / 2, count - 1)
    limits = coefficient_limits(1 - observed / reach, 1 - expected / reach, variance, quantile, count)
    low, high = min(limits[0], max(value, -1.0)), max(limits[1], value)  # rounding must not push a limit past the value
    return Measure(value, Interval(low, high, "wilson-chance"))


def _given(row: int, labels: Sequence[float | None]) -> list[float]:
    given = [label for label in labels if label is not None]
    for label in given:
        if not is_finite(label):
            raise InvalidInput(f"ratings[{row}] has the label {label!r}: give finite numbers, or None for no label")
    return given


def _terms(labels: Sequence[float], centre: float) -> tuple[float, float, float, float]:
    """Return the four terms that a row contributes to the sums of alpha.

    They are the number of its labels, the sum of their deviations from ``centre``, the sum of the squared deviations, and the sum
    of squared differences over all ordered pairs of its labels, divided by (count - 1).
    """
    count = len(labels)
    total = math.fsum(label - centre for label in labels)
    squares = math.fsum((label - centre) ** 2 for label in labels)
    return count, total, squares, 2 * (count * squares - total * total) / (count - 1)


def _ratios(count: float, total: float, squares: float, within: float) -> tuple[float, float]:
    """Return the mean squared difference between labels of the same row, and between labels of any rows."""
    return max(within, 0.0) / count, 2 * (count * squares - total * total) / count / (count - 1)

"""How far a judge agrees with people, in the numbers that the field reports, each with its interval.

Passes and fails against verdicts have Cohen's kappa, Gwet's AC1, sensitivity and specificity; against scores they have the area
under the ROC curve too, and the verdicts are those of a threshold (`best_threshold`). Grades and other numbers have a rank
correlation and a mean difference. What cannot be had is missing, with the reason: there is nothing about fails where no label is
one.

A threshold looks better on the rows that it was chosen by than on others. So it is chosen on four fifths of the labelled rows and
judged on the last fifth, five times over; the threshold that is reported is chosen on all of them, and the figures are those of the
five (Stone 1974, JRSS B 36:111). Each fifth has its share of passes and of fails. Which row is in which fifth is drawn with a
fixed seed.

How far people agree with each other is the ceiling for any judge: Krippendorff's alpha for any number of annotators, of whom each
may have labelled some of the rows only. Differences count squared, as for interval data; for passes and fails that is alpha for
nominal data.
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
    """How often the judge scores a row that people pass above one that they fail; equal scores count half.

    The interval is a score interval: it holds the areas from which the observed one is not too far, in standard errors at the
    supposed area. So it has a width where the judge separates the two perfectly.

    Source: Hanley & McNeil 1982, Radiology 143:29; interval: Newcombe 2006, Statistics in Medicine 25:559, method 5, with the
        variance of method 4.

    Args:
        judged: one score for each row.
        passes: whether people pass it.
        masses: how many rows each stands for.
        confidence: of the interval.
        alike: by how much clusters multiply variances, 1 or more.
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

    # at an end itself the excess is 0 too, and so no end of the interval: it is looked for beside it
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
    """Of the rows that pass, and of those that fail."""
    passing = math.fsum(mass for _, passed, mass in rows if passed)
    return passing, math.fsum(mass for _, passed, mass in rows if not passed)


def spearman(
    judged: Sequence[float], labels: Sequence[float], masses: Sequence[float], confidence: float, alike: float = 1.0
) -> Measure:
    """Spearman's rank correlation, equal values sharing their mean rank.

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
    """A score from which a row passes.

    Attributes:
        value: a score that occurs, the lowest that passes.
        kappa: Cohen's, between people and verdicts on rows that did not choose the threshold.
        wrong_passes: of the rows that pass, the share that people fail: what is let through.
        wrong_fails: of the rows that fail, the share that people pass: what is stopped, or looked at, in vain.
    """

    value: float
    kappa: Measure
    wrong_passes: Measure
    wrong_fails: Measure


def _best_threshold(
    judged: Sequence[float], passes: Sequence[bool], masses: Sequence[float], places: Iterable[int]
) -> float:
    """The threshold with the highest kappa over some of the rows; the middle one of several.

    Args:
        judged: the judge's score of each row.
        passes: whether people pass it.
        masses: how many rows each stands for.
        places: which of the rows count; among them one that passes and one that fails.
    """
    order = sorted(places, key=judged.__getitem__, reverse=True)
    total = sum(masses[place] for place in order)
    people = sum(masses[place] for place in order if passes[place])
    passed, right, found = 0.0, 0.0, []
    for value, group in groupby(order, key=judged.__getitem__):
        for place in group:
            passed += masses[place]
            right += masses[place] if passes[place] else 0.0
        agreement = right + total - people - (passed - right)
        chance = (passed * people + (total - passed) * (total - people)) / total
        found.append(((agreement - chance) / (total - chance), value))
    best = max(kappa for kappa, _ in found)
    ties = [value for kappa, value in found if kappa >= best - 1e-12]
    return ties[len(ties) // 2]


def _verdicts_by_others(judged: Sequence[float], passes: Sequence[bool], masses: Sequence[float]) -> list[bool]:
    """The verdict on each row by a threshold that other rows chose; of two passes and two fails or more."""
    generator = random.Random(0)  # noqa: S311  the same folds every time
    folds: list[list[int]] = [[] for _ in range(FOLDS)]
    for wanted in (True, False):
        own = [place for place, passed in enumerate(passes) if passed is wanted]
        generator.shuffle(own)
        for index, place in enumerate(own):
            folds[index % FOLDS].append(place)
    verdicts = [False] * len(judged)
    for fold in filter(None, folds):
        others = [place for other in folds if other is not fold for place in other]
        limit = _best_threshold(judged, passes, masses, others)
        for place in fold:
            verdicts[place] = judged[place] >= limit
    return verdicts


Cell = tuple[bool, bool]
"""The judge's verdict, people's verdict."""

HALF = 0.5


@dataclass(frozen=True)
class VerdictTable:
    """How often judge and people gave each pair of verdicts.

    Attributes:
        shares: of all rows, by the judge's verdict and people's.
        count: how many rows there are; with weights, how many equal ones would tell as much.
        confidence: of the intervals.
    """

    shares: dict[Cell, float]
    count: float
    confidence: float

    @property
    def agreement(self) -> float:
        """The share of rows on which both say the same."""
        return self.shares[True, True] + self.shares[False, False]

    @property
    def quantile(self) -> float:
        """Standard errors on either side of a value."""
        return normal_quantile((1 + self.confidence) / 2)

    def judge(self, said: bool) -> float:
        """The share of rows that the judge passes, or fails."""
        return self.shares[said, True] + self.shares[said, False]

    def people(self, said: bool) -> float:
        """The share of rows that people pass, or fail."""
        return self.shares[True, said] + self.shares[False, said]

    def measures(self) -> dict[str, Measure]:
        """Kappa and AC1; of the rows that people pass the share that the judge passes, and the same of fails."""
        sensitivity = self.rate((True, True), self.people(True), "no labelled row passes")
        specificity = self.rate((False, False), self.people(False), "no labelled row fails")
        return {"kappa": self.kappa(), "ac1": self.ac1(), "sensitivity": sensitivity, "specificity": specificity}

    def threshold(self, value: float) -> Threshold:
        """A threshold whose verdicts these are."""
        wrong_passes = self.rate((True, False), self.judge(True), "the judge passes no labelled row")
        wrong_fails = self.rate((False, True), self.judge(False), "the judge fails no labelled row")
        return Threshold(value, self.kappa(), wrong_passes, wrong_fails)

    def rate(self, cell: Cell, whole: float, problem: str) -> Measure:
        """Which part of some rows is in this cell, or the problem where there are no such rows."""
        if not whole:
            return Measure(problem=problem)
        share = self.shares[cell] / whole
        low, high = score_limits(share, self.quantile**2 / (whole * self.count))
        return Measure(share, Interval(max(min(low, share), 0.0), min(max(high, share), 1.0), "wilson"))

    def kappa(self) -> Measure:
        """Cohen's kappa: 1 where both always agree, 0 where as often as two who do not look.

        The lower end of its interval is that of a table with half a row more in each cell (Agresti 2013, Categorical Data
        Analysis, section 3.1.8), since one row more or less may change kappa much where few rows fail. The upper end is that of
        Jeffreys' interval for the agreement, on as many rows as have the variance of kappa: half a row more in each cell would
        pull it down, and exclude judges that are nearly always right. From 20 rows on the interval holds in 0.93 to 0.99 of samples
        for judges with a sensitivity and specificity of 0.4 to 0.99 and pass rates of 0.5 and 0.8.

        Source: Cohen 1960, Educational and Psychological Measurement 20:37; variance: Fleiss, Cohen & Everitt 1969, Psychological
        Bulletin 72:323, equation 8.
        """
        for said, words in ((True, "passes"), (False, "fails")):
            for who, share in (("labels", self.people), ("verdicts of the judge", self.judge)):
                if not share(not said):
                    return Measure(problem=f"all {who} are {words}, so agreement beyond chance cannot be measured")
        agreement, (value, chance, variance) = self.agreement, self._kappa_parts()
        shares = {cell: (share * self.count + HALF) / (self.count + 4 * HALF) for cell, share in self.shares.items()}
        fuller = dataclasses.replace(self, shares=shares)
        _, more_chance, more_variance = fuller._kappa_parts()
        low = coefficient_limits(fuller.agreement, more_chance, more_variance, self.quantile, self.count)[0]
        room, spread = agreement * (1 - agreement), variance * (1 - chance) ** 2
        rows = room / spread if room > 0 and spread > 0 else self.count
        most = beta_quantile((1 + self.confidence) / 2, agreement * rows + HALF, (1 - agreement) * rows + HALF)
        high = max((most - chance) / (1 - chance), value)
        return Measure(value, Interval(min(low, value), high, "wilson-chance"))

    def _kappa_parts(self) -> tuple[float, float, float]:
        """Kappa, the agreement that chance would give, and the large-sample variance of kappa."""
        judge, people, shares = self.judge, self.people, self.shares
        chance = judge(True) * people(True) + judge(False) * people(False)
        value = (self.agreement - chance) / (1 - chance)
        alike = math.fsum(
            shares[said, said] * (1 - (judge(said) + people(said)) * (1 - value)) ** 2 for said in (True, False)
        )
        # a row off the diagonal adds the judge's share of what people say and people's share of what the judge says
        other = math.fsum(shares[said, not said] * (judge(not said) + people(said)) ** 2 for said in (True, False))
        spread = alike + (1 - value) ** 2 * other - (value - chance * (1 - value)) ** 2
        return value, chance, spread / (1 - chance) ** 2 / self.count

    def ac1(self) -> Measure:
        """Gwet's AC1: agreement beyond chance that does not fall where nearly all rows pass, as kappa does.

        Source: Gwet 2008, British Journal of Mathematical and Statistical Psychology 61:29, equations 6 and 13.
        """
        passing = (self.judge(True) + self.people(True)) / 2
        chance = 2 * passing * (1 - passing)
        value = (self.agreement - chance) / (1 - chance)

        def influence(cell: Cell) -> float:
            passes = sum(cell) / 2
            own_chance = passes * (1 - passing) + (1 - passes) * passing
            own = ((cell[0] == cell[1]) - chance) / (1 - chance)
            return own - 2 * (1 - value) * (own_chance - chance) / (1 - chance)

        squares = math.fsum(share * (influence(cell) - value) ** 2 for cell, share in self.shares.items())
        limits = coefficient_limits(self.agreement, chance, squares / (self.count - 1), self.quantile, self.count)
        return Measure(value, Interval(*limits, "wilson-chance"))


def verdict_table(rows: LabelledRows, judge: Sequence[bool], people: Sequence[bool], confidence: float) -> VerdictTable:
    """The verdicts of judge and people on the labelled rows.

    Rows in clusters count as that many independent rows which would tell as much of how often both say the same.
    """
    sums: dict[Cell, float] = {(one, other): 0.0 for one in (True, False) for other in (True, False)}
    for one, other, mass in zip(judge, people, rows.masses, strict=True):
        sums[one, other] += mass
    total = math.fsum(rows.masses)
    same = [float(one == other) for one, other in zip(judge, people, strict=True)]
    count = max(effective_count(rows.masses) / design_effect(rows, same), FEWEST_COUNTED)
    return VerdictTable({cell: found / total for cell, found in sums.items()}, count, confidence)


NOT_VERDICTS = "labels are no passes and fails"
VERDICTS = "the judge gives verdicts, which sensitivity and specificity tell about"
FEWEST_OF_CLASS = 2
FEWEST_COUNTED = 2.0
"""Clusters never make rows tell less than two would."""


@dataclass(frozen=True)
class Agreement:
    """A judge beside people, over the rows that both looked at.

    Attributes:
        labels: how many rows have a label.
        passing: how many of the labels are passes; None where they are no passes and fails.
        kappa: Cohen's kappa.
        ac1: Gwet's AC1.
        sensitivity: of the rows that people pass, the share that the judge passes.
        specificity: of the rows that people fail, the share that the judge fails.
        auroc: how often the judge scores a row that people pass above one that they fail.
        spearman: rank correlation of scores and labels.
        difference: mean of the judge's scores minus mean of the labels, both of the labelled rows.
        threshold: from which score on a row passes; None where the judge gives verdicts, where the threshold was given, and where
            labels are no passes and fails or too few of either.
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
    """No number, and why."""
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
    """How far the judge agrees with people on the rows that have a label.

    Args:
        judged: the judge's score of every row, finite.
        labels: people's label of each row, in the same order; None where there is none. At least 8 of them. True and False are 1
            and 0.
        weights: as of `corrected_mean`: how many rows each labelled row stands for. None if all were as likely to be labelled.
        clusters: for each row what it shares with others, such as the name of its document: any hashable value. All intervals are
            wider for it. None if the rows are independent.
        scale: lowest and highest possible label, the lowest first; None if they are not known. The difference has its interval
            from the same scale, where the scores lie on it too.
        threshold: the score from which the judge passes a row. None: scores that are nothing but 0 and 1 are verdicts, and for
            others it is chosen so that kappa is highest, and the figures are those of rows that did not choose it.
        confidence: how often such intervals hold, above 0 and below 1.

    Raises:
        InvalidInput: if lengths differ, if a value is not finite, if a label is not on the scale, if there are fewer than 8, if a
            labelled row has no weight or a row no cluster, or if confidence or scale are impossible.
    """
    check_confidence(confidence)
    rows = labelled_rows(judged, labels, weights, clusters, scale)
    own = [rows.judged[place] for place in rows.places]
    alike = max(design_effect(rows, own), design_effect(rows, rows.labels))
    found = dataclasses.replace(
        without_agreement(len(rows.labels), NOT_VERDICTS),
        spearman=spearman(own, rows.labels, rows.masses, confidence, alike),
        difference=_difference(rows, own, confidence),
    )
    if not rows.passes_and_fails:
        return found
    assert rows.scale is not None
    passes = [label > (rows.scale[0] + rows.scale[1]) / 2 for label in rows.labels]
    verdicts = threshold is None and set(rows.judged) <= {0, 1}
    area = Measure(problem=VERDICTS) if verdicts else auroc(own, passes, rows.masses, confidence, alike)
    found = dataclasses.replace(found, passing=sum(passes), auroc=area)
    return _with_verdicts(found, rows, passes, 1.0 if verdicts else threshold, confidence)


def _with_verdicts(
    found: Agreement, rows: LabelledRows, passes: Sequence[bool], limit: float | None, confidence: float
) -> Agreement:
    """Add the measures of verdicts: scores from the limit on pass. Without a limit the threshold is chosen here."""
    own, chosen = [rows.judged[place] for place in rows.places], None
    measures: dict[str, Any]
    if limit is not None:
        measures = verdict_table(rows, [value >= limit for value in own], passes, confidence).measures()
    elif problem := _too_few(passes):
        measures = dict.fromkeys(("kappa", "ac1", "sensitivity", "specificity"), Measure(problem=problem))
    else:
        table = verdict_table(rows, _verdicts_by_others(own, passes, rows.masses), passes, confidence)
        measures = table.measures()
        chosen = table.threshold(_best_threshold(own, passes, rows.masses, range(len(passes))))
    return dataclasses.replace(found, threshold=chosen, **measures)


def _too_few(passes: Sequence[bool]) -> str | None:
    """Why no threshold can be chosen on some rows and judged on others, if none can."""
    for wanted, words in ((True, "pass"), (False, "fail")):
        count = sum(passed is wanted for passed in passes)
        if count < FEWEST_OF_CLASS:
            rows = "no labelled row" if not count else "one labelled row alone"
            return f"{rows} is a {words}, so no threshold can be chosen: label more rows"
    return None


def _difference(rows: LabelledRows, own: Sequence[float], confidence: float) -> Measure:
    """The mean difference: scores of the judge minus labels."""
    changes = [value - label for value, label in zip(own, rows.labels, strict=True)]
    low, high = rows.scale or (math.inf, math.inf)
    scale = (low - high, high - low) if all(low <= value <= high for value in own) else None
    beside = dataclasses.replace(rows, labels=changes, scale=scale)
    interval = labels_alone(beside, confidence)
    problem = "all labelled rows differ by the same, and without a scale nothing tells how much others may"
    return Measure(beside.label_mean, interval, None if interval else problem)


FEWEST_ROWS = 2
ROUNDING = 1e-12


def annotator_alpha(ratings: Sequence[Sequence[float | None]], confidence: float = 0.95) -> Measure:
    """Krippendorff's alpha between annotators: 1 where all agree, 0 where they agree as often as labels at random.

    The interval has the variance of the jackknife over rows (Miller 1974, Biometrika 61:1), Student's t and Wilson's form.

    Args:
        ratings: of each row the labels that annotators gave it, finite; None where one gave none. Rows with fewer than two labels
            do not count.
        confidence: how often such intervals hold, above 0 and below 1.

    Returns:
        No value where fewer than two rows have labels of two annotators, and where all labels are equal; no interval of two rows
        each of which has equal labels.

    Source: Krippendorff 2011, Computing Krippendorff's Alpha-Reliability, section D.

    Raises:
        InvalidInput: if a label is not finite, or if confidence is impossible.
    """
    check_confidence(confidence)
    rows = [_given(row, given) for row, given in enumerate(ratings)]
    rows = [labels for labels in rows if len(labels) > 1]
    if len(rows) < FEWEST_ROWS:
        return Measure(problem="fewer than two rows have labels of two annotators")
    everything = [label for labels in rows for label in labels]
    if min(everything) == max(everything):
        return Measure(problem="all labels are equal, so agreement beyond chance cannot be measured")
    centre = math.fsum(everything) / len(everything)  # sums of squares about it lose no digits
    terms = [_terms(labels, centre) for labels in rows]
    sums = [math.fsum(column) for column in zip(*terms, strict=True)]
    observed, expected = _ratios(*sums)
    left_out = [_ratios(*(total - own for total, own in zip(sums, term, strict=True))) for term in terms]
    value, count = 1 - observed / expected, len(rows)
    # what rounding leaves of no difference at all is none either
    without = [1 - own / other for own, other in left_out if other > ROUNDING * expected]
    if not without:
        return Measure(value, problem="without either row all labels are equal, so that nothing tells how sure this is")
    middle = math.fsum(without) / len(without)
    variance = math.fsum((one - middle) ** 2 for one in without) * (count - 1) / count
    reach = (max(everything) - min(everything)) ** 2
    quantile = t_quantile((1 + confidence) / 2, count - 1)
    limits = coefficient_limits(1 - observed / reach, 1 - expected / reach, variance, quantile, count)
    low, high = min(limits[0], max(value, -1.0)), max(limits[1], value)  # rounding must not push them past the value
    return Measure(value, Interval(low, high, "wilson-chance"))


def _given(row: int, labels: Sequence[float | None]) -> list[float]:
    given = [label for label in labels if label is not None]
    for label in given:
        if not is_finite(label):
            raise InvalidInput(f"ratings[{row}] has the label {label!r}: give finite numbers, or None for no label")
    return given


def _terms(labels: Sequence[float], centre: float) -> tuple[float, float, float, float]:
    """What a row adds: labels, their sum, their squares, and squared differences among them; all about a centre."""
    count = len(labels)
    total = math.fsum(label - centre for label in labels)
    squares = math.fsum((label - centre) ** 2 for label in labels)
    return count, total, squares, 2 * (count * squares - total * total) / (count - 1)


def _ratios(count: float, total: float, squares: float, within: float) -> tuple[float, float]:
    """Mean squared difference between labels of the same row, and between labels of any rows."""
    return max(within, 0.0) / count, 2 * (count * squares - total * total) / count / (count - 1)

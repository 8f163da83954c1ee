"""The mean that people would have given, from few labels and many judgements.

A judge errs, so the mean of its scores is not the mean of people's labels; but it is cheap, and it says something about every row.
Labels are right, and there are few. Together they give a narrower interval than labels alone, and one that holds whatever the
judge's errors are. Which method is used follows from the labels; each result says which one made it:

``post-stratified-beta``
    Passes and fails (`_post_stratified`). A judge that gives verdicts makes two strata; one that gives more values makes up to
    five, of at least 8 labels each.
``post-stratified-dirichlet``
    Grades on a known scale: at most 11 different labels, each given twice on average, so that a stratum shows what there is.
``ppi++``
    Other labels, from 100 on (`_ppi`): as many labels make its normal approximation hold. Fewer stand alone.
the methods of `mean_interval`
    Labels alone: where there are too few for another method, and where the judge adds nothing. Then ``note`` says why.

A judge adds nothing where it gave all rows the same score and where its scores do not go with the labels; where all labels are
equal, ``note`` says that nothing tells whether they do. Then the labels stand alone.
Whether scores go with grades is told by how much the grades differ within strata (`_gain`), and not by which interval is narrower.
Of passes and fails beside scores, of grades with unequal weights, whose spread shows less than there is, and of PPI++, the labels
stand alone where the corrected interval is `WIDER` times as wide as theirs. Two verdicts never cost more than they give, on
average, so there the corrected interval stands. ``note`` says where an interval that stands is no narrower.

How often these intervals hold, and how wide they are: ``bench/calibration.py``.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from ._checks import check_confidence
from ._distributions import t_quantile
from ._gain import strata_gain
from ._interval import Interval
from ._labelled import FEWEST_FOR_INTERVAL, LabelledRows, labelled_rows, too_uneven
from ._labels_alone import labels_alone, mean_of_labels
from ._post_stratified import DIRICHLET, post_stratified
from ._ppi import powered_mean
from ._score_form import student_interval
from ._strata import strata_of

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
    probabilities, as `suggest` does. Rows that somebody picked out make the result wrong.

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
    rows = labelled_rows(judged, labels, weights, clusters, scale)
    label_mean, even = mean_of_labels(rows), too_uneven(rows.masses) is None
    alone = labels_alone(rows, confidence) if even else None
    found = _corrected(rows, confidence) if even else (0.0, None, None)
    mean, interval, note = _beside_alone(rows, *found, alone)
    if interval is None:
        mean, interval = label_mean, alone
    note = _note(rows, interval, alone, note)
    return CorrectedMean(
        mean=mean,
        interval=interval,
        method=interval.method if interval else "none",
        judge_mean=math.fsum(rows.judged) / len(rows.judged),
        label_mean=label_mean,
        label_interval=alone,
        labels=len(rows.labels),
        rows=len(rows.judged),
        note=note,
    )


def _note(rows: LabelledRows, interval: Interval | None, alone: Interval | None, note: str | None) -> str | None:
    """Why there is no interval, or why the judge is not said to help; None where it helps."""
    left = too_uneven(rows.masses)
    if left is not None:
        return TOO_UNEVEN.format(len(rows.labels), left, FEWEST_FOR_INTERVAL)
    if interval is None:
        return NO_SCALE if rows.label_clusters is None or len(set(rows.label_clusters)) > 1 else ONE_CLUSTER
    if note in {None, NO_HELP} and len(set(rows.labels)) == 1:  # narrower or not for its method, not for the judge
        return ONE_LABEL
    gain = _gain(interval, alone) or 0.0
    return HARDLY.format(100 * gain) if note is None and gain < GAIN else note


def _beside_alone(
    rows: LabelledRows, mean: float, interval: Interval | None, note: str | None, alone: Interval | None
) -> tuple[float, Interval | None, str | None]:
    """The corrected mean where it is worth its name beside labels alone; else no interval, and why."""
    if interval is None or alone is None or _width(interval) < _width(alone):
        return mean, interval, note
    # then it is chosen by other means than its width
    chosen = rows.verdicts or (interval.method == DIRICHLET and rows.weights is None)
    if not chosen and _width(interval) > WIDER * _width(alone):
        return mean, None, NO_HELP
    return mean, interval, NO_NARROWER


def _corrected(rows: LabelledRows, confidence: float) -> tuple[float, Interval | None, str | None]:
    """The corrected mean and its interval; else none, and why the labels stand alone."""
    if len(rows.labels) == len(rows.judged):
        return 0.0, None, NO_REST
    if min(rows.judged) == max(rows.judged):
        return 0.0, None, ONE_SCORE
    if rows.label_clusters is not None and len(set(rows.label_clusters)) == 1:
        return 0.0, None, ONE_CLUSTER
    if rows.scale is not None and (rows.passes_and_fails or _are_grades(rows.labels)):
        strata = strata_of(rows)
        if len(strata) == 1:
            return 0.0, None, ONE_STRATUM
        if not rows.passes_and_fails and rows.weights is None and not strata_gain(rows, strata):
            return 0.0, None, NO_HELP
        return *post_stratified(rows, strata, confidence), None
    if len(rows.labels) < ENOUGH:
        return 0.0, None, TOO_FEW
    found = powered_mean(rows)
    if not found.power:
        return 0.0, None, NO_HELP
    quantile = t_quantile((1 + confidence) / 2, found.freedom)
    mean = found.mean if rows.scale is None else min(max(found.mean, rows.scale[0]), rows.scale[1])
    return mean, student_interval(mean, found.variance, quantile, rows.scale, "ppi++"), None


def _are_grades(labels: Sequence[float]) -> bool:
    different = len(set(labels))
    return different <= MOST_GRADES and 2 * different <= len(labels)


def _gain(interval: Interval | None, alone: Interval | None) -> float | None:
    return 1 - _width(interval) / _width(alone) if interval and alone and _width(alone) else None


def _width(interval: Interval) -> float:
    return interval.high - interval.low

"""How far a judge agrees with people, in the numbers that the field reports, each with its interval.

Passes and fails against verdicts have Cohen's kappa, Gwet's AC1, sensitivity and specificity; against scores they have the area
under the ROC curve too, and the verdicts are those of a threshold (`_threshold`). Grades and other numbers have a rank
correlation and a mean difference. What cannot be had is missing, with the reason: nothing is told of fails where no label is one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from ._checks import check_confidence
from ._influence import design_effect
from ._labelled import LabelledRows, labelled_rows
from ._labels_alone import labels_alone, mean_of_labels
from ._measure import Measure
from ._ranks import auroc, spearman
from ._threshold import Scored, Threshold, best_threshold, judged_elsewhere
from ._verdict_table import VerdictTable, verdict_table

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
    missing = Measure(problem=NOT_VERDICTS)
    found = Agreement(
        labels=len(rows.labels),
        passing=None,
        kappa=missing,
        ac1=missing,
        sensitivity=missing,
        specificity=missing,
        auroc=missing,
        spearman=spearman(own, rows.labels, rows.masses, confidence, alike),
        difference=_difference(rows, own, confidence),
    )
    return _with_passes(found, rows, own, threshold, confidence, alike) if rows.passes_and_fails else found


def _with_passes(  # noqa: PLR0917
    found: Agreement,
    rows: LabelledRows,
    own: Sequence[float],
    threshold: float | None,
    confidence: float,
    alike: float,
) -> Agreement:
    """What labels that are passes and fails tell beside; ``alike`` is the design effect of clusters."""
    assert rows.scale is not None
    passes = [label > (rows.scale[0] + rows.scale[1]) / 2 for label in rows.labels]
    scored = Scored(own, passes, rows.masses)
    verdicts = threshold is None and set(rows.judged) <= {0, 1}
    table, chosen, missing = None, None, Measure()
    if verdicts or threshold is not None:
        limit = 1.0 if threshold is None else threshold
        judge = [value >= limit for value in own]
        table = _clustered(verdict_table(zip(judge, passes, rows.masses, strict=True), confidence), rows, judge, passes)
    elif (problem := _too_few(passes)) is not None:
        missing = Measure(problem=problem)
    else:
        verdicts_elsewhere = judged_elsewhere(scored)
        table = verdict_table(
            ((said, passed, mass) for said, passed, mass in zip(verdicts_elsewhere, passes, rows.masses, strict=True)),
            confidence,
        )
        table = _clustered(table, rows, verdicts_elsewhere, passes)
        limit = best_threshold(scored, range(len(passes)))
        chosen = Threshold(limit, table.kappa(), table.wrong_passes(), table.wrong_fails())
    return dataclasses.replace(
        found,
        passing=sum(passes),
        kappa=table.kappa() if table else missing,
        ac1=table.ac1() if table else missing,
        sensitivity=table.sensitivity() if table else missing,
        specificity=table.specificity() if table else missing,
        auroc=Measure(problem=VERDICTS) if verdicts else auroc(own, passes, rows.masses, confidence, alike),
        threshold=chosen,
    )


def _clustered(table: VerdictTable, rows: LabelledRows, judge: Sequence[bool], people: Sequence[bool]) -> VerdictTable:
    """The table, counted as that of independent rows which would tell as much of how often both say the same."""
    same = [float(one == other) for one, other in zip(judge, people, strict=True)]
    return dataclasses.replace(table, count=max(table.count / design_effect(rows, same), FEWEST_COUNTED))


def _too_few(passes: Sequence[bool]) -> str | None:
    """Why no threshold can be chosen on some rows and judged on others, if none can."""
    for wanted, words in ((True, "pass"), (False, "fail")):
        count = sum(passed is wanted for passed in passes)
        if count < FEWEST_OF_CLASS:
            rows = "no labelled row" if not count else "one labelled row alone"
            return f"{rows} is a {words}, so no threshold can be chosen: label more rows"
    return None


def _difference(rows: LabelledRows, own: Sequence[float], confidence: float) -> Measure:
    """By how much the judge is above people, on average."""
    changes = [value - label for value, label in zip(own, rows.labels, strict=True)]
    if rows.scale is None or not all(rows.scale[0] <= value <= rows.scale[1] for value in own):
        scale = None
    else:
        width = rows.scale[1] - rows.scale[0]
        scale = (-width, width)
    beside = dataclasses.replace(rows, labels=changes, scale=scale)
    mean = mean_of_labels(beside)
    interval = labels_alone(beside, confidence)
    if interval is None:
        return Measure(
            mean, None, "all labelled rows differ by the same, and without a scale nothing tells how much others may"
        )
    return Measure(mean, interval)

"""Compute a calibration from labels and a run: match labels with rows, and let ``statistics`` do the arithmetic.

A claim is named by its text, as reports write it, or by its number among the claims of the row. Claims of one row are alike, so
each row is a cluster. Among many slices some look bad by chance, so the intervals of their differences hold for all slices
together (Bonferroni).

A label does not record how its row was chosen. But rows that were picked by hand can be recognized: they are the first rows of
the file; or the judge's scores of these rows, or its certainty, differ from its scores of all rows by more than a random draw
explains.

The rows to label next are lines to fill in, with the question, the answer, no score, and the weight that the draw gives the row.
A weight of 1 counts as much as a row drawn uniformly; 2 is the largest possible weight. So lines of several draws, and labels of
rows that were drawn uniformly, may be used together.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

from .._run._columns import Run, common_scale
from .._run._scored_rows import ScoredRows
from .._run._slices import RowGroups, as_label, slices_of
from .._show._tables import cut_middle
from .._store._labels import Label, check_rows, read_labels
from .._store._records import is_given, json_value
from .._store._run_settings import row_digest
from .._values._counts import count_of, grouped
from .._values._errors import InvalidInput, Setting
from .._values._findings import findings_of
from .._values._score import Score
from ..statistics import Agreement, Measure, Threshold, agreement, annotator_alpha, corrected_mean, suggest
from ..statistics._agreement import OF_VERDICTS, threshold_kappas, without_agreement
from ..statistics._corrected import labels_alone
from ..statistics._interval import difference_of_means, weighted_mean
from ..statistics._labelled import FEWEST_LABELS, SURE, LabelledRows, effective_count, uncertainty, uneven
from ..statistics._means import larger_rate_mid_p, mean_of
from ._calibration import Calibration, ClaimCalibration, LabelledScore, MetricCalibration, SliceCalibration, turned
from ._rows import HALF, MetricLabels, labels_in_force, metric_labels, parted_labels

UNIT = (0.0, 1.0)
CONFIDENCE = 0.95


def calibrated(run: ScoredRows, labels: Any, metric: str | None, by: str | None, cluster: str | None) -> Calibration:
    """Compare a run with labels; ``Evaluation.calibrate`` documents the arguments.

    Raises:
        InvalidInput: labels cannot be read, belong to other rows or metrics, or are too few for any number; or the run stopped
            when its gates were decided.
    """
    run.check_all_rows("a calibration")
    labels_given = known_labels(run, labels, metric)
    names = [item.name for item in run.metrics if any(label.metric == item.name for label in labels_given)]
    groups = RowGroups(by, cluster)
    rows = Run.of(run, "", groups)
    groups.check()
    check_rows(labels_given, [row.name for row in rows.rows])
    labels_given, notes = labels_in_force(labels_given, rows)
    by_metric = grouped((item.metric, item) for item in labels_given)
    several = len(names)
    calibrations = tuple(_calibrated_metric(name, by_metric.get(name, []), rows, by, several) for name in names)
    if all(item.agreement is None and (item.claims is None or item.claims.agreement is None) for item in calibrations):
        problems = {item.name: item.problem or (item.claims.problem if item.claims else None) for item in calibrations}
        raise InvalidInput("; ".join(f"{name}: {problem}" for name, problem in problems.items() if problem))
    name = str(run.run_dir or run.source or "this run")
    others = tuple(caveat for caveat in run.caveats if caveat != run.doubt)
    return Calibration(name, calibrations, by, cluster, notes, run.doubt, others)


def known_labels(run: ScoredRows, labels: Any, metric: str | None) -> list[Label]:
    """Return the labels of the metrics of this run, or of one metric if ``metric`` names it.

    Raises:
        InvalidInput: there is no such metric, labels cannot be read, or no label belongs to it.
    """
    scales = _scales(run, metric)
    given = [replace(item, id=as_label(item.id) or item.id) for item in read_labels(labels, metric, scales)]
    found = [item for item in given if metric is None or item.metric == metric]
    if not found:
        others = ", ".join(dict.fromkeys(repr(item.metric) for item in given))
        raise InvalidInput(f"there are no labels of {metric!r}, only of {others}")
    return found


def _scales(run: ScoredRows, metric: str | None) -> dict[str, tuple[float, float] | None]:
    """Return the scales of all metrics; ``metric`` must be one of them."""
    scales = {item.name: item.scale for item in run.metrics}
    if metric is not None and metric not in scales:
        known = ", ".join(scales) or "none"
        raise InvalidInput(Setting("metric"), f": there is no metric {metric!r}; there are {known}")
    return scales


def _calibrated_metric(name: str, labels: Sequence[Label], run: Run, by: str | None, several: int) -> MetricCalibration:
    of_claims = [item for item in labels if item.claim is not None]
    row_labels = metric_labels([item for item in labels if item.claim is None])
    judged = Judged(run, name, row_labels)
    blank = MetricCalibration(
        name=name,
        verdicts=row_labels.verdicts,
        lower_is_better=judged.column.higher_is_better is False,
        scale=judged.scale,
        rows=len(judged.rows),
        without_score=len(run.rows) - len(judged.rows),
        labels=len(judged.places),
        lines=row_labels.lines,
        annotators=len({item.annotator for item in labels}),
        split=sum(label == HALF for label in judged.labels) if row_labels.verdicts else 0,
        unscored=len(row_labels.rows) - len(judged.places),
        judge_mean=mean_of(judged.scores),
        corrected=None,
        agreement=None,
        ceiling=annotator_alpha([row.given for row in row_labels.rows.values()]),
        claims=claim_calibration(of_claims, run, name) if of_claims else None,
        own=row_labels,
    )
    if len(judged.places) < FEWEST_LABELS:
        unscored = f" ({blank.unscored} more without a score)" if blank.unscored else ""
        have = _have_a_label(blank.labels, "row") if blank.labels else "no row with a score has a label"
        problem = f"{have}{unscored}, too few to conclude anything about other rows: label at least {FEWEST_LABELS}"
        return blank if of_claims and not row_labels.lines else replace(blank, problem=problem)
    measures = judged.agreement()
    return replace(
        blank,
        corrected=corrected_mean(judged.values, judged.labels, judged.weights, judged.clusters, judged.label_scale),
        agreement=measures,
        beside=tuple(judged.beside(measures.threshold)),
        kappas=judged.kappas(measures.threshold),
        slices=()
        if by is None or run.slices is None
        else tuple(judged.slices(run.slices, by, measures.threshold, several)),
        warnings=tuple(doubts(judged)),
    )


class Judged:
    """The rows that one metric scored; some of them have labels by people.

    Attributes:
        column: the metric. If its better end is not known, high values are taken to be good, and `doubts` says so.
        scale: lowest and highest possible score; None if it is not known, or differs between rows.
        rows: the rows with a score.
        names: the names of these rows in labels.
        scores: their values.
        values: the scores, turned so that high is good if labels are pass or fail.
        verdicts: 1 for each row that passes the metric, 0 for each other row; None unless the metric gives every row a verdict.
        clusters: the cluster label of each row; None if rows are independent.
        own: the labels.
        labels: people's label of each row; None for a row without a label.
        label_scale: the scale of the labels.
        weights: how many rows each labelled row represents; None if all represent equally many.
        places: the labelled rows, as indices of ``rows``.
    """

    def __init__(self, run: Run, name: str, own: MetricLabels) -> None:
        """Take a run, one of its metrics, and the labels."""
        column = run.columns[name]
        self.column, self.own = column.metric, own
        self.rows = [row for row, value in enumerate(column.values) if value is not None]
        self.names = [run.rows[row].name for row in self.rows]
        self.scores = [value for value in column.values if value is not None]
        self.scale = common_scale(column.metric.scale, (column.scales[row] for row in self.rows))
        self.values = self.scores
        if own.verdicts and column.metric.higher_is_better is False:
            self.values = [turned(value, self.scale) for value in self.scores]
        passing = [column.passing[row] for row in self.rows]
        self.verdicts = None if None in passing else [float(bool(passed)) for passed in passing]
        self.clusters = None if run.clusters is None else [run.clusters[row] for row in self.rows]
        labelled = [own.rows.get(row) for row in self.names]
        self.labels = [None if item is None else item.label for item in labelled]
        self.label_scale = UNIT if own.verdicts else self.scale
        weights = [None if item is None else item.weight for item in labelled]
        self.weights = None if set(weights) == {None} else weights
        self.places = [place for place, item in enumerate(labelled) if item is not None]

    def weights_of(self, places: Sequence[int]) -> list[float] | None:
        """Return the weights of some labelled rows; None if all count the same."""
        return None if self.weights is None else [self.weights[place] or 0.0 for place in places]

    def agreement(self) -> Agreement:
        """Measure how far judge and people agree.

        If labels are pass or fail, rows on which people are split are left out. The judge's verdicts are the metric's own, if it
        gives any.
        """
        labels = [None if label == HALF and self.own.verdicts else label for label in self.labels]
        count = sum(label is not None for label in labels)
        if count < FEWEST_LABELS:
            problem = f"annotators agree on {count} rows only: at least {FEWEST_LABELS} are needed"
            return without_agreement(count, problem)
        measures = agreement(self.values, labels, self.weights, clusters=self.clusters, scale=self.label_scale)
        if not self.own.verdicts:
            return measures
        if self.verdicts is not None:
            by_verdicts = agreement(self.verdicts, labels, self.weights, clusters=self.clusters, scale=UNIT)
            measures = replace(measures, **{name: getattr(by_verdicts, name) for name in OF_VERDICTS})
        if self.scale == UNIT:
            return measures
        problem = "labels are passes and fails, and scores are on another scale"
        return replace(measures, difference=Measure(problem=problem))

    def slices(
        self, of_rows: Sequence[str | None], by: str, threshold: Threshold | None, several: int
    ) -> Iterator[SliceCalibration]:
        """Return every slice that has a labelled row; empty if it is unknown which scores pass. ``several`` is the number of
        metrics that are calibrated together.

        Raises:
            InvalidInput: there are too many slices.
        """
        errors = self._errors(threshold)
        groups = slices_of([of_rows[self.rows[place]] for place in self.places] if errors else [], by)
        strict = 1 - (1 - CONFIDENCE) / max(len(groups) * several, 1)
        for label, indices in groups.items():
            rows = [self.places[index] for index in indices]
            others = sorted(set(self.places).difference(rows))
            error, rest = (self._mean_error(errors, part, CONFIDENCE) for part in (rows, others))
            one, other = (self._mean_error(errors, part, strict) for part in (rows, others))
            difference = Measure(problem="this slice or the rest of the rows has too few labels to tell")
            if one.value is not None and other.value is not None and one.interval and other.interval:
                interval = difference_of_means(one.value, one.interval, other.value, other.interval)
                difference = Measure(one.value - other.value, interval)
            yield SliceCalibration(
                by=by,
                label=label,
                labels=len(rows),
                error=error,
                rest=rest,
                difference=difference,
                worse=difference.interval is not None
                and difference.interval.low > 0
                and self._is_sure(errors, rows, others, strict),
            )

    def _is_sure(self, errors: dict[int, float], rows: Sequence[int], others: Sequence[int], confidence: float) -> bool:
        """Whether an exact test agrees that the error in the first rows is larger. Wilson's interval is too narrow in its tails: by
        it alone, some of 8 slices of 30 labels would look worse in 9 % of samples in which the judge errs alike everywhere.
        """
        if self.weights is not None or self.clusters is not None or not set(errors.values()) <= {0.0, 1.0}:
            return True
        hits, rest = (round(sum(errors[row] for row in part)) for part in (rows, others))
        return larger_rate_mid_p(hits, len(rows), rest, len(others)) <= (1 - confidence) / 2

    def _judgements(self, threshold: Threshold | None) -> list[float] | None:
        """Return what labels are compared with: 1 or 0 if they are pass or fail (None: unknown), otherwise the scores."""
        if not self.own.verdicts:
            return self.values
        if self.verdicts is not None:
            return self.verdicts
        if threshold is not None:
            return [float(value >= threshold.value) for value in self.values]
        return self.values if set(self.values) <= {0, 1} else None

    def _errors(self, threshold: Threshold | None) -> dict[int, float]:
        """Return the judge's error on each labelled row: 1 if its verdict differs from people's (0 if not), or the distance
        between the grades.
        """
        values = self._judgements(threshold)
        if values is None:
            return {}
        return {place: abs(values[place] - (self.labels[place] or 0.0)) for place in self.places}

    def beside(self, threshold: Threshold | None) -> Iterator[LabelledScore]:
        """Return the labelled rows, with what judge and people say of each."""
        errors, values = self._errors(threshold), self._judgements(threshold)
        for place in self.places:
            passes = bool(values[place]) if self.own.verdicts and values is not None else None
            label = self.labels[place] or 0.0
            yield LabelledScore(
                self.rows[place], self.names[place], self.scores[place], label, passes, errors.get(place)
            )

    def kappas(self, threshold: Threshold | None) -> dict[float, float]:
        """Return kappa by each threshold, as values of the metric; empty without a best threshold."""
        if threshold is None:
            return {}
        places = [place for place in self.places if self.labels[place] != HALF]
        passes = [label == 1 for label in self.labels]
        found = threshold_kappas(
            self.values, passes, self.weights_of(range(len(self.rows))) or [1.0] * len(passes), places
        )
        low_is_good = self.column.higher_is_better is False
        return {turned(value, self.scale) if low_is_good else value: kappa for value, kappa in found.items()}

    def _mean_error(self, errors: dict[int, float], rows: Sequence[int], confidence: float) -> Measure:
        if len(rows) < FEWEST_LABELS:
            return Measure(problem=f"{_have_a_label(len(rows), 'row')}: label at least {FEWEST_LABELS}")
        weights = self.weights_of(rows)
        if weights is not None:
            mean = sum(weights) / len(weights)
            weights = [weight / mean for weight in weights]
        values = [errors.get(place, 0.0) for place in range(len(self.rows))]
        scale = None if self.label_scale is None else (0.0, self.label_scale[1] - self.label_scale[0])
        found = LabelledRows(values, rows, [errors[row] for row in rows], weights, self.clusters, scale)
        interval = labels_alone(found, confidence)
        problem = None if interval else "these rows do not show how much others differ"
        return Measure(found.label_mean, interval, problem)


def _have_a_label(count: int, noun: str) -> str:
    return f"{count_of(count, noun)} {'has' if count == 1 else 'have'} a label"


RARE = 3.0
"""A number of standard errors. In fewer than 3 of 1,000 draws the mean over drawn rows, of scores or of the judge's uncertainty,
lies this far from the mean over all rows.
"""


def doubts(judged: Judged) -> Iterator[str]:
    """Return reasons why the corrected score may be wrong."""
    labels, places, weights = judged.own, judged.places, judged.weights_of(judged.places)
    if labels.not_blind:
        number = f"{labels.not_blind} of {labels.lines} labels were"
        yield f"{number} given by people who had seen the score or its reasons: they agree with the judge more than they would else"
    if not judged.column.knows_better:
        yield "this file does not say whether high values of the metric are good: they are taken to be"
    effective = None if weights is None else uneven(weights)
    if effective is not None:
        yield (
            f"the weights are very unequal: {len(places)} labels show no more than {effective:.0f} of equal weight would, and with "
            f"fewer than {SURE:.0f} the interval is likely to be too narrow: label more rows"
        )
    if len(places) == len(judged.rows):
        return
    if weights is None and list(places) == list(range(len(places))):
        yield (
            f"the rows with a label are the first {len(places)} of the run: the order of rows is rarely random, and if it is not, "
            "the corrected score is wrong; --suggest draws rows at random"
        )
        return
    scores = "the judge's scores of the rows with a label are {} than those of all rows", ("lower", "higher")
    sureness = "the judge is {} sure of the rows with a label than of all rows", ("more", "less")
    unsure = uncertainty(judged.scores, judged.scale)
    for values, (words, sides) in ((judged.scores, scores), (unsure, sureness)):
        shift = _shift(values, places, weights)
        if abs(shift) > RARE:
            yield (
                f"{words.format(sides[shift > 0])}, by {abs(shift):.1f} standard errors: rows that were picked by hand look so, "
                "and then the corrected score is wrong; --suggest draws rows at random"
            )
            return


def _shift(values: Sequence[float], places: Sequence[int], weights: Sequence[float] | None) -> float:
    """Return the (weighted) mean over the rows at ``places`` minus the mean over all rows, in standard errors; 0 if this cannot
    be computed.
    """
    count, own = len(values), [values[place] for place in places]
    masses = [1.0] * len(own) if weights is None else weights
    mean = math.fsum(values) / count
    variance = math.fsum((value - mean) ** 2 for value in values) / (count - 1)
    drawn = effective_count(masses)
    error = math.sqrt(variance * max(1 / drawn - 1 / count, 0.0)) if drawn else 0.0
    return (weighted_mean(own, masses) - mean) / error if error else 0.0


LONGEST_CLAIM = 80
"""The number of characters of a claim that a message shows."""

Claim = tuple[str, bool]
"""The text of a claim with single spaces, and whether the judge supports it."""


def claim_calibration(labels: Sequence[Label], run: Run, metric: str) -> ClaimCalibration:
    """Compare the labels of claims of one metric with the judge's verdicts.

    Raises:
        InvalidInput: a row has no such claim, or an annotator labelled a claim both by its text and by its number.
    """
    names = {item.id for item in labels}
    claims = {
        row.name: _claims_of(run.evaluation.records[position].scores[metric])
        for position, row in enumerate(run.rows)
        if row.name in names
    }
    labels_of_claims: defaultdict[tuple[str, str], dict[str | None, Label]] = defaultdict(dict)
    verdicts: dict[tuple[str, str], bool] = {}
    for item in labels:
        text, holds = _claim(item, claims[item.id])
        verdicts[item.id, text] = holds
        first = labels_of_claims[item.id, text].setdefault(item.annotator, item)
        if first is not item:
            raise InvalidInput(
                f"{item.place}: the same annotator already labelled this claim in {first.place}: keep one of the two labels"
            )
    shares = {claim: fmean(bool(item.label) for item in said.values()) for claim, said in labels_of_claims.items()}
    decided = [claim for claim, share in shares.items() if share != HALF]
    rows = [row for row, _ in decided]
    measures, problem = None, None
    if len(decided) < FEWEST_LABELS:
        problem = f"{_have_a_label(len(decided), 'claim')}: label at least {FEWEST_LABELS}"
    else:
        passes = [shares[claim] > HALF for claim in decided]
        measures = agreement([verdicts[claim] for claim in decided], passes, clusters=rows, scale=UNIT)
    ceiling = annotator_alpha([[float(item.label) for item in said.values()] for said in labels_of_claims.values()])
    return ClaimCalibration(len(decided), len(set(rows)), len(shares) - len(decided), measures, ceiling, problem)


def _claims_of(score: Score) -> list[Claim]:
    """Return the claims in the evidence, in order. If there are several judgements, the majority decides; a tie means not
    supported.
    """
    texts = ((item.text, item.holds is True) for item in findings_of(score.details).items if item.verdict)
    votes = grouped((" ".join(text.split()), holds) for text, holds in texts if text is not None)
    return [(text, 2 * sum(said) > len(said)) for text, said in votes.items()]


def _claim(label: Label, claims: Sequence[Claim]) -> Claim:
    """Return the claim that a label names."""
    row = f"the row {label.id!r}"
    if not claims:
        problem = f"the evidence of {label.metric!r} for {row} has no claims: leave 'claim' out to label the row"
    elif isinstance(label.claim, int):
        if label.claim <= len(claims):
            return claims[label.claim - 1]
        problem = f"there is no claim {label.claim}: {row} has {count_of(len(claims), 'claim')} for {label.metric!r}"
    else:
        claim_text = " ".join(str(label.claim).split())
        for claim in claims:
            if claim[0] == claim_text:
                return claim
        shown, first = (cut_middle(text, LONGEST_CLAIM) for text in (claim_text, claims[0][0]))
        problem = (
            f"no claim of {row} reads {shown!r}; its claims for {label.metric!r} begin with {first!r}: write a claim as the "
            "report does, or its number"
        )
    raise InvalidInput(f"{label.place}: {problem}")


SHOWN = ("user_input", "response", "reference", "retrieved_contexts")
"""The fields of a row that an annotator needs to see."""

DIGITS = 6
"""The decimals of weights and probabilities in a file."""


def lines_to_label(run: ScoredRows, n: int, metric: str | None, labels: Any, seed: int) -> list[dict[str, Any]]:
    """Draw rows; ``Evaluation.rows_to_label`` documents the arguments.

    Raises:
        InvalidInput: no metric is named and the run has several, there is no such metric, labels cannot be read, or there are
            fewer rows than ``n``.
    """
    names = list(_scales(run, metric))
    if metric is None and len(names) != 1:
        raise InvalidInput(Setting("metric"), f" is missing: name one of {', '.join(names) or 'none'}")
    name = metric or names[0]
    existing = [] if labels is None else known_labels(run, labels, name)
    rows = Run.of(run, "", RowGroups(None, None))
    judged = Judged(rows, name, metric_labels([]))
    in_force, _ = parted_labels(existing, rows)
    labelled = {item.id for item in in_force if item.claim is None}
    without = {place for place, row in enumerate(judged.names) if row in labelled}
    available = len(judged.rows) - len(without)
    if len({row.name for row in rows.rows}) < len(rows.rows):
        raise InvalidInput("two rows have the same id, so their labels cannot be distinguished: give each its own id")
    lines = []
    for drawn in suggest(judged.scores, n, seed, judged.scale, without):
        sample = run.records[judged.rows[drawn.row]].sample
        lines.append(
            {
                "id": judged.names[drawn.row],
                "metric": name,
                "label": None,
                "weight": round(n / available * drawn.weight, DIGITS),
                "probability": round(drawn.probability, DIGITS),
                **({} if judged.column.inputs is None else {"digest": row_digest(sample, judged.column.inputs)}),
                **{field: json_value(value) for field in SHOWN if is_given(value := getattr(sample, field))},
            }
        )
    return lines

"""From labels and a run to a calibration: rows and labels are brought together, and ``statistics`` does the arithmetic.

A claim is named by its text, as a report writes it, or by its number among the claims of the row. Claims of one row are alike, so
each row is a cluster. Among many slices some look bad by chance, so the intervals of their differences hold for all slices together
(Bonferroni).

The rows to label next are lines to fill in: what was asked and answered, no score, and the weight that the draw gives the row. A
weight of 1 counts as much as a row drawn uniformly, 2 is the most there can be. So lines of several draws, and labels of rows that
were drawn uniformly, may stand together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .._run._columns import Run
from .._run._scored_rows import ScoredRows
from .._run._slices import RowGroups, as_label, slices_of
from .._show._tables import cut_middle
from .._store._labels import Label, check_rows, read_labels
from .._store._records import is_given, json_value
from .._store._run_settings import row_digest
from .._values._counts import count_of
from .._values._errors import InvalidInput, Setting
from ..statistics import (
    Agreement,
    Measure,
    Threshold,
    agreement,
    annotator_alpha,
    corrected_mean,
    suggest,
)
from ..statistics._agreement import without_agreement
from ..statistics._corrected import labels_alone
from ..statistics._interval import difference_of_means
from ..statistics._labelled import FEWEST_LABELS, LabelledRows
from ..statistics._means import mean_of
from ._calibration import Calibration, ClaimCalibration, MetricCalibration, SliceCalibration
from ._rows import HALF, JudgedMetric, MetricLabels, claims_by_row, doubts, labels_in_force, metric_labels, stale_labels

UNIT = (0.0, 1.0)
CONFIDENCE = 0.95


def calibrated(run: ScoredRows, labels: Any, metric: str | None, by: str | None, cluster: str | None) -> Calibration:
    """Hold a run against labels; ``Evaluation.calibrate`` says what the arguments are.

    Raises:
        InvalidInput: labels cannot be read, are of other rows or metrics, or are too few for any number.
    """
    given = known_labels(run, labels, metric)
    names = [item.name for item in run.metrics if any(label.metric == item.name for label in given)]
    groups = RowGroups(by, cluster)
    rows = Run.of(run, "", groups)
    groups.check()
    check_rows(given, [row.name for row in rows.rows])
    given, notes = labels_in_force(given, rows)
    found = tuple(_calibrated_metric(name, [item for item in given if item.metric == name], rows, by) for name in names)
    problems = [item.problem or (item.claims.problem if item.claims else None) for item in found]
    if all(item.agreement is None and (item.claims is None or item.claims.agreement is None) for item in found):
        raise InvalidInput(
            "; ".join(f"{item.name}: {problem}" for item, problem in zip(found, problems, strict=True) if problem)
        )
    return Calibration(str(run.run_dir or run.source or "this run"), found, by, cluster, notes, run.doubt)


def known_labels(run: ScoredRows, labels: Any, metric: str | None) -> list[Label]:
    """The labels of metrics of this run, of one of them where it is named.

    Raises:
        InvalidInput: there is no such metric, labels cannot be read, or none is of that metric.
    """
    scales = {item.name: item.scale for item in run.metrics}
    if metric is not None and metric not in scales:
        raise InvalidInput(f"there is no metric {metric!r}; there are {', '.join(scales) or 'none'}")
    given = [replace(item, id=as_label(item.id) or item.id) for item in read_labels(labels, metric, scales)]
    found = [item for item in given if metric is None or item.metric == metric]
    if not found:
        others = ", ".join(dict.fromkeys(repr(item.metric) for item in given))
        raise InvalidInput(f"no label is of {metric!r}: the labels are of {others}")
    return found


def _calibrated_metric(name: str, labels: Sequence[Label], run: Run, by: str | None) -> MetricCalibration:
    judged = JudgedMetric.of(run, name)
    of_claims = [item for item in labels if item.claim is not None]
    claims: ClaimCalibration | None = None
    if of_claims:
        claims = claim_calibration(of_claims, claims_by_row(run, name, {item.id for item in of_claims}))
    own = metric_labels([item for item in labels if item.claim is None])
    beside = _Beside.of(judged, own, run.clusters)
    blank = MetricCalibration(
        name=name,
        verdicts=own.verdicts,
        lower_is_better=judged.lower_is_better,
        scale=judged.scale,
        rows=len(judged.rows),
        without_score=len(run.rows) - len(judged.rows),
        labels=len(beside.places),
        lines=own.lines,
        annotators=len({item.annotator for item in labels}),
        split=sum(label == HALF for label in beside.labels) if own.verdicts else 0,
        unscored=len(own.rows) - len(beside.places),
        judge_mean=mean_of(judged.values),
        corrected=None,
        agreement=None,
        ceiling=annotator_alpha(own.ratings),
        claims=claims,
        own=own,
    )
    if len(beside.places) < FEWEST_LABELS:
        return replace(blank, problem=_too_few(blank, of_claims))
    found = beside.agreement()
    return replace(
        blank,
        corrected=corrected_mean(beside.values, beside.labels, beside.weights, beside.clusters, beside.scale),
        agreement=found,
        slices=() if by is None or run.slices is None else tuple(beside.slices(run.slices, by, found.threshold)),
        warnings=tuple(doubts(judged, own, beside.places, beside.weights_of(beside.places))),
    )


def _too_few(item: MetricCalibration, claims: Sequence[Label]) -> str | None:
    """Why there is no number about rows; None where only claims were labelled."""
    if not item.lines and claims:
        return None
    of_rows = _have_a_label(item.labels, "row") if item.labels else "no row with a score has a label"
    unscored = f" ({item.unscored} more without a score)" if item.unscored else ""
    return f"{of_rows}{unscored}: label at least {FEWEST_LABELS}, which say something about others"


@dataclass(frozen=True)
class _Beside:
    """The scored rows of a metric, some with people's label.

    Attributes:
        judged: the metric.
        verdicts: whether labels are passes and fails.
        scale: of the labels.
        values: what the judge says, high for good where labels are passes and fails.
        labels: of each scored row, in order; None where it has none.
        weights: the same; None where no row has one.
        clusters: of each scored row; None if they are independent.
        places: the rows with a label, as indices of the scored ones.
    """

    judged: JudgedMetric
    verdicts: bool
    scale: tuple[float, float] | None
    values: Sequence[float]
    labels: Sequence[float | None]
    weights: Sequence[float | None] | None
    clusters: Sequence[str | None] | None
    places: Sequence[int]

    @classmethod
    def of(cls, judged: JudgedMetric, own: MetricLabels, clusters: Sequence[str | None] | None) -> _Beside:
        """The scored rows with the label of each."""
        found = [own.rows.get(name) for name in judged.names]
        return cls(
            judged=judged,
            verdicts=own.verdicts,
            scale=UNIT if own.verdicts else judged.scale,
            values=judged.good if own.verdicts else judged.values,
            labels=[None if item is None else item.label for item in found],
            weights=[None if item is None else item.weight for item in found] if own.weighted else None,
            clusters=None if clusters is None else [clusters[row] for row in judged.rows],
            places=[place for place, item in enumerate(found) if item is not None],
        )

    def weights_of(self, places: Sequence[int]) -> list[float] | None:
        """The weights of some rows with a label; None where all count the same."""
        return None if self.weights is None else [self.weights[place] or 0.0 for place in places]

    def agreement(self) -> Agreement:
        """Of passes and fails without the rows on which people are split; verdicts are the metric's own where it gives any."""
        labels = [None if label == HALF else label for label in self.labels] if self.verdicts else self.labels
        count = sum(label is not None for label in labels)
        if count < FEWEST_LABELS:
            problem = f"annotators agree on {count} rows only: at least {FEWEST_LABELS} are needed"
            return without_agreement(count, problem)
        found = agreement(self.values, labels, self.weights, clusters=self.clusters, scale=self.scale)
        if not self.verdicts:
            return found
        if self.judged.verdicts is not None:
            own = agreement(self.judged.verdicts, labels, self.weights, clusters=self.clusters, scale=UNIT)
            found = replace(
                found, kappa=own.kappa, ac1=own.ac1, sensitivity=own.sensitivity, specificity=own.specificity
            )
        if self.judged.scale == UNIT:
            return found
        return replace(
            found, difference=Measure(problem="labels are passes and fails, and scores are on another scale")
        )

    def slices(self, of_rows: Sequence[str | None], by: str, threshold: Threshold | None) -> Iterator[SliceCalibration]:
        """Every slice with a label; none where nothing tells from which score on a row passes.

        Raises:
            InvalidInput: there are too many slices.
        """
        sizes = self._errors(threshold)
        groups = slices_of([of_rows[self.judged.rows[place]] for place in self.places] if sizes else [], by)
        for label, indices in groups.items():
            rows = [self.places[index] for index in indices]
            others = [place for place in self.places if place not in set(rows)]
            strict = 1 - (1 - CONFIDENCE) / len(groups)
            one, other = self._mean_error(sizes, rows, strict), self._mean_error(sizes, others, strict)
            difference = Measure(problem="this slice or the rest of the rows has too few labels to tell")
            if one.value is not None and other.value is not None and one.interval and other.interval:
                interval = difference_of_means(one.value, one.interval, other.value, other.interval)
                difference = Measure(one.value - other.value, interval)
            yield SliceCalibration(
                by=by,
                label=label,
                labels=len(rows),
                error=self._mean_error(sizes, rows, CONFIDENCE),
                rest=self._mean_error(sizes, others, CONFIDENCE),
                difference=difference,
                worse=difference.interval is not None and difference.interval.low > 0,
            )

    def _errors(self, threshold: Threshold | None) -> dict[int, float]:
        """How far the judge is from people on each row with a label: 1 where verdicts differ, or the distance of grades."""
        values: Sequence[float] | None = self.values
        if self.verdicts:
            values = self.judged.verdicts
            if values is None and threshold is not None:
                values = [float(value >= threshold.value) for value in self.values]
            elif values is None and set(self.values) <= {0, 1}:
                values = self.values
        if values is None:
            return {}
        return {place: abs(values[place] - (self.labels[place] or 0.0)) for place in self.places}

    def _mean_error(self, sizes: Mapping[int, float], rows: Sequence[int], confidence: float) -> Measure:
        if len(rows) < FEWEST_LABELS:
            return Measure(problem=f"{_have_a_label(len(rows), 'row')}: label at least {FEWEST_LABELS}")
        weights = self.weights_of(rows)
        if weights is not None:
            mean = sum(weights) / len(weights)
            weights = [weight / mean for weight in weights]
        clusters = None if self.clusters is None else [self.clusters[row] for row in rows]
        errors = [sizes[row] for row in rows]
        scale = None if self.scale is None else (0.0, self.scale[1] - self.scale[0])
        found = LabelledRows(errors, range(len(rows)), errors, weights, clusters, scale)
        interval = labels_alone(found, confidence)
        return Measure(
            found.label_mean, interval, None if interval else "these rows do not tell how much others differ"
        )


def _have_a_label(count: int, noun: str) -> str:
    return f"{count} {noun} has a label" if count == 1 else f"{count} {noun}s have a label"


LONGEST_CLAIM = 80
"""Characters of a claim that a message shows."""

Claims = Sequence[tuple[str, bool]]


def claim_calibration(labels: Sequence[Label], claims: Mapping[str, Claims]) -> ClaimCalibration:
    """Hold labels of claims against the judge's verdicts.

    Args:
        labels: of claims of one metric.
        claims: by the name of each labelled row, its claims with the judge's verdicts.

    Raises:
        InvalidInput: a row has no such claim, or an annotator labelled a claim both by its text and by its number.
    """
    given: defaultdict[tuple[str, str], dict[str | None, Label]] = defaultdict(dict)
    verdicts: dict[tuple[str, str], bool] = {}
    for item in labels:
        text, holds = _claim(item, claims[item.id])
        verdicts[item.id, text] = holds
        first = given[item.id, text].setdefault(item.annotator, item)
        if first is not item:
            raise InvalidInput(
                f"{item.place}: this claim has a label of the same annotator in {first.place}: keep one of them"
            )
    shares = {claim: sum(bool(item.label) for item in said.values()) / len(said) for claim, said in given.items()}
    known = [claim for claim, share in shares.items() if share != HALF]
    rows = [row for row, _ in known]
    found, problem = None, None
    if len(known) < FEWEST_LABELS:
        problem = f"{_have_a_label(len(known), 'claim')}: label at least {FEWEST_LABELS}"
    else:
        passes = [shares[claim] > HALF for claim in known]
        found = agreement([verdicts[claim] for claim in known], passes, clusters=rows, scale=UNIT)
    ceiling = annotator_alpha([[float(item.label) for item in said.values()] for said in given.values()])
    return ClaimCalibration(len(known), len(set(rows)), len(shares) - len(known), found, ceiling, problem)


def _claim(label: Label, claims: Claims) -> tuple[str, bool]:
    """The claim that a label is about."""
    if not claims:
        raise InvalidInput(
            f"{label.place}: the evidence of {label.metric!r} for the row {label.id!r} has no claims: leave 'claim' out to "
            "label the row"
        )
    if isinstance(label.claim, int):
        if label.claim <= len(claims):
            return claims[label.claim - 1]
        count = count_of(len(claims), "claim")
        raise InvalidInput(
            f"{label.place}: there is no claim {label.claim}: the row {label.id!r} has {count} for {label.metric!r}"
        )
    wanted = " ".join(str(label.claim).split())
    for text, holds in claims:
        if text == wanted:
            return text, holds
    first = cut_middle(claims[0][0], LONGEST_CLAIM)
    raise InvalidInput(
        f"{label.place}: no claim of the row {label.id!r} reads {cut_middle(wanted, LONGEST_CLAIM)!r}; its claims for "
        f"{label.metric!r} begin with {first!r}: write a claim as the report does, or its number"
    )


SHOWN = ("user_input", "response", "reference", "retrieved_contexts")
"""What an annotator needs to see of a row."""

DIGITS = 6
"""Of weights and probabilities in a file."""


def lines_to_label(run: ScoredRows, n: int, metric: str | None, labels: Any, seed: int) -> list[dict[str, Any]]:
    """Draw rows; ``Evaluation.rows_to_label`` says what the arguments are.

    Raises:
        InvalidInput: no metric is named and the run has several, there is none of that name, labels cannot be read, or there are
            not as many rows to draw.
    """
    name = _only(run, metric)
    given = [] if labels is None else known_labels(run, labels, name)
    rows = Run.of(run, "", RowGroups(None, None))
    judged = JudgedMetric.of(rows, name)
    stale = set(map(id, stale_labels(given, rows)))
    labelled = {item.id for item in given if item.claim is None and id(item) not in stale}
    without = {place for place, row in enumerate(judged.names) if row in labelled}
    left = len(judged.rows) - len(without)
    if isinstance(n, bool) or not isinstance(n, int) or not 1 <= n <= left:
        raise InvalidInput(
            Setting("n"),
            f" must lie between 1 and {left}, the number of rows with a score of {name} and without a label, got {n!r}",
        )
    if len({row.name for row in rows.rows}) < len(rows.rows):
        raise InvalidInput(
            "two rows of this run have the same id, so labels could not tell them apart: give each row its own id"
        )
    lines = []
    for drawn in suggest(judged.values, n, seed, judged.scale, without):
        sample = run.records[judged.rows[drawn.row]].sample
        lines.append(
            {
                "id": judged.names[drawn.row],
                "metric": name,
                "label": None,
                "weight": round(n / left * drawn.weight, DIGITS),
                "probability": round(drawn.probability, DIGITS),
                **({} if judged.column.inputs is None else {"digest": row_digest(sample, judged.column.inputs)}),
                **{field: json_value(value) for field in SHOWN if is_given(value := getattr(sample, field))},
            }
        )
    return lines


def _only(run: ScoredRows, metric: str | None) -> str:
    names = [item.name for item in run.metrics]
    if metric is None and len(names) == 1:
        return names[0]
    if metric not in names:
        problem = " is missing: name one of" if metric is None else f": there is no metric {metric!r}; there are"
        raise InvalidInput(Setting("metric"), f"{problem} {', '.join(names) or 'none'}")
    return metric

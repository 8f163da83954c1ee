"""People's labels of single claims beside the judge's verdicts on them.

A claim is named by its text, as a report writes it, or by its number among the claims of the row. Claims of one row are alike, so
each row is a cluster.

A judge beside people's labels: what is known of every metric, as plain data. Pictures of it stand in other files.

Where the judge is worse than elsewhere: its errors in each slice, beside those in all other rows.

Among many slices some look bad by chance, so the intervals of the differences hold for all slices together (Bonferroni).
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from .._kernel._errors import InvalidInput
from .._run._slices import slice_name, slices_of
from .._show._tables import cut_middle, room
from .._store._labels import Label
from ..statistics import Agreement, CorrectedMean, Interval, Measure, agreement, annotator_alpha
from ..statistics._corrected import labels_alone, mean_of_labels
from ..statistics._interval import difference_of_means
from ..statistics._labelled import FEWEST_LABELS, LabelledRows
from ._markdown import calibration_markdown
from ._rows import MetricLabels
from ._text import calibration_text

LONGEST_CLAIM = 80
"""Characters of a claim that a message shows."""

Claims = Sequence[tuple[str, bool]]


@dataclass(frozen=True)
class ClaimCalibration:
    """The judge beside people, claim by claim.

    Attributes:
        claims: how many have a label that most annotators share.
        rows: of how many rows.
        split: claims on which annotators are split; they are left out.
        agreement: over these claims, the rows taken for clusters; None where there are too few.
        ceiling: Krippendorff's alpha between annotators.
        problem: why there is no agreement; None where there is.
    """

    claims: int
    rows: int
    split: int
    agreement: Agreement | None
    ceiling: Measure
    problem: str | None = None


def claim_calibration(labels: Sequence[Label], claims: Mapping[str, Claims]) -> ClaimCalibration:
    """Hold labels of claims against the judge's verdicts.

    Args:
        labels: of claims of one metric.
        claims: by the name of each labelled row, its claims with the judge's verdicts.

    Raises:
        InvalidInput: a row has no such claim, or somebody has labelled a claim by its text and by its number.
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
    known = [claim for claim, share in shares.items() if share != 0.5]
    rows = [row for row, _ in known]
    problem = None
    if len(known) < FEWEST_LABELS:
        problem = f"{len(known)} claim{'s have' if len(known) != 1 else ' has'} a label: label at least {FEWEST_LABELS}"
    return ClaimCalibration(
        claims=len(known),
        rows=len(set(rows)),
        split=len(shares) - len(known),
        agreement=None
        if problem
        else agreement(
            [verdicts[claim] for claim in known],
            [shares[claim] > 0.5 for claim in known],
            clusters=rows,
            scale=(0.0, 1.0),
        ),
        ceiling=annotator_alpha([[float(item.label) for item in said.values()] for said in given.values()]),
        problem=problem,
    )


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
        count = f"{len(claims)} claim{'s' * (len(claims) != 1)}"
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


@dataclass(frozen=True)
class SliceCalibration:
    """How far the judge is from people in the rows of one slice, beside the other rows.

    Attributes:
        by: the path of the column.
        label: what stands there in these rows; None for rows without.
        labels: how many of them have a label.
        error: of passes and fails the share on which judge and people differ, by the threshold that agrees best or by the metric's
            own verdicts; of grades the mean distance of the judge's from people's. With its 95 % interval.
        rest: the same of all other rows.
        difference: ``error`` minus ``rest``, with an interval that holds for all slices together in 95 % of cases.
        worse: whether the judge is worse here than elsewhere: that interval lies above 0.
    """

    by: str
    label: str | None
    labels: int
    error: Measure
    rest: Measure
    difference: Measure
    worse: bool

    @property
    def name(self) -> str:
        """As a person reads it: ``lang=de``, or ``without lang``."""
        return slice_name(self.by, self.label)


@dataclass(frozen=True)
class MetricCalibration:
    """One metric beside people's labels.

    Attributes:
        name: name of the metric.
        verdicts: whether the labels are passes and fails; else they are grades on the scale of the metric.
        lower_is_better: whether low values of the metric are good, so that a pass is a low value.
        scale: of the metric; None where it is not known.
        rows: rows with a score: those that the corrected score is about.
        without_score: rows of the run without one, about which it says nothing.
        labels: rows with a score and a label.
        lines: labels of rows, of all annotators.
        annotators: how many there are.
        split: labelled rows on which annotators are split.
        unscored: labelled rows without a score; they tell nothing about the judge, and are left out.
        judge_mean: mean of the metric's own values over ``rows``.
        corrected: the mean that people would give over ``rows``: of passes and fails the share that they would pass.
        agreement: how far the judge agrees with people over the rows that have a label.
        ceiling: Krippendorff's alpha between annotators: no judge can be expected to agree better than they do.
        problem: why there is no corrected score and no agreement; None where there are.
        claims: the same claim by claim, where claims have labels.
        slices: where the judge is worse than elsewhere.
        warnings: why the numbers may be wrong.
        own: the labels themselves.
    """

    name: str
    verdicts: bool
    lower_is_better: bool
    scale: tuple[float, float] | None
    rows: int
    labels: int
    lines: int
    annotators: int
    split: int
    unscored: int
    judge_mean: float | None
    corrected: CorrectedMean | None
    agreement: Agreement | None
    ceiling: Measure
    problem: str | None = None
    claims: ClaimCalibration | None = None
    slices: tuple[SliceCalibration, ...] = ()
    warnings: tuple[str, ...] = ()
    without_score: int = 0
    own: MetricLabels | None = field(default=None, repr=False, compare=False)

    @property
    def threshold(self) -> float | None:
        """The value of the metric from which on a row passes, or up to which where low values are good; None if there is none."""
        if self.agreement is None or self.agreement.threshold is None:
            return None
        value = self.agreement.threshold.value
        if not self.lower_is_better:
            return value
        return self.scale[0] + self.scale[1] - value if self.scale else -value

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain JSON values, but for the labels themselves."""
        values = {item.name: _plain(getattr(self, item.name)) for item in fields(self) if item.name != "own"}
        return {**values, "threshold": self.threshold}


@dataclass(frozen=True)
class Calibration:
    """Whether the judge of a run can be trusted; ``print`` shows it as text.

    Attributes:
        run: what the run is called.
        metrics: one entry for each metric that has labels.
        by: the path of the column of ``slices``; None if there are none.
        cluster: the path of the column with what rows share; None if rows are taken to be independent.
        notes: which labels were left out, and what is not known of others.
        doubt: why the scores of the run may not be those that it ended with; empty if they are.
    """

    run: str
    metrics: tuple[MetricCalibration, ...]
    by: str | None = None
    cluster: str | None = None
    notes: tuple[str, ...] = ()
    doubt: str = ""

    def __getitem__(self, name: str) -> MetricCalibration:
        for item in self.metrics:
            if item.name == name:
                return item
        raise KeyError(f"no labels of {name!r}; there are some of {', '.join(item.name for item in self.metrics)}")

    def __contains__(self, name: object) -> bool:
        return any(item.name == name for item in self.metrics)

    def __iter__(self) -> Iterator[MetricCalibration]:
        return iter(self.metrics)

    def __str__(self) -> str:
        return self.text()

    def text(self, width: int | None = None) -> str:
        """The calibration as text, in so many columns; None for those of the terminal, or 80 where there is none."""
        return calibration_text(self, width or room())

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Notebooks show the text."""
        printer.text("..." if cycle else str(self))

    def to_markdown(self) -> str:
        """A comment for a pull request, or a page of notes."""
        return calibration_markdown(self)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain JSON values."""
        return {
            "run": self.run,
            "by": self.by,
            "cluster": self.cluster,
            "notes": [*filter(None, [self.doubt]), *self.notes],
            "metrics": {item.name: item.to_dict() for item in self.metrics},
        }

    def corrected_of(self, name: str, rows: int, mean: float | None) -> MetricCalibration | None:
        """What is known of a metric of this run; None where there are no labels of it, or too few.

        Raises:
            InvalidInput: rows and mean are those of another run.
        """
        if name not in self:
            return None
        item = self[name]
        if item.rows != rows or item.judge_mean != mean:
            raise InvalidInput(
                f"calibration is that of another run ({item.rows} scored rows of {name!r}, here {rows}): calibrate this one"
            )
        return item if item.corrected is not None else None


def _plain(value: Any) -> Any:
    if isinstance(value, Interval):
        return {"low": value.low, "high": value.high, "method": value.method}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if hasattr(value, "__dataclass_fields__"):
        return {item.name: _plain(getattr(value, item.name)) for item in fields(value)}
    return value


CONFIDENCE = 0.95


@dataclasses.dataclass(frozen=True)
class Errors:
    """How far the judge is from people on each labelled row.

    Attributes:
        sizes: of each row: 1 where verdicts differ and 0 where they do not, or the distance of grades.
        weights: how many rows each stands for; None if all stand for as many.
        clusters: what they share with others; None if they are independent.
        largest: the largest error that there can be; None where that is not known.
    """

    sizes: Sequence[float]
    weights: Sequence[float] | None
    clusters: Sequence[Hashable] | None
    largest: float | None

    def of(self, rows: Sequence[int], confidence: float) -> Measure:
        """Their mean over some of the rows."""
        if len(rows) < FEWEST_LABELS:
            return Measure(
                problem=f"{len(rows)} row{'s have' if len(rows) != 1 else ' has'} a label: label at least {FEWEST_LABELS}"
            )
        weights = None if self.weights is None else [self.weights[row] for row in rows]
        if weights is not None:
            mean = sum(weights) / len(weights)
            weights = [weight / mean for weight in weights]
        clusters = None if self.clusters is None else [self.clusters[row] for row in rows]
        sizes = [self.sizes[row] for row in rows]
        scale = None if self.largest is None else (0.0, self.largest)
        found = LabelledRows(sizes, range(len(rows)), sizes, weights, clusters, scale)
        interval = labels_alone(found, confidence)
        return Measure(
            mean_of_labels(found), interval, None if interval else "these rows do not tell how much others differ"
        )


def calibrated_slices(errors: Errors, labels: Sequence[str | None], by: str) -> Iterable[SliceCalibration]:
    """Every slice that has a label.

    Args:
        errors: of the labelled rows.
        labels: what they are sliced by.
        by: the path of the column, for messages and names.

    Raises:
        InvalidInput: there are too many slices.
    """
    found = slices_of(labels, by)
    for label, rows in found.items():
        own = set(rows)
        others = [row for row in range(len(labels)) if row not in own]
        strict = 1 - (1 - CONFIDENCE) / len(found)
        one, other = errors.of(rows, strict), errors.of(others, strict)
        difference = Measure(problem="this slice or the rest of the rows has too few labels to tell")
        if one.value is not None and other.value is not None and one.interval and other.interval:
            interval = difference_of_means(one.value, one.interval, other.value, other.interval)
            difference = Measure(one.value - other.value, interval)
        yield SliceCalibration(
            by=by,
            label=label,
            labels=len(rows),
            error=errors.of(rows, CONFIDENCE),
            rest=errors.of(others, CONFIDENCE),
            difference=difference,
            worse=difference.interval is not None and difference.interval.low > 0,
        )

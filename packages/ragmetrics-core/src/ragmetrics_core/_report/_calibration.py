"""A judge beside people's labels: what is known of every metric, as plain data. Pictures of it stand in other files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from .._kernel._errors import InvalidInput
from ..statistics import Agreement, CorrectedMean, Interval, Measure
from ._calibration_markdown import calibration_markdown
from ._calibration_text import calibration_text
from ._labelled_claims import ClaimCalibration
from ._row_labels import MetricLabels
from ._slices import slice_name
from ._table import room


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

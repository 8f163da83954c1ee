"""The results of a comparison as plain data, metric by metric. `_blocks` turns them into text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from .._run._slices import slice_name
from .._values._plain import plain
from ..statistics import Interval
from ..statistics._pairs import PairedNumbers
from ._corrected_difference import CorrectedDifference
from ._outcomes import RowCounts
from ._pairs import Paired
from ._row_changes import RowChange
from ._verdicts import Verdict

MARGIN = 0.03
"""The margin of a comparison unless the caller gives another: see ``Evaluation.compare``."""


@dataclass(frozen=True)
class MetricComparison:
    """One metric in two runs, over all rows or over one slice of them.

    Attributes:
        name: name of the metric.
        by: the path of the column that defines the slices; None for all rows.
        label: the value of that column in this slice; None for the slice of rows without a value, and for all rows.
        higher_is_better: whether high values are good. False: low values are good; None: neither, or it is not known.
        scale: lowest and highest possible value; None if they are not known, or differ from row to row.
        before: mean of the pairs in the first run; None if there are no pairs.
        after: mean of the pairs in the second run.
        difference: after minus before; None if the runs may not be compared (see ``credited``) or there are no pairs.
        interval: 95 % interval of the difference, with its method; None if there is no interval.
        p_value: two-sided p-value of "there is no difference"; None without an interval.
        p_adjusted: the p-value, adjusted by Holm's method for the number of metrics, or of metrics and slices, that are compared.
            If there are slices, each of these two families gets half of the error rate, so that all *better* and *worse*
            together err in at most 5 %; *no difference larger than the margin* is not adjusted.
        method: the method of the interval; ``none`` without an interval.
        pairs: number of rows that have a value in both runs.
        changed: number of pairs whose two values differ by more than rounding.
        clusters: number of clusters of the pairs; None if the pairs are taken to be independent.
        rows_before: counts of the rows of the first run: scored, unscored, failed, lost.
        rows_after: the same counts of the second run.
        margin: the largest difference that does not matter, on the scale of the metric.
        verdict: ``better``, ``worse``, ``no difference larger than the margin`` or ``cannot say``.
        why: the reason for the verdict, in words and numbers.
        rows_needed: about how many pairs would show a difference of the margin in 80 % of such comparisons; None if the pairs do
            not allow an estimate, or if it would be more than 100,000.
        smallest_change: the smallest true difference that these pairs show in 80 % of such comparisons, on the scale of the
            metric; None if the pairs do not allow an estimate.
        warnings: the differences in judges, prompts or settings between the runs.
        credited: whether the values may be compared. False if ``warnings`` forbid it, or if rows are sliced by a label that
            differs between the runs; ``why`` gives the reason. True if different judges were allowed; the warnings stay.
        void: why it is not known that both runs measured the same thing: the judge of a run is not known, or references differ.
            Every gate on a drop is then undecided. Empty if it is known, and if different judges were allowed.
        changes: the rows that changed most; empty for slices.
        values: the pairs of values; None if there are none, or ``credited`` is false.
        absent: number of rows with a value in the first run that the second run does not have, or did not score with this metric.
        short: number of rows with a value in both runs, of which the second run has more repeats without a value.
        lost_at_ends: the pairs, together with the rows that the second run has lost or does not have, each with the lowest value,
            and with the highest; empty if there are no such rows, or no scale is known.
    """

    name: str
    by: str | None
    label: str | None
    higher_is_better: bool | None
    scale: tuple[float, float] | None
    before: float | None
    after: float | None
    difference: float | None
    interval: Interval | None
    p_value: float | None
    p_adjusted: float | None
    method: str
    pairs: int
    changed: int
    clusters: int | None
    rows_before: RowCounts
    rows_after: RowCounts
    margin: float
    verdict: Verdict
    why: str
    rows_needed: int | None
    smallest_change: float | None = None
    warnings: tuple[str, ...] = ()
    credited: bool = True
    void: str = ""
    changes: Sequence[RowChange] = ()
    absent: int = 0
    short: int = 0
    values: PairedNumbers | None = field(default=None, repr=False, compare=False)
    lost_at_ends: tuple[PairedNumbers, ...] = field(default=(), repr=False, compare=False)

    @property
    def slice(self) -> str | None:
        """The name of the slice, such as ``lang=de`` or ``without lang``, printable; None for all rows."""
        return None if self.by is None else slice_name(self.by, self.label)

    @property
    def coverage_before(self) -> float | None:
        """The share of the first run's rows that have a value, 0 to 1."""
        return self.rows_before.coverage

    @property
    def coverage_after(self) -> float | None:
        """The share of the second run's rows that have a value, 0 to 1."""
        return self.rows_after.coverage

    def to_dict(self) -> dict[str, Any]:
        """Return all fields except the pairs, as plain JSON values."""
        return {
            **data_of(self),
            "slice": self.slice,
            "interval": list(self.interval[:2]) if self.interval else None,
            "coverage_before": self.coverage_before,
            "coverage_after": self.coverage_after,
            "void": self.void or None,
        }


@dataclass(frozen=True)
class ComparedRuns:
    """Two runs, compared row by row: the numbers of a ``Comparison``, whose docstring explains the attributes."""

    before: str
    after: str
    metrics: tuple[MetricComparison, ...]
    slices: tuple[MetricComparison, ...]
    by: str | None
    cluster: str | None
    margin: float
    pairs: int
    paired_by: str
    rows_before: int
    rows_after: int
    only_before: Sequence[str] = ()
    only_after: Sequence[str] = ()
    metrics_only_before: tuple[str, ...] = ()
    metrics_only_after: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    incomplete: tuple[str, ...] = ()
    allow_different_judges: bool = False
    paired: Paired | None = field(default=None, repr=False, compare=False)
    corrected: tuple[CorrectedDifference, ...] = ()
    caveats: tuple[str, ...] = ()
    rows_worse: int = 0
    rows_lost: int = 0

    def __getstate__(self) -> dict[str, Any]:
        """Return the plain data for copies and pickles. The runs are left out because they may be open files."""
        return {**vars(self), "paired": None}

    def __getitem__(self, key: str | tuple[str, str | None]) -> MetricComparison:
        name, label = (key, None) if isinstance(key, str) else key
        items = self.metrics if isinstance(key, str) else self.slices
        found = {item.label: item for item in items if item.name == name}
        if not found:
            raise KeyError(f"no metric {name!r}; there are {', '.join(item.name for item in self.metrics)}")
        if label not in found:
            raise KeyError(f"no slice {label!r} of {self.by!r}; there are {', '.join(map(repr, found))}")
        return found[label]

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain JSON values."""
        return {
            **data_of(self),
            "metrics": {item.name: item.to_dict() for item in self.metrics},
            "corrected": {item.metric: item.to_dict() for item in self.corrected},
        }


def data_of(item: Any) -> dict[str, Any]:
    """Return the fields of a dataclass as plain JSON values, without the fields hidden from its repr, which contain the rows."""
    return {each.name: plain(getattr(item, each.name)) for each in fields(item) if each.repr}

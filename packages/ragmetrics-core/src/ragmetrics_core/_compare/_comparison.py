"""Two runs side by side: what is known of every metric, as plain data. How it looks is said in `_blocks`."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from .._run._slices import slice_name
from .._values._plain import plain
from ..statistics import Interval
from ._corrected_difference import CorrectedDifference
from ._pairs import PairedValues, Pairing, RowCounts
from ._row_changes import RowChange
from ._verdicts import Verdict


@dataclass(frozen=True)
class MetricComparison:
    """One metric in two runs, over all rows or over one slice of them.

    Attributes:
        name: name of the metric.
        by: the path that rows are sliced by; None for all rows.
        label: the value there in the rows of this slice; None for the rows without, and for all rows.
        higher_is_better: whether high values are good; False: low ones are; None: neither, or it is not known.
        scale: lowest and highest possible value; None if they are not known, or differ from row to row.
        before: mean of the pairs in the first run; None if there are no pairs.
        after: mean of the pairs in the second run.
        difference: after minus before; None where the two may not be compared (``credited``) or there are no pairs.
        interval: 95 % interval of the difference, and how it was made; None where there is none.
        p_value: two-sided, of "there is no difference"; None where there is no interval.
        p_adjusted: the same, adjusted (Holm) for that several metrics are compared, or several metrics in several slices; where
            there are slices, each of these two families may err half as often, so that all verdicts together err in at most 5 %.
        method: how the interval was made; ``none`` without one.
        pairs: rows that have a value in both runs.
        changed: pairs whose two values differ by more than rounding.
        clusters: how many clusters the pairs are in; None if they are taken to be independent.
        rows_before: the rows of the first run, by what became of them.
        rows_after: those of the second run.
        margin: the largest difference that does not matter, on the scale of the metric.
        verdict: ``better``, ``worse``, ``no difference larger than the margin`` or ``cannot say``.
        why: why it has this verdict, in words and numbers.
        rows_needed: about how many pairs would show a difference of the margin in 80 % of such comparisons; None where the pairs do
            not tell, and where it would be more than 100,000.
        warnings: what differs in who scored it.
        credited: False where that forbids to compare, and for slices by a label that differs between the runs, from which nothing
            can be concluded; ``why`` says so. Where who scored differs and it was allowed all the same, the warnings stay.
        void: why it is not known that both runs measured the same thing: the judge of one is not known, or references differ. Then
            every gate on a drop is undecided. Empty where it is known, and where different judges were allowed.
        changes: the rows that changed most; of all rows only, none in slices.
        values: the pairs themselves.
        absent: how many rows have a value in the first run and are not in the second, or not asked this metric there.
        short: how many rows have a value in both runs, and more repeats without one in the second.
        with_lost: the pairs, and rows that the second run has lost or does not have, with the worst value there; None where there
            are no such rows, or where no value is known to be the worst.
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
    warnings: tuple[str, ...] = ()
    credited: bool = True
    void: str = ""
    changes: tuple[RowChange, ...] = ()
    absent: int = 0
    short: int = 0
    values: PairedValues = field(default_factory=PairedValues, repr=False, compare=False)
    with_lost: PairedValues | None = field(default=None, repr=False, compare=False)

    @property
    def slice(self) -> str | None:
        """The slice as people read it, such as ``lang=de`` or ``without lang``, printable; None for all rows."""
        return None if self.by is None else slice_name(self.by, self.label)

    @property
    def coverage_before(self) -> float | None:
        """Share of the first run's rows that have a value, 0 to 1."""
        return self.rows_before.coverage

    @property
    def coverage_after(self) -> float | None:
        """Share of the second run's rows that have a value, 0 to 1."""
        return self.rows_after.coverage

    def to_dict(self) -> dict[str, Any]:
        """Everything but the pairs, as plain JSON values."""
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
    """Two runs, compared row by row: the numbers of a ``Comparison``, which says what the attributes are."""

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
    only_before: tuple[str, ...] = ()
    only_after: tuple[str, ...] = ()
    metrics_only_before: tuple[str, ...] = ()
    metrics_only_after: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    incomplete: tuple[str, ...] = ()
    allow_different_judges: bool = False
    pairing: Pairing | None = field(default=None, repr=False, compare=False)
    corrected: tuple[CorrectedDifference, ...] = ()
    caveats: tuple[str, ...] = ()

    def __getstate__(self) -> dict[str, Any]:
        """What is copied or pickled: the plain data. The runs stay behind, as they may be files that are open."""
        return {**vars(self), "pairing": None}

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
        """Everything as plain JSON values."""
        return {
            **data_of(self),
            "metrics": {item.name: item.to_dict() for item in self.metrics},
            "corrected": {item.metric: item.to_dict() for item in self.corrected},
        }


def data_of(item: Any) -> dict[str, Any]:
    """The fields of a dataclass as plain JSON values, but for those that its text leaves out, which hold the rows."""
    return {each.name: plain(getattr(item, each.name)) for each in fields(item) if each.repr}

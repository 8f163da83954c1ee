"""What a run shows of its gates: the values of each slice, and how many rows have none.

One pass over the records, which may be read from a file; what is kept are nine bytes a row and metric.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

from .._kernel._score import Score
from .._store._records import Records
from ..statistics import Interval, mean_interval
from ..statistics._interval import ROUNDING
from ..statistics._means import mean_of
from ..statistics._rates import rate_mid_p
from ._gates import Gate
from ._slices import RowLabels, slices_of

__all__ = ["Evidence", "evidence_of", "of_mean"]

Scale = tuple[float, float] | None


@dataclass(frozen=True)
class Evidence:
    """What there is to decide one gate by, for all rows or for one slice.

    Attributes:
        estimate: the mean, or the drop; None if there is no score.
        interval_at: the interval of it at a confidence above 0 and below 1; None where there is none.
        tail: how likely a run is, by an exact test, that looks as bad although its mean is as good as the limit of the gate
            (one-sided); 0 where the interval needs no such help. Wilson's interval does: with values of 0 and 1 and a limit of
            0.95, it alone would make 8 % of single gates of 10 rows falsely red.
        bounds: the lowest and the highest that the estimate could be; None if that is not known.
        rows: all rows, whatever became of them.
        scored: rows that the estimate is made of.
        failed: rows in which something went wrong.
        by: the path of the column that the slice is made by; None for all rows.
        label: what stands there in the rows of the slice; None for rows without a value there.
        clusters: how many clusters the scored rows are in; None if rows are taken to be independent.
    """

    estimate: float | None
    interval_at: Callable[[float], Interval | None]
    tail: Callable[[Gate], float]
    bounds: Scale
    rows: int
    scored: int
    failed: int
    by: str | None = None
    label: str | None = None
    clusters: int | None = None


class Part(NamedTuple):
    """All rows, or those of a slice: their indices, the path of the column that tells, and what stands there."""

    rows: Sequence[int]
    by: str | None = None
    label: str | None = None


def evidence_of(
    records: Records, scales: dict[str, Scale], by: str | None, cluster: str | None
) -> dict[str, list[Evidence]]:
    """For each of these metrics what all rows show, and with ``by`` after that each slice.

    Raises:
        InvalidInput: a path names nothing that rows have in common.
    """
    slicing = None if by is None else RowLabels(by, "by")
    clustering = None if cluster is None else RowLabels(cluster, "cluster")
    columns = {name: _Column(scale) for name, scale in scales.items()}
    for record in records:
        for labels in (slicing, clustering):
            if labels is not None:
                labels.add(record.sample, record.place)
        for name, column in columns.items():
            column.add(record.scores[name])
    if slicing is not None:
        slicing.check()
    if clustering is not None:
        clustering.check(every_row=True)
    clusters = None if clustering is None else clustering.labels
    parts = [Part(range(len(records)))]
    if slicing is not None and by is not None:
        parts += [Part(rows, by, label) for label, rows in slices_of(slicing.labels, by).items()]
    return {name: [column.evidence(part, clusters) for part in parts] for name, column in columns.items()}


class _Column:
    """The scores of one metric, row by row."""

    def __init__(self, scale: Scale) -> None:
        self._values = array("d")  # NaN where there is none
        self._failed = bytearray()
        self._own_scale = scale
        self._scales: set[Scale] = set()

    def add(self, score: Score) -> None:
        self._values.append(math.nan if score.value is None else score.value)
        self._failed.append(score.state == "failed")
        if score.value is not None:
            self._scales.add(score.scale)

    def evidence(self, part: Part, clusters: Sequence[str | None] | None) -> Evidence:
        scored = [row for row in part.rows if not math.isnan(self._values[row])]
        values = [self._values[row] for row in scored]
        groups = None if clusters is None else [clusters[row] for row in scored]
        scale = self._own_scale or (next(iter(self._scales)) if len(self._scales) == 1 else None)
        failed = sum(self._failed[row] for row in part.rows)
        return replace(of_mean(values, scale, groups, rows=len(part.rows), failed=failed), by=part.by, label=part.label)


def of_mean(
    values: Sequence[float], scale: Scale, clusters: Sequence[Hashable] | None = None, *, rows: int, failed: int = 0
) -> Evidence:
    """What values show of their mean.

    Args:
        values: those of the scored rows.
        scale: lowest and highest possible value; None if it is not known.
        clusters: what each of these rows shares with others; None if they are independent.
        rows: all rows, those without a value too.
        failed: rows in which something went wrong.
    """
    return Evidence(
        estimate=mean_of(values),
        interval_at=cache(lambda confidence: mean_interval(values, clusters, scale, confidence)),
        tail=lambda gate: 0.0 if clusters is not None or scale is None else _tail(values, scale, gate),
        bounds=scale,
        rows=rows,
        scored=len(values),
        failed=failed,
        clusters=None if clusters is None else len(set(clusters)),
    )


def _tail(values: Sequence[float], scale: tuple[float, float], gate: Gate) -> float:
    """The mid-p value of "the rate is as good as the limit", where all values are ends of the scale; else 0."""
    low, high = scale
    near = ROUNDING * (high - low)
    tops = sum(high - value <= near for value in values)
    if tops + sum(value - low <= near for value in values) < len(values):
        return 0.0
    rate = (gate.limit - low) / (high - low)
    count = len(values)
    return rate_mid_p(tops, count, rate) if gate.sign > 0 else rate_mid_p(count - tops, count, 1 - rate)

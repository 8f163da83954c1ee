"""Slices of a page: for each column of the metadata that makes groups of rows, the means of every group with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..statistics import mean_interval
from ..statistics._means import mean_of
from ._html_index import RowIndex
from ._metric_summary import MetricSummary
from ._slices import slices_of


def slice_tables(index: RowIndex, summaries: Sequence[MetricSummary]) -> list[dict[str, Any]]:
    """Per column its groups: the value that the rows share (None: they have none), how many there are, and a mean per metric."""
    return [
        {
            "path": path,
            "groups": [
                {"value": value, "rows": len(rows), "scores": [_score(item, index, rows) for item in summaries]}
                for value, rows in slices_of(column, path).items()
            ],
        }
        for path, column in index.slices().items()
    ]


def _score(item: MetricSummary, index: RowIndex, rows: Sequence[int]) -> dict[str, Any]:
    column = index.values[item.name]
    values = [value for value in (column[row] for row in rows) if value is not None]
    interval = mean_interval(values, scale=item.scale)
    return {
        "scored": len(values),
        "mean": mean_of(values),
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
    }

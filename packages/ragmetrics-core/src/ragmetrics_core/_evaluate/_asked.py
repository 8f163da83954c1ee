"""Which metrics are asked about which row, where a run does not ask all of them about all rows.

evaluate(rows, {"faithfulness": None, "recall": lambda sample: sample.reference_documents is not None})
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from .._kernel._errors import InvalidInput
from .._kernel._sample import Row, Sample
from ._options import checked_metrics

Condition = Callable[[Sample], object]
"""Whether a metric is asked about a sample: what it returns counts as true or false."""


def conditions_of(metrics: Any) -> dict[str, Condition]:
    """By name, the metrics that are not asked about all samples; ``metrics`` are those of ``evaluate``.

    Raises:
        InvalidInput: a mapping of metrics holds something else than functions and None.
    """
    if not isinstance(metrics, Mapping):
        return {}
    found: dict[str, Condition] = {}
    for item, condition in metrics.items():
        if condition is None:
            continue
        if not callable(condition):
            raise InvalidInput(
                f"metrics[{item!r}] must be a function of a sample, or None for all samples, got {type(condition).__name__}"
            )
        found.update((metric.name, condition) for metric in checked_metrics([item]))
    return found


def asked_rows(rows: Iterator[Row], conditions: Mapping[str, Condition], names: Sequence[str]) -> Iterator[Row]:
    """The rows, each with the metrics that are asked about it; all of them about a row that cannot be read."""
    return (_asked(row, conditions, names) for row in rows) if conditions else rows


def _asked(row: Row, conditions: Mapping[str, Condition], names: Sequence[str]) -> Row:
    if row.problem is not None:
        return row
    asked = (name for name in names if name not in conditions or conditions[name](row.sample))
    return replace(row, asked=frozenset(asked))

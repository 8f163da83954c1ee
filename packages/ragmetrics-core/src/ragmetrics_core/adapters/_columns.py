"""Rows of columns: components of frameworks take each input of a metric as one list, with one item per row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .._kernel._errors import InvalidInput
from .._kernel._metric import Metric


def rows_of_columns(
    metric: Metric, columns: Mapping[str, Any], read: Callable[[str, Any], Any] | None = None
) -> list[dict[str, Any]]:
    """The rows for ``evaluate``.

    Args:
        metric: whose inputs the columns are.
        columns: the lists by name; an optional one may be None.
        read: takes the kind of an input (such as ``texts``) and the item of a row, and returns the item as the core reads it.

    Raises:
        InvalidInput: an input is missing, unknown or not a list, or the lists differ in length.
    """
    given = {name: values for name, values in columns.items() if values is not None}
    kinds = {item.name: item.kind for item in metric.inputs}
    missing = [item.name for item in metric.inputs if item.required and item.name not in given]
    if missing:
        raise InvalidInput(f"{metric.name} needs the input '{missing[0]}': give a list with one item per row.")
    for name, values in given.items():
        if name not in kinds:
            raise InvalidInput(f"{metric.name} has no input '{name}'; it has {', '.join(sorted(kinds))}.")
        if not isinstance(values, list):
            kind = type(values).__name__
            raise InvalidInput(f"{metric.name}: '{name}' must be a list with one item per row, got {kind}.")
    lengths = {name: len(values) for name, values in given.items()}
    if len(set(lengths.values())) > 1:
        raise InvalidInput(f"{metric.name}: all inputs must be lists of the same length, got {lengths}.")
    if read is not None:
        given = {name: [read(kinds[name], item) for item in values] for name, values in given.items()}
    return [dict(zip(given, row, strict=True)) for row in zip(*given.values(), strict=True)]

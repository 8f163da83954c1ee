"""The inputs of a metric as sockets of Haystack, and what comes through them as rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from haystack import Document
from ragmetrics_core import Input, Metric

__all__ = ["SOCKETS", "rows_of"]

SOCKETS: Mapping[str, Any] = {
    "text": list[str],
    "texts": list[list[str]] | list[list[Document]],
    "documents": list[list[Document]],
    "rubric": list[dict[int, str]],
    "any": list[Any],
}
"""The type of the socket for each kind of input."""


def rows_of(metric: Metric, inputs: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows that the inputs of ``run`` make, each by the names of the metric's inputs.

    Raises:
        ValueError: an input is missing, is not a list, or the lists differ in length.
    """
    given = {name: values for name, values in inputs.items() if values is not None}
    _check(metric.name, metric.inputs, given)
    kinds = {item.name: item.kind for item in metric.inputs}
    columns = {name: _texts(values) if kinds[name] == "texts" else values for name, values in given.items()}
    length = len(next(iter(columns.values()), ()))
    return [{name: values[number] for name, values in columns.items()} for number in range(length)]


def _check(metric: str, inputs: Sequence[Input], given: Mapping[str, Any]) -> None:
    known = {item.name for item in inputs}
    missing = [item.name for item in inputs if item.required and item.name not in given]
    if missing:
        raise ValueError(f"{metric} needs the input '{missing[0]}': give a list with one item per row.")
    for name, values in given.items():
        if name not in known:
            raise ValueError(f"{metric} has no input '{name}'; it has {', '.join(sorted(known))}.")
        if not isinstance(values, list):
            raise ValueError(f"{metric}: '{name}' must be a list with one item per row, got {type(values).__name__}.")  # noqa: TRY004
    lengths = {name: len(values) for name, values in given.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"{metric}: all inputs must be lists of the same length, got {lengths}.")


def _texts(rows: list[Any]) -> list[Any]:
    """The rows with the contents of documents in their place; one without a text stays what it is, and fails its row."""
    return [[_text(item) for item in row] if isinstance(row, list | tuple) else row for row in rows]


def _text(item: Any) -> Any:
    return item.content if isinstance(item, Document) and item.content is not None else item

"""Why scores have no value, grouped by cause: ten rows with one cause need one cure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ._score import Score

__all__ = ["Causes", "Reason", "first_of"]

MOST_ROWS = 5
"""Rows that the text names per reason, and metrics per kind of interval; the rest is counted."""

LONGEST_REASON = 240
LONGEST_ROW = 40
"""Characters of a reason and of a row's id that the text shows."""


@dataclass(frozen=True)
class Reason:
    """Why scores have no value: one cause, and all that share it.

    Attributes:
        state: ``unscored`` or ``failed``.
        text: the reason or the error, without the place of a single row.
        metrics: names of the metrics concerned.
        rows: labels of the rows concerned: their id, or where they stand.
        count: scores concerned.
    """

    state: str
    text: str
    metrics: tuple[str, ...]
    rows: tuple[str, ...]
    count: int

    def __str__(self) -> str:
        text = _cut(" ".join(self.text.split()), LONGEST_REASON)
        return f"{self.count} of {', '.join(self.metrics)}: {text} ({first_of(self.rows)})"


class Causes:
    """Groups the scores without a value by cause, as the rows pass by."""

    def __init__(self) -> None:
        self._groups: dict[tuple[str, str], tuple[dict[str, None], dict[str, None], list[int]]] = {}

    def add(self, metric: str, score: Score, place: str, label: str) -> None:
        """Note a score of a metric without a value, with the place and the label of its row."""
        key = (score.state, _cause(score, metric, place))
        metrics, rows, count = self._groups.setdefault(key, ({}, {}, [0]))
        metrics[metric] = rows[label] = None
        count[0] += 1

    def reasons(self) -> tuple[Reason, ...]:
        """The causes, the most common ones first."""
        found = [
            Reason(state, text, tuple(metrics), tuple(rows), count)
            for (state, text), (metrics, rows, (count,)) in self._groups.items()
        ]
        return tuple(sorted(found, key=lambda reason: -reason.count))


def _cause(score: Score, metric: str, place: str) -> str:
    """Why there is no value, without the metric and the place of the row, so that equal causes are equal."""
    error = score.error
    if error is None:
        return score.reason or ""
    if error.startswith("MissingInput: "):
        return error.replace(f" {metric} needs ", " needs ", 1).replace(f" in {place}: ", ": ", 1)
    if error.startswith("InvalidInput: "):
        return error.replace(f"{place}: ", "", 1).replace(f" {metric}: ", " ", 1)
    return error


def first_of(names: Sequence[str]) -> str:
    """The first few names; the rest is counted."""
    more = len(names) - MOST_ROWS
    return ", ".join(_cut(name, LONGEST_ROW) for name in names[:MOST_ROWS]) + (f" and {more} more" if more > 0 else "")


def _cut(text: str, length: int) -> str:
    # ids and errors can hold anything; what a terminal would obey is shown as what it is
    shown = "".join(character if character.isprintable() else ascii(character)[1:-1] for character in text)
    return shown if len(shown) <= length else f"{shown[: length - 3]}..."

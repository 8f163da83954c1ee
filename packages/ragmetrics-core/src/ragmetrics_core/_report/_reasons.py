"""Why scores have no value, grouped by cause: ten rows with one cause need one cure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .._kernel._layout import harmless, printable
from .._kernel._score import Score, is_asked
from ._table import cut_middle

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
        counts: how many rows of each of these metrics, in their order.
    """

    state: str
    text: str
    metrics: tuple[str, ...]
    rows: tuple[str, ...]
    counts: tuple[int, ...]

    @property
    def count(self) -> int:
        """Scores concerned: the rows of all these metrics together."""
        return sum(self.counts)

    def __str__(self) -> str:
        text = " ".join(self.text.split())
        shown = printable(text)
        shown = shown if len(shown) <= LONGEST_REASON else f"{shown[: LONGEST_REASON - 3]}..."
        return f"{self._size()}: {shown} ({first_of(self.rows)})"

    def _size(self) -> str:
        """How many rows, and of which metrics; each metric has its own, so they are never added up."""
        if len(set(self.counts)) == 1:
            several = "each of " if len(self.metrics) > 1 else ""
            return f"{_rows(self.counts[0])} in {several}{', '.join(cut_middle(name, LONGEST_ROW) for name in self.metrics)}"
        first, *others = (f"in {cut_middle(name, LONGEST_ROW)}" for name in self.metrics)
        rest = (f"{count} {name}" for count, name in zip(self.counts[1:], others, strict=True))
        return ", ".join([f"{_rows(self.counts[0])} {first}", *rest])


class Causes:
    """Groups the scores without a value by cause, as the rows pass by."""

    def __init__(self) -> None:
        self._groups: dict[tuple[str, str], tuple[dict[str, int], dict[str, None]]] = {}

    def add(self, metric: str, score: Score, place: str, label: str) -> None:
        """Note a score of a metric without a value, with the place and the label of its row; not where it was not asked for."""
        if not is_asked(score):
            return
        key = (score.state, _cause(score, metric, place))
        metrics, rows = self._groups.setdefault(key, ({}, {}))
        metrics[metric] = metrics.get(metric, 0) + 1
        rows[label] = None

    def reasons(self) -> tuple[Reason, ...]:
        """The causes, the most common ones first."""
        found = [
            Reason(state, text, tuple(metrics), tuple(rows), tuple(metrics.values()))
            for (state, text), (metrics, rows) in self._groups.items()
        ]
        return tuple(sorted(found, key=lambda reason: -reason.count))


def _cause(score: Score, metric: str, place: str) -> str:
    """Why there is no value, without the metric and the place of the row, so that equal causes are equal."""
    error, metric, place = score.error, harmless(metric), harmless(place)  # errors show both so
    if error is None:
        return score.reason or ""
    if error.startswith("MissingInput: "):
        return error.replace(f" {metric} needs ", " needs ", 1).replace(f" in {place}: ", ": ", 1)
    if error.startswith("InvalidInput: "):
        return error.replace(f"{place}: ", "", 1).replace(f" {metric}: ", " ", 1)
    return error


def first_of(names: Sequence[str], most: int = MOST_ROWS) -> str:
    """The first few names; the rest is counted."""
    more = len(names) - most
    shown = ", ".join(cut_middle(name, LONGEST_ROW) for name in names[:most])
    return shown + (f" and {more} more" if more > 0 else "")


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"

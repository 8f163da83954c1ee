"""The account of a run: one line per metric, then why rows were not scored, then what must be known about the models.

Means are taken over the scored rows alone, and the counts beside them say how many were left out. A mean over nothing is
None and shows as "-": there is no default. Equal reasons are grouped and name their rows, because ten rows with one cause need
one cure.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ._requests import Usage
from ._score import Score

__all__ = ["MetricSummary", "Reason", "Summary"]

MOST_REASONS = 4
"""Reasons that the text shows per state; the rest is counted."""

MOST_ROWS = 5
"""Rows that the text names per reason; the rest is counted."""

LONGEST_REASON = 240
LONGEST_ROW = 40
"""Characters of a reason and of a row's id that the text shows."""


@dataclass(frozen=True)
class MetricSummary:
    """One metric over all rows.

    Attributes:
        name: name of the metric.
        mean: mean of the scored rows' values; None if no row was scored.
        scale: lowest and highest possible value; None where each score states its own.
        scored: rows with a value.
        unscored: rows with honestly nothing to score.
        failed: rows where something went wrong.
        usage: calls, cached calls and tokens, summed.
    """

    name: str
    mean: float | None
    scale: tuple[float, float] | None
    scored: int
    unscored: int
    failed: int
    usage: Usage

    @classmethod
    def of(cls, name: str, scale: tuple[float, float] | None, scores: Sequence[Score]) -> MetricSummary:
        """The summary of one metric's scores."""
        values = [score.value for score in scores if score.value is not None]
        failed = sum(score.error is not None for score in scores)
        return cls(
            name=name,
            mean=math.fsum(values) / len(values) if values else None,
            scale=scale,
            scored=len(values),
            unscored=len(scores) - len(values) - failed,
            failed=failed,
            usage=sum((score.usage for score in scores), Usage()),
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain JSON values."""
        return {
            "mean": self.mean,
            "scale": list(self.scale) if self.scale else None,
            "scored": self.scored,
            "unscored": self.unscored,
            "failed": self.failed,
            "usage": self.usage.to_dict(),
        }


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
        more = len(self.rows) - MOST_ROWS
        rows = ", ".join(_cut(row, LONGEST_ROW) for row in self.rows[:MOST_ROWS])
        if more > 0:
            rows += f" and {more} more"
        return f"{self.count} of {', '.join(self.metrics)}: {text} ({rows})"


@dataclass(frozen=True)
class Summary:
    """The account of a run; ``str()`` or ``print`` shows it as a table.

    Attributes:
        title: what was evaluated.
        metrics: one entry per metric.
        reasons: why scores have no value, the most common ones first.
        caveats: what must be known about the models that were asked.
    """

    title: str
    metrics: tuple[MetricSummary, ...]
    reasons: tuple[Reason, ...] = ()
    caveats: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> MetricSummary:
        for item in self.metrics:
            if item.name == name:
                return item
        raise KeyError(f"no metric {name!r}; there are {', '.join(item.name for item in self.metrics)}")

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain JSON values."""
        return {
            "title": self.title,
            "metrics": {item.name: item.to_dict() for item in self.metrics},
            "reasons": [
                {
                    "state": item.state,
                    "text": item.text,
                    "metrics": list(item.metrics),
                    "rows": list(item.rows),
                    "count": item.count,
                }
                for item in self.reasons
            ],
            "caveats": list(self.caveats),
        }

    def __str__(self) -> str:
        parts = [self.title, table(HEADINGS, [_cells(item) for item in self.metrics])]
        for state in ("unscored", "failed"):
            reasons = [str(reason) for reason in self.reasons if reason.state == state]
            hidden = len(reasons) - MOST_REASONS
            if hidden > 0:
                reasons[MOST_REASONS:] = [f"and {hidden} more {'reason' if hidden == 1 else 'reasons'}"]
            if reasons:
                parts.append("\n".join([f"{state}:", *(f"  {line}" for line in reasons)]))
        parts += [f"note: {caveat}" for caveat in self.caveats]
        return "\n\n".join(parts)


HEADINGS = (
    "metric",
    "mean",
    "scale",
    "scored",
    "unscored",
    "failed",
    "calls",
    "cached",
    "prompt tokens",
    "completion tokens",
)


def _cells(item: MetricSummary) -> list[str]:
    usage = item.usage
    # A server that reports no tokens is not one that used none.
    unknown = usage.calls > usage.cached_calls and not usage.prompt_tokens and not usage.completion_tokens
    tokens = ["-", "-"] if unknown else [f"{usage.prompt_tokens}", f"{usage.completion_tokens}"]
    return [
        item.name,
        "-" if item.mean is None else f"{item.mean:.3f}",
        f"{item.scale[0]:g} to {item.scale[1]:g}" if item.scale else "-",
        *(str(number) for number in (item.scored, item.unscored, item.failed, usage.calls, usage.cached_calls)),
        *tokens,
    ]


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], *, left: int = 1) -> str:
    """A plain-text table with two spaces between its columns; the first ``left`` ones are set to the left, others to the right."""
    lines = [headings, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(headings))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column < left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def reasons_of(scores: Mapping[str, Sequence[Score]], places: Sequence[str], labels: Sequence[str]) -> list[Reason]:
    """The causes of all scores without a value, the most common ones first; equal ones are one."""
    groups: dict[tuple[str, str], tuple[dict[str, None], dict[str, None], list[int]]] = {}
    for index, (place, label) in enumerate(zip(places, labels, strict=True)):
        for name, column in scores.items():
            score = column[index]
            if score.value is not None:
                continue
            metrics, rows, indices = groups.setdefault((score.state, _cause(score, name, place)), ({}, {}, []))
            metrics[name] = rows[label] = None
            indices.append(index)
    found = [
        Reason(state, text, tuple(metrics), tuple(rows), len(indices))
        for (state, text), (metrics, rows, indices) in groups.items()
    ]
    return sorted(found, key=lambda reason: -reason.count)


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


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 3]}..."

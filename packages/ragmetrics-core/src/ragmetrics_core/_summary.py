"""The account of a run: one line per metric, then why rows were not scored, then what must be known about the models.

Means are taken over the scored rows alone, and the counts beside them say how many were left out. A mean over nothing is
None and shows as "-": there is no default. Beside each mean stands how sure it is: its 95 % interval, made as ``_statistics``
says. Under the table stand the rows to look at first: those with the lowest values, and those without any.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ._reasons import Reason, first_of
from ._requests import Usage
from ._score import Score
from ._statistics import METHODS, Interval, mean_interval, mean_of, rate_interval

__all__ = ["MetricSummary", "Summary"]

MOST_REASONS = 4
"""Reasons that the text shows per state; the rest is counted."""

MOST_LOWEST = 3
"""Rows with the lowest values that the text names per metric."""


@dataclass(frozen=True)
class MetricSummary:
    """One metric over all rows.

    Attributes:
        name: name of the metric.
        mean: mean of the scored rows' values; None if no row was scored.
        interval: 95 % interval of that mean, and how it was made; None if fewer than two rows were scored, or if all values
            are equal and the scale is not known.
        scale: lowest and highest possible value; None where the scores of the rows differ in it or have none.
        scored: rows with a value.
        unscored: rows with honestly nothing to score.
        failed: rows where something went wrong.
        passed: rows that passed; None if the metric gave no row a verdict.
        pass_rate: share of the rows with a verdict that passed; None if there is none.
        pass_interval: 95 % interval of that rate; None if fewer than two rows have a verdict.
        usage: calls, cached calls and tokens, summed.
        lowest: the rows with the lowest values, as (label, value), lowest first; rows at the top of the scale are left out.
    """

    name: str
    mean: float | None
    interval: Interval | None
    scale: tuple[float, float] | None
    scored: int
    unscored: int
    failed: int
    passed: int | None
    pass_rate: float | None
    pass_interval: Interval | None
    usage: Usage
    lowest: tuple[tuple[str, float], ...] = ()

    @classmethod
    def of(
        cls, name: str, scale: tuple[float, float] | None, scores: Sequence[Score], labels: Sequence[str] = ()
    ) -> MetricSummary:
        """The summary of one metric's scores; ``scale`` is the metric's own, ``labels`` name the rows."""
        values = [score.value for score in scores if score.value is not None]
        verdicts = [score.passing for score in scores if score.passing is not None]
        failed = sum(score.error is not None for score in scores)
        scale = scale or _common_scale(scores)
        return cls(
            name=name,
            mean=mean_of(values),
            interval=mean_interval(values, scale),
            scale=scale,
            scored=len(values),
            unscored=len(scores) - len(values) - failed,
            failed=failed,
            passed=sum(verdicts) if verdicts else None,
            pass_rate=mean_of(verdicts),
            pass_interval=rate_interval(sum(verdicts), len(verdicts)),
            usage=sum((score.usage for score in scores), Usage()),
            lowest=_lowest(scores, labels, scale) if len(values) > MOST_LOWEST else (),
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain JSON values."""
        return {
            "mean": self.mean,
            "interval": list(self.interval[:2]) if self.interval else None,
            "interval_method": self.interval.method if self.interval else None,
            "scale": list(self.scale) if self.scale else None,
            "scored": self.scored,
            "unscored": self.unscored,
            "failed": self.failed,
            "passed": self.passed,
            "pass_rate": self.pass_rate,
            "pass_interval": list(self.pass_interval[:2]) if self.pass_interval else None,
            "usage": self.usage.to_dict(),
            "lowest": [list(item) for item in self.lowest],
        }


def _lowest(
    scores: Sequence[Score], labels: Sequence[str], scale: tuple[float, float] | None
) -> tuple[tuple[str, float], ...]:
    top = scale[1] if scale else math.inf
    found = [
        (label, score.value)
        for label, score in zip(labels, scores, strict=False)
        if score.value is not None and score.value < top
    ]
    return tuple(heapq.nsmallest(MOST_LOWEST, found, key=lambda item: item[1]))


def _common_scale(scores: Sequence[Score]) -> tuple[float, float] | None:
    scales = {score.scale for score in scores if score.value is not None}
    return scales.pop() if len(scales) == 1 else None


@dataclass(frozen=True)
class Summary:
    """The account of a run; ``str()`` or ``print`` shows it as a table.

    Attributes:
        title: what was evaluated.
        metrics: one entry per metric.
        reasons: why scores have no value, the most common ones first.
        caveats: what must be known about the models that were asked.
        seconds: wall time of the run; None if it is not known.
    """

    title: str
    metrics: tuple[MetricSummary, ...]
    reasons: tuple[Reason, ...] = ()
    caveats: tuple[str, ...] = ()
    seconds: float | None = None

    def __getitem__(self, name: str) -> MetricSummary:
        for item in self.metrics:
            if item.name == name:
                return item
        raise KeyError(f"no metric {name!r}; there are {', '.join(item.name for item in self.metrics)}")

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain JSON values."""
        return {
            "title": self.title,
            "seconds": self.seconds,
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
        head = self.title if self.seconds is None else f"{self.title}, {_seconds(self.seconds)}"
        parts = [head, table(HEADINGS, [_cells(item) for item in self.metrics])]
        if sureness := [*_methods(self.metrics), *map(_passed, filter(_has_own_rate, self.metrics))]:
            parts.append("\n".join(sureness))
        if lowest := [_shown_lowest(item) for item in self.metrics if item.lowest]:
            parts.append("\n".join(["lowest:", *lowest]))
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
    "95 % interval",
    "scale",
    "scored",
    "unscored",
    "failed",
    "calls",
    "cached",
    "tokens in",
    "tokens out",
)


def _cells(item: MetricSummary) -> list[str]:
    usage = item.usage
    # A server that reports no tokens is not one that used none.
    unknown = usage.calls > usage.cached_calls and not usage.prompt_tokens and not usage.completion_tokens
    tokens = ["-", "-"] if unknown else [f"{usage.prompt_tokens}", f"{usage.completion_tokens}"]
    return [
        item.name,
        "-" if item.mean is None else f"{item.mean:.3f}",
        str(item.interval) if item.interval else "-",
        f"{item.scale[0]:g} to {item.scale[1]:g}" if item.scale else "-",
        *(str(number) for number in (item.scored, item.unscored, item.failed, usage.calls, usage.cached_calls)),
        *tokens,
    ]


def _methods(metrics: Sequence[MetricSummary]) -> Iterator[str]:
    """One line: how the intervals were made; which metrics, if there was more than one way."""
    names: dict[str, list[str]] = {}
    for item in metrics:
        if item.interval:
            names.setdefault(METHODS[item.interval.method], []).append(item.name)
    if names:
        ways = names if len(names) == 1 else [f"{method} for {first_of(found)}" for method, found in names.items()]
        yield f"95 % interval: {'; '.join(ways)}"


def _has_own_rate(item: MetricSummary) -> bool:
    """Whether the pass rate says more than the mean; of yes/no metrics it is the mean."""
    return item.passed is not None and item.pass_rate != item.mean


def _passed(item: MetricSummary) -> str:
    limits = f", 95 % interval {item.pass_interval}" if item.pass_interval else ""
    return f"passed {item.name}: {item.passed} ({item.pass_rate:.3f}{limits})"


def _shown_lowest(item: MetricSummary) -> str:
    return f"  {item.name}: {first_of([f'{label} ({value:.3g})' for label, value in item.lowest])}"


def _seconds(seconds: float) -> str:
    return f"{seconds:.{2 if seconds < 10 else 1 if seconds < 100 else 0}f} s"


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

"""The account of a run: one line per metric, then why rows were not scored, then what must be known about the models.

A mean over nothing shows as "-". Beside each mean stands how sure it is: its 95 % interval, made as ``_statistics`` says. Under
the table stand the rows to look at first: those with the lowest values, and those without any.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ._metric_summary import MetricSummary
from ._prices import ModelUsage
from ._reasons import Reason, first_of
from ._statistics import METHODS

__all__ = ["MetricSummary", "Summary"]

MOST_REASONS = 4
"""Reasons that the text shows per state; the rest is counted."""


@dataclass(frozen=True)
class Summary:
    """The account of a run; ``str()`` or ``print`` shows it as a table.

    Attributes:
        title: what was evaluated.
        metrics: one entry per metric.
        reasons: why scores have no value, the most common ones first.
        caveats: what must be known about the models that were asked.
        seconds: wall time of the run; None if it is not known.
        models: what every model was asked; its ``cost()`` is the price.
        stopped: why the run ended before its last row; None if it did not.
        earlier: what every model was asked in earlier parts of the run.
        waited: by metric, the mean seconds that a row has waited for models; those that wait for none are not there.
    """

    title: str
    metrics: tuple[MetricSummary, ...]
    reasons: tuple[Reason, ...] = ()
    caveats: tuple[str, ...] = ()
    seconds: float | None = None
    models: tuple[ModelUsage, ...] = ()
    stopped: str | None = None
    earlier: tuple[ModelUsage, ...] = ()
    waited: Mapping[str, float] = field(default_factory=dict)

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
            "models": [_model_dict(item) for item in self.models],
            "earlier": [_model_dict(item) for item in self.earlier],
            "waited": dict(self.waited),
            "stopped": self.stopped,
        }

    def __str__(self) -> str:
        head = self.title if self.seconds is None else f"{self.title}, {_seconds(self.seconds)}"
        parts = [head, table(HEADINGS, [_cells(item) for item in self.metrics])]
        rates = map(_passed, filter(_has_own_rate, self.metrics))
        if lines := [*_methods(self.metrics), *rates, *_spreads(self.metrics), *_waits(self), *_costs(self)]:
            parts.append("\n".join(lines))
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
        if self.stopped is not None:
            parts.append(f"stopped: {self.stopped}")
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


def _spreads(metrics: Sequence[MetricSummary]) -> Iterator[str]:
    for item in metrics:
        if item.spread is not None:
            rows = f"{item.unsteady} of {item.scored} rows differ"
            yield f"repeats {item.name}: standard deviation {item.spread:.3f} within a row, {rows}"


def _waits(summary: Summary) -> Iterator[str]:
    if summary.waited:
        yield "waiting per row: " + ", ".join(f"{name} {_seconds(mean)}" for name, mean in summary.waited.items())


def _costs(summary: Summary) -> Iterator[str]:
    for when, models in (("", summary.models), ("earlier parts of this run, ", summary.earlier)):
        for item in models:
            cost = item.cost()
            if cost is not None:
                yield f"{when}cost {item.name}: {cost}"
            if item.repeated:
                yield f"{when}{item.name}: {item.repeated} calls were refused or lost, and made again"


def _model_dict(item: ModelUsage) -> dict[str, Any]:
    cost = item.cost()
    price = {} if cost is None else {"dollars": cost.dollars, "prices": cost.source}
    return {**item.to_dict(), **price}


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

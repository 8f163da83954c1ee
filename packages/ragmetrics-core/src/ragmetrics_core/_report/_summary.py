"""The summary of a run: per metric what is known, why rows were not scored, what must be known about the models. Data only.

Pictures of it are functions of it: `_text` draws it for a terminal. What a picture shows is computed here or in `_metric_summary`,
so that all pictures say the same; how it is arranged is the picture's own affair.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .._kernel._requests import Usage
from .._store._prices import ModelUsage
from ._metric_summary import MetricSummary
from ._reasons import Reason
from ._summarised import SliceSummary, named
from ._summary_markdown import summary_markdown
from ._table import room
from ._text import summary_text


@dataclass(frozen=True)
class Summary:
    """The summary of a run; ``str()`` or ``print`` shows it as a table, as wide as the terminal, or 80 columns where there is none.

    Attributes:
        title: what was evaluated.
        metrics: one entry per metric.
        reasons: why scores have no value, the most common ones first.
        caveats: what must be known about the models that were asked, and about the rows.
        seconds: wall time of the run; None if it is not known.
        models: what every model was asked; its ``cost()`` is the price.
        stopped: why the run ended before its last row; None if it did not.
        earlier: what every model was asked in earlier parts of the run.
        waited: by metric, the mean seconds that a row has waited for models; metrics that wait for none are left out.
        by: the path of the column that ``slices`` are made by; None if there are none.
        slices: the metrics for each value of that column, by the value as text: ``slices["de"]["faithfulness"].mean``; rows without
            a value are under None.
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
    by: str | None = None
    slices: Mapping[str | None, SliceSummary] = field(default_factory=dict)

    def __getitem__(self, name: str) -> MetricSummary:
        return named(self.metrics, name)

    @property
    def failed_everywhere(self) -> tuple[str, ...]:
        """Names of the metrics that failed on every row."""
        return tuple(item.name for item in self.metrics if item.failed_everywhere)

    @property
    def asked(self) -> Usage:
        """What all models were asked, also for rows that were not finished."""
        return sum((item.usage for item in self.models), Usage())

    @property
    def calls_of_unfinished_rows(self) -> int:
        """Calls that were made for rows that the run has left unfinished: they are in no score."""
        finished = sum(item.usage.calls - item.usage.cached_calls for item in self.metrics)
        return max(0, self.asked.calls - finished) if self.stopped is not None else 0

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
                    "counts": list(item.counts),
                    "count": item.count,
                }
                for item in self.reasons
            ],
            "caveats": list(self.caveats),
            "models": [_model_dict(item) for item in self.models],
            "earlier": [_model_dict(item) for item in self.earlier],
            "waited": dict(self.waited),
            "stopped": self.stopped,
            **({} if self.by is None else {"by": self.by, "slices": [item.to_dict() for item in self.slices.values()]}),
        }

    def to_markdown(self) -> str:
        """For a comment on a pull request; what comes from the data has no effect there."""
        return summary_markdown(self)

    def __str__(self) -> str:
        return summary_text(self, room())

    def _repr_html_(self) -> str:
        """Notebooks show the tables."""
        from ._notebook import summary_html  # noqa: PLC0415  which needs comparisons too

        return summary_html(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Notebooks show the table."""
        printer.text("..." if cycle else str(self))


def _model_dict(item: ModelUsage) -> dict[str, Any]:
    cost = item.cost()
    price = {} if cost is None else {"dollars": cost.dollars, "prices": cost.source}
    return {**item.to_dict(), **price}


def size_in_words(rows: int, metrics: int) -> str:
    """Such as ``12 rows, 1 metric``."""
    return f"{rows} row{'s' * (rows != 1)}, {metrics} metric{'s' * (metrics != 1)}"

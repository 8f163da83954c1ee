"""The summary of a run: what is known per metric, why rows have no score, what a reader must know about the models.

It is made in one pass over the rows, which may be read from a file. It holds data only; `_text` and `_markdown` lay it out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from .._kernel._repeated import holds_verdict, judged_text
from .._kernel._requests import Usage
from .._show._tables import room
from .._store._prices import ModelUsage
from .._store._records import Record
from .._store._run_settings import MetricColumn
from ._markdown import summary_markdown
from ._metric_summary import Causes, MetricSummary, Reason, Tally
from ._slices import RowLabels, row_name, slice_name, slices_of
from ._text import summary_text

if TYPE_CHECKING:
    from .._calibrate._calibration import Calibration


@dataclass(frozen=True)
class SliceSummary:
    """The metrics over the rows that share a value.

    Attributes:
        name: as a person reads it, such as ``lang=de``, or ``without lang``.
        label: the value as text; None for rows without one.
        rows: how many rows there are.
        metrics: one entry per metric, over these rows alone.
    """

    name: str
    label: str | None
    rows: int
    metrics: tuple[MetricSummary, ...]

    def __getitem__(self, name: str) -> MetricSummary:
        return named(self.metrics, name)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain JSON values."""
        return {
            "label": self.label,
            "rows": self.rows,
            "metrics": {item.name: item.to_dict() for item in self.metrics},
        }


def with_calibration(metrics: Sequence[MetricSummary], calibration: Calibration) -> tuple[MetricSummary, ...]:
    """The same with the mean that people would give, where labels tell it.

    Raises:
        InvalidInput: the calibration is that of another run.
    """
    return tuple(
        replace(item, calibration=calibration.corrected_of(item.name, item.scored, item.mean)) for item in metrics
    )


class Summed(NamedTuple):
    """What the rows of a run come to."""

    metrics: tuple[MetricSummary, ...]
    reasons: tuple[Reason, ...]
    slices: Mapping[str | None, SliceSummary]
    with_verdicts: int
    """Rows that a model was asked about, and whose texts hold verdicts."""

    @property
    def caveats(self) -> tuple[str, ...]:
        """What must be known about the rows."""
        if not self.with_verdicts:
            return ()
        rows = "1 row holds" if self.with_verdicts == 1 else f"{self.with_verdicts} rows hold"
        said = (
            f"{rows} text in the form of a verdict, such as an object with a score; a judge that only copies one is asked again, "
            "then failed"
        )
        return (said,)


def sum_up(records: Iterable[Record], metrics: Sequence[MetricColumn], by: str | None) -> Summed:
    """Sum up the scores of all rows, and with ``by`` those of each slice, sorted by name; rows without a value come last.

    Raises:
        InvalidInput: ``by`` names nothing that rows have in common.
    """
    slicing = None if by is None else RowLabels(by, "by")
    whole, causes = _tallies(metrics), Causes()
    parts: dict[str | None, dict[str, Tally]] = {}
    with_verdicts = 0
    for record in records:
        name = row_name(record)
        tallies = [whole]
        if slicing is not None:
            slicing.add(record.sample, record.place)
            tallies.append(parts.setdefault(slicing.labels[-1], _tallies(metrics)))
        asked = False
        for metric, score in record.scores.items():
            for tally in tallies:
                tally[metric].add(score, name)
            if score.value is None:
                causes.add(metric, score, record.place, name)
            asked = asked or score.usage.calls > 0
        if asked:
            with_verdicts += holds_verdict(judged_text(record.sample))
    slices = {}
    if slicing is not None and by is not None:
        slicing.check()
        for label, rows in slices_of(slicing.labels, by).items():
            summaries = tuple(tally.summary() for tally in parts[label].values())
            slices[label] = SliceSummary(slice_name(by, label), label, len(rows), summaries)
    return Summed(tuple(tally.summary() for tally in whole.values()), causes.reasons(), slices, with_verdicts)


def _tallies(metrics: Sequence[MetricColumn]) -> dict[str, Tally]:
    return {item.name: Tally(item.name, item.scale, low_is_good=item.higher_is_better is False) for item in metrics}


def named(metrics: Sequence[MetricSummary], name: str) -> MetricSummary:
    """The summary of the metric of that name.

    Raises:
        KeyError: there is none; the message names those that there are.
    """
    for item in metrics:
        if item.name == name:
            return item
    raise KeyError(f"no metric {name!r}; there are {', '.join(item.name for item in metrics)}")


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
        from .._evaluate._notebook import summary_html  # noqa: PLC0415  which needs comparisons too

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

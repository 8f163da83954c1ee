"""One pass over the rows of a run, which may be read from a file: what all of them come to, and what each slice of them does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from .._kernel._repeated import holds_verdict, judged_text
from .._store._records import Record
from .._store._run_settings import MetricColumn
from ._metric_summary import MetricSummary, Tally
from ._reasons import Causes, Reason
from ._row_names import row_name
from ._slices import RowLabels, slice_name, slices_of

if TYPE_CHECKING:
    from ._calibration import Calibration


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

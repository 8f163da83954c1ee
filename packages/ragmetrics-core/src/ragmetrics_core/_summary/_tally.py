"""Count the scores of a run, metric by metric, in one pass over its rows, which may be read from a file.

Means are taken over the scored rows only; the counts say how many rows have no value. A mean over no rows is None, never a
default.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from .._calibrate._calibration import Calibration
from .._kernel._repeated import holds_verdict, judged_text
from .._run._columns import common_scale
from .._run._counted_columns import (
    MOST_WORST,
    Counts,
    Missing,
    causes_of_columns,
    count_columns,
    count_verdicts,
    names_without_value,
)
from .._run._judgements import LABELS, JuryTally, keep_lowest, spread_of
from .._run._scored_rows import ScoredRows, size_in_words
from .._run._slices import ReadLater, RowLabels, cause_of, row_name, slice_name, slices_of
from .._store._parquet import ParquetRecords
from .._store._records import Record
from .._store._run_settings import MetricColumn
from .._values._requests import NO_USAGE
from .._values._score import Score, is_asked
from ..statistics import mean_interval, rate_interval
from ..statistics._means import mean_of
from ._summary import LabelRate, MetricSummary, Reason, SliceSummary, Summary


class Tally:
    """Counts the scores of one metric, in row order."""

    def __init__(self, item: MetricColumn, counts: Counts | None = None) -> None:
        """Take the metric, and scores that are counted already."""
        self._metric = item
        self._sign = -1 if item.higher_is_better is False else 1
        self._unsteady = 0
        self._spreads = array("d")
        self._jury = JuryTally()
        self._counts = counts or Counts(values=array("d"))

    def add(self, score: Score, label: str) -> None:
        """Count one score; the label names its row, if the row is known. Rows that were not scored with this metric are not
        counted.
        """
        if not is_asked(score):
            return
        counts = self._counts
        counts.outcomes[score.label, score.passing, score.error is not None, score.value is not None] += 1
        self._jury.add(score, label)
        if score.usage is not NO_USAGE:
            counts.usage += score.usage
        if score.value is None:
            return
        counts.values.append(score.value)
        counts.scales.add(score.scale)
        if label:
            keep_lowest(counts.worst, self._sign * score.value, label, MOST_WORST)
        if "repeats" in score.unread:  # reading the details costs more than all the counting
            spread = spread_of(score.details)
            if spread is not None:
                self._spreads.append(spread)
                self._unsteady += spread > 0

    def summary(self) -> MetricSummary:
        """Return the counts so far."""
        counts = self._counts
        scale = common_scale(self._metric.scale, counts.scales)
        labels: Counter[str] = Counter()
        own_labels: Counter[str] = Counter()
        passed = failures = silent = 0
        for (label, passing, _, has_value), rows in counts.outcomes.items():
            passed += rows * (passing is True)
            failures += rows * (passing is False)
            if label is not None:
                labels[label] += rows
            if has_value and label in LABELS:
                silent += rows * (passing is None)  # it counts as the worst value, so it did not pass
            elif has_value and label is not None:
                own_labels[label] += rows
        verdicts = passed + failures + silent if passed + failures else 0
        worst, scored = self._named_worst(scale), len(counts.values)
        return MetricSummary(
            name=self._metric.name,
            mean=mean_of(counts.values),
            interval=mean_interval(counts.values, scale=scale),
            scale=scale,
            scored=scored,
            unscored=counts.rows - scored - counts.failed,
            failed=counts.failed,
            passed=passed if verdicts else None,
            pass_rate=passed / verdicts if verdicts else None,
            pass_interval=rate_interval(passed, verdicts),
            usage=counts.usage,
            lowest=worst if self._sign > 0 else (),
            spread=mean_of(self._spreads),
            unsteady=self._unsteady,
            labels=dict(_most_common(labels)),
            silent=silent,
            label_rates={
                label: LabelRate(count, count / scored, rate_interval(count, scored))
                for label, count in _most_common(own_labels)
            },
            highest=worst if self._sign < 0 else (),
            jury=self._jury.summary(),
        )

    def _named_worst(self, scale: tuple[float, float] | None) -> tuple[tuple[str, float], ...]:
        """Return the worst rows without rows that have the best value; empty if the run has hardly more rows."""
        if len(self._counts.values) <= MOST_WORST:
            return ()
        best = scale[self._sign > 0] if scale else self._sign * math.inf
        worst = ((label, self._sign * key) for key, label in self._counts.worst)
        return tuple(item for item in worst if item[1] != best)


def _most_common(labels: Counter[str]) -> list[tuple[str, int]]:
    """Return labels with their numbers, the most common first; equally common ones are sorted by name."""
    return sorted(labels.items(), key=lambda item: (-item[1], item[0]))


@dataclass
class Cause:
    """Why values are missing.

    Attributes:
        metrics: the number of scores of each metric.
        count: the number of rows.
        rows: their names, if rows are read.
    """

    metrics: Counter[str] = field(default_factory=Counter)
    count: int = 0
    rows: list[str] = field(default_factory=list)


class Causes(dict[tuple[str, str], Cause]):
    """Why values are missing, by the state of the scores and the text of the cause."""

    def add(self, missing: Sequence[Missing], count: int, *rows: str) -> None:
        """Add rows to which metrics gave no value. Their names are given if rows are read."""
        for metric, state, text in missing:
            self.setdefault((state, text), Cause()).metrics[metric] += count
        for key in {(state, text) for _, state, text in missing}:
            self[key].count += count
            self[key].rows += rows


def summary_of(
    run: ScoredRows,
    by: str | None = None,
    calibration: Calibration | None = None,
    also: Callable[[Record], object] | None = None,
) -> Summary:
    """Sum up the scores of all rows, and with ``by`` those of each slice. Slices are sorted by name; rows without a value come
    last.

    Args:
        run: the rows and their scores.
        by: the path of the column that defines the slices.
        calibration: the calibration of this run, with the means that people would give.
        also: a function called with each row, so that everything shown of a run is read in one pass.

    Raises:
        InvalidInput: ``by`` names no column that groups rows, or the calibration belongs to another run.
    """
    counted = _from_columns(run, by) if also is None else None
    found = _from_rows(run, by, also) if counted is None else counted
    metrics = [tally.summary() for tally in found.whole.values()]
    if calibration is not None:
        metrics = [
            replace(item, calibration=calibration.corrected_of(item.name, item.scored, item.mean)) for item in metrics
        ]
    size = size_in_words(len(run), len(run.metrics))
    return Summary(
        title=f"{run.source}: {size}" if run.source else size,
        metrics=tuple(metrics),
        reasons=_reasons(run, found.causes),
        caveats=(*run.caveats, *_of_verdicts(found.with_verdicts), *(calibration.notes if calibration else ())),
        seconds=run.seconds,
        models=run.models,
        earlier=run.earlier,
        waited={name: total / len(run) for name, total in run.waited.items() if total and len(run)},
        stopped=run.stopped,
        by=by,
        slices={} if by is None else _slices(by, found),
    )


@dataclass
class Counted:
    """What a summary is made of.

    Attributes:
        whole: the scores of each metric.
        causes: why values are missing.
        with_verdicts: the number of rows with text in the form of a verdict that a model was asked about.
        rows: the number of rows of each slice, the slices in their order.
        parts: the scores of each metric in each slice.
    """

    whole: dict[str, Tally]
    causes: Causes = field(default_factory=Causes)
    with_verdicts: int = 0
    rows: Mapping[str | None, int] = field(default_factory=dict)
    parts: dict[str | None, dict[str, Tally]] = field(default_factory=dict)


def _from_rows(run: ScoredRows, by: str | None, also: Callable[[Record], object] | None) -> Counted:
    """Count the scores row by row."""
    slicing = None if by is None else RowLabels(by, "by")
    found = Counted(_tallies(run.metrics))
    for record in run.records:
        tallies = [found.whole]
        if slicing is not None:
            slicing.add(record.sample, record.place)
            tallies.append(found.parts.setdefault(slicing.labels[-1], _tallies(run.metrics)))
        if _count(record, tallies, found.causes):
            found.with_verdicts += holds_verdict(judged_text(record.sample))
        if also is not None:
            also(record)
    if slicing is not None:
        slicing.check()
        found.rows = {label: len(rows) for label, rows in slices_of(slicing.labels, slicing.path).items()}
    return found


def _from_columns(run: ScoredRows, by: str | None) -> Counted | None:
    """Count the scores from columns; None if rows must be read."""
    counted = count_columns(run.records, run.metrics, by, costs=True)
    if counted is None or not isinstance(run.records, ParquetRecords):
        return None
    parts = {label: _tallies(run.metrics, part) for label, part in counted.parts.items()}
    found = Counted(_tallies(run.metrics, counted.whole), rows=counted.rows, parts=parts)
    for missing, number in causes_of_columns(run.records, run.metrics):
        found.causes.add(missing, number)
    found.with_verdicts = count_verdicts(run.records, run.metrics)
    return found


def _count(record: Record, tallies: Sequence[Mapping[str, Tally]], causes: Causes) -> bool:
    """Count the scores of one row. Return whether a model was asked about it."""
    name, asked, missing = row_name(record), False, list[Missing]()
    for metric, score in record.scores.items():
        for tally in tallies:
            tally[metric].add(score, name)
        if score.value is None and is_asked(score):
            missing.append((metric, score.state, cause_of(score.error, score.reason, metric, record.place)))
        asked = asked or score.usage.calls > 0
    causes.add(missing, 1, name)
    return asked


def _reasons(run: ScoredRows, causes: Causes) -> tuple[Reason, ...]:
    """Return the causes of missing values, the most common first."""
    found = []
    for (state, text), cause in causes.items():
        rows: Sequence[str] = tuple(cause.rows)
        if isinstance(run.records, ParquetRecords) and not rows:
            metrics = [item for item in run.metrics if item.name in cause.metrics]
            rows = ReadLater(cause.count, partial(names_without_value, run.records, metrics, state, text))
        found.append(Reason(state, text, tuple(cause.metrics), rows, tuple(cause.metrics.values())))
    return tuple(sorted(found, key=lambda reason: -reason.count))


def _slices(path: str, found: Counted) -> dict[str | None, SliceSummary]:
    tallies = {label: tuple(tally.summary() for tally in part.values()) for label, part in found.parts.items()}
    return {key: SliceSummary(slice_name(path, key), key, rows, tallies[key]) for key, rows in found.rows.items()}


def _of_verdicts(rows: int) -> Iterator[str]:
    """Return the caveat for runs in which a model was asked about ``rows`` rows whose texts contain verdicts."""
    if rows:
        yield (
            f"{'1 row holds' if rows == 1 else f'{rows} rows hold'} text in the form of a verdict, such as an object with a "
            "score; a judge that only copies one is asked again, then failed"
        )


def _tallies(metrics: Sequence[MetricColumn], counted: Mapping[str, Counts] = {}) -> dict[str, Tally]:
    return {item.name: Tally(item, counted.get(item.name)) for item in metrics}

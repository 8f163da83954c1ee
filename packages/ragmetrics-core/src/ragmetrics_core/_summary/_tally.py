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
    CONTRADICTED,
    MOST_WORST,
    ColumnCounts,
    Counts,
    Missing,
    causes_of_columns,
    count_columns,
    count_contradictions,
    count_verdicts,
    names_without_value,
)
from .._run._judgements import LABELS, keep_lowest, spread_of
from .._run._scored_rows import ScoredRows, size_in_words
from .._run._slices import ReadLater, RowGroups, cause_of, row_name, slice_name, slices_of
from .._store._parquet import ParquetRecords
from .._store._records import Record
from .._store._run_settings import MetricColumn
from .._values._requests import NO_USAGE
from .._values._score import Score, is_asked
from ..statistics import Interval, mean_interval
from ..statistics._interval import Scale
from ..statistics._means import mean_of
from ..statistics._numbers import Numbers
from ._summary import LabelRate, MetricSummary, Reason, SliceSummary, Summary


def count(counts: Counts, item: MetricColumn, score: Score, label: str) -> None:
    """Count one score of a metric; the label names its row, if the row is known. Rows that were not scored with this metric are
    not counted.
    """
    if not is_asked(score):
        return
    counts.outcomes[score.label, score.passing, score.error is not None, score.value is not None] += 1
    counts.jury.add(score, label)
    if score.usage is not NO_USAGE:
        counts.usage += score.usage
    if score.value is None:
        return
    counts.values.append(score.value)
    counts.scales.add(score.scale)
    if label:
        keep_lowest(counts.worst, _sign(item) * score.value, label, MOST_WORST)
    if "repeats" in score.unread:  # reading the details costs more than all the counting
        spread = spread_of(score.details)
        counts.spreads.extend(() if spread is None else (spread,))


def summed_up(
    counts: Counts, item: MetricColumn, interval_of: Callable[..., Interval | None] = mean_interval
) -> MetricSummary:
    """Return the summary of a metric whose scores were counted; ``interval_of`` computes the intervals of means and rates."""

    def rate(hits: int, count: int) -> Interval | None:
        return interval_of(Numbers((0.0, 1.0), (count - hits, hits)), None, (0.0, 1.0))

    scale = common_scale(item.scale, counts.scales)
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
    worst, scored, sign = _named_worst(counts, item, scale), len(counts.values), _sign(item)
    return MetricSummary(
        name=item.name,
        mean=mean_of(counts.values),
        interval=interval_of(counts.values, None, scale),
        scale=scale,
        scored=scored,
        unscored=counts.rows - scored - counts.failed,
        failed=counts.failed,
        passed=passed if verdicts else None,
        pass_rate=passed / verdicts if verdicts else None,
        pass_interval=rate(passed, verdicts),
        usage=counts.usage,
        lowest=worst if sign > 0 else (),
        spread=mean_of(counts.spreads),
        unsteady=sum(spread > 0 for spread in counts.spreads),
        labels=dict(_most_common(labels)),
        silent=silent,
        label_rates={
            label: LabelRate(number, number / scored, rate(number, scored))
            for label, number in _most_common(own_labels)
        },
        highest=worst if sign < 0 else (),
        jury=counts.jury.summary(),
    )


def _named_worst(counts: Counts, item: MetricColumn, scale: Scale) -> tuple[tuple[str, float], ...]:
    """Return the worst rows without rows that have the best value; empty if the run has hardly more rows."""
    if len(counts.values) <= MOST_WORST:
        return ()
    sign = _sign(item)
    best = scale[sign > 0] if scale else sign * math.inf
    return tuple((label, sign * key) for key, label in counts.worst if sign * key != best)


def _sign(item: MetricColumn) -> int:
    """Return 1 if low values are the worst, -1 if high values are."""
    return -1 if item.higher_is_better is False else 1


def _most_common(labels: Counter[str]) -> list[tuple[str, int]]:
    """Return labels with their counts, the most common first; labels with equal counts are sorted by name."""
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
    """Sum up the scores of all rows, and with ``by`` the scores of each slice. Slices are sorted by name; rows without a value come
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
    metrics = _summaries(run, found.whole)
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
        slices={
            label: SliceSummary(slice_name(by or "", label), label, rows, tuple(_summaries(run, found.parts[label])))
            for label, rows in found.rows.items()
        },
        contradicting=found.contradicting,
    )


@dataclass
class Counted(ColumnCounts):
    """What a summary is made of.

    Attributes:
        causes: why values are missing.
        with_verdicts: the number of rows with text in the form of a verdict that a model was asked about.
        contradicting: the number of rows in which a context contradicts a claim of the response.
    """

    causes: Causes = field(default_factory=Causes)
    with_verdicts: int = 0
    contradicting: int = 0


def _from_rows(run: ScoredRows, by: str | None, also: Callable[[Record], object] | None) -> Counted:
    """Count the scores row by row."""
    groups = RowGroups(by, None)
    found = Counted(_blank(run), {}, {})
    checked = [item.name for item in run.metrics if item.checks_response]
    for record in run.records:
        parts = [found.whole]
        groups.add(record.sample, record.place)
        if groups.slices is not None:
            parts.append(found.parts.setdefault(groups.slices[-1], _blank(run)))
        if _count_row(record, run, parts, found.causes):
            found.with_verdicts += holds_verdict(judged_text(record.sample))
        found.contradicting += any(_is_contradicted(record.scores[name]) for name in checked)
        if also is not None:
            also(record)
    groups.check()
    if by is not None:
        found.rows = {label: len(rows) for label, rows in slices_of(groups.slices or (), by).items()}
    return found


def _is_contradicted(score: Score) -> bool:
    """Whether the judge says of a claim that a context contradicts it and none supports it."""
    verdicts = score.unread.get("verdicts")
    items = verdicts if isinstance(verdicts, list | tuple) else ()
    return any(isinstance(item, Mapping) and item.get("verdict") == CONTRADICTED for item in items)


def _from_columns(run: ScoredRows, by: str | None) -> Counted | None:
    """Count the scores from columns; None if rows must be read."""
    counted = count_columns(run.records, run.metrics, by, costs=True)
    if counted is None or not isinstance(run.records, ParquetRecords):
        return None
    verdicts = count_verdicts(run.records, run.metrics)
    found = Counted(counted.whole, counted.parts, counted.rows, with_verdicts=verdicts)
    found.contradicting = count_contradictions(run.records, [item for item in run.metrics if item.checks_response])
    for missing, number in causes_of_columns(run.records, run.metrics):
        found.causes.add(missing, number)
    return found


def _count_row(record: Record, run: ScoredRows, parts: Sequence[Mapping[str, Counts]], causes: Causes) -> bool:
    """Count the scores of one row in these parts of the run. Return whether a model was asked about it."""
    name, asked, missing = row_name(record), False, list[Missing]()
    for item in run.metrics:
        score = record.scores[item.name]
        for part in parts:
            count(part[item.name], item, score, name)
        if score.value is None and is_asked(score):
            missing.append((item.name, score.state, cause_of(score.error, score.reason, item.name, record.place)))
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


def _of_verdicts(rows: int) -> Iterator[str]:
    """Return the caveat for runs in which a model was asked about ``rows`` rows whose texts contain verdicts."""
    if rows:
        yield (
            f"{'1 row holds' if rows == 1 else f'{rows} rows hold'} text in the form of a verdict, such as an object with a "
            "score; a judge that only copies one is asked again, then failed"
        )


def _blank(run: ScoredRows) -> dict[str, Counts]:
    return {item.name: Counts(values=array("d")) for item in run.metrics}


def _summaries(run: ScoredRows, part: Mapping[str, Counts]) -> list[MetricSummary]:
    return [summed_up(part[item.name], item, run.interval_of_rows) for item in run.metrics]

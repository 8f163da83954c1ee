"""The evidence that gates are decided by: the values of each slice, and how many rows have none.

Evidence is made from the rows of one run (`mean_evidence`, here) or from a comparison of two runs (`_compare._drops`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

from .._run._columns import Column, Run, common_scale, repeat_keys
from .._run._counted_columns import ColumnCounts, Counts, count_columns
from .._run._scored_rows import ScoredRows
from .._run._slices import RowGroups, slices_of
from .._values._counts import count_of
from .._values._score import NOT_ASKED
from ..statistics import Interval
from ..statistics._interval import Scale
from ..statistics._means import mean_of, rate_mid_p
from ..statistics._numbers import Numbers
from ..statistics._pairs import rows_to_meet_losses
from ._gates import Conditions, Gate

Absent = Mapping[tuple[str, str | None, str | None], int]
"""The number of rows with a value only in an earlier run, by metric, path and label of the slice (None: all rows)."""


@dataclass(frozen=True)
class Evidence:
    """The evidence for one gate, over all rows or one slice.

    Attributes:
        estimate: the mean, or the drop; None if there is no score.
        interval_at: returns the interval of the estimate at a confidence above 0 and below 1; None if there is no interval.
        bounds: the lowest and highest possible value of the estimate; None if they are not known.
        rows: number of all rows, with and without a score.
        scored: number of rows that the estimate is made of.
        failed: number of rows whose scoring failed.
        by: the path of the column that defines the slice; None for all rows.
        label: the value of that column in the rows of the slice; None for rows without a value.
        clusters: number of clusters of the scored rows; None if rows are taken to be independent.
        repeated: whether these clusters are repeats of a row.
        unmet: the conditions that the rows do not meet, in words.
        doubt: returns why the interval at a confidence cannot be trusted although it lies on the good side of the gate's limit
            (1), or on the bad side (-1); empty if it can. None: it can always be trusted.
        enough: the number of rows, or clusters, in which rare, large losses would have shown (`statistics._pairs`). A gate
            with fewer does not pass. None: any number is enough.
        missing: in words, the rows that have a value only in an earlier run; empty if there are none.
        worst_case: returns the interval at a confidence if those rows count as the worst value for the gate, or None for no
            interval. The attribute itself is None if no value is known to be the worst.
        warnings: caveats on all of this.
        void: why the gate stays undecided whatever the numbers are, in words; empty if the numbers decide.
        run: the name of the run, if the gates of several runs are decided together.
    """

    estimate: float | None
    interval_at: Callable[[float], Interval | None]
    bounds: Scale
    rows: int
    scored: int
    failed: int
    by: str | None = None
    label: str | None = None
    clusters: int | None = None
    repeated: bool = False
    unmet: tuple[str, ...] = ()
    doubt: Callable[[Gate, int, float], str] | None = None
    enough: Callable[[Gate], int] | None = None
    missing: str = ""
    worst_case: Callable[[Gate, float], Interval | None] | None = None
    warnings: tuple[str, ...] = ()
    void: str = ""
    run: str = ""


def mean_evidence(
    evaluation: ScoredRows,
    scales: Mapping[str, Scale],
    by: str | None,
    cluster: str | None,
    *,
    conditions: Conditions,
    absent: Absent,
) -> dict[str, list[Evidence]]:
    """Return the evidence for each metric of ``scales``: first over all rows, then, with ``by``, over each slice.

    If no clusters are named, repeats of a row are clusters: ten answers to one question do not count as ten questions.

    Raises:
        InvalidInput: a path names no usable column, or there are too many slices.
    """
    metrics = [item for item in evaluation.metrics if item.name in scales]
    counted = None if cluster is not None else count_columns(evaluation.records, metrics, by, unique=True)
    found = _from_rows(evaluation, scales, by, cluster) if counted is None else counted
    evidence: dict[str, list[Evidence]] = {}
    for name, own_scale in scales.items():
        scale = common_scale(own_scale, found.whole[name].scales)
        of_counts = partial(of_mean, evaluation, scale=scale, conditions=conditions, repeated=cluster is None)
        evidence[name] = [of_counts(found.whole[name], absent=absent.get((name, None, None), 0))]
        missing = {label: rows for (metric, path, label), rows in absent.items() if (metric, path) == (name, by)}
        for label in dict.fromkeys([*found.parts, *missing] if by is not None else []):
            counts, lacking = found.parts.get(label, {}).get(name, Counts()), missing.get(label, 0)
            if counts.rows or lacking:
                evidence[name].append(replace(of_counts(counts, absent=lacking), by=by, label=label))
    return evidence


def _from_rows(evaluation: ScoredRows, metrics: Iterable[str], by: str | None, cluster: str | None) -> ColumnCounts:
    groups = RowGroups(by, cluster)
    run = Run.of(evaluation, evaluation.source, groups)
    groups.check()
    clusters: Sequence[Hashable] | None = run.clusters
    if clusters is None:
        keys = repeat_keys(run.rows)
        clusters = keys if len(set(keys)) < len(keys) else None

    def counts(rows: Sequence[int]) -> dict[str, Counts]:
        return {name: _counts(run.columns[name], rows, clusters) for name in metrics}

    slices = {} if by is None else slices_of(run.slices or (), by)
    parts = {label: counts(rows) for label, rows in slices.items()}
    return ColumnCounts(counts(range(len(run.rows))), parts, {label: len(rows) for label, rows in slices.items()})


def _counts(column: Column, rows: Sequence[int], clusters: Sequence[Hashable] | None) -> Counts:
    """Return the scores of a metric in these rows."""
    scored = {row: value for row in rows if (value := column.values[row]) is not None}
    return Counts(
        Counter((None, None, column.failed[row], row in scored) for row in rows if column.labels[row] != NOT_ASKED),
        values=list(scored.values()),
        scales={column.scales[row] for row in scored},
        clusters=None if clusters is None else [clusters[row] for row in scored],
    )


def of_mean(
    run: ScoredRows,
    counts: Counts,
    scale: Scale,
    conditions: Conditions,
    *,
    repeated: bool = False,
    absent: int = 0,
) -> Evidence:
    """Return the evidence of values for their mean.

    Args:
        run: the run. If it may stop when its gates are decided, its intervals need no protection against rare losses.
        counts: the rows, with their values and clusters.
        scale: lowest and highest possible value; None if it is not known.
        conditions: the conditions that the rows must meet.
        repeated: whether clusters, if there are any, are repeats of a row.
        absent: number of rows with a value in an earlier run that this run does not have.
    """
    values, clusters, rows, failed = counts.values, counts.clusters, counts.rows, counts.failed
    protected = None if run.drawn else scale
    worst = {1: scale[0], -1: scale[1]} if scale else {}  # without a scale neither function is called

    def worst_case(gate: Gate, confidence: float) -> Interval | None:
        groups = None if clusters is None else [*clusters, *(("absent", place) for place in range(absent))]
        return run.interval_of(_plus(values, worst[gate.sign], absent), groups, scale, confidence)

    def enough(gate: Gate) -> int:
        have, end = len(values) if clusters is None else 0, worst[gate.sign]
        return rows_to_meet_losses(_plus(values, end, absent), gate.sign, gate.limit, end, have=have)

    return Evidence(
        estimate=mean_of(values),
        interval_at=cache(lambda confidence: run.interval_of(values, clusters, scale, confidence)),
        bounds=scale,
        rows=rows,
        scored=len(values),
        failed=failed,
        clusters=None if clusters is None else len(set(clusters)),
        repeated=repeated and clusters is not None,
        unmet=tuple(_unmet(conditions, rows, len(values), failed, absent)),
        doubt=partial(_exact_doubt, Numbers.of(values), protected) if protected and clusters is None else None,
        enough=enough if protected else None,
        missing=absent_rows(absent),
        worst_case=None if scale is None else worst_case,
    )


def _plus(values: Sequence[float] | Numbers, value: float, count: int) -> Sequence[float] | Numbers:
    return values.plus(value, count) if isinstance(values, Numbers) else [*values, *[value] * count]


def _unmet(conditions: Conditions, rows: int, scored: int, failed: int, absent: int) -> Iterator[str]:
    """Return, in words, the conditions that the rows do not meet."""
    if conditions.stopped is not None:
        yield f"the run is not complete: {conditions.stopped}"
    lacking = f"{rows - scored - failed} unscored, {failed} failed" + (f", {absent} not there" if absent else "")
    if not rows + absent:
        yield "there are no rows"
    elif not scored:
        yield f"none of {rows + absent} rows has a score ({lacking})"
    else:
        yield from conditions.unmet(rows + absent, scored, failed, have=f"have a score ({lacking})")


def _exact_doubt(numbers: Numbers, scale: tuple[float, float], gate: Gate, side: int, confidence: float) -> str:
    """Return why red cannot be trusted although the interval is on the bad side.

    If all values are ends of the scale, Wilson's interval is too narrow in its tails: with a limit of 0.95, it alone would
    make 8 % of single gates of 10 rows falsely red. So the mid-p value of "the rate is as good as the limit" must agree.
    """
    low, high = scale
    if side > 0 or not numbers.at_ends(scale):
        return ""
    count, tops, rate = len(numbers), numbers.above((low + high) / 2), (gate.limit - low) / (high - low)
    p_value = rate_mid_p(tops, count, rate) if gate.sign > 0 else rate_mid_p(count - tops, count, 1 - rate)
    return "an exact test is not sure of it: so few rows do not decide" if p_value > (1 - confidence) / 2 else ""


def absent_rows(count: int) -> str:
    """Describe the rows that only an earlier run has; empty if there are none."""
    rows = f"{count_of(count, 'row')} of the first run {'is' if count == 1 else 'are'}"
    return f"{rows} not in the second" if count else ""


def too_few(rows: int, clusters: int | None, needed: int, what: str = "rows") -> str:
    """Warn that the rows, or clusters of rows, are too few to show rare losses; empty if there are enough."""
    number, what = (rows, what) if clusters is None else (clusters, "clusters")
    few = f"{number:,} {what} are too few to rule out rare large losses: that takes {needed:,}"
    return few if number < needed else ""


def new_run(rows: str, supposed: str, does: str) -> str:
    """Say how many rows a new run needs, always in the same wording: under which assumption, and how often such a run succeeds."""
    return f"given {supposed}, a new run of {rows} would {does} in 80 % of cases (fix the number before you look)"


def about(rows: int) -> int:
    """Return the number rounded up to two digits, because more digits would suggest false precision."""
    step = 10 ** max(0, len(str(rows)) - 2)
    return math.ceil(rows / step) * step

"""What a run shows of its gates: the values of each slice, and how many rows have none.

One pass over the records, which may be read from a file; what is kept are ten bytes a row and metric.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Container, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from .._kernel._score import Score, is_asked
from .._run._compared_rows import RunRow
from .._run._metric_summary import common_scale
from .._run._slices import RowGroups, slices_of
from .._store._records import Record, Records
from ..statistics import Interval, mean_interval
from ..statistics._interval import ROUNDING
from ..statistics._means import mean_of, rate_mid_p
from ..statistics._pairs import rows_to_meet_losses
from ._gates import Conditions, Gate

if TYPE_CHECKING:
    pass

Scale = tuple[float, float] | None

Absent = Mapping[tuple[str, str | None, str | None], int]
"""By metric, path and label of the slice (None for all rows): rows with a value in an earlier run that this one has not got."""


def few(_gate: Gate) -> int:
    """Nothing tells how much a row may lose."""
    return 1


def no_doubt(_gate: Gate, _side: int, _confidence: float) -> str:
    """The interval is to be believed."""
    return ""


@dataclass(frozen=True)
class Evidence:
    """What there is to decide one gate by, for all rows or for one slice.

    Attributes:
        estimate: the mean, or the drop; None if there is no score.
        interval_at: the interval of it at a confidence above 0 and below 1; None where there is none.
        bounds: the lowest and the highest that the estimate could be; None if that is not known.
        rows: all rows, whatever became of them.
        scored: rows that the estimate is made of.
        failed: rows in which something went wrong.
        by: the path of the column that the slice is made by; None for all rows.
        label: what stands there in the rows of the slice; None for rows without a value there.
        clusters: how many clusters the scored rows are in; None if rows are taken to be independent.
        repeated: whether these clusters are repeats of a row.
        unmet: the conditions that the rows do not meet, in words.
        doubt: why the interval at a confidence is not to be believed although it lies on the good side of the gate's limit (1),
            or on the bad one (-1); empty if it is.
        enough: the rows, or clusters, from which on losses that are rare and large would have been met (`statistics._rare_losses`):
            with fewer a gate is not green.
        missing: against an earlier run, the rows that have a value there alone, in words; empty if there are none.
        warnings: what must be known to believe any of it.
        void: why nothing is decided whatever the numbers are, in words; empty where they decide.
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
    doubt: Callable[[Gate, int, float], str] = no_doubt
    enough: Callable[[Gate], int] = few
    missing: str = ""
    warnings: tuple[str, ...] = ()
    void: str = ""


class Part(NamedTuple):
    """All rows, or those of a slice: their indices, the path of the column that tells, and what stands there."""

    rows: Sequence[int]
    by: str | None = None
    label: str | None = None


def absent_rows(count: int) -> str:
    """The rows that only an earlier run has, in words; empty if there are none."""
    rows = f"{count} row{'s' * (count != 1)} of the first run {'is' if count == 1 else 'are'} not in the second"
    return rows if count else ""


def evidence_of(
    records: Records,
    scales: Mapping[str, Scale],
    by: str | None,
    cluster: str | None,
    *,
    conditions: Conditions,
    absent: Absent,
) -> dict[str, list[Evidence]]:
    """For each metric that has a scale here what all rows show, and with ``by`` after that each slice.

    Repeats of a row are clusters where none are named: ten answers to one question are no ten questions.

    Raises:
        InvalidInput: a path names nothing that rows have in common.
    """
    groups = RowGroups(by, cluster)
    columns = {name: _Column(scale) for name, scale in scales.items()}
    repeats: list[Hashable] = []
    for position, record in enumerate(records):
        groups.add(record.sample, record.place)
        if cluster is None:
            repeats.append(_row_key(record, position))
        for name, column in columns.items():
            column.add(record.scores[name])
    groups.check()
    repeated = len(set(repeats)) < len(repeats)
    clusters = repeats if repeated else groups.clusters
    parts = [Part(range(len(records)))]
    if by is not None:
        sliced = slices_of(groups.slices or (), by)
        gone = dict.fromkeys(label for _, path, label in absent if path == by and label not in sliced)
        parts += [Part(rows, by, label) for label, rows in sliced.items()] + [Part((), by, label) for label in gone]
    return {
        name: [
            replace(
                column.evidence(part, clusters, conditions, absent.get((name, part.by, part.label), 0)),
                repeated=repeated,
            )
            for part in column.asked_parts(parts, {label for metric, _, label in absent if metric == name})
        ]
        for name, column in columns.items()
    }


def _row_key(record: Record, position: int) -> Hashable:
    """What is the same for all repeats of a row."""
    row = RunRow.of(record, position)
    return (row.id, row.question) if row.id is not None else row.texts or position


class _Column:
    """The scores of one metric, row by row."""

    def __init__(self, scale: Scale) -> None:
        self._values = array("d")  # NaN where there is none
        self._failed = bytearray()
        self._asked = bytearray()
        self._own_scale = scale
        self._scales: set[Scale] = set()

    def add(self, score: Score) -> None:
        self._values.append(math.nan if score.value is None else score.value)
        self._failed.append(score.state == "failed")
        self._asked.append(is_asked(score))
        if score.value is not None:
            self._scales.add(score.scale)

    def asked_parts(self, parts: Sequence[Part], expected: Container[str | None]) -> Iterator[Part]:
        """The parts with the rows that the metric was asked about; slices without any are left out but for the expected ones."""
        for part in parts:
            rows = [row for row in part.rows if self._asked[row]]
            if rows or part.by is None or part.label in expected:
                yield part._replace(rows=rows)

    def evidence(
        self, part: Part, clusters: Sequence[Hashable] | None, conditions: Conditions, absent: int
    ) -> Evidence:
        scored = [row for row in part.rows if not math.isnan(self._values[row])]
        values = [self._values[row] for row in scored]
        groups = None if clusters is None else [clusters[row] for row in scored]
        scale = common_scale(self._own_scale, self._scales)
        failed = sum(self._failed[row] for row in part.rows)
        found = of_mean(values, scale, groups, conditions, rows=len(part.rows), failed=failed, absent=absent)
        return replace(found, by=part.by, label=part.label)


def of_mean(
    values: Sequence[float],
    scale: Scale,
    clusters: Sequence[Hashable] | None,
    conditions: Conditions,
    *,
    rows: int,
    failed: int,
    absent: int = 0,
) -> Evidence:
    """What values show of their mean.

    Args:
        values: those of the scored rows.
        scale: lowest and highest possible value; None if it is not known.
        clusters: what each of these rows shares with others; None if they are independent.
        conditions: what the rows must meet.
        rows: all rows, those without a value too.
        failed: rows in which something went wrong.
        absent: rows with a value in an earlier run that this one has not got.
    """

    def doubt(gate: Gate, side: int, confidence: float) -> str:
        if side > 0:
            return _absent_doubt(gate, values, scale, clusters, absent=absent, confidence=confidence) if absent else ""
        if clusters is not None or scale is None or _tail(values, scale, gate) <= (1 - confidence) / 2:
            return ""
        return "an exact test is not sure of it: so few rows do not decide"

    def enough(gate: Gate) -> int:
        if scale is None:
            return 1
        worst = scale[0] if gate.sign > 0 else scale[1]
        return rows_to_meet_losses([*values, *[worst] * absent], gate.sign, gate.limit, worst)

    return Evidence(
        estimate=mean_of(values),
        interval_at=cache(lambda confidence: mean_interval(values, clusters, scale, confidence)),
        bounds=scale,
        rows=rows,
        scored=len(values),
        failed=failed,
        clusters=None if clusters is None else len(set(clusters)),
        unmet=tuple(_unmet(conditions, rows, len(values), failed, absent)),
        doubt=doubt,
        enough=enough,
        missing=absent_rows(absent),
    )


def _absent_doubt(
    gate: Gate,
    values: Sequence[float],
    scale: Scale,
    clusters: Sequence[Hashable] | None,
    *,
    absent: int,
    confidence: float,
) -> str:
    """Why a gate on a mean is not green because of rows that an earlier run alone has; empty if it is green with them too."""
    if scale is None:
        return f"{absent_rows(absent)}, and no value is known to be the worst that they could count as"
    worst = scale[0] if gate.sign > 0 else scale[1]
    groups = None if clusters is None else [*clusters, *(("absent", place) for place in range(absent))]
    found = mean_interval([*values, *[worst] * absent], groups, scale, confidence)
    holds = found is not None and (found.low >= gate.limit if gate.sign > 0 else found.high <= gate.limit)
    return "" if holds else f"{absent_rows(absent)}; counted as the worst value, they could turn it"


def too_few(rows: int, clusters: int | None, needed: int, what: str = "rows") -> str:
    """That rare losses may be missing from so few rows, or clusters of rows, in words; empty if there are enough."""
    number, what = (rows, what) if clusters is None else (clusters, "clusters")
    if number >= needed:
        return ""
    return f"{number:,} {what} are too few to rule out rare large losses: that takes {needed:,}"


def _unmet(conditions: Conditions, rows: int, scored: int, failed: int, absent: int) -> Iterator[str]:
    """The conditions that rows do not meet, in words."""
    rows += absent
    if conditions.stopped is not None:
        yield f"the run is not complete: {conditions.stopped}"
    if not rows:
        yield "there are no rows"
        return
    lacking = f"{rows - absent - scored - failed} unscored, {failed} failed" + (
        f", {absent} not there" if absent else ""
    )
    if not scored:
        yield f"none of {rows} rows has a score ({lacking})"
        return
    if conditions.fails(failed, rows):
        yield f"{failed} of {rows} rows failed, more than max_failed={conditions.max_failed:g}"
    if not conditions.covers(scored, rows):
        yield f"{scored} of {rows} rows have a score ({lacking}), less than min_coverage={conditions.min_coverage:g}"


def _tail(values: Sequence[float], scale: tuple[float, float], gate: Gate) -> float:
    """The mid-p value of "the rate is as good as the limit", where all values are ends of the scale; else 0.

    Wilson's interval is too sure of itself far out: with a limit of 0.95, it alone would make 8 % of single gates of 10 rows
    falsely red.
    """
    low, high = scale
    near = ROUNDING * (high - low)
    tops = sum(high - value <= near for value in values)
    if tops + sum(value - low <= near for value in values) < len(values):
        return 0.0
    rate = (gate.limit - low) / (high - low)
    count = len(values)
    return rate_mid_p(tops, count, rate) if gate.sign > 0 else rate_mid_p(count - tops, count, 1 - rate)


def new_run(rows: str, supposed: str, does: str) -> str:
    """How many rows it takes, always in one wording: what is supposed to be true, and how often a run of that size does it."""
    return f"given {supposed}, a new run of {rows} would {does} in 80 % of cases (fix the number before you look)"


def about(rows: int) -> int:
    """Rounded up to two digits: more of them would pretend to know more."""
    step = 10 ** max(0, len(str(rows)) - 2)
    return math.ceil(rows / step) * step

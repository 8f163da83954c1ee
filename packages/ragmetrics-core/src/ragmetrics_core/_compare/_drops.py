"""The evidence for a gate on a drop between two runs: how much worse the second run is, pair by pair.

A drop has the direction of its metric: the fall of the mean if high values are good, its rise if low values are good. It is
computed over the rows that have a value in both runs, on the metric's own scale, with the intervals of a comparison. Five rules
keep it honest:

* A gate fails if the comparison is refused: when judges differ, no difference is credited to the system, good or bad.
* A gate is undecided if the comparison is void: a judge is not known, or references differ.
* A system must not pass by staying silent on hard questions, or because rows were never judged. So a pass must also hold if the
rows
  that the second run has lost, or does not have, count as the worst value; otherwise the gate is undecided.
* A small sample may contain none of the rare large losses (`statistics._pairs`). A pass needs enough rows to have met them.
* Few changes show little of how large changes are. With fewer than six changed pairs (or clusters) a gate never fails, and its
  interval is at least as wide as if no pair had changed: then a share of z² / (n + z²) of all rows may still change by the whole
  scale. So two equal runs pass a gate on a drop of 0.03 if they have at least 125 rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from .._gate._evidence import Evidence, absent_rows
from .._gate._gates import Conditions, Gate, check_drop
from .._values._layout import printable
from ..statistics import FEWEST_CHANGED, Interval
from ..statistics._pairs import PairedNumbers
from ._comparison import ComparedRuns, MetricComparison
from ._verdicts import lost_rows

CURE = "score the first run again as the second one was, or allow different judges"


def drop_evidence(comparison: ComparedRuns, gates: Iterable[Gate], conditions: Conditions) -> dict[str, list[Evidence]]:
    """Return the evidence for each metric that has a gate: the drop over all pairs, then the drop in each slice.

    Raises:
        InvalidInput: a gate names a metric that the runs do not share or that cannot drop, or its limit is out of reach.
    """
    scales = {item.name: item.scale for item in comparison.metrics}
    directions = {item.name: item.higher_is_better for item in comparison.metrics}
    for gate in gates:
        check_drop(gate, scales, directions)
    items = (*comparison.metrics, *comparison.slices)
    return {
        gate.metric: [_drop(comparison, item, conditions) for item in items if item.name == gate.metric]
        for gate in gates
    }


def _drop(comparison: ComparedRuns, item: MetricComparison, conditions: Conditions) -> Evidence:
    """Return the evidence for one metric in one part of two runs."""
    sign = 1 if item.higher_is_better is False else -1
    values, with_lost = item.values, item.with_lost
    width = values.width if values and values.scale else None
    moved = values.moved if values else 0
    have = item.clusters or item.pairs
    largest = comparison.paired.after.evaluation.largest if comparison.paired else None
    lost = lost_rows(len(item.rows_after.lost), item.short)

    def doubt(_gate: Gate, side: int, _confidence: float) -> str:
        if moved >= FEWEST_CHANGED or (side > 0 and width is not None):
            return ""
        number, what = (item.pairs, "pairs") if item.clusters is None else (item.clusters, "clusters")
        return f"only {moved} of {number} {what} changed, and fewer than {FEWEST_CHANGED} show little"

    def enough(gate: Gate) -> int:
        known = with_lost or values
        return known.enough(-sign, gate.limit, have) if known else 1

    return Evidence(
        estimate=None if item.difference is None else sign * item.difference + 0.0,
        interval_at=cache(lambda confidence: _interval(values, sign, moved, confidence, largest)),
        bounds=None if width is None else (-width, width),
        rows=item.rows_before.rows,
        scored=item.pairs,
        failed=len(item.rows_after.failed),
        by=item.by,
        label=item.label,
        clusters=item.clusters,
        unmet=tuple(_unmet(comparison, item, conditions)),
        doubt=None if largest else doubt,
        enough=None if largest else enough,
        missing=" and ".join(filter(None, (lost, absent_rows(item.absent)))),
        worst_case=(lambda _gate, confidence: _interval(with_lost, sign, moved, confidence, largest))
        if with_lost
        else None,
        warnings=item.warnings if item.credited else (),
        void=f"not decided, as {printable(item.void)}: {CURE}" if item.void else "",
    )


def _interval(
    values: PairedNumbers | None, sign: int, moved: int, confidence: float, largest: int | None
) -> Interval | None:
    """Return the interval of the drop: always valid if the second run may stop when its gates are decided, else widened for rare
    changes that may be missing from few changed pairs.
    """
    if values is None:
        return None
    found = values.difference(confidence)
    interval = found.interval if largest is None else values.always_valid(confidence, largest)
    if interval is None:
        return None
    if largest is None and moved < FEWEST_CHANGED and values.scale is not None:
        low, high = values.unseen(found.difference, confidence)
        interval = Interval(min(interval.low, low), max(interval.high, high), "constant")
    return interval if sign > 0 else Interval(-interval.high, -interval.low, interval.method)


def _unmet(comparison: ComparedRuns, item: MetricComparison, conditions: Conditions) -> Iterator[str]:
    """Return, in words, the conditions that the rows do not meet."""
    yield from comparison.incomplete
    if not item.credited:
        yield f"not credited to the system: {printable(item.why)}"
    before, after = item.rows_before, item.rows_after
    if not item.pairs:
        yield "no row has a value in both runs"
        return
    one, two = (f" of {printable(name)}" for name in (comparison.before, comparison.after))
    yield from conditions.unmet(before.rows, item.pairs, len(before.failed), one, "have a value in both runs")
    yield from conditions.unmet(after.rows, after.scored, len(after.failed), two)

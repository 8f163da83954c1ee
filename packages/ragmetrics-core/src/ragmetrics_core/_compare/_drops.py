"""The evidence for a gate on a drop between two runs, how much worse the second run is, or on a change in either direction.

A drop has the direction of its metric: the fall of the mean if high values are good, its rise if low values are good. It is
computed over the rows that have a value in both runs, on the metric's own scale, with the intervals of a comparison. Five rules
keep it honest:

* A gate fails if the comparison is refused: when judges differ, no difference is credited to the system, good or bad.
* A gate is undecided if the comparison is void: a judge is not known, or references differ.
* A system must not pass by staying silent on hard questions, or because rows were never judged. So a pass must also hold if the
  rows that the second run has lost, or does not have, count as the worst value (for a change, as either end of the scale);
  otherwise the gate is undecided.
* A small sample may contain none of the rare large losses (`statistics._pairs`). A pass needs enough rows to have met them.
* Few changes show little of how large changes are. With fewer than six changed pairs (or clusters) a gate never fails, and its
  interval is at least as wide as if no pair had changed: then a share of z² / (n + z²) of all rows may still change by the whole
  scale. So two equal runs pass a gate on a drop of 0.03 if they have at least 125 rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from .._gate._evidence import Evidence, absent_rows
from .._gate._gates import Conditions, Gate, Of, check_drop
from .._values._layout import printable
from ..statistics import FEWEST_CHANGED, Interval
from ..statistics._pairs import PairedNumbers
from ._comparison import ComparedRuns, MetricComparison
from ._verdicts import lost_rows

CURE = "score the first run again as the second one was, or allow different judges"


def drop_evidence(
    comparison: ComparedRuns, gates: Iterable[Gate], conditions: Conditions
) -> dict[tuple[Of, str], list[Evidence]]:
    """Return the evidence for each drop and change of a metric that has a gate: first over all pairs, then in each slice.

    Raises:
        InvalidInput: a gate names a metric that the runs do not share or that cannot drop, or its limit is out of reach.
    """
    scales = {item.name: item.scale for item in comparison.metrics}
    directions = {item.name: item.higher_is_better for item in comparison.metrics}
    for gate in gates:
        check_drop(gate, scales, directions)
    items = (*comparison.metrics, *comparison.slices)
    return {
        (gate.of, gate.metric): [
            _drop(comparison, item, conditions, gate.of) for item in items if item.name == gate.metric
        ]
        for gate in gates
    }


@dataclass(frozen=True)
class _Change:
    """The change of one metric in one part of two runs, in the direction of a gate.

    Attributes:
        values: the pairs of values; None if there are none.
        with_lost: the same with the rows that the second run has lost or does not have, once for each value that they count as.
        sign: 1 if a rise of the metric is a positive change, -1 if it is a negative one.
        losses: the directions of the metric in which rare losses count: 1 if a rise is good, -1 if a fall is good.
        units: the number of pairs, or of clusters of pairs.
        what: their name.
        largest: as `ScoredRows.largest` of the second run.
    """

    values: PairedNumbers | None
    with_lost: tuple[PairedNumbers, ...]
    sign: int
    losses: tuple[int, ...]
    units: int
    what: str
    largest: int | None

    @property
    def moved(self) -> int:
        """The number of units that changed."""
        return self.values.moved if self.values else 0

    def interval(self, confidence: float, values: PairedNumbers | None = None) -> Interval | None:
        """Return the interval of the change: always valid if the second run may stop when its gates are decided, else widened for
        rare changes that may be missing from few changed pairs.
        """
        values = values or self.values
        if values is None:
            return None
        found = values.difference(confidence)
        interval = found.interval if self.largest is None else values.always_valid(confidence, self.largest)
        if interval is None:
            return None
        if self.largest is None and self.moved < FEWEST_CHANGED and values.scale is not None:
            low, high = values.unseen(found.difference, confidence)
            interval = Interval(min(interval.low, low), max(interval.high, high), "constant")
        return interval if self.sign > 0 else Interval(-interval.high, -interval.low, interval.method)

    def worst_case(self, _gate: Gate, confidence: float) -> Interval | None:
        """Return the interval that holds for every value that lost rows count as."""
        found = [interval for each in self.with_lost if (interval := self.interval(confidence, each))]
        if len(found) < len(self.with_lost):
            return None
        return Interval(min(low for low, _, _ in found), max(high for _, high, _ in found), found[0].method)

    def enough(self, gate: Gate) -> int:
        """Return the number of units in which rare, large losses would have shown."""
        known = self.with_lost or filter(None, [self.values])
        return max((each.enough(way, gate.limit, self.units) for each in known for way in self.losses), default=1)

    def doubt(self, _gate: Gate, side: int, _confidence: float) -> str:
        """Return why the interval cannot be trusted; empty if it can."""
        if self.moved >= FEWEST_CHANGED or (side > 0 and self.values is not None and self.values.scale is not None):
            return ""
        return f"only {self.moved} of {self.units} {self.what} changed, and fewer than {FEWEST_CHANGED} show little"


def _drop(comparison: ComparedRuns, item: MetricComparison, conditions: Conditions, of: Of) -> Evidence:
    """Return the evidence for one metric in one part of two runs."""
    sign = 1 if of == "change" or item.higher_is_better is False else -1
    ends = item.lost_at_ends if of == "change" else item.lost_at_ends[:1] if sign < 0 else item.lost_at_ends[1:]
    change = _Change(
        item.values,
        ends,
        sign,
        (1, -1) if of == "change" else (-sign,),
        item.clusters or item.pairs,
        "pairs" if item.clusters is None else "clusters",
        comparison.paired.after.evaluation.largest if comparison.paired else None,
    )
    width = item.values.width if item.values and item.values.scale else None
    lost = lost_rows(len(item.rows_after.lost), item.short)
    return Evidence(
        estimate=None if item.difference is None else sign * item.difference + 0.0,
        interval_at=cache(change.interval),
        bounds=None if width is None else (-width, width),
        rows=item.rows_before.rows,
        scored=item.pairs,
        failed=len(item.rows_after.failed),
        by=item.by,
        label=item.label,
        clusters=item.clusters,
        unmet=tuple(_unmet(comparison, item, conditions)),
        doubt=None if change.largest else change.doubt,
        enough=None if change.largest else change.enough,
        missing=" and ".join(filter(None, (lost, absent_rows(item.absent)))),
        worst_case=change.worst_case if change.with_lost else None,
        warnings=item.warnings if item.credited else (),
        void=f"not decided, as {printable(item.void)}: {CURE}" if item.void else "",
    )


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

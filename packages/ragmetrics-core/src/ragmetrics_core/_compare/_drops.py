"""What two runs show of a gate on a drop: how much worse the second one is, pair by pair.

A drop has the direction of its metric: it is what the mean fell by where high values are good, and what it rose by where low ones
are. It is taken over the rows that have a value in both runs, on the metric's own scale, with the intervals of a comparison. Four
things keep it honest:

* A gate fails where a comparison refuses: where who scored differs, nothing is credited to the system, good or bad.
* A gate is undecided where the comparison is void: where a judge is not known, or references differ.
* A system that is silent on hard questions must not pass, nor one whose rows never came to be judged. So green must hold too if
  the rows that the second run has lost, or has not got, count as the worst value; else the gate is undecided.
* Rare large losses may be missing from few rows (`statistics._rare_losses`). Green needs rows enough to have met them.
* Few changes show little of how large changes are. With fewer than six changed pairs (or clusters) a gate is never red, and its
  interval is at least as wide as if no pair had changed: then a share of z² / (n + z²) of all rows may still change by the whole
  scale. So two equal runs pass a gate on a drop of 0.03 from 125 rows on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING

from .._gate._evidence import Evidence, absent_rows
from .._gate._gates import Conditions, Gate, check_drop
from .._kernel._layout import printable
from ..statistics import Interval
from ..statistics._distributions import normal_quantile
from ._pairs import PairedValues
from ._verdicts import FEWEST_CHANGED

if TYPE_CHECKING:
    from ._comparison import Comparison, MetricComparison
    from ._pairs import RowCounts


CURE = "score the first run again as the second one was, or allow different judges"


def drop_evidence(comparison: Comparison, gates: Iterable[Gate], conditions: Conditions) -> dict[str, list[Evidence]]:
    """For each metric that a gate is about, what all pairs show of its drop, and after that those of each slice.

    Raises:
        InvalidInput: a gate is about no metric of both runs, about one that cannot drop, or out of reach.
    """
    scales = {item.name: item.scale for item in comparison.metrics}
    directions = {item.name: item.higher_is_better for item in comparison.metrics}
    for gate in gates:
        check_drop(gate, scales, directions)
    items = (*comparison.metrics, *comparison.slices)
    return {
        gate.metric: [_Drop(comparison, item, conditions).evidence() for item in items if item.name == gate.metric]
        for gate in gates
    }


class _Drop:
    """One metric in one part of two runs."""

    def __init__(self, comparison: Comparison, item: MetricComparison, conditions: Conditions) -> None:
        self._comparison, self._item, self._conditions = comparison, item, conditions
        self._sign = 1 if item.higher_is_better is False else -1
        found = item.values.difference()
        self._moved = item.values.moved(found) if found else 0

    def evidence(self) -> Evidence:
        """What there is to decide a gate by."""
        item = self._item
        scale = item.values.scale
        width = scale[1] - scale[0] if scale else None
        return Evidence(
            estimate=None if item.difference is None else self._sign * item.difference + 0.0,
            interval_at=cache(lambda confidence: self._interval(item.values, confidence)),
            bounds=None if width is None else (-width, width),
            rows=item.rows_before.rows,
            scored=item.pairs,
            failed=len(item.rows_after.failed),
            by=item.by,
            label=item.label,
            clusters=item.clusters,
            unmet=tuple(self._unmet()),
            doubt=self._doubt,
            enough=lambda gate: (item.with_lost or item.values).enough(-self._sign, gate.limit),
            missing=self._missing(),
            warnings=item.warnings if item.credited else (),
            void=f"not decided, as {printable(item.void)}: {CURE}" if item.void else "",
        )

    def _interval(self, values: PairedValues, confidence: float) -> Interval | None:
        found = values.difference(confidence)
        if found is None or found.interval is None:
            return None
        interval = found.interval
        if self._moved < FEWEST_CHANGED and values.scale is not None:
            z2 = normal_quantile((1 + confidence) / 2) ** 2
            unseen = z2 / ((found.clusters or found.pairs) + z2)
            width, middle = values.scale[1] - values.scale[0], found.difference * (1 - unseen)
            low, high = middle - unseen * width, middle + unseen * width
            interval = Interval(min(interval.low, low), max(interval.high, high), "constant")
        return interval if self._sign > 0 else Interval(-interval.high, -interval.low, interval.method)

    def _doubt(self, gate: Gate, side: int, confidence: float) -> str:
        item = self._item
        if self._moved < FEWEST_CHANGED and (side < 0 or item.values.scale is None):
            number, what = (item.pairs, "pairs") if item.clusters is None else (item.clusters, "clusters")
            return f"only {self._moved} of {number} {what} changed, and fewer than {FEWEST_CHANGED} show little"
        rows = self._missing()
        if side < 0 or not rows:
            return ""
        if item.with_lost is None:
            return f"{rows}, and no value is known to be the worst that they could count as"
        interval = self._interval(item.with_lost, confidence)
        turns = interval is None or interval.high > gate.limit
        return f"{rows}; counted as the worst value, they could turn it" if turns else ""

    def _missing(self) -> str:
        """The rows with a value in the first run that have none in the second, in words; empty if there are none."""
        lost, short, absent = len(self._item.rows_after.lost), self._item.short, self._item.absent
        parts = [
            f"{count} row{'s' * (count != 1)} lost {what}"
            for count, what in ((lost, "the value that the first run gave"), (short, "the value of some repeats"))
            if count
        ]
        return " and ".join([*parts, absent_rows(absent)] if absent else parts)

    def _unmet(self) -> Iterator[str]:
        """The conditions that the rows do not meet, in words."""
        item = self._item
        yield from self._comparison.incomplete
        if not item.credited:
            yield f"not credited to the system: {printable(item.why)}"
        for name, counts in ((self._comparison.before, item.rows_before), (self._comparison.after, item.rows_after)):
            if self._conditions.fails(len(counts.failed), counts.rows):
                most = f"max_failed={self._conditions.max_failed:g}"
                yield f"{len(counts.failed)} of {counts.rows} rows failed in {printable(name)}, more than {most}"
        if not item.pairs:
            yield "no row has a value in both runs"
        elif problem := self._coverage(item.rows_before, item.rows_after):
            yield f"{problem}, less than min_coverage={self._conditions.min_coverage:g}"

    def _coverage(self, before: RowCounts, after: RowCounts) -> str:
        pairs = self._item.pairs
        if not self._conditions.covers(pairs, before.rows):
            return (
                f"{pairs} of the {before.rows} rows of {printable(self._comparison.before)} have a value in both runs"
            )
        if not self._conditions.covers(after.scored, after.rows):
            return f"{after.scored} of {after.rows} rows have a score in {printable(self._comparison.after)}"
        return ""

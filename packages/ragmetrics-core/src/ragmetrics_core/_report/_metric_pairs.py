"""The rows of two runs by what one metric made of them: pairs of values, rows that one run has lost, rows without a value."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from .._kernel._score import NOT_ASKED
from ._compared_rows import Column, Run
from ._comparison_parts import Part
from ._paired_values import PairedValues
from ._row_counts import RowCounts
from ._row_pairs import Pairing

Scale = tuple[float, float] | None


@dataclass(frozen=True)
class MetricPairs:
    """One metric in one part of two runs.

    Attributes:
        rows: by position in either run, the rows that have a value in both.
        values: their values.
        lost: of rows in both runs with a value in the first one alone, that value; by the position in the first run.
        absent: the same of rows that the second run has not got, or whose metric it did not ask.
        short: of rows with a value in both runs of which more repeats are without one in the second, the share of these; by the
            position among ``rows``.
        counts: the rows of either run, by what became of them.
        scale_problem: in words, that the two runs do not measure on one scale; empty if they do.
    """

    rows: Sequence[tuple[int, int]]
    values: PairedValues
    lost: Sequence[tuple[int, float]]
    absent: Sequence[tuple[int, float]]
    short: Sequence[tuple[int, float]]
    counts: tuple[RowCounts, RowCounts]
    scale_problem: str

    @classmethod
    def of(cls, pairing: Pairing, metric: str, part: Part) -> MetricPairs:
        """Sort the rows of a part."""
        one, two = pairing.before.columns[metric], pairing.after.columns[metric]
        units = [(_asked(one, first), _asked(two, second)) for first, second in part.units]
        rows: list[tuple[int, int]] = []
        lost: list[list[int]] = [[], []]
        for first, second in units:
            if first is None or second is None:
                continue
            if one.values[first] is None or two.values[second] is None:
                if one.values[first] is not None:
                    lost[1].append(second)
                    lost[0].append(first)
                continue
            rows.append((first, second))
        regained = [
            first
            for first, second in units
            if first is not None and second is not None and one.values[first] is None and two.values[second] is not None
        ]
        scale, problem = _scale(pairing, one, two, rows)
        values = PairedValues(
            before=[_value(one, first) for first, _ in rows],
            after=[_value(two, second) for _, second in rows],
            clusters=None if part.clusters is None else [part.clusters[first] for first, _ in rows],
            scale=scale,
        )
        counts = (
            _counts(pairing.before, one, [first for first, _ in units if first is not None], regained),
            _counts(pairing.after, two, [second for _, second in units if second is not None], lost[1]),
        )
        gone = [first for first, second in units if first is not None and second is None]
        absent = [(first, value) for first in gone if (value := one.values[first]) is not None]
        short = [
            (place, two.short_at(second))
            for place, (first, second) in enumerate(rows)
            if two.short_at(second) > one.short_at(first)
        ]
        return cls(rows, values, [(first, _value(one, first)) for first in lost[0]], absent, short, counts, problem)

    @property
    def means(self) -> tuple[float, float] | None:
        """Of the pairs, in either run; None without pairs."""
        if not self.rows:
            return None
        count = len(self.rows)
        return math.fsum(self.values.before) / count, math.fsum(self.values.after) / count

    def with_lost(
        self, worst: float, clusters: Sequence[str | None] | None, *, absent: bool = False
    ) -> PairedValues | None:
        """The values, with rows and repeats that the second run has lost counted as the worst value; None where there are none.

        Args:
            worst: that value.
            clusters: by the position in the first run, what a row shares with others.
            absent: count rows that the second run has not got in the same way.
        """
        values = self.values
        lost = [*self.lost, *(self.absent if absent else ())]
        if not lost and not self.short:
            return None
        shared: list[Hashable] | None = None
        if values.clusters is not None and clusters is not None:
            # a row that is in no pair need not say what it shares: it is one of its own then
            names = (clusters[first] for first, _ in lost)
            shared = [*values.clusters, *(place if name is None else name for place, name in enumerate(names))]
        before = [*values.before, *(value for _, value in lost)]
        after = [*values.after, *(worst for _ in lost)]
        for place, share in self.short:
            after[place] = (1 - share) * after[place] + share * worst
        return PairedValues(before, after, shared, values.scale)


def _asked(column: Column, row: int | None) -> int | None:
    """The row, if the metric was asked about it."""
    return None if row is None or column.labels[row] == NOT_ASKED else row


def _value(column: Column, row: int) -> float:
    value = column.values[row]
    assert value is not None
    return value


def _counts(run: Run, column: Column, rows: Sequence[int], lost: Sequence[int]) -> RowCounts:
    def names(positions: Sequence[int]) -> tuple[str, ...]:
        return tuple(run.rows[row].name for row in positions)

    without = [row for row in rows if column.values[row] is None]
    return RowCounts(
        rows=len(rows),
        unscored=names([row for row in without if not column.failed[row]]),
        failed=names([row for row in without if column.failed[row]]),
        lost=names(lost),
    )


def _scale(pairing: Pairing, one: Column, two: Column, rows: Sequence[tuple[int, int]]) -> tuple[Scale, str]:
    """The scale of the pairs, if they have one; and what is wrong, if the runs measure on different ones."""
    found = {(one.scales[first], two.scales[second]) for first, second in rows}
    for left, right in found:
        if left is not None and right is not None and left != right:
            texts = (
                f"{scale[0]:g} to {scale[1]:g} in {run.name}"
                for scale, run in ((left, pairing.before), (right, pairing.after))
            )
            return None, f"the scale is {', '.join(texts)}"
    scales = {scale for pair in found for scale in pair}
    return (scales.pop() if len(scales) == 1 else None), ""

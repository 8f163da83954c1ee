"""The outcomes of one metric in the rows of two runs, as counts. Rows and columns are both counted into it, so all that follows is
the same for both.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from .._values._plain import plain
from ..statistics._interval import Scale
from ..statistics._numbers import Numbers
from ..statistics._pairs import PairedNumbers


@dataclass(frozen=True)
class Part:
    """Rows of both runs: all of them, or one slice.

    Attributes:
        by: the path of the column that defines the slices; None for all rows.
        label: the value of that column; None for the slice of rows without a value.
        gone: number of its rows that the second run does not have.
        chosen: why rows selected in this way allow no conclusion; empty if they allow one.
    """

    by: str | None
    label: str | None
    gone: int
    chosen: str = ""


@dataclass(frozen=True)
class RowCounts:
    """The rows of one run, or of a slice of it, counted by the outcome of a metric. Repeats of a row count as one row.

    Attributes:
        rows: number of all rows, including rows that the other run does not have.
        unscored: names of the rows that had nothing to score.
        failed: names of the rows whose scoring failed.
        lost: names of the rows without a value in this run that have a value in the other run.
    """

    rows: int
    unscored: Sequence[str] = ()
    failed: Sequence[str] = ()
    lost: Sequence[str] = ()

    @property
    def scored(self) -> int:
        """The number of rows with a value."""
        return self.rows - len(self.unscored) - len(self.failed)

    @property
    def coverage(self) -> float | None:
        """The share of the rows that have a value, 0 to 1; None if there are no rows."""
        return self.scored / self.rows if self.rows else None

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain JSON values."""
        return plain({**vars(self), "scored": self.scored, "coverage": self.coverage})


class Cell(NamedTuple):
    """A value that a metric gave a row in the first run, and the outcome in the second run. Rows with equal cells are counted.

    Attributes:
        old: the value in the first run.
        new: the value in the second run; None if there is none.
        absent: whether the second run does not have the row, or did not score it with this metric.
        short: if the second run has more repeats without a value, the share of these repeats; else 0.
        cluster: the cluster of the row, of any kind; None if rows are taken to be independent.
    """

    old: float
    new: float | None
    absent: bool = False
    short: float = 0.0
    cluster: Hashable = None


AsNumbers = Callable[["float | None", bool], "PairedNumbers | None"]
"""Returns the pairs of values; None if there are none.

Args:
    worst: the value that counts for rows and repeats that the second run has lost; None: these rows are left out.
    absent: whether it also counts for rows that the second run does not have, or did not score with this metric.
"""


@dataclass(frozen=True)
class Outcomes:
    """The outcomes of one metric in one part of two runs.

    Attributes:
        counts: the row counts of the first and of the second run.
        numbers: returns the pairs of values.
        scale: the scale of the pairs; None if it is not known, or differs.
        scale_problem: in words, how the scales of the two runs differ; empty if they agree.
        pairs: number of rows that have a value in both runs.
        lost: number of rows of both runs that only the first run scored.
        absent: number of rows with a value in the first run that the second run does not have, or did not score with this metric.
        unasked: number of these rows that the second run has.
        short: number of rows with a value in both runs of which the second run has more repeats without a value.
    """

    counts: tuple[RowCounts, RowCounts]
    numbers: AsNumbers
    scale: Scale = None
    scale_problem: str = ""
    pairs: int = 0
    lost: int = 0
    absent: int = 0
    unasked: int = 0
    short: int = 0


def outcomes_of(
    cells: Mapping[Cell, int],
    counts: tuple[RowCounts, RowCounts],
    scales: AbstractSet[tuple[Scale, Scale]],
    names: tuple[str, str],
    unasked: int,
) -> Outcomes:
    """Return the outcomes that cells have.

    Args:
        cells: how often each cell occurs.
        counts: the row counts of both runs.
        scales: the scales of the values of pairs, in both runs.
        names: the names of the runs.
        unasked: number of rows that the second run has and did not score with the metric.
    """
    scale, problem = _scale(scales, names)

    def numbers(worst: float | None, absent: bool) -> PairedNumbers | None:
        used: dict[Cell, float] = {}
        for cell in cells:
            if cell.new is not None:
                used[cell] = cell.new if worst is None else (1 - cell.short) * cell.new + cell.short * worst
            elif worst is not None and (absent or not cell.absent):
                used[cell] = worst
        if not used:
            return None
        counts, clusters = [cells[cell] for cell in used], [cell.cluster for cell in used]
        return PairedNumbers.of(
            Numbers([cell.old for cell in used], counts),
            Numbers(list(used.values()), counts),
            None if clusters[0] is None else clusters,
            scale,
        )

    return Outcomes(
        counts,
        numbers,
        scale,
        problem,
        pairs=sum(number for cell, number in cells.items() if cell.new is not None),
        lost=sum(number for cell, number in cells.items() if cell.new is None and not cell.absent),
        absent=sum(number for cell, number in cells.items() if cell.absent),
        unasked=unasked,
        short=sum(number for cell, number in cells.items() if cell.short),
    )


def _scale(scales: AbstractSet[tuple[Scale, Scale]], names: tuple[str, str]) -> tuple[Scale, str]:
    """Return the scale of the pairs if they have one, and a description of the problem if the runs use different scales."""
    for left, right in scales:
        if left is not None and right is not None and left != right:
            (low, high), (start, end) = left, right
            return None, f"the scale is {low:g} to {high:g} in {names[0]}, {start:g} to {end:g} in {names[1]}"
    found = {scale for pair in scales for scale in pair}
    return (found.pop() if len(found) == 1 else None), ""


@dataclass(frozen=True)
class MetricPairs:
    """One metric in one part of two runs, and what decides about its verdict.

    Attributes:
        name: name of the metric.
        part: the rows.
        outcomes: the outcomes of these rows.
        higher_is_better: whether high values are good; None: neither end is better, or it is not known.
        knows_better: whether the better end is known.
        margin: the largest difference that does not matter, on the scale of the metric.
        warnings: the differences in judges, prompts or settings.
        refusal: why the two runs may not be compared; empty if they may.
        void: why it is not known that both runs measured the same thing; empty if it is known.
    """

    name: str
    part: Part
    outcomes: Outcomes
    higher_is_better: bool | None = None
    knows_better: bool = False
    margin: float = 0.0
    warnings: tuple[str, ...] = ()
    refusal: str = ""
    void: str = ""

    @cached_property
    def values(self) -> PairedNumbers | None:
        """The pairs of values; None if there are none."""
        return self.outcomes.numbers(None, False)

    @property
    def usable(self) -> PairedNumbers | None:
        """The values that conclusions may be drawn from; None if there are none, or the comparison is refused."""
        return None if self.refusal else self.values

    @property
    def worst(self) -> float | None:
        """The worst value of the scale; None if it is not known."""
        scale = self.outcomes.scale
        return None if scale is None or self.higher_is_better is None else scale[0 if self.higher_is_better else 1]

    def lost_at_ends(self) -> tuple[PairedNumbers, ...]:
        """Return the values, in which rows and repeats that the second run has lost or does not have count as the lowest value of
        the scale, and as the highest; empty if there are none, or no scale is known.
        """
        found = self.outcomes
        if self.refusal or found.scale is None or not found.lost + found.short + found.absent:
            return ()
        return tuple(filter(None, (found.numbers(end, True) for end in found.scale)))

    def with_lost(self) -> PairedNumbers | None:
        """Return the values, in which rows and repeats that the second run has lost count as the worst value; None if there are
        no such rows.
        """
        found = self.outcomes
        lost = found.lost + found.short
        return None if self.refusal or self.worst is None or not lost else found.numbers(self.worst, False)

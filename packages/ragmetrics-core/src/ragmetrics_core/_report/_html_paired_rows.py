"""The rows of two runs in a page: what its table needs of each from the start, and the evidence of both sides.

Strategy. Columns, as in the page of one run, with two sides each. A row of the page is a pair, or a row that only one run has; it
is known by its position in ``Pairing.units``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from .._store._records import Record, json_value, record_dict
from ._html_columns import MetadataColumns, short
from ._html_paired_side import SCORED, Side
from ._row_changes import claim_changes
from ._row_pairs import Pairing
from ._slices import METADATA

if TYPE_CHECKING:
    from ._comparison import MetricComparison

ROUNDING = 1e-9
"""Values that differ by no more are the same."""

ONE_SIDED, SAME, ALONE = 0.0, -1.0, -2.0
"""Where rows without a size of change stand, behind those with one: a value on one side only; the same; in one run only."""


class PairedRows:
    """The columns of all rows of two runs, and the evidence of each row.

    Attributes:
        sides: the first run and the second one.
    """

    def __init__(self, pairing: Pairing, metrics: Sequence[MetricComparison]) -> None:
        names = [item.name for item in metrics]
        units = pairing.units()
        self._count = len(units)
        self._metrics = metrics
        self.sides = (
            Side(pairing.before, [before for before, _ in units], names),
            Side(pairing.after, [after for _, after in units], names),
        )

    def __len__(self) -> int:
        return self._count

    def name(self, row: int) -> str:
        """What people call a row: its id, or where it stood in its input."""
        side = self._known(row)
        return side.run.rows[self._position(row)].name

    def states(self, metric: str) -> list[str]:
        """For either run, what became of each row, in a letter each."""
        return ["".join(side.state(row, metric) for row in range(len(self))) for side in self.sides]

    def order(self) -> list[int]:
        """The rows that changed most first, by the largest change of any metric as a share of its scale.

        Then come rows with a value on one side only, then those that are the same, then those that only one run has.
        """
        sizes = [self._size(row) for row in range(len(self))]
        return sorted(range(len(self)), key=lambda row: -sizes[row])

    def to_dict(self, without_evidence: Iterable[int], by: str | None) -> dict[str, Any]:
        """As the page reads it; rows without evidence keep their notes here."""
        rows = range(len(self))
        names = [item.name for item in self._metrics]
        return {
            "ids": [self._known(row).run.rows[self._position(row)].id for row in rows],
            "names": [self.name(row) for row in rows],
            "places": [self._places(row) for row in rows],
            "questions": [self._known(row).question(row) for row in rows],
            "answers": [[side.answer(row) for row in rows] for side in self.sides],
            "values": [[[short(side.value(row, name)) for row in rows] for side in self.sides] for name in names],
            "states": [self.states(name) for name in names],
            "labels": [[self._labels(side, name) for side in self.sides] for name in names],
            "metadata": self._slices(by),
            "notes": {
                row: [[side.note(row, at) for side in self.sides] for at in range(len(names))]
                for row in sorted(without_evidence)
            },
            "order": self.order(),
        }

    def evidence(self, row: int) -> dict[str, Any]:
        """Everything about a row in both runs, and the claims whose support differs, by metric."""
        before, after = (side.records(row) for side in self.sides)
        names = [item.name for item in self._metrics]
        claims = {
            name: [item.to_dict() for item in claim_changes(_scores(before, name), _scores(after, name))]
            for name in names
            if before and after
        }
        return {
            "sides": [[_evidence(record, names) for record in records] for records in (before, after)],
            "claims": claims,
        }

    def _known(self, row: int) -> Side:
        """The run that tells what a row is called: the first, where it has the row."""
        return self.sides[0] if self.sides[0].positions[row] is not None else self.sides[1]

    def _position(self, row: int) -> int:
        position = self._known(row).positions[row]
        assert position is not None
        return position

    def _places(self, row: int) -> str:
        found = ((side, side.positions[row]) for side in self.sides)
        return " and ".join(dict.fromkeys(side.run.rows[at].place for side, at in found if at is not None))

    def _labels(self, side: Side, name: str) -> list[str | None] | None:
        found = [side.label(row, name) for row in range(len(self))]
        return found if any(found) else None

    def _slices(self, by: str | None) -> dict[str, list[str | None]]:
        """The columns that make groups of rows; what a pair has is what the first run says."""
        columns = MetadataColumns()
        for row in range(len(self)):
            columns.add(self._known(row).metadata(row))
        found = columns.slices()
        name = None if by is None else by.removeprefix(METADATA)
        if name is not None and name not in found:
            found[name] = [self._slice(row, name) for row in range(len(self))]
        return found

    def _slice(self, row: int, by: str) -> str | None:
        """What the first run says; where it says nothing, what the second one does, but for labels of a metric."""
        before, after = (side.slice(row) for side in self.sides)
        by_label = by in self.sides[0].run.columns and self.sides[0].positions[row] is not None
        return before if by_label or before is not None else after

    def _size(self, row: int) -> float:
        """How much a row changed by the metrics whose difference is told."""
        if any(side.positions[row] is None for side in self.sides):
            return ALONE
        told = [item for item in self._metrics if item.credited]
        size = max((self._change(item, row) for item in told), default=0.0)
        if size > ROUNDING:
            return size
        states = ({side.state(row, item.name) == SCORED for side in self.sides} for item in told)
        return ONE_SIDED if any(len(found) == 2 for found in states) else SAME

    def _change(self, item: MetricComparison, row: int) -> float:
        """By one metric, as a share of its scale; 0 without a value on both sides."""
        old, new = (side.value(row, item.name) for side in self.sides)
        low, high = item.scale or (0.0, 1.0)
        width = high - low if math.isfinite(high - low) and high > low else 1.0
        return 0.0 if old is None or new is None else abs(new - old) / width


def _scores(records: Sequence[Record], metric: str) -> list[Any]:
    return [record.scores[metric] for record in records]


def _evidence(record: Record, metrics: Sequence[str]) -> dict[str, Any]:
    """Everything about a row in one run, by the metrics of both, as plain JSON values that are finite."""
    found: dict[str, Any] = json_value(record_dict(record))
    return {**found, "scores": {name: found["scores"][name] for name in metrics}}

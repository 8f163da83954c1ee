"""What people say of each row of a run, of one metric: several annotators become one label, and their agreement is kept.

A row that most annotators pass is a pass; one on which they are split counts as half a pass in a mean, and is left out where only a
verdict can be used. Grades have their mean.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from .._kernel._errors import InvalidInput
from .._store._labels import Label
from ..statistics._labelled import weight_problem

HALF = 0.5
HEAVIEST = 2.0
"""The weight of a drawn row beside one drawn uniformly: half of each draw is uniform."""


@dataclass(frozen=True)
class LabelledRow:
    """One row, as people see it.

    Attributes:
        label: 1 or 0 for a pass or a fail, 0.5 where annotators are split; of grades their mean.
        given: what each annotator said.
        weight: how many rows it stands for, beside others; None where that is not told.
        place: where its first label stands.
    """

    label: float
    given: tuple[float, ...]
    weight: float | None
    place: str


@dataclass(frozen=True)
class MetricLabels:
    """The labels of the rows of one metric; those of its claims are elsewhere.

    Attributes:
        rows: by the name of the row.
        verdicts: whether labels are passes and fails, not grades.
        annotators: the names of those who labelled; labels without a name are of one who is not named.
        not_blind: how many labels were given by people who had seen the score.
        lines: how many labels there are, of all annotators.
    """

    rows: Mapping[str, LabelledRow]
    verdicts: bool
    annotators: tuple[str | None, ...]
    not_blind: int
    lines: int

    @cached_property
    def ratings(self) -> list[tuple[float, ...]]:
        """What each row was given, for the agreement between annotators."""
        return [row.given for row in self.rows.values()]

    @cached_property
    def weighted(self) -> bool:
        """Whether any row has a weight."""
        return any(row.weight is not None for row in self.rows.values())


def metric_labels(labels: Sequence[Label]) -> MetricLabels:
    """The labels of one metric, row by row.

    Args:
        labels: of rows, not of claims; either all are passes and fails, or none is.

    Raises:
        InvalidInput: a row has two weights, one weight decides alone, or labels with and without weights do not go together.
    """
    by_row: defaultdict[str, list[Label]] = defaultdict(list)
    for item in labels:
        by_row[item.id].append(item)
    verdicts = all(isinstance(item.label, bool) for item in labels)
    rows = {name: _row(items, verdicts=verdicts) for name, items in by_row.items()}
    return MetricLabels(
        rows=_one_kind_of_weights(rows),
        verdicts=verdicts,
        annotators=tuple(dict.fromkeys(item.annotator for item in labels)),
        not_blind=sum(item.blind is False for item in labels),
        lines=len(labels),
    )


def _row(items: Sequence[Label], *, verdicts: bool) -> LabelledRow:
    given = tuple(float(item.label) for item in items)
    mean = math.fsum(given) / len(given)
    label = mean if not verdicts else HALF if mean == HALF else float(mean > HALF)
    return LabelledRow(label, given, _weight(items), items[0].place)


def _weight(items: Iterable[Label]) -> float | None:
    """The weight of a row, which every annotator's line may repeat."""
    told = [item for item in items if item.weight is not None]
    for item in told[1:]:
        if item.weight != told[0].weight:
            raise InvalidInput(
                f"{item.place}: the row {item.id!r} has the weight {item.weight:g}, and {told[0].weight:g} in {told[0].place}: "
                "give a row one weight"
            )
    return told[0].weight if told else None


def _one_kind_of_weights(rows: Mapping[str, LabelledRow]) -> Mapping[str, LabelledRow]:
    """Where some rows have weights, those without were drawn uniformly, and count as 1."""
    told = [row for row in rows.values() if row.weight is not None]
    problem = weight_problem([row.weight or 0.0 for row in told]) if told else None
    if problem is not None:
        row = told[problem[0]]
        raise InvalidInput(f"{row.place}: the weight is {row.weight:g}, {problem[1]}")
    without = [row for row in rows.values() if row.weight is None]
    if not without or len(without) == len(rows):
        return rows
    for row in rows.values():
        if row.weight is not None and row.weight > HEAVIEST * (1 + 1e-6):
            raise InvalidInput(
                f"{row.place}: the weight {row.weight:g} stands beside labels without a weight, such as that in "
                f"{without[0].place}, which count as 1, as rows drawn uniformly do: give every label its weight, on one scale"
            )
    return {
        name: row if row.weight is not None else LabelledRow(row.label, row.given, 1.0, row.place)
        for name, row in rows.items()
    }

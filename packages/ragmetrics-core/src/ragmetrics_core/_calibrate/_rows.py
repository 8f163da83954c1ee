"""The labels that people gave to the rows of a run, metric by metric, and which of them are still valid.

A row that most annotators pass is a pass. A row on which they are split counts as half a pass in a mean, and is left out if only
a verdict can be used. Grades are averaged. Labels of rows that changed since people read them are left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from .._run._columns import Run
from .._store._labels import Label, quoted
from .._store._run_settings import row_digest
from .._values._counts import count_of, grouped
from .._values._errors import InvalidInput
from ..statistics._labelled import weight_problem

HALF = 0.5
HEAVIEST = 2.0
"""The largest weight of a row that ``suggest`` draws, where a row of a uniform draw has the weight 1. It is 2 because half of each
draw is uniform.
"""


@dataclass(frozen=True)
class LabelledRow:
    """The labels of all annotators of one row.

    Attributes:
        label: 1 if the row passes, 0 if it fails, 0.5 if as many annotators pass it as fail it. If labels are grades, their mean.
        given: the label of each annotator.
        weight: how many rows this row represents, relative to other rows; None if that is not known.
        place: where its first label is, such as ``labels.jsonl, line 7``.
    """

    label: float
    given: tuple[float, ...]
    weight: float | None
    place: str


@dataclass(frozen=True)
class MetricLabels:
    """The labels of the rows of one metric; labels of its claims are stored separately.

    Attributes:
        rows: the labelled rows by name; either all have a weight, or none has.
        verdicts: whether labels are pass or fail instead of grades.
        not_blind: number of labels by people who had seen the score.
        lines: number of labels, of all annotators.
    """

    rows: Mapping[str, LabelledRow]
    verdicts: bool
    not_blind: int
    lines: int


def metric_labels(labels: Sequence[Label]) -> MetricLabels:
    """Return the labels of one metric, row by row.

    Args:
        labels: labels of rows, not of claims; either all are pass or fail, or none is.

    Raises:
        InvalidInput: a row has two weights, one weight outweighs all others, or labels with and without weights cannot be
            combined.
    """
    verdicts = all(isinstance(item.label, bool) for item in labels)
    by_row = grouped((item.id, item) for item in labels)
    rows = {name: _row(items, verdicts=verdicts) for name, items in by_row.items()}
    _check_weights(list(rows.values()))
    if any(row.weight is not None for row in rows.values()):  # rows without a weight were drawn uniformly
        rows = {name: row if row.weight is not None else replace(row, weight=1.0) for name, row in rows.items()}
    return MetricLabels(rows, verdicts, sum(item.blind is False for item in labels), len(labels))


def _row(items: Sequence[Label], *, verdicts: bool) -> LabelledRow:
    """Return the row with these labels; every annotator's line may repeat its weight."""
    given = tuple(float(item.label) for item in items)
    label = math.fsum(given) / len(given)
    if verdicts and label != HALF:
        label = float(label > HALF)
    weighted = [item for item in items if item.weight is not None]
    for item in weighted[1:]:
        if item.weight != weighted[0].weight:
            raise InvalidInput(
                f"{item.place}: the row {item.id!r} has the weight {item.weight:g} here, but {weighted[0].weight:g} in "
                f"{weighted[0].place}: give both labels the same weight"
            )
    return LabelledRow(label, given, weighted[0].weight if weighted else None, items[0].place)


def _check_weights(rows: Sequence[LabelledRow]) -> None:
    known = [(row.weight, row.place) for row in rows if row.weight is not None]
    problem = weight_problem([weight for weight, _ in known]) if known else None
    if problem is not None:
        weight, place = known[problem[0]]
        raise InvalidInput(f"{place}: the weight is {weight:g}, {problem[1]}")
    without = next((row.place for row in rows if row.weight is None), None)
    for weight, place in known if without else ():
        if weight > HEAVIEST * (1 + 1e-6):
            raise InvalidInput(
                f"{place}: the weight {weight:g} is above {HEAVIEST:g}, so it cannot be combined with labels without a "
                f"weight, such as the one in {without}, which count as 1: give every label a weight, on one scale"
            )


MOST_NAMED = 5
"""The number of rows that a sentence names; the rest is counted."""

NO_DRAW = "the remaining labels are not a random draw from all rows: label the changed rows again"


def parted_labels(labels: Iterable[Label], run: Run) -> tuple[list[Label], list[Label]]:
    """Return the labels of rows that are unchanged or cannot be checked, and the labels of rows that changed since people read
    them.
    """
    rows = {row.name: position for position, row in enumerate(run.rows)}
    found: tuple[list[Label], list[Label]] = ([], [])
    for item in labels:
        inputs = run.columns[item.metric].metric.inputs
        is_stale = False
        if item.digest is not None and inputs is not None and item.id in rows:
            is_stale = row_digest(run.evaluation.records[rows[item.id]].sample, inputs) != item.digest
        found[is_stale].append(item)
    return found


def labels_in_force(labels: Sequence[Label], run: Run) -> tuple[list[Label], tuple[str, ...]]:
    """Return the labels of rows that are unchanged or cannot be checked, and notes on labels and rows that readers must know.

    Raises:
        InvalidInput: every label belongs to a row that has changed.
    """
    kept, stale = parted_labels(labels, run)
    notes = tuple(_notes(labels, stale, run))
    if not kept:
        raise InvalidInput(f"no valid label is left: {'; '.join(notes)}: label these rows again")
    return kept, notes


def _notes(labels: Sequence[Label], stale: Sequence[Label], run: Run) -> Iterator[str]:
    for metric in dict.fromkeys(item.metric for item in stale):
        ids = [item.id for item in stale if item.metric == metric]
        names = list(dict.fromkeys(ids))
        listed = ", ".join(map(quoted, names[:MOST_NAMED])) + (", ..." if len(names) > MOST_NAMED else "")
        yield (
            f"{count_of(len(ids), 'label')} of {metric} left out, as {count_of(len(names), 'row')} changed after "
            f"{'it was' if len(names) == 1 else 'they were'} labelled: {listed}"
        )
    if 0 < len(stale) < len(labels):
        yield NO_DRAW
    unknown = "it is not known whether the rows changed after they were labelled"
    if without := sum(item.digest is None for item in labels):
        yield f"{count_of(without, 'label')} without a digest: {unknown}"
    unchecked = [item.metric for item in labels if item.digest and run.columns[item.metric].metric.inputs is None]
    if unchecked:
        names = list(dict.fromkeys(unchecked))
        why = f"this run does not record which fields {', '.join(names)} reads, so {unknown}"
        yield f"{count_of(len(unchecked), 'label')} not checked: {why}"

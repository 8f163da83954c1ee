"""Which labels still say something about a run: those of rows that have not changed since people read them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from .._kernel._counts import count_of
from .._kernel._errors import InvalidInput
from .._store._labels import Label, quoted
from ._judged_rows import JudgedMetric, JudgedRows

MOST_NAMED = 5
"""Rows that a sentence names; the rest is counted."""

NO_DRAW = "the rows of the remaining labels are no random draw of all rows: label the rows that changed again"


def digested_rows(labels: Iterable[Label]) -> dict[str, set[str]]:
    """By metric, the rows whose labels have a digest."""
    found: dict[str, set[str]] = {}
    for item in labels:
        if item.digest is not None:
            found.setdefault(item.metric, set()).add(item.id)
    return found


def is_stale(label: Label, metric: JudgedMetric) -> bool:
    """Whether the row has changed since it was labelled."""
    return label.digest is not None and metric.digests.get(label.id, label.digest) != label.digest


def labels_in_force(labels: Sequence[Label], rows: JudgedRows) -> tuple[list[Label], tuple[str, ...]]:
    """The labels of rows that are as they were, and those that cannot be checked; and what must be known of labels and rows.

    Raises:
        InvalidInput: every label is of a row that has changed.
    """
    stale = [item for item in labels if is_stale(item, rows.metrics[item.metric])]
    notes = tuple(_notes(labels, stale, rows))
    if len(stale) == len(labels):
        raise InvalidInput(f"no label is left: {'; '.join(notes)}: label these rows again")
    gone = set(map(id, stale))
    return [item for item in labels if id(item) not in gone], notes


def _notes(labels: Sequence[Label], stale: Sequence[Label], rows: JudgedRows) -> Iterator[str]:
    for metric in dict.fromkeys(item.metric for item in stale):
        names = list(dict.fromkeys(item.id for item in stale if item.metric == metric))
        count = sum(item.metric == metric for item in stale)
        named = ", ".join(map(quoted, names[:MOST_NAMED])) + (", ..." if len(names) > MOST_NAMED else "")
        yield (
            f"{count_of(count, 'label')} of {metric} left out, as {count_of(len(names), 'row')} changed after "
            f"{'it was' if len(names) == 1 else 'they were'} labelled: {named}"
        )
    if 0 < len(stale) < len(labels):
        yield NO_DRAW
    without = sum(item.digest is None for item in labels)
    if without:
        yield f"{count_of(without, 'label')} without a digest: it is not known whether the rows changed after they were labelled"
    unread = [name for name, metric in rows.metrics.items() if metric.column.inputs is None]
    unchecked = sum(item.digest is not None and item.metric in unread for item in labels)
    if unchecked:
        yield (
            f"{count_of(unchecked, 'label')} not checked: this run does not tell which fields {', '.join(unread)} reads, so it is "
            "not known whether the rows changed after they were labelled"
        )

"""All rows of two runs, and the slices that they are cut into.

What a pair is sliced by is what the first run says; where it says nothing, what the second one does. Metadata are what they are.
But labels that a metric gave may be outcomes: rows that are chosen because the first run did badly on them do better in any second
run, and the other way round (regression to the mean, Galton 1886, Journal of the Anthropological Institute 15:246). So where labels
differ between the runs, slices show their means, and nothing is concluded from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .._kernel._counts import count_of
from .._kernel._errors import InvalidInput
from ._compared_rows import Run
from ._reasons import first_of
from ._row_pairs import Pairing, Unit
from ._slices import slices_of

OUTCOME = (
    "rows are chosen by a label that differs between the runs: those that did badly in the first by chance do better in any "
    "second one, so nothing can be concluded from their difference"
)


@dataclass(frozen=True)
class Part:
    """Rows of both runs: all, or a slice.

    Attributes:
        by: the path that rows are sliced by; None for all rows.
        label: what stands there; None for rows without a value there.
        units: the rows.
        clusters: by the position in the first run, what a row shares with others; None if rows are taken to be independent.
        chosen: why nothing can be concluded from rows that are chosen so; empty where that is no obstacle.
    """

    by: str | None
    label: str | None
    units: Sequence[Unit]
    clusters: Sequence[str | None] | None
    chosen: str = ""


@dataclass(frozen=True)
class Parts:
    """All rows, the slices, and what must be known about them."""

    whole: Part
    slices: Sequence[Part]
    notes: Sequence[str]


def parts_of(pairing: Pairing, by: str | None, cluster: str | None, *, by_labels: bool) -> Parts:
    """All rows and the slices of paired runs.

    Args:
        pairing: the runs.
        by: the path that rows are sliced by.
        cluster: the path of what they share.
        by_labels: whether they are sliced by the labels of a metric.

    Raises:
        InvalidInput: there are too many slices, or a pair has no cluster.
    """
    units = pairing.units()
    before, after = pairing.before, pairing.after
    clusters = None if cluster is None else _clusters(pairing, cluster)
    whole = Part(None, None, units, clusters)
    if by is None:
        return Parts(whole, (), ())
    other = sum(
        _at(before.slices, one) != _at(after.slices, two)
        for one, two in pairing.pairs
        if by_labels or _at(before.slices, one) is not None
    )
    note = f"{count_of(other, 'pair')} with another {by} in {after.name}: that of {before.name} counts"
    chosen = OUTCOME if by_labels and other else ""
    labels = [
        _at(before.slices, one) if by_labels and one is not None else _label(before, after, (one, two))
        for one, two in units
    ]
    slices = [
        Part(by, label, [units[index] for index in indexes], clusters, chosen)
        for label, indexes in slices_of(labels, by).items()
    ]
    return Parts(whole, slices, (note,) if other else ())


def _label(before: Run, after: Run, unit: Unit) -> str | None:
    one, two = unit
    found = None if one is None else _at(before.slices, one)
    return found if found is not None or two is None else _at(after.slices, two)


def _clusters(pairing: Pairing, path: str) -> list[str | None]:
    """By the position in the first run, what each row shares with others; pairs must share something."""
    before, after = pairing.before, pairing.after
    found: list[str | None] = [None] * len(before.rows)
    for one, two in pairing.pairs:
        known = _at(before.clusters, one)
        found[one] = _at(after.clusters, two) if known is None else known
    without = [before.rows[one].name for one, _ in pairing.pairs if found[one] is None]
    for one in pairing.only_before:
        found[one] = _at(before.clusters, one)
    if without:
        raise InvalidInput(
            f"cluster={path!r}: {len(without):,} of {len(pairing.pairs):,} pairs {'has' if len(without) == 1 else 'have'} none, or "
            f"several ({first_of(without)}): give each row one; a row that shares nothing with others gets one of its own"
        )
    return found


def _at(labels: Sequence[str | None] | None, row: int) -> str | None:
    return None if labels is None else labels[row]

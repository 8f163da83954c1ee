"""Where the judge is worse than elsewhere: its errors in each slice, beside those in all other rows.

Among many slices some look bad by chance, so the intervals of the differences hold for all slices together (Bonferroni).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterable, Sequence

from ..statistics import Measure
from ..statistics._corrected import labels_alone, mean_of_labels
from ..statistics._interval import difference_of_means
from ..statistics._labelled import FEWEST_LABELS, LabelledRows
from ._calibration import SliceCalibration
from ._slices import slices_of

CONFIDENCE = 0.95


@dataclasses.dataclass(frozen=True)
class Errors:
    """How far the judge is from people on each labelled row.

    Attributes:
        sizes: of each row: 1 where verdicts differ and 0 where they do not, or the distance of grades.
        weights: how many rows each stands for; None if all stand for as many.
        clusters: what they share with others; None if they are independent.
        largest: the largest error that there can be; None where that is not known.
    """

    sizes: Sequence[float]
    weights: Sequence[float] | None
    clusters: Sequence[Hashable] | None
    largest: float | None

    def of(self, rows: Sequence[int], confidence: float) -> Measure:
        """Their mean over some of the rows."""
        if len(rows) < FEWEST_LABELS:
            return Measure(
                problem=f"{len(rows)} row{'s have' if len(rows) != 1 else ' has'} a label: label at least {FEWEST_LABELS}"
            )
        weights = None if self.weights is None else [self.weights[row] for row in rows]
        if weights is not None:
            mean = sum(weights) / len(weights)
            weights = [weight / mean for weight in weights]
        clusters = None if self.clusters is None else [self.clusters[row] for row in rows]
        sizes = [self.sizes[row] for row in rows]
        scale = None if self.largest is None else (0.0, self.largest)
        found = LabelledRows(sizes, range(len(rows)), sizes, weights, clusters, scale)
        interval = labels_alone(found, confidence)
        return Measure(
            mean_of_labels(found), interval, None if interval else "these rows do not tell how much others differ"
        )


def calibrated_slices(errors: Errors, labels: Sequence[str | None], by: str) -> Iterable[SliceCalibration]:
    """Every slice that has a label.

    Args:
        errors: of the labelled rows.
        labels: what they are sliced by.
        by: the path of the column, for messages and names.

    Raises:
        InvalidInput: there are too many slices.
    """
    found = slices_of(labels, by)
    for label, rows in found.items():
        own = set(rows)
        others = [row for row in range(len(labels)) if row not in own]
        strict = 1 - (1 - CONFIDENCE) / len(found)
        one, other = errors.of(rows, strict), errors.of(others, strict)
        difference = Measure(problem="this slice or the rest of the rows has too few labels to tell")
        if one.value is not None and other.value is not None and one.interval and other.interval:
            interval = difference_of_means(one.value, one.interval, other.value, other.interval)
            difference = Measure(one.value - other.value, interval)
        yield SliceCalibration(
            by=by,
            label=label,
            labels=len(rows),
            error=errors.of(rows, CONFIDENCE),
            rest=errors.of(others, CONFIDENCE),
            difference=difference,
            worse=difference.interval is not None and difference.interval.low > 0,
        )

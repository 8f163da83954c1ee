"""What two runs over the same rows tell: by how much each row changed."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property

from .._kernel._errors import InvalidInput
from ._checks import check_clusters, check_scale, checked_values, scale_of
from ._interval import ROUNDING


@dataclass(frozen=True)
class Changes:
    """The change of every row, and what bounds it.

    Attributes:
        values: after minus before; 0 where the two differ by rounding only.
        clusters: what each row shares with others; None if all rows are independent.
        width: of the scale, which no change exceeds; None if the scale is not known.
        near: what counts as rounding.
        binary: whether all scores are ends of the scale.
    """

    values: Sequence[float]
    clusters: Sequence[Hashable] | None
    width: float | None
    near: float
    binary: bool

    @cached_property
    def mean(self) -> float:
        """Of the changes."""
        return math.fsum(self.values) / len(self.values)

    @cached_property
    def changed(self) -> int:
        """How many rows changed."""
        return sum(value != 0 for value in self.values)

    @cached_property
    def number_of_clusters(self) -> int | None:
        """How many clusters there are; None if none were given."""
        return None if self.clusters is None else len(set(self.clusters))

    @cached_property
    def alike(self) -> bool:
        """Whether all rows changed by the same amount, which may be 0."""
        return max(self.values) - min(self.values) <= self.near


def changes_of(
    before: Sequence[float],
    after: Sequence[float],
    clusters: Sequence[Hashable] | None,
    scale: tuple[float, float] | None,
) -> Changes:
    """The changes of one row or more, once the input is checked.

    Raises:
        InvalidInput: if the two differ in length or are empty, if a value is not finite or not on the scale, if a row has no
            cluster, or if the scale is impossible.
    """
    check_scale(scale)
    if len(before) != len(after):
        raise InvalidInput(
            f"after has {len(after)} values and before {len(before)}: give both scores of every row, in the same order"
        )
    if not len(before):
        raise InvalidInput("before has no values: give at least one pair")
    scale = scale_of((*before, *after), scale)
    before, after = checked_values("before", before, scale), checked_values("after", after, scale)
    check_clusters(clusters, len(before))
    width = scale[1] - scale[0] if scale else None
    near = ROUNDING * (max(map(abs, (*before, *after))) if width is None else width)
    values = [new - old if abs(new - old) > near else 0.0 for old, new in zip(before, after, strict=True)]
    binary = scale is not None and all(
        min(value - scale[0], scale[1] - value) <= near for run in (before, after) for value in run
    )
    return Changes(values, clusters, width, near, binary)

"""What every function of this room asks of its input, in one message that names the place and the cure."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

from .._kernel._errors import InvalidInput
from ._interval import ROUNDING

__all__ = ["check_clusters", "check_confidence", "check_scale", "checked_values"]


def check_confidence(confidence: float) -> None:
    """Above 0 and below 1."""
    if not 0 < confidence < 1:
        raise InvalidInput(f"confidence must lie between 0 and 1, got {confidence!r}: give 0.95 for 95 %")


def check_scale(scale: tuple[float, float] | None) -> None:
    """Two finite ends, the lower one first; they may be one point."""
    if scale is None:
        return
    low, high = scale
    if not (math.isfinite(low) and math.isfinite(high) and low <= high):
        raise InvalidInput(
            f"scale must be its two finite ends, the lower one first, got {scale!r}: leave it out if unknown"
        )


def checked_values(name: str, values: Sequence[float], scale: tuple[float, float] | None) -> Sequence[float]:
    """The values, finite and on the scale; those that rounding has put beside an end are put on it."""
    for place, value in enumerate(values):
        if not math.isfinite(value):
            raise InvalidInput(f"{name}[{place}] is {value!r}: give finite numbers, and leave out rows without a score")
    if scale is None or not len(values):
        return values
    low, high = scale
    if low <= min(values) and max(values) <= high:
        return values
    near = ROUNDING * (high - low)
    for place, value in enumerate(values):
        if not low - near <= value <= high + near:
            raise InvalidInput(
                f"{name}[{place}] is {value!r}, which is not on the scale {low:g} to {high:g}: give the scale of these scores"
            )
    return [min(max(value, low), high) for value in values]


def check_clusters(clusters: Sequence[Hashable] | None, count: int) -> None:
    """One for each row, and none of them missing."""
    if clusters is None:
        return
    if len(clusters) != count:
        raise InvalidInput(
            f"clusters has {len(clusters)} entries for {count} rows: give each row the cluster that it belongs to"
        )
    for place, cluster in enumerate(clusters):
        if cluster is None or cluster != cluster:  # noqa: PLR0124  NaN, as tables write what is missing
            raise InvalidInput(
                f"clusters[{place}] is {cluster!r}: give the row its cluster, or one of its own if it shares nothing with others"
            )
        if not isinstance(cluster, Hashable):
            raise InvalidInput(f"clusters[{place}] is a {type(cluster).__name__}: give a name or a number")

"""What every function of this room asks of its input, in one message that names the place and the cure."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

from .._kernel._errors import InvalidInput
from ._interval import ROUNDING

LARGEST = 1e100
"""The squares of larger numbers, and products of these, leave the range of floats."""


def check_confidence(confidence: float) -> None:
    """Above 0 and below 1."""
    if not 0 < confidence < 1:
        raise InvalidInput(f"confidence must lie between 0 and 1, got {confidence!r}: give 0.95 for 95 %")


def check_scale(scale: tuple[float, float] | None) -> None:
    """Two finite ends, the lower one first; they may be one point."""
    if scale is None:
        return
    low, high = scale
    if not (is_finite(low) and is_finite(high) and -LARGEST <= low <= high <= LARGEST):
        raise InvalidInput(
            f"scale must be its two finite ends, the lower one first, got {scale!r}: leave it out if unknown"
        )


def checked_values(name: str, values: Sequence[float], scale: tuple[float, float] | None) -> list[float]:
    """The values, finite and on the scale; those that rounding has put beside an end are put on it."""
    for place, value in enumerate(values):
        if not is_finite(value):
            raise InvalidInput(f"{name}[{place}] is {value!r}: give finite numbers, and leave out rows without a score")
    floats = [float(value) for value in values]
    if floats and max(map(abs, floats)) > LARGEST:
        place = next(place for place, value in enumerate(floats) if abs(value) > LARGEST)
        raise InvalidInput(f"{name}[{place}] is {values[place]!r}: give numbers up to {LARGEST:g}")
    if scale is None or not floats:
        return floats
    low, high = scale
    if low <= min(floats) and max(floats) <= high:
        return floats
    near = ROUNDING * (high - low)
    for place, value in enumerate(floats):
        if not low - near <= value <= high + near:
            raise InvalidInput(
                f"{name}[{place}] is {value!r}, which is not on the scale {low:g} to {high:g}: give the scale of these scores"
            )
    return [min(max(value, low), high) for value in floats]


def is_bool(value: object) -> bool:
    """Whether it is True or False, those of numpy included."""
    return type(value).__name__ in {"bool", "bool_"}


def is_finite(value: float | None) -> bool:
    """Whether it is a finite number, also where its type lies."""
    try:
        return math.isfinite(value)  # type: ignore[arg-type]
    except (TypeError, OverflowError):  # None, a text, or an integer beyond all floats
        return False


def scale_of(values: Sequence[float], scale: tuple[float, float] | None) -> tuple[float, float] | None:
    """The scale that was given, else that of True and False, else None."""
    if scale is None and len(values) and all(is_bool(value) for value in values):
        return 0.0, 1.0
    return scale


def check_clusters(clusters: Sequence[Hashable] | None, count: int) -> None:
    """One for each row, and none of them missing."""
    if clusters is None:
        return
    if len(clusters) != count:
        raise InvalidInput(
            f"clusters has {len(clusters)} entries for {count} rows: give each row the cluster it belongs to"
        )
    for place, cluster in enumerate(clusters):
        try:
            hash(cluster)
        except TypeError:
            raise InvalidInput(f"clusters[{place}] is a {type(cluster).__name__}: give a name or a number") from None
        if _is_missing(cluster):
            raise InvalidInput(
                f"clusters[{place}] is {cluster!r}: give the row its cluster, or one of its own if it shares nothing with others"
            )


def _is_missing(cluster: Hashable) -> bool:
    """None, NaN, or the NA of a table, which does not tell whether it equals itself."""
    try:
        return cluster is None or bool(cluster != cluster)  # noqa: PLR0124
    except TypeError:
        return True

"""A number with its interval, or the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass

from ._interval import Interval


@dataclass(frozen=True)
class Measure:
    """One number about a judge.

    Attributes:
        value: None where it cannot be had.
        interval: None where it cannot be had.
        problem: in words, why the value or the interval is missing; None where both are there.
    """

    value: float | None = None
    interval: Interval | None = None
    problem: str | None = None

"""An interval, and by which of the methods it was made."""

from __future__ import annotations

from typing import NamedTuple

ROUNDING = 1e-9
"""Values within this share of the scale count as equal: cosines of equal texts differ from 1 in the last digits."""

METHODS = {
    "wilson": "Wilson",
    "wilson-t": "Wilson with Student's t",
    "constant": "worst case of equal values",
    "t": "Student's t",
    "tango": "Tango's score interval",
    "few-changes": "score interval for few changes",
    "cr2": "Student's t over clusters (CR2)",
    "none": "none",
    "post-stratified-beta": "post-stratified beta posterior",
    "post-stratified-dirichlet": "post-stratified Dirichlet posterior",
    "ppi++": "PPI++",
    "newcombe": "Newcombe's score interval",
    "fisher": "Fisher's z",
    "wilson-chance": "Wilson, corrected for chance",
}
"""The methods, as a summary names them."""


class Interval(NamedTuple):
    """An interval for a mean or a difference of means.

    Attributes:
        low: its lower end, on the scale of the scores.
        high: its upper end.
        method: a key of ``METHODS``; the functions that make intervals say what each of them is.
    """

    low: float
    high: float
    method: str

    def __str__(self) -> str:
        return f"{self.low:.3f} to {self.high:.3f}"


def on_scale(low: float, high: float, mean: float, scale: tuple[float, float], method: str) -> Interval:
    """Limits given as shares of the scale, on it; rounding may push them neither off the scale nor past the mean."""
    start, end = scale
    width = end - start
    return Interval(
        min(max(start + low * width, start), mean),
        max(min(start + high * width, end), mean),
        method,
    )

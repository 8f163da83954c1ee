"""Which rows to label next: a draw in which a chance of each row is known.

The rows of which the judge is least sure tell most about where it errs, but labels of those alone say nothing about the others,
and an estimate from them is wrong however many there are. So half of the draw is uniform and half follows the judge's
uncertainty; every row may be drawn, and the label of a row that was unlikely counts for more. Rows are drawn by systematic
sampling from a list in random order, which gives each row exactly its probability and the draw exactly its size (Hartley & Rao
1962, Annals of Mathematical Statistics 33:350). What each row's probability should be: proportional to the standard deviation of
its label (Neyman 1934, JRSS 97:558), which for a pass of probability p is the square root of p (1 - p).
"""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Sequence
from typing import NamedTuple

from .._kernel._errors import InvalidInput
from ._checks import check_scale, checked_values

UNIFORM = 0.5
"""The share of the draw that does not look at the judge: no row then counts for more than twice as many as in a uniform draw."""


class Suggestion(NamedTuple):
    """A row to be labelled.

    Attributes:
        row: its index.
        probability: with which it was drawn, above 0, at most 1.
        weight: how many rows it stands for: 1 / probability.
    """

    row: int
    probability: float
    weight: float


def suggest(
    judged: Sequence[float],
    n: int,
    seed: int = 0,
    scale: tuple[float, float] | None = None,
    without: Collection[int] = (),
) -> list[Suggestion]:
    """Rows to label next, drawn half uniformly and half by how unsure the judge is, with the weights that `corrected_mean` needs.

    A score in the middle of the scale is unsure, one at either end is sure. Where all scores are at the ends, as verdicts are,
    the draw is uniform.

    Args:
        judged: the judge's score of every row, finite.
        n: how many rows to draw, from 1 to the number of rows that can be drawn.
        seed: the same seed draws the same rows.
        scale: lowest and highest possible score; None for those that occur.
        without: indices of rows that are not to be drawn, such as those that have a label already. The probabilities are those of a
            draw among the others, which alone the weights then speak for.

    Returns:
        The rows, by index.

    Raises:
        InvalidInput: if a score is not finite or not on the scale, if the scale is impossible, or if n is.
    """
    check_scale(scale)
    judged = checked_values("judged", judged, scale)
    excluded = set(without)
    rows = [row for row in range(len(judged)) if row not in excluded]
    if not 1 <= n <= len(rows):
        raise InvalidInput(f"n must lie between 1 and {len(rows)}, the number of rows that can be drawn, got {n!r}")
    unsure = uncertainty(judged, scale)
    chances = _chances([unsure[row] for row in rows], n)
    order = list(range(len(rows)))
    generator = random.Random(seed)  # noqa: S311  a choice that can be repeated, not a secret
    generator.shuffle(order)
    drawn, reached, step = [], 0.0, generator.random()
    for place in order:
        reached += chances[place]
        # rounding of the sum must not lose the last row
        if step < reached or (step < reached + 1e-9 and chances[place] >= 1):
            drawn.append(place)
            step += 1
    return [Suggestion(rows[place], chances[place], 1 / chances[place]) for place in sorted(drawn)]


def uncertainty(judged: Sequence[float], scale: tuple[float, float] | None) -> list[float]:
    """How unsure the judge is of each row: most in the middle of the scale, 0 at its ends; scores and scale as of `suggest`."""
    low, high = scale or (min(judged), max(judged))
    return [math.sqrt(max(value - low, 0.0) * max(high - value, 0.0)) for value in judged]


def _chances(unsure: Sequence[float], n: int) -> list[float]:
    """The probability of each row to be drawn; they sum to n, and none is above 1."""
    count, total = len(unsure), math.fsum(unsure)
    sizes = [UNIFORM / count + (1 - UNIFORM) * (value / total if total else 1 / count) for value in unsure]
    certain: set[int] = set()
    while True:
        rest = math.fsum(size for place, size in enumerate(sizes) if place not in certain)
        left = n - len(certain)
        over = {place for place, size in enumerate(sizes) if place not in certain and left * size >= rest}
        if not over:
            break
        certain |= over
    return [1.0 if place in certain else left * size / rest for place, size in enumerate(sizes)]

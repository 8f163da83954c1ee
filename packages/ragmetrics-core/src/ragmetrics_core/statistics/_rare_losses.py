"""How many rows it takes to see a rare, large loss.

An interval knows the spread of the rows that were seen. Thirty scores that differ by 0.001 have a narrow one, and yet one row in
thirty of the population may score 0: with 30 rows, chance leaves out all such rows in a third of the samples. So a mean is called
good enough only if its interval says so and, apart from that, there are enough rows to have met such losses.

If a share p of all rows lost as much as a row can lose, L, the mean would be p * L lower. It reaches a limit at the distance m from
p = m / L on. That n independent rows contain none of them has the probability (1 - p)^n, which is at most 0.05 from
n = ln 0.05 / ln(1 - m / L) on: about 3 L / m.

Losses of more than half of L that were met are a share q of full ones. Where p brings the mean to the limit, p - q = m / L, and
n independent rows show as few as q in at most 0.05 of samples from about z² p (1 - p) / (p - q)² rows on, z being the quantile of
0.95.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ._distributions import normal_quantile

MISSED = 0.05
"""The largest chance to meet no such loss."""

TINY = 1e-12


def rows_to_meet_losses(values: Sequence[float], sign: int, limit: float, worst: float) -> int:
    """The number of independent rows from which on unseen losses cannot bring a mean to the limit.

    The distance from the mean to the limit counts with the ordinary noise of the mean, which the interval allows for already. That
    noise is measured on the good side of the mean only, and a large loss that was met adds nothing to it.

    Args:
        values: of the rows, on the good side of the limit on average; one or more.
        sign: 1 if high values are good, -1 if low ones are.
        limit: what the mean must not reach.
        worst: the value that a lost row would have.
    """
    count = len(values)
    mean = math.fsum(values) / count
    met = sign * (mean - worst) / 2
    others = [value for value in values if sign * (mean - value) <= met] or values
    usual = math.fsum(others) / len(others)
    squares = math.fsum((value - usual) ** 2 for value in others if sign * (value - usual) > 0)
    noise = normal_quantile(1 - MISSED / 2) * math.sqrt(2 * squares) / count
    loss = sign * (usual - worst)
    distance = max(sign * (mean - limit) + noise, TINY)
    if distance >= loss:
        return 1
    share, seen = distance / loss, sign * (usual - mean) / loss
    none = math.log(MISSED) / math.log1p(-share)
    if len(others) == count:
        return math.ceil(none)
    few = normal_quantile(1 - MISSED) ** 2 * (share + seen) * max(1 - share - seen, 0.0) / share**2
    return math.ceil(max(none, few))

"""An exact p-value for few changes."""

from __future__ import annotations

from collections.abc import Sequence

MOST_FLIPPED = 12
"""Changes whose signs are flipped in every way: 4,096 ways."""

ROUNDING = 1e-9


def sign_flip_p(changes: Sequence[float]) -> float:
    """The two-sided p-value of "each of these changes might as well have gone the other way".

    The share of all ways to flip their signs in which the sum is at least as far from 0 as the observed one. Changes of 0 do not
    matter, so with fewer than 6 others it is above 0.05, whatever they are. It is exact where changes are as likely up as down by
    the same amount, as between two runs of the same system.

    Source: Fisher 1935, The Design of Experiments, section 21.
    """
    first, *others = [change for change in changes if change] or [0.0]
    sums = [first]  # flipping all signs at once changes nothing, so the first one keeps its own
    for change in others:
        sums = [total + change for total in sums] + [total - change for total in sums]
    far = abs(sum(changes)) - ROUNDING * sum(map(abs, changes))
    return sum(abs(total) >= far for total in sums) / len(sums)

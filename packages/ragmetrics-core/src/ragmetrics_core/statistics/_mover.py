"""The difference of two means of different rows, from the interval of each."""

from __future__ import annotations

import math

from ._interval import Interval


def difference_of_means(one: float, interval: Interval, other: float, other_interval: Interval) -> Interval:
    """The interval of ``one - other``, where no row is in both.

    Each end is as far from the difference as the two nearer ends of the intervals tell, squared and added: the method of variance
    estimates recovery. Of two rates with Wilson's intervals it is Newcombe's.

    Source: Zou & Donner 2008, Statistics in Medicine 27:1693, equation 4; Newcombe 1998, Statistics in Medicine 17:873, method 10.
    """
    difference = one - other
    low = difference - math.hypot(one - interval.low, other_interval.high - other)
    high = difference + math.hypot(interval.high - one, other - other_interval.low)
    return Interval(low, high, "newcombe")

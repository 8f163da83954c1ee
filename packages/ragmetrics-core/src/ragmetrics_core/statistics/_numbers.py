"""Many numbers, of which only sums and ends are needed.

A column of ten million scores often has few different values. Then its sums need one term per value, not one per row. Sums are
rounded once, as `math.fsum` rounds them, so they do not depend on how the numbers are kept.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import compress, repeat

from ._interval import at_ends


def exact_sum(terms: Iterable[float], counts: Sequence[int] | None = None) -> float:
    """Return the sum of terms, rounded once; with ``counts``, each term is added as often as its count says."""
    if counts is None:
        return math.fsum(terms)
    return math.fsum(
        term * 2.0**bit  # exact, unlike a product with the count
        for term, count in zip(terms, counts, strict=True)
        for bit in range(count.bit_length())
        if count >> bit & 1
    )


class Numbers:
    """One or more finite numbers.

    Args:
        values: the numbers; or, with ``counts``, the different values among them.
        counts: how often each of the values occurs; None: once each.
    """

    def __init__(self, values: Sequence[float], counts: Sequence[int] | None = None) -> None:
        self.values = values
        self.counts = counts

    @classmethod
    def of(cls, values: Sequence[float] | Numbers) -> Numbers:
        """Return the numbers in a sequence; ``Numbers`` are returned unchanged."""
        return values if isinstance(values, Numbers) else Numbers(values)

    def __len__(self) -> int:
        return len(self.values) if self.counts is None else sum(self.counts)

    def pairs(self) -> Iterator[tuple[float, int]]:
        """Yield each value with its count."""
        return zip(self.values, repeat(1) if self.counts is None else self.counts, strict=False)

    @cached_property
    def mean(self) -> float:
        """The mean, rounded once."""
        return exact_sum(self.values, self.counts) / len(self)

    @cached_property
    def low(self) -> float:
        """The smallest number."""
        return min(self.values)

    @cached_property
    def high(self) -> float:
        """The largest number."""
        return max(self.values)

    def squares(self, about: float, sign: int = 0) -> float:
        """Return the sum of the squared distances from a number; with ``sign`` only of the numbers on this side of it."""
        terms = ((value - about) ** 2 if sign * (value - about) >= 0 else 0.0 for value in self.values)
        return exact_sum(terms, self.counts)

    @cached_property
    def size(self) -> float:
        """The sum of the distances from 0."""
        return exact_sum(map(abs, self.values), self.counts)

    @cached_property
    def changed(self) -> int:
        """How many are not 0."""
        return sum(map(bool, self.values)) if self.counts is None else sum(compress(self.counts, self.values))

    def at_ends(self, scale: tuple[float, float]) -> bool:
        """Whether all are ends of the scale, as passes and fails are."""
        return at_ends(self.values, scale)

    def above(self, limit: float) -> int:
        """Return how many are larger than a limit."""
        return sum(count for value, count in self.pairs() if value > limit)

    def within(self, sign: int, centre: float, most: float) -> Numbers:
        """Return the numbers that lie at most ``most`` below a centre (``sign`` 1), or above it (-1)."""
        kept = [place for place, value in enumerate(self.values) if sign * (centre - value) <= most]
        counts = None if self.counts is None else [self.counts[place] for place in kept]
        return Numbers([self.values[place] for place in kept], counts)

    def ends(self, sign: int, most: int) -> list[float]:
        """Return at most so many of the lowest numbers (``sign`` 1), or of the highest (-1), in order."""
        ordered = sorted(self.pairs(), key=lambda item: sign * item[0])[:most]
        return [value for value, count in ordered for _ in range(min(count, most))][:most]

    def plus(self, value: float, count: int) -> Numbers:
        """Return these numbers, with a value added so many times."""
        return Numbers([*self.values, value], [*(each for _, each in self.pairs()), count]) if count else self

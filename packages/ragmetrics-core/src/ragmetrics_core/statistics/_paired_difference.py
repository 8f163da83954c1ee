"""What is known of a difference between two runs over the same rows."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from .._kernel._errors import InvalidInput
from ._interval import Interval
from ._rows_needed import Spread, rows_to_show


@dataclass(frozen=True)
class PairedDifference:
    """The difference between the means of two runs over the same rows: after minus before.

    Attributes:
        difference: mean of after minus mean of before, on the scale of the scores.
        interval: of that difference; None if there is none, and ``problem`` says why.
        p_value: two-sided, of "there is no difference": 0 to 1; None where there is no interval.
        method: how the interval was made, a key of ``METHODS``; ``none`` without one.
        pairs: how many there are.
        changed: pairs whose two values differ by more than rounding.
        clusters: how many there are; None if none were given.
        problem: in words, why there is no interval; None where there is one.
    """

    difference: float
    interval: Interval | None
    p_value: float | None
    method: str
    pairs: int
    changed: int
    clusters: int | None = None
    problem: str | None = None
    _spread: Spread | None = field(default=None, repr=False)
    _confidence: float = field(default=0.95, repr=False)

    def rows_needed(self, effect: float, power: float = 0.8) -> int | None:
        """Rows that would show a difference of this size, given how much the pairs differ among each other.

        Shown is a difference whose interval excludes 0. The size is one that matters to you, such as a margin: with the observed
        difference this would be its p-value again, in other words. Where it takes more changed pairs than were seen, these are
        taken to change by as much as those that did. With clusters their likeness counts, and they are taken to stay as large as
        they are. From a pilot of 100 rows, 0.70 to 0.86 of differences are shown where 0.8 is asked for.

        Args:
            effect: the difference to be shown, on the scale of the scores; its sign does not matter.
            power: how often it should be shown, above 0 and below 1.

        Returns:
            The number of rows. None if it is above 100,000, or if nothing tells how much the pairs differ: all of them changed
            alike, or there is no interval.

        Raises:
            InvalidInput: if the effect is 0 or not finite, or if power is impossible.
        """
        if not (math.isfinite(effect) and effect):
            raise InvalidInput(
                f"effect must be a difference other than 0, got {effect!r}: give the smallest that matters"
            )
        if not 0 < power < 1:
            raise InvalidInput(f"power must lie between 0 and 1, got {power!r}: give 0.8 for 80 %")
        return rows_to_show(effect, self._spread, power, self._confidence) if self._spread else None

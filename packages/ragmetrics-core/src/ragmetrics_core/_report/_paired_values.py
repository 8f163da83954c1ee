"""The values of the rows that a metric has scored in two runs."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from ..statistics import PairedDifference, paired_difference
from ..statistics._pairs import rows_to_meet_losses


@dataclass(frozen=True)
class PairedValues:
    """Values in one order of rows; ``clusters`` is what rows share, if anything."""

    before: Sequence[float] = ()
    after: Sequence[float] = ()
    clusters: Sequence[Hashable] | None = None
    scale: tuple[float, float] | None = None

    def difference(self, confidence: float = 0.95) -> PairedDifference | None:
        """How sure their difference is; None if there are no pairs."""
        if not self.before:
            return None
        return paired_difference(self.before, self.after, self.clusters, self.scale, confidence)

    def enough(self, sign: int, most: float) -> int:
        """Pairs from which on unseen losses, of rows whose second value is the worst, cannot add up to the largest loss allowed.

        It is 1 where no scale is known.

        Args:
            sign: 1 if a rise is good, -1 if a fall is.
            most: the largest loss allowed, on average.
        """
        if self.scale is None or not self.before:
            return 1
        changes = [new - old for old, new in zip(self.before, self.after, strict=True)]
        farthest = self.scale[0 if sign > 0 else 1] - math.fsum(self.before) / len(self.before)
        return rows_to_meet_losses(changes, sign, -sign * most, farthest)

    def moved(self, found: PairedDifference) -> int:
        """Pairs that changed; with clusters, clusters whose rows changed in sum."""
        if self.clusters is None or not found.changed:
            return found.changed
        sums: defaultdict[Hashable, list[float]] = defaultdict(list)
        for cluster, old, new in zip(self.clusters, self.before, self.after, strict=True):
            sums[cluster].append(new - old)
        return sum(abs(math.fsum(changes)) > 1e-9 for changes in sums.values())

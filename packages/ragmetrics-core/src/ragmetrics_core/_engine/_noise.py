"""Whether refusals come from our own load, or would come anyway. No clock, no waiting: numbers of calls and times are passed in.

Where a key or a gateway is shared, some calls are refused whatever we do. Slowing down for these would bring the pace to a halt,
as they go on at any pace. That is also what gives them away: a limit stops refusing once the pace is below it, and until then it
refuses evenly or in rows, never at random.

*Bounds.* A limit has run out at each call that it refuses. So of any two refused calls it took what it allows in the time between
them, give or take one: ``Taken`` knows the ``least`` and the ``most`` that any limit could be that refused these calls. A cut sets
the pace just below ``most``, but never below ``least``, which a limit takes for sure. So a cut costs little where the refusals
mean nothing.

*Trial.* No limit explains a refusal at a pace below ``least``, or a ``most`` that is less than ``least``. A limit that has just
changed contradicts itself like this once or twice, and the bounds are then measured anew. After ``CONTRADICTIONS`` of them slowing
down is known not to help: the refusals are taken for noise, of the share that they had meanwhile, and the search for the window and
the pace begins anew. The trial ends without that where a cut has helped: where so many calls were taken since that the share of
refusals would have shown. Nor is a share beyond ``MOST`` ever noise.

*Noise* of a known share explains as many refusals. What is beyond is summed up, less what is missing (a CUSUM chart: Page 1954,
"Continuous inspection schemes"), and an excess of ``ALARM`` does what a single refusal does where there is no noise: it cuts the
pace, and begins a trial. Where hardly any call is refused while no limit could have done so, the noise is over.

*Before any pace was learnt* the first refusals are passed over, too, as long as they are few and stand alone: they need not mean
anything, while a limit that is run into refuses in rows.

*Not told:* much noise in a short run. With 128 places and 20 % refused, a run of ten rounds loses two of them to the trial.
"""

from __future__ import annotations

import math
from bisect import bisect, insort

from ._started import Started

CONTRADICTIONS = 3
MOST = 0.35
"""Share of refusals beyond which they are never noise."""
CLEAN = 90
"""Calls taken between two refusals that speak for a limit, if the pace had grown back to it."""
HELPED = 0.005
"""Chance that so many calls are taken if the share of refusals is still what it was; below it the cut has helped."""

KNOWN = 16
"""Refused calls that are remembered; bounds hold for any two of them."""
CALM = 30
"""Calls taken one after the other at a pace that may have been below the limit: what was not used of it may be lost."""
ENOUGH = 3
"""Calls taken that say what a limit is at least; their times vary a little on the way."""
INSTANT = 1e-4
"""Seconds that are one moment."""

ALARM = 8.0
FACTOR, MARGIN = 1.25, 0.12
"""Refusals are in excess beyond so many times the share of the noise, and so much more."""
BLOCK, FEWER, OVER = 20, 0.25, 1
"""Refusals that noise would explain until it is asked whether it is still there; the share of them below which it has become
less, and how few mean that it is over."""

PASSED, FEW, MOST_PASSED = 2, 0.25, 3
"""Refusals may be passed over before any pace was learnt while all of them are at most so many and that share of the calls more;
and how many may be."""
USUAL, CROWD = 0.4, 1.7
"""Refusals crowd where they are so many more than that share of the calls: three in a row."""


class Taken:
    """What the server took between refusals, and what its limit can be therefore, if it has one.

    Attributes:
        least: calls a second that any such limit takes; 0 where nothing was measured.
        most: calls a second that it takes at most, as the last refusal shows.
        gap: calls taken between the last refused one and the one before it.
    """

    def __init__(self) -> None:
        self._refused: list[tuple[int, float, float]] = []  # number, time, and time less what was idle
        self._trip = 0.0  # seconds that a refusal took
        self.least, self.most, self.gap = 0.0, math.inf, 0

    def restart(self, keep: int = 1) -> None:
        """Forget all but the last refusals."""
        del self._refused[:-keep]
        self.least = 0.0
        self._measure(math.inf)

    def refused(self, started: Started, now: float, paced: bool) -> None:
        """This call was refused; those between it and another refused one have been taken, or will be."""
        known = self._refused
        self._trip = now - started.time
        self._measure(started.time - self._trip)
        if paced and self.gap >= CALM:
            del known[:-1]
        this = (started.index, started.time, started.busy)
        place = bisect(known, this)
        self.gap = started.index - (known[place - 1][0] if place else -1) - 1
        self.most = math.inf
        for before in range(place):
            index, _, busy = known[before]
            taken = started.index - index - (place - before)
            self.most = min(self.most, (taken + (taken < CALM)) / max(INSTANT, started.busy - busy))
        insort(known, this)
        del known[:-KNOWN]

    def _measure(self, settled: float) -> None:
        """Learn the least from calls until this time: all refusals of these have been heard of."""
        for last, (index, time, _) in enumerate(self._refused):
            if time > settled:
                break
            for first, (other, before, _) in enumerate(self._refused[:last]):
                taken = index - other - (last - first)
                if taken >= ENOUGH and time - before >= max(INSTANT, self._trip):
                    self.least = max(self.least, (taken - 1) / (time - before))

    @property
    def overall(self) -> float:
        """Calls a second taken since the first of the known refusals; infinite where there is only one."""
        if len(self._refused) < 2:
            return math.inf
        (first, begin, _), (last, end, _) = self._refused[0], self._refused[-1]
        return (last - first - len(self._refused) + 2) / max(INSTANT, self._trip, end - begin)

    @property
    def crowded(self) -> bool:
        """Whether the last calls were refused in a row, or nearly so."""
        excess, last = 0.0, -1
        for index, _, _ in self._refused:
            excess = max(0.0, excess - USUAL * (index - last - 1)) + 1 - USUAL
            last = index
        return excess > CROWD

    def after(self, index: int) -> int:
        """How many of the known refused calls started after this one."""
        return sum(other > index for other, _, _ in self._refused)


class Noise:
    """What is believed of refusals that do not depend on our load.

    Attributes:
        share: refused calls among all, by noise; 0 where there is none.
        measured: calls a second that the server takes at least, if it has a limit; 0 where nothing was measured.
        contradicted: the last refusal is one that no limit explains.
        alarmed: before any pace was learnt, too many were refused to let that pass.
    """

    def __init__(self) -> None:
        self.share = 0.0
        self.contradicted = self.alarmed = False
        self._passed = 0
        self._last = -1  # number of the last refused call
        self._excess = 0.0
        self._calls = self._refused = 0  # since it was last asked whether the noise is over
        self.begin(0, 0)

    def begin(self, made: int, refused: int) -> None:
        """Forget what was measured, and begin a new trial: so many calls were made until now, and refused."""
        self.measured = 0.0
        self._contradictions = 0
        self._first = (0, 0)  # number of the first call whose refusal was a contradiction, and refusals until then
        self._since = (made, refused)

    @property
    def suspecting(self) -> bool:
        """Whether there are more refusals at the moment than noise explains."""
        return self._excess > 1

    def explains(self, index: int, refused: int, crowded: bool, *, in_flight: int, paced: bool) -> bool:
        """A call was refused; whether that may be left alone.

        Args:
            index: number of the call; those between the last refused one and this have been taken, or will be.
            refused: calls refused so far.
            crowded: whether the last ones were refused in a row.
            in_flight: calls that are on their way, and may be refused as well.
            paced: a pace was learnt.
        """
        taken = max(0, index - self._last - 1)
        self._last = max(self._last, index)
        if not self.share:
            self._passed += 1
            self.alarmed |= crowded or refused > PASSED + FEW * self._last
            return not (paced or self.alarmed) and self._passed <= MOST_PASSED
        usual = FACTOR * self.share + MARGIN
        self._excess = max(-usual * in_flight, self._excess - usual * taken) + 1 - usual
        if not paced:
            self.look(1 + taken, 1, in_flight)
        if self._excess < ALARM:
            return True
        self._excess = 0.0
        return False

    def found(self, index: int, made: int, refused: int, *, rate: float, taken: Taken) -> bool:
        """The pace is about to be cut because a call was refused; whether the trial shows that it had better not be.

        Args:
            index: number of the call.
            made: calls made so far.
            refused: calls refused so far.
            rate: the pace, in calls a second.
            taken: what the server took until this refusal.
        """
        self.measured = taken.least
        made_since, refused_since = made - self._since[0], refused - self._since[1]
        share = min(0.9, refused_since / max(1, made_since))
        helped = self._contradictions > 0 and (1 - share) ** taken.gap < HELPED
        self.contradicted = not helped and (rate < taken.least or (taken.gap < CALM and taken.most < taken.least))
        if helped:
            self._contradictions = 0
        elif self.contradicted:
            if not self._contradictions:
                self._first = (index, refused)
            self._contradictions += 1
        elif taken.gap >= CLEAN:
            self._contradictions = max(0, self._contradictions - 1)
        first, before = self._first
        if self._contradictions >= CONTRADICTIONS and refused - before <= MOST * (index - first):
            self.share = min(MOST, max(self.share, (refused_since + 1) / made_since))
            self._excess = 0.0
            self._calls = self._refused = 0
            return True
        if helped or (taken.gap >= CLEAN and not self._contradictions):
            self.begin(made, refused)
        return False

    def look(self, calls: int, refused: int, in_flight: int = 0) -> None:
        """So many calls were made that no limit would have refused, and yet so many of them were: is the noise over?"""
        self._calls += calls
        self._refused += refused
        if not self.share or self._calls < max(BLOCK / self.share, 4 * in_flight):
            return
        share = self._refused / self._calls
        if share < FEWER * self.share:
            self.share = 0.0 if self._refused <= OVER else share
        self._calls = self._refused = 0


class Row:
    """Calls that were refused one after the other, with none taken in between.

    Refusals may come in any order, and those that were never refused have been taken, or will be.
    """

    def __init__(self) -> None:
        self._count = self._lowest = self._highest = 0

    def refused(self, index: int) -> None:
        """The call of this number was refused."""
        self._lowest = min(self._lowest, index) if self._count else index
        self._highest = max(self._highest, index) if self._count else index
        self._count += 1

    def answered(self, index: int) -> None:
        """The call of this number was taken."""
        if index > self._lowest:
            self._count = 0

    @property
    def length(self) -> int:
        """How many, if none was left out; else 0."""
        return self._count if self._highest - self._lowest < self._count else 0

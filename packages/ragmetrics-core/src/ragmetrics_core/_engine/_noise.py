"""Whether refusals come from our own load, or would come anyway. No clock, no waiting: numbers of calls and times are passed in.

Where a key or a gateway is shared, some calls are refused whatever we do. Slowing down for these would bring the pace to a halt,
as they go on at any pace. That is also what gives them away: a limit stops refusing once the pace is below it.

*Trial.* Two refusals show what the server took in between, so it takes at least that, if it has a limit. Each cut sets the pace
below this. A refusal before the pace has grown back to it contradicts the limit. One that was measured badly, or has fallen, is
contradicted once or twice; after ``CONTRADICTIONS`` of them slowing down is known not to help. Refusals are then taken for noise,
of the share that they had meanwhile, and the search for the window and the pace begins anew. The trial ends without that where a
cut has helped: where far more calls were taken since than the share of refusals before it would have left. Nor is a share
beyond ``MOST`` ever noise.

*Noise* of a known share explains as many refusals. What is beyond is summed up, less what is missing (a CUSUM chart: Page 1954,
"Continuous inspection schemes"), and an excess of ``ALARM`` does what a single refusal does where there is no noise: it cuts the
pace, and begins a trial. Where hardly any call is refused while no limit could have done so, the noise is over.

*Before any pace was learnt* the first refusals are passed over, too, as long as they are few: they need not mean anything.
"""

from __future__ import annotations

__all__ = ["Noise", "Row"]

CONTRADICTIONS = 3
MOST = 0.35
"""Share of refusals beyond which they are never noise."""
CLEAN = 30
"""Calls taken between two refusals that speak for a limit, if the pace had grown back to it."""
HELPED = 0.03
"""Chance that so many calls are taken if the share of refusals is still what it was; below it the cut has helped."""

ALARM = 8.0
FACTOR, MARGIN = 1.25, 0.12
"""Refusals are in excess beyond so many times the share of the noise, and so much more."""
BLOCK, FEWER, OVER = 20, 0.25, 1
"""Refusals that noise would explain until it is asked whether it is still there; the share of them below which it has become
less, and how few mean that it is over."""

PASSED, MOST_PASSED, FEW = 1, 3, 0.12
"""Refusals that are passed over before any pace was learnt, or up to so many while they are no more than that share."""


class Noise:
    """What is believed of refusals that do not depend on our load.

    Attributes:
        share: refused calls among all, by noise; 0 where there is none.
        measured: calls a second that the server takes at least, if it has a limit; 0 where nothing was measured.
    """

    def __init__(self) -> None:
        self.share = 0.0
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

    def explains(self, index: int, in_flight: int, paced: bool) -> bool:
        """A call was refused; whether that may be left alone.

        Args:
            index: number of the call; those between the last refused one and this have been taken, or will be.
            in_flight: calls that are on their way, and may be refused as well.
            paced: a pace was learnt.
        """
        taken = max(0, index - self._last - 1)
        self._last = max(self._last, index)
        if not self.share:
            self._passed += 1
            return not paced and self._passed <= (MOST_PASSED if self._passed <= FEW * index else PASSED)
        usual = FACTOR * self.share + MARGIN
        self._excess = max(-usual * in_flight, self._excess - usual * taken) + 1 - usual
        if not paced:
            self.look(1 + taken, 1, in_flight)
        if self._excess < ALARM:
            return True
        self._excess = 0.0
        return False

    def found(self, index: int, made: int, refused: int, *, rate: float, taken: int, seconds: float) -> bool:
        """The pace is about to be cut because a call was refused; whether the trial shows that it had better not be.

        Args:
            index: number of the call.
            made: calls made so far.
            refused: calls refused so far.
            rate: the pace, in calls a second.
            taken: calls taken since the last refusal.
            seconds: the time since then.
        """
        since = index - self._first[0]
        before = (refused - self._first[1] - 0.5) / (max(0, since - taken) + 5)
        helped = self._contradictions > 1 and (1 - min(before, 0.9)) ** taken < HELPED
        if helped:
            self._contradictions = 0
        elif rate < self.measured:
            if not self._contradictions:
                self._first = (index, refused)
            self._contradictions += 1
        elif taken >= CLEAN:
            self._contradictions = max(0, self._contradictions - 1)
        made, refused = made - self._since[0], refused - self._since[1]
        if self._contradictions >= CONTRADICTIONS and refused - self._first[1] + self._since[1] <= MOST * since:
            self.share = min(MOST, max(self.share, (refused + 1) / made))
            self._excess = 0.0
            self._calls = self._refused = 0
            return True
        at_least = max(0, taken - 1) / max(1e-3, seconds)
        if helped or (taken >= CLEAN and not self._contradictions):
            self.begin(made + self._since[0], refused + self._since[1])
        self.measured = max(self.measured, at_least)
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

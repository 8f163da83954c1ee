"""What is learnt of one server: how many calls it takes at once, and how many a second. No clock, no waiting: times are passed in.

A server that limits says nothing but "no" (status 429). That means one of two things, and they need opposite answers. A server
with so many *places* wants a window: each answer lets one new call go, as acknowledgements clock TCP (Jacobson 1988, "Congestion
avoidance and control"). A server with so many calls *a second* (a token bucket; tokens a minute are alike) wants a pace, whatever
is in flight. So both are kept, as BBR does (Cardwell et al. 2016, ACM Queue 14(5); version 2 learns its bound of data in flight
from losses), and each refusal teaches one of them. It is the window when more calls were in flight than the server has ever been
seen to take; else it is the pace, and so it is where a window was cut twice and is refused again without having grown.

*Opening.* A few calls at once, doubled while nothing is heard (slow start, but by the clock, as answers of a language model take
seconds and refusals a tenth of one); after the first answer eight or more every sixteenth of its latency, until all go or one is
refused. From a server on the same machine a refusal mostly comes within milliseconds, so there up to 32 go as many at a time
within a few of them. (One that only passes calls on to another machine refuses later; that costs 24 refusals, once.)

*Pace.* At two refusals the bucket was empty twice, so what was taken in between, over the time, is the very limit, give or take
one call. A refusal therefore sets the pace just below the most that this allows, and never below the least (`_noise`), within
bounds; there is one cut per episode (calls that started before the cut only echo it). Growth follows CUBIC's idea (Ha, Rhee, Xu
2008): flat for long after a cut, then ever faster, so that a steady limit is asked some ninety calls apart whether it still holds,
and a limit that was raised fivefold is found in ten to twenty seconds. Growth counts
*answers*, of calls that had to wait for the pace: neither errors of the server nor idle times make it faster. A pace that is in
doubt (refused soon after its cut) starts further up that curve.

*Noise.* Some refuse calls whatever we do, and what is above would slow down for these without end. So a refusal is first shown to
`_noise`, which lets pass what is none of our doing, and knows from cuts that did not help that a limit was none: then all begins
anew. A window is also cut in vain where a call with as many in flight gets through afterwards, and opens again.

*Nothing gets through.* Then the pace halves down to a probe every two seconds, and a ``Retry-After`` holds all; the first answer
to a new call lifts this, and brings back half of the former pace, or a new opening where there was none. Where it took no more than
seconds, the server may count the calls of a second or a minute, and all came at its beginning. So the pace then goes up to what was
taken, from one such recovery to the next, over the time in between; but fourfold with each round of answers and not at once, as
after the burst of a token bucket that is too much.
"""

from __future__ import annotations

import math

from . import _tuning as by
from ._noise import Noise, Row, Taken
from ._started import Started, Uncut


class Limits:
    """The window and the pace of one server.

    Args:
        most: calls in flight that are allowed at all; the window never exceeds it.
        near: the server is on this machine.
    """

    def __init__(self, most: int, near: bool = False) -> None:
        self._most = most
        self._near = near
        self._started = self._refusals = 0
        self._episode = 0  # calls below this number started before the last cut
        self._cut_window = False  # the last cut was one of the window
        self._noise = Noise()
        self._cut_refusals = 0  # refusals until the last cut of the pace
        self._row = Row()
        self._taken = Taken()
        self._idle = 0.0  # seconds in which the pace would have let calls go, and there was none
        self._proven = 0  # most calls in flight of which one was answered
        self._period = (0, 0, 0.0)  # calls, refusals and time until the last recovery, or the first call
        self._before = math.inf
        self._open()

    def _open(self) -> None:
        """Begin without knowledge."""
        many = self._most > by.MANY
        self._first = self._most // 8 if many else by.FIRST
        self.window = min(self._most, self._first, max(4, self._most // 4))
        self._step = self.window
        self._patience = by.OPENING * (by.MANY / self._most) ** 3 if many else by.OPENING
        self._grow_at = by.NEVER
        self._opening, self._heard = True, False
        self._cuts = 0
        self._uncut: Uncut | None = None
        self._noise.begin(self._started, self._refusals)
        self._taken.restart()
        self.rate = math.inf
        self._next = -math.inf
        self._regain = 0.0  # the pace to come back to
        self._regained = 0  # calls below this number started before the last step there
        self._vain_since: float | None = None
        self._clean = 0.0
        self._doubt = 1.0

    def wait(self, now: float, in_flight: int) -> float:
        """Seconds until it is worth asking again, 0 if a call may start now, ``NEVER`` if only an answer can help."""
        if in_flight >= self.window:
            if self.window >= self._most:
                return by.NEVER
            hasty = self._near and self._opening and not self._heard and self.window < by.NEAR
            if self._grow_at == by.NEVER:
                self._grow_at = now + (by.NEAR_OPENING if hasty else self._patience)
            if self._grow_at - now > by.TICK:
                return self._grow_at - now
            self._grow_at = by.NEVER
            self._cuts = 0
            self.window = min(self._most, self.window + self._step)
            if not (self._opening and (self._heard or hasty)):
                self._step = min(by.FIRST, 2 * self._step) if not self._opening else 2 * self._step
        wait = self._next - now
        return wait if wait > by.TICK else 0.0

    def start(self, now: float, depth: int) -> Started:
        """A call goes; ``depth`` calls are in flight with it."""
        index = self._started
        self._started = index + 1
        if index == 0:
            self._period = (0, 0, now)
        paced = False
        if self.rate != math.inf:
            interval = 1 / self.rate
            paced = now - self._next < interval
            if not paced:
                self._idle += now - self._next - interval
            self._next = max(self._next, now - by.SLACK) + interval
        return Started(index, now, depth, paced=paced, refusals=self._refusals, busy=now - self._idle)

    def undo(self) -> None:
        """A call that was let go was never made."""
        if self.rate != math.inf:
            self._next -= 1 / self.rate

    def answered(self, started: Started, now: float) -> None:
        """The server took this call."""
        # Refusals of earlier calls that came in since were counted in its depth, although they had no place at the server.
        without_place = self._refusals - started.refusals - self._taken.after(started.index)
        self._proven = max(self._proven, started.depth - max(0, without_place))
        self._row.answered(started.index)
        if self._uncut and self._proven >= self._uncut.depth:
            self._refute(self._uncut, started)
        if self._opening:
            if not self._heard:
                self._heard = True
                self._step = self._first
                self._patience = min(self._patience, (now - started.time) / 16)
                self._grow_at = min(self._grow_at, now) if self._grow_at != by.NEVER else by.NEVER
        elif self.rate != math.inf and started.index >= self._episode:
            if self._vain_since is not None and self._back(started, now):
                return
            if self._regain > self.rate:
                if started.index >= self._regained:
                    self.rate = min(self._regain, by.REGAIN * self.rate)
                    self._regained = self._started
                return
            self._faster(started.paced)

    def _back(self, started: Started, now: float) -> bool:
        """The first call got through since all were refused; whether this begins anew."""
        assert self._vain_since is not None
        outage = started.time - self._vain_since > by.OUTAGE
        calls, refusals, since = self._period
        taken = started.index - calls - (started.refusals - refusals)
        self._regain = by.KEPT * taken / max(1e-3, started.time - since)
        self._period = (started.index, started.refusals, started.time)
        self._vain_since = None
        self.window = self._most
        if outage and self._before == math.inf:
            self._open()
            return True
        if outage:
            self.rate = max(self.rate, self._before / 2)
        self._next = min(self._next, now + 1 / self.rate)
        return False

    def _faster(self, paced: bool) -> None:
        if not paced:  # the pace did not hold this call back, so its answer does not say that a faster one would do
            self._clean = max(0.0, self._clean - 2)
            return
        if self._noise.suspecting:
            return
        self._clean += 1
        bound = min(by.CALL_CAP + by.DOUBT_CAP * self._doubt, by.SECOND_CAP / self.rate)
        before = self.rate
        self.rate *= 1 + min(bound, by.GROWTH * 2 ** (self._clean / by.DOUBLING))
        if before < self._noise.measured <= self.rate:  # until here, only noise can have refused calls
            self._noise.look(self._started - self._episode, self._refusals - self._cut_refusals)

    def refused(self, started: Started, now: float, in_flight: int, retry_after: float) -> None:
        """The server did not take this call; ``in_flight`` others are on their way, ``retry_after`` is 0 if it said nothing."""
        self._refusals += 1
        self._row.refused(started.index)
        self._taken.refused(started, now, self.rate != math.inf)
        if started.index >= self._episode:
            if self._explained(started, in_flight):
                return
            cut_window = started.depth > max(1, self._proven) and self._cuts < by.CUTS
            if not cut_window and self._is_noise(started):
                self._open()
                self.window = max(self.window, self._proven)
                return
            self._episode = self._started
            self._cut_window = cut_window
            if cut_window:
                self._narrower(started, retry_after)
            else:
                self._slower(started, now, retry_after)
        if self._cut_window:
            self.window = max(1, min(self.window, started.depth - 1, in_flight))
        self._opening = False

    def _explained(self, started: Started, in_flight: int) -> bool:
        """Whether this refusal may be passed over: all goes on, but nothing grows because of it."""
        paced, crowded = self.rate != math.inf, self._taken.crowded
        if not self._noise.explains(started.index, self._refusals, crowded, in_flight=in_flight, paced=paced):
            return False
        if self._noise.share and not self._noise.suspecting:
            self._taken.restart()
        if not self._opening:
            self._step = 1
        elif not self._heard and self._refusals > 1:
            self.window = max(1, self.window - 1)  # its place stays empty until the server has taken any call
        return True

    def _is_noise(self, started: Started) -> bool:
        """Whether slowing down has not helped, and never will."""
        return self._noise.found(started.index, self._started, self._refusals, rate=self.rate, taken=self._taken)

    def _narrower(self, started: Started, retry_after: float) -> None:
        """Be slow to let the window grow again, which is cut below."""
        if self._uncut is None:
            refusals = self._refusals - 1
            self._uncut = Uncut(
                started, self.window, self._step, patience=self._patience, opening=self._opening, refusals=refusals
            )
        longer = by.PATIENCE if self._opening else min(by.LONGEST_PATIENCE, 2 * self._patience)
        self._patience = max(longer, 2 * retry_after)
        self._step = 1
        self._grow_at = by.NEVER
        self._cuts += 1

    def _refute(self, uncut: Uncut, started: Started) -> None:
        """A call got through with as many in flight as the one that was refused had: it was not the window."""
        if self._refusals - uncut.refusals > by.ISOLATED * (started.index - uncut.index + 1):
            return
        self._uncut = None
        self._noise.alarmed = False
        self.window = max(self.window, uncut.window)
        self._first = max(2, self._first // 4)
        self._step, self._patience, self._opening = min(uncut.step, self._first), uncut.patience, uncut.opening
        self._cuts = 0
        self._grow_at = by.NEVER

    def _slower(self, started: Started, now: float, retry_after: float) -> None:
        """Cut the pace to what was measured, and leave the window to it."""
        self._regain = 0.0
        self._uncut = None
        self._cut_refusals = self._refusals
        vain = self._vain_since is not None
        self._watch(now)
        if self.rate == math.inf:
            seen = self._taken.overall
            below = by.KEPT * seen if seen != math.inf else started.index / max(1e-3, now - self._period[2])
        else:
            taken = self._taken.gap
            early = taken < by.EARLY
            deepest = by.DEEP_CUT if early else by.CUT
            self._doubt = min(self._doubt + 0.5, 1 - taken / by.EARLY) if early else 0.0
            below = self.rate * min(1 - by.LEAST_CUT, max(1 - deepest, by.KEPT * self._taken.most / self.rate))
        self.rate = max(below, by.KEPT * self._taken.least)
        if self._noise.contradicted:
            self._taken.restart(3)
        self.rate = max(by.SLOWEST, self.rate)
        self._clean = by.HEAD * self._doubt
        self._next = now + max(1 / self.rate, retry_after if self._vain_since is not None else 0.0)
        self._patience = by.PATIENCE
        self._step = 1
        self._grow_at = by.NEVER
        self.window = 1 if vain and self._vain_since is not None else self._most

    def _watch(self, now: float) -> None:
        """Note since when nothing gets through, and the pace before that."""
        if self._row.length <= 1:
            self._before = self.rate
        if self._row.length < by.ROW:
            self._vain_since = None
        elif self._vain_since is None:
            self._vain_since = now

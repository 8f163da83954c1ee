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

*Pace.* Between two refusals, the bucket was empty twice, so what was taken in between, over the time, is the very limit. A refusal
therefore sets the pace just below that measurement, within bounds; there is one cut per episode (calls that started before the cut
only echo it). Growth follows CUBIC's idea (Ha, Rhee, Xu 2008): flat for long after a cut, then ever faster, so that a steady limit
is asked some ninety calls apart whether it still holds, and a limit that was raised fivefold is found in ten to twenty seconds.
Growth counts *answers*, of calls that had to wait for the pace: neither errors of the server nor idle times make it faster. A pace
that is in doubt (refused soon after its cut) starts further up that curve.

*Nothing gets through.* Then the pace halves down to a probe every two seconds, and a ``Retry-After`` holds all; the first answer
to a new call lifts this, and brings back half of the former pace, or a new opening where there was none. Where it took no more than
seconds, the server may count the calls of a second or a minute, and all came at its beginning. So the pace then goes up to what was
taken, from one such recovery to the next, over the time in between; but fourfold with each round of answers and not at once, as
after the burst of a token bucket that is too much.

Constants were set with simulated servers: 2, 10 and 40 calls a second, bursts of 0.5 to 5 s or counted by the second, 16 to 128
calls in flight.
"""

from __future__ import annotations

import math

__all__ = ["NEVER", "Limits", "Started"]

NEVER = math.inf
"""Seconds to wait where only an answer can help."""
TICK = 1e-7
"""Seconds that do not matter: sums of floating point times."""

FIRST = 8
"""Calls of the opening that go at once; fewer (a quarter of what is allowed, at least four) where few are allowed."""
OPENING = 0.15
"""Seconds between doublings of the opening."""
NEAR_OPENING, NEAR = 0.004, 32
"""The same for a server on the same machine, and the number of calls up to which it holds."""
MANY = 128
"""Calls beyond which the opening starts with an eighth of what is allowed, and doubles ever faster: who allows 256 knows a
server that takes many."""
PATIENCE = 0.4
"""Seconds without refusal before a cut window grows by 1, 2, 4, ...; doubled with each further cut."""
LONGEST_PATIENCE = 30.0
CUTS = 2
"""Cuts of a window that does not grow in between; after these it is not the window."""

KEPT = 0.98
"""Share of the measured rate that is used after a cut."""
LEAST_CUT, CUT, DEEP_CUT = 0.04, 0.2, 0.5
"""Bounds of one cut of the pace: at least, at most for a pace that had been well, at most for one in doubt."""
EARLY = 10
"""Calls taken since the last refusal below which a cut was not enough: the pace is in doubt."""
GROWTH, DOUBLING = 3e-5, 12
"""Growth of the pace with one answer, and the number of answers that double it."""
HEAD = 128
"""Answers that a pace in full doubt is ahead on the curve of growth."""
CALL_CAP, DOUBT_CAP, SECOND_CAP = 0.03, 0.07, 0.2
"""Bounds of growth: for one answer, what full doubt adds to that, and for one second."""
SLOWEST = 0.5
"""Calls a second at least: the probe of a server that refuses all."""
REGAIN = 4
"""Factor of the pace with each round of answers, until it is what the server took before it refused all for a while."""
OUTAGE = 5.0
"""Seconds without any call taken after which refusals say nothing about the rate."""
SLACK = 0.02
"""Seconds that a late timer may catch up."""


class Started:
    """One call that was let go: its number, its time, calls in flight with it, whether it had waited for the pace."""

    __slots__ = ("depth", "index", "paced", "refusals", "time")

    def __init__(self, index: int, time: float, depth: int, paced: bool, refusals: int) -> None:
        self.index = index
        self.time = time
        self.depth = depth
        self.paced = paced
        self.refusals = refusals


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
        self._mark = (-1, 0.0)  # number and time of the last refused call
        self._proven = 0  # most calls in flight of which one was answered
        self._vain_since: float | None = None
        self._period = (0, 0, 0.0)  # calls, refusals and time until the last recovery, or the first call
        self._before = math.inf
        self._open()

    def _open(self) -> None:
        """Begin without knowledge."""
        many = self._most > MANY
        self._first = self._most // 8 if many else FIRST
        self.window = min(self._most, self._first, max(4, self._most // 4))
        self._step = self.window
        self._patience = OPENING * (MANY / self._most) ** 3 if many else OPENING
        self._grow_at = NEVER
        self._opening, self._heard = True, False
        self._cuts = 0
        self._origin: tuple[int, float] | None = None  # calls taken, and time, at the first refusal
        self.rate = math.inf
        self._next = -math.inf
        self._regain = 0.0  # the pace to come back to
        self._regained = 0  # calls below this number started before the last step there
        self._clean = 0.0
        self._doubt = 1.0
        self._early = True

    def wait(self, now: float, in_flight: int) -> float:
        """Seconds until it is worth asking again, 0 if a call may start now, ``NEVER`` if only an answer can help."""
        if in_flight >= self.window:
            if self.window >= self._most:
                return NEVER
            hasty = self._near and self._opening and not self._heard and self.window < NEAR
            if self._grow_at == NEVER:
                self._grow_at = now + (NEAR_OPENING if hasty else self._patience)
            if self._grow_at - now > TICK:
                return self._grow_at - now
            self._grow_at = NEVER
            self._cuts = 0
            self.window = min(self._most, self.window + self._step)
            if not (self._opening and (self._heard or hasty)):
                self._step = min(FIRST, 2 * self._step) if not self._opening else 2 * self._step
        wait = self._next - now
        return wait if wait > TICK else 0.0

    def start(self, now: float, depth: int) -> Started:
        """A call goes; ``depth`` calls are in flight with it."""
        index = self._started
        self._started = index + 1
        if index == 0:
            self._mark = (-1, now)
            self._period = (0, 0, now)
        paced = False
        if self.rate != math.inf:
            interval = 1 / self.rate
            paced = now - self._next < interval
            self._next = max(self._next, now - SLACK) + interval
        return Started(index, now, depth, paced, self._refusals)

    def undo(self) -> None:
        """A call that was let go was never made."""
        if self.rate != math.inf:
            self._next -= 1 / self.rate

    def answered(self, started: Started, now: float) -> None:
        """The server took this call."""
        # Refusals that came in since were counted in its depth, although they had no place at the server.
        self._proven = max(self._proven, started.depth - (self._refusals - started.refusals))
        if self._opening:
            if not self._heard:
                self._heard = True
                self._step = self._first
                self._patience = min(self._patience, (now - started.time) / 16)
                self._grow_at = min(self._grow_at, now) if self._grow_at != NEVER else NEVER
        elif self.rate != math.inf and started.index >= self._episode:
            if self._vain_since is not None and self._back(started, now):
                return
            if self._regain > self.rate:
                if started.index >= self._regained:
                    self.rate = min(self._regain, REGAIN * self.rate)
                    self._regained = self._started
                return
            self._faster(started.paced)

    def _back(self, started: Started, now: float) -> bool:
        """The first call got through since all were refused; whether this begins anew."""
        assert self._vain_since is not None
        outage = started.time - self._vain_since > OUTAGE
        calls, refusals, since = self._period
        taken = started.index - calls - (started.refusals - refusals)
        self._regain = KEPT * taken / max(1e-3, started.time - since)
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
        self._clean += 1
        bound = min(CALL_CAP + DOUBT_CAP * self._doubt, SECOND_CAP / self.rate)
        self.rate *= 1 + min(bound, GROWTH * 2 ** (self._clean / DOUBLING))

    def refused(self, started: Started, now: float, in_flight: int, retry_after: float) -> None:
        """The server did not take this call; ``in_flight`` others are on their way, ``retry_after`` is 0 if it said nothing."""
        self._refusals += 1
        if started.index >= self._episode:
            self._episode = self._started
            self._cut_window = started.depth > max(1, self._proven) and self._cuts < CUTS
            if self._cut_window:
                longer = PATIENCE if self._opening else min(LONGEST_PATIENCE, 2 * self._patience)
                self._patience = max(longer, 2 * retry_after)
                self._step = 1
                self._grow_at = NEVER
                self._cuts += 1
            else:
                self._slower(started, now, retry_after)
        if self._cut_window:
            self.window = max(1, min(self.window, started.depth - 1, in_flight))
        self._opening = False
        if started.index > self._mark[0]:
            self._mark = (started.index, started.time)
        if self._origin is None:
            self._origin = (started.index - self._refusals, started.time)

    def _slower(self, started: Started, now: float, retry_after: float) -> None:
        """Cut the pace to what was measured, and leave the window to it."""
        self._regain = 0.0
        index, time = self._mark
        taken = started.index - index - 1
        vain = self._vain_since is not None
        self._watch(max(0, taken), now)
        if self.rate == math.inf:
            if self._origin:  # all since the first refusal: the window had kept these calls back, so they are few
                taken = started.index - self._refusals - self._origin[0]
                time = self._origin[1]
            self.rate = KEPT * max(1, taken) / max(1e-3, now - time)
        else:
            taken = max(0, taken)
            seen = KEPT * taken / max(1e-3, started.time - time)
            early = taken < EARLY
            deepest = DEEP_CUT if early and self._early else CUT
            self._doubt = min(self._doubt + 0.5, 1 - taken / EARLY) if early else 0.0
            self._early = early
            self.rate *= min(1 - LEAST_CUT, max(1 - deepest, seen / self.rate))
        self.rate = max(SLOWEST, self.rate)
        self._clean = HEAD * self._doubt
        self._next = now + max(1 / self.rate, 0.0 if taken > 0 else retry_after)
        self._patience = PATIENCE
        self._step = 1
        self._grow_at = NEVER
        self.window = 1 if vain and self._vain_since is not None else self._most

    def _watch(self, taken: int, now: float) -> None:
        """Note since when nothing gets through, and the pace before that."""
        if taken:
            self._vain_since = None
        elif self._vain_since is None:
            self._vain_since = now
            self._before = self.rate

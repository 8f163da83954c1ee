"""How many calls to one server may be in flight. No clock and no waiting: times are passed in.

The window grows slowly with every answer, and is cut by a tenth when a call is refused (429), at most once per round trip: additive
increase and multiplicative decrease, as TCP does it (Jacobson 1988, "Congestion avoidance and control"), with growth in proportion
to the window. At a server with a limit, about one call in thirty is refused then. Below its maximum the window is also a pace:
calls start one by one, spread over the usual time of an answer. A window below one is a call now and then.

A shared key or a gateway refuses some calls at any window, and cutting would bring the run to a halt. So where more calls are
refused than the cuts explain, two blocks of calls are compared: one at this window and one at half of it. A limit refuses far fewer
calls at half the window: the window then becomes what the server took. If the share of refusals is about the same, it does not
depend on us: the window is restored to what it was before the first cut, and refusals up to this share no longer change it.

A server that refuses nearly all calls is overloaded: the window becomes the number of calls that are still in flight, or half of
what it was, and a ``Retry-After`` pauses all calls. After an outage, the window comes back at once.

The constants were set with the simulated servers of ``bench/pace.py``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

NEVER = math.inf
"""Seconds to wait where only an answer can help."""
TICK = 1e-7
"""Seconds that do not matter: sums of floating point times."""
SLACK = 0.02
"""Seconds that a late timer may catch up."""

FIRST, OPENING, FEW = 16, 0.15, 1 / 3
"""Calls at the start, seconds after which their number doubles, and the share of refusals beyond which it does not."""
CUT = 0.9
GROWTH, CALM, FASTEST = 0.002, 50, 0.02
"""Growth of the window with one answer; doubled after this many answers without a cut, tripled after twice as many; at most."""
USUAL, FACTOR, ALARM = 0.035, 1.25, 3.0
"""Refusals are in excess beyond this share, and beyond so many times the share that does not depend on us; and how many more it
takes to compare two windows (a CUSUM chart: Page 1954, "Continuous inspection schemes")."""
LEAST_CALLS, LEAST_REFUSALS, MOST_CALLS = 16, 6, 100
"""Calls and refusals of a block that can be compared, and calls after which there was no reason to."""
LESS = 0.3
"""Where the share of refusals at half the window lies between what a limit would give (0) and no change (1)."""
OVERLOAD, OVERLOAD_REFUSALS, DEVIATIONS = 0.75, 5, 0.65
"""Share of calls refused beyond which a server is overloaded, how many it takes to say so, and what chance may add to them."""
RESTORED, REOPENING = 4, 0.1
"""How many times larger the window may become at once when it is restored, and its growth with one answer from there on."""
LEAST_IN_A_ROW = 20
"""Refusals in a row, or two and a half windows of them, after which they are no longer put down to anything but our load."""
MEMORY = 100
"""Calls over which the share of refusals that does not depend on us is followed."""
LONGEST_GAP = 2.0
"""Seconds between two calls to a server that refuses all."""
OUTAGE = 3.0
"""Seconds without an answer after which the window comes back at once."""


@dataclass(frozen=True, slots=True)
class Permit:
    """A call that was let go.

    Attributes:
        index: its number.
        time: when that was.
        full: whether the window was full with it, so that its answer says that more may be possible.
        window: how large it was.
    """

    index: int
    time: float
    full: bool
    window: float


class Window:
    """The number of calls that one server takes at once.

    Args:
        most: calls in flight that are allowed at all.

    Attributes:
        size: calls in flight that are allowed now.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self.size = float(min(most, FIRST))
        self._opening = True
        self._double_at = NEVER
        self._latency = 0.0  # usual seconds of an answer
        self._next = -math.inf  # when the next call may start
        self._started = 0
        self._cut_at = 0  # calls below this number started before the last cut
        self._calm = 0  # answers since then
        self._last_answer = (
            math.inf,
            self.size,
        )  # its time (or when the first call started), and the window of its call
        self._in_a_row = 0  # refusals since the last answer
        self._excess = 0.0  # refusals beyond those that are usual
        self._background = self._measured = (
            0.0  # share of refusals that does not depend on us: now, and as it was measured
        )
        self._block: int | None = 0  # number of the first call of the block that is counted
        self._answers = self._refusals = 0  # of the block
        self._full_block: tuple[float, float, int] | None = (
            None  # window, share of refusals and calls of the first block
        )
        self._restored = float(most)  # the window to come back to

    @property
    def rate(self) -> float:
        """Calls a second that the server is believed to take; infinite while the window is open."""
        return self.size / self._latency if self._latency and self.size < self._most else math.inf

    def wait(self, now: float, in_flight: int) -> float:
        """Seconds until it is worth asking again, 0 if a call may start now, ``NEVER`` if only an answer can help."""
        if in_flight >= math.ceil(self.size):
            if not self._opening or self.size >= self._most:
                return NEVER
            if self._double_at == NEVER:
                self._double_at = now + OPENING
            if self._double_at - now > TICK:
                return self._double_at - now
            self._double_at = NEVER
            if self._refusals > FEW * self._started:
                self._opening = False
                return NEVER
            self.size = min(2 * self.size, self._most)
        wait = self._next - now
        return wait if wait > TICK else 0.0

    def start(self, now: float, in_flight: int) -> Permit:
        """A call goes; ``in_flight`` calls are under way with it."""
        self._started += 1
        if self._started == 1:
            self._last_answer = now, self.size
        full = in_flight >= math.floor(self.size)
        if self.size < self._most and not self._opening:
            gap = self._gap()
            full = full or now - self._next < gap
            self._next = max(self._next, now - SLACK) + gap
        usual = USUAL + FACTOR * self._background
        self._excess = max(-usual * in_flight, self._excess - usual)
        return Permit(self._started - 1, now, full, self.size)

    def answered(self, permit: Permit, now: float) -> None:
        """The server took this call."""
        self._latency += (now - permit.time - self._latency) / (16 if self._latency else 1)
        time, window = self._last_answer
        if now - time > OUTAGE and permit.index >= self._cut_at:
            self.size = max(self.size, window)
            self._end_comparison()
        self._last_answer = now, permit.window
        if self._opening and self._refusals <= FEW * self._started:
            self.size = float(self._most)
        self._in_a_row = 0
        self._follow(0.0)
        if self._block is not None:
            if permit.index >= self._block:
                self._answers += 1
                self._count()
        elif permit.full:
            self._calm += 1
            back = self._background and self.size < self._restored
            growth = REOPENING if back else min(FASTEST, GROWTH * (1 + self._calm / CALM))
            self.size = min(self._most, self.size * (1 + growth))
            self._restored = max(self._restored, self.size)

    def refused(self, permit: Permit, now: float, in_flight: int, retry_after: float) -> None:
        """The server did not take this call; ``in_flight`` others are under way, ``retry_after`` is 0 if it said nothing."""
        self._excess += 1
        self._in_a_row += 1
        self._follow(1.0)
        if self._background and self._in_a_row >= max(LEAST_IN_A_ROW, 2.5 * self.size):
            self._background = 0.0
            self._shrink(in_flight)
            self._restored = self.size
            return
        if self._block is not None:
            if permit.index >= self._block:
                self._refusals += 1
                if not in_flight and not self._answers:
                    self._next = max(self._next, now + max(retry_after, self._gap()))
                if self._is_overloaded():
                    self._shrink(in_flight)
                else:
                    self._count()
        elif self._excess > ALARM:
            self._begin_block()
        elif not self._background and permit.index >= self._cut_at:
            self.size *= CUT
            self._calm = 0
            self._cut_at = self._started

    def _gap(self) -> float:
        """Seconds between two calls."""
        return min(LONGEST_GAP, (self._latency or 0.25) / self.size)

    def _follow(self, refused: float) -> None:
        """Follow the share of refusals that does not depend on us; it may end."""
        if self._background and self._block is None:
            share = self._background + (refused - self._background) / MEMORY
            self._background = min(self._measured + 0.05, share) if share >= USUAL / 2 else 0.0

    def _begin_block(self) -> None:
        self._block = self._cut_at = self._started
        self._answers = self._refusals = 0

    def _end_comparison(self) -> None:
        self._block = self._full_block = None
        self._excess = 0.0
        self._cut_at = self._started

    def _is_overloaded(self) -> bool:
        assert self._block is not None
        calls = self._started - self._block
        most = max(OVERLOAD, self._background + 0.25) * calls + DEVIATIONS * math.sqrt(calls)
        return self._refusals >= OVERLOAD_REFUSALS and self._refusals > most

    def _shrink(self, in_flight: int) -> None:
        """The server is overloaded: keep what is in flight."""
        self._opening = False
        self.size = min(self.size, in_flight) if in_flight > 1 else min(self.size, 2) / 2
        self._full_block = None
        self._begin_block()

    def _count(self) -> None:
        """See whether a block is complete: the first one, or the one at half its window."""
        assert self._block is not None
        calls = self._started - self._block
        least = max(LEAST_CALLS, 2.5 * self.size)
        if self._answers < max(3, self.size / 4):
            return
        share = self._refusals / calls
        if self._full_block is not None:
            if calls >= max(least, LEAST_REFUSALS / self._full_block[1]):
                self._compare(share, *self._full_block)
        elif calls >= MOST_CALLS and self._refusals < LEAST_REFUSALS:
            self._restored = self.size
            self._background = min(self._background, share)
            self._end_comparison()
        elif calls >= least and self._refusals >= LEAST_REFUSALS:
            self._full_block = self.size, share, calls
            self.size /= 2
            self._opening = False
            self._begin_block()

    def _compare(self, share: float, size: float, before: float, calls: int) -> None:
        """Decide by the share of refusals at half the window, and by ``before``, the share at the whole one, of so many calls."""
        if share > before + 0.05 + 2.5 * math.sqrt(before * (1 - before) / calls):
            self._full_block = None  # the server has just become stricter: begin anew, from here
            self._begin_block()
            return
        limited = max(0.0, 2 * before - 1)
        if share >= limited + LESS * (before - limited):
            self._background = self._measured = (before + share) / 2
            self.size = max(size, min(self._restored, RESTORED * size))
        else:
            self.size = max(self.size, size * (1 - before))
            self._background = min(self._background, share)
            self._calm = 2 * CALM
        self._end_comparison()

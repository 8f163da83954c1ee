"""How many calls to one server may be in flight (the window). There is no clock and no waiting here: times are arguments.

The window grows slowly with every answer. When a call is refused (429), it is cut by a tenth, at most once per round trip. This is
the congestion control of TCP (Jacobson 1988, "Congestion avoidance and control"), but the growth is proportional to the window. If
the server has a limit, about one call in thirty is then refused. Below its maximum, the window also sets a pace: the starts of
calls are spread evenly over the usual latency. A window below one means a single call at a time, with pauses.

With a shared key or a gateway, some calls are refused at any window, and repeated cuts would bring the run to a halt. So if more
calls are refused than usual, two blocks of calls are compared: one at the present window and one at half of it. If the server has
a limit, far fewer calls are refused at half the window: the window is then set to the number of calls that the server accepted. If
the share of refusals is about the same, it does not depend on our load (it is the *background*): the window is restored towards its
size before the first cut, and refusals up to this share no longer change it.

A server that refuses nearly all calls is overloaded. The window is then reduced to the number of calls still in flight, or to half
its size if there are none, and a ``Retry-After`` pauses all calls. After an outage the window is restored at once.

Another process at the same server can push the window far down. When that process is done, growth by answers would take a long
time. So the largest number of answers per second is remembered, and each refusal makes it a little smaller. While the window is too
small for half of this number and no call is refused, the window doubles with each round trip (as TCP's slow start). At a server
that limits calls per second, this number stays near the limit, so the window does not double there.

The constants were set with the simulated servers of ``bench/pace.py``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

NEVER = math.inf
"""The seconds to wait if only an answer can let the next call start."""
TICK = 1e-7
"""Seconds below which a difference is only the rounding error of sums of times."""
SLACK = 0.02
"""Seconds of delay of a late timer that may be caught up."""

FIRST, OPENING, FEW = 16, 0.15, 1 / 3
"""At the start of a run: the window, the seconds after which it doubles, and the share of refusals above which it does not."""
CUT = 0.9
"""The factor by which a refusal cuts the window."""
GROWTH, CALM, FASTEST = 0.002, 50, 0.02
"""The relative growth of the window with one answer, the number of answers without a cut after which it is doubled (tripled after
twice as many, and so on), and its maximum."""
SPAN, REACHED, CALLS_ACCEPTED, FORGET_CUT, FORGET_BLOCK = 4.0, 0.5, 5, 0.97, 0.95
"""The seconds over which the answers per second are averaged; the share of their maximum below which the window doubles with each
round trip; and the number of answers in a row that this needs. A cut and the begin of a block multiply the maximum by the last two
numbers."""
USUAL, FACTOR, ALARM = 0.035, 1.25, 3.0
"""Refusals are in excess above a share of ``USUAL + FACTOR * background``. When the excess is more than ``ALARM`` refusals, two
windows are compared (a CUSUM chart: Page 1954, "Continuous inspection schemes")."""
LEAST_CALLS, LEAST_REFUSALS, MOST_CALLS = 16, 6, 100
"""The least calls and refusals of a block for a comparison. A block with fewer refusals ends without one after ``MOST_CALLS``."""
LESS = 0.3
"""The threshold for the share of refusals at half the window, on a scale from 0 (as with a limit) to 1 (unchanged); from this
threshold on, the refusals count as background."""
OVERLOAD, OVERLOAD_REFUSALS, DEVIATIONS = 0.75, 5, 0.65
"""The share of refused calls above which a server is overloaded, the least number of refusals for that, and the allowance for
chance (times the square root of the calls)."""
RESTORED, REOPENING = 4, 0.1
"""The largest factor by which the window is restored at once, and its growth with each answer until it is fully restored."""
LEAST_IN_A_ROW = 20
"""The number of refusals in a row (or 2.5 times the window, if that is more) after which they no longer count as background."""
MEMORY = 100
"""The number of calls over which the background is averaged (exponentially)."""
LONGEST_GAP = 2.0
"""The longest pause in seconds between two calls."""
OUTAGE = 3.0
"""Seconds without an answer after which the next answer restores the window."""


@dataclass(frozen=True, slots=True)
class Permit:
    """The permission for one call.

    Attributes:
        index: the number of the call, from 0.
        time: the time at which the call started.
        full: whether the window was full with this call; only then is its answer a reason to enlarge the window.
        window: the size of the window when the call started.
    """

    index: int
    time: float
    full: bool
    window: float


class Window:
    """The number of calls to one server that may be in flight, learnt from answers and refusals.

    Args:
        most: the largest number of calls in flight that is ever allowed.

    Attributes:
        size: the number of calls in flight that is allowed now.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self.size = float(min(most, FIRST))
        self._opening = True
        self._double_at = NEVER
        self._latency = 0.0  # smoothed seconds per answer
        self._next = -math.inf  # when the next call may start
        self._started = 0
        self._cut_at = 0  # calls below this number started before the last cut
        self._calm = 0  # answers since the last cut
        # its time (at first, the start of the first call), and the window of its call
        self._last_answer = math.inf, self.size
        self._in_a_row = 0  # refusals since the last answer
        self._accepted = 0  # answers since the last refusal, of calls that started after the last cut
        self._flow = self._reached = 0.0  # answers per second: now, and their maximum, which fades with refusals
        self._excess = 0.0  # refusals above the usual share
        # share of refusals that does not depend on our load: now, and when it was measured
        self._background = self._measured = 0.0
        self._block: int | None = 0  # index of the first call of the current block
        self._answers = self._refusals = 0  # in the block
        # window, share of refusals and calls of the first block
        self._full_block: tuple[float, float, int] | None = None
        self._restored = float(most)  # the size up to which the window is restored

    @property
    def rate(self) -> float:
        """The estimated number of calls per second that the server accepts; infinite while the window has its maximum size."""
        return self.size / self._latency if self._latency and self.size < self._most else math.inf

    def wait(self, now: float, in_flight: int) -> float:
        """Return the seconds until a call may start: 0 if it may start now, ``NEVER`` if an answer must come first."""
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
        """Note that a call starts, and return its permit; ``in_flight`` includes this call."""
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
        """Learn that the server answered this call."""
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
        self._flow = self._flow * math.exp((time - now) / SPAN) + 1 / SPAN
        self._reached = max(self._reached, self._flow)
        if permit.index >= self._cut_at:
            self._accepted += 1
            if permit.full and self._is_starved():
                self.size = min(self._most, self.size + min(1.0, self.size))
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
        """Learn that the server refused this call.

        ``in_flight``: the number of other calls in flight; ``retry_after``: 0 if there is none.
        """
        self._excess += 1
        self._in_a_row += 1
        if permit.index >= self._cut_at:
            self._accepted = 0
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
            self._reached *= FORGET_CUT
            self._calm = 0
            self._cut_at = self._started

    def _gap(self) -> float:
        """Return the seconds between the starts of two calls."""
        return min(LONGEST_GAP, (self._latency or 0.25) / self.size)

    def _follow(self, refused: float) -> None:
        """Update the background by one call: 1 if it was refused, else 0. A background that has become very small ends."""
        if self._background and self._block is None:
            share = self._background + (refused - self._background) / MEMORY
            self._background = min(self._measured + 0.05, share) if share >= USUAL / 2 else 0.0

    def _is_starved(self) -> bool:
        """Whether the window is far below what the server accepted before, although no call is refused now."""
        comparing = self._opening or self._full_block is not None
        return not comparing and self._accepted > CALLS_ACCEPTED and self.size < REACHED * self._reached * self._latency

    def _begin_block(self) -> None:
        self._block = self._cut_at = self._started
        self._reached *= FORGET_BLOCK
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
        """Reduce the window of an overloaded server to the calls in flight; if there is one at most, to half its size."""
        self._opening = False
        self.size = min(self.size, in_flight) if in_flight > 1 else min(self.size, 2) / 2
        self._full_block = None
        self._begin_block()

    def _count(self) -> None:
        """End the current block (the first one, or the one at half its window) if it has enough calls, and take the next step."""
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
        """Decide between a limit of the server and a background of refusals.

        ``share``: the share of refusals at half the window; ``size``, ``before``, ``calls``: the window, the share of refusals and
        the number of calls of the first block.
        """
        if share > before + 0.05 + 2.5 * math.sqrt(before * (1 - before) / calls):
            self._full_block = None  # the server has just become stricter: start again from here
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

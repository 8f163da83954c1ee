"""When the next call to a model may be made. One ``Gate`` per run limits the calls in flight; each model has its own ``Pace``.

`_window` learns how many calls the server accepts. Here callers wait in a queue: retries go before new calls, otherwise first come,
first served. A waiting caller holds no slot of the gate, so a model that is held back never blocks another; models that wait for
a slot take turns.

Everything runs in one event loop, with at most one timer for each model. A waiting caller never takes a slot itself: whatever frees
the slot (an answer, a refusal, the timer) gives it to the first in the queue, so no caller can overtake. If the window is open and
slots are free, ``enter`` returns at once, without a task, a future or a timer.

A ``Retry-After`` delays only the refused call; other calls go on at the learnt pace as long as the server accepts them.
"""

from __future__ import annotations

import asyncio
import heapq
from collections import deque

from ._window import NEVER, TICK, Permit, Window


class Gate:
    """At most ``max_concurrency`` calls in flight, over all models of one run."""

    def __init__(self, max_concurrency: int) -> None:
        self.most = max_concurrency
        self.free = max_concurrency
        self._line: dict[Pace, None] = {}

    def wait(self, pace: Pace) -> None:
        """Put a model in the queue for the next free slot; it keeps its place if it is already in the queue."""
        self._line.setdefault(pace)

    def open(self) -> None:
        """Give one slot back; the models in the queue take turns."""
        self.free += 1
        while self.free and self._line:
            pace = next(iter(self._line))
            del self._line[pace]
            pace.go(1)


class Pace:
    """Start calls to one model no faster than its server accepts them.

    After each ``enter``, exactly one of ``answered``, ``refused`` and ``lost`` must be called with the permit that it returned.

    Args:
        gate: the gate of the run.

    Attributes:
        in_flight: the number of calls in flight.
    """

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._window = Window(gate.most)
        self.in_flight = 0
        self._again: deque[asyncio.Future[Permit]] = deque()
        self._new: deque[asyncio.Future[Permit]] = deque()
        self._held: list[
            tuple[float, int, asyncio.Future[Permit]]
        ] = []  # a heap, ordered by the time until which each caller is held back
        self._holds: list[float] = []  # the same times for refused calls that have not entered again yet
        self._woken = 0  # callers that have a permit, but have not resumed yet
        self._number = 0
        self._timer: asyncio.TimerHandle | None = None
        self._wake = NEVER  # when the timer is due: not every event loop's timers show it
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def next_at(self) -> float:
        """The time at which the next waiting caller may go; ``NEVER`` if no caller waits for a time."""
        return self._wake

    @property
    def rate(self) -> float:
        """The estimated number of calls per second that the server accepts; infinite as long as no limit was met."""
        return self._window.rate

    async def enter(self, again: bool = False) -> Permit:
        """Wait until one call may be made.

        Args:
            again: the call is a retry: it goes before new calls, but not before its ``Retry-After`` is over. A refused caller must
                call this right after ``refused``; the first caller gets the latest ``Retry-After``.
        """
        loop = self._loop
        if loop is None:
            loop = self._loop = asyncio.get_running_loop()
        now = loop.time()
        hold = self._holds.pop() if again and self._holds else now
        # If anyone is waiting, `go` serves the callers, in their order.
        alone = self._gate.free and hold <= now and not (self._new or self._again or self._held or self._woken)
        if alone and self._window.wait(now, self.in_flight) == 0:
            return self._start(now)
        place: asyncio.Future[Permit] = loop.create_future()
        if hold > now:
            self._number += 1
            heapq.heappush(self._held, (hold, self._number, place))
        else:
            (self._again if again else self._new).append(place)
        self.go()
        try:
            if place.done():  # without a pause, it would overtake callers that were woken just before
                await asyncio.sleep(0)
            started = await place
        except asyncio.CancelledError:
            self._withdraw(place)
            raise
        self._woken -= 1
        return started

    def answered(self, started: Permit) -> None:
        """Report that the call was answered."""
        self._window.answered(started, self._now())
        self._leave()

    def refused(self, started: Permit, retry_after: float | None) -> None:
        """Report that the server refused the call for now (429); ``retry_after``: seconds, None if the server named no time."""
        now = self._now()
        self._window.refused(started, now, self.in_flight - 1, retry_after or 0.0)
        if retry_after:
            self._holds = [hold for hold in self._holds if hold > now]  # drop the holds of callers that gave up
            self._holds.append(now + retry_after)
        self._leave()

    def lost(self, started: Permit) -> None:  # noqa: ARG002 - the same for the caller as the other two
        """Report that the call failed (5xx, reset, timeout, cancelled), which does not change the window."""
        self._leave()

    def leave_loop(self) -> None:
        """Forget the timer of the present event loop, which has ended."""
        self._loop = self._timer = None
        self._wake = NEVER

    def go(self, most: int | None = None) -> None:
        """Give permits to the waiting callers that may go, to ``most`` of them at most, and set the timer for the next caller."""
        now = self._now()
        wake = NEVER
        while line := self._line(now):
            if not self._gate.free or most == 0:
                self._gate.wait(self)
                break
            wait = self._window.wait(now, self.in_flight)
            if wait:
                wake = now + wait
                break
            line.popleft().set_result(self._start(now))
            self._woken += 1
            most = None if most is None else most - 1
        if self._held:
            wake = min(wake, self._held[0][0])
        self._wake_at(wake)

    def _line(self, now: float) -> deque[asyncio.Future[Permit]] | None:
        """Return the queue that holds the next caller: the retries, or else the new calls; None if both are empty."""
        while self._held and self._held[0][0] - now < TICK:
            self._again.append(heapq.heappop(self._held)[2])
        for line in (self._again, self._new):
            while line and line[0].done():  # cancelled just now; its task has not run yet
                line.popleft()
            if line:
                return line
        return None

    def _wake_at(self, time: float) -> None:
        if self._timer is not None:
            if abs(self._wake - time) < TICK:
                return
            self._timer.cancel()
            self._timer = None
        self._wake = time
        if time != NEVER:
            assert self._loop is not None
            self._timer = self._loop.call_at(time, self._tick)

    def _tick(self) -> None:
        self._timer = None
        self._wake = NEVER
        self.go()

    def _start(self, now: float) -> Permit:
        self._gate.free -= 1
        self.in_flight += 1
        return self._window.start(now, self.in_flight)

    def _leave(self) -> None:
        self.in_flight -= 1
        self._gate.open()
        if self._new or self._again or self._held:
            self.go()

    def _withdraw(self, place: asyncio.Future[Permit]) -> None:
        """Remove a cancelled caller from its queue; if it got a permit at the same moment, give the slot back."""
        if not place.cancelled():
            self._woken -= 1
            self._leave()
            return
        for line in (self._again, self._new):
            if place in line:
                line.remove(place)
        self._held = [entry for entry in self._held if entry[2] is not place]
        heapq.heapify(self._held)
        self.go()

    def _now(self) -> float:
        assert self._loop is not None
        return self._loop.time()

"""When the next call to a model may be made. One ``Gate`` for a run bounds the calls in flight; each model has its own ``Pace``.

What the server will take is learnt in `_window`; here callers wait in line: calls that were refused or lost before the new
ones, first come first served among equals. A caller that waits holds no slot of the gate, so a model that is held back never
blocks another; models that wait for the gate take turns.

Everything happens in the calls of one event loop and in at most one timer for each model. A permission is handed over by the
event that frees it (an answer, a refusal, a tick of the timer), never taken by a waiting caller, so no caller can overtake.
Where nothing was learnt and slots are free, ``enter`` returns at once: no task, no future, no timer.

A ``Retry-After`` holds back the refused call; the others go on at the learnt pace as long as the server takes calls.
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
        """Put a model in line for the next free slot; it stays where it is if it stands there."""
        self._line.setdefault(pace)

    def open(self) -> None:
        """Give one slot back; those in line take turns."""
        self.free += 1
        while self.free and self._line:
            pace = next(iter(self._line))
            del self._line[pace]
            pace.go(1)


class Pace:
    """Lets calls to one model go, no faster than its server takes them.

    Each ``enter`` is followed by exactly one of ``answered``, ``refused`` and ``lost`` with what it returned.

    Args:
        gate: the gate of the run.

    Attributes:
        in_flight: calls that are under way.
    """

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._window = Window(gate.most)
        self.in_flight = 0
        self._again: deque[asyncio.Future[Permit]] = deque()
        self._new: deque[asyncio.Future[Permit]] = deque()
        self._held: list[
            tuple[float, int, asyncio.Future[Permit]]
        ] = []  # a heap, by the time until which each is held back
        self._holds: list[float] = []  # such times of calls that were refused and have not come back yet
        self._woken = 0  # callers that may go and have not come out of their sleep yet
        self._number = 0
        self._timer: asyncio.TimerHandle | None = None
        self._wake = NEVER  # when that timer is due: not every loop's timers can tell
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def next_at(self) -> float:
        """When the next waiting caller may go; never if none waits for the server, or only an answer can help."""
        return self._wake

    @property
    def rate(self) -> float:
        """Calls a second that the server is believed to take; infinite while no such limit was met."""
        return self._window.rate

    async def enter(self, again: bool = False) -> Permit:
        """Wait until one call may be made.

        Args:
            again: the call was refused or lost before: it goes before new ones, but not before its ``Retry-After`` is over.
                Callers come back right after ``refused``; the first one takes the latest of those times.
        """
        loop = self._loop
        if loop is None:
            loop = self._loop = asyncio.get_running_loop()
        now = loop.time()
        hold = self._holds.pop() if again and self._holds else now
        # Callers that are held back, or wait for anything else, are served by `go`, which keeps the order.
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
            if place.done():  # no wait any more, and so it would overtake callers that were woken just before
                await asyncio.sleep(0)
            started = await place
        except asyncio.CancelledError:
            self._withdraw(place)
            raise
        self._woken -= 1
        return started

    def answered(self, started: Permit) -> None:
        """The call was answered."""
        self._window.answered(started, self._now())
        self._leave()

    def refused(self, started: Permit, retry_after: float | None) -> None:
        """The server refused the call for now (429); ``retry_after`` in seconds if it said so."""
        now = self._now()
        self._window.refused(started, now, self.in_flight - 1, retry_after or 0.0)
        if retry_after:
            self._holds = [hold for hold in self._holds if hold > now]  # of callers that gave up
            self._holds.append(now + retry_after)
        self._leave()

    def lost(self, started: Permit) -> None:  # noqa: ARG002 - the same for the caller as the other two
        """The call came to nothing (5xx, reset, timeout, cancelled): says nothing about how many calls the server takes."""
        self._leave()

    def go(self, most: int | None = None) -> None:
        """Let callers go that may, at most so many, and set the timer for the next one."""
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
        """The line whose first is next."""
        while self._held and self._held[0][0] - now < TICK:
            self._again.append(heapq.heappop(self._held)[2])
        for line in (self._again, self._new):
            while line and line[0].done():  # cancelled this very moment; its task has not run yet
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
        """Forget a caller that was cancelled, or give back what it was granted at the same moment."""
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

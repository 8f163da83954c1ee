"""A timeout for calls to one model, learnt from the latency of earlier answers.

Some calls are never answered, because a packet was lost or a worker died. With a fixed timeout that suits the slowest model, one
such call would delay the end of a run by minutes. So the timeout follows the latency of this server: many times the median, and a
few times the slowest recent answer, but at least a few seconds, so that a short pause of the server is no timeout. A call that
times out is retried with twice the time, so a call that really is slow is answered in the end. A call for more items than any
before it gets more time, because a model in this process takes longer for a larger batch.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable
from typing import Any, TypeVar

T = TypeVar("T")

FIRST = 600.0
"""The timeout in seconds before the first answer: local servers may take minutes to load a model."""

LEAST = 4.0
"""The shortest timeout in seconds that can be learnt."""

TIMES_MEDIAN = 20.0
TIMES_SLOWEST = 3.0

KNOWN = 10
"""The number of answers needed to trust the timeout. With half or a third as many, it is two or three times as long."""

WINDOW = 200
"""The number of latest answers that the timeout is computed from."""

GLANCE = 0.2
"""Seconds between two checks for calls that have timed out."""


class Deadline:
    """The timeout for one model, and the calls that wait for its answers.

    Args:
        fixed: a timeout in seconds, set by the user; None: the timeout is learnt.
    """

    def __init__(self, fixed: float | None = None) -> None:
        self._fixed = fixed
        self._seen: deque[float] = deque(maxlen=WINDOW)
        self._news = 0
        self._learnt = FIRST
        self._largest = 1
        self._watched: dict[asyncio.Task[Any], tuple[float, float]] = {}
        self._cut: set[asyncio.Task[Any]] = set()
        self._glance: asyncio.TimerHandle | None = None

    @property
    def seconds(self) -> float:
        """The current timeout."""
        return self._learnt if self._fixed is None else self._fixed

    def learn(self, seconds: float, size: int = 1) -> None:
        """Learn from an answer that took so many seconds, to a call for ``size`` items."""
        self._largest = max(self._largest, size)
        self._seen.append(seconds)
        self._news += 1
        count = len(self._seen)
        if self._news >= KNOWN or count <= KNOWN:
            self._news = 0
            ordered = sorted(self._seen)
            median, slowest = ordered[count // 2], ordered[-1]
            doubt = max(1.0, KNOWN / count)
            self._learnt = doubt * max(LEAST, TIMES_MEDIAN * median, TIMES_SLOWEST * slowest)

    async def keep(self, answer: Awaitable[T], started: float, attempt: int, size: int = 1) -> T | None:
        """Wait for the answer; return None if it did not come in time.

        A learnt timeout doubles with every earlier attempt. If this call is larger than the largest answered call so far, the
        timeout is also multiplied by the ratio of the two sizes. A timeout set by the user is meant for one item: it is multiplied
        by the number of items in the call, and does not grow with the attempts. No call waits longer than ``FIRST`` seconds, unless
        the timeout for one item is longer.

        The call runs in the caller's task, which is cancelled on timeout, as with ``asyncio.timeout``. Unlike there, the timeout
        may change while the call waits, and a single timer watches all calls.
        """
        task = asyncio.current_task()
        assert task is not None
        before = _cancellations(task)
        self._watched[task] = (started, size if self._fixed else max(1.0, size / self._largest) * 2**attempt)
        if self._glance is None:
            self._glance = asyncio.get_running_loop().call_later(GLANCE, self._look)
        try:
            return await answer
        except asyncio.CancelledError:
            # if the run was cancelled as well, pass that cancellation on
            if task not in self._cut or _cancellations(task) > before + 1:
                raise
            return None
        finally:
            self._watched.pop(task, None)
            if task in self._cut:
                self._cut.remove(task)
                getattr(task, "uncancel", int)()  # Python 3.10 does not count cancellations

    def cancel(self, task: asyncio.Task[Any]) -> None:
        """Cancel a task that may wait for an answer, so that this does not count as a timeout."""
        self._watched.pop(task, None)
        self._cut.discard(task)
        task.cancel()

    def leave_loop(self) -> None:
        """Forget the timer of the present event loop, which has ended."""
        self._glance = None

    def _look(self) -> None:
        self._glance = None
        if not self._watched:
            return
        loop = asyncio.get_running_loop()
        now = loop.time()
        for task, (started, times) in list(self._watched.items()):
            if now - started >= min(self.seconds * times, max(FIRST, self.seconds)):
                del self._watched[task]
                self._cut.add(task)
                task.cancel()
        self._glance = loop.call_later(GLANCE, self._look)


def _cancellations(task: asyncio.Task[Any]) -> int:
    """The number of pending cancellations of the task; always 0 on Python 3.10, which does not count them."""
    return int(getattr(task, "cancelling", int)())

"""How long an answer may take, learnt from the answers before it; and the watch over the calls that wait for one.

Some calls are never answered: a lost packet, a worker that died. With one fixed limit, generous enough for the slowest model, a
single such call holds up the end of a run for minutes. So the limit follows what this server has shown: many times its usual
latency, and more than the slowest answer of late, but never so short that a short pause of the server would count as silence. A
call that is cut off is made again with twice the time, so one that really is that slow is answered in the end. A call that asks
for more things at once than any before it gets more time, because a model in this process takes longer for a larger batch.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable
from typing import Any, TypeVar

T = TypeVar("T")

FIRST = 600.0
"""Seconds while nothing is known: local servers load a model for minutes before the first answer."""

LEAST = 4.0
"""Seconds that any call has."""

TIMES_MEDIAN = 20.0
TIMES_SLOWEST = 3.0

KNOWN = 10
"""Answers after which the limit is trusted; with a half or a third of them it is two or three times as long."""

WINDOW = 200
"""Answers that are remembered."""

GLANCE = 0.2
"""Seconds between two looks at the calls that wait."""


class Deadline:
    """The limit for one model, and the calls that wait for it.

    Args:
        fixed: seconds, instead of a limit that is learnt.
    """

    def __init__(self, fixed: float | None = None) -> None:
        self._fixed = fixed
        self._seen: deque[float] = deque(maxlen=WINDOW)
        self._news = 0
        self._learnt = FIRST
        self._largest = 1
        self._watched: dict[asyncio.Task[Any], tuple[float, float]] = {}
        self._cut: set[asyncio.Task[Any]] = set()
        self._closed = False
        self._glance: asyncio.TimerHandle | None = None

    @property
    def seconds(self) -> float:
        """The limit as of now."""
        return self._learnt if self._fixed is None else self._fixed

    def learn(self, seconds: float, size: int = 1) -> None:
        """Note how long the answer to a call for so many things took."""
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
        """The answer; None if it did not come in time.

        A learnt limit doubles with every attempt before this one. A call for several things at once gets more time: in proportion
        to the largest call so far or, with a limit set by the user, which is meant for one thing, that limit for each of them.

        The call runs in the task of the caller, which is cancelled when its time is over, as ``asyncio.timeout`` does it. But
        here the limit may change while the call waits, and one timer watches over all calls.
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
            # where the run was cancelled too, that is what counts
            if task not in self._cut or self._closed or _cancellations(task) > before + 1:
                raise
            return None
        finally:
            self._watched.pop(task, None)
            if task in self._cut:
                self._cut.remove(task)
                getattr(task, "uncancel", int)()  # Python 3.10 does not count cancellations

    def close(self) -> None:
        """From now on every cancellation is one of the run."""
        self._closed = True
        self._watched.clear()

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
    """How many cancellations of the task are pending; Python 3.10 does not count them."""
    return int(getattr(task, "cancelling", int)())

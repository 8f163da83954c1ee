"""Work that nobody waits for: a bounded queue, and a few threads that come when there is work and leave when there is none.

Strategy. Putting a job in never blocks: where the queue is full, the job is dropped and counted. The threads are daemons, so a
job that hangs holds up neither the caller nor the end of the program; each job runs in an empty context, so nothing of the
caller's (callbacks, traces) reaches it. What a job raises is kept in a ``Future``, never lost and never raised into a thread.
"""

from __future__ import annotations

import contextvars
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

__all__ = ["Background", "settled"]

T = TypeVar("T")

IDLE = 5.0
"""Seconds after which a thread without work leaves."""


def settled(work: Callable[[], T]) -> Future[T]:
    """What the work has come to: its result, or its error, kept for whoever asks."""
    future: Future[T] = Future()
    try:
        result = work()
    except BaseException as error:  # noqa: BLE001  kept in the future, which the caller looks at
        future.set_exception(error)
    else:
        future.set_result(result)
    return future


class Background:
    """A queue with its threads.

    Args:
        most_waiting: jobs that may wait; those at work do not count.
        threads: jobs that may be at work at the same time.
        ended: called, on the thread of the job, with what each job has come to.

    Attributes:
        dropped: jobs that found the queue full.
        finished: jobs that are done.
    """

    def __init__(self, most_waiting: int, threads: int, ended: Callable[[Future[None]], None]) -> None:
        self.dropped = 0
        self.finished = 0
        self._most = most_waiting
        self._allowed = threads
        self._ended = ended
        self._jobs: deque[Callable[[], None]] = deque()
        self._unfinished = 0
        self._threads = 0
        self._idle = 0
        self._changed = threading.Condition()

    def put(self, job: Callable[[], None]) -> bool:
        """Take a job in; False if there is no room for it."""
        with self._changed:
            if len(self._jobs) >= self._most:
                self.dropped += 1
                return False
            self._jobs.append(job)
            self._unfinished += 1
            hire = len(self._jobs) > self._idle and self._threads < self._allowed
            self._threads += hire
            if not hire:
                self._changed.notify_all()
        if hire:
            self._hire()
        return True

    def _hire(self) -> None:
        try:
            threading.Thread(target=self._work, name="ragmetrics-judge", daemon=True).start()
        except RuntimeError:  # the system has no thread left, or the interpreter ends
            with self._changed:
                self._threads -= 1
            raise

    @property
    def unfinished(self) -> int:
        """Jobs that wait or are at work."""
        with self._changed:
            return self._unfinished

    def wait(self, timeout: float | None) -> bool:
        """Wait until all jobs are done; False if the time ran out before."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._unfinished, timeout)

    def _work(self) -> None:
        while (job := self._next()) is not None:
            self._ended(settled(lambda job=job: contextvars.Context().run(job)))  # type: ignore[misc]
            with self._changed:
                self._unfinished -= 1
                self.finished += 1
                self._changed.notify_all()

    def _next(self) -> Callable[[], None] | None:
        """The next job; None when this thread may leave."""
        until = time.monotonic() + IDLE
        with self._changed:
            self._idle += 1
            try:
                while not self._jobs:
                    if not self._changed.wait(max(until - time.monotonic(), 0.0)) and not self._jobs:
                        self._threads -= 1
                        return None
                return self._jobs.popleft()
            finally:
                self._idle -= 1

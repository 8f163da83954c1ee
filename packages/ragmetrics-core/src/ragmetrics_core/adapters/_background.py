"""Work that is handed over and done elsewhere: a bounded line of jobs, and a few threads that come and leave with the work.

Strategy. Whoever hands a job over must never wait and never meet its errors: a full line refuses the job and counts it, and what a
job raises ends up in a ``Future``. The threads are daemons, so a judge that hangs holds up neither the caller nor the end of the
program. The lock at the door is never taken by a thread that has work, so none can hold it while it waits for its turn to run.
Each job runs in an empty context, so nothing of the caller's (callbacks, tags, spans) reaches it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextvars import Context
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

__all__ = ["Background", "settled"]

T = TypeVar("T")

IDLE = 5.0
"""Seconds after which a thread without work leaves."""

PAUSE = 0.005
"""Seconds between two jobs of a thread. Jobs that end at once, as those of a judge that fails, would otherwise keep the
interpreter from everybody else; next to a call to a model it is nothing."""


def settled(work: Callable[[], T], then: Callable[[Future[T]], object] | None = None) -> Future[T]:
    """What a function has come to: its result, or its error, kept for whoever asks.

    Args:
        work: is called at once, on this thread.
        then: called with the outcome.
    """
    from concurrent.futures import Future  # noqa: PLC0415  costs more to import than all of this package

    future: Future[T] = Future()
    if then is not None:
        future.add_done_callback(then)
    try:
        result = work()
    except BaseException as error:  # noqa: BLE001  kept in the future, which the caller looks at
        future.set_exception(error)
    else:
        future.set_result(result)
    return future


class Background(Generic[T]):
    """Threads that do jobs.

    Args:
        ended: called with the outcome of each job, on the thread that did it. What it raises is logged by
            ``concurrent.futures``.
        workers: most jobs that are done at the same time.
        capacity: most jobs that wait or are being done.
    """

    def __init__(self, ended: Callable[[Future[T]], object], *, workers: int, capacity: int) -> None:
        self._ended = ended
        self._workers = workers
        self._capacity = capacity
        self._jobs: SimpleQueue[Callable[[], T] | None] = SimpleQueue()
        self._door = threading.Lock()
        self._change = threading.Condition()
        self._threads = 0
        self._submitted = 0
        self._finished = 0
        self._dropped = 0
        self._closed = False

    @property
    def pending(self) -> int:
        """Jobs that wait or are being done."""
        return self._submitted - self._finished

    @property
    def finished(self) -> int:
        """Jobs that are done, well or badly."""
        return self._finished

    @property
    def dropped(self) -> int:
        """Jobs that found no place."""
        return self._dropped

    def submit(self, job: Callable[[], T]) -> bool:
        """Hand a job over without waiting; False if there is no place for it, or the line is closed.

        Raises:
            RuntimeError: the system has no thread left, or the interpreter ends; the job is not taken.
        """
        with self._door:
            if self._closed or self.pending >= self._capacity:
                self._dropped += 1
                return False
            if self._threads <= self.pending and self._threads < self._workers:
                threading.Thread(target=self._work, name="ragmetrics-judge", daemon=True).start()
                self._threads += 1
            self._submitted += 1
            self._jobs.put(job)
        return True

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until no job is left; False if the timeout (in seconds) came first."""
        with self._change:
            return self._change.wait_for(lambda: not self.pending, timeout)

    def close(self) -> None:
        """Take no more jobs; those that were handed over are still done, and then the threads leave."""
        with self._door:
            self._closed = True
            for _ in range(self._threads):
                self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._next()) is not None:
            settled(lambda job=job: Context().run(job), self._ended)  # type: ignore[misc]
            del job  # a finished job keeps nothing alive while the next one is waited for
            with self._change:
                self._finished += 1
                self._change.notify_all()
            time.sleep(PAUSE)

    def _next(self) -> Callable[[], T] | None:
        """The next job; None when this thread may leave."""
        while True:
            try:
                job = self._jobs.get(timeout=IDLE)
            except Empty:
                job = None
            if job is not None:
                return job
            with self._door:  # where jobs come in, so that none comes in unseen
                if self._jobs.empty() or self._closed:
                    self._threads -= 1
                    return None

"""Work that is handed over and done elsewhere: a bounded line of jobs, and daemon threads that take them.

Strategy. Whoever hands a job over must never wait and never meet its errors: a full line refuses the job, and an exception ends
up in the future of its job. The lock at the door is never taken by the threads that work, so none of them can hold it while it
waits for its turn to run. The threads are daemons, so a judge that hangs does not keep the interpreter from ending; they start
with the first job.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import Context
from queue import SimpleQueue
from typing import Any, Generic, NamedTuple, TypeVar

__all__ = ["Background", "Counts"]

T = TypeVar("T")

PAUSE = 0.005
"""Seconds between two jobs of a thread. Jobs that end at once, as those of a judge that fails, would otherwise keep the
interpreter from everybody else; next to a call to a model it is nothing."""


class Counts:
    """How often things happened."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()

    def add(self, what: str) -> None:
        """It happened once more."""
        with self._lock:
            self._counts[what] += 1

    def now(self) -> dict[str, int]:
        """The counts up to now."""
        with self._lock:
            return dict(self._counts)


class Job(NamedTuple):
    """A function to call, and the future that holds what it returns or raises."""

    work: Callable[[], Any]
    future: Future[Any]


class Background(Generic[T]):
    """Threads that do jobs.

    Args:
        workers: number of threads.
        capacity: most jobs that are waiting or being done at any time.
    """

    def __init__(self, workers: int, capacity: int) -> None:
        self._workers = workers
        self._capacity = capacity
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._door = threading.Lock()
        self._change = threading.Condition()
        self._submitted = 0
        self._done = 0
        self._started = False
        self._closed = False

    @property
    def pending(self) -> int:
        """Jobs that are waiting or being done."""
        return self._submitted - self._done

    def submit(self, work: Callable[[], T], done: Callable[[Future[T]], None]) -> bool:
        """Hand a job over without waiting; False if there is no place for it.

        Args:
            work: the job.
            done: called with its future when it has ended, in the thread that did it.
        """
        with self._door:
            if self._closed or self.pending >= self._capacity:
                return False
            self._submitted += 1
            if not self._started:
                self._start()
        future: Future[T] = Future()
        future.add_done_callback(done)
        self._jobs.put(Job(work, future))
        return True

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until no job is left; False if the timeout (in seconds) came first."""
        limit = None if timeout is None else time.monotonic() + timeout
        with self._change:
            while self.pending:
                left = None if limit is None else limit - time.monotonic()
                if left is not None and left <= 0:
                    return False
                self._change.wait(left)
        return True

    def close(self) -> None:
        """Take no more jobs; those that were handed over are still done."""
        with self._door:
            started, self._started, self._closed = self._started, False, True
        for _ in range(self._workers if started else 0):
            self._jobs.put(None)

    def _start(self) -> None:
        self._started = True
        for number in range(self._workers):
            # a context of its own: neither the tags nor the span of the query that happened to come first
            run = Context().run
            threading.Thread(target=run, args=(self._work,), name=f"ragmetrics-{number}", daemon=True).start()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                result = job.work()
            except BaseException as error:  # noqa: BLE001  whoever looks at the future sees it
                job.future.set_exception(error)
            else:
                job.future.set_result(result)
            del job  # a finished job keeps nothing alive while the next one is waited for
            with self._change:
                self._done += 1
                self._change.notify_all()
            time.sleep(PAUSE)

"""Jobs in the background: a bounded queue, and a few threads that start when there is work and stop when there is none.

Submitting a job never waits, and never raises what the job raises: a full queue refuses the job and counts it, and the outcome of
a job is a ``Future``. The threads are daemons, so a judge that hangs delays neither the caller nor the exit of the program. If a
job exceeds its time limit, its outcome is an error, and another thread replaces the thread that hangs. If no thread can be
started, jobs in the queue end at their time limit too. One lock guards the queue; no job and no function of a caller runs while
it is held. Each job runs in an empty context, so the caller's callbacks, tags and spans do not reach it.
"""

from __future__ import annotations

import math
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from contextvars import Context
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Generic, TypeVar

from .._values._errors import ModelError

if TYPE_CHECKING:
    from concurrent.futures import Future

T = TypeVar("T")

IDLE = 5.0
"""Seconds after which an idle thread stops."""

PAUSE = 0.005
"""Seconds between two jobs of a thread. Without them, jobs that end at once (a judge that fails) would keep the interpreter from
all other threads. Compared with a call to a model they do not matter.
"""

MOST_HANGING = 64
"""The largest number of hanging threads that are replaced, so that a judge that never answers does not fill the memory with
threads.
"""

TOO_SLOW = "no answer within {:g} seconds: give it more time with timeout=..."
NOT_BEGUN = "not begun within {:g} seconds: earlier calls have no answer yet, and too many wait to begin more"


def settled(work: Callable[[], T], then: Callable[[Future[T]], object] | None = None) -> Future[T]:
    """Call a function and return its outcome, the result or the error, as a future.

    Args:
        work: called at once, in this thread.
        then: called with the outcome.
    """
    from concurrent.futures import Future  # noqa: PLC0415  costs more to import than all of this package

    future: Future[T] = Future()
    if then is not None:
        future.add_done_callback(then)
    try:
        result = work()
    except BaseException as error:  # noqa: BLE001  kept in the future, which the caller reads
        future.set_exception(error)
    else:
        future.set_result(result)
    return future


def failed_outcome(error: Exception) -> Future[T]:
    """Return the outcome of a function that raised this error."""
    from concurrent.futures import Future  # noqa: PLC0415  costs more to import than all of this package

    future: Future[T] = Future()
    future.set_exception(error)
    return future


@dataclass(eq=False)
class Job(Generic[T]):
    """A job: its function, the listener for its outcome, its time limit, and whether its thread was replaced."""

    work: Callable[[], T]
    then: Callable[[Future[T]], object]
    end: float
    is_replaced: bool = False


class Background(Generic[T]):
    """Threads that do jobs from a queue.

    Args:
        ended: called with the outcome of each job, in the thread that did it, or in another thread if the job took too long. It
            should be quick. Exceptions that it raises are logged by ``concurrent.futures``.
        workers: the number of jobs that run at the same time.
        capacity: the largest number of jobs that wait or run.
        timeout: seconds that a job may take. After that its outcome is a ``ModelError``, whatever it returns later, and the next
            job starts. None: no limit.

    Attributes:
        finished: the number of jobs that ended, in success, error or timeout.
        timed_out: the number of jobs that took too long.
        dropped: the number of jobs that were refused because the queue was full.
    """

    def __init__(
        self, ended: Callable[[Future[T]], object], *, workers: int, capacity: int, timeout: float | None = None
    ) -> None:
        self.finished = self.timed_out = self.dropped = 0
        self._ended = ended
        self._workers = workers
        self._capacity = capacity
        self._timeout = math.inf if timeout is None else timeout
        self._submitted = 0
        # reentrant: garbage collection may end a stream in this thread, and that submits a job
        self._change = threading.Condition(threading.RLock())
        self._waiting: deque[Job[T]] = deque()
        self._running: dict[Job[T], None] = {}
        self._threads = 0  # not counting threads that were replaced
        self._hanging = 0  # threads that hang and were replaced
        self._stuck = 0  # threads that hang and could not be replaced
        self._is_watched = self._is_closed = False

    @property
    def pending(self) -> int:
        """The number of jobs that wait or run."""
        return self._submitted - self.finished

    def submit(self, job: Callable[[], T], then: Callable[[Future[T]], object] | None = None) -> bool:
        """Submit a job without waiting; return False if the queue is full or closed.

        Args:
            job: the function to call.
            then: called with its outcome instead of ``ended``.

        Raises:
            RuntimeError: the system can start no thread, or the interpreter is ending; the job is not accepted.
        """
        return self.submit_all([(job, then or self._ended)])

    def submit_all(self, jobs: Sequence[tuple[Callable[[], T], Callable[[Future[T]], object]]]) -> bool:
        """Submit several jobs, each with a listener for its outcome: either all of them, or none if there is no room for all."""
        with self._change:
            if self._is_closed or self.pending + len(jobs) > self._capacity:
                self.dropped += len(jobs)
                return False
            self._start_threads(len(jobs))
            self._submitted += len(jobs)
            self._waiting += [Job(job, then, time.monotonic() + self._timeout) for job, then in jobs]
            self._change.notify_all()
        return True

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until no job is left; return False if that took more than ``timeout`` seconds."""
        with self._change:
            return self._change.wait_for(lambda: not self.pending, timeout)

    def close(self) -> None:
        """Accept no more jobs. Submitted jobs are still done; then the threads stop."""
        with self._change:
            self._is_closed = True
            self._change.notify_all()

    def _start_threads(self, more: int) -> None:
        """Start threads for this many more jobs, up to ``workers``, and one thread that watches the time."""
        while self._threads < min(self._workers, self.pending + more):
            if not _can_start(self._work):
                if not self._threads:
                    raise RuntimeError("can't start new thread")
                break  # the existing threads do the work
            self._threads += 1
        if self._timeout < math.inf and not self._is_watched:
            _start(self._watch, "ragmetrics-watch")
            self._is_watched = True

    def _work(self) -> None:
        while (job := self._next()) is not None:
            outcome = settled(partial(Context().run, job.work))
            with self._change:
                is_late = job not in self._running
                self._running.pop(job, None)
                self._hanging -= job.is_replaced
                self._stuck -= is_late and not job.is_replaced
            if not is_late:
                self._finish(job, outcome)
            if job.is_replaced:
                return
            del job, outcome  # a finished job must not stay in memory while this thread waits for the next one
            time.sleep(PAUSE)

    def _next(self) -> Job[T] | None:
        """Return the next job; None if this thread may stop."""
        with self._change:
            self._change.wait_for(lambda: self._waiting or self._is_closed, IDLE)
            if not self._waiting:
                self._threads -= 1
                return None
            job = self._waiting.popleft()
            job.end = time.monotonic() + self._timeout
            self._running[job] = None
            return job

    def _finish(self, job: Job[T], outcome: Future[T]) -> None:
        outcome.add_done_callback(job.then)
        with self._change:
            self.finished += 1
            self._change.notify_all()

    def _watch(self) -> None:
        """End the jobs that exceed their time limit, as long as there is work."""
        next_end = time.monotonic() + self._timeout
        while True:
            time.sleep(max(0.0, min(next_end - time.monotonic(), IDLE)))
            overdue, next_end = self._overdue()
            for job, why in overdue:
                self._finish(job, failed_outcome(ModelError(why.format(self._timeout), transient=True)))
            with self._change:
                if not self.pending:
                    self._is_watched = False
                    return

    def _overdue(self) -> tuple[list[tuple[Job[T], str]], float]:
        """Return the jobs that exceed their time limit, each with a message, and the time at which the next job will exceed its
        limit.
        """
        now = time.monotonic()
        with self._change:
            late = [job for job in self._running if job.end <= now]
            for job in late:
                # its thread hangs, and is replaced by another one, unless too many hang already
                del self._running[job]
                job.is_replaced = self._hanging < MOST_HANGING and _can_start(self._work)
                self._hanging += job.is_replaced
                self._stuck += not job.is_replaced
            running = [*self._running]
            lost: list[Job[T]] = []
            if self._stuck >= self._threads:  # no thread could start another job
                lost = [job for job in list(self._waiting) if job.end <= now]
                for job in lost:
                    self._waiting.remove(job)
                running += self._waiting
            self.timed_out += len(late) + len(lost)
        overdue = [*((job, TOO_SLOW) for job in late), *((job, NOT_BEGUN) for job in lost)]
        return overdue, min((job.end for job in running), default=now + self._timeout)


def _start(work: Callable[[], None], name: str = "ragmetrics-judge") -> None:
    threading.Thread(target=work, name=name, daemon=True).start()


def _can_start(work: Callable[[], None]) -> bool:
    """Start another thread for this function; return False if the system cannot."""
    try:
        _start(work)
    except RuntimeError:
        return False
    return True


class Counts:
    """Counters that many threads may use."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._lock = threading.RLock()  # garbage collection may end a stream in this thread, and that counts too

    def __getitem__(self, what: str) -> int:
        """Return the value of a counter."""
        return self._counts[what]

    def add(self, what: str, number: int = 1) -> int:
        """Add ``number`` to a counter and return its new value."""
        with self._lock:
            self._counts[what] += number
            return self._counts[what]

    def now(self) -> dict[str, int]:
        """Return a copy of all counters."""
        with self._lock:
            return {what: count for what, count in self._counts.items() if count}

"""Work that is handed over and done elsewhere: a bounded line of jobs, and a few threads that come and leave with the work.

Strategy. Whoever hands a job over must never wait and never meet its errors: a full line refuses the job and counts it, and what a
job raises ends up in a ``Future``. The threads are daemons, so a judge that hangs holds up neither the caller nor the end of the
program. A job that takes longer than it may is over for everybody else: its outcome is an error that says so, and another thread
takes the place of the one that hangs. Where no thread is left to take another place, jobs that wait end at their time limit too.
The lock at the door is never taken by a thread that has work, so none can hold it while it waits for its turn to run.
Each job runs in an empty context, so nothing of the caller's (callbacks, tags, spans) reaches it.

The end of the program, for work that should be finished by then.

Counters that many threads use.
"""

from __future__ import annotations

import atexit
import math
import threading
import time
import weakref
from collections import Counter
from collections.abc import Callable, Sequence
from contextvars import Context
from functools import partial
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .._kernel._errors import ModelError

if TYPE_CHECKING:
    from concurrent.futures import Future


T = TypeVar("T")

IDLE = 5.0
"""Seconds after which a thread without work leaves."""

PAUSE = 0.005
"""Seconds between two jobs of a thread. Jobs that end at once, as those of a judge that fails, would otherwise keep the
interpreter from everybody else; next to a call to a model it is nothing."""

MOST_HANGING = 64
"""Threads that may hang while others take their places: a judge that never answers must not fill the memory with threads."""


def settled(work: Callable[[], T], then: Callable[[Future[T]], object] | None = None) -> Future[T]:
    """The outcome of a function: its result or its error, kept until somebody asks.

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


class Job(Generic[T]):
    """A job in the line: what is to be done, who is told of the outcome, since when it waits, and whether it is over."""

    __slots__ = ("is_replaced", "is_settled", "since", "then", "work")

    def __init__(self, work: Callable[[], T], then: Callable[[Future[T]], object]) -> None:
        self.work = work
        self.then = then
        self.since = time.monotonic()
        self.is_settled = False
        self.is_replaced = False


class Background(Generic[T]):
    """Threads that do jobs.

    Args:
        ended: called with the outcome of each job, on the thread that did it, or on another one where the job took too long. It
            should be quick. What it raises is logged by ``concurrent.futures``.
        workers: most jobs that are done at the same time.
        capacity: most jobs that wait or are being done.
        timeout: seconds that a job may take; then its outcome is a ``ModelError``, whatever it comes to later, and its place is
            given to the next one. None: as long as it likes.
    """

    def __init__(
        self, ended: Callable[[Future[T]], object], *, workers: int, capacity: int, timeout: float | None = None
    ) -> None:
        self._told = ended
        self._workers = workers
        self._capacity = capacity
        self._timeout = timeout
        self._jobs: SimpleQueue[Job[T] | None] = SimpleQueue()
        self._door = threading.RLock()  # a stream that is collected meanwhile hands over too, on the same thread
        self._change = threading.Condition()
        self._running: dict[Job[T], float] = {}
        self._threads = 0
        self._hanging = 0
        self._stuck = 0  # threads that hang and still have their place
        self._is_watched = False
        self._submitted = 0
        self._finished = 0
        self._timed_out = 0
        self._dropped = 0
        self._closed = False

    @property
    def pending(self) -> int:
        """Jobs that wait or are being done."""
        return self._submitted - self._finished

    @property
    def finished(self) -> int:
        """Jobs that are over, well or badly; those that took too long included."""
        return self._finished

    @property
    def timed_out(self) -> int:
        """Jobs that took too long."""
        return self._timed_out

    @property
    def dropped(self) -> int:
        """Jobs that found no place."""
        return self._dropped

    def submit(self, job: Callable[[], T], then: Callable[[Future[T]], object] | None = None) -> bool:
        """Hand a job over without waiting; False if there is no place for it, or the line is closed.

        Args:
            job: what is to be done.
            then: called with its outcome instead of ``ended``.

        Raises:
            RuntimeError: the system has no thread left, or the interpreter ends; the job is not taken.
        """
        return self.submit_all([(job, then or self._told)])

    def submit_all(self, jobs: Sequence[tuple[Callable[[], T], Callable[[Future[T]], object]]]) -> bool:
        """Hand several jobs over, each with who is told of its outcome: all of them, or none where there is no place for all."""
        with self._door:
            if self._closed or self.pending + len(jobs) > self._capacity:
                self._dropped += len(jobs)
                return False
            self._call_in(len(jobs))
            self._submitted += len(jobs)
            for job, then in jobs:
                self._jobs.put(Job(job, then))
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

    def _call_in(self, more: int) -> None:
        """Threads for so many jobs more, as far as there is a place, and one that watches over them."""
        while self._threads < min(self._workers, self.pending + more):
            try:
                _start(self._work, "ragmetrics-judge")
            except RuntimeError:
                if not self._threads:
                    raise
                break  # those that are there do it
            self._threads += 1
        if self._timeout is not None and not self._is_watched:
            _start(self._watch, "ragmetrics-watch")
            self._is_watched = True

    def _work(self) -> None:
        while (job := self._next()) is not None:
            if not self._do(job):
                return
            del job  # a finished job keeps nothing alive while the next one is waited for
            time.sleep(PAUSE)

    def _next(self) -> Job[T] | None:
        """The next job; None when this thread may leave."""
        while True:
            try:
                job = self._jobs.get(timeout=IDLE)
            except Empty:
                job = None
            if job is not None:
                return job
            with self._door:  # where jobs come in, so that none comes in unseen
                self._threads -= 1  # first, so that a job that comes in on this very thread calls another one in
                if self._jobs.empty() or self._closed:
                    return None
                self._threads += 1

    def _do(self, job: Job[T]) -> bool:
        """Do a job; False if another thread has meanwhile taken the place of this one."""
        if self._timeout is not None:
            with self._change:
                self._running[job] = time.monotonic() + self._timeout
        outcome = settled(lambda: Context().run(job.work))
        with self._change:
            is_late = job.is_settled
            job.is_settled = True
            self._running.pop(job, None)
            self._hanging -= job.is_replaced
            self._stuck -= is_late and not job.is_replaced
        if not is_late:
            self._tell(job, outcome)
        return not job.is_replaced

    def _tell(self, job: Job[T], outcome: Future[T]) -> None:
        outcome.add_done_callback(job.then)
        with self._change:
            self._finished += 1
            self._change.notify_all()

    def _watch(self) -> None:
        """Wait for the next job whose time is over, as long as there is work."""
        assert self._timeout is not None
        next_end = math.inf
        while True:
            with self._change:
                oldest = next(iter(self._running.values()), time.monotonic() + self._timeout)
            time.sleep(max(0.0, min(oldest - time.monotonic(), next_end - time.monotonic(), IDLE)))
            for job in self._overdue():
                self._tell(job, settled(lambda: _too_slow(self._timeout)))
            given_up, next_end = self._without_thread()
            for job in given_up:
                self._tell(job, settled(lambda: _not_begun(self._timeout)))
            with self._door:
                if not self.pending:
                    self._is_watched = False
                    return

    def _overdue(self) -> list[Job[T]]:
        """The jobs whose time is over, each with a thread that has taken its place."""
        now = time.monotonic()
        with self._change:
            found = [job for job, end in self._running.items() if end <= now]
            for job in found:
                del self._running[job]
                job.is_settled = True
                self._timed_out += 1
                job.is_replaced = self._hanging < MOST_HANGING and _can_start(self._work)
                self._hanging += job.is_replaced
                self._stuck += not job.is_replaced
        return found

    def _without_thread(self) -> tuple[list[Job[T]], float]:
        """The jobs that have waited too long where every thread hangs, and when the time of the next one is over."""
        assert self._timeout is not None
        given_up, next_end = [], math.inf
        with self._change:
            for _ in range(self._jobs.qsize() if self._stuck >= self._threads else 0):
                try:
                    job = self._jobs.get_nowait()
                except Empty:  # a thread works again, and has taken it
                    break
                if job is not None and job.since + self._timeout <= time.monotonic():
                    given_up.append(job)
                    self._timed_out += 1
                    continue
                self._jobs.put(job)  # behind the others, and so do they: the order stays
                if job is not None:
                    next_end = min(next_end, job.since + self._timeout)
        return given_up, next_end


def _start(work: Callable[[], None], name: str) -> None:
    threading.Thread(target=work, name=name, daemon=True).start()


def _can_start(work: Callable[[], None]) -> bool:
    """Start another thread that works; False if the system has none left, so that the one that hangs keeps its place."""
    try:
        _start(work, "ragmetrics-judge")
    except RuntimeError:
        return False
    return True


def _not_begun(timeout: float | None) -> Any:
    raise ModelError(
        f"not begun within {timeout:g} seconds: earlier calls have no answer yet, and too many wait to begin more",
        transient=True,
    )


def _too_slow(timeout: float | None) -> Any:
    raise ModelError(f"no answer within {timeout:g} seconds: give it more time with timeout=...", transient=True)


def call_at_exit(method: Callable[[], None]) -> None:
    """Have a method called when the program ends. Until then this keeps its object from nothing, least of all from being freed."""
    reference = weakref.WeakMethod(method)
    call = partial(_call, reference)
    atexit.register(call)
    weakref.finalize(getattr(method, "__self__"), atexit.unregister, call).atexit = False  # noqa: B009  of any method


def _call(reference: weakref.WeakMethod[Callable[[], None]]) -> None:
    method = reference()
    if method is not None:
        method()


class Counts:
    """How often things happened."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._lock = threading.RLock()  # a stream that is collected meanwhile counts too, on the same thread

    def __getitem__(self, what: str) -> int:
        """How often it has happened."""
        return self._counts[what]

    def add(self, what: str, number: int = 1) -> int:
        """It happened once more, or so many times more: how often that makes."""
        with self._lock:
            self._counts[what] += number
            return self._counts[what]

    def now(self) -> dict[str, int]:
        """The counts up to now, of what has happened."""
        with self._lock:
            return {what: count for what, count in self._counts.items() if count}

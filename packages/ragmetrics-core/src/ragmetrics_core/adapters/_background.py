"""Jobs in the background: a queue, and an event loop in a thread that exists only while there is work.

Submitting a job never waits, and never raises what the job raises: the outcome of a job is a ``Future``. A coroutine function runs
in the loop, any other function in its own thread. A job that exceeds its time limit ends with an error, and the next job
begins: its coroutine is cancelled, or its thread is left behind. If too many threads hang, the jobs that wait end at their time
limit too. All threads are daemons, so a judge that hangs delays neither the caller nor the exit of the program. Each job runs in
its own context, so the caller's callbacks, tags and spans do not reach it.
"""

from __future__ import annotations

import inspect
import math
import os
import threading
import time
import weakref
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from contextvars import Context
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .._support._threads import in_own_thread, running_calls, start
from .._values._errors import ModelError

if TYPE_CHECKING:
    import asyncio
    from concurrent.futures import Future

T = TypeVar("T")

Work = Callable[[], T] | Callable[[], Awaitable[T]]

IDLE = 5.0
"""Seconds after which an idle thread stops."""

PAUSE = 0.005
"""Seconds between the end of a judgement and the beginning of the next one. Without them, judgements that end at once (by a judge
that fails) would keep the interpreter from all other threads. Compared with a call to a model they do not matter.
"""

GLANCE = 0.2
"""The most seconds between two checks for jobs that exceed their time limit."""

MOST_HANGING = 64
"""The number of threads beyond the number of workers after which no job begins, so that a judge that never answers does not fill
the memory with threads.
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


class LoopThread:
    """An event loop in a daemon thread. The thread starts when there is work, and stops when there has been none for a while. The
    loop remains, because the connections of models belong to it.

    Attributes:
        loop: the event loop; None until the thread has started.
        queues: the queues whose jobs run in the loop.
    """

    loop: asyncio.AbstractEventLoop | None = None

    def __init__(self) -> None:
        self.queues: list[Background[Any]] = []
        # reentrant: garbage collection may end a stream in this thread, and that wakes the loop
        self._lock = threading.RLock()
        self._is_alive = False

    def wake(self, queue: Background[Any]) -> None:
        """Look after a queue in the loop, soon.

        Raises:
            RuntimeError: the thread cannot be started.
        """
        with self._lock:
            if not self._is_alive:
                threading.Thread(target=self._run, name="ragmetrics-judge", daemon=True).start()
                self._is_alive = True
            if self.loop is not None:
                self.loop.call_soon_threadsafe(queue.look)

    def _run(self) -> None:
        loop = self.loop or self._open()
        while True:
            pause = loop.call_later(IDLE, loop.stop)
            with suppress(KeyboardInterrupt, SystemExit):  # a judge raised it, and its job has it as its outcome
                loop.run_forever()
            pause.cancel()
            with self._lock:
                if not any(queue.pending for queue in self.queues):
                    self._is_alive = False
                    return

    def _open(self) -> asyncio.AbstractEventLoop:
        from .._support._blocking import OwnThreads  # noqa: PLC0415  loads asyncio

        loop = OwnThreads()
        weakref.finalize(self, _close, loop, os.getpid()).atexit = False
        with self._lock:
            self.loop = loop
        for queue in self.queues:
            loop.call_soon(queue.look)
        return loop


_of_parent: list[object] = []
"""Event loops that stayed in the parent process. They are never closed here, because both processes share their selectors."""


def _close(loop: asyncio.AbstractEventLoop, process: int) -> None:
    """Close a loop that is no longer needed, after the clients that close themselves with it."""
    if process == os.getpid():
        # in a new thread, as another loop may be running here
        start(lambda: (loop.run_until_complete(loop.shutdown_asyncgens()), loop.close()))
    else:
        _of_parent.append(loop)


@dataclass(eq=False)
class Job(Generic[T]):
    """A job: its function, the listener for its outcome, its context, its time limit, when it was submitted, when it began, and the
    task that runs it.
    """

    work: Work[T]
    then: Callable[[Future[T]], object]
    context: Context
    end: float
    submitted: float
    begun: float = math.inf
    task: asyncio.Task[None] | None = None


class Background(Generic[T]):
    """A queue of jobs that run in an event loop, or in threads.

    Args:
        workers: the number of jobs that run at the same time.
        timeout: seconds that a job may take. After that its outcome is a ``ModelError``, whatever it returns later, and the next
            job starts. None: no limit.
        thread: the thread of the loop; None: a thread of this queue alone.
        pause: seconds between the end of a job and the beginning of the next one.

    Attributes:
        finished: the number of jobs that ended, in success, error or timeout.
        timed_out: the number of jobs that took too long.
        seconds: how long the jobs that ended have run, in all.
    """

    def __init__(
        self, *, workers: int, timeout: float | None = None, thread: LoopThread | None = None, pause: float = PAUSE
    ) -> None:
        self.finished = self.timed_out = 0
        self.seconds = 0.0
        self._free = workers
        self._most_threads = workers + MOST_HANGING
        self._timeout = math.inf if timeout is None else timeout
        self._submitted = 0
        self._pause = pause
        # reentrant: garbage collection may end a stream in this thread, and that submits a job
        self._change = threading.Condition(threading.RLock())
        self._waiting: deque[Job[T]] = deque()
        self._running: dict[Job[T], None] = {}
        self._calls: set[Future[Any]] = set()  # in threads; those that hang stay here
        self._timer: asyncio.TimerHandle | None = None
        self._thread = LoopThread() if thread is None else thread
        self._thread.queues.append(self)

    @property
    def pending(self) -> int:
        """The number of jobs that wait or run."""
        return self._submitted - self.finished

    @property
    def rate(self) -> float:
        """How many of the waiting jobs were submitted in a second."""
        try:
            first = self._waiting[0]  # the loop may take jobs meanwhile
        except IndexError:
            return 0.0
        return len(self._waiting) / max(time.monotonic() - first.submitted, 0.001)

    def submit(
        self, jobs: Sequence[tuple[Work[T], Callable[[Future[T]], object]]], context: Callable[[], Context] = Context
    ) -> None:
        """Submit jobs without waiting: all of them, or none.

        Args:
            jobs: functions or coroutine functions, each with a listener for its outcome. Listeners are called in the thread of the
                loop, so they should be quick. Exceptions that they raise are logged by ``concurrent.futures``.
            context: makes the context of each job.

        Raises:
            RuntimeError: the system can start no thread, or the interpreter is ending; no job is accepted.
        """
        with self._change:
            self._submitted += len(jobs)  # from now on the thread does not stop
            try:
                self._thread.wake(self)
            except RuntimeError:
                self._submitted -= len(jobs)
                raise
            now = time.monotonic()
            self._waiting += [Job(job, then, context(), now + self._timeout, now) for job, then in jobs]

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until no job is left; return False if that took more than ``timeout`` seconds."""
        with self._change:
            return self._change.wait_for(lambda: not self.pending, timeout)

    def look(self) -> None:
        """End the jobs that exceed their time limit, begin those that may run, and come back later. Runs in the loop."""
        with self._change:  # until the jobs that woke the loop are in the queue
            now = time.monotonic()
        for job in [job for job in self._running if job.end <= now]:
            self._free += 1
            self._cut(job, TOO_SLOW)
        while self._waiting and self._free and len(self._calls) < self._most_threads:
            self._begin(self._waiting.popleft(), now + self._timeout)
        is_stuck = bool(self._waiting) and len(self._calls) >= self._most_threads
        while is_stuck and self._waiting and self._waiting[0].end <= now:
            self._cut(self._waiting.popleft(), NOT_BEGUN)
        ends = [job.end for job in self._running] + [job.end for job in [*self._waiting][:1] if is_stuck]
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None if min(ends, default=math.inf) == math.inf else self._later(min(ends) - now, self.look)

    def _later(self, seconds: float, function: Callable[[], object]) -> asyncio.TimerHandle:
        assert self._thread.loop is not None
        return self._thread.loop.call_later(max(0.0, min(seconds, GLANCE)), function)

    def _begin(self, job: Job[T], end: float) -> None:
        assert self._thread.loop is not None
        self._free -= 1
        self._running[job] = None
        job.end, job.begun = end, time.monotonic()
        job.context.run(running_calls.set, self._calls)
        job.task = job.context.run(self._thread.loop.create_task, self._do(job))

    async def _do(self, job: Job[T]) -> None:
        from concurrent.futures import Future  # noqa: PLC0415  costs more to import than all of this package

        outcome: Future[T] = Future()
        work: Any = job.work
        try:
            outcome.set_result(await (work() if inspect.iscoroutinefunction(work) else in_own_thread(work)))
        except BaseException as error:  # noqa: BLE001  kept in the future, which the caller reads
            outcome.set_exception(error)
        if job in self._running:  # otherwise it was too slow, and its outcome is known
            self._finish(job, outcome)
            self._later(self._pause, self._go_on)

    def _go_on(self) -> None:
        self._free += 1
        self.look()

    def _cut(self, job: Job[T], why: str) -> None:
        self.timed_out += 1
        self._finish(job, failed_outcome(ModelError(why.format(self._timeout), transient=True)))
        if job.task is not None:
            job.task.cancel()

    def _finish(self, job: Job[T], outcome: Future[T]) -> None:
        self._running.pop(job, None)
        self.seconds += max(0.0, time.monotonic() - job.begun)
        outcome.add_done_callback(job.then)
        with self._change:
            self.finished += 1
            self._change.notify_all()


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

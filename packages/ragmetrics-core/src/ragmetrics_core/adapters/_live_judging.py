"""The judging beside a running application: every judgement runs in the background and is counted.

Two queues make the judgements: one queue for coroutine functions, which run in the loop, and one for other functions, which
need a thread each and so are fewer at a time. The judgements of one evaluation are made at the same time if there is room, and the
last one to end reports them all. Each of the user's functions has a queue too, so that a slow function delays neither a judge nor
another function. All use one event loop. Metrics that are computed in it share what was learnt about the servers, such as their
limits, equal questions of judgements that run at the same time are asked once, and equal calls of the application are judged once.

Nothing is lost silently: the first evaluation that finds the queue full and the first failure of each cause are logged, all are
counted, and ``close`` and the exit of the program wait a while for pending work and log how much of it was not judged.
"""

from __future__ import annotations

import atexit
import inspect
import math
import os
import threading
import time
import weakref
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from contextvars import Context, ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .._kernel._drive import Models, driver
from .._kernel._steps import Steps
from .._support._secrets import conceal_record
from .._values._errors import InvalidInput, MissingInput, ModelError, RagmetricsError
from .._values._requests import Usage
from .._values._score import Score
from ._background import Background, Counts, LoopThread, Work, settled
from ._spans import judge_spans

if TYPE_CHECKING:
    import logging
    from concurrent.futures import Future

    from .._engine._programs import SharedDriver
    from ._selection import RollingBudget

T = TypeVar("T")

Judgements = Mapping[str, Work[T]]
Listener = Callable[["dict[str, Future[T]]"], object]

Identity = Callable[[str], "str | None"]

_at_work: ContextVar[object] = ContextVar("ragmetrics_at_work", default=None)
"""The ``LiveJudging`` whose job runs in this context."""

LATEST = 1000
"""The number of judgements that are kept for equal calls, and of a metric whose times are kept."""

MINUTE = 60.0
"""The fewest seconds between two warnings that evaluations or results are refused."""

MOST_CALLS = 64
"""The largest number of calls to models in flight; fewer if a server refuses some."""

RETRIES = 2
"""How often a lost call is made again, as often as by the clients of most providers."""


class FailureLog:
    """Log the failures of metrics and of the user's functions: each cause once, and again after a recovery.

    A judge that is down fails every call, so only the first failure is logged and the others are counted. A cause is a metric and
    a class of error; for missing fields it is a metric and the message, so that a missing field does not hide a dead judge. The
    first failure after a recovery is logged again. With each warning of the same cause, the number of scores in a row that count
    as a recovery doubles, so that a judge that fails now and then is not reported again and again. Errors that are not failures
    of a model or of a row are logged with their traceback.

    Args:
        logger: the adapter's.

    Attributes:
        causes: how often each cause occurred, by the name of the metric or function and the class of the error.
        on_logged: called with the name and the problem of each failure that is logged; None for nothing.
    """

    def __init__(self, logger: logging.Logger) -> None:
        self.causes = Counter[str]()
        self.on_logged: Callable[[str, BaseException | str], object] | None = None
        self._logger = logger
        logger.addFilter(conceal_record)
        self._lock = threading.RLock()  # garbage collection may end a stream in this thread, and that may fail too
        self._logged: dict[tuple[str, str, bool], int] = {}
        self._in_a_row: dict[str, int] = {}

    def succeeded(self, name: str) -> None:
        """Note that a call with this name did not fail."""
        if name in self._in_a_row:
            with self._lock:
                self._in_a_row[name] += 1

    def note(self, name: str, outcome: Future[Any]) -> BaseException | None:
        """Note how a call of one of the user's functions, or a job for the spool, ended; return what it raised."""
        error = outcome.exception()
        if error is None:
            self.succeeded(name)
        else:
            self.failed(name, error, "are not logged")
        return error

    def failed(self, name: str, problem: BaseException | str, further: str = "are only counted, see counts") -> bool:
        """Count a failure, and log it unless its cause was logged before. Return True if the failure is only a missing field of
        the row.

        Args:
            name: the name of the metric or of the function.
            problem: the exception, or the error of a score, which begins with the class of the error.
            further: what happens to further failures, in words.
        """
        description = str(problem) or type(problem).__name__
        raised = problem if isinstance(problem, BaseException) else None
        kind = description.partition(": ")[0] if raised is None else type(raised).__name__
        is_missing = kind == MissingInput.__name__
        if is_missing:
            kind = description
        elif not kind.isidentifier():
            kind = ""  # texts without the class of an error may differ each time, so they are one cause
        cause = (name, kind, bool(getattr(raised, "fatal", False)))
        with self._lock:
            self.causes[f"{name}: {kind}" if kind else name] += 1
            times = self._logged.get(cause, 0)
            in_a_row = self._in_a_row.get(name, 0)
            # a known cause is logged again only after 1, 2, 4, ... scores in a row; a missing field never
            is_silent = times > 0 and (is_missing or in_a_row < 2 ** (times - 1))
            if not is_missing:
                self._in_a_row[name] = 0
            if not is_silent:
                self._logged[cause] = times + 1
        if not is_silent:
            more = "rows with missing fields" if is_missing else "failures"
            trace = None if isinstance(raised, RagmetricsError) else raised
            self._logger.warning("%s failed: %s; further %s %s", name, description, more, further, exc_info=trace)
            if self.on_logged is not None:
                self.on_logged(name, problem)
        return is_missing


class LiveJudging(Generic[T]):
    """Judgements that are made beside a running application.

    Args:
        logger: the adapter's, by the name of its package.
        workers: how many judgements that are plain functions run at the same time, each in a thread, and how many of the user's
            functions.
        max_concurrency: how many judgements that are coroutine functions run at the same time.
        max_pending: evaluations that may wait or run; further ones are dropped.
        problem_of: returns what is wrong with a judgement, in words; None if nothing is.
        timeout: seconds that one judgement, or one of the user's functions, may take; None: no limit.
        exit_timeout: seconds that the exit of the program waits for pending work.
        budget: what the calls to models may cost; None: there is no limit.
        trace: whether OpenTelemetry records the spans of judgements.

    Attributes:
        log: logs the failures.
        spool: where evaluations are kept that are not begun; None: they are dropped.
        is_closed: whether further evaluations are dropped.

    Raises:
        InvalidInput: ``timeout`` or ``exit_timeout`` is not a number of seconds.
    """

    def __init__(
        self,
        logger: logging.Logger,
        *,
        workers: int,
        max_concurrency: int = 64,
        max_pending: int,
        problem_of: Callable[[T], str | None],
        timeout: float | None = 120.0,
        exit_timeout: float = 10.0,
        budget: RollingBudget | None = None,
        trace: bool = True,
    ) -> None:
        if timeout is not None:
            _check_seconds("timeout", timeout, least=0.001)
        _check_seconds("exit_timeout", exit_timeout, least=0.0)
        self.log = FailureLog(logger)
        self.spool: str | None = None
        self._logger = logger
        self._max_pending = max_pending
        self._problem_of = problem_of
        self._exit_timeout = exit_timeout
        self._budget = budget
        self._trace = trace
        self._workers, self._max_concurrency, self._timeout = workers, max_concurrency, timeout
        self._door = threading.RLock()  # garbage collection may end a stream in this thread, and that enters too
        self._process: int | None = None
        # now, because a process that is forked while a thread imports would wait for that import forever
        from .._engine._programs import SharedDriver  # noqa: PLC0415  loads asyncio

        self._new_driver = partial(SharedDriver, MOST_CALLS, RETRIES, budget)
        self._driver: SharedDriver | None
        self.is_closed: bool
        self._begin_anew()

    @property
    def pending(self) -> int:
        """The number of evaluations that are not finished, and of the user's functions that have not returned."""
        return self._count["open"] + self._count["in_functions"]

    @property
    def evaluations(self) -> int:
        """The number of evaluations that are not finished."""
        return self._count["open"]

    @property
    def is_over_budget(self) -> bool:
        """Whether evaluations are dropped because the budget is used up."""
        return self._budget is not None and not self._budget.allows()

    @property
    def is_alone(self) -> bool:
        """Whether nothing is pending except the user's function that is running now."""
        return self._count["unreported"] + self._count["in_functions"] <= 1

    @property
    def dropped(self) -> int:
        """The number of evaluations that were refused because the queue was full."""
        return self._count["dropped"]

    @property
    def _queues(self) -> list[Background[Any]]:
        return [self._judges, self._async_judges, *self._function_queues.values()]

    @property
    def progress(self) -> int:
        """A number that grows whenever a judge or a function returns."""
        return sum(queue.finished - queue.timed_out for queue in self._queues)

    @property
    def counts(self) -> dict[str, int]:
        """The counts so far. Judgements: ``scored``, ``failed``, ``missing`` (a field of the row), ``timed_out``. Evaluations:
        ``dropped``. Evaluations and user functions: ``pending``. Results: ``untold``, if the queue for the user's functions was
        full or the function took too long.
        """
        timed_out = self._judges.timed_out + self._async_judges.timed_out
        return {
            "scored": self._count["scored"],
            "failed": max(0, self._count["failures"] - timed_out),
            "missing": self._count["missing"],
            "timed_out": timed_out,
            "dropped": self.dropped,
            "pending": self.pending,
            "untold": self._count["untold"] + sum(queue.timed_out for queue in self._function_queues.values()),
        }

    def stats(self) -> dict[str, Any]:
        """Return the counts; ``seen``: how many evaluations were submitted; ``spooled``: how many of them this process has left to
        the spool; ``causes``: how often each cause of a failure occurred; and ``seconds``: for each metric, the median, the 99 %
        quantile and the maximum of what its last 1,000 judgements took.
        """
        seconds = {}
        for name, durations in list(self._seconds.items()):
            ordered = sorted(durations)
            places = {"p50": len(ordered) // 2, "p99": len(ordered) * 99 // 100, "most": -1}
            seconds[name] = {what: ordered[place] for what, place in places.items()}
        more = {name: self._count[name] for name in ("seen", "spooled")}
        return {**self.counts, **more, "causes": dict(self.log.causes), "seconds": seconds}

    def judge(
        self,
        judgements: Judgements[T] | Callable[[], Judgements[T]],
        then: Listener[T],
        identity: Identity = lambda _: None,
    ) -> bool:
        """Submit an evaluation without waiting; return False if the queue is full, the budget is used up, or no thread can be
        started. Then the evaluation is counted as dropped, or as left to the spool, and ``then`` is not called.

        Args:
            judgements: the work of each metric; or a function that returns this and is called in the background first, such as
                one that calls the user's functions. If it takes too long or raises, there are no judgements.
            then: called with all outcomes in the order of the judgements, in a background thread. It should be quick; use
                ``tell`` for slow work.
            identity: returns a digest of what a metric, by its name, reads; equal ones are judged once, if by a coroutine
                function. None: not known.
        """
        self._count.add("seen")
        lost = "spooled" if self.spool and not self.is_over_budget else "dropped"
        if not self._admit("open", lost, self._why_dropped):
            return False
        self._count.add("unreported")
        try:
            if isinstance(judgements, Mapping):
                self._begin(judgements, then, identity)
            else:
                self._submit((self._function_queue(""), [(judgements, partial(self._begin_prepared, then, identity))]))
        except RuntimeError as error:  # the system can start no thread, or the interpreter is ending
            self._count.add(lost)
            self.log.failed("the judging", error)
            return False
        return True

    def take_back(self, number: int) -> None:
        """Note that evaluations that were left to the spool will be submitted again."""
        for what in ("spooled", "seen"):
            self._count.add(what, -number)

    def lose(self, number: int) -> None:
        """Note that evaluations that were left to the spool could not be kept there."""
        self._count.add("spooled", -number)
        self._count.add("dropped", number)

    def _why_dropped(self) -> str:
        """Say why an evaluation was dropped; if judges are too slow, with the number of judgements at a time that would do."""
        if self._budget is not None and self.is_over_budget:
            return f"an evaluation was dropped: {self._budget.used_up}"
        lost = (
            f"an evaluation is left in {self.spool}, to be judged later" if self.spool else "an evaluation was dropped"
        )
        if self.is_closed:
            return f"{lost}: it began after close()"
        why = f"{lost}: {self._max_pending} are waiting or being judged already"
        queue, name = max(
            (self._async_judges, "max_concurrency"), (self._judges, "workers"), key=lambda each: each[0].pending
        )
        if not queue.finished:
            return f"{why}, and no judgement has ended yet"
        rate, seconds = queue.rate, queue.seconds / queue.finished
        enough = f"set {name} to {math.ceil(rate * seconds)} or more, or sample_rate lower"
        return f"{why}. {rate:.3g} judgements a second take {seconds:.2g} seconds each: {enough}"

    def _admit(self, what: str, lost: str, why: Callable[[], str], queue: Background[Any] | None = None) -> bool:
        """Count one more pending item if there is room for it, in the queue if there is one; return False if there is not. The
        first refusal is logged, and the first one after all was done again, but not within a minute.
        """
        with self._door:
            self._enter()
            pending = self._count[what] if queue is None else queue.pending
            is_full = pending >= self._max_pending or (what == "open" and (self.is_closed or self.is_over_budget))
            self._count.add(lost if is_full else what)
            now = time.monotonic()
            is_again = lost in self._recovered and now - self._warned.get(lost, now) > MINUTE
            is_first = is_full and (lost not in self._warned or is_again)
            if is_first:
                self._warned[lost] = now
                self._recovered.discard(lost)
            elif not is_full and not pending:
                self._recovered.add(lost)
        if is_first:
            self._logger.warning("%s; further ones are only counted, see counts", why())
        return not is_full

    def _begin_prepared(self, then: Listener[T], identity: Identity, outcome: Future[Judgements[T]]) -> None:
        error = outcome.exception()
        if error is not None:
            self._note_failure("the preparation of an evaluation", error)
        self._begin({} if error is not None else outcome.result(), then, identity)

    def _begin(self, judgements: Judgements[T], then: Listener[T], identity: Identity) -> None:
        outcomes: dict[str, Future[T]] = {}
        finish = partial(self._finish, tuple(judgements), outcomes, then)
        in_loop: list[Any] = [] if judgements else [(_nothing, lambda _: finish())]
        in_threads: list[Any] = []
        for name, work in judgements.items():
            noted = partial(self._note_judgement, name, outcomes, len(judgements), finish)
            if inspect.iscoroutinefunction(work):
                in_loop.append((partial(self._judge_once, name, work, identity), noted))
            else:
                in_threads.append((partial(self._call_timed, name, work), noted))
        self._submit((self._async_judges, in_loop), (self._judges, in_threads))

    async def _judge_once(self, name: str, work: Any, identity: Identity) -> Any:
        """Return the judgement of an equal call if there is one, or will be one; else make it."""
        import asyncio  # noqa: PLC0415  costs more to import than all of this package
        from concurrent.futures import Future  # noqa: PLC0415  the same

        digest = identity(name)
        key = None if digest is None else (name, digest)
        found = self._judged.get(key)
        if found is not None:
            self._count.add("repeated")
            waiting = asyncio.wrap_future(found)
            waiting.add_done_callback(lambda done: done.cancelled() or done.exception())  # also if this one is cut off
            return _repeated(await asyncio.shield(waiting))
        future: Future[T] = Future()
        if key is not None:
            self._judged[key] = future
            if len(self._judged) > LATEST:
                del self._judged[next(iter(self._judged))]
        try:
            with self._timing(name):
                result = await work()
        except asyncio.CancelledError:
            future.set_exception(ModelError("the judgement of an equal call was cut off", transient=True))
            raise
        except BaseException as error:
            future.set_exception(error)
            raise
        else:
            future.set_result(result)
            return result
        finally:
            if _has_failed(future, self._problem_of):  # it is tried again; kept exceptions would fill the memory
                self._judged.pop(key, None)

    def _call_timed(self, name: str, work: Any) -> Any:
        with self._timing(name):
            return work()

    @contextmanager
    def _timing(self, name: str) -> Iterator[None]:
        """Note how long the block, a judgement, takes, and hide or mark its spans."""
        begun = time.monotonic()
        try:
            with judge_spans(name, trace=self._trace):
                yield
        finally:
            self._seconds.setdefault(name, deque(maxlen=LATEST)).append(time.monotonic() - begun)

    def _submit(self, *jobs: tuple[Background[Any], list[Any]]) -> None:
        try:
            for queue, own in jobs:
                if own:
                    queue.submit(own, self._context)
        except RuntimeError:
            self._count.add("unreported", -1)
            self._count.add("open", -1)
            raise

    def tell(
        self,
        job: Callable[[], object],
        then: Callable[[Future[Any]], object],
        name: str = "",
        *,
        workers: int = 0,
        is_bounded: bool = True,
    ) -> bool:
        """Submit a call of one of the user's functions without waiting; return False if its queue is full.

        Args:
            job: the call.
            then: called with its outcome; it should be quick.
            name: the function. Each has a queue, so that one that hangs delays no other.
            workers: how many calls of this function run at the same time; 0: as many as of plain judgements.
            is_bounded: whether at most ``max_pending`` calls wait. False: the caller submits few at a time.
        """
        queue = self._function_queue(name, workers)
        why = f"a result was not handed on: {self._max_pending} wait for {name or 'that'} already"
        if not is_bounded:
            self._count.add("in_functions")
        elif not self._admit("in_functions", "untold", lambda: why, queue):
            return False
        ended = partial(self._note_returned, then)
        try:
            queue.submit([(job, ended)], self._context)
        except RuntimeError:  # the program is ending, or no thread can be started: call it in this thread
            settled(partial(self._context().run, job), ended)
        return True

    def _function_queue(self, name: str, workers: int = 0) -> Background[Any]:
        with self._door:
            self._enter()
            if name not in self._function_queues:
                self._function_queues[name] = Background(workers=workers or self._workers, pause=0.0, **self._limits)
            return self._function_queues[name]

    def _note_returned(self, then: Callable[[Future[Any]], object], outcome: Future[Any]) -> None:
        try:
            then(outcome)
        finally:
            self._count.add("in_functions", -1)

    def _context(self) -> Context:
        """Return the context of a job: it names this object, and metrics that are computed in it share their calls."""
        context = Context()
        context.run(_at_work.set, self)
        context.run(driver.set, self._drive)
        return context

    def _drive(self, program: Steps[Any], models: Models) -> Coroutine[Any, Any, Any] | None:
        import asyncio  # noqa: PLC0415  costs more to import than all of this package

        if asyncio.get_running_loop() is not self._thread.loop:
            return None
        if self._driver is None:
            self._driver = self._new_driver()
        return self._driver.run(program, models)

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until nothing is pending; return False if that took more than ``timeout`` seconds. If a job of this object calls
        this, it does not wait, because it would wait for itself, and returns whether only that job is pending.
        """
        if _at_work.get() is self:
            return self.is_alone
        with self._door:
            self._enter()
        end = None if timeout is None else time.monotonic() + timeout
        while self.pending:  # judgements lead to calls of functions, and these may lead to judgements
            for queue in self._queues:
                if not queue.flush(None if end is None else max(0.0, end - time.monotonic())):
                    return False
        return True

    def _note_judgement(
        self, name: str, outcomes: dict[str, Future[T]], number: int, finish: Callable[[], None], outcome: Future[T]
    ) -> None:
        checked: Future[Any] = settled(lambda: self._problem_of(outcome.result()))  # a judge may return anything
        error = checked.exception()
        problem = checked.result() if error is None else error
        if problem is None:
            self._count.add("scored")
            self.log.succeeded(name)
        else:
            self._note_failure(name, problem)
        with self._door:
            outcomes[name] = outcome if error is None else checked
            is_last = len(outcomes) == number
        if is_last:
            finish()

    def _note_failure(self, name: str, problem: BaseException | str) -> None:
        self._count.add("missing" if self.log.failed(name, problem) else "failures")

    def _finish(self, names: tuple[str, ...], outcomes: Mapping[str, Future[T]], then: Listener[T]) -> None:
        self._count.add("unreported", -1)  # inside ``then`` the evaluation no longer counts as pending
        try:
            then({name: outcomes[name] for name in names})
        finally:
            self._count.add("open", -1)

    def _enter(self) -> None:
        """Register for the exit of the program. After a fork, start with empty queues, because the threads and their jobs stayed
        in the parent process.
        """
        if self._process == os.getpid():
            return
        if self._process is None:
            atexit.register(_end, weakref.ref(self))
        else:
            self._begin_anew()
        self._process = os.getpid()

    def _begin_anew(self) -> None:
        self._count = Counts()
        self._thread = LoopThread()
        self._limits: Any = {"timeout": self._timeout, "thread": self._thread}
        self._judges = Background[T](workers=self._workers, **self._limits)
        self._async_judges = Background[T](workers=self._max_concurrency, **self._limits)
        self._function_queues: dict[str, Background[Any]] = {}
        self._warned: dict[str, float] = {}
        self._recovered = set[str]()
        self._driver = None
        self._judged: dict[Any, Future[T]] = {}  # the latest judgements, by metric and digest of what was judged
        self._seconds: dict[str, deque[float]] = {}
        self.is_closed = False

    def close(self, timeout: float | None = None) -> bool:
        """Accept no further evaluation, wait up to ``timeout`` seconds (None: ``exit_timeout``) for pending ones, and log how many
        were not judged. Return whether nothing is pending.
        """
        self.is_closed = True
        seconds = self._exit_timeout if timeout is None else timeout
        try:
            return self.flush(seconds)
        finally:
            pending, dropped, spooled = self._count["open"], self.dropped, self._count["spooled"]
            late = (
                f", after {round(seconds, 2):g} seconds: set exit_timeout=... or close(timeout=...)" if pending else ""
            )
            kept = f"; those pending and {spooled} more are kept in {self.spool}" if self.spool else ""
            if pending or dropped or spooled:
                text = "%d of %d evaluations not judged: %d dropped, %d pending%s%s"
                lost = pending + dropped + spooled
                self._logger.warning(text, lost, self._count["seen"], dropped, pending, late, kept)

    def end(self) -> None:
        """Called at the exit of the program: close, unless that was done, or the work belongs to the parent process."""
        if self._process == os.getpid() and not (self.is_closed and not self.pending):
            self.close(self._exit_timeout)


def _has_failed(judgement: Future[T], problem_of: Callable[[T], str | None]) -> bool:
    checked = settled(lambda: problem_of(judgement.result()))  # a judge may return anything
    return checked.exception() is not None or checked.result() is not None


def _repeated(judgement: Any) -> Any:
    """Return a score whose calls were made for an equal call of the application."""
    if isinstance(judgement, Score) and judgement.metric is not None:
        calls = judgement.usage.calls
        return judgement.made_by(judgement.metric, judgement.scale, Usage(calls=calls, cached_calls=calls))
    return judgement


async def _nothing() -> None:
    """The work of an evaluation that asks no metric."""


def _end(live: weakref.ref[LiveJudging[Any]]) -> None:
    if (found := live()) is not None:
        found.end()


def _check_seconds(name: str, value: Any, *, least: float) -> None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not least <= value < math.inf:
        raise InvalidInput(f"{name} must be a number of seconds, at least {least:g}, got {value!r}")

"""The evaluation of a running application: every judgement in the background, and an account of what has become of it.

Strategy. There are two lines of jobs. In one the judgements are made: those of one evaluation at the same time, as far as there
are threads, and the last one to end reports them all. In the other the user's own functions are called, so that a slow one keeps
no judge from its work. Nothing is lost in silence: the first evaluation that finds no place and the first failure of each cause
are logged, all are counted, and the end of the program waits a while for what is pending and says how much it had to give up.

What the log says of judgements that failed: each cause once, and once more where the metric has scored in between.

Strategy. A judge that is down fails every call, so all but the first failure are only counted. A cause is a metric and a class of
error, or the field that is missing, so that a missing field hides no dead judge. After a recovery the next failure is logged
again. A judge that fails now and then recovers all the time: each warning of a cause therefore needs twice as many scores in a
row before it as the one before.
Errors that are no failure of a model or of a row are logged with their traceback.
"""

from __future__ import annotations

import logging
import math
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextvars import Context, ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .._kernel._errors import InvalidInput, MissingInput, RagmetricsError
from ._background import Background, Counts, call_at_exit, settled

if TYPE_CHECKING:
    import logging
    from concurrent.futures import Future


MISSING = MissingInput.__name__
NEEDED = re.compile(r"needs '\w+'")


class FailureLog:
    """Logs the failures of metrics, and of functions of the user's.

    Args:
        logger: the adapter's.
    """

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger
        self._lock = threading.RLock()  # a stream that is collected meanwhile may fail too, on the same thread
        self._logged: dict[tuple[str, str, bool], int] = {}
        self._in_a_row: dict[str, int] = {}

    def succeeded(self, name: str) -> None:
        """A call with this name did not fail."""
        if name in self._in_a_row:
            with self._lock:
                self._in_a_row[name] += 1

    def failed(self, name: str, problem: BaseException | str, further: str = "are only counted, see counts") -> bool:
        """Note a failure; whether only a field of the row is missing.

        Args:
            name: of the metric or of the function.
            problem: what was raised, or what a score says, which begins with the class of the error.
            further: what becomes of further failures, in words.
        """
        raised = problem if isinstance(problem, BaseException) else None
        kind = str(problem).partition(": ")[0] if raised is None else type(raised).__name__
        kind = kind if kind.isidentifier() else ""  # any other text could be another one each time
        is_missing = isinstance(raised, MissingInput) or kind == MISSING
        with self._lock:
            field = NEEDED.search(str(problem)) if is_missing else None
            cause = (name, field[0] if field else kind, bool(getattr(raised, "fatal", False)))
            times = self._logged.get(cause, 0)
            in_a_row = self._in_a_row.get(name, 0)
            is_told = times > 0 and (is_missing or in_a_row < 2 ** (times - 1))
            if not is_missing:
                self._in_a_row[name] = 0
            if not is_told:
                self._logged[cause] = times + 1
        if not is_told:
            said = str(problem) or type(problem).__name__
            more = "rows with missing fields" if is_missing else "failures"
            trace = raised if raised is not None and not isinstance(raised, RagmetricsError) else None
            self._logger.warning("%s failed: %s; further %s %s", name, said, more, further, exc_info=trace)
        return is_missing


T = TypeVar("T")

Judgements = Mapping[str, Callable[[], T]]
Listener = Callable[["dict[str, Future[T]]"], object]

_at_work: ContextVar[object] = ContextVar("ragmetrics_at_work", default=None)
"""The ``LiveJudging`` whose job runs in this context."""


class Evaluation(Generic[T]):
    """The judgements that belong to one evaluation, and what those have come to that have ended."""

    def __init__(self, expected: tuple[str, ...], then: Listener[T]) -> None:
        self.expected = expected
        self.then = then
        self.lock = threading.Lock()
        self.outcomes: dict[str, Future[T]] = {}


class LiveJudging(Generic[T]):
    """Judgements that are made beside a running application.

    Args:
        logger: the adapter's, by the name of its package.
        workers: judgements that are made at the same time; as many functions of the user's are called at the same time.
        max_pending: evaluations that may wait or be in work; one more is dropped.
        problem_of: what is wrong with a judgement, in words; None if nothing is.
        timeout: seconds that one judgement, or one function of the user's, may take; None: as long as it likes.
        exit_timeout: seconds that the end of the program waits for what is pending.

    Raises:
        InvalidInput: one of the two times is none.
    """

    def __init__(
        self,
        logger: logging.Logger,
        *,
        workers: int,
        max_pending: int,
        problem_of: Callable[[T], str | None],
        timeout: float | None = 120.0,
        exit_timeout: float = 10.0,
    ) -> None:
        if timeout is not None:
            check_seconds("timeout", timeout, least=0.001)
        check_seconds("exit_timeout", exit_timeout, least=0.0)
        self._logger = logger
        self.log = FailureLog(logger)
        self._max_pending = max_pending
        self._problem_of = problem_of
        self._exit_timeout = exit_timeout
        self._threads: Any = {"workers": workers, "capacity": sys.maxsize, "timeout": timeout}
        self._door = threading.RLock()  # a stream that is collected meanwhile comes in too, on the same thread
        self._closed = False
        self._process: int | None = None
        self._begin_anew()

    @property
    def pending(self) -> int:
        """Evaluations that are not finished, and functions of the user's that have not been called to their end."""
        return self._count["begun"] - self._count["ended"] + self._tellers.pending - self._count["preparing"]

    @property
    def is_alone(self) -> bool:
        """Whether nothing is pending but the one function of the user's that asks this."""
        unreported = self._count["begun"] - self._count["reported"]
        return unreported + self._tellers.pending - self._count["preparing"] <= 1

    @property
    def dropped(self) -> int:
        """Evaluations that found no place."""
        return self._count["dropped"]

    @property
    def progress(self) -> int:
        """A number that grows as long as somebody answers."""
        return sum(line.finished - line.timed_out for line in (self._judges, self._tellers))

    @property
    def counts(self) -> dict[str, int]:
        """What has become of it so far.

        Judgements: ``scored`` (those with nothing to score included), ``failed``, ``missing`` (a field is), ``timed_out``.
        Evaluations: ``dropped`` (no place), ``pending``. ``untold``: calls of functions that found no place or took too long.
        """
        timed_out = self._judges.timed_out
        return {
            "scored": self._count["scored"],
            "failed": max(0, self._count["failures"] - timed_out),
            "missing": self._count["missing"],
            "timed_out": timed_out,
            "dropped": self.dropped,
            "pending": self.pending,
            "untold": self._count["untold"] + self._tellers.timed_out,
        }

    def judge(self, judgements: Judgements[T] | Callable[[], Judgements[T]], then: Listener[T]) -> bool:
        """Hand an evaluation over without waiting; False if there is no place for it.

        Args:
            judgements: what each metric is to do; or a function that says it, called in the background first, such as one that
                calls functions of the user's. Where that takes too long or raises, there are no judgements.
            then: called with all outcomes in the order of the judgements, on a thread of the background. It should be quick; what
                may be slow belongs into ``tell``.

        Raises:
            RuntimeError: the system has no thread left, or the interpreter ends.
        """
        with self._door:
            self._enter()
            has_place = not self._closed and self._count["begun"] - self._count["ended"] < self._max_pending
            number = self._count.add("begun" if has_place else "dropped")
        if not has_place and number == 1:
            why = "the line is closed" if self._closed else f"{self._max_pending} are waiting or being judged already"
            self._logger.warning("an evaluation was dropped: %s; further ones are only counted, see counts", why)
        if not has_place:
            return False
        if isinstance(judgements, Mapping):
            self._begin(judgements, then)
        else:
            self._count.add("preparing")
            try:
                self._submit(self._tellers, [(self._own(judgements), partial(self._prepared, then))])
            except RuntimeError:
                self._count.add("preparing", -1)
                raise
        return True

    def _prepared(self, then: Listener[T], outcome: Future[Judgements[T]]) -> None:
        self._count.add("preparing", -1)
        error = outcome.exception()
        if error is not None:
            self._note_failure("the preparation of an evaluation", error)
        self._begin({} if error is not None else outcome.result(), then)

    def _begin(self, judgements: Judgements[T], then: Listener[T]) -> None:
        evaluation = Evaluation(tuple(judgements), then)
        jobs: list[Any] = [
            (self._own(work), partial(self._judged, evaluation, name)) for name, work in judgements.items()
        ]
        self._submit(self._judges, jobs or [(lambda: None, lambda _: self._finish(evaluation))])

    def _submit(self, line: Background[Any], jobs: list[Any]) -> None:
        try:
            line.submit_all(jobs)
        except RuntimeError:
            self._count.add("ended")
            raise

    def tell(self, job: Callable[[], object], then: Callable[[Future[Any]], object]) -> bool:
        """Have a function of the user's called without waiting; False if there is no place for it.

        Args:
            job: what is to be called.
            then: called with its outcome; it should be quick.
        """
        with self._door:
            self._enter()
            has_place = self._tellers.pending < self._max_pending
            is_first = not has_place and self._count.add("untold") == 1
        if is_first:
            self._logger.warning(
                "a result was handed on to nobody: %d wait for that already; further ones are only counted, see counts",
                self._max_pending,
            )
        if not has_place:
            return False
        work = self._own(job)
        try:
            return self._tellers.submit(work, then)
        except RuntimeError:  # the program ends, or the system has no thread left: this one does it
            settled(partial(Context().run, work), then)
            return True

    def _own(self, job: Callable[[], Any]) -> Callable[[], Any]:
        """The job, marked in the context that is its own."""

        def work() -> Any:
            _at_work.set(self)
            return job()

        return work

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until nothing is pending; False if the timeout (in seconds) came first.

        Inside a job of its own it does not wait, as it would wait for itself, but says whether that job is all that is pending.
        """
        if _at_work.get() is self:
            return self.is_alone
        with self._door:
            self._notice_fork()
        end = None if timeout is None else time.monotonic() + timeout
        while self.pending:  # judging leads to telling, and telling may lead to judging
            for line in (self._judges, self._tellers):
                if not line.flush(None if end is None else max(0.0, end - time.monotonic())):
                    return False
        return True

    def close(self) -> None:
        """Take no more evaluations; those that were handed over are still finished, and then the threads leave."""
        with self._door:
            self._closed = True

    def _judged(self, evaluation: Evaluation[T], name: str, outcome: Future[T]) -> None:
        checked: Future[Any] = settled(lambda: self._problem_of(outcome.result()))  # a judge may return anything
        error = checked.exception()
        problem = checked.result() if error is None else error
        if problem is None:
            self._count.add("scored")
            self.log.succeeded(name)
        else:
            self._note_failure(name, problem)
        with evaluation.lock:
            evaluation.outcomes[name] = outcome if error is None else checked
            is_last = len(evaluation.outcomes) == len(evaluation.expected)
        if is_last:
            self._finish(evaluation)

    def _note_failure(self, name: str, problem: BaseException | str) -> None:
        self._count.add("missing" if self.log.failed(name, problem) else "failures")

    def _finish(self, evaluation: Evaluation[T]) -> None:
        self._count.add("reported")  # what it tells of is no longer pending for the one who is told
        try:
            evaluation.then({name: evaluation.outcomes[name] for name in evaluation.expected})
        finally:
            self._count.add("ended")

    def _enter(self) -> None:
        """Have the end of the program wait for what comes in."""
        self._notice_fork()
        if self._process is None:
            call_at_exit(self.end)
            self._process = os.getpid()

    def _notice_fork(self) -> None:
        """In a fork of the program, begin anew: the threads stayed behind, and so did the work that they do."""
        if self._process not in (None, os.getpid()):
            self._begin_anew()
            self._process = os.getpid()

    def _begin_anew(self) -> None:
        self._count = Counts()
        self._judges = Background[T](_unheard, **self._threads)
        self._tellers = Background[Any](_unheard, **self._threads)

    def end(self) -> None:
        """Wait a while for what is pending, and say how much is lost all the same: the program ends."""
        if self._process != os.getpid():
            return  # a fork of the program that the work belongs to
        try:
            self.flush(self._exit_timeout)
        finally:
            if self.pending:
                self._logger.warning(
                    "%d evaluations are lost: the program ends, and they were not finished within another %g seconds; wait for "
                    "them with flush(), or longer with exit_timeout=...",
                    self.pending,
                    self._exit_timeout,
                )


def _unheard(_: Future[Any]) -> None:
    """Every job of the two lines has its own listener."""


def check_seconds(name: str, value: Any, *, least: float) -> None:
    """Refuse what is no finite number of seconds, or less than the least."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not least <= value < math.inf:
        raise InvalidInput(f"{name} must be a number of seconds, at least {least:g}, got {value!r}")

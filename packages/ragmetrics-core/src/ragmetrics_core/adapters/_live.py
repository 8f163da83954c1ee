"""The evaluation of a running application: every judgement in the background, and an account of what has become of it.

Strategy. There are two lines of jobs. In one the judgements are made: those of one evaluation at the same time, as far as there
are threads, and the last one to end reports them all. In the other the user's own functions are called, so that a slow one keeps
no judge from its work. Nothing is lost in silence: the first evaluation that finds no place and the first judgement that fails
are logged, all are counted, and the end of the program waits a while for what is pending and says how much it had to give up.
"""

from __future__ import annotations

import atexit
import logging
import math
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .._kernel._errors import InvalidInput
from ._background import Background, settled

if TYPE_CHECKING:
    from concurrent.futures import Future

__all__ = ["LiveJudging"]

T = TypeVar("T")

Judgements = Mapping[str, Callable[[], T]]
Listener = Callable[["dict[str, Future[T]]"], object]


class Evaluation(Generic[T]):
    """The judgements that belong to one evaluation, and what those have come to that have ended."""

    def __init__(self, expected: tuple[str, ...], then: Listener[T]) -> None:
        self.expected = expected
        self.then = then
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
            _check_seconds("timeout", timeout, least=0.001)
        _check_seconds("exit_timeout", exit_timeout, least=0.0)
        self._logger = logger
        self._max_pending = max_pending
        self._problem_of = problem_of
        self._exit_timeout = exit_timeout
        self._judges = Background[T](_unheard, workers=workers, capacity=sys.maxsize, timeout=timeout)
        self._tellers = Background[Any](_unheard, workers=workers, capacity=sys.maxsize, timeout=timeout)
        self._door = threading.Lock()
        self._counting = threading.Lock()
        self._begun = 0
        self._ended = 0
        self._scored = 0
        self._failures = 0
        self._dropped = 0
        self._untold = 0
        self._preparing = 0
        self._reported = 0
        self._closed = False
        self._process: int | None = None

    @property
    def pending(self) -> int:
        """Evaluations that are not finished, and functions of the user's that have not been called to their end."""
        return self._begun - self._ended + self._tellers.pending - self._preparing

    @property
    def is_alone(self) -> bool:
        """Whether nothing is pending but the one function of the user's that asks this."""
        return self._begun - self._reported + self._tellers.pending - self._preparing <= 1

    @property
    def dropped(self) -> int:
        """Evaluations that found no place."""
        return self._dropped

    @property
    def progress(self) -> int:
        """A number that grows as long as somebody answers."""
        return sum(line.finished - line.timed_out for line in (self._judges, self._tellers))

    @property
    def counts(self) -> dict[str, int]:
        """What has become of it so far.

        Judgements: ``scored`` (those with nothing to score included), ``failed``, ``timed_out``. Evaluations: ``dropped`` (there
        was no place), ``pending``. ``untold``: calls of the user's functions that found no place or took too long.
        """
        timed_out = self._judges.timed_out
        return {
            "scored": self._scored,
            "failed": max(0, self._failures - timed_out),
            "timed_out": timed_out,
            "dropped": self._dropped,
            "pending": self.pending,
            "untold": self._untold + self._tellers.timed_out,
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
            has_place = not self._closed and self._begun - self._ended < self._max_pending
            self._begun += has_place
            self._dropped += not has_place
            is_first_dropped = not has_place and self._dropped == 1
            self._expect_the_end()
        if is_first_dropped:
            why = "the line is closed" if self._closed else f"{self._max_pending} are waiting or being judged already"
            self._logger.warning("an evaluation was dropped: %s; further ones are only counted, see counts", why)
        if not has_place:
            return False
        if isinstance(judgements, Mapping):
            self._begin(judgements, then)
        else:
            with self._counting:
                self._preparing += 1
            try:
                self._submit(self._tellers, [(judgements, partial(self._prepared, then))])
            except RuntimeError:
                with self._counting:
                    self._preparing -= 1
                raise
        return True

    def _prepared(self, then: Listener[T], outcome: Future[Judgements[T]]) -> None:
        with self._counting:
            self._preparing -= 1
        error = outcome.exception()
        if error is None:
            self._begin(outcome.result(), then)
            return
        self._note_failure("the preparation of an evaluation", str(error) or type(error).__name__)
        self._begin({}, then)

    def _begin(self, judgements: Judgements[T], then: Listener[T]) -> None:
        evaluation = Evaluation(tuple(judgements), then)
        jobs: list[Any] = [(work, partial(self._judged, evaluation, name)) for name, work in judgements.items()]
        self._submit(self._judges, jobs or [(_nothing, lambda _: self._finish(evaluation))])

    def _submit(self, line: Background[Any], jobs: list[Any]) -> None:
        try:
            line.submit_all(jobs)
        except RuntimeError:
            with self._counting:
                self._ended += 1
            raise

    def tell(self, job: Callable[[], object], then: Callable[[Future[Any]], object]) -> bool:
        """Have a function of the user's called without waiting; False if there is no place for it.

        Args:
            job: what is to be called.
            then: called with its outcome; it should be quick.
        """
        with self._door:
            self._expect_the_end()
            has_place = self._tellers.pending < self._max_pending
            self._untold += not has_place
            is_first = not has_place and self._untold == 1
        if is_first:
            self._logger.warning(
                "a result was handed on to nobody: %d wait for that already; further ones are only counted, see counts",
                self._max_pending,
            )
        if not has_place:
            return False
        try:
            return self._tellers.submit(job, then)
        except RuntimeError:  # the program ends, or the system has no thread left: this one does it
            settled(job, then)
            return True

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until nothing is pending; False if the timeout (in seconds) came first."""
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
        error = outcome.exception()
        problem = self._problem_of(outcome.result()) if error is None else str(error) or type(error).__name__
        with self._counting:
            evaluation.outcomes[name] = outcome
            is_last = len(evaluation.outcomes) == len(evaluation.expected)
            self._scored += problem is None
        if problem is not None:
            self._note_failure(name, problem)
        if is_last:
            self._finish(evaluation)

    def _note_failure(self, name: str, problem: str) -> None:
        with self._counting:
            self._failures += 1
            is_first = self._failures == 1
        if is_first:
            self._logger.warning("%s failed: %s; further failures are only counted, see counts", name, problem)

    def _finish(self, evaluation: Evaluation[T]) -> None:
        with self._counting:
            self._reported += 1  # what it tells of is no longer pending for the one who is told
        try:
            evaluation.then({name: evaluation.outcomes[name] for name in evaluation.expected})
        finally:
            with self._counting:
                self._ended += 1

    def _expect_the_end(self) -> None:
        """Have the end of the program wait; it holds nothing of this alive until then."""
        if self._process is None:
            at_exit = partial(_at_exit, weakref.ref(self))
            atexit.register(at_exit)
            weakref.finalize(self, atexit.unregister, at_exit).atexit = False
        self._process = os.getpid()

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


def _at_exit(judging: weakref.ref[LiveJudging[Any]]) -> None:
    found = judging()
    if found is not None:
        found.end()


def _check_seconds(name: str, value: Any, *, least: float) -> None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not least <= value < math.inf:
        raise InvalidInput(f"{name} must be a number of seconds, at least {least:g}, got {value!r}")


def _nothing() -> None:
    """What an evaluation without metrics does."""


def _unheard(_: Future[Any]) -> None:
    """Every job of the two lines has its own listener."""

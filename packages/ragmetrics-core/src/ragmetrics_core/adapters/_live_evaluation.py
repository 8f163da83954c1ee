"""What the live evaluation of every framework shares: which calls are judged, which records are kept, and which functions
receive them.

An adapter's class inherits from ``LiveEvaluation`` and hands over each finished call of the application. The user's functions
(``only``, ``on_result``, those that a ``Finished`` has to call) run in the background, and so do the judges. What they raise is
logged and noted in the record, and never reaches the application. An invalid setting is refused in the constructor.
"""

from __future__ import annotations

import inspect
import os
import threading
import time
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, NoReturn, Protocol, TypedDict, TypeVar

from .._store._spool import Spool
from .._support._threads import awaited, in_own_thread
from .._values._errors import InvalidInput
from .._values._settings import check_whole
from ._background import failed_outcome, settled
from ._judging import judging
from ._live_judging import Judgements, LiveJudging
from ._loops import run_blocking
from ._selection import NotAsked, RollingBudget, Sampling
from ._spans import SpanIds, current_span, in_span
from ._spooling import Redact, RedactedRecord, Spooling, redacted

if TYPE_CHECKING:
    import logging
    from concurrent.futures import Future

    from typing_extensions import Self

    from .._kernel._drive import Models

R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])

PATIENCE = 60.0
"""Seconds without progress after which the end of a ``with`` block stops waiting."""


class LiveSettings(TypedDict, total=False):
    """The settings of a live evaluation, the same for all frameworks; ``LiveEvaluation`` explains them."""

    sample_rate: float | Mapping[str, float]
    seed: int | None
    budget: Mapping[str, Mapping[str, float]] | None
    only: Callable[[Any], object] | None
    on_result: Callable[[Any], object] | None
    sinks: Iterable[Callable[[Any], object]]
    spool: str | os.PathLike[str] | Spool | None
    redact: Callable[[str], str] | None
    on_problem: Callable[[str, BaseException | str], object] | None
    max_pending: int
    max_concurrency: int
    workers: int
    keep: int | None
    timeout: float | None
    exit_timeout: float
    trace: bool


def current_names(given: Mapping[str, Any], former: Mapping[str, str]) -> dict[str, Any]:
    """Return settings under their current names, with a ``DeprecationWarning`` for each that was given under a former name.

    Args:
        given: the keyword arguments of a constructor. The warning points to its caller.
        former: the former names, each with the current one.

    Raises:
        InvalidInput: a setting was given under both names.
    """
    renamed = dict(given)
    for old, new in former.items():
        if old not in renamed:
            continue
        if new in renamed:
            raise InvalidInput(f"{old} is the former name of {new}: give only {new}")
        warnings.warn(f"{old} is now called {new}", DeprecationWarning, stacklevel=3)
        renamed[new] = renamed.pop(old)
    return renamed


class Finished(Protocol[R_co, T]):
    """One finished call of the application, with everything that the adapter recorded about it."""

    @property
    def is_complete(self) -> bool:
        """Whether ``complete`` has nothing (more) to do."""
        ...

    def complete(self) -> object:
        """Run the user's functions that are needed to read this finished call. Runs in a background thread."""
        ...

    def record(self) -> R_co:
        """Return the argument of ``only``: the record without scores, as far as it is known."""
        ...

    def judgements(self) -> Judgements[T]:
        """Return the function that computes the score of each metric."""
        ...

    def identity(self, name: str) -> str | None:
        """Return a digest of everything that a metric reads of this call; None if it is not known."""
        ...

    def to_data(self) -> dict[str, Any]:
        """Return the call as plain values, for the spool."""
        ...

    def judged(self, outcomes: Mapping[str, Future[T]]) -> R_co:
        """Return the record with the outcomes of the judgements; without outcomes if ``complete`` or ``only`` failed. The outcome
        of a metric that was not asked, because this call is outside its sample, is the error ``NotAsked``.
        """
        ...


@dataclass
class Passage(Generic[R, T]):
    """A finished call on its way through the judging.

    Attributes:
        finished: the call.
        draw: what ``Sampling`` drew for it.
        span: the span in which it ran; None if it is not known.
        ticket: its id in the spool; None if it is not kept there.
        answer: the answer of ``only``; None: it was not asked.
    """

    finished: Finished[R, T]
    draw: float
    span: SpanIds | None
    ticket: str | None = None
    answer: Future[Collection[str]] | None = None


class LiveEvaluation(Generic[R, T]):
    """The live evaluation of an application: its settings, its counts, and ways to wait for it.

    Args:
        logger: the logger of the adapter, named after its package.
        problem_of: returns what is wrong with a judgement, in words; None if nothing is.
        record: the name of a record in messages, such as ``an EvaluationRecord``; None: messages leave it out.
        judges: the models of each metric, by its name; None: they are not known.
        sample_rate: share of the finished calls to judge, 0 to 1; or the shares of metrics by name (1 for those without). Of calls
            whose metadata name a session (``session_id``, ``thread_id`` or ``conversation_id``), whole sessions are chosen.
        seed: makes the random choice of these calls repeatable; the choice of sessions is repeatable without one.
        budget: the most that the calls to models may cost in an hour and in a day, such as ``{"hour": {"calls": 500}, "day":
            {"dollars": 5}}`` (also ``tokens``). Calls of the application beyond that are dropped. Each process has its own budget.
        only: decides which of these calls to judge, or returns the names of the metrics that judge it. It is called in the
            background with the record without scores; it may be a coroutine function.
        on_result: called in the background with every record; a coroutine function is run to its end.
        sinks: more functions that are called as ``on_result`` is, such as a ``JsonlSink``. If one fails, the others still get their
            records. A sink is called with one record at a time, unless it has an attribute ``workers``.
            If it has a method ``attach`` or ``close``, this is called with the live evaluation, or at the end.
        spool: a directory that keeps calls until they are judged, also if the process is killed or too many are pending; the next
            process judges them. A ``Spool`` has limits.
        redact: returns what the spool and the sinks may have of a text, such as one without names. Calls that come back from the
            spool are judged by what is left. Ids and the names of metadata are not redacted.
        on_problem: called in the background with the name of the metric or function, and what went wrong, whenever this is logged:
            at the first failure of each cause, and again after a recovery.
        max_pending: calls that may wait or be judged; further calls are dropped and counted.
        max_concurrency: judgements (one metric on one call) by asynchronous metrics and models that run at the same time. As many
            are needed as calls are judged in a second, times the seconds that their judgements take.
        workers: judgements that can only block, each in a thread, that run at the same time, and functions of the user.
        keep: the number of records to keep, the newest ones; None: all.
        timeout: seconds that one judgement or one of the user's functions may take. After that it counts as failed, and the next
            one starts. None: no limit.
        exit_timeout: seconds that the exit of the program waits for pending work, unless ``close`` was called; what is lost after
            that is logged.
        trace: False hides the judging from OpenTelemetry. Otherwise spans of OpenInference have ``ragmetrics`` in their metadata.

    Raises:
        InvalidInput: a setting has an impossible value.
    """

    def __init__(
        self,
        logger: logging.Logger,
        problem_of: Callable[[T], str | None],
        record: str | None = None,
        *,
        judges: Mapping[str, Models] | None = None,
        sample_rate: float | Mapping[str, float] = 1.0,
        seed: int | None = None,
        budget: Mapping[str, Mapping[str, float]] | None = None,
        only: Callable[[R], object] | None = None,
        on_result: Callable[[R], object] | None = None,
        sinks: Iterable[Callable[[R], object]] = (),
        spool: str | os.PathLike[str] | Spool | None = None,
        redact: Callable[[str], str] | None = None,
        on_problem: Callable[[str, BaseException | str], object] | None = None,
        max_pending: int = 1000,
        max_concurrency: int = 64,
        workers: int = 4,
        keep: int | None = None,
        timeout: float | None = 120.0,
        exit_timeout: float = 10.0,
        trace: bool = True,
    ) -> None:
        counted = {"max_pending": max_pending, "max_concurrency": max_concurrency, "workers": workers}
        for name, number in {**counted, "keep": 1 if keep is None else keep}.items():
            check_whole(name, number, least=1)
        self._only = _functions(record, only=only).get("only")
        self._told = _functions(record, sinks, on_result=on_result)
        self._logger = logger
        self._names = tuple(judges or {})
        self._sampling = Sampling(sample_rate, seed, self._names)
        self._most = keep
        self._kept: list[R] = []
        # reentrant, because garbage collection may end a stream in this thread, and its record is kept too
        self._keeping = threading.RLock()
        self._live = LiveJudging[T](
            logger,
            **counted,
            problem_of=problem_of,
            timeout=timeout,
            exit_timeout=exit_timeout,
            budget=None if budget is None else RollingBudget(budget, (judges or {}).values()),
            trace=trace,
        )
        self._redact = redact if _functions(None, redact=redact) else None
        self._spooling = self._opened(spool, max_pending)
        listener = _functions(None, on_problem=on_problem).get("on_problem")
        self._live.log.on_logged = None if listener is None else partial(self._tell_problem, listener)
        self._call_sinks("attach", self)

    def _opened(self, spool: str | os.PathLike[str] | Spool | None, max_pending: int) -> Spooling | None:
        if spool is None:
            return None
        spool = spool if isinstance(spool, Spool) else Spool(spool)
        self._live.spool = str(spool.path)
        kind = f"{type(self).__name__} with {', '.join(sorted(self._names))}"
        return Spooling(spool, kind, self._live, max_pending, self._restore)

    @property
    def counts(self) -> dict[str, int]:
        """The counts so far. Judgements (one metric on one call): ``scored``, ``failed``, ``missing`` (the call lacks a field of
        the metric), ``timed_out``. Calls: ``dropped``, ``pending``. Results: ``untold``, if the queue for ``on_result`` was full
        or ``on_result`` did not return.
        """
        return self._live.counts

    @property
    def dropped(self) -> int:
        """The number of calls that were not judged because too many were pending."""
        return self._live.dropped

    @property
    def pending(self) -> int:
        """The number of calls that wait, are being judged, or wait for ``on_result``."""
        return self._live.pending

    def stats(self) -> dict[str, Any]:
        """Return ``counts``; ``seen``: the calls that were to be judged; ``spooled``: calls that this process has left to the
        spool; ``causes``: how often each cause of a failure occurred; and ``seconds``: for each metric the times of its last 1,000
        judgements, as ``p50``, ``p99`` and ``most``.
        """
        return self._live.stats()

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until every call so far is judged, also those that wait in the spool for a place; return False if that took more
        than ``timeout`` seconds. If one of the user's functions, such as ``on_result``, calls this, it does not wait, because it
        would wait for itself.
        """
        end = None if timeout is None else time.monotonic() + timeout
        while self._live.flush(None if end is None else max(0.0, end - time.monotonic())):
            if self._spooling is None or not self._spooling.look():
                return True
        return False

    async def aflush(self, timeout: float | None = None) -> bool:
        """Like ``flush``, without blocking the running loop."""
        return await in_own_thread(partial(self.flush, timeout))

    def close(self, timeout: float | None = None) -> bool:
        """Judge no further call, wait for those that are pending, and log how many were not judged. Return False if some are still
        pending after ``timeout`` seconds; None: after ``exit_timeout`` seconds. The application can go on; its calls are dropped
        and counted.

        Call it at the end of a server's shutdown: many servers end by a signal, and then Python runs no exit functions.
        """
        if self._spooling is not None:
            self._spooling.look()
        try:
            return self._live.close(timeout)
        finally:
            self._call_sinks("close")

    def _call_sinks(self, name: str, *arguments: object) -> None:
        """Call the method of this name of every sink that has it; what it raises is logged."""
        for sink, function in self._told.items():
            if hasattr(function, name):
                error = settled(partial(getattr(function, name), *arguments)).exception()
                if error is not None:
                    self._live.log.failed(sink, error, "are not logged")

    async def aclose(self, timeout: float | None = None) -> bool:
        """Like ``close``, without blocking the running loop."""
        return await in_own_thread(partial(self.close, timeout))

    def __enter__(self) -> Self:
        """Enter a block whose end waits for the judging, as long as there is progress."""
        return self

    def __exit__(self, *_: object) -> None:
        self._drain()

    async def __aenter__(self) -> Self:
        """Like ``__enter__``, without blocking the loop."""
        return self.__enter__()

    async def __aexit__(self, *raised: object) -> None:
        await in_own_thread(partial(self.__exit__, *raised))

    def _drain(self) -> None:
        """Wait as long as there is progress, so that a judge that hangs does not block the program."""
        progress = -1
        while progress != self._live.progress:
            progress = self._live.progress
            if self.flush(PATIENCE):
                return
        self._logger.warning("%d evaluations are not finished: the judge does not answer", self.pending)

    def __reduce__(self) -> NoReturn:
        name = type(self).__name__
        raise TypeError(f"a {name} cannot be pickled, as it has threads and results: make one in each process")

    def _judge(self, finished: Finished[R, T], draw: float = 0.0) -> None:
        """Queue a finished call to be judged, kept and passed to ``on_result``, without waiting. ``draw`` is what ``Sampling``
        drew for it; all metrics judge it if it is 0.
        """
        self._send(Passage(finished, draw, current_span()))

    def _send(self, passage: Passage[R, T]) -> None:
        finished = passage.finished
        if self._spooling is not None:
            self._spooling.look()
            if finished.is_complete and passage.ticket is None and not self._live.is_over_budget:
                passage.ticket = self._spooling.keep(partial(self._stored, passage))
        if finished.is_complete and self._only is None:
            is_begun = self._live.judge(self._work(passage), partial(self._end, passage), finished.identity)
        else:
            work, then = partial(self._chosen, passage), partial(self._end_chosen, passage)
            is_begun = self._live.judge(work, then, finished.identity)
        if not is_begun and self._spooling is not None and not self._live.is_over_budget:
            self._spooling.release(passage.ticket or self._spooling.keep(partial(self._stored, passage)))

    def _stored(self, passage: Passage[R, T]) -> dict[str, Any]:
        """Return a call as the spool keeps it."""
        if not passage.finished.is_complete:
            passage.finished.complete()
        data = redacted(passage.finished.to_data(), self._redact)
        return {"draw": passage.draw, "span": passage.span, "call": data}

    def _restore(self, ticket: str, data: Any) -> None:
        """Judge a call that the spool has kept."""
        span = None if data["span"] is None else (data["span"][0], data["span"][1])
        self._send(Passage(self._restored(data["call"]), data["draw"], span, ticket))

    def _restored(self, data: dict[str, Any]) -> Finished[R, T]:
        """Return the finished call that ``to_data`` wrote."""
        raise NotImplementedError

    def _work(self, passage: Passage[R, T]) -> Judgements[T]:
        work = passage.finished.judgements()
        return {name: each for name, each in work.items() if self._sampling.includes(name, passage.draw)}

    def _end(self, passage: Passage[R, T], outcomes: Mapping[str, Future[T]]) -> None:
        """Keep and hand on the record of a call that was judged, also by metrics that were not asked."""
        unasked: Future[T] = failed_outcome(NotAsked("not asked: this call is outside the sample of the metric"))
        record = passage.finished.judged({**dict.fromkeys(self._names, unasked), **outcomes})
        self._keep_and_tell(record, passage)

    def _chosen(self, passage: Passage[R, T]) -> Judgements[T]:
        """Return the judgements of a call; none if ``only`` rejects the call. Runs in a background thread."""
        finished = passage.finished
        finished.complete()
        if self._spooling is not None and passage.ticket is None:
            passage.ticket = self._spooling.keep(partial(self._stored, passage))
        work = self._work(passage)
        if self._only is None:
            return work
        only, record = self._only, finished.record()
        passage.answer = failed_outcome(TimeoutError("no answer in time"))
        with judging():  # calls that it makes are not calls of the application
            passage.answer = settled(lambda: _names_in(_call(only, record)))
        asked = passage.answer.result()
        return {name: each for name, each in work.items() if asked is _ALL or name in asked}

    def _end_chosen(self, passage: Passage[R, T], outcomes: Mapping[str, Future[T]]) -> None:
        problem = None if passage.answer is None else passage.answer.exception()
        if problem is None and passage.answer is not None and not passage.answer.result():
            self._leave_out(passage.finished.record())
            self._remove(passage)
        elif problem is None and outcomes:
            self._end(passage, outcomes)
        else:
            record = passage.finished.judged(outcomes)
            self._keep_and_tell(record if problem is None else self._with_problem(record, "only", problem), passage)

    def _remove(self, passage: Passage[R, T]) -> None:
        """Remove a call from the spool, because it is judged."""
        if self._spooling is not None:
            if passage.ticket is not None:
                self._spooling.remove(passage.ticket)
            self._spooling.look()

    def _leave_out(self, record: R) -> None:
        """Handle a call that ``only`` rejects."""

    def _with_problem(self, record: R, function: str, problem: BaseException) -> R:  # noqa: ARG002  for those who override it
        """Return the record with the exception of one of the user's functions."""
        return record

    def _keep(self, record: R) -> None:
        with self._keeping:
            self._kept.append(record)
            if self._most is not None:
                del self._kept[: -self._most]

    def _keep_and_tell(self, record: R, passage: Passage[R, T] | None = None) -> None:
        """Keep a record, and hand it to the user's functions. When they have returned, its call leaves the spool."""
        self._keep(record)
        waiting = {*self._told}
        if not waiting and passage is not None:
            self._remove(passage)

        def note(name: str, outcome: Future[Any] | None) -> None:
            if outcome is not None:
                self._note_result(record, name, outcome)
            with self._keeping:
                waiting.discard(name)
                is_last = not waiting
            if is_last and passage is not None:
                self._remove(passage)

        for name, function in self._told.items():
            # a sink may not see everything, and writes in order unless it says how many calls of it may run at the same time
            is_sink = name != "on_result"
            span, redact = None if passage is None else passage.span, self._redact if is_sink else None
            tell = partial(_tell, function, record, span, redact)
            if not self._live.tell(tell, partial(note, name), name, workers=getattr(function, "workers", int(is_sink))):
                note(name, None)

    def _tell_problem(self, function: Callable[..., object], name: str, problem: BaseException | str) -> None:
        if name != "on_problem":
            self._live.tell(partial(_tell, partial(function, name), problem), self._note_problem, "on_problem")

    def _note_problem(self, outcome: Future[Any]) -> None:
        error = outcome.exception()
        if error is not None:
            self._live.log.failed("on_problem", error, "are not logged")

    def _note_result(self, record: R, name: str, outcome: Future[Any]) -> None:
        error = self._live.log.note(name, outcome)
        if error is None:
            return
        changed = self._with_problem(record, name, error)
        if changed is not record:
            with self._keeping:
                newest_first = reversed(range(len(self._kept)))
                place = next((place for place in newest_first if self._kept[place] is record), None)
                if place is not None:  # the user may have taken it away
                    self._kept[place] = changed


def shows_settings(**defaults: Any) -> Callable[[F], F]:
    """Make ``help`` and notebooks show the live settings of a constructor one by one, although it takes them as ``**settings``.

    Args:
        defaults: defaults that differ from the defaults of ``LiveEvaluation``.
    """

    def with_signature(init: F) -> F:
        first = [item for item in inspect.signature(init).parameters.values() if item.kind is not item.VAR_KEYWORD]
        live = inspect.signature(LiveEvaluation.__init__).parameters
        names = LiveSettings.__annotations__
        settings = [live[name].replace(default=defaults.get(name, live[name].default)) for name in names]
        setattr(init, "__signature__", inspect.Signature([*first, *settings]))  # noqa: B010  of any function
        return init

    return with_signature


_ALL: Collection[str] = ("all metrics",)
"""The answer of ``only`` with which all metrics judge a call."""


def _names_in(answer: object) -> Collection[str]:
    """Return the names of the metrics that judge a call, by the answer of ``only``."""
    if isinstance(answer, list | tuple | set | frozenset):
        return frozenset(map(str, answer))
    return _ALL if answer else ()


def _functions(
    record: str | None, sinks: Iterable[Callable[..., object]] = (), **named: Callable[..., object] | None
) -> dict[str, Callable[..., object]]:
    """Return the user's functions of a ``record`` by name.

    Raises:
        InvalidInput: one of them is not a function.
    """
    given = named | {f"sinks[{place}] ({type(sink).__name__})": sink for place, sink in enumerate(sinks)}
    for name, function in given.items():
        if function is not None and not callable(function):
            raise InvalidInput(f"{name} must be a function{f' of {record}' if record else ''}, got {function!r}")
    return {name: function for name, function in given.items() if function is not None}


@judging()  # calls that the function makes are not calls of the application
def _tell(
    function: Callable[..., object], record: Any, span: SpanIds | None = None, redact: Redact | None = None
) -> None:
    with in_span(span):
        _call(function, record if redact is None else RedactedRecord(record, redact))


def _call(function: Callable[[R], object], record: R) -> object:
    """Call one of the user's functions with a record and return its result; a coroutine function is run to its end."""
    answer = function(record)
    return run_blocking(partial(awaited, answer)) if inspect.isawaitable(answer) else answer

"""What the live evaluation of every framework has in common: which calls are judged, which records are kept, who gets them.

Strategy. An adapter's class inherits from this one and hands over each call of the application when it has finished. What belongs
to the user (``only``, ``on_result``, whatever a ``Finished`` has to call) is called in the background, and so are the judges; what
it raises is logged, is noted in the record, and never reaches the application. A wrong setting is refused where it is written.
"""

from __future__ import annotations

import inspect
import random
import threading
import warnings
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, NoReturn, Protocol, TypedDict, TypeVar

from .._support._threads import in_own_thread
from .._values._errors import InvalidInput
from .._values._settings import check_whole
from ._background import failed_outcome, settled
from ._judging import judging
from ._live_judging import Judgements, LiveJudging
from ._loops import run_blocking

if TYPE_CHECKING:
    import logging
    from concurrent.futures import Future

    from typing_extensions import Self

R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., None])

PATIENCE = 60.0
"""Seconds without any progress after which the end of a ``with`` block waits no longer."""


class LiveSettings(TypedDict, total=False):
    """What the user of a live evaluation can set, whatever the framework; ``LiveEvaluation`` says what each means."""

    sample_rate: float
    seed: int | None
    only: Callable[[Any], object] | None
    on_result: Callable[[Any], object] | None
    max_pending: int
    workers: int
    keep: int | None
    timeout: float | None
    exit_timeout: float


def current_names(given: Mapping[str, Any], former: Mapping[str, str]) -> dict[str, Any]:
    """Settings under their current names, with a ``DeprecationWarning`` for each that came under a former one.

    Args:
        given: the keyword arguments of a constructor, whose caller is the one to be warned.
        former: the former names, each with the current one.

    Raises:
        InvalidInput: a setting came under both names.
    """
    found = dict(given)
    for old, new in former.items():
        if old not in found:
            continue
        if new in found:
            raise InvalidInput(f"{old} is the former name of {new}: give {new} alone")
        warnings.warn(f"{old} is now called {new}", DeprecationWarning, stacklevel=3)
        found[new] = found.pop(old)
    return found


class Finished(Protocol[R_co, T]):
    """One finished call of the application, as the adapter sees it."""

    @property
    def is_complete(self) -> bool:
        """Whether ``complete`` has nothing (more) to do."""
        ...

    def complete(self) -> object:
        """Call the functions of the user's that are needed to read it; on a thread of the background."""
        ...

    def record(self) -> R_co:
        """What ``only`` is asked about: the record without scores, as far as it is known."""
        ...

    def judgements(self) -> Judgements[T]:
        """What each metric is to do."""
        ...

    def judged(self, outcomes: Mapping[str, Future[T]]) -> R_co:
        """The record with the outcomes of the judgements; there are none where ``complete`` or ``only`` failed."""
        ...


class LiveEvaluation(Generic[R, T]):
    """The live evaluation of an application: the settings, the counts, and the ways to wait for it.

    Args:
        logger: the adapter's, by the name of its package.
        problem_of: what is wrong with a judgement, in words; None if nothing is.
        record: what messages call a record, such as ``an EvaluationRecord``; None: they leave it out.
        sample_rate: share of the finished calls to judge, 0 to 1.
        seed: makes the choice of these repeatable.
        only: which of these to judge: asked in the background about the record without scores, also as a coroutine function.
        on_result: called in the background with every record; a coroutine function is run to its end.
        max_pending: calls that may wait or be in work; one more is dropped and counted.
        workers: judgements (one metric on one call) that are made at the same time.
        keep: records to keep, the newest ones; None: all.
        timeout: seconds that one judgement or one function of the user's may take; then it counts as failed, and the next one
            starts. None: no limit.
        exit_timeout: seconds that the end of the program waits for what is still pending; what is lost then is logged.

    Raises:
        InvalidInput: a setting has a value that it cannot have.
    """

    def __init__(
        self,
        logger: logging.Logger,
        problem_of: Callable[[T], str | None],
        record: str | None = None,
        *,
        sample_rate: float = 1.0,
        seed: int | None = None,
        only: Callable[[R], object] | None = None,
        on_result: Callable[[R], object] | None = None,
        max_pending: int = 1000,
        workers: int = 4,
        keep: int | None = None,
        timeout: float | None = 120.0,
        exit_timeout: float = 10.0,
    ) -> None:
        if isinstance(sample_rate, bool) or not isinstance(sample_rate, int | float) or not 0 <= sample_rate <= 1:
            raise InvalidInput(f"sample_rate is a share from 0 to 1, got {sample_rate!r}")
        for name, number in [("max_pending", max_pending), ("workers", workers), ("keep", 1 if keep is None else keep)]:
            check_whole(name, number, least=1)
        for name, function in [("only", only), ("on_result", on_result)]:
            if function is not None and not callable(function):
                raise InvalidInput(f"{name} must be a function{f' of {record}' if record else ''}, got {function!r}")
        self._logger = logger
        self._sample_rate = sample_rate
        self._random = random.Random(seed)  # noqa: S311  no secret depends on it
        self._only = only
        self._on_result = on_result
        self._most = keep
        self._kept: list[R] = []
        self._keeping = threading.RLock()  # a stream that is collected meanwhile is kept too, on the same thread
        times: Any = {"timeout": timeout, "exit_timeout": exit_timeout}
        self._live = LiveJudging[T](logger, workers=workers, max_pending=max_pending, problem_of=problem_of, **times)

    @property
    def counts(self) -> dict[str, int]:
        """What became of it: judgements (one metric on one call) ``scored``, ``failed``, ``missing`` (the call has not all
        fields that the metric needs) and ``timed_out``; calls that were ``dropped`` or are ``pending``; results ``untold``, as
        ``on_result`` had no place for them or did not return.
        """
        return self._live.counts

    @property
    def dropped(self) -> int:
        """Calls that were not judged because too many were pending."""
        return self._live.dropped

    @property
    def pending(self) -> int:
        """Calls that wait or are being judged, or wait for ``on_result``."""
        return self._live.pending

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until everything that was handed over is judged; False if ``timeout`` seconds were not enough.

        Inside a function of the user's that this calls, such as ``on_result``, it does not wait, as it would wait for itself.
        """
        return self._live.flush(timeout)

    async def aflush(self, timeout: float | None = None) -> bool:
        """The same without blocking the running loop."""
        return await in_own_thread(partial(self.flush, timeout))

    def __enter__(self) -> Self:
        """The end of the block waits for the judging, as long as there is progress."""
        return self

    def __exit__(self, *_: object) -> None:
        self._drain()

    async def __aenter__(self) -> Self:
        """The same, without blocking the loop."""
        return self.__enter__()

    async def __aexit__(self, *raised: object) -> None:
        await in_own_thread(partial(self.__exit__, *raised))

    def _drain(self) -> None:
        """Wait as long as there is progress: a judge that hangs must not hang the program."""
        progress = -1
        while progress != self._live.progress:
            progress = self._live.progress
            if self.flush(PATIENCE):
                return
        self._logger.warning("%d evaluations are not finished: the judge does not answer", self.pending)

    def __reduce__(self) -> NoReturn:
        name = type(self).__name__
        raise TypeError(f"a {name} cannot be pickled, as it has threads and results: make one in each process")

    def _is_sampled(self) -> bool:
        """Whether the next call belongs to the share that is judged."""
        return self._sample_rate == 1 or self._random.random() < self._sample_rate

    def _judge(self, finished: Finished[R, T]) -> None:
        """Have a finished call judged, kept and handed to ``on_result``, without waiting."""
        if finished.is_complete and self._only is None:
            self._live.judge(finished.judgements(), lambda outcomes: self._keep_and_tell(finished.judged(outcomes)))
            return
        answers = [settled(lambda: True)]
        self._live.judge(partial(self._chosen, finished, answers), partial(self._judge_chosen, finished, answers))

    def _chosen(self, finished: Finished[R, T], answers: list[Future[bool]]) -> Judgements[T]:
        """The judgements of a call, none where ``only`` does not want it; runs on a thread of the background."""
        finished.complete()
        if self._only is not None:
            only, record = self._only, finished.record()
            answers.append(failed_outcome(TimeoutError("no answer in time")))
            with judging():  # whatever it calls is not the application
                answers.append(settled(lambda: bool(_call(only, record))))
            if not answers[-1].result():
                return {}
        return finished.judgements()

    def _judge_chosen(
        self, finished: Finished[R, T], answers: list[Future[bool]], outcomes: Mapping[str, Future[T]]
    ) -> None:
        problem = answers[-1].exception()  # of the last answer of ``only``
        if problem is None and not answers[-1].result():
            self._leave_out(finished.record())
            return
        record = finished.judged(outcomes)
        self._keep_and_tell(record if problem is None else self._with_problem(record, "only", problem))

    def _leave_out(self, record: R) -> None:
        """What becomes of a call that ``only`` does not want."""

    def _with_problem(self, record: R, function: str, problem: BaseException) -> R:  # noqa: ARG002  for those who override it
        """The record with what a function of the user's raised."""
        return record

    def _keep(self, record: R) -> None:
        with self._keeping:
            self._kept.append(record)
            if self._most is not None:
                del self._kept[: -self._most]

    def _keep_and_tell(self, record: R) -> None:
        self._keep(record)
        if self._on_result is not None:
            self._live.tell(partial(self._tell, record), partial(self._note_result, record))

    def _tell(self, record: R) -> None:
        if self._on_result is not None:
            _call(self._on_result, record)

    def _note_result(self, record: R, outcome: Future[None]) -> None:
        error = outcome.exception()
        if error is None:
            self._live.log.succeeded("on_result")
            return
        self._live.log.failed("on_result", error, "are not logged")
        changed = self._with_problem(record, "on_result", error)
        if changed is not record:
            with self._keeping:  # the user may have taken it away
                self._kept[:] = [changed if kept is record else kept for kept in self._kept]


def shows_settings(**defaults: Any) -> Callable[[F], F]:
    """Have ``help`` and notebooks show the live settings of a constructor, which it takes as ``**settings``, one by one.

    Args:
        defaults: those that differ from the ones of ``LiveEvaluation``.
    """

    def with_signature(init: F) -> F:
        own = [item for item in inspect.signature(init).parameters.values() if item.kind is not item.VAR_KEYWORD]
        live = inspect.signature(LiveEvaluation.__init__).parameters
        names = LiveSettings.__annotations__
        settings = [live[name].replace(default=defaults.get(name, live[name].default)) for name in names]
        setattr(init, "__signature__", inspect.Signature([*own, *settings]))  # noqa: B010  of any function
        return init

    return with_signature


def _call(function: Callable[[R], object], record: R) -> object:
    """What a function of the user's says of a record; a coroutine function is run to its end."""
    answer = function(record)
    return run_blocking(partial(_awaited, answer)) if inspect.isawaitable(answer) else answer


async def _awaited(answer: Awaitable[Any]) -> Any:
    return await answer

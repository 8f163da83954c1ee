"""Evaluates live chains: watches them, recovers what was asked, found and answered, and lets the metrics judge it in the
background.

Strategy. A hook does nothing but note an event; when a root run has ended, its sample is recovered at once (the caller may
change the messages afterwards) and handed to a bounded queue. Judging happens on threads of its own, in an empty context, so
it changes and delays nothing of the chain, and never watches itself.
"""

from __future__ import annotations

import inspect
import logging
import random
import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from operator import attrgetter
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import merge_configs
from langchain_core.tracers.context import register_configure_hook

from ragmetrics_core import Metric, Sample, Score
from ragmetrics_core.adapters import LiveJudging, in_own_thread, run_blocking

from ._checks import check_count, check_function, check_share, runnables
from ._extractors import Extractors, Reading
from ._graphs import watching_graphs
from ._hooks import RunWatcher
from ._live._recover import Extractor, answer_of, contexts_of, is_many, is_waiting, question_of
from ._metric._runnable import MetricRunnable, untraced
from ._record import EvaluationRecord, Status, record_of, scored
from ._runs import FinishedRun

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["RagEvaluationCallback"]

logger = logging.getLogger("ragmetrics_langchain")

_attached: ContextVar[BaseCallbackHandler | None] = ContextVar("ragmetrics_attached", default=None)
register_configure_hook(_attached, inheritable=True)

_at_work: ContextVar[object] = ContextVar("ragmetrics_at_work", default=None)
"""The callback whose job runs in this context."""

PATIENCE = 60.0
"""Seconds without any progress after which the end of a ``with`` block waits no longer."""


class RagEvaluationCallback(RunWatcher):
    """A callback handler that evaluates every call of the chains it is given to: ``config={"callbacks": [callback]}``.

    Args:
        metrics: what to judge; each needs a name of its own.
        llm: a judge for metrics that have none of their own: a LangChain chat model, or any LLM of the core.
        embeddings: an embedding model for metrics that have none of their own, of LangChain or of the core.
        sample_rate: share of the complete calls to judge, 0 to 1; the others become records with the status ``skipped``.
        on_result: called in the background with every record but the skipped ones, such as ``langsmith_feedback(client)``; a
            coroutine function is run to its end. What it raises is logged, and stands in the ``error`` of the record in
            ``results``.
        max_queue: calls that may wait for judging; one more is dropped and counted in ``dropped``.
        workers: judgements (one metric on one call) that are made at the same time.
        timeout: seconds that one judgement may take, and one call of ``on_result`` or of an extractor; then it counts as failed,
            and its place is given to the next one. None: as long as it likes.
        exit_timeout: seconds that the end of the program waits for what is still pending; what is lost then is logged.
        max_results: how many records to keep, the newest ones; default: all. Set it, or clear ``results``, in a service.
        question, answer, contexts: functions from a ``FinishedRun`` to the question, the answer (texts or messages), and the
            contexts (texts or documents, one or a list), instead of the built-in ones. They are called in the background. One
            that raises, or returns anything else, leaves the field empty and the problem in the record.
        config: LangChain config of the judging, such as callbacks that trace it; the chain's own never reaches it.
        trace: whether the judging is sent to LangSmith where tracing is on: each judgement is a trace of its own, with the tag
            ``ragmetrics``.

    Attributes:
        results: the records so far, in the order in which they were finished.

    Raises:
        InvalidInput: a setting is impossible, a metric is none, two metrics have the same name, or a metric asks an LLM and
            there is none.
    """

    def __new__(cls, *args: Any, **settings: Any) -> Self:  # noqa: ARG004  they are for __init__
        """A handler of LangChain, and of LangGraph where that is installed."""
        return super().__new__(watching_graphs(cls))

    def __init__(
        self,
        metrics: Iterable[Metric] = (),
        *,
        llm: Any = None,
        embeddings: Any = None,
        sample_rate: float = 1.0,
        on_result: Callable[[EvaluationRecord], object] | None = None,
        max_queue: int = 1000,
        workers: int = 4,
        timeout: float | None = 120.0,
        exit_timeout: float = 10.0,
        max_results: int | None = None,
        question: Extractor = question_of,
        answer: Extractor = answer_of,
        contexts: Extractor = contexts_of,
        config: RunnableConfig | None = None,
        trace: bool = True,
    ) -> None:
        super().__init__()
        check_share("sample_rate", sample_rate)
        most_results = 1 if max_results is None else max_results
        for setting, value in [("max_queue", max_queue), ("workers", workers), ("max_results", most_results)]:
            check_count(setting, value)
        if on_result is not None:
            check_function("on_result", on_result, "an EvaluationRecord")
        self._extractors = Extractors(question=question, answer=answer, contexts=contexts)
        self._metrics = runnables(metrics, llm, embeddings)
        self.results: list[EvaluationRecord] = []
        self._sample_rate = sample_rate
        self._on_result = on_result
        self._most_results = max_results
        self._config = merge_configs({"tags": ["ragmetrics"]}, config)
        self._trace = trace
        self._lock = threading.Lock()
        times: Any = {"timeout": timeout, "exit_timeout": exit_timeout}
        capacity = max_queue + workers
        self._live = LiveJudging[Score](
            logger, workers=workers, max_pending=capacity, problem_of=attrgetter("error"), **times
        )

    @property
    def dropped(self) -> int:
        """Calls that were not judged because the queue was full."""
        return self._live.dropped

    @property
    def counts(self) -> dict[str, int]:
        """What has become of it: judgements (one metric on one call) ``scored``, ``failed`` and ``timed_out``; calls that were
        ``dropped`` or are ``pending``; results ``untold``, as ``on_result`` had no place for them or did not return.
        """
        return self._live.counts

    @property
    def pending(self) -> int:
        """Calls that wait for judging or are being judged, or wait for ``on_result``."""
        return self._live.pending

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until everything handed over is judged; False if ``timeout`` seconds were not enough.

        Inside ``on_result`` and inside an extractor it does not wait, as it would wait for itself.
        """
        return self._live.is_alone if _at_work.get() is self else self._live.flush(timeout)

    async def aflush(self, timeout: float | None = None) -> bool:
        """The same without blocking the running loop."""
        return await in_own_thread(partial(self.flush, timeout))

    @contextmanager
    def attached(self) -> Iterator[Self]:
        """All chains that this block calls are evaluated, without ``config``; its end waits for the judging.

        What it calls in threads that do not carry its context, such as those of a ``ThreadPoolExecutor``, is not seen. Of two
        such blocks, one in the other, the inner one counts.
        """
        token = _attached.set(self)
        try:
            yield self
        finally:
            _attached.reset(token)
            self._flush_patiently()

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a RagEvaluationCallback cannot be pickled, as it has threads and results: make one in each process"
        )

    def __enter__(self) -> Self:
        """The end of the block waits for the judging."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._flush_patiently()

    async def __aenter__(self) -> Self:
        """The end of the block waits for the judging, without blocking the loop."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await in_own_thread(self._flush_patiently)

    def _flush_patiently(self) -> None:
        """Wait as long as there is progress: a judge that hangs must not hang the program."""
        progress = -1
        while progress != self._live.progress:
            progress = self._live.progress
            if self.flush(PATIENCE):
                return
        logger.warning("%d evaluations are not finished: the judge does not answer", self.pending)

    def _finish(self, run: FinishedRun) -> None:
        if run.outcome == "complete" and is_waiting(run):
            run = replace(run, outcome="interrupted")
        status: Status = "scored" if run.outcome == "complete" else run.outcome
        if status == "scored" and random.random() >= self._sample_rate:  # noqa: S311  no secret depends on it
            status = "skipped"
        reading = self._extractors.start(run)
        if status == "scored" and reading.is_complete and is_many(run):
            status = "skipped"
        make = partial(record_of, run, status, reading)
        complete = partial(self._at_work, reading.complete)
        if status == "scored":
            self._judge(reading, make, complete)
        elif reading.is_complete:
            self._keep_and_tell(make())
        else:
            self._live.tell(complete, lambda _: self._keep_and_tell(make()))

    def _judge(self, reading: Reading, make: Callable[[], EvaluationRecord], complete: Callable[[], None]) -> None:
        if reading.is_complete:
            record = make()
            self._live.judge(
                self._judgements(record), lambda outcomes: self._keep_and_tell(scored(self._metrics, record, outcomes))
            )
            return

        def prepare() -> dict[str, Callable[[], Score]]:
            complete()
            return self._judgements(make())

        self._live.judge(prepare, lambda outcomes: self._keep_and_tell(scored(self._metrics, make(), outcomes)))

    def _judgements(self, record: EvaluationRecord) -> dict[str, Callable[[], Score]]:
        return {runnable.metric.name: partial(self._judgement, runnable, record.sample) for runnable in self._metrics}

    def _judgement(self, runnable: MetricRunnable, sample: Sample) -> Score:
        with nullcontext() if self._trace else untraced():
            return runnable.invoke(sample, self._config)

    def _at_work(self, job: Callable[[], object]) -> None:
        _at_work.set(self)  # the context is the job's own
        job()

    def _keep_and_tell(self, record: EvaluationRecord) -> None:
        with self._lock:
            self.results.append(record)
            if self._most_results is not None:
                del self.results[: -self._most_results]
        if self._on_result is not None and record.status != "skipped":
            deliver = partial(self._at_work, partial(self._deliver, record))
            self._live.tell(deliver, partial(self._delivered, record))

    def _delivered(self, record: EvaluationRecord, outcome: Future[None]) -> None:
        error = outcome.exception()
        if error is None:
            return
        logger.error("on_result failed", exc_info=error)
        problem = f"on_result raised {type(error).__name__}: {error}"
        told = replace(record, error="; ".join(filter(None, [record.error, problem])))
        with self._lock:  # the user may have taken it away
            self.results[:] = [told if kept is record else kept for kept in self.results]

    def _deliver(self, record: EvaluationRecord) -> None:
        if self._on_result is None:
            return
        answer = self._on_result(record)
        if inspect.isawaitable(answer):
            run_blocking(partial(_awaited, answer))


async def _awaited(answer: Awaitable[Any]) -> None:
    await answer

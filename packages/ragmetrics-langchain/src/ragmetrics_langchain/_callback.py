"""Evaluates live chains: watches them, recovers what was asked, found and answered, and lets the metrics judge it in the
background.

Strategy. A hook does nothing but note an event; when a root run has ended, its sample is recovered at once (the caller may
change the messages afterwards) and handed to a bounded queue. Judging happens on threads of its own, in an empty context, so
it changes and delays nothing of the chain, and never watches itself.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableConfig
from langchain_core.tracers.context import register_configure_hook

from ragmetrics_core import InvalidInput, Metric, RagmetricsError, Sample, Score
from ragmetrics_core.adapters import Background, in_own_thread, settled

from ._hooks import RunWatcher
from ._record import EvaluationRecord, Status
from ._recover import Extractor, answer_of, contexts_of, is_waiting, question_of, sample_of_run
from ._runnable import MetricRunnable, failed
from ._runs import FinishedRun

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["RagEvaluationCallback"]

logger = logging.getLogger("ragmetrics_langchain")

_attached: ContextVar[BaseCallbackHandler | None] = ContextVar("ragmetrics_attached", default=None)
register_configure_hook(_attached, inheritable=True)

BUILT_IN = (question_of, answer_of, contexts_of)

PATIENCE = 60.0
"""Seconds without any progress after which the end of a ``with`` block waits no longer."""


class RagEvaluationCallback(RunWatcher):
    """A callback handler that evaluates every call of the chains it is given to: ``config={"callbacks": [callback]}``.

    Args:
        metrics: what to judge; each needs a name of its own.
        llm: a judge for metrics that have none of their own: a LangChain chat model, or any LLM of the core.
        embeddings: an embedding model for metrics that have none of their own, of LangChain or of the core.
        sample_rate: share of the complete calls to judge, 0 to 1; the others become records with the status ``skipped``.
        on_result: called in the background with every record but the skipped ones, such as ``langsmith_feedback(client)``.
        max_queue: calls that may wait for judging; one more is dropped and counted in ``dropped``.
        workers: calls that are judged at the same time.
        max_results: how many records to keep, the newest ones; default: all. Set it, or clear ``results``, in a service.
        question, answer, contexts: functions from a ``FinishedRun`` to the question, the answer, and the contexts (texts or
            documents), instead of the built-in ones. One that raises leaves the field empty and its error in the record.
        config: LangChain config of the judging, such as callbacks that trace it; the chain's own never reaches it.

    Attributes:
        results: the records so far, in the order in which they were finished.

    Raises:
        InvalidInput: a setting is impossible, a metric is none, or two metrics have the same name.
    """

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
        max_results: int | None = None,
        question: Extractor = question_of,
        answer: Extractor = answer_of,
        contexts: Extractor = contexts_of,
        config: RunnableConfig | None = None,
    ) -> None:
        super().__init__()
        self._metrics = [MetricRunnable(metric, llm=llm, embeddings=embeddings) for metric in _listed(metrics)]
        names = [runnable.metric.name for runnable in self._metrics]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise InvalidInput(f"two metrics are named {twice!r}: give one of them another name=...")
        if not 0 <= sample_rate <= 1:
            raise InvalidInput(f"sample_rate is a share from 0 to 1, got {sample_rate!r}")
        for setting, value in [("max_queue", max_queue), ("workers", workers), ("max_results", max_results)]:
            if value is not None and value < 1:
                raise InvalidInput(f"{setting} must be at least 1, got {value!r}")
        self.results: list[EvaluationRecord] = []
        self._sample_rate = sample_rate
        self._on_result = on_result
        self._most_results = max_results
        self._extractors = (question, answer, contexts)
        self._config = config
        self._background = Background[None](_report, workers=workers, capacity=max_queue + workers)

    @property
    def dropped(self) -> int:
        """Calls that were not judged because the queue was full."""
        return self._background.dropped

    @property
    def pending(self) -> int:
        """Calls that wait for judging or are being judged."""
        return self._background.pending

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until everything handed over is judged; False if ``timeout`` seconds were not enough."""
        return self._background.flush(timeout)

    async def aflush(self, timeout: float | None = None) -> bool:
        """The same without blocking the running loop."""
        return await in_own_thread(partial(self.flush, timeout))

    @contextmanager
    def attached(self) -> Iterator[Self]:
        """All chains that are called in this block are evaluated, without ``config``; its end waits for the judging.

        Of two such blocks, one in the other, the inner one counts.
        """
        token = _attached.set(self)
        try:
            yield self
        finally:
            _attached.reset(token)
            self._flush_patiently()

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
        finished = -1
        while finished != self._background.finished:
            finished = self._background.finished
            if self.flush(PATIENCE):
                return
        logger.warning("%d evaluations are not finished: the judge does not answer", self.pending)

    def _finish(self, run: FinishedRun) -> None:
        sample, problem = self._sample(run)
        status: Status = "scored" if run.outcome == "complete" else run.outcome
        if status == "scored" and is_waiting(run):
            status = "interrupted"
        if status == "scored" and random.random() >= self._sample_rate:  # noqa: S311  no secret depends on it
            status = "skipped"
        error = problem if run.error is None else f"{type(run.error).__name__}: {run.error}".removesuffix(": ")
        record = EvaluationRecord(run.run_id, sample, {}, status, error, run.name, tuple(run.tags), dict(run.metadata))
        if status == "scored":
            self._background.submit(lambda: self._judge(record))
            return
        self._keep(record)
        if self._on_result is not None and status != "skipped":
            self._background.submit(lambda: self._tell(record))

    def _sample(self, run: FinishedRun) -> tuple[Sample, str | None]:
        """What was recovered, and which extractors failed."""
        problems: list[str] = []

        def careful(name: str, extractor: Extractor) -> Extractor:
            if extractor in BUILT_IN:
                return extractor

            def extract(run: FinishedRun) -> Any:
                found = settled(lambda: extractor(run))
                problem = found.exception()
                if problem is None:
                    return found.result()
                problems.append(f"the extractor of the {name} raised {type(problem).__name__}: {problem}")
                return None

            return extract

        names = ("question", "answer", "contexts")
        extractors = [careful(name, item) for name, item in zip(names, self._extractors, strict=True)]
        recovered = settled(lambda: sample_of_run(run, *extractors))
        problem = recovered.exception()
        if problem is not None:  # references that contradict each other, say
            return Sample(metadata=dict(run.metadata)), f"{type(problem).__name__}: {problem}"
        return recovered.result(), "; ".join(problems) or None

    def _judge(self, record: EvaluationRecord) -> None:
        scores = {runnable.metric.name: self._score(runnable, record.sample) for runnable in self._metrics}
        failures = [f"{name}: {score.error}" for name, score in scores.items() if score.error is not None]
        error = "; ".join([*([record.error] if record.error else []), *failures]) or None
        record = replace(record, scores=scores, error=error)
        self._keep(record)
        self._tell(record)

    def _score(self, runnable: MetricRunnable, sample: Sample) -> Score:
        """The score; a failed one for whatever goes wrong, as nobody stands here to catch it."""
        outcome = settled(lambda: runnable.invoke(sample, self._config))
        error = outcome.exception()
        if error is None:
            return outcome.result()
        if isinstance(error, RagmetricsError):
            return failed(runnable.metric, error)
        logger.error("%s cannot be judged", runnable.metric.name, exc_info=error)
        return failed(runnable.metric, f"{type(error).__name__}: {error}")

    def _keep(self, record: EvaluationRecord) -> None:
        self.results.append(record)
        if self._most_results is not None:
            del self.results[: -self._most_results]

    def _tell(self, record: EvaluationRecord) -> None:
        if self._on_result is not None:
            self._on_result(record)


def _listed(metrics: Any) -> list[Metric]:
    return [metrics] if isinstance(metrics, Metric) else list(metrics)


def _report(job: Future[None]) -> None:
    """What a job raises is the user's ``on_result``: the judging itself has been taken care of."""
    error = job.exception()
    if error is not None:
        logger.error("on_result failed", exc_info=error)

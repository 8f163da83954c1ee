"""Evaluates live chains: watches them, recovers what was asked, found and answered, and has the metrics judge it in the
background.

Strategy. A hook only notes an event. When a root run has ended, its sample is recovered at once, because the caller may change
the messages afterwards, and handed over. Judging happens on threads of its own, in an empty context, so it neither changes nor
delays the chain, and never watches itself.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import merge_configs
from langchain_core.tracers.context import register_configure_hook

from ragmetrics_core import InvalidInput, Metric, Sample, Score
from ragmetrics_core.adapters import LiveEvaluation, LiveSettings, current_names, shows_settings

from .._metric._runnable import MetricRunnable, untraced
from ._events import RunWatcher, hearing_graphs
from ._record import Call, EvaluationRecord, Extractor, Status, answer_of, contexts_of, is_many, is_waiting, question_of
from ._tree import FinishedRun

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

_attached: ContextVar[BaseCallbackHandler | None] = ContextVar("ragmetrics_attached", default=None)
register_configure_hook(_attached, inheritable=True)


class RagEvaluationCallback(RunWatcher, LiveEvaluation[EvaluationRecord, Score]):
    """A callback handler that evaluates every call of the chains it is given to: ``config={"callbacks": [callback]}``.

    Args:
        metrics: what to judge; each needs a name of its own.
        llm: a judge for metrics that have none of their own: a LangChain chat model, or any LLM of the core.
        embeddings: an embedding model for metrics that have none of their own, of LangChain or of the core.
        question, answer, contexts: functions from a ``FinishedRun`` to the question, the answer (texts or messages), and the
            contexts (texts or documents, one or a list), instead of the built-in ones. They are called in the background. If one
            raises or returns anything else, the field stays empty and the record says why.
        config: LangChain config of the judging, such as callbacks that trace it; that of the chain is never used for it.
        trace: whether the judging is sent to LangSmith where tracing is on. Each judgement is a trace of its own, with the tag
            ``ragmetrics``.
        sample_rate: share of the complete calls to judge, 0 to 1; the others become records with the status ``skipped``.
        seed: makes the choice of these repeatable.
        only: which of these to judge: a function of the record without scores, called in the background. The others are skipped
            too. What it raises stands in the ``error`` of the record.
        on_result: called in the background with every record but the skipped ones, such as ``langsmith_feedback(client)``; a
            coroutine function is run to its end. What it raises is logged, and stands in the ``error`` of the record in
            ``results``.
        max_pending: calls that may wait or be judged at the same time (1000); further ones are dropped and counted in ``dropped``.
        workers: judgements (one metric on one call) that are made at the same time (4).
        keep: how many records to keep, the newest ones; default: all. Set it, or clear ``results``, in a service.
        timeout: seconds that one judgement may take (120), or one call of a function of yours; after that it counts as failed, and
            the next one starts. None: no limit.
        exit_timeout: seconds that the program waits at its end for what is still pending (10); what is lost then is logged.

    Raises:
        InvalidInput: a setting is impossible, a metric is none, two metrics have the same name, or a metric asks an LLM and
            there is none.
    """

    def __new__(cls, *args: Any, **settings: Any) -> Self:  # noqa: ARG004  they are for __init__
        """A handler of LangChain, and of LangGraph where that is installed."""
        hearing: Any = hearing_graphs
        made: Self = super().__new__(hearing(cls))
        return made

    @shows_settings()
    def __init__(
        self,
        metrics: Iterable[Metric] = (),
        *,
        llm: Any = None,
        embeddings: Any = None,
        question: Extractor = question_of,
        answer: Extractor = answer_of,
        contexts: Extractor = contexts_of,
        config: RunnableConfig | None = None,
        trace: bool = True,
        **settings: Unpack[LiveSettings],
    ) -> None:
        super().__init__()
        given: Any = current_names(settings, {"max_queue": "max_pending", "max_results": "keep"})
        queue: Any = settings.get("max_queue")
        workers = given.get("workers", 4)
        if type(queue) is type(workers) is int and queue > 0:
            given["max_pending"] = queue + workers  # the queue did not count the calls that were being judged
        LiveEvaluation.__init__(
            self, logging.getLogger("ragmetrics_langchain"), attrgetter("error"), "an EvaluationRecord", **given
        )
        self._extractors = {"question": question, "answer": answer, "contexts": contexts}
        for name, extractor in self._extractors.items():
            if not callable(extractor):
                raise InvalidInput(f"{name} must be a function of a FinishedRun, got {extractor!r}")
        self._metrics = _runnables(metrics, llm, embeddings)
        self._config = merge_configs({"tags": ["ragmetrics"]}, config)
        self._trace = trace

    @property
    def results(self) -> list[EvaluationRecord]:
        """The records so far, in the order in which they were finished; the list may be cleared."""
        return self._kept

    @results.setter
    def results(self, records: list[EvaluationRecord]) -> None:
        self._kept = records

    @contextmanager
    def attached(self) -> Iterator[Self]:
        """All chains that this block calls are evaluated, without ``config``; its end waits for the judging.

        What it calls in threads that do not carry its context, such as those of a ``ThreadPoolExecutor``, is not seen. Of two
        nested blocks, only the inner one counts.
        """
        token = _attached.set(self)
        try:
            yield self
        finally:
            _attached.reset(token)
            self._drain()

    def _finish(self, run: FinishedRun) -> None:
        if run.outcome == "complete" and is_waiting(run):
            run = replace(run, outcome="interrupted")
        status: Status = "scored" if run.outcome == "complete" else run.outcome
        if status == "scored" and not self._is_sampled():
            status = "skipped"
        call = Call(run, status, self._extractors, self._metrics, self._judgement)
        if status == "scored" and call.is_complete and is_many(run):
            call.status = "skipped"
        if call.status == "scored":
            self._judge(call)
        elif call.is_complete:
            self._keep_and_tell(call.record())
        else:
            self._live.tell(call.complete, lambda _: self._keep_and_tell(call.record()))

    def _judgement(self, runnable: MetricRunnable, sample: Sample) -> Score:
        with nullcontext() if self._trace else untraced():
            return runnable.invoke(sample, self._config)

    def _keep_and_tell(self, record: EvaluationRecord) -> None:
        if record.status == "skipped":
            self._keep(record)
        else:
            super()._keep_and_tell(record)

    def _left_out(self, record: EvaluationRecord) -> None:
        self._keep(replace(record, status="skipped"))

    def _with_problem(self, record: EvaluationRecord, function: str, problem: BaseException) -> EvaluationRecord:
        told = f"{function} raised {type(problem).__name__}: {problem}"
        return replace(record, error="; ".join(filter(None, [record.error, told])))


def _runnables(metrics: Any, llm: Any, embeddings: Any) -> list[MetricRunnable]:
    """The metrics, ready to judge."""
    if isinstance(metrics, Metric):
        metrics = [metrics]
    if isinstance(metrics, str) or not isinstance(metrics, Iterable):
        raise InvalidInput(f"metrics must be a list of metrics such as [Faithfulness()], got {metrics!r}")
    found = [MetricRunnable(metric, llm=llm, embeddings=embeddings) for metric in metrics]
    names = [runnable.metric.name for runnable in found]
    for name in names:
        if names.count(name) > 1:
            raise InvalidInput(f"two metrics are named {name!r}: give one of them another name=...")
    return found

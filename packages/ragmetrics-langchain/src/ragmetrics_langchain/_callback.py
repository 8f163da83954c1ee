"""Evaluate live chains: observe their runs, recover question, contexts and answer, and judge them in the background.

Strategy. A hook only notes an event. When a root run has ended, its sample is recovered at once, because the caller may change
the messages afterwards, and handed over. Judging happens in other threads, in an empty context, so it neither changes nor delays
the chain, and never watches itself.

Contexts are taken from the first of these sources that has any; the most reliable source comes first: the context that the chain
itself returns (exactly what the generator saw, even after a reranking); the documents that the retrievers found; the documents that
tools left in the messages of this turn; documents in the output; documents that a step returned; the contexts in the input; the
text that a step returned as its context; the texts of tools, if no retriever searched. An empty context that the chain returns is
an exception: it means that the generator got no contexts.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import merge_configs
from langchain_core.tracers.context import register_configure_hook

from ragmetrics_core import InvalidInput, Metric, MissingInput, Sample, Score
from ragmetrics_core.adapters import (
    Kept,
    LiveEvaluation,
    LiveSettings,
    conceal,
    current_names,
    earlier_turns,
    row_digest,
    score_of_outcome,
    shows_settings,
    stored_sample,
    way_of,
)

from ._models import wrapped
from ._runnable import MetricRunnable, no_tracing
from ._runs import FinishedRun, RunWatcher, hearing_graphs
from ._samples import sample_in_metadata
from ._texts import answer_in, question_in
from ._values import (
    ANSWERS,
    CONTEXTS,
    HISTORY,
    QUESTIONS,
    are_texts,
    calls_tools,
    contexts_in,
    document_lists,
    found_by_tools,
    mapping_of,
    messages_in,
    returned_contexts,
    said_in,
    text_of,
    with_contexts,
)

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack


Status = Literal["scored", "failed", "error", "incomplete", "interrupted", "skipped"]

Extractor = Callable[[FinishedRun], Any]


@dataclass(frozen=True)
class EvaluationRecord:
    """One call of a chain, with the scores of the metrics.

    Attributes:
        run_id: LangChain's id of the root run.
        sample: what was recovered: question, response, contexts; a reference from the run's metadata.
        scores: by name of the metric; empty if no metric was asked. A metric that failed has a failed score.
        status: ``scored``: the metrics were asked; ``failed``: no metric gave a score, and not only because a field is missing;
            ``error``: the chain itself failed; ``incomplete``: its answer is incomplete, because a stream was closed or a task
            cancelled; ``interrupted``: a graph waits for a person; ``skipped``: the call was not chosen for judging, or the run
            has several questions, as with ``map()``.
        error: the exception of the chain, and the errors of the judging.
        name: name of the root run.
        tags, metadata: of the root run, from its config.
        trace_id: the trace that the run belongs to, if it is known: the run's own trace, unless the run is below another run,
            such as a traced function.
        timestamp: when the run had finished, with its time zone (UTC).
    """

    run_id: UUID
    sample: Sample
    scores: Mapping[str, Score] = field(default_factory=dict)
    status: Status = "scored"
    error: str | None = None
    name: str | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    trace_id: UUID | None = None
    timestamp: datetime = field(default_factory=partial(datetime.now, timezone.utc), compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values. They can be written as JSON if the metadata can."""
        return {
            "run_id": str(self.run_id),
            "trace_id": None if self.trace_id is None else str(self.trace_id),
            "timestamp": self.timestamp.isoformat(),
            "name": self.name,
            "status": self.status,
            "error": self.error,
            "sample": self.sample.to_dict(),
            "scores": {name: score.to_dict() for name, score in self.scores.items()},
            "tags": list(self.tags),
            "metadata": dict(self.metadata),
        }


def question_of(run: FinishedRun) -> str | None:
    """Return the user's question: from the inputs; else (a resumed graph has no question there) from the outputs; else
    the first search query.
    """
    if run.kind == "llm":  # the inputs of a model that was called directly are a batch of one
        return question_in(run.inputs[0] if isinstance(run.inputs, list | tuple) and run.inputs else run.inputs)
    if is_many(run):
        return None
    outputs = mapping_of(run.outputs) or {}
    came_back = {name: outputs[name] for name in (*QUESTIONS, "messages") if name in outputs}
    return question_in(run.inputs) or question_in(came_back) or next(iter(run.queries), None)


def condensed_of(run: FinishedRun) -> str | None:
    """Return the question as a step of the chain rewrote it: the first search query, else what a step returned under a name such
    as ``standalone_question``, else the user's question.
    """
    return next(iter(run.queries), None) or run.rewritten or question_of(run)


def history_of(run: FinishedRun) -> list[dict[str, Any]] | None:
    """Return the earlier turns: the history in the inputs, else the one that a step got, else the messages before the user's last
    one. None if there are none.
    """
    if is_many(run):
        return None
    given = mapping_of(run.inputs) or {}
    batch = run.inputs[:1] if isinstance(run.inputs, list) else ()  # a model that was called directly
    talks = (_messages(run), run.inputs, *batch, *map(given.get, (*QUESTIONS, "messages")))
    return earlier_turns((*map(given.get, HISTORY), run.history), talks, question_of(run))


def answer_of(run: FinishedRun) -> str | None:
    """Return the final answer, complete or not; None if a graph stopped before there was an answer.

    In the state that a graph returns, only values that its steps wrote in this call count as an answer.
    """
    if run.kind == "retriever" or run.outcome == "interrupted" or is_many(run):
        return None
    state = mapping_of(run.outputs) if run.written is not None else None
    if state is None:
        # several parallel answers are not one structured answer
        return answer_in(run.outputs, run.inputs, whole=not str(run.name).startswith("RunnableParallel"))
    fresh = {name: state[name] for name in state if name in (run.written or ())}
    if isinstance(fresh.get("messages"), list):
        fresh["messages"] = [item for item in fresh["messages"] if not _is_earlier(item, run)]
    has_left_answer = any(name in state and name not in fresh for name in (*ANSWERS, "messages"))
    return answer_in(fresh, state if has_left_answer else run.inputs, whole=False)


def _is_earlier(message: Any, run: FinishedRun) -> bool:
    """Whether a message of the assistant existed before the call. False for messages of the user, which are kept because they
    show where the turn begins.
    """
    return isinstance(message, BaseMessage) and message.type != "human" and message.id in run.earlier


def is_many(run: FinishedRun) -> bool:
    """Whether one run contains several questions and answers, as with ``map()``, so that no single reading is right."""
    inputs, outputs = run.inputs, run.outputs
    if run.kind != "chain" or not isinstance(inputs, list) or not isinstance(outputs, list):
        return False
    return len(inputs) == len(outputs) > 1 and not any(isinstance(item, BaseMessage) for item in inputs)


def contexts_of(run: FinishedRun) -> Sequence[Any] | None:
    """Return the contexts that the answer rests on, as documents if possible; None if they are unknown."""
    if is_many(run):
        return None
    documents, texts = returned_contexts(run.outputs)
    if documents == [] and run.written is not None and run.written.isdisjoint(CONTEXTS):
        documents = None  # no step wrote this list; it was empty from the beginning
    if documents is not None:
        return documents
    from_tools = found_by_tools(_messages(run))
    given, written = returned_contexts(run.inputs)
    surest_first: list[Sequence[Any] | None] = [
        run.documents,
        None if are_texts(from_tools) else from_tools,
        next(document_lists(mapping_of(run.outputs) or run.outputs), None),
        run.listed,
        given,
        texts,
        run.texts if run.documents is None else None,
        written,
        from_tools if run.documents is None else None,  # no retriever searched, so the tools' texts are the contexts
    ]
    return next(filter(None, surest_first), run.documents)


def _messages(run: FinishedRun) -> list[BaseMessage]:
    return messages_in((mapping_of(run.outputs) or {}).get("messages")) or []


def is_waiting(run: FinishedRun) -> bool:
    """Whether a graph has stopped before the tools that its last message calls, as with ``interrupt_before``."""
    return any(map(calls_tools, _messages(run)[-1:]))


BUILT_IN = (question_of, condensed_of, answer_of, contexts_of, history_of)


class Call:
    """A finished run that becomes a record.

    The built-in extractors read it at once, because the caller may change the messages afterwards. The user's functions are
    called later, in ``complete``.
    """

    def __init__(self, callback: RagEvaluationCallback, run: FinishedRun, status: Status) -> None:
        self.status: Status = status
        self._callback = callback
        self._run = run
        self._finished = datetime.now(timezone.utc)
        references, self._problems = sample_in_metadata(run.metadata)
        example = run.metadata.get("example_id")
        self._known = replace(references, id=None if example is None else str(example))
        self._fields: dict[str, Any] = {}
        self._missing: dict[str, Extractor] = {}
        for name, extractor in callback._extractors.items():
            if extractor in BUILT_IN:
                self._extract(name, extractor)
            else:
                self._missing[name] = extractor
        self._is_many = is_many(run)
        self._let_go()

    def _let_go(self) -> None:
        """Keep of the run only what a record says, because many calls may be pending."""
        if not self._missing:
            self._run = replace(
                self._run, inputs=None, outputs=None, documents=None, listed=None, texts=None, history=()
            )

    @property
    def is_complete(self) -> bool:
        """Whether every function of the user has returned."""
        return not self._missing

    def complete(self) -> None:
        """Call the functions of the user that have not been called yet."""
        for name in list(self._missing):
            self._extract(name, self._missing[name])
            del self._missing[name]
            self._let_go()

    def _extract(self, name: str, extractor: Extractor) -> None:
        kept = Kept()
        with kept:
            self._fields.update(_extracted(name, extractor(self._run)))
            return
        error = kept.error
        problem = str(error) if isinstance(error, Unusable) else conceal(f"raised {type(error).__name__}: {error}")
        self._problems.append(f"the extractor of the {name} {problem}")

    @property
    def sample(self) -> Sample:
        """What was read so far."""
        return self._known.updated(self._fields)

    def record(self) -> EvaluationRecord:
        """Return the record before any judging, with the fields that were read so far."""
        run = self._run
        raised = None if run.error is None else f"{type(run.error).__name__}: {run.error}".removesuffix(": ")
        late = [f"the extractor of the {name} did not return in time" for name in [*self._missing][:1]]
        many = (
            "one run stands for several questions and answers" if self.status == "skipped" and self._is_many else None
        )
        return EvaluationRecord(
            run.run_id,
            self.sample,
            status=self.status,
            error=_together(raised, *self._problems, *late, many),
            name=run.name,
            tags=tuple(run.tags),
            metadata=dict(run.metadata),
            trace_id=run.run_id if run.parent_run_id is None else None,
            timestamp=self._finished,
        )

    def judgements(self) -> dict[str, Callable[[], Coroutine[Any, Any, Score]]]:
        """Return the coroutine function that computes each metric's score."""
        sample, callback = self.sample, self._callback
        return {name: partial(callback._judgement, metric, sample) for name, metric in callback._metrics.items()}

    def identity(self, name: str) -> str:
        """Return a digest of everything that a metric reads of this call."""
        return row_digest(self.sample, self._callback._metrics[name].metric.inputs)

    def to_data(self) -> dict[str, Any]:
        """Return the call as plain values, for the spool."""
        return self.record().to_dict()

    def judged(self, outcomes: Mapping[str, Future[Score]]) -> EvaluationRecord:
        """Return the record with its scores. Every error becomes a failed score, because no caller could catch it."""
        record, metrics = self.record(), self._callback._metrics
        scores = {name: score_of_outcome(metrics[name].metric, outcome) for name, outcome in outcomes.items()}
        failures = {name: score.error for name, score in scores.items() if score.error is not None}
        error = _together(record.error, *(f"{name}: {error}" for name, error in failures.items()))
        # if only fields are missing, the judges are not at fault
        is_dead = any(not isinstance(outcomes[name].exception(), MissingInput | InvalidInput) for name in failures)
        has_failed = bool(metrics) and len(failures) == len(scores) and (is_dead or not scores)
        return replace(record, scores=scores, error=error, status="failed" if has_failed else "scored")


class Restored(Call):
    """A call that comes back from the spool."""

    def __init__(self, callback: RagEvaluationCallback, data: dict[str, Any]) -> None:
        self.status = "scored"
        self._callback = callback
        self._missing = {}
        trace_id = data["trace_id"]
        self._record = EvaluationRecord(
            UUID(data["run_id"]),
            stored_sample(data["sample"]),
            error=data["error"],
            name=data["name"],
            tags=tuple(data["tags"]),
            metadata=data["metadata"],
            trace_id=None if trace_id is None else UUID(trace_id),
            timestamp=datetime.fromisoformat(data["timestamp"]),
        )

    @property
    def sample(self) -> Sample:
        """What the spool has kept."""
        return self._record.sample

    def record(self) -> EvaluationRecord:
        """Return the record before any judging."""
        return self._record


class Unusable(Exception):
    """An extractor returned a value that cannot be used. The message says what it should return."""


def _extracted(name: str, found: Any) -> dict[str, Any]:
    """Return the value of an extractor as fields of the sample."""
    if name == "history":
        return {"history": found}
    if name == "contexts":
        contexts = contexts_in(found)
        if contexts is None and found is not None and not isinstance(found, str):
            raise Unusable(f"returned {type(found).__name__}: return texts, documents, a list of them or None")
        return {} if contexts is None else with_contexts(contexts)
    is_message = isinstance(found, BaseMessage)
    if found is not None and not is_message and not isinstance(found, str):
        raise Unusable(f"returned {type(found).__name__}: return a text, a message or None")
    if name == "question":
        return {"user_input": text_of(found)}
    return {"response": said_in(found) if is_message else found}  # a blank text is not missing


def _together(*problems: str | None) -> str | None:
    return "; ".join(filter(None, problems)) or None


_attached: ContextVar[BaseCallbackHandler | None] = ContextVar("ragmetrics_attached", default=None)
register_configure_hook(_attached, inheritable=True)


class RagEvaluationCallback(RunWatcher, LiveEvaluation[EvaluationRecord, Score]):
    """A callback handler that evaluates every call of the chains it is given to: ``config={"callbacks": [callback]}``.

    Args:
        metrics: what to judge; each needs its own name.
        llm: a judge for metrics without one: a LangChain chat model, or any LLM of the core.
        embeddings: an embedding model for metrics without one, of LangChain or of the core.
        question: what is judged as the question: ``last``, the last message of the user; ``condensed``, the question as the chain
            rewrote it with the history: the query of its first retriever, else the output of a step under a name such as
            ``standalone_question``, else the last message; or a function as below.
        answer, contexts: functions from a ``FinishedRun`` to the answer (a text or a message) and the contexts (texts or
            documents, one or a list), instead of the built-in ones. They are called in the background. If one raises or returns
            anything else, the field stays empty and the record says why.
        config: LangChain config of the judging, such as callbacks that trace it; the config of the chain is never used for it.
        sample_rate: share of the complete calls to judge, 0 to 1, or shares of metrics by name; the others become records with the
            status ``skipped``. Of calls with a ``session_id`` or ``thread_id`` in their metadata, whole sessions are chosen.
        seed: makes the choice of these repeatable.
        budget: the most that judging may cost in an hour and a day, such as ``{"hour": {"calls": 500}}``; calls beyond that are
            dropped.
        only: which of these to judge: a function of the record without scores, called in the background. The others are skipped
            too. What it raises is in the ``error`` of the record.
        on_result: called in the background with every record but the skipped ones, such as ``langsmith_feedback(client)``; a
            coroutine function is run to its end. What it raises is logged, and is in the ``error`` of the record in
            ``results``.
        sinks: more such functions, such as ``JsonlSink("live.jsonl")``; one that fails does not keep the others from their records.
        on_problem: called in the background with the name of the metric or function and what went wrong, whenever this is logged.
        max_pending: calls that may wait or be judged at the same time (1000); further ones are dropped and counted in ``dropped``.
        max_concurrency: judgements (one metric on one call) that are made at the same time (64). As many are needed as calls are
            judged in a second, times the seconds that their judgements take.
        workers: functions of yours that run at the same time, each in a thread (4).
        keep: how many records to keep, the newest ones; default: all. Set it, or clear ``results``, in a service.
        timeout: seconds that one judgement may take (120), or one call of a function of yours; after that it counts as failed, and
            the next one starts. None: no limit.
        exit_timeout: seconds that the program waits at its end for what is still pending (10); what is lost then is logged.
        trace: False hides the judging from LangSmith and OpenTelemetry. Otherwise each judgement is a separate trace, with the tag
            ``ragmetrics``; spans of OpenInference have ``ragmetrics`` in their metadata.

    Raises:
        InvalidInput: a setting is impossible, an item is not a metric, two metrics have the same name, or a metric asks an LLM and
            there is none.
    """

    def __new__(cls, *args: Any, **settings: Any) -> Self:  # noqa: ARG004  they are for __init__
        """Make a handler of LangChain, and of LangGraph if it is installed."""
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
        question: Literal["last", "condensed"] | Extractor = "last",
        answer: Extractor = answer_of,
        contexts: Extractor = contexts_of,
        config: RunnableConfig | None = None,
        **settings: Unpack[LiveSettings],
    ) -> None:
        super().__init__()
        live_settings: Any = current_names(settings, {"max_queue": "max_pending", "max_results": "keep"})
        queue: Any = settings.get("max_queue")
        workers = live_settings.get("workers", 4)
        if type(queue) is type(workers) is int and queue > 0:
            live_settings["max_pending"] = queue + workers  # the queue did not count the calls that were being judged
        self._metrics = _runnables(metrics, llm, embeddings)
        judges = {name: runnable.models for name, runnable in self._metrics.items()}
        log = logging.getLogger("ragmetrics_langchain")
        LiveEvaluation.__init__(self, log, attrgetter("error"), "an EvaluationRecord", judges=judges, **live_settings)
        asked = way_of(question, {"last": question_of, "condensed": condensed_of})
        self._extractors = {"question": asked, "answer": answer, "contexts": contexts, "history": history_of}
        for name, extractor in self._extractors.items():
            if not callable(extractor):
                raise InvalidInput(f"{name} must be a function of a FinishedRun, got {extractor!r}")
        self._config = merge_configs({"tags": ["ragmetrics"]}, config)
        self._trace = live_settings.get("trace", True)

    @property
    def results(self) -> list[EvaluationRecord]:
        """The records so far, in the order in which they were finished. The list may be cleared."""
        return self._kept

    @results.setter
    def results(self, records: list[EvaluationRecord]) -> None:
        self._kept = records

    @contextmanager
    def attached(self) -> Iterator[Self]:
        """Evaluate all chains that are called in this block, without a ``config``. The end of the block waits for the judging.

        Calls in threads that do not carry the context of the block, such as the threads of a ``ThreadPoolExecutor``, are not seen.
        Of two nested blocks, only the inner one counts.
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
        draw = self._sampling.draw(run.metadata)
        if status == "scored" and draw is None:
            status = "skipped"
        call = Call(self, run, status)
        if status == "scored" and call.is_complete and is_many(run):
            call.status = "skipped"
        if call.status == "scored" and draw is not None:
            self._judge(call, draw)
        elif call.is_complete:
            self._keep_and_tell(call.record())
        else:
            self._live.tell(call.complete, lambda _: self._keep_and_tell(call.record()))

    async def _judgement(self, runnable: MetricRunnable, sample: Sample) -> Score:
        with nullcontext() if self._trace else no_tracing():
            return await runnable.ainvoke(sample, self._config)

    def _restored(self, data: dict[str, Any]) -> Call:
        return Restored(self, data)

    def _keep_and_tell(self, record: EvaluationRecord, passage: Any = None) -> None:
        if record.status == "skipped":
            self._keep(record)
        else:
            super()._keep_and_tell(record, passage)

    def _leave_out(self, record: EvaluationRecord) -> None:
        self._keep(replace(record, status="skipped"))

    def _with_problem(self, record: EvaluationRecord, function: str, problem: BaseException) -> EvaluationRecord:
        raised = conceal(f"{function} raised {type(problem).__name__}: {problem}")
        return replace(record, error=_together(record.error, raised))


def _runnables(metrics: Any, llm: Any, embeddings: Any) -> dict[str, MetricRunnable]:
    """Return the metrics by name, ready to judge."""
    if isinstance(metrics, Metric):
        metrics = [metrics]
    if isinstance(metrics, str) or not isinstance(metrics, Iterable):
        raise InvalidInput(f"metrics must be a list of metrics such as [Faithfulness()], got {metrics!r}")
    found: dict[str, MetricRunnable] = {}
    # once, so that the metrics share the calls and the limits of a model
    llm, embeddings = wrapped(llm), wrapped(embeddings)
    for metric in metrics:
        runnable = MetricRunnable(metric, llm=llm, embeddings=embeddings)
        if found.setdefault(runnable.metric.name, runnable) is not runnable:
            raise InvalidInput(f"two metrics are named {runnable.metric.name!r}: give one of them another name=...")
    return found

"""Evaluation of the queries of a running application, in the background.

Strategy. A query is a query to a query engine, a turn of a chat engine, or a run of an agent. Query engines announce by events that
a query begins and ends, except those that override ``query`` (as ``CustomQueryEngine`` does); chat engines and agents have only
spans. So the handler listens to spans as well: whichever comes first counts, the other is ignored.

The end of a query brings all that is needed: the question, and the response object that the user gets. LlamaIndex calls a
handler inline and swallows its exceptions, so the handler only decides (is this the outermost query, is it in the sample) and
hands the query over. The judges run with a mark in their context, so that their own queries are never evaluated. The tokens of
a streaming answer pass through unchanged; the answer is judged when the user has read it to the end, the answer of a chat engine
when the engine has written it into its history.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from functools import cached_property, partial
from inspect import BoundArguments as Bound
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal

from llama_index.core.agent.workflow import AgentWorkflow, BaseWorkflowAgent
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.base.response.schema import AsyncStreamingResponse, Response, StreamingResponse
from llama_index.core.chat_engine.types import BaseChatEngine, StreamingAgentChatResponse
from llama_index.core.evaluation import BaseEvaluator, EvaluationResult
from llama_index.core.instrumentation import get_dispatcher  # type: ignore[attr-defined]  # public, but not marked so
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events import BaseEvent
from llama_index.core.instrumentation.events.llm import LLMChatStartEvent
from llama_index.core.instrumentation.events.query import QueryEndEvent, QueryStartEvent
from llama_index.core.instrumentation.events.retrieval import RetrievalStartEvent
from llama_index.core.instrumentation.events.span import SpanDropEvent  # type: ignore[attr-defined]  # the same
from llama_index.core.instrumentation.span_handlers import NullSpanHandler
from llama_index.core.schema import MetadataMode, NodeWithScore, TextNode
from llama_index.core.storage.chat_store import SimpleChatStore

from ragmetrics_core import InvalidInput, Metric, Models, RagmetricsError, Sample, Score
from ragmetrics_core.adapters import (
    Counts,
    LiveEvaluation,
    LiveSettings,
    NotAsked,
    conceal,
    current_names,
    earlier_turns,
    in_own_thread,
    is_judging,
    judging,
    row_digest,
    shows_settings,
    way_of,
)

from ._evaluator import MetricEvaluator, MetricResult, result_of, score_of
from ._models import judge_of, scorer_of
from ._open import Done, OpenCall, OpenCalls, heard, heard_async, words_of
from ._responses import contexts_of, mode_of, nodes_of, text_of

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack


ARGUMENTS = frozenset({"query", "response", "contexts", "user_input", "retrieved_contexts"})
REFERENCES = frozenset({"reference", "second_response"})
Evaluators = Mapping[str, BaseEvaluator] | Iterable[Metric | BaseEvaluator]


@dataclass(frozen=True)
class QueryEvaluation:
    """One query with its results.

    Attributes:
        query: the question.
        response: the answer.
        contexts: the texts of its source nodes.
        history: the earlier turns of a chat; None if there are none or they are unknown.
        queries: what a turn of a chat asked query engines and retrievers, in this order.
        results: the results by the name of the metric; a judge that failed has an invalid result with the reason.
        errors: exceptions that are not failures of a model, by the name of the metric.
        tags: the instrument tags of the query, such as an identifier of the example.
        span_id: the span of the query, as tracing tools know it.
        timestamp: when the query had ended, with its time zone (UTC).
    """

    query: str
    response: str
    contexts: list[str]
    results: Mapping[str, EvaluationResult] = field(default_factory=dict)
    errors: Mapping[str, BaseException] = field(default_factory=dict)
    tags: Mapping[str, Any] = field(default_factory=dict)
    span_id: str | None = None
    timestamp: datetime = field(default_factory=partial(datetime.now, timezone.utc), compare=False)
    history: Any = None
    queries: Sequence[str] = ()

    @property
    def scores(self) -> dict[str, Score]:
        """The results as scores of the core. Only scores of its metrics have a scale, evidence and usage."""
        failed = {name: Score.failed(f"{type(error).__name__}: {error}") for name, error in self.errors.items()}
        return {**{name: score_of(result) for name, result in self.results.items()}, **failed}

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as ``JsonlSink`` writes them. They can be written as JSON if the tags can."""
        sample = Sample(
            user_input=self.query,
            response=self.response,
            retrieved_contexts=self.contexts,
            reference=self.tags.get("reference"),
            metadata={name: tag for name, tag in self.tags.items() if name not in ("reference", "history")},
            history=self.history,
        )
        return {
            "timestamp": self.timestamp.isoformat(),
            "span_id": self.span_id,
            "sample": sample.to_dict(),
            "scores": {name: score.to_dict() for name, score in self.scores.items()},
        }


Way = Callable[[QueryEvaluation], Any]
"""A function from an evaluation without results to its question."""


WAYS: Mapping[str, Way] = {
    "last": attrgetter("query"),
    "condensed": lambda evaluation: next(filter(None, evaluation.queries), evaluation.query),
}


@dataclass
class Asked:
    """An answered query that the evaluators will judge. ``way`` finds the question, until it was called."""

    evaluators: Mapping[str, BaseEvaluator]
    mode: MetadataMode
    way: Way
    query: str
    answer: Response
    call: OpenCall
    span_id: str | None
    timestamp: datetime = field(default_factory=partial(datetime.now, timezone.utc))

    @property
    def is_complete(self) -> bool:
        """Whether the question is known."""
        return self.way is WAYS["last"]

    def complete(self) -> None:
        """Find the question."""
        found = self.way(self.record())
        if not isinstance(found, str):
            raise InvalidInput(f"question returned {type(found).__name__}: return a text")
        self.query, self.way = found, WAYS["last"]

    @cached_property
    def history(self) -> Any:
        """The earlier turns: from the tags, else from the memory, else as the LLM got them before the question."""
        return self.call.tags.get("history") or earlier_turns([self.call.earlier], self.call.messages, self.query)

    def record(self) -> QueryEvaluation:
        """Return the evaluation without results."""
        return self.judged({})

    def judgements(self) -> dict[str, Callable[[], Awaitable[EvaluationResult]]]:
        """Return the coroutine function that makes the result of each evaluator, by name."""
        return {name: partial(self._judge, evaluator) for name, evaluator in self.evaluators.items()}

    def identity(self, name: str) -> str | None:
        """Return a digest of everything that a metric reads of this query; None for evaluators that are no metric."""
        evaluator = self.evaluators[name]
        if not isinstance(evaluator, MetricEvaluator):
            return None
        contexts = contexts_of(self.answer.source_nodes, self.mode)
        tags = {f"tag {key}": tag for key, tag in self._inputs(evaluator).items()}
        tags["nodes"] = [(found.node.node_id, found.score) for found in self.answer.source_nodes]
        sample = Sample(self.query, self.answer.response, contexts, metadata=tags)
        return row_digest(sample, ["user_input", "response", "retrieved_contexts", *tags])

    def to_data(self) -> dict[str, Any]:
        """Return the query as plain values, for the spool."""
        return {
            "query": self.query,
            "response": self.answer.response,
            "contexts": [{"node": found.node.to_dict(), "score": found.score} for found in self.answer.source_nodes],
            "tags": {**self.call.tags, "history": self.history},
            "span_id": self.span_id,
            "timestamp": self.timestamp.isoformat(),
        }

    def _inputs(self, evaluator: BaseEvaluator) -> dict[str, Any]:
        known = _known(evaluator)
        asked = known & {"history", "chat_history"}  # it is read only for a metric that asks for it
        history = dict.fromkeys(asked, self.history if asked else None)
        return history | {key: value for key, value in self.call.tags.items() if key in known}

    async def _judge(self, evaluator: BaseEvaluator) -> EvaluationResult:
        arguments: dict[str, Any] = {"query": self.query, "response": self.answer, **self._inputs(evaluator)}
        with judging():
            own = [getattr(type(evaluator), name, None) for name in ("evaluate", "evaluate_response")]
            if own == [MetricEvaluator.evaluate, MetricEvaluator.evaluate_response]:  # a metric shares its calls
                return await evaluator.aevaluate_response(**arguments)
            return await in_own_thread(partial(evaluator.evaluate_response, **arguments))

    def judged(self, outcomes: Mapping[str, Future[EvaluationResult]]) -> QueryEvaluation:
        """Return the evaluation with the results of all judgements."""
        contexts = contexts_of(self.answer.source_nodes, self.mode)
        results: dict[str, EvaluationResult] = {}
        errors: dict[str, BaseException] = {}
        for name, outcome in outcomes.items():
            problem = outcome.exception()
            if problem is None:
                results[name] = outcome.result()
            elif isinstance(problem, NotAsked):
                score = Score.unscored(str(problem)).made_by(name, None)
                results[name] = result_of(score, self.query, self.answer.response, contexts, None)
            elif isinstance(problem, RagmetricsError):
                results[name] = self._failed(problem, contexts)
            else:
                errors[name] = problem
        how = (self.call.tags, self.span_id, self.timestamp, self.history, tuple(self.call.queries))
        return QueryEvaluation(self.query, self.answer.response or "", contexts, results, errors, *how)

    def _failed(self, problem: RagmetricsError, contexts: list[str]) -> EvaluationResult:
        """Return an invalid result for a judge that raised its failure or took too long."""
        return EvaluationResult(
            query=self.query,
            response=self.answer.response or "",
            contexts=contexts,
            invalid_result=True,
            invalid_reason=conceal(f"{type(problem).__name__}: {problem}"),
        )


def problem_of(result: EvaluationResult) -> str | None:
    """Return why a judgement failed; None if it did not fail, even if there was nothing to judge."""
    if isinstance(result, MetricResult) and result.error is None:
        return None
    return (result.invalid_reason or "there is no score") if result.invalid_result else None


def evaluators_by_name(metrics: Evaluators, llm: Any, embed_model: Any, mode: MetadataMode) -> dict[str, BaseEvaluator]:
    """Return the evaluators by name. Evaluators made from metrics record the failures of their models.

    Raises:
        InvalidInput: there is no evaluator, an item is neither a metric nor an evaluator, or two have the same name.
    """
    if isinstance(metrics, Metric | BaseEvaluator):
        metrics = [metrics]
    items: Any = metrics
    pairs = items.items() if isinstance(items, Mapping) else ((_name(item), item) for item in items)
    evaluators: dict[str, BaseEvaluator] = {}
    # once, so that the metrics share the calls and the limits of a model
    llm, embed_model = judge_of(llm), scorer_of(embed_model)
    for name, item in pairs:
        if name in evaluators:
            raise InvalidInput(
                f"QueryEvaluationHandler: two metrics are called {name!r}: give one of them another name=..."
            )
        if isinstance(item, Metric):
            item = MetricEvaluator(  # noqa: PLW2901
                item, llm=llm, embed_model=embed_model, on_error="record", metadata_mode=mode
            )
        if not isinstance(item, BaseEvaluator):
            raise InvalidInput(
                f"QueryEvaluationHandler takes metrics and evaluators, got {getattr(item, '__name__', type(item).__name__)}"
            )
        evaluators[name] = item
    if not evaluators:
        raise InvalidInput("QueryEvaluationHandler needs at least one metric")
    return evaluators


def _known(evaluator: BaseEvaluator) -> frozenset[str]:
    """Return the tags that an evaluator takes as inputs; all other tags belong to the application."""
    inputs = evaluator.metric.inputs if isinstance(evaluator, MetricEvaluator) else REFERENCES
    return frozenset(inputs) - ARGUMENTS


def _name(item: Any) -> str:
    metric = getattr(item, "metric", item)
    return metric.name if isinstance(metric, Metric) else type(item).__name__


MOST_LISTS = 4
"""The number of calls of its LLM whose messages are kept of a turn."""

TURNS: tuple[tuple[tuple[type[Any], ...], tuple[str, ...]], ...] = (
    ((BaseQueryEngine,), (".query", ".aquery")),
    ((BaseChatEngine,), (".chat", ".achat", ".stream_chat", ".astream_chat")),
    ((AgentWorkflow, BaseWorkflowAgent), (".run",)),
)
"""The methods whose spans are queries."""


class ByIdentity:
    """A base class whose objects are equal only to themselves. Pydantic would compare fields, and objects without fields would
    all be equal.
    """

    __eq__ = object.__eq__
    __hash__ = object.__hash__


class SpanListener(ByIdentity, NullSpanHandler):
    """Passes the spans of query engines, chat engines and agents to a handler."""

    def __init__(self, handler: QueryEvaluationHandler) -> None:
        super().__init__()
        self._handler = handler

    # LlamaIndex passes everything by name, and more in newer releases
    def span_enter(self, *, id_: str, bound_args: Bound, instance: Any = None, tags: Any = None, **_: Any) -> None:  # type: ignore[override]
        """Begin a query if the span is one."""
        if _is_query(id_, instance):
            # a run of an agent carries the tags into another context
            carried = bound_args.arguments.get("tags")
            found = carried.get("instrument_tags") if isinstance(carried, dict) else None
            earlier = None if isinstance(instance, BaseQueryEngine) else earlier_messages(instance, bound_args)
            self._handler._begin_query(id_, tags or found, text_asked(*bound_args.arguments.values()), earlier)

    def span_exit(self, *, id_: str, bound_args: Bound, instance: Any = None, result: Any = None, **_: Any) -> None:  # type: ignore[override]
        """End a query, or the writing of an answer, with the result of its span."""
        if _is_query(id_, instance):
            # a workflow ends with an event that contains the result
            answer = getattr(result, "result", result) if isinstance(instance, TURNS[2][0]) else result
            self._handler._end_query(id_, text_asked(*bound_args.arguments.values()), answer)
        elif isinstance(instance, StreamingAgentChatResponse) and _is_writing(id_):
            self._handler._writing.end(instance)

    def span_drop(self, *, id_: str, instance: Any = None, **_: Any) -> None:  # type: ignore[override]
        """End a query, or the writing of an answer, whose span ended with an exception."""
        if _is_query(id_, instance):
            self._handler._end_query(id_, "", None)
        elif isinstance(instance, StreamingAgentChatResponse) and _is_writing(id_):
            self._handler._writing.end(instance)


def text_asked(*arguments: Any) -> str:
    """Return the question among the arguments of a method: the first argument, or the event that starts an agent."""
    asked = next((item.user_msg for item in arguments if hasattr(item, "user_msg")), next(iter(arguments), ""))
    if isinstance(asked, ChatMessage):
        asked = asked.content
    return str(getattr(asked, "query_str", asked) or "")


def earlier_messages(instance: Any, bound: Bound) -> Sequence[Any]:
    """Return the messages of a chat before this turn, as far as they are given or in the memory of this process. A memory in a
    database is not read, because the user would wait for it.
    """
    start = next((item for item in bound.arguments.values() if hasattr(item, "user_msg")), None)
    given = bound.arguments.get("chat_history") or getattr(start, "chat_history", None)
    memory: Any = getattr(start, "memory", None) or getattr(instance, "_memory", None)
    if not given and isinstance(getattr(memory, "chat_store", None), SimpleChatStore):
        given = memory.get_all()
    return tuple(given or ())


def _is_query(span_id: str, instance: Any) -> bool:
    method = span_id.partition("-")[0]
    return any(isinstance(instance, classes) and method.endswith(methods) for classes, methods in TURNS)


def _is_writing(span_id: str) -> bool:
    return "write_response_to_history" in span_id


class Writing:
    """Streaming answers that chat engines are still writing into their history."""

    def __init__(self) -> None:
        self._waiting: dict[int, tuple[StreamingAgentChatResponse, Done]] = {}
        # reentrant: garbage collection may end a stream on the thread that holds the lock
        self._lock = threading.RLock()

    def begin(self, response: StreamingAgentChatResponse, done: Done) -> None:
        """Call ``done`` when the whole answer is written, or at once if it is written already."""
        if not response.is_writing_to_memory:  # the answer is written while the user reads it
            if response.achat_stream is not None:
                response.achat_stream = heard_async(response.achat_stream, done)
            else:
                response.chat_stream = heard(response.chat_stream, done)
            return
        with self._lock:
            self._waiting[id(response)] = response, done
        if response.is_done or response.exception is not None:
            self.end(response)

    def end(self, response: StreamingAgentChatResponse) -> None:
        """Call ``done`` for an answer that is written, or whose writing has failed."""
        with self._lock:
            _, done = self._waiting.pop(id(response), (None, None))
        if done is not None:
            done(_written_text(response) if response.exception is None else None)


def _written_text(response: StreamingAgentChatResponse) -> str:
    """Return the whole answer. In older releases it stays in the queues until the user has read it."""
    waiting = [*response.queue.queue, *getattr(response.aqueue, "_queue", ())]
    return response.response or f"{response.unformatted_response}{''.join(map(words_of, waiting))}".strip()


class QueryEvaluationHandler(ByIdentity, BaseEventHandler, LiveEvaluation[QueryEvaluation, EvaluationResult]):
    """Attach it once, and every outermost query of any query engine, chat engine or agent is evaluated.

    with QueryEvaluationHandler([Faithfulness()], llm=judge) as handler:
        query_engine.query("...")
        handler.flush()
    print(handler.results[0].results["faithfulness"].score)

    References and other inputs of metrics come from ``instrument_tags({"reference": ...})`` around a query. The judges run in
    threads of this process, so an LLM that computes in this process should not serve both the query engine and the judges. Metrics
    share what was learnt about the limits of a server, and equal questions that are asked at the same time.

    Args:
        metrics: metrics and evaluators, or evaluators by name.
        llm: the judge of the metrics; None: ``Settings.llm``.
        embed_model: the embedding model of the metrics; None: ``Settings.embed_model``.
        question: what is judged as the question: ``last``, the user's message; ``condensed``, the first query that a turn of a chat
            asked a query engine or a retriever, else the user's message; or a function, called in the background, from a
            ``QueryEvaluation`` without results to a text. If it raises, this is logged and the query is not judged.
        metadata_mode: which metadata of the source nodes the metrics read with their text; by default what the generator saw.
        sample_rate: share of the queries that is evaluated, 0 to 1, or shares of metrics by name. Of queries with a ``session_id``
            or ``thread_id`` in their tags, whole sessions are chosen.
        seed: makes the choice of the sample repeatable.
        budget: the most that judging may cost in an hour and a day, such as ``{"hour": {"calls": 500}}``; further queries are
            dropped. Evaluators that are no metrics are not counted.
        only: called in the background with a ``QueryEvaluation`` without results; whether the query is judged.
        on_result: called in the background with every ``QueryEvaluation``; a coroutine function is run to its end.
        sinks: more such functions; one that fails does not keep the others from their records.
        on_problem: called in the background with the name of the evaluator or function and what went wrong, whenever it is logged.
        max_pending: how many queries may wait or be judged at once; further ones are dropped and counted.
        max_concurrency: how many judgements (one metric on one query) by asynchronous models are made at the same time (64).
        workers: how many of those that can only block, each in a thread (4).
        keep: how many evaluations ``results`` keeps, the newest ones: 10,000 by default; None: all.
        timeout: seconds that a judgement or a call of your functions may take (120); after that it has failed, and the next one
            starts. None: no limit.
        exit_timeout: seconds that the program waits at its end for pending judgements (10); those that are lost are logged.
        trace: False hides the judging from OpenTelemetry. Otherwise spans of OpenInference have ``ragmetrics`` in their metadata.

    Raises:
        InvalidInput: a setting is invalid.
    """

    @shows_settings(keep=10_000)
    def __init__(
        self,
        metrics: Evaluators,
        *,
        llm: Any = None,
        embed_model: Any = None,
        question: Literal["last", "condensed"] | Way = "last",
        metadata_mode: MetadataMode | str = MetadataMode.LLM,
        **settings: Unpack[LiveSettings],
    ) -> None:
        super().__init__()
        live_settings: Any = {"keep": 10_000, **current_names(settings, {"sampling_rate": "sample_rate"})}
        mode = mode_of("QueryEvaluationHandler", metadata_mode)
        evaluators = evaluators_by_name(metrics, llm, embed_model, mode)
        own = {name: item._models() for name, item in evaluators.items() if isinstance(item, MetricEvaluator)}
        judges = {name: own.get(name, Models()) for name in evaluators}
        log = logging.getLogger("ragmetrics_llama_index")
        LiveEvaluation.__init__(self, log, problem_of, judges=judges, **live_settings)
        self._asked = partial(Asked, evaluators, mode, way_of(question, WAYS))
        self._open = OpenCalls()
        self._writing = Writing()
        self._listener = SpanListener(self)
        self._errors: deque[BaseException] = deque(maxlen=live_settings["keep"])
        self._count = Counts()

    @classmethod
    def class_name(cls) -> str:
        """Name of the handler, for LlamaIndex."""
        return "QueryEvaluationHandler"

    @property
    def results(self) -> list[QueryEvaluation]:
        """The finished evaluations, oldest first."""
        return list(self._kept)

    @property
    def errors(self) -> list[BaseException]:
        """The exceptions of metrics, ``only`` and ``on_result`` that are not failures of a model, oldest first."""
        return list(self._errors)

    @property
    def counts(self) -> dict[str, int]:
        """How often each of these has happened; what has not happened is left out.

        Queries: ``evaluated``, ``dropped``, ``not_sampled``, ``left_out`` by ``only``, ``nested``, streams ``abandoned`` by their
        readers, and streams that are still ``unread``. Judgements, one per metric: ``invalid`` (the judge failed),
        ``missing`` (the query has not all fields that the metric needs), ``timed_out``.
        Calls of ``only`` and ``on_result``: ``failed``, or ``untold`` if the queue was full or they took too long.
        """
        live = self._live.counts
        more = {
            "invalid": live["failed"],
            **{name: live[name] for name in ("missing", "timed_out", "dropped", "untold")},
        }
        return {**self._count.now(), **{name: count for name, count in more.items() if count}}

    def attach(self) -> Self:
        """Listen to all queries of this process; further calls change nothing. After ``close`` it listens again."""
        dispatcher = get_dispatcher()
        self._live.is_closed = False
        if not any(handler is self for handler in dispatcher.event_handlers):
            dispatcher.add_event_handler(self)
            dispatcher.add_span_handler(self._listener)
        return self

    def detach(self) -> None:
        """Stop listening; queries that have ended are still judged, and the program waits for them at its end."""
        dispatcher = get_dispatcher()
        dispatcher.event_handlers = [handler for handler in dispatcher.event_handlers if handler is not self]
        dispatcher.span_handlers = [handler for handler in dispatcher.span_handlers if handler is not self._listener]

    def close(self, timeout: float | None = None) -> bool:
        """Stop listening, wait for what is pending, and log how many queries were not judged. Return False if some are still
        pending after ``timeout`` seconds; None: after ``exit_timeout`` seconds.
        """
        self.detach()
        return super().close(timeout)

    def __enter__(self) -> Self:
        """Listen in this block. Leaving the block does not wait for judgements."""
        return self.attach()

    def __exit__(self, *_: object) -> None:
        self.detach()

    def handle(self, event: BaseEvent, **_: Any) -> None:
        """Process an event, without waiting; called by LlamaIndex."""
        if isinstance(event, QueryStartEvent):
            self._begin_query(event.span_id, event.tags, text_asked(event.query))
        elif isinstance(event, QueryEndEvent):
            self._end_query(event.span_id, text_asked(event.query), event.response)
        elif isinstance(event, SpanDropEvent):
            self._open.end(event.span_id)
        elif isinstance(event, RetrievalStartEvent | LLMChatStartEvent) and (chat := self._open.chat()):
            if isinstance(event, RetrievalStartEvent):
                chat.queries.append(text_asked(event.str_or_query_bundle))
            elif not chat.earlier and len(chat.messages) < MOST_LISTS:
                chat.messages.append(tuple(event.messages))

    def _begin_query(self, *call: Any) -> None:
        if not is_judging():
            self._open.begin(*call)

    def _end_query(self, span_id: str | None, asked: str, response: Any) -> None:
        query = self._open.end(span_id)
        if query is None or response is None:
            return
        draw = None if query.nested else self._sampling.draw(query.tags)
        if draw is None:
            self._count.add("nested" if query.nested else "not_sampled")
            return
        submit = partial(self._submit, partial(self._asked, asked, call=query, span_id=span_id), response, draw)
        if isinstance(response, StreamingResponse | AsyncStreamingResponse) and response.response_txt is None:
            self._count.add("unread")
            listening: Any = heard if isinstance(response, StreamingResponse) else heard_async
            response.response_gen = listening(response.response_gen, partial(self._read, submit))
        elif isinstance(response, StreamingAgentChatResponse):
            self._count.add("unread")
            self._writing.begin(response, partial(self._read, submit))
        else:
            submit(text_of(response, otherwise=str(response)))

    def _read(self, submit: Callable[[str], None], text: str | None) -> None:
        self._count.add("unread", -1)
        if text is None:
            self._count.add("abandoned")
        else:
            submit(text)

    def _submit(self, asked: Callable[..., Asked], response: Any, draw: float, text: str) -> None:
        # a copy, because users may change their response
        self._judge(asked(answer=Response(text, nodes_of(response) or [])), draw)

    def _restored(self, data: dict[str, Any]) -> Asked:
        found = [NodeWithScore(node=TextNode.from_dict(item["node"]), score=item["score"]) for item in data["contexts"]]
        answer = Response(data["response"], found)
        call = OpenCall(tags={name: tag for name, tag in data["tags"].items() if tag is not None})
        time = datetime.fromisoformat(data["timestamp"])
        asked: Asked = self._asked(data["query"], answer, call, data["span_id"], time)
        return replace(asked, way=WAYS["last"])

    def _leave_out(self, record: QueryEvaluation) -> None:  # noqa: ARG002
        self._count.add("left_out")

    def _keep(self, record: QueryEvaluation) -> None:
        super()._keep(record)
        self._errors.extend(record.errors.values())
        self._count.add("evaluated")

    def _with_problem(self, record: QueryEvaluation, function: str, problem: BaseException) -> QueryEvaluation:  # noqa: ARG002
        self._errors.append(problem)
        self._count.add("failed")
        return record

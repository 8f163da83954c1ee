"""Evaluation of the queries of a running application, in the background.

Strategy. The end of a query tells all that is needed: the query, and the response object that the user gets. LlamaIndex calls a
handler inline and swallows what it raises, so the handler only decides (is it the outermost query, is it in the sample, is
there room) and hands over; judging happens in daemon threads, whose results and errors are kept here. The judges run
with a mark in their context, so that whatever queries they make are never evaluated. The tokens of a streaming answer
pass through unchanged, and are judged when the user has read them all.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from llama_index.core.base.response.schema import AsyncStreamingResponse, Response, StreamingResponse
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.evaluation import BaseEvaluator, EvaluationResult
from llama_index.core.instrumentation import get_dispatcher  # type: ignore[attr-defined]  # public, but not marked so
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events import BaseEvent
from llama_index.core.instrumentation.events.query import QueryEndEvent, QueryStartEvent
from llama_index.core.instrumentation.events.span import SpanDropEvent  # type: ignore[attr-defined]  # the same

from ragmetrics_core import InvalidInput, Metric
from ragmetrics_core.adapters import Background, is_judging, judging, settled

from ._counts import Counts
from ._evaluator import MetricEvaluator
from ._open_queries import OpenQueries, SpanListener
from ._streams import listen, listen_async

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["QueryEvaluation", "QueryEvaluationHandler"]

ARGUMENTS = frozenset({"query", "response", "contexts", "user_input", "retrieved_contexts"})
REFERENCES = frozenset({"reference", "second_response"})
Evaluators = Mapping[str, BaseEvaluator] | Iterable[Metric | BaseEvaluator]


@dataclass(frozen=True)
class QueryEvaluation:
    """One query and what the judges said.

    Attributes:
        query: the question.
        response: the answer.
        contexts: the texts of its source nodes.
        results: the results by the name of the metric.
        errors: what went wrong, by the name of the metric: exceptions that are no failure of a model.
        tags: the instrument tags of the query, such as an identifier of the example.
        span_id: the span of the query, as tracing tools know it.
    """

    query: str
    response: str
    contexts: list[str]
    results: Mapping[str, EvaluationResult] = field(default_factory=dict)
    errors: Mapping[str, BaseException] = field(default_factory=dict)
    tags: Mapping[str, Any] = field(default_factory=dict)
    span_id: str | None = None


class QueryEvaluationHandler(BaseEventHandler):
    """Attach it once, and every outermost query of any query engine is evaluated.

    with QueryEvaluationHandler([Faithfulness()], llm=judge) as handler:
        query_engine.query("...")
        handler.flush()
    print(handler.results[0].results["faithfulness"].score)

    References and other inputs of metrics come from ``instrument_tags({"reference": ...})`` around a query.

    Chat engines and agents ask no query engine for a turn of their own, so only the queries that they make are evaluated. The
    judges run in threads beside the application, so an LLM that computes in this process should not be the query engine's too.

    Args:
        metrics: metrics and evaluators, or evaluators by name.
        llm: the judge of the metrics; None: ``Settings.llm``.
        embed_model: the embedding model of the metrics; None: ``Settings.embed_model``.
        sampling_rate: share of the queries that is evaluated, 0 to 1.
        seed: makes the choice of the sample repeatable.
        workers: queries that are judged at the same time.
        max_pending: most queries that wait or are judged; further ones are dropped and counted.
        keep: evaluations that ``results`` keeps, the newest ones.
        on_result: called with every ``QueryEvaluation``, in the thread that judged it.

    Raises:
        InvalidInput: a setting has a value that it cannot have.
    """

    _work: Background[None] = PrivateAttr()
    _is_closed: bool = PrivateAttr(default=False)
    _evaluators: dict[str, BaseEvaluator] = PrivateAttr()
    _settings: dict[str, Any] = PrivateAttr()
    _open: OpenQueries = PrivateAttr()
    _listener: SpanListener = PrivateAttr()
    _results: deque[QueryEvaluation] = PrivateAttr()
    _errors: deque[BaseException] = PrivateAttr()
    _heard: Counts = PrivateAttr()
    _judged: Counts = PrivateAttr()

    def __init__(
        self,
        metrics: Evaluators,
        *,
        llm: Any = None,
        embed_model: Any = None,
        sampling_rate: float = 1.0,
        seed: int | None = None,
        workers: int = 4,
        max_pending: int = 1000,
        keep: int = 10_000,
        on_result: Callable[[QueryEvaluation], object] | None = None,
    ) -> None:
        super().__init__()
        if not 0 <= sampling_rate <= 1:
            raise InvalidInput(f"QueryEvaluationHandler: sampling_rate must lie between 0 and 1, got {sampling_rate!r}")
        for name, value in [("workers", workers), ("max_pending", max_pending), ("keep", keep)]:
            if value < 1:
                raise InvalidInput(f"QueryEvaluationHandler: {name} must be at least 1, got {value!r}")
        self._evaluators = _named(metrics, llm, embed_model)
        self._settings = {"rate": sampling_rate, "random": random.Random(seed), "on_result": on_result}  # noqa: S311
        self._settings |= {"workers": workers, "capacity": max_pending}
        self._work = self._new_line()
        self._open = OpenQueries()
        self._listener = SpanListener(self._begun, self._ended)
        self._results = deque(maxlen=keep)
        self._errors = deque(maxlen=keep)
        # two, so that no query waits for a judge to count
        self._heard = Counts()
        self._judged = Counts()

    @classmethod
    def class_name(cls) -> str:
        """Name of the handler, for LlamaIndex."""
        return "QueryEvaluationHandler"

    @property
    def results(self) -> list[QueryEvaluation]:
        """The evaluations that are finished, oldest first."""
        return list(self._results)

    @property
    def errors(self) -> list[BaseException]:
        """The exceptions that are no failure of a model, of metrics and of ``on_result``, oldest first."""
        return list(self._errors)

    @property
    def counts(self) -> dict[str, int]:
        """How many queries were ``evaluated``, ``failed``, ``dropped``, ``not_sampled``, ``nested``, ``abandoned`` streams."""
        return {**self._heard.now(), **self._judged.now()}

    @property
    def pending(self) -> int:
        """Queries that wait or are being judged."""
        return self._work.pending

    def attach(self) -> Self:
        """Listen to all queries of this process, once however often it is called; after ``close``, listen again."""
        if self._is_closed:
            self._work = self._new_line()
            self._is_closed = False
        dispatcher = get_dispatcher()
        if not any(handler is self for handler in dispatcher.event_handlers):
            dispatcher.add_event_handler(self)
            dispatcher.add_span_handler(self._listener)
        return self

    def detach(self) -> None:
        """Listen no longer; what was handed over is still judged."""
        dispatcher = get_dispatcher()
        dispatcher.event_handlers = [handler for handler in dispatcher.event_handlers if handler is not self]
        dispatcher.span_handlers = [handler for handler in dispatcher.span_handlers if handler is not self._listener]

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until every query that was handed over is judged; False if the timeout (in seconds) came first."""
        return self._work.flush(timeout)

    def close(self) -> None:
        """Detach, and let the threads end when their work is done."""
        self.detach()
        self._is_closed = True
        self._work.close()

    def __enter__(self) -> Self:
        return self.attach()

    def __exit__(self, *_: object) -> None:
        self.close()

    def handle(self, event: BaseEvent, **_: Any) -> None:
        """Take note of an event; LlamaIndex calls this. It never waits."""
        if isinstance(event, QueryStartEvent):
            self._begun(event.span_id, event.tags)
        elif isinstance(event, QueryEndEvent):
            self._ended(event.span_id, event.query, event.response)
        elif isinstance(event, SpanDropEvent):
            self._open.end(event.span_id)

    def _new_line(self) -> Background[None]:
        return Background(self._done, workers=self._settings["workers"], capacity=self._settings["capacity"])

    def _begun(self, span_id: str | None, tags: Mapping[str, Any] | None) -> None:
        if not is_judging():
            self._open.begin(span_id, tags)

    def _ended(self, span_id: str | None, asked: Any, response: Any) -> None:
        query = self._open.end(span_id)
        if query is None or response is None:
            return None
        if query.nested:
            return self._heard.add("nested")
        if self._settings["rate"] < 1 and self._settings["random"].random() >= self._settings["rate"]:
            return self._heard.add("not_sampled")
        text = asked if isinstance(asked, str) else asked.query_str
        submit = partial(self._submit, text, response, dict(query.tags), span_id)
        if isinstance(response, StreamingResponse) and response.response_txt is None:
            response.response_gen = listen(response.response_gen, submit)
        elif isinstance(response, AsyncStreamingResponse) and response.response_txt is None:
            response.response_gen = listen_async(response.response_gen, submit)
        else:
            submit(str(response) if not isinstance(response, Response) else response.response or "")
        return None

    def _submit(self, query: str, response: Any, tags: dict[str, Any], span_id: str | None, text: str | None) -> None:
        if text is None:
            return self._heard.add("abandoned")
        # a copy, as the user may do with the response what he likes
        answer = Response(text, list(getattr(response, "source_nodes", None) or []))
        if not self._work.submit(partial(self._judge, query, answer, tags, span_id)):
            self._heard.add("dropped")
        return None

    @judging()
    def _judge(self, query: str, answer: Response, tags: dict[str, Any], span_id: str | None) -> None:
        contexts = [node.get_content() for node in answer.source_nodes]
        results: dict[str, EvaluationResult] = {}
        errors: dict[str, BaseException] = {}
        for name, evaluator in self._evaluators.items():
            inputs = {key: value for key, value in tags.items() if key in _known(evaluator)}
            outcome = settled(partial(evaluator.evaluate_response, query=query, response=answer, **inputs))
            problem = outcome.exception()
            if problem is None:
                results[name] = outcome.result()
            else:
                errors[name] = problem
        evaluation = QueryEvaluation(query, answer.response or "", contexts, results, errors, tags, span_id)
        self._results.append(evaluation)
        self._errors.extend(errors.values())
        if self._settings["on_result"] is not None:
            self._settings["on_result"](evaluation)

    def _done(self, future: Future[None]) -> None:
        problem = future.exception()
        if problem is not None:
            self._errors.append(problem)
        self._judged.add("evaluated" if problem is None else "failed")


def _named(metrics: Evaluators, llm: Any, embed_model: Any) -> dict[str, BaseEvaluator]:
    if isinstance(metrics, Metric | BaseEvaluator):
        metrics = [metrics]
    given: Any = metrics
    pairs = given.items() if isinstance(given, Mapping) else ((_name(item), item) for item in given)
    named: dict[str, BaseEvaluator] = {}
    for name, item in pairs:
        if name in named:
            raise InvalidInput(
                f"QueryEvaluationHandler: two metrics are called {name!r}: give one of them another name=..."
            )
        if isinstance(item, Metric):
            item = MetricEvaluator(item, llm=llm, embed_model=embed_model, on_error="record")  # noqa: PLW2901
        if not isinstance(item, BaseEvaluator):
            raise InvalidInput(
                f"QueryEvaluationHandler takes metrics and evaluators, got {getattr(item, '__name__', type(item).__name__)}"
            )
        named[name] = item
    if not named:
        raise InvalidInput("QueryEvaluationHandler needs at least one metric")
    return named


def _known(evaluator: BaseEvaluator) -> frozenset[str]:
    """The tags that are inputs of an evaluator: all others are the application's own."""
    inputs = evaluator.metric.inputs if isinstance(evaluator, MetricEvaluator) else REFERENCES
    return frozenset(inputs) - ARGUMENTS


def _name(item: Any) -> str:
    metric = getattr(item, "metric", item)
    return metric.name if isinstance(metric, Metric) else type(item).__name__

"""Evaluation of the queries of a running application, in the background.

Strategy. The end of a query tells all that is needed: the query, and the response object that the user gets. LlamaIndex calls a
handler inline and swallows what it raises, so the handler only decides (is it the outermost query, is it in the sample, is
there room) and hands over; judging happens in daemon threads, whose results and errors are kept here. The judges run
with a mark in their context, so that whatever queries they make are never evaluated. The tokens of a streaming answer
pass through unchanged, and are judged when the user has read them all; those of a chat engine when it has written them down.
"""

from __future__ import annotations

import inspect
import logging
import random
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any

from llama_index.core.base.response.schema import AsyncStreamingResponse, Response, StreamingResponse
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.chat_engine.types import StreamingAgentChatResponse
from llama_index.core.evaluation import EvaluationResult
from llama_index.core.instrumentation import get_dispatcher  # type: ignore[attr-defined]  # public, but not marked so
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events import BaseEvent
from llama_index.core.instrumentation.events.query import QueryEndEvent, QueryStartEvent
from llama_index.core.instrumentation.events.span import SpanDropEvent  # type: ignore[attr-defined]  # the same
from llama_index.core.schema import MetadataMode

from ragmetrics_core import InvalidInput
from ragmetrics_core.adapters import LiveJudging, is_judging, judging, run_blocking

from ._counts import Counts
from ._data._responses import mode_of, nodes_of, text_of
from ._evaluations import Asked, Evaluators, QueryEvaluation, named, problem_of
from ._open_queries import OpenQueries, SpanListener, text_asked
from ._streams import Writing, listen, listen_async

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["QueryEvaluationHandler"]

logger = logging.getLogger("ragmetrics_llama_index")

_at_work: ContextVar[object] = ContextVar("ragmetrics_telling", default=None)
"""The handler whose ``on_result`` runs in this context."""


class QueryEvaluationHandler(BaseEventHandler):
    """Attach it once, and every outermost query of any query engine, chat engine or agent is evaluated.

    with QueryEvaluationHandler([Faithfulness()], llm=judge) as handler:
        query_engine.query("...")
        handler.flush()
    print(handler.results[0].results["faithfulness"].score)

    References and other inputs of metrics come from ``instrument_tags({"reference": ...})`` around a query. The judges run in
    threads beside the application, so an LLM that computes in this process should not be the query engine's too.

    Args:
        metrics: metrics and evaluators, or evaluators by name.
        llm: the judge of the metrics; None: ``Settings.llm``.
        embed_model: the embedding model of the metrics; None: ``Settings.embed_model``.
        sampling_rate: share of the queries that is evaluated, 0 to 1.
        seed: makes the choice of the sample repeatable.
        workers: judgements (one metric on one query) that are made at the same time.
        max_pending: most queries that wait or are judged; further ones are dropped and counted.
        keep: evaluations that ``results`` keeps, the newest ones.
        on_result: called in the background with every ``QueryEvaluation``; a coroutine function is run to its end.
        timeout: seconds that one judgement or one call of ``on_result`` may take; then it counts as failed, and its place is given
            to the next one. None: as long as it likes.
        exit_timeout: seconds that the end of the program waits for what is still pending; what is lost then is logged.
        metadata_mode: which metadata of the source nodes the metrics read with their text; by default what the generator saw.

    Raises:
        InvalidInput: a setting has a value that it cannot have.
    """

    _live: LiveJudging[EvaluationResult] = PrivateAttr()
    _evaluators: Mapping[str, Any] = PrivateAttr()
    _settings: dict[str, Any] = PrivateAttr()
    _open: OpenQueries = PrivateAttr()
    _listener: SpanListener = PrivateAttr()
    _writing: Writing = PrivateAttr()
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
        timeout: float | None = 120.0,
        exit_timeout: float = 10.0,
        metadata_mode: MetadataMode | str = MetadataMode.LLM,
    ) -> None:
        super().__init__()
        if not 0 <= sampling_rate <= 1:
            raise InvalidInput(f"QueryEvaluationHandler: sampling_rate must lie between 0 and 1, got {sampling_rate!r}")
        for name, value in [("workers", workers), ("max_pending", max_pending), ("keep", keep)]:
            if value < 1:
                raise InvalidInput(f"QueryEvaluationHandler: {name} must be at least 1, got {value!r}")
        if on_result is not None and not callable(on_result):
            raise InvalidInput(f"QueryEvaluationHandler: on_result must be a function, got {on_result!r}")
        mode = mode_of("QueryEvaluationHandler", metadata_mode)
        self._evaluators = named(metrics, llm, embed_model, mode)
        self._settings = {"rate": sampling_rate, "random": random.Random(seed), "on_result": on_result, "mode": mode}  # noqa: S311
        self._live = LiveJudging(
            logger,
            workers=workers,
            max_pending=max_pending,
            problem_of=problem_of,
            timeout=timeout,
            exit_timeout=exit_timeout,
        )
        self._open = OpenQueries()
        self._writing = Writing()
        self._listener = SpanListener(self._begun, self._ended, self._writing.end)
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
        """What has become of it, as far as it has happened.

        Queries: ``evaluated``, ``dropped``, ``not_sampled``, ``nested``, streams ``abandoned`` by their readers, and streams that
        are still ``unread``. Judgements, one per metric: ``invalid`` (the judge failed), ``timed_out``. Calls of
        ``on_result``: ``failed``, and ``untold`` where there was no place or it took too long.
        """
        live = self._live.counts
        more = {"invalid": live["failed"], **{name: live[name] for name in ("timed_out", "dropped", "untold")}}
        return {**self._heard.now(), **self._judged.now(), **{name: count for name, count in more.items() if count}}

    @property
    def pending(self) -> int:
        """Queries that wait or are being judged, or wait for ``on_result``."""
        return self._live.pending

    def attach(self) -> Self:
        """Listen to all queries of this process, once however often it is called; after ``close``, listen again."""
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
        """Wait until every query that was handed over is judged; False if the timeout (in seconds) came first.

        Inside ``on_result`` it does not wait, as it would wait for itself.
        """
        return self._live.is_alone if _at_work.get() is self else self._live.flush(timeout)

    def close(self) -> None:
        """Listen no longer; what was handed over is still judged, and the end of the program waits for it."""
        self.detach()

    def __enter__(self) -> Self:
        return self.attach()

    def __exit__(self, *_: object) -> None:
        self.close()

    def handle(self, event: BaseEvent, **_: Any) -> None:
        """Take note of an event; LlamaIndex calls this. It never waits."""
        if isinstance(event, QueryStartEvent):
            self._begun(event.span_id, event.tags)
        elif isinstance(event, QueryEndEvent):
            self._ended(event.span_id, text_asked(event.query), event.response)
        elif isinstance(event, SpanDropEvent):
            self._open.end(event.span_id)

    def _begun(self, span_id: str | None, tags: Mapping[str, Any] | None) -> None:
        if not is_judging():
            self._open.begin(span_id, tags)

    def _ended(self, span_id: str | None, asked: str, response: Any) -> None:
        query = self._open.end(span_id)
        if query is None or response is None:
            return None
        if query.nested:
            return self._heard.add("nested")
        if self._settings["rate"] < 1 and self._settings["random"].random() >= self._settings["rate"]:
            return self._heard.add("not_sampled")
        submit = partial(self._submit, asked, response, dict(query.tags), span_id)
        if isinstance(response, StreamingResponse | AsyncStreamingResponse) and response.response_txt is None:
            self._heard.add("unread")
            done = partial(self._read, submit)
            if isinstance(response, StreamingResponse):
                response.response_gen = listen(response.response_gen, done)
            else:
                response.response_gen = listen_async(response.response_gen, done)
        elif isinstance(response, StreamingAgentChatResponse):
            self._heard.add("unread")
            self._writing.begin(response, partial(self._read, submit))
        else:
            submit(text_of(response, otherwise=str(response)))
        return None

    def _read(self, submit: Callable[[str], None], text: str | None) -> None:
        self._heard.add("unread", -1)
        if text is None:
            self._heard.add("abandoned")
        else:
            submit(text)

    def _submit(self, query: str, response: Any, tags: dict[str, Any], span_id: str | None, text: str) -> None:
        # a copy, as the user may do with the response what he likes
        asked = Asked(query, Response(text, nodes_of(response) or []), tags, span_id)
        judgements = {name: partial(asked.judge, evaluator) for name, evaluator in self._evaluators.items()}
        self._live.judge(judgements, partial(self._finished, asked))

    def _finished(self, asked: Asked, outcomes: Mapping[str, Future[EvaluationResult]]) -> None:
        evaluation = asked.evaluation(outcomes, self._settings["mode"])
        self._results.append(evaluation)
        self._errors.extend(evaluation.errors.values())
        self._judged.add("evaluated")
        if self._settings["on_result"] is not None:
            self._live.tell(partial(self._tell, evaluation), self._told)

    @judging()
    def _tell(self, evaluation: QueryEvaluation) -> None:
        _at_work.set(self)  # the context is the job's own
        answer = self._settings["on_result"](evaluation)
        if inspect.isawaitable(answer):
            run_blocking(partial(_awaited, answer))

    def _told(self, outcome: Future[Any]) -> None:
        problem = outcome.exception()
        if problem is not None:
            logger.error("on_result failed", exc_info=problem)
            self._errors.append(problem)
            self._judged.add("failed")


async def _awaited(answer: Awaitable[Any]) -> None:
    await answer

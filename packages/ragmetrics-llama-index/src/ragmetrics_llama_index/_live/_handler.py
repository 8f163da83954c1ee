"""Evaluation of the queries of a running application, in the background.

Strategy. The end of a query brings all that is needed: the question, and the response object that the user gets. LlamaIndex calls
a handler inline and swallows its exceptions, so the handler only decides (is this the outermost query, is it in the sample) and
passes the query on. The judges run with a mark in their context, so that their own queries are never evaluated. The tokens of a
streaming answer pass through unchanged; the answer is judged when the user has read it to the end, that of a chat engine when the
engine has written it into its history.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from llama_index.core.base.response.schema import AsyncStreamingResponse, Response, StreamingResponse
from llama_index.core.chat_engine.types import StreamingAgentChatResponse
from llama_index.core.evaluation import EvaluationResult
from llama_index.core.instrumentation import get_dispatcher  # type: ignore[attr-defined]  # public, but not marked so
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events import BaseEvent
from llama_index.core.instrumentation.events.query import QueryEndEvent, QueryStartEvent
from llama_index.core.instrumentation.events.span import SpanDropEvent  # type: ignore[attr-defined]  # the same
from llama_index.core.schema import MetadataMode

from ragmetrics_core.adapters import (
    Counts,
    LiveEvaluation,
    LiveSettings,
    OpenCalls,
    current_names,
    heard,
    heard_async,
    is_judging,
    judging,
    shows_settings,
)

from .._data._responses import mode_of, nodes_of, text_of
from ._evaluations import Asked, Evaluators, QueryEvaluation, named, problem_of
from ._listening import ByIdentity, SpanListener, Writing, text_asked

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack


class QueryEvaluationHandler(ByIdentity, BaseEventHandler, LiveEvaluation[QueryEvaluation, EvaluationResult]):
    """Attach it once, and every outermost query of any query engine, chat engine or agent is evaluated.

    with QueryEvaluationHandler([Faithfulness()], llm=judge) as handler:
        query_engine.query("...")
        handler.flush()
    print(handler.results[0].results["faithfulness"].score)

    References and other inputs of metrics come from ``instrument_tags({"reference": ...})`` around a query. The judges run in
    threads of this process, so an LLM that computes in this process should not serve both the query engine and the judges.

    Args:
        metrics: metrics and evaluators, or evaluators by name.
        llm: the judge of the metrics; None: ``Settings.llm``.
        embed_model: the embedding model of the metrics; None: ``Settings.embed_model``.
        metadata_mode: which metadata of the source nodes the metrics read with their text; by default what the generator saw.
        sample_rate: share of the queries that is evaluated, 0 to 1.
        seed: makes the choice of the sample repeatable.
        only: called in the background with a ``QueryEvaluation`` without results; whether the query is judged.
        on_result: called in the background with every ``QueryEvaluation``; a coroutine function is run to its end.
        max_pending: how many queries may wait or be judged at once; further ones are dropped and counted.
        workers: how many judgements (one metric on one query) are made at the same time.
        keep: how many evaluations ``results`` keeps, the newest ones: 10,000 by default; None: all.
        timeout: seconds that a judgement or a call of your functions may take (120); after that it has failed, and the next one
            starts. None: no limit.
        exit_timeout: seconds that the program waits at its end for pending judgements (10); those that are lost are logged.

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
        metadata_mode: MetadataMode | str = MetadataMode.LLM,
        **settings: Unpack[LiveSettings],
    ) -> None:
        super().__init__()
        given: Any = {"keep": 10_000, **current_names(settings, {"sampling_rate": "sample_rate"})}
        LiveEvaluation.__init__(self, logging.getLogger("ragmetrics_llama_index"), problem_of, **given)
        mode = mode_of("QueryEvaluationHandler", metadata_mode)
        self._asked = partial(Asked, named(metrics, llm, embed_model, mode), mode)
        self._open = OpenCalls()
        self._writing = Writing()
        self._listener = SpanListener(self._begun, self._ended, self._writing.end)
        self._errors: deque[BaseException] = deque(maxlen=given["keep"])
        # two of them, so that no query waits until a judge has counted
        self._heard = Counts()
        self._answered = Counts()

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
        """The exceptions of metrics, ``only`` and ``on_result`` that are no failure of a model, oldest first."""
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
        return {**self._heard.now(), **self._answered.now(), **{name: count for name, count in more.items() if count}}

    def attach(self) -> Self:
        """Listen to all queries of this process; further calls change nothing. After ``close`` it listens again."""
        dispatcher = get_dispatcher()
        if not any(handler is self for handler in dispatcher.event_handlers):
            dispatcher.add_event_handler(self)
            dispatcher.add_span_handler(self._listener)
        return self

    def detach(self) -> None:
        """Stop listening; queries that have ended are still judged, and the program waits for them at its end."""
        dispatcher = get_dispatcher()
        dispatcher.event_handlers = [handler for handler in dispatcher.event_handlers if handler is not self]
        dispatcher.span_handlers = [handler for handler in dispatcher.span_handlers if handler is not self._listener]

    def close(self) -> None:
        """The same as ``detach``."""
        self.detach()

    def __enter__(self) -> Self:
        """Listen in this block; leaving it waits for nothing."""
        return self.attach()

    def __exit__(self, *_: object) -> None:
        self.close()

    def handle(self, event: BaseEvent, **_: Any) -> None:
        """Note an event; called by LlamaIndex. It never waits."""
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
            return self._note("nested")
        if not self._is_sampled():
            return self._note("not_sampled")
        submit = partial(self._submit, asked, response, dict(query.tags), span_id)
        if isinstance(response, StreamingResponse | AsyncStreamingResponse) and response.response_txt is None:
            self._note("unread")
            listening: Any = heard if isinstance(response, StreamingResponse) else heard_async
            response.response_gen = listening(response.response_gen, partial(self._read, submit))
        elif isinstance(response, StreamingAgentChatResponse):
            self._note("unread")
            self._writing.begin(response, partial(self._read, submit))
        else:
            submit(text_of(response, otherwise=str(response)))
        return None

    def _note(self, what: str) -> None:
        self._heard.add(what)

    def _read(self, submit: Callable[[str], None], text: str | None) -> None:
        self._heard.add("unread", -1)
        if text is None:
            self._note("abandoned")
        else:
            submit(text)

    def _submit(self, query: str, response: Any, tags: dict[str, Any], span_id: str | None, text: str) -> None:
        # a copy, as users may change their response
        self._judge(self._asked(query, Response(text, nodes_of(response) or []), tags, span_id))

    def _left_out(self, record: QueryEvaluation) -> None:  # noqa: ARG002
        self._answered.add("left_out")

    def _keep(self, record: QueryEvaluation) -> None:
        super()._keep(record)
        self._errors.extend(record.errors.values())
        self._answered.add("evaluated")

    @judging()
    def _tell(self, record: QueryEvaluation) -> None:
        super()._tell(record)

    def _with_problem(self, record: QueryEvaluation, function: str, problem: BaseException) -> QueryEvaluation:  # noqa: ARG002
        self._errors.append(problem)
        self._answered.add("failed")
        return record

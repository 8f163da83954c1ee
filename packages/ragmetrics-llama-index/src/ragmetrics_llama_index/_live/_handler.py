"""Evaluation of the queries of a running application, in the background.

Strategy. The end of a query tells all that is needed: the query, and the response object that the user gets. LlamaIndex calls a
handler inline and swallows what it raises, so the handler only decides (is it the outermost query, is it in the sample) and hands
over. The judges run with a mark in their context, so that whatever queries they make are never evaluated. The tokens of a
streaming answer pass through unchanged, and are judged when the user has read them all; those of a chat engine when it has
written them down.
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
    current_names,
    is_judging,
    judging,
    shows_settings,
)

from .._data._responses import mode_of, nodes_of, text_of
from ._evaluations import Asked, Evaluators, QueryEvaluation, named, problem_of
from ._open_queries import ByIdentity, OpenQueries, SpanListener, text_asked
from ._streams import Writing, listen, listen_async

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

__all__ = ["QueryEvaluationHandler"]


class QueryEvaluationHandler(ByIdentity, BaseEventHandler, LiveEvaluation[QueryEvaluation, EvaluationResult]):
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
        metadata_mode: which metadata of the source nodes the metrics read with their text; by default what the generator saw.
        sample_rate: share of the queries that is evaluated, 0 to 1.
        seed: makes the choice of the sample repeatable.
        only: which of these are judged: a function of a ``QueryEvaluation`` that has no results yet, called in the background.
        on_result: called in the background with every ``QueryEvaluation``; a coroutine function is run to its end.
        max_pending: most queries that wait or are judged; further ones are dropped and counted.
        workers: judgements (one metric on one query) that are made at the same time.
        keep: evaluations that ``results`` keeps, the newest ones: 10,000 by default; None: all.
        timeout: seconds that one judgement or one call of a function of yours may take (120); then it counts as failed, and its
            place is given to the next one. None: as long as it likes.
        exit_timeout: seconds that the end of the program waits for what is still pending (10); what is lost then is logged.

    Raises:
        InvalidInput: a setting has a value that it cannot have.
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
        self._open = OpenQueries()
        self._writing = Writing()
        self._listener = SpanListener(self._begun, self._ended, self._writing.end)
        self._errors: deque[BaseException] = deque(maxlen=given["keep"])
        # two, so that no query waits for a judge to count
        self._heard = Counts()
        self._answered = Counts()

    @classmethod
    def class_name(cls) -> str:
        """Name of the handler, for LlamaIndex."""
        return "QueryEvaluationHandler"

    @property
    def results(self) -> list[QueryEvaluation]:
        """The evaluations that are finished, oldest first."""
        return list(self._kept)

    @property
    def errors(self) -> list[BaseException]:
        """The exceptions that are no failure of a model, of metrics, of ``only`` and of ``on_result``, oldest first."""
        return list(self._errors)

    @property
    def counts(self) -> dict[str, int]:
        """What has become of it, as far as it has happened.

        Queries: ``evaluated``, ``dropped``, ``not_sampled``, ``left_out`` by ``only``, ``nested``, streams ``abandoned`` by their
        readers, and streams that are still ``unread``. Judgements, one per metric: ``invalid`` (the judge failed),
        ``timed_out``. Calls of ``only`` and ``on_result``: ``failed``, and ``untold`` where there was no place or it took too long.
        """
        live = self._live.counts
        more = {"invalid": live["failed"], **{name: live[name] for name in ("timed_out", "dropped", "untold")}}
        return {**self._heard.now(), **self._answered.now(), **{name: count for name, count in more.items() if count}}

    def attach(self) -> Self:
        """Listen to all queries of this process, once however often it is called; after ``close``, listen again."""
        dispatcher = get_dispatcher()
        if not any(handler is self for handler in dispatcher.event_handlers):
            dispatcher.add_event_handler(self)
            dispatcher.add_span_handler(self._listener)
        return self

    def detach(self) -> None:
        """Listen no longer; what was handed over is still judged, and the end of the program waits for it."""
        dispatcher = get_dispatcher()
        dispatcher.event_handlers = [handler for handler in dispatcher.event_handlers if handler is not self]
        dispatcher.span_handlers = [handler for handler in dispatcher.span_handlers if handler is not self._listener]

    def close(self) -> None:
        """The same as ``detach``."""
        self.detach()

    def __enter__(self) -> Self:
        """Attached in this block, whose end waits for nothing."""
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
            return self._note("nested")
        if not self._is_sampled():
            return self._note("not_sampled")
        submit = partial(self._submit, asked, response, dict(query.tags), span_id)
        if isinstance(response, StreamingResponse | AsyncStreamingResponse) and response.response_txt is None:
            self._note("unread")
            listening: Any = listen if isinstance(response, StreamingResponse) else listen_async
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
        # a copy, as the user may do with the response what he likes
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

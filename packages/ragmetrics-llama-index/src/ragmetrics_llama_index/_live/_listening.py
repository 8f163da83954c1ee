"""What is heard of an application: which queries are open, which of them are nested, and the words of streaming answers.

Strategy. A query is a query to a query engine, a turn of a chat engine, or a run of an agent. The open queries are in a context
variable, which threads and asyncio tasks of LlamaIndex inherit, so a query that begins while another one is open is nested. A task
may outlive the query that started it, so each query has a flag that it is open. Query engines announce by events that a query
begins and ends, except those that override ``query`` (as ``CustomQueryEngine`` does); chat engines and agents have only spans. So
spans are heard as well: whichever comes first counts, the other is ignored. The text of a stream is collected while the user reads
it, token by token.
"""

from __future__ import annotations

import threading
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from inspect import BoundArguments as Bound
from typing import Any

from llama_index.core.agent.workflow import AgentWorkflow, BaseWorkflowAgent
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine.types import BaseChatEngine, StreamingAgentChatResponse
from llama_index.core.instrumentation.span_handlers import NullSpanHandler

__all__ = ["ByIdentity", "OpenQueries", "Query", "SpanListener", "Writing", "listen", "listen_async", "text_asked"]

TURNS: tuple[tuple[tuple[type[Any], ...], tuple[str, ...]], ...] = (
    ((BaseQueryEngine,), (".query", ".aquery")),
    ((BaseChatEngine,), (".chat", ".achat", ".stream_chat", ".astream_chat")),
    ((AgentWorkflow, BaseWorkflowAgent), (".run",)),
)
"""The methods whose spans are queries."""

Done = Callable[[str | None], None]
"""Called once: with the whole text, or with None if the reader left early or the stream failed."""


@dataclass
class Query:
    """A query: its span, its instrument tags, whether another query was open when it began, and whether it is open."""

    span_id: str | None
    tags: Mapping[str, Any] = field(default_factory=dict)
    nested: bool = False
    is_open: bool = True


class OpenQueries:
    """The queries that are open."""

    def __init__(self) -> None:
        self._enclosing: ContextVar[tuple[Query, ...]] = ContextVar("ragmetrics_open_queries", default=())
        # agents begin in one context and end in another
        self._by_span: dict[str | None, Query] = {}

    def begin(self, span_id: str | None, tags: Mapping[str, Any] | None) -> None:
        """A query begins."""
        if span_id in self._by_span:
            return
        enclosing = tuple(query for query in self._enclosing.get() if query.is_open)
        query = self._by_span[span_id] = Query(span_id, dict(tags or {}), nested=bool(enclosing))
        self._enclosing.set((*enclosing, query))

    def end(self, span_id: str | None) -> Query | None:
        """The query that ends; None if it is not open."""
        query = self._by_span.pop(span_id, None)
        if query is not None:
            query.is_open = False
        return query


class ByIdentity:
    """Equal to nothing but itself, where pydantic would compare fields, of which there are none."""

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)


class SpanListener(ByIdentity, NullSpanHandler):
    """Hears the spans of query engines, chat engines and agents.

    Args:
        begin: called with the span and the tags of a query that begins.
        end: called with the span of a query that ends, the question, and the result; None if the query failed.
        written: called with the streaming answer of a chat engine when it is complete, or has failed.
    """

    def __init__(
        self,
        begin: Callable[[str, Mapping[str, Any] | None], None],
        end: Callable[[str, Any, Any], None],
        written: Callable[[StreamingAgentChatResponse], None],
    ) -> None:
        super().__init__()
        self._begin = begin
        self._end = end
        self._written = written

    # LlamaIndex passes everything by name, and more in newer releases
    def span_enter(self, *, id_: str, bound_args: Bound, instance: Any = None, tags: Any = None, **_: Any) -> None:  # type: ignore[override]
        """A span begins."""
        if _is_query(id_, instance):
            # a run of an agent carries the tags into another context
            carried = bound_args.arguments.get("tags")
            found = carried.get("instrument_tags") if isinstance(carried, dict) else None
            self._begin(id_, tags or found)

    def span_exit(self, *, id_: str, bound_args: Bound, instance: Any = None, result: Any = None, **_: Any) -> None:  # type: ignore[override]
        """A span ends."""
        if _is_query(id_, instance):
            # a workflow ends with an event that holds the result
            answer = getattr(result, "result", result) if isinstance(instance, TURNS[2][0]) else result
            self._end(id_, text_asked(*bound_args.arguments.values()), answer)
        elif isinstance(instance, StreamingAgentChatResponse) and _is_writing(id_):
            self._written(instance)

    def span_drop(self, *, id_: str, instance: Any = None, **_: Any) -> None:  # type: ignore[override]
        """A span ends with an exception."""
        if _is_query(id_, instance):
            self._end(id_, "", None)
        elif isinstance(instance, StreamingAgentChatResponse) and _is_writing(id_):
            self._written(instance)


def text_asked(*arguments: Any) -> str:
    """The question among the arguments of a method: the first one, or the event that starts an agent."""
    asked = next((item.user_msg for item in arguments if hasattr(item, "user_msg")), next(iter(arguments), ""))
    if isinstance(asked, ChatMessage):
        asked = asked.content
    return str(getattr(asked, "query_str", asked) or "")


def _is_query(span_id: str, instance: Any) -> bool:
    method = span_id.partition("-")[0]
    return any(isinstance(instance, classes) and method.endswith(methods) for classes, methods in TURNS)


def _is_writing(span_id: str) -> bool:
    return "write_response_to_history" in span_id


def listen(tokens: Any, done: Done) -> Generator[Any, None, None]:
    """The same tokens; ``done`` is called at the end."""
    heard: list[str] = []
    whole = False
    try:
        for token in tokens:
            heard.append(_words(token))
            yield token
        whole = True
    finally:
        close = getattr(tokens, "close", None)
        if close is not None:
            close()
        done("".join(heard) if whole else None)


async def listen_async(tokens: Any, done: Done) -> AsyncGenerator[Any, None]:
    """The same for an asynchronous stream."""
    heard: list[str] = []
    whole = False
    try:
        async for token in tokens:
            heard.append(_words(token))
            yield token
        whole = True
    finally:
        close = getattr(tokens, "aclose", None)
        if close is not None:
            await close()
        done("".join(heard) if whole else None)


def _words(token: Any) -> str:
    """The text of a token: query engines stream texts, chat engines messages whose ``delta`` is new."""
    return str(getattr(token, "delta", token) or "")


class Writing:
    """Streaming answers that chat engines are still writing into their history."""

    def __init__(self) -> None:
        self._waiting: dict[int, tuple[StreamingAgentChatResponse, Done]] = {}
        self._lock = threading.RLock()  # a stream that is collected meanwhile ends too, on the same thread

    def begin(self, response: StreamingAgentChatResponse, done: Done) -> None:
        """Call ``done`` when the whole answer is written, or now if it is."""
        if not response.is_writing_to_memory:  # it is written by being read
            if response.achat_stream is not None:
                response.achat_stream = listen_async(response.achat_stream, done)
            else:
                response.chat_stream = listen(response.chat_stream, done)
            return
        with self._lock:
            self._waiting[id(response)] = response, done
        if response.is_done or response.exception is not None:
            self.end(response)

    def end(self, response: StreamingAgentChatResponse) -> None:
        """The answer is written, or writing has failed."""
        with self._lock:
            _, done = self._waiting.pop(id(response), (None, None))
        if done is not None:
            done(_written(response) if response.exception is None else None)


def _written(response: StreamingAgentChatResponse) -> str:
    """The whole answer; in older releases it is in the queues until the user has read it."""
    waiting = [*response.queue.queue, *getattr(response.aqueue, "_queue", ())]
    return response.response or f"{response.unformatted_response}{''.join(map(_words, waiting))}".strip()

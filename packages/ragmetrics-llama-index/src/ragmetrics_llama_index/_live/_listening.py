"""What is heard of a LlamaIndex application: the spans of its queries, and the answers that chat engines are still writing.

Strategy. A query is a query to a query engine, a turn of a chat engine, or a run of an agent. Query engines announce by events that
a query begins and ends, except those that override ``query`` (as ``CustomQueryEngine`` does); chat engines and agents have only
spans. So spans are heard as well: whichever comes first counts, the other is ignored.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from inspect import BoundArguments as Bound
from typing import Any

from llama_index.core.agent.workflow import AgentWorkflow, BaseWorkflowAgent
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine.types import BaseChatEngine, StreamingAgentChatResponse
from llama_index.core.instrumentation.span_handlers import NullSpanHandler

from ragmetrics_core.adapters import heard, heard_async, words_of

TURNS: tuple[tuple[tuple[type[Any], ...], tuple[str, ...]], ...] = (
    ((BaseQueryEngine,), (".query", ".aquery")),
    ((BaseChatEngine,), (".chat", ".achat", ".stream_chat", ".astream_chat")),
    ((AgentWorkflow, BaseWorkflowAgent), (".run",)),
)
"""The methods whose spans are queries."""

Done = Callable[[str | None], None]


class ByIdentity:
    """Equal to nothing but itself, where pydantic would compare fields, of which there are none."""

    __eq__ = object.__eq__
    __hash__ = object.__hash__


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


class Writing:
    """Streaming answers that chat engines are still writing into their history."""

    def __init__(self) -> None:
        self._waiting: dict[int, tuple[StreamingAgentChatResponse, Done]] = {}
        self._lock = threading.RLock()  # a stream that is collected meanwhile ends too, on the same thread

    def begin(self, response: StreamingAgentChatResponse, done: Done) -> None:
        """Call ``done`` when the whole answer is written, or now if it is."""
        if not response.is_writing_to_memory:  # it is written by being read
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
        """The answer is written, or writing has failed."""
        with self._lock:
            _, done = self._waiting.pop(id(response), (None, None))
        if done is not None:
            done(_written(response) if response.exception is None else None)


def _written(response: StreamingAgentChatResponse) -> str:
    """The whole answer; in older releases it is in the queues until the user has read it."""
    waiting = [*response.queue.queue, *getattr(response.aqueue, "_queue", ())]
    return response.response or f"{response.unformatted_response}{''.join(map(words_of, waiting))}".strip()

"""One exchange with a chat generator: the messages, the call with its tracing span, the reply. Shared by all who ask one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from haystack.dataclasses import ChatMessage
from haystack.tracing.tracer import Span, tracer

from ragmetrics_core import BadReply, Message, Reply
from ragmetrics_core.adapters import finish_reason_of, is_cut_off, usage_of

__all__ = ["call", "call_async", "chat_messages", "read_answer", "reply_of"]


def chat_messages(messages: Iterable[Message]) -> list[ChatMessage]:
    """Messages of the core as messages of Haystack."""
    makers: dict[str, Callable[[str], ChatMessage]] = {
        "system": ChatMessage.from_system,
        "user": ChatMessage.from_user,
        "assistant": ChatMessage.from_assistant,
    }
    return [makers[message.role](message.content) for message in messages]


def call(generator: Any, messages: list[ChatMessage], **settings: Any) -> Any:
    """Run the generator, inside the span in which Haystack's own components run theirs."""
    with _span(generator, messages) as span:
        result = generator.run(messages=messages, **settings)
        span.set_content_tag("haystack.component.output", result)
    return result


async def call_async(generator: Any, messages: list[ChatMessage], **settings: Any) -> Any:
    """The same with the generator's ``run_async``."""
    with _span(generator, messages) as span:
        result = await generator.run_async(messages=messages, **settings)
        span.set_content_tag("haystack.component.output", result)
    return result


@contextmanager
def _span(generator: Any, messages: list[ChatMessage]) -> Iterator[Span]:
    tags = {"haystack.component.name": "chat_generator", "haystack.component.type": type(generator).__name__}
    with tracer.trace("haystack.chat_generator.run", tags=tags, parent_span=tracer.current_span()) as span:
        span.set_content_tag("haystack.component.input", {"messages": messages})
        yield span


def reply_of(result: Any) -> ChatMessage | None:
    """The first reply of a generator; None where it gave none."""
    replies = result.get("replies") if isinstance(result, Mapping) else None
    return replies[0] if replies else None


def read_answer(reply: ChatMessage | None) -> Reply[str]:
    """What the reply says, and what it cost.

    Raises:
        BadReply: there is no reply, or it holds no text, as where the model calls a tool instead.
    """
    if reply is None:
        raise BadReply("the chat generator gave no reply")
    if not hasattr(reply, "meta"):
        raise BadReply(f"the chat generator replied with a {type(reply).__name__}, not with a ChatMessage")
    meta = reply.meta or {}
    usage = usage_of(meta)
    if reply.text is None:
        problem = BadReply("the chat generator replied without any text")
        problem.usage = usage
        raise problem
    return Reply(reply.text, usage, truncated=is_cut_off(finish_reason_of(meta)))

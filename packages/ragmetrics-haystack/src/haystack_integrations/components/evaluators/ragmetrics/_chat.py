"""One exchange with a chat generator: the messages, the call with its tracing span, the reply. Shared by all who ask one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from haystack.dataclasses import ChatMessage
from haystack.tracing.tracer import Span, tracer

from ragmetrics_core import Ask, BadReply, Message, Reply, Usage

__all__ = [
    "BlockingEmbeddings",
    "BlockingLLM",
    "call",
    "call_async",
    "chat_messages",
    "close",
    "close_async",
    "read_answer",
    "reply_of",
    "warm_up",
    "warm_up_async",
]

CUT_OFF = ("length", "max_tokens")
"""Why an answer ends at its limit, in the words of the providers."""


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
    usage = _usage(meta.get("usage"))
    if reply.text is None:
        problem = BadReply("the chat generator replied without any text")
        problem.usage = usage
        raise problem
    return Reply(reply.text, usage, truncated=meta.get("finish_reason") in CUT_OFF)


def _usage(counts: Any) -> Usage:
    counts = counts if isinstance(counts, Mapping) else {}
    prompt, completion = (
        next((int(counts[name]) for name in names if isinstance(counts.get(name), int | float)), 0)
        for names in (("prompt_tokens", "input_tokens"), ("completion_tokens", "output_tokens"))
    )
    return Usage(calls=1, prompt_tokens=prompt, completion_tokens=completion)


def warm_up(model: Any) -> None:
    """Let a component load its model or make its client, if it does such things."""
    if hasattr(model, "warm_up"):
        model.warm_up()


async def warm_up_async(model: Any) -> None:
    """The same on the running loop."""
    if hasattr(model, "warm_up_async"):
        await model.warm_up_async()
    else:
        warm_up(model)


def close(model: Any) -> None:
    """Let a component release what it holds, if it holds anything."""
    if hasattr(model, "close"):
        model.close()


async def close_async(model: Any) -> None:
    """The same on the running loop."""
    if hasattr(model, "close_async"):
        await model.close_async()
    else:
        close(model)


class BlockingLLM:
    """An LLM that can only block, so that the drivers of the core give each call a thread.

    Args:
        answer: answers an ``Ask``.
    """

    def __init__(self, answer: Callable[[Ask], Reply[str]]) -> None:
        self._answer = answer

    def generate(self, ask: Ask) -> Reply[str]:
        """Answer one question."""
        return self._answer(ask)


class BlockingEmbeddings:
    """An embedding model that can only block.

    Args:
        answer: answers texts with one vector for each.
    """

    def __init__(self, answer: Callable[[Sequence[str]], Reply[list[list[float]]]]) -> None:
        self._answer = answer

    def embed(self, texts: Sequence[str]) -> Reply[list[list[float]]]:
        """One vector per text."""
        return self._answer(texts)

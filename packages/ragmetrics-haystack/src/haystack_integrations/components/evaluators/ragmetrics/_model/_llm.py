"""A judge that is any chat generator of Haystack.

Strategy. Every question goes through ``run`` or ``run_async`` of the generator, so Haystack's tracing and streaming see the calls
of a judge as they see all others. Generators that speak the OpenAI protocol are told per question whether the reply is JSON, in
place of the form that they were set up with, which may be that of another task; one whose server refuses that is called without.
All others are called as they were set up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from haystack.dataclasses import ChatMessage
from haystack.tracing.tracer import Span, tracer

from ragmetrics_core import Ask, BadReply, InvalidInput, Message, Reply
from ragmetrics_core.adapters import (
    Attempts,
    FormsOfReply,
    LLMBridge,
    check_switch,
    finish_reason_of,
    is_cut_off,
    kind_of,
    usage_of,
)

from ._component import Component

if TYPE_CHECKING:
    from haystack.components.generators.chat import OpenAIChatGenerator

OPENAI = "haystack.components.generators.chat.openai"
"""The module of the generator whose subclasses speak the OpenAI protocol."""


def default_generator() -> OpenAIChatGenerator:
    """The generator of whoever gives none: OpenAI in JSON mode, with a fixed seed, as Haystack's own evaluators have it."""
    from haystack.components.generators.chat import OpenAIChatGenerator  # noqa: PLC0415  loads OpenAI's client

    return OpenAIChatGenerator(generation_kwargs={"response_format": {"type": "json_object"}, "seed": 42})


class HaystackLLM(Component[Ask, str], LLMBridge):
    """An LLM that is called through Haystack.

    Args:
        chat_generator: any chat generator.
        json_mode: ask for JSON, with ``response_format`` among the ``generation_kwargs``, where the reply is to be JSON, whatever
            the generator was set up with. A server that refuses it is asked without from then on. None: only generators of
            the OpenAI protocol are told; False: none is.
        overlap: whether synchronous calls may overlap. None: only if the generator has a ``run_async``, as one that has not
            may compute in this process and rarely survives overlapping calls.

    Raises:
        InvalidInput: it has no ``run``, or a setting is no switch.
    """

    def __init__(self, chat_generator: Any, *, json_mode: bool | None = None, overlap: bool | None = None) -> None:
        if isinstance(chat_generator, type) or not callable(getattr(chat_generator, "run", None)):
            raise InvalidInput(
                f"HaystackLLM takes a chat generator such as OpenAIChatGenerator(), got {kind_of(chat_generator)}"
            )
        check_switch("json_mode", json_mode)
        check_switch("overlap", overlap)
        self.chat_generator = chat_generator
        self.json_mode = json_mode
        self.overlap = overlap
        super().__init__(
            chat_generator, forms=FormsOfReply("json" if self._is_told_the_form else "text"), overlap=overlap
        )

    def _ask(self, model: Any, question: Ask, form: Attempts) -> Any:
        return call(model, chat_messages(question.messages), **self._told(form.rung))

    async def _ask_async(self, model: Any, question: Ask, form: Attempts) -> Any:
        return await call_async(model, chat_messages(question.messages), **self._told(form.rung))

    def _read(self, answer: Any) -> Reply[str]:
        return read_answer(reply_of(answer))

    def _settings(self, model: Any) -> Mapping[str, Any] | None:
        settings = super()._settings(model)
        return None if settings is None else {**settings, "json_mode": self._is_told_the_form}

    @property
    def _is_told_the_form(self) -> bool:
        if self.json_mode is not None:
            return self.json_mode
        # told by name, because to import the class loads OpenAI's client
        return any(cls.__module__ == OPENAI for cls in type(self.chat_generator).__mro__)

    def _told(self, form: str) -> dict[str, Any]:
        """What the generator is told for this form of reply."""
        own = (getattr(self.chat_generator, "generation_kwargs", None) or {}).get("response_format")
        wanted = {"type": "json_object"} if form == "json" else None
        # one of another task, such as the user's own schema, would make something else of the reply
        return {"generation_kwargs": {"response_format": wanted}} if self._is_told_the_form and own != wanted else {}


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
    if not isinstance(reply.text, str):
        other = "" if reply.text is None else f", but with a {type(reply.text).__name__}"
        problem = BadReply(f"the chat generator replied without any text{other}")
        problem.usage = usage
        raise problem
    return Reply(reply.text, usage, truncated=is_cut_off(finish_reason_of(meta)))

"""A LangChain model as a judge.

Strategy. The model is called as LangChain calls it, through ``invoke`` and ``ainvoke``, so its callbacks, tracing, cache, rate
limiter and retries stay its own. The config of the run at hand reaches it in two ways: a ``MetricRunnable`` hands its own over
(``with_config``), and without one LangChain finds the ambient one in the context, which the core carries into its threads. Each
call is marked as a judge's, so that a callback that evaluates live chains never takes it for one.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import merge_configs

from ragmetrics_core import Ask, BadReply, InvalidInput, Message, Reply, Usage
from ragmetrics_core.adapters import in_own_thread, judging

from ._homes import home_of
from ._identity import explained, identity_of, name_of

__all__ = ["LangChainLLM"]

CUT_OFF = {"length", "max_tokens", "model_length", "max_output_tokens"}
FILTERED = {"content_filter", "safety", "blocklist", "prohibited_content", "recitation", "guardrail_intervened"}
"""Why an answer ends, in the words of the providers, in lower case."""


class LangChainLLM:
    """An LLM behind any LangChain chat or completion model.

    Args:
        chat_model: a ``BaseChatModel``, a ``BaseLLM``, or one of these with ``bind``, ``with_config``, ``with_retry`` or
            ``with_fallbacks``.
        config: a LangChain config for every call: callbacks, tags, metadata.

    Raises:
        InvalidInput: it is no LangChain model.
    """

    def __init__(self, chat_model: Runnable[Any, Any], *, config: RunnableConfig | None = None) -> None:
        if not isinstance(chat_model, Runnable):
            raise InvalidInput(f"LangChainLLM takes a LangChain chat model, got {type(chat_model).__name__}")
        self.chat_model = chat_model
        self.config = config
        self._home = home_of(chat_model)

    @property
    def identity(self) -> dict[str, Any] | None:
        """Every setting that can change a reply, without secrets; None for a model that does not state its parameters."""
        return identity_of(self.chat_model)

    def with_config(self, config: RunnableConfig | None) -> LangChainLLM:
        """The same model, called with this config on top of its own."""
        return type(self)(self.chat_model, config=merge_configs(self.config, config))

    def generate(self, ask: Ask) -> Reply[str]:
        """Answer one question.

        Raises:
            ModelError: the model could not be reached or refused; ``transient``, ``fatal`` and ``retry_after`` say what the HTTP
                status says.
            BadReply: the model refused to answer, or a content filter stopped it, or it answered without any text.
        """
        attempt = explained(self.chat_model)
        with attempt, judging():
            return self._read(self.chat_model.invoke(_messages(ask), self.config))
        raise attempt.problem

    async def agenerate(self, ask: Ask) -> Reply[str]:
        """Answer one question without blocking the running loop; otherwise the same as ``generate``."""
        if not self._home.is_here():
            return await in_own_thread(partial(self.generate, ask))
        attempt = explained(self.chat_model)
        with attempt, judging():
            return self._read(await self.chat_model.ainvoke(_messages(ask), self.config))
        if attempt.is_of_other_loop:
            return await in_own_thread(partial(self.generate, ask))
        raise attempt.problem

    def _read(self, answer: Any) -> Reply[str]:
        if isinstance(answer, str):
            return Reply(answer)
        if not isinstance(answer, BaseMessage):
            raise InvalidInput(
                f"LangChainLLM: {name_of(self.chat_model)} answers with {type(answer).__name__} instead of a message: give the "
                "model itself, without an output parser and without structured output"
            )
        name, usage = name_of(self.chat_model), _usage(answer)
        refusal = answer.additional_kwargs.get("refusal")
        reason = _finish_reason(answer)
        text = str(answer.text)
        if refusal:
            raise _billed(BadReply(f"{name} refuses to answer: {refusal}", str(refusal)), usage)
        if reason in FILTERED:
            raise _billed(BadReply(f"a content filter stopped the answer of {name}", text), usage)
        if not text and reason not in CUT_OFF:
            raise _billed(BadReply(f"{name} answered without any text (finish reason {reason!r})"), usage)
        return Reply(text, usage, truncated=reason in CUT_OFF)

    def __deepcopy__(self, memo: Any) -> LangChainLLM:
        return self  # a handle to a server: copies of what holds it share its connections

    def __repr__(self) -> str:
        return f"{type(self).__name__}({name_of(self.chat_model)})"


def _messages(ask: Ask) -> list[BaseMessage]:
    return [_message(message) for message in ask.messages]


def _message(message: Message) -> BaseMessage:
    kinds: dict[str, type[BaseMessage]] = {"system": SystemMessage, "user": HumanMessage, "assistant": AIMessage}
    return kinds[message.role](content=message.content)


def _usage(answer: BaseMessage) -> Usage:
    counts = getattr(answer, "usage_metadata", None) or {}
    return Usage(1, int(counts.get("input_tokens") or 0), int(counts.get("output_tokens") or 0))


def _finish_reason(answer: BaseMessage) -> str | None:
    metadata: Mapping[str, Any] = answer.response_metadata
    names = ("finish_reason", "stop_reason", "stopReason", "done_reason")
    reason = next((metadata[name] for name in names if metadata.get(name)), None)
    return None if reason is None else str(getattr(reason, "name", reason)).lower()


def _billed(error: BadReply, usage: Usage) -> BadReply:
    """The error with what the answer cost: a server asks to be paid for a refusal too."""
    error.usage = usage
    return error

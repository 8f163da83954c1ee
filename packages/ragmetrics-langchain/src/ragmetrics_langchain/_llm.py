"""A LangChain model as a judge.

Strategy. The model is called as LangChain calls it, through ``invoke`` and ``ainvoke``, so its callbacks, tracing, cache, rate
limiter and retries stay its own. The config of the run at hand reaches it in two ways: a ``MetricRunnable`` hands its own over
(``with_config``), and without one LangChain finds the ambient one in the context, which the core carries into its threads. Each
call is marked as a judge's, so that a callback that evaluates live chains never takes it for one, and LangGraph never streams it
to the user of the graph. Where a reply has a schema, the model is asked for it in the way of its provider.
"""

from __future__ import annotations

import copy
import json
import sys
from collections.abc import Mapping
from functools import partial
from typing import Any, Literal

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import merge_configs

from ragmetrics_core import Ask, BadReply, InvalidInput, Message, Reply, Usage
from ragmetrics_core.adapters import FormsOfReply, in_own_thread, judging

from ._forms import Shaped, uncached, unretrying
from ._homes import home_of
from ._identity import explained, identity_of, name_of

__all__ = ["LangChainLLM"]

CUT_OFF = {"length", "max_tokens", "model_length", "max_output_tokens"}
FILTERED = {
    "blocklist",
    "content_filter",
    "content_filtered",
    "error_toxic",
    "guardrail_intervened",
    "prohibited_content",
    "recitation",
    "safety",
    "spii",
}
NO_ROOM = "model_context_window_exceeded"
"""Why an answer ends, in the words of the providers, in lower case."""

TAGS = ["nostream", "ragmetrics"]
"""LangGraph streams no tokens of a model with the first one; the second is for whoever filters traces and events."""


class LangChainLLM:
    """An LLM behind any LangChain chat or completion model.

    Its runs carry the tag ``ragmetrics`` and the name of the prompt.

    Args:
        chat_model: a ``BaseChatModel``, a ``BaseLLM``, or one of these with ``bind``, ``with_config``, ``with_retry`` or
            ``with_fallbacks``.
        config: a LangChain config for every call: callbacks, tags, metadata.
        structured: the first form of reply to ask for: ``schema``, ``json`` (JSON without a schema) or ``text``. What the model
            or its server refuses is asked one form lower, and that is remembered.

    Raises:
        InvalidInput: it is no LangChain model, or there is no such form.
    """

    def __init__(
        self,
        chat_model: Runnable[Any, Any],
        *,
        config: RunnableConfig | None = None,
        structured: Literal["schema", "json", "text"] = "schema",
    ) -> None:
        if not isinstance(chat_model, Runnable):
            raise InvalidInput(f"LangChainLLM takes a LangChain chat model, got {type(chat_model).__name__}")
        if structured not in ("schema", "json", "text"):
            raise InvalidInput(f"structured must be one of schema, json, text, got {structured!r}")
        self.chat_model = chat_model
        self.config = config
        self._original = chat_model
        self._home = home_of(chat_model)
        self._forms = FormsOfReply(structured)
        self._shaped = Shaped(chat_model)

    @property
    def identity(self) -> dict[str, Any] | None:
        """Every setting that can change a reply, without secrets; None for a model that does not state its parameters."""
        return identity_of(self._original)

    def with_config(self, config: RunnableConfig | None) -> LangChainLLM:
        """The same model, called with this config on top of its own."""
        other = copy.copy(self)
        other.config = merge_configs(self.config, config)
        return other

    def without_cache(self) -> LangChainLLM:
        """The same model without LangChain's cache, for ``evaluate(repeats=...)``: an answer from a cache is no second answer."""
        return self._with_model(uncached(self.chat_model))

    def without_retries(self) -> LangChainLLM:
        """The same model without the retries of its own client, for ``evaluate``, which makes lost calls again itself.

        What was wrapped on purpose stays: the retries of ``with_retry``, and those of a model with ``with_fallbacks``.
        """
        return self._with_model(unretrying(self.chat_model))

    def _with_model(self, model: Runnable[Any, Any]) -> LangChainLLM:
        other = copy.copy(self)
        other.chat_model = model
        other._shaped = Shaped(model)
        return other

    def generate(self, ask: Ask) -> Reply[str]:
        """Answer one question.

        Raises:
            ModelError: the model could not be reached or refused; ``transient``, ``fatal`` and ``retry_after`` say what the HTTP
                status says.
            BadReply: the model refused to answer, or a content filter stopped it, or it answered without any text.
        """
        attempts, attempt = self._forms.attempts(ask), explained(self.chat_model)
        for form in attempts:
            with attempt, judging():
                try:
                    answer = self._shaped.model(form, ask).invoke(_messages(ask), self._config(ask))
                except _finish_errors() as error:
                    answer = _finished(error)
                attempts.answered()
                return self._read(answer)
            attempts.failed(attempt)
        raise attempts.problem

    async def agenerate(self, ask: Ask) -> Reply[str]:
        """Answer one question without blocking the running loop; otherwise the same as ``generate``."""
        if not self._home.is_here():
            return await in_own_thread(partial(self.generate, ask))
        attempts, attempt = self._forms.attempts(ask), explained(self.chat_model)
        for form in attempts:
            with attempt, judging():
                try:
                    answer = await self._shaped.model(form, ask).ainvoke(_messages(ask), self._config(ask))
                except _finish_errors() as error:
                    answer = _finished(error)
                attempts.answered()
                return self._read(answer)
            if attempt.is_of_other_loop:
                return await in_own_thread(partial(self.generate, ask))
            attempts.failed(attempt)
        raise attempts.problem

    def _config(self, ask: Ask) -> RunnableConfig:
        own: RunnableConfig = {"tags": TAGS, "run_name": ask.prompt.name}
        return merge_configs(own, self.config)

    def _read(self, answer: Any) -> Reply[str]:
        if isinstance(answer, str):
            return Reply(answer)
        if not isinstance(answer, BaseMessage):
            raise InvalidInput(
                f"LangChainLLM: {name_of(self.chat_model)} answers with {type(answer).__name__} instead of a message: give the "
                "model itself, without an output parser and without structured output"
            )
        name, usage, reason = name_of(self.chat_model), _usage(answer), _finish_reason(answer)
        text = _text(answer)
        problem = _problem(name, answer, reason, text)
        if problem is not None:
            problem.usage = usage  # a server asks to be paid for a refusal too
            raise problem
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


def _text(answer: BaseMessage) -> str:
    """What the model says; where its provider has it fill in a schema as the arguments of a tool, these."""
    calls = [*getattr(answer, "tool_calls", ()), *getattr(answer, "invalid_tool_calls", ())]
    if not calls:
        return str(answer.text)
    said = calls[0]["args"]
    return said if isinstance(said, str) else json.dumps(said or {}, ensure_ascii=False)


def _problem(name: str, answer: BaseMessage, reason: str | None, text: str) -> BadReply | None:
    """Why there is no answer in a message; None where there is one."""
    refusal = _refusal(answer)
    if refusal or reason == "refusal":
        return BadReply(f"{name} refuses to answer: {refusal or text or 'it gives no reason'}", refusal or text)
    if reason in FILTERED:
        return BadReply(f"a content filter stopped the answer of {name}", text)
    if reason == NO_ROOM:
        return BadReply(f"{name} has no room left for its answer: the question fills its context window", text)
    if not text and reason not in CUT_OFF:
        return BadReply(f"{name} answered without any text (finish reason {reason!r})")
    return None


def _refusal(answer: BaseMessage) -> str:
    """What the model says when it refuses, where its provider has a place of its own for that."""
    blocks = answer.content if isinstance(answer.content, list) else []
    said = [block.get("refusal") for block in blocks if isinstance(block, Mapping) and block.get("type") == "refusal"]
    return str(answer.additional_kwargs.get("refusal") or "".join(filter(None, said)))


def _usage(answer: BaseMessage) -> Usage:
    counts = getattr(answer, "usage_metadata", None) or {}
    if counts.get("total_cost") == 0:  # LangChain's word for an answer from its cache
        return Usage(1, cached_calls=1)
    return Usage(1, int(counts.get("input_tokens") or 0), int(counts.get("output_tokens") or 0))


def _finish_reason(answer: BaseMessage) -> str | None:
    metadata: Mapping[str, Any] = answer.response_metadata
    details = metadata.get("incomplete_details")
    names = ("finish_reason", "stop_reason", "stopReason", "done_reason")
    reasons = [metadata.get(name) for name in names] + ([details.get("reason")] if isinstance(details, Mapping) else [])
    reason = next(filter(None, reasons), None)
    return None if reason is None else str(getattr(reason, "name", reason)).lower()


def _finish_errors() -> tuple[type[Exception], ...]:
    """What the openai package raises for an answer in a schema that did not come to its end; it is loaded where it is used."""
    openai = sys.modules.get("openai")
    names = ("LengthFinishReasonError", "ContentFilterFinishReasonError")
    return tuple(getattr(openai, name) for name in names if hasattr(openai, name))


def _finished(error: Any) -> AIMessage:
    """The answer that such an error holds."""
    completion = getattr(error, "completion", None)
    if completion is None:
        return AIMessage("", response_metadata={"finish_reason": "content_filter"})
    used = completion.usage
    message = AIMessage(completion.choices[0].message.content or "", response_metadata={"finish_reason": "length"})
    if used is not None:
        message.usage_metadata = {
            "input_tokens": used.prompt_tokens,
            "output_tokens": used.completion_tokens,
            "total_tokens": used.total_tokens,
        }
    return message

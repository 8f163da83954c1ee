"""What is sent to an LLM of LlamaIndex for one question, by which method, and how its answer is read. No IO: the bridge calls.

Strategy. Through ``chat`` or ``complete``, which tell what an answer cost and whether it was cut. Not through ``predict``, which
would hide that, and would run the LLM's output parser over a verdict; unless somebody has written a ``predict`` or ``apredict``
of their own, as test doubles do: LlamaIndex's evaluators ask by ``apredict``, so its author expects to be asked there.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse, LLMMetadata, MessageRole
from llama_index.core.llms import LLM
from llama_index.core.prompts import ChatPromptTemplate

from ragmetrics_core import Ask, Message, Reply
from ragmetrics_core.adapters import finish_reason_of, is_cut_off, usage_of

__all__ = ["call_for", "is_openai", "metadata_of", "own_predict", "read_answer"]

OWN = {name: inspect.unwrap(getattr(LLM, name)) for name in ("apredict", "predict")}


def call_for(llm: Any, ask: Ask, parameters: dict[str, Any]) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    """How an LLM is asked: its synchronous method, or its author's ``apredict``, and all arguments; ``parameters`` for chats."""
    own = own_predict(llm)
    if own is not None:
        return own, (), _prediction(ask)
    if metadata_of(llm).is_chat_model:
        return "chat", (_chat_messages(llm, ask.messages),), parameters
    return "complete", (_completion_prompt(llm, ask.messages),), {"formatted": True}


def own_predict(llm: Any) -> str | None:
    """The method that its author has written in the place of LlamaIndex's ``apredict`` or ``predict``; None without one.

    An LLM in nothing but its methods, as a mock is, has an ``apredict`` of its own.
    """
    if not issubclass(type(llm), LLM):
        return "apredict"
    methods = (name for name in OWN if inspect.unwrap(getattr(type(llm), name)) is not OWN[name])
    return next(methods, None)


def metadata_of(llm: Any) -> LLMMetadata:
    """The metadata of an LLM; LlamaIndex's defaults where it has none."""
    found = getattr(llm, "metadata", None)
    return found if isinstance(found, LLMMetadata) else LLMMetadata()


def is_openai(llm: Any) -> bool:
    """Whether it speaks the chat protocol of OpenAI, whoever serves it, and passes on what it is called with."""
    classes = {(cls.__module__, cls.__name__) for cls in type(llm).__mro__}
    return ("llama_index.llms.openai.base", "OpenAI") in classes and metadata_of(llm).is_chat_model


def _prediction(ask: Ask) -> dict[str, Any]:
    """The question as a template and its variables, so that no brace in the data is taken for a variable."""
    texts = {f"message_{number}": message.content for number, message in enumerate(ask.messages, 1)}
    messages = [
        ChatMessage(role=MessageRole(message.role), content=f"{{{name}}}")
        for name, message in zip(texts, ask.messages, strict=True)
    ]
    return {"prompt": ChatPromptTemplate(message_templates=messages), **texts}


def _chat_messages(llm: LLM, messages: Sequence[Message]) -> list[ChatMessage]:
    """The messages of a question, with the LLM's own system prompt in front of the first system message.

    They become one message: many chat templates take no second system message.
    """
    sent = [(message.role, _sendable(message.content)) for message in messages]
    if llm.system_prompt:
        if sent and sent[0][0] == "system":
            sent[0] = ("system", f"{llm.system_prompt}\n\n{sent[0][1]}")
        else:
            sent.insert(0, ("system", llm.system_prompt))
    return [ChatMessage(role=MessageRole(role), content=content) for role, content in sent]


def _completion_prompt(llm: LLM, messages: Sequence[Message]) -> str:
    """The messages of a question as the one text that a completion model takes, in the LLM's own way."""
    if len(messages) == 1 and not llm.system_prompt:
        assert llm.completion_to_prompt is not None
        prompt = llm.completion_to_prompt(_sendable(messages[0].content))
    else:
        assert llm.messages_to_prompt is not None
        prompt = llm.messages_to_prompt(_chat_messages(llm, messages))
    return llm.query_wrapper_prompt.format(query_str=prompt) if llm.query_wrapper_prompt else prompt


def read_answer(answer: ChatResponse | CompletionResponse) -> Reply[str]:
    """Text, token counts as far as the model reports them, and whether the model stopped at its token limit."""
    places: tuple[Any, ...] = (answer.additional_kwargs, answer.raw)
    if isinstance(answer, ChatResponse):
        text, places = answer.message.content, (answer.message.additional_kwargs, *places)
    else:
        text = answer.text
    return Reply(text or "", usage_of(*places), truncated=is_cut_off(finish_reason_of(*places)))


def _sendable(text: str) -> str:
    """The text as well as UTF-8 can carry it: what a model wrote may hold lone surrogates."""
    return text.encode("utf-8", "backslashreplace").decode()

"""How an LLM of LlamaIndex is called with one question.

Strategy. Through ``chat`` or ``complete``, which tell what an answer cost and whether it was cut. Not through ``predict``, which
would hide that, and would run the LLM's output parser over a verdict; unless somebody has written a ``predict`` or ``apredict``
of their own, as test doubles do: LlamaIndex's evaluators ask by ``apredict``, so its author expects to be asked there.
"""

from __future__ import annotations

import inspect
from functools import partial
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, LLMMetadata, MessageRole
from llama_index.core.llms import LLM
from llama_index.core.prompts import ChatPromptTemplate

from ragmetrics_core import Ask, InvalidInput, Reply
from ragmetrics_core.adapters import in_own_thread, run_blocking

from ._chat import chat_messages, completion_prompt, read_answer

__all__ = ["acall", "answers_to_any_name", "call", "is_openai", "metadata_of", "own_predict"]

OWN = {name: inspect.unwrap(getattr(LLM, name)) for name in ("apredict", "predict")}


def own_predict(llm: Any) -> str | None:
    """The method that its author has written in the place of LlamaIndex's ``apredict`` or ``predict``; None without one.

    An LLM in nothing but its methods, as a mock is, has an ``apredict`` of its own.
    """
    if not issubclass(type(llm), LLM):
        return "apredict"
    methods = (name for name in OWN if inspect.unwrap(getattr(type(llm), name)) is not OWN[name])
    return next(methods, None)


def answers_to_any_name(value: Any) -> bool:
    """Whether it has any attribute that one asks for, as a mock has: then it tells nothing to have one."""
    return hasattr(value, "an_attribute_that_no_model_has")


def metadata_of(llm: Any) -> LLMMetadata:
    """The metadata of an LLM; LlamaIndex's defaults where it has none."""
    found = getattr(llm, "metadata", None)
    return found if isinstance(found, LLMMetadata) else LLMMetadata()


def is_openai(llm: Any) -> bool:
    """Whether it speaks the chat protocol of OpenAI, whoever serves it, and passes on what it is called with."""
    classes = {(cls.__module__, cls.__name__) for cls in type(llm).__mro__}
    return ("llama_index.llms.openai.base", "OpenAI") in classes and metadata_of(llm).is_chat_model


def call(llm: Any, ask: Ask, **parameters: Any) -> Reply[str]:
    """Ask synchronously."""
    method = own_predict(llm)
    if method == "apredict":
        return _said(method, run_blocking(partial(llm.apredict, **_prediction(ask))))
    if method is not None:
        return _said(method, llm.predict(**_prediction(ask)))
    if metadata_of(llm).is_chat_model:
        return read_answer(llm.chat(chat_messages(llm, ask.messages), **parameters))
    return read_answer(llm.complete(completion_prompt(llm, ask.messages), formatted=True))


async def acall(llm: Any, ask: Ask, **parameters: Any) -> Reply[str]:
    """Ask without blocking the running loop."""
    method = own_predict(llm)
    if method == "apredict":
        return _said(method, await llm.apredict(**_prediction(ask)))
    if method is not None:
        return _said(method, await in_own_thread(partial(llm.predict, **_prediction(ask))))
    if metadata_of(llm).is_chat_model:
        return read_answer(await llm.achat(chat_messages(llm, ask.messages), **parameters))
    return read_answer(await llm.acomplete(completion_prompt(llm, ask.messages), formatted=True))


def _prediction(ask: Ask) -> dict[str, Any]:
    """The question as a template and its variables, so that no brace in the data is taken for a variable."""
    names = [f"message_{number}" for number in range(1, len(ask.messages) + 1)]
    messages = [
        ChatMessage(role=MessageRole(message.role), content=f"{{{name}}}")
        for name, message in zip(names, ask.messages, strict=True)
    ]
    texts = [message.content for message in ask.messages]
    return {"prompt": ChatPromptTemplate(message_templates=messages), **dict(zip(names, texts, strict=True))}


def _said(method: str, text: Any) -> Reply[str]:
    if not isinstance(text, str):
        raise InvalidInput(f"the {method} of an LLM must return a text, got {type(text).__name__}")
    return Reply(text)

"""A judge that is any chat generator of Haystack.

Strategy. Every question goes through ``run`` or ``run_async`` of the generator, so Haystack's tracing and streaming see the calls
of a judge as they see all others. Generators that speak the OpenAI protocol are told per question whether the reply is JSON, in
place of the form that they were set up with, which may be that of another task; one whose server refuses that is called without.
All others are called as they were set up.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ragmetrics_core import Ask, InvalidInput, Reply
from ragmetrics_core.adapters import Attempts, FormsOfReply, LLMBridge

from .._checks import check_switch
from ._chat import call, call_async, chat_messages, read_answer, reply_of
from ._component import Component

if TYPE_CHECKING:
    from haystack.components.generators.chat import OpenAIChatGenerator

__all__ = ["HaystackLLM", "default_generator"]

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
            given = chat_generator.__name__ if isinstance(chat_generator, type) else type(chat_generator).__name__
            raise InvalidInput(f"HaystackLLM takes a chat generator such as OpenAIChatGenerator(), got {given}")
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

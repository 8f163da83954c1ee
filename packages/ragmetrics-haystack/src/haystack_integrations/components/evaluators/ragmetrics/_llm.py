"""A judge that is any chat generator of Haystack.

Strategy. Every question goes through ``run`` or ``run_async`` of the generator, so Haystack's tracing and streaming see the calls
of a judge as they see all others. Generators that speak the OpenAI protocol are told per question whether the reply is JSON, in
place of the form that they were set up with, which may be that of another task; one whose server refuses that is called without.
All others are called as they were set up. The asynchronous client of a generator keeps connections that belong to the first event
loop that used them; in any other loop a thread with the synchronous client takes over.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

from ragmetrics_core import Ask, InvalidInput, Reply
from ragmetrics_core.adapters import FormsOfReply, Turn, in_own_thread

from ._called import Called
from ._chat import call, call_async, chat_messages, read_answer, reply_of
from ._checks import check_switch
from ._identity import explained, identity_of, name_of

if TYPE_CHECKING:
    from haystack.components.generators.chat import OpenAIChatGenerator

__all__ = ["HaystackLLM", "default_generator"]

OPENAI = "haystack.components.generators.chat.openai"
"""The module of the generator whose subclasses speak the OpenAI protocol."""


def default_generator() -> OpenAIChatGenerator:
    """The generator of whoever gives none: OpenAI in JSON mode, with a fixed seed, as Haystack's own evaluators have it."""
    from haystack.components.generators.chat import OpenAIChatGenerator  # noqa: PLC0415  loads OpenAI's client

    return OpenAIChatGenerator(generation_kwargs={"response_format": {"type": "json_object"}, "seed": 42})


class HaystackLLM:
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
        self._called = Called(chat_generator)
        self._forms = FormsOfReply("json" if self._is_told_the_form else "text")

    def without_retries(self) -> HaystackLLM:
        """The same model without the retries of its client, for drivers that make lost calls again themselves."""
        other = copy.copy(self)
        other._called = self._called.without_retries()
        return other

    @property
    def identity(self) -> dict[str, Any] | None:
        """Every setting that can change a reply, and no key; None where the generator cannot say what it is."""
        identity = identity_of(self.chat_generator)
        return None if identity is None else {**identity, "json_mode": self._is_told_the_form}

    def generate(self, ask: Ask) -> Reply[str]:
        """Answer one question.

        Raises:
            ModelError: the model or its server failed; ``fatal``, ``transient``, ``rate_limited`` and ``retry_after`` follow from
                the HTTP status.
            BadReply: there is no reply, or none with a text; or a content filter refused the question.
        """
        generator = self._called.ready()
        attempts = self._forms.attempts(ask)
        for form in attempts:
            attempt = explained(self.chat_generator)
            with nullcontext() if self._may_overlap else Turn.with_model(self.chat_generator), attempt:
                result = call(generator, chat_messages(ask.messages), **self._settings(form))
                attempts.answered()
                return read_answer(reply_of(result))
            attempts.failed(attempt)
        raise attempts.problem

    async def agenerate(self, ask: Ask) -> Reply[str]:
        """Answer one question without blocking the running loop; otherwise the same as ``generate``."""
        if not (self._called.has_async and self._called.home.is_here()):
            return await in_own_thread(partial(self.generate, ask))
        generator = await self._called.ready_async()
        attempts = self._forms.attempts(ask)
        for form in attempts:
            attempt = explained(self.chat_generator)
            with attempt:
                result = await call_async(generator, chat_messages(ask.messages), **self._settings(form))
                attempts.answered()
                return read_answer(reply_of(result))
            if attempt.is_of_other_loop:
                return await in_own_thread(partial(self.generate, ask))
            attempts.failed(attempt)
        raise attempts.problem

    @property
    def _may_overlap(self) -> bool:
        return self._called.has_async if self.overlap is None else self.overlap

    @property
    def _is_told_the_form(self) -> bool:
        if self.json_mode is not None:
            return self.json_mode
        # told by name, because to import the class loads OpenAI's client
        return any(cls.__module__ == OPENAI for cls in type(self.chat_generator).__mro__)

    def _settings(self, form: str) -> dict[str, Any]:
        """What the generator is told for this form of reply."""
        own = (getattr(self.chat_generator, "generation_kwargs", None) or {}).get("response_format")
        wanted = {"type": "json_object"} if form == "json" else None
        # one of another task, such as the user's own schema, would make something else of the reply
        return {"generation_kwargs": {"response_format": wanted}} if self._is_told_the_form and own != wanted else {}

    def __deepcopy__(self, memo: Mapping[int, Any]) -> HaystackLLM:
        return self  # a handle: copies of what holds it share its generator

    def __repr__(self) -> str:
        return f"HaystackLLM(<{type(self.chat_generator).__name__} {name_of(self.chat_generator)!r}>)"

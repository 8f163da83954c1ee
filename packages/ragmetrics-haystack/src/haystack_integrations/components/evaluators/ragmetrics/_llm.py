"""A judge that is any chat generator of Haystack.

Strategy. Every question goes through ``run`` or ``run_async`` of the generator, so Haystack's tracing, retries and streaming see
the calls of a judge as they see all others. Generators that speak the OpenAI protocol are told per question whether the
reply is JSON; all others are called as they were set up. The asynchronous client of a generator keeps connections that belong
to the first event loop that used them; in any other loop a thread with the synchronous client takes over.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import nullcontext
from functools import partial
from typing import Any

from haystack.components.generators.chat import OpenAIChatGenerator

from ragmetrics_core import Ask, InvalidInput, Reply
from ragmetrics_core.adapters import HomeLoop, Turn, in_own_thread
from ragmetrics_core.replies import JsonReply, ObjectReply

from ._chat import call, call_async, chat_messages, read_answer, reply_of, warm_up
from ._identity import explained, identity_of, name_of

__all__ = ["HaystackLLM", "default_generator"]


def default_generator() -> OpenAIChatGenerator:
    """The generator of whoever gives none: OpenAI in JSON mode, with a fixed seed, as Haystack's own evaluators have it."""
    return OpenAIChatGenerator(generation_kwargs={"response_format": {"type": "json_object"}, "seed": 42})


class HaystackLLM:
    """An LLM that is called through Haystack.

    Args:
        chat_generator: any chat generator.
        json_mode: ask for JSON, with ``response_format`` among the ``generation_kwargs``, where the reply is to be JSON, and for
            text where it is not. None: only generators of the OpenAI protocol, unless they were given a ``response_format``.
        overlap: whether synchronous calls may overlap. None: only if the generator has a ``run_async``, as one that has not
            may compute in this process and rarely survives overlapping calls.

    Raises:
        InvalidInput: it has no ``run``.
    """

    def __init__(self, chat_generator: Any, *, json_mode: bool | None = None, overlap: bool | None = None) -> None:
        if isinstance(chat_generator, type) or not callable(getattr(chat_generator, "run", None)):
            given = chat_generator.__name__ if isinstance(chat_generator, type) else type(chat_generator).__name__
            raise InvalidInput(f"HaystackLLM takes a chat generator such as OpenAIChatGenerator(), got {given}")
        self.chat_generator = chat_generator
        self.json_mode = json_mode
        self.overlap = overlap
        self._warming = threading.Lock()
        self._warm = False
        self._home = HomeLoop()

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
        self._warm_up()
        attempt = explained(self.chat_generator)
        with nullcontext() if self._may_overlap else Turn.with_model(self.chat_generator), attempt:
            result = call(self.chat_generator, chat_messages(ask.messages), **self._settings(ask))
            return read_answer(reply_of(result))
        raise attempt.problem

    async def agenerate(self, ask: Ask) -> Reply[str]:
        """Answer one question without blocking the running loop; otherwise the same as ``generate``."""
        if not (hasattr(self.chat_generator, "run_async") and self._home.is_here()):
            return await in_own_thread(partial(self.generate, ask))
        attempt = explained(self.chat_generator)
        await self._warm_up_async()
        with attempt:
            result = await call_async(self.chat_generator, chat_messages(ask.messages), **self._settings(ask))
            return read_answer(reply_of(result))
        if attempt.is_of_other_loop:
            return await in_own_thread(partial(self.generate, ask))
        raise attempt.problem

    def _warm_up(self) -> None:
        attempt = explained(self.chat_generator, fatal=True)
        with self._warming, attempt:
            if not self._warm:
                warm_up(self.chat_generator)
                self._warm = True
            return
        raise attempt.problem

    async def _warm_up_async(self) -> None:
        if not hasattr(self.chat_generator, "warm_up_async"):
            self._warm_up()
            return
        attempt = explained(self.chat_generator, fatal=True)
        with attempt:
            await self.chat_generator.warm_up_async()
            return
        raise attempt.problem

    @property
    def _may_overlap(self) -> bool:
        return hasattr(self.chat_generator, "run_async") if self.overlap is None else self.overlap

    @property
    def _is_told_the_form(self) -> bool:
        if self.json_mode is not None:
            return self.json_mode
        return isinstance(self.chat_generator, OpenAIChatGenerator)

    def _settings(self, ask: Ask) -> dict[str, Any]:
        """What the generator is told for this question, besides its messages."""
        if not self._is_told_the_form:
            return {}
        own = (getattr(self.chat_generator, "generation_kwargs", None) or {}).get("response_format")
        if isinstance(ask.reply, JsonReply | ObjectReply):
            wanted = {"type": "json_object"}
            return {"generation_kwargs": {"response_format": wanted}} if own is None or self.json_mode else {}
        # a format that the generator was set up with would make JSON of a plain yes
        return {} if own is None else {"generation_kwargs": {"response_format": {"type": "text"}}}

    def __deepcopy__(self, memo: Mapping[int, Any]) -> HaystackLLM:
        return self  # a handle: copies of what holds it share its generator

    def __repr__(self) -> str:
        return f"HaystackLLM(<{type(self.chat_generator).__name__} {name_of(self.chat_generator)!r}>)"

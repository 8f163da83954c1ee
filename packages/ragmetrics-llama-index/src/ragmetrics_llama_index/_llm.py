"""A judge that is any LLM of LlamaIndex: chat or completion, with asynchronous methods of its own or without.

Strategy. Every question goes through the LLM's own methods, so LlamaIndex's callbacks, instrumentation, rate limiters and token
counters see the calls of a judge as they see all others. Where the LLM passes on what it is called with, the server is asked
for the form of reply that the question describes, and without it where it refuses that. The asynchronous clients of most LLMs
keep connections that belong to the first event loop that used them; in any other loop a thread with the synchronous client takes
over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from copy import copy
from functools import partial
from typing import Any

from llama_index.core import Settings
from llama_index.core.llms import LLM, CustomLLM
from llama_index.core.llms.utils import resolve_llm

from ragmetrics_core import Ask, InvalidInput, ModelError, Reply
from ragmetrics_core.adapters import FormsOfReply, HomeLoop, Turn, in_own_thread
from ragmetrics_core.adapters import is_bug as is_error_of_programming

from ._calls import acall, answers_to_any_name, call, is_openai, metadata_of, own_predict
from ._failures import explained, is_bug
from ._identity import identity_of
from ._overriding import overrides
from ._patience import Patience

__all__ = ["LlamaIndexLLM", "judge_of"]

DEFAULT_OUTPUT = 256
"""Tokens reserved for a reply where the metadata names no limit."""

PLAIN = FormsOfReply("text")


class LlamaIndexLLM:
    """An LLM that is called through LlamaIndex.

    Args:
        llm: an LLM of LlamaIndex, or what ``Settings.llm`` takes (a LangChain model, ``"local:..."``). None: ``Settings.llm``,
            looked up at every call, so that it may be set later.
        overlap: whether calls may overlap. None: only if the LLM has asynchronous methods of its own, as one that computes in this
            process (llama.cpp, transformers) rarely survives overlapping calls.
        structured: whether to ask the server for the form of the reply, by a JSON schema, with ``response_format``. None: only if
            the LLM speaks the protocol of OpenAI; False: never.

    Raises:
        InvalidInput: ``llm`` is no LLM.
    """

    def __init__(self, llm: Any = None, *, overlap: bool | None = None, structured: bool | None = None) -> None:
        if llm is not None and not isinstance(llm, LLM):
            llm = _resolved(llm)
        self._llm: LLM | None = llm
        self._overlap = overlap
        self._structured = structured
        self._forms = FormsOfReply()
        self._home = HomeLoop()
        self._is_bug: Callable[[Exception], bool] = is_bug
        self._patience = Patience()

    def failing_softly(self) -> LlamaIndexLLM:
        """The same model, where whatever it raises is a failure of the model, except for errors of programming.

        A model that computes in this process has no client library: it says by a ``RuntimeError`` that it has failed.
        """
        soft = copy(self)
        soft._is_bug = is_error_of_programming
        return soft

    def without_retries(self) -> LlamaIndexLLM:
        """The same model without the retries of its own, for ``evaluate``, which makes lost calls again itself."""
        other = copy(self)
        other._patience = self._patience.none()
        return other

    @property
    def llm(self) -> LLM:
        """The LLM that answers.

        Raises:
            ModelError: none was given, and ``Settings.llm`` is not set.
        """
        if self._llm is not None:
            return self._llm
        try:
            return Settings.llm
        except (ImportError, ValueError) as error:
            problem = (str(error).strip().strip("*").strip().splitlines() or [type(error).__name__])[0]
        raise ModelError(
            f"no LLM is set: give llm=... or set llama_index.core.Settings.llm (its default cannot be loaded: {problem})",
            fatal=True,
        )

    @property
    def identity(self) -> dict[str, Any] | None:
        """Every setting that can change a reply, and no key; None where the LLM cannot say what it is."""
        try:
            llm = self.llm
        except ModelError:
            return None
        if own_predict(llm) is not None:
            return None  # who knows what it does
        metadata = llm.metadata
        prompts: dict[str, Any] = {"structured": self._is_told_the_form(llm)}
        if not metadata.is_chat_model:
            makers = (llm.messages_to_prompt, llm.completion_to_prompt)
            prompts["prompts"] = [getattr(maker, "__qualname__", maker) for maker in makers]
            if llm.query_wrapper_prompt:
                prompts["wrapper"] = llm.query_wrapper_prompt.get_template()
        return identity_of(llm, metadata.model_name, is_chat_model=metadata.is_chat_model, **prompts)

    @property
    def room(self) -> int:
        """Tokens of the context window that are left for a question, beside its reply."""
        metadata = metadata_of(self.llm)
        output = metadata.num_output if metadata.num_output and metadata.num_output > 0 else DEFAULT_OUTPUT
        return metadata.context_window - output

    def generate(self, ask: Ask) -> Reply[str]:
        """Answer one question.

        Raises:
            ModelError: the model or its server failed; ``fatal``, ``transient`` and ``retry_after`` follow from the HTTP status.
            BadReply: a content filter refused the question.
        """
        llm = self.llm
        attempts = self._forms_for(llm, ask).attempts(ask)
        for _ in attempts:
            attempt = explained(llm, self._name(llm), self._is_bug)
            with self._turn_with(llm), attempt:
                reply = call(self._patience.of(llm), ask, **attempts.parameters())
                attempts.answered()
                return reply
            attempts.failed(attempt)
        raise attempts.problem

    async def agenerate(self, ask: Ask) -> Reply[str]:
        """Answer one question without blocking the running loop; otherwise the same as ``generate``."""
        llm = self.llm
        if not (has_own_async(llm) and self._home.is_here()):
            return await in_own_thread(partial(self.generate, ask))
        attempts = self._forms_for(llm, ask).attempts(ask)
        for _ in attempts:
            attempt = explained(llm, self._name(llm), self._is_bug)
            with attempt:
                reply = await acall(self._patience.of(llm), ask, **attempts.parameters())
                attempts.answered()
                return reply
            if attempt.is_of_other_loop:
                return await in_own_thread(partial(self.generate, ask))
            attempts.failed(attempt)
        raise attempts.problem

    def _is_told_the_form(self, llm: LLM) -> bool:
        if own_predict(llm) is not None:
            return False  # it takes nothing but a question
        return is_openai(llm) if self._structured is None else self._structured

    def _forms_for(self, llm: LLM, ask: Ask) -> FormsOfReply:
        """The forms to try: none but plain text where a template of the user's asks for a form of its own."""
        instructions = getattr(ask.reply, "instructions", None)
        form = instructions() if instructions else ""
        is_described = bool(form) and any(form in message.content for message in ask.messages)
        return self._forms if is_described and self._is_told_the_form(llm) else PLAIN

    def _turn_with(self, llm: LLM) -> AbstractContextManager[object]:
        if has_own_async(llm) if self._overlap is None else self._overlap:
            return nullcontext()
        return Turn.with_model(llm)

    def _name(self, llm: LLM) -> str:
        name = metadata_of(llm).model_name
        return type(llm).__name__ if not name or name == "unknown" else name

    def __reduce__(self) -> tuple[Any, ...]:
        # what it knows of event loops and servers belongs to this process
        return (_made, (self._llm, self._overlap, self._structured, self._is_bug is not is_bug))

    def __deepcopy__(self, memo: Mapping[int, Any]) -> LlamaIndexLLM:
        return self  # a handle: copies of what holds it share its LLM

    def __repr__(self) -> str:
        if self._llm is None:
            return "LlamaIndexLLM()"
        return f"LlamaIndexLLM(<{type(self._llm).__name__} {self._name(self._llm)!r}>)"


def has_own_async(llm: LLM) -> bool:
    """Whether the asynchronous methods do more than call the synchronous ones, as those of ``CustomLLM`` do."""
    if not issubclass(type(llm), CustomLLM) or own_predict(llm) == "apredict":
        return True
    name = "achat" if llm.metadata.is_chat_model else "acomplete"
    return overrides(type(llm), CustomLLM, name)


def _resolved(llm: Any) -> LLM:
    try:
        return resolve_llm(llm)
    except AssertionError:
        kind = type(llm).__name__
    if callable(getattr(llm, "apredict", None)):
        found: LLM = llm  # in all that LlamaIndex's evaluators ask of one
        return found
    raise InvalidInput(
        f"LlamaIndexLLM takes an LLM of LlamaIndex, got {kind}: a model of ragmetrics_core needs no bridge"
    )


def judge_of(llm: Any) -> Any:
    """The judge; what has the methods of the core's models is one already."""
    own = any(hasattr(llm, name) for name in ("generate", "agenerate")) and not answers_to_any_name(llm)
    return llm if own and not isinstance(llm, LLM) else LlamaIndexLLM(llm)


def _made(llm: Any, overlap: bool | None, structured: bool | None, softly: bool) -> LlamaIndexLLM:
    made = LlamaIndexLLM(llm, overlap=overlap, structured=structured)
    return made.failing_softly() if softly else made

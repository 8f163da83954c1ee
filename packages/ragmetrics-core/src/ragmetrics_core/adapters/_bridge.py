"""The bridge from any framework's models to the core: what every adapter does in the same way, written once.

An adapter overrides only the methods in which its framework differs::

    class AcmeLLM(LLMBridge):
        _provider = "acme"

        def _ask(self, model, ask, form):
            return model.chat([{"role": item.role, "text": item.content} for item in ask.messages], **form.parameters())

        async def _ask_async(self, model, ask, form):
            return await model.chat_async(...)

        def _read(self, answer):
            return Reply(answer.text, Usage(1, answer.tokens_in, answer.tokens_out), truncated=answer.stopped == "length")

        def _settings(self, model):
            return {"model": model.name, "url": model.url, "temperature": model.temperature}

    evaluate(rows, Faithfulness(), llm=AcmeLLM(acme.Chat("judge-1")))

From there the bridge does the rest. An ``EmbeddingsBridge`` is written in the same way, with ``_embed(model, texts)`` and
``_embed_async`` instead of ``_ask`` and ``_ask_async``.

Strategy. One coroutine asks a question: which forms of reply are tried, which model is called, what its failure means. An
asynchronous caller awaits it; for a synchronous caller nothing in it waits, so one step runs it to its end. A model is called
asynchronously in the event loop that its connections belong to; in every other loop, and where it has no asynchronous method, it is
called synchronously on a thread. The user's object never changes: a model without its retries is a copy, which shares its
connections, and messages and ``identity`` always speak of the original.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, ClassVar, Generic, TypeVar

from .._kernel._model_traits import readable_texts
from .._support._providers import Rung
from .._support._threads import in_own_thread
from .._values._errors import ModelError
from .._values._requests import Ask, Reply, Usage
from ..llms._wire._attempts import Attempts, Ladder
from ._failures import Explained, is_bug
from ._judging import judging
from ._loops import HomeLoop, Turn, at_once
from ._settings import json_settings, name_of, secret_texts

MAKERS = ("_get_client", "_get_aclient")
"""Methods that make the clients of a model from its settings when they are needed, and keep them."""


def without_retries(model: Any) -> Any:
    """Return a copy of a model whose clients do not retry lost calls; the model itself if no client can be changed.

    ``evaluate`` retries lost calls itself and slows down when calls are lost. If the client of a model retried them too,
    the attempts would multiply (6 times 3), and ``evaluate`` would not see most losses.
    The clients of the copy share the connections of the original, and the user's object does not change.

    Args:
        model: a pydantic model with a field ``max_retries``, or another object with an attribute of this name, which holds its
            clients.
    """
    kind: Any = type(model)
    fields: Any = getattr(kind, "model_fields", None)
    if fields is None:
        return _plain_without_retries(model)
    if "max_retries" not in fields or getattr(model, "max_retries", None) == 0:
        return model
    makers = [getattr(kind, name) for name in MAKERS if hasattr(kind, name)]
    if getattr(model, "reuse_client", True):
        for make in makers:  # so that the copy shares the clients
            make(model)
    makes = bool(makers) or _is_cached(kind, "_client")
    attributes = {**model.__dict__, **(getattr(model, "__pydantic_private__", None) or {})}
    changed = {name: client for name, value in attributes.items() if (client := _without_retries(value)) is not None}
    if not makes and not changed:
        return model
    # caches identify a model by this setting too, so it changes only if it is read again
    other = model.model_copy(update={"max_retries": 0} if makes else {})
    for name in [name for name in model.__dict__ if name not in fields and _is_cached(kind, name)]:
        other.__dict__.pop(name, None)
    for place in (other.__dict__, other.__pydantic_private__ or {}):
        place.update({name: changed[name] for name in place if name in changed})
    return other


def _plain_without_retries(model: Any) -> Any:
    most = getattr(model, "max_retries", 0)
    clients = {name: value for name, value in getattr(model, "__dict__", {}).items() if _is_client(value)}
    if not clients or not (most is None or (isinstance(most, int) and most > 0)):
        return model
    other = copy.copy(model)
    other.__dict__.update({name: _without_retries(client) for name, client in clients.items()}, max_retries=0)
    if hasattr(other, "raise_on_failure"):
        other.raise_on_failure = True  # a lost call that is only logged would not be repeated
    return other


def _is_cached(kind: type, name: str) -> bool:
    return any(isinstance(vars(base).get(name), cached_property) for base in kind.__mro__)


def _without_retries(value: Any) -> Any:
    """Return a client, or an object that holds one, without retries of lost calls; None for any other value."""
    if _is_client(value):
        return value.with_options(max_retries=0)
    held: Any = getattr(value, "__dict__", {}).get("_client")
    return type(value)(held.with_options(max_retries=0)) if _is_client(held) else None


def _is_client(value: Any) -> bool:
    """Whether a value is a client with the option ``max_retries`` (OpenAI, Anthropic, Groq and others have it). A mock does not
    count.
    """
    return hasattr(value, "with_options") and type(getattr(value, "max_retries", None)) is int


class FormsOfReply:
    """The forms of reply that the server of one model accepts, as far as they are known. Threads may share it.

    The order is as in the core's own models: JSON schema, else JSON mode, else plain text. A framework does not say what its
    server accepts, so a refused question is asked again with the next form, and the form that worked is remembered. Servers word
    refusals in many ways, so any refusal of a question with a form is worth one more call without it. Only a second refused
    question, or a server that names the form, settles the matter.

    Args:
        highest: the first form to try: ``schema``, ``json`` or ``text``.
    """

    def __init__(self, highest: Rung = "schema") -> None:
        self._highest = highest
        self._ladder = Ladder(highest, trusts_status=True)

    def attempts(self, ask: Ask | None) -> Attempts:
        """Return the attempts at one question. For None, a question without a form of reply, such as a request for vectors,
        there is one attempt.
        """
        return Attempts(self._ladder, ask)

    def __reduce__(self) -> tuple[Any, ...]:
        return (FormsOfReply, (self._highest,))  # another process learns the form again


Q = TypeVar("Q")
A = TypeVar("A")
B = TypeVar("B", bound="Bridge[Any, Any]")

Change = Callable[[Any], Any]
"""Makes a changed copy of a model."""

PLAIN = FormsOfReply("text")


class Bridge(Generic[Q, A]):
    """What the bridges to LLMs and to embedding models share. Adapters override the methods that begin with ``_``.

    Args:
        model: the framework's model.
        overlap: whether synchronous calls may overlap. None: only if the model has its own asynchronous methods; a model without
            them may compute in this process, and rarely supports overlapping calls.
        home: the event loop to which the model's connections belong; None: the first loop in which this bridge is used.
    """

    _provider: ClassVar[str]
    """The name of the framework, for ``identity``."""

    _is_bug: Callable[[Exception], bool] = staticmethod(is_bug)
    """Says which exceptions are not failures of the model; they are raised unchanged."""

    def __init__(self, model: Any, *, overlap: bool | None = None, home: HomeLoop | None = None) -> None:
        self._given = model
        self._overlap = overlap
        self._home = HomeLoop() if home is None else home
        self._changes: tuple[Change, ...] = ()
        self._copies: dict[tuple[Change, ...], tuple[tuple[object, ...], Any]] = {}

    # Every adapter overrides these.

    def _ask(self, model: Any, question: Q, form: Attempts) -> Any:
        """Call the model synchronously.

        Args:
            model: the user's model, or a copy without its retries.
            question: an ``Ask``, or the texts to embed.
            form: the form of reply that is requested: ``form.rung`` by name, ``form.parameters()`` in OpenAI's protocol.

        Returns:
            The answer of the framework, for ``_read``.
        """
        raise NotImplementedError(f"{type(self).__name__} has no _ask")

    async def _ask_async(self, model: Any, question: Q, form: Attempts) -> Any:
        """Call the model without blocking the running loop. Not needed if ``_has_async`` is False."""
        raise NotImplementedError(f"{type(self).__name__} has no _ask_async")

    def _read(self, answer: Any) -> Reply[A]:
        """Return the text of the answer and its usage; raise ``BadReply`` if there is no text."""
        raise NotImplementedError(f"{type(self).__name__} has no _read")

    def _settings(self, model: Any) -> Mapping[str, Any] | None:  # noqa: ARG002
        """Return all settings that can change an answer, for ``identity``; None if the model does not show them."""
        return None

    # Adapters override these if their framework needs it.

    @property
    def _model(self) -> Any:
        """The user's model in its present state."""
        return self._given

    def _has_async(self, model: Any) -> bool:  # noqa: ARG002
        """Whether the model has its own asynchronous methods."""
        return True

    def _ready(self, model: Any) -> Any:
        """Return the model to call instead of the user's model. An adapter may load or connect it here."""
        return self._copy_with_changes(model)

    async def _ready_async(self, model: Any) -> Any:
        """Return the model to call asynchronously, like ``_ready``."""
        return self._ready(model)

    def _inner(self, model: Any) -> Any:
        """Return the model that the framework has wrapped together with settings; any other model is returned unchanged."""
        return model

    def _name(self, model: Any) -> str:
        """Return the name of the model in messages: its attribute ``model``, else the name of its class."""
        return name_of(self._inner(model))

    def _secrets(self, model: Any) -> tuple[str, ...]:
        """Return the texts in the model that must never be shown."""
        return secret_texts(getattr(self._inner(model), "__dict__", {}))

    def _attempts(self, question: Q) -> Attempts:  # noqa: ARG002  for an LLM, the question decides
        """Return the forms of reply to try."""
        return PLAIN.attempts(None)

    # The same for every framework.

    @property
    def identity(self) -> dict[str, Any] | None:
        """All settings that can change an answer, as JSON values and without secrets; None if the model cannot say what it is."""
        try:
            model = self._model
        except ModelError:
            return None
        stated = self._settings(model)
        found = None if stated is None else json_settings(stated, self._secrets(model))
        cls = type(self._inner(model))
        named = {"provider": self._provider, "class": f"{cls.__module__}.{cls.__qualname__}"}
        return None if found is None else {**named, **found}

    def without_retries(self: B) -> B:
        """Return the same model without the retries of its client, for ``evaluate``, which retries lost calls itself."""
        return self._with_change(without_retries)

    def _with_change(self: B, change: Change) -> B:
        """Return a bridge that calls a copy of the model with this change."""
        other = self.__copy__()
        if change not in other._changes:
            other._changes += (change,)
        return other

    def _copy_with_changes(self, model: Any, *parts: object) -> Any:
        """Return the model with the changes. The same copy is returned as long as the model and the changed parts are the same
        objects, so the connections of the copy survive a run.
        """
        now, known = (model, *parts), self._copies.get(self._changes)
        if known is None or any(old is not new for old, new in zip(known[0], now, strict=True)):
            changed = model
            for change in self._changes:
                changed = change(changed)
            known = self._copies[self._changes] = (now, changed)
        return known[1]

    def _answer(self, question: Q) -> Reply[A]:
        """Ask synchronously."""
        return at_once(self._run_attempts(question, waits=False))

    async def _answer_async(self, question: Q) -> Reply[A]:
        """Ask without blocking the running loop."""
        if self._has_async(self._model) and self._home.is_here():
            return await self._run_attempts(question, waits=True)
        return await in_own_thread(partial(self._answer, question))

    async def _run_attempts(self, question: Q, *, waits: bool) -> Reply[A]:
        model = self._model
        ready_model = await self._ready_async(model) if waits else self._ready(model)
        attempts = self._attempts(question)
        for _ in attempts:
            failure = Explained(self._name(model), self._secrets(model), is_bug=self._is_bug)
            with nullcontext() if waits else self._turn(model), failure, judging():
                call = partial(self._ask_async if waits else self._ask, ready_model, question, attempts)
                answer = await call() if waits else call()
                attempts.answered()
                return self._read(answer)
            if waits and failure.is_of_other_loop:
                return await in_own_thread(partial(self._answer, question))
            attempts.failed(failure)
        raise attempts.problem

    def _turn(self, model: Any) -> AbstractContextManager[object]:
        may_overlap = self._has_async(model) if self._overlap is None else self._overlap
        return nullcontext() if may_overlap else Turn.with_model(model)

    def __copy__(self: B) -> B:
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)  # what was learnt about event loops and servers is shared
        return other

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_copies": {}}  # copies are made again when the model is called

    def __deepcopy__(self: B, memo: Any) -> B:
        return self  # a handle to a server: copies of what holds it share its connections

    def __repr__(self) -> str:
        return f"{type(self).__name__}(<{type(self._given).__name__} {self._name(self._given)!r}>)"


class LLMBridge(Bridge[Ask, str]):
    """An LLM of the core that calls a framework's LLM. Adapters override the methods that begin with ``_``.

    Args:
        model: the framework's model.
        forms: the forms of reply that may be requested from its server; default: ``FormsOfReply()``.
        overlap: as for ``Bridge``.
        home: as for ``Bridge``.
    """

    def __init__(
        self,
        model: Any,
        *,
        forms: FormsOfReply | None = None,
        overlap: bool | None = None,
        home: HomeLoop | None = None,
    ) -> None:
        super().__init__(model, overlap=overlap, home=home)
        self._forms = FormsOfReply() if forms is None else forms

    def generate(self, ask: Ask) -> Reply[str]:
        """Answer one question. Lone surrogates, which cannot be sent to a server, are replaced by their codes.

        Raises:
            ModelError: the model or its server failed; ``fatal``, ``transient``, ``rate_limited`` and ``retry_after`` follow from
                the HTTP status.
            BadReply: the model refused to answer, a content filter stopped it, or there is no text.
        """
        return self._answer(sendable(ask))

    async def agenerate(self, ask: Ask) -> Reply[str]:
        """Like ``generate``, without blocking the running loop."""
        return await self._answer_async(sendable(ask))

    def _attempts(self, question: Ask) -> Attempts:
        return self._forms.attempts(question)


def sendable(ask: Ask) -> Ask:
    """Return the question in a form that UTF-8 can encode. A bad reply may contain lone surrogates, and is sent back to the
    model.
    """
    texts = [message.content.encode("utf-8", "backslashreplace").decode() for message in ask.messages]
    if texts == [message.content for message in ask.messages]:
        return ask
    messages = tuple(replace(message, content=text) for message, text in zip(ask.messages, texts, strict=True))
    return replace(ask, messages=messages)


class EmbeddingsBridge(Bridge[list[str], list[list[float]]]):
    """An embedding model of the core that calls a framework's embedding model. Adapters override the methods that begin with
    ``_``.
    """

    def embed(self, texts: Sequence[str]) -> Reply[list[list[float]]]:
        """Return one vector per text, in order. Lone surrogates, which no model can read, count as U+FFFD.

        Raises:
            ModelError: the model or its server failed.
            InvalidInput: a single text instead of a list, or an item that is not a text.
        """
        items = readable_texts(texts)
        return self._answer(items) if items else Reply([], Usage())

    async def aembed(self, texts: Sequence[str]) -> Reply[list[list[float]]]:
        """Like ``embed``, without blocking the running loop."""
        items = readable_texts(texts)
        return await self._answer_async(items) if items else Reply([], Usage())

    def _ask(self, model: Any, question: list[str], form: Attempts) -> Any:  # noqa: ARG002  vectors have one form
        return self._embed(model, question)

    async def _ask_async(self, model: Any, question: list[str], form: Attempts) -> Any:  # noqa: ARG002
        return await self._embed_async(model, question)

    def _embed(self, model: Any, texts: list[str]) -> Any:
        """Call the model synchronously with at least one text, and return its answer for ``_read``."""
        raise NotImplementedError(f"{type(self).__name__} has no _embed")

    async def _embed_async(self, model: Any, texts: list[str]) -> Any:
        """Call the model without blocking the running loop. Not needed if ``_has_async`` is False."""
        raise NotImplementedError(f"{type(self).__name__} has no _embed_async")

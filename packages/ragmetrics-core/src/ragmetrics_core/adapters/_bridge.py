"""The bridge from any framework's models to the core: what every adapter does in the same way, written once.

A model of a framework becomes one of the core by saying what its framework makes necessary, and nothing else::

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
``_embed_async`` in the place of ``_ask`` and ``_ask_async``.

Strategy. One coroutine holds the way of a question: which forms of reply are tried, which model is called, what its failure means.
Asked asynchronously it is awaited; asked synchronously nothing in it waits, so it is run to its end where it stands. A model is
called asynchronously in the event loop that its connections belong to; in every other loop, and where it has no asynchronous
method, it is called synchronously on a thread. Whatever a class gives as ``_model`` stays the user's object: a model without its
retries is a copy, which shares its connections, and messages and ``identity`` always speak of the original.

A framework's model without the retries of its own clients.

Strategy. Who makes many calls makes lost ones again itself, and paces them by what was lost. If the client of a model did so too,
six tries of three tries would be made, and most of the losses would never be seen. So such a driver is given a copy of the
model, whose clients are those of the original without their retries: they share its connections, and nothing of the user's object
changes. A model that cannot be told, as one with a client of an unknown kind, is left as it is.

What is called in the place of a user's model, so that nothing of the user's own object changes.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, ClassVar, Generic, TypeVar

from .._kernel._errors import ModelError
from .._kernel._model_traits import readable_texts
from .._kernel._requests import Ask, Reply, Usage
from .._support._threads import in_own_thread
from ._failures import Explained, is_bug
from ._forms import Attempts, FormsOfReply
from ._heard import judging
from ._loops import HomeLoop, Turn, at_once
from ._settings import json_settings, name_of, secret_texts

MAKERS = ("_get_client", "_get_aclient")
"""Methods that make the clients of a model from its settings when they are needed, and keep them."""


def without_retries(model: Any) -> Any:
    """A copy of a model whose clients make no lost call again; the model itself where there is nothing to tell.

    Args:
        model: one of pydantic with a field ``max_retries``, or any other object with an attribute of this name, which holds its
            clients.
    """
    fields: Any = getattr(type(model), "model_fields", None)
    if fields is None:
        return _plain_without_retries(model)
    if "max_retries" not in fields or getattr(model, "max_retries", None) == 0:
        return model
    makes = _make_clients(model)
    held: Mapping[str, Any] = model.__dict__
    private: Mapping[str, Any] = getattr(model, "__pydantic_private__", None) or {}
    told = {name: _told(value) for name, value in (*held.items(), *private.items())}
    if not makes and not any(told.values()):
        return model
    # the setting is a part of what caches know a model by, so it changes only where it is looked at again
    changes = {"max_retries": 0} if makes else {}
    other = model.model_copy(update=changes)
    for name in [name for name in held if name not in fields and _is_made_of_settings(type(model), name)]:
        other.__dict__.pop(name, None)
    for place in (other.__dict__, other.__pydantic_private__ or {}):
        place.update({name: told[name] for name in place if told.get(name) is not None})
    return other


def _plain_without_retries(model: Any) -> Any:
    most = getattr(model, "max_retries", 0)
    clients = {name: value for name, value in getattr(model, "__dict__", {}).items() if _is_client(value)}
    if not clients or not (most is None or (isinstance(most, int) and most > 0)):
        return model
    other = copy.copy(model)
    other.__dict__.update({name: _told(client) for name, client in clients.items()}, max_retries=0)
    if hasattr(other, "raise_on_failure"):
        other.raise_on_failure = True  # a lost call that is only logged would not be made again
    return other


def _make_clients(model: object) -> bool:
    """Have the clients made that the model makes when it needs them, so that the copy shares them; whether it makes any."""
    makers = [getattr(type(model), name) for name in MAKERS if hasattr(type(model), name)]
    if getattr(model, "reuse_client", True):
        for make in makers:
            make(model)
    return bool(makers) or _is_made_of_settings(type(model), "_client")


def _is_made_of_settings(cls: type, name: str) -> bool:
    return any(isinstance(vars(base).get(name), cached_property) for base in cls.__mro__)


def _told(value: Any) -> Any:
    """A client, or a part of a client, that makes no lost call again; None for anything else."""
    if _is_client(value):
        return value.with_options(max_retries=0)
    held: Any = getattr(value, "__dict__", {}).get("_client")
    if _is_client(held):
        return type(value)(held.with_options(max_retries=0))
    return None


def _is_client(value: Any) -> bool:
    """Whether it is one of the clients that can be told (OpenAI, Anthropic, Groq and others have the same); no mock is one."""
    return hasattr(value, "with_options") and type(getattr(value, "max_retries", None)) is int


Change = Callable[[Any], Any]


class StandIn:
    """What is called in the place of a user's model: a copy with some changes, and the same one as long as it is that model.

    Args:
        changes: each makes a changed copy of a model; none: the model itself is called.
    """

    def __init__(self, *changes: Change) -> None:
        self._changes = changes
        self._others: dict[Change, StandIn] = {}
        self._known: tuple[tuple[object, ...], Any] | None = None

    def by(self, change: Change) -> StandIn:
        """With one more change; always the same one, so that the connections of its copy outlive a run."""
        return self if change in self._changes else self._others.setdefault(change, StandIn(*self._changes, change))

    def of(self, model: Any, *parts: object) -> Any:
        """The copy of this model, made anew where the model is another one, or one of these parts of it."""
        now, known = (model, *parts), self._known
        if known is None or len(known[0]) != len(now) or any(a is not b for a, b in zip(known[0], now, strict=True)):
            copied = model
            for change in self._changes:
                copied = change(copied)
            known = self._known = (now, copied)
        return known[1]

    def __reduce__(self) -> tuple[Any, ...]:
        return (StandIn, self._changes)  # the copy is made anew where it is called


Q = TypeVar("Q")
A = TypeVar("A")
B = TypeVar("B", bound="Bridge[Any, Any]")

PLAIN = FormsOfReply("text")


class Bridge(Generic[Q, A]):
    """What the bridges to LLMs and to embedding models have in common. What begins with ``_`` is for adapters to override.

    Args:
        model: the framework's model.
        overlap: whether synchronous calls may overlap. None: only if the model has asynchronous methods of its own, as one that has
            none may compute in this process, and rarely survives overlapping calls.
        home: the event loop that the model's connections belong to; None: the first one in which this bridge is used.
    """

    _provider: ClassVar[str]
    """The name of the framework, for ``identity``."""

    _is_bug: Callable[[Exception], bool] = staticmethod(is_bug)
    """Which exceptions are no failure of the model, and are raised as they are."""

    def __init__(self, model: Any, *, overlap: bool | None = None, home: HomeLoop | None = None) -> None:
        self._given = model
        self._overlap = overlap
        self._home = HomeLoop() if home is None else home
        self._stand_in = StandIn()

    # What a framework makes necessary.

    def _ask(self, model: Any, question: Q, form: Attempts) -> Any:
        """Call the model synchronously.

        Args:
            model: the user's model, or a copy without its retries.
            question: an ``Ask``, or the texts to embed.
            form: the form of reply that the server is asked for: ``form.rung`` by name, ``form.parameters()`` in the protocol
                of OpenAI.

        Returns:
            The answer as the framework gives it, for ``_read``.
        """
        raise NotImplementedError(f"{type(self).__name__} has no _ask")

    async def _ask_async(self, model: Any, question: Q, form: Attempts) -> Any:
        """Call the model without blocking the running loop; not needed where ``_has_async`` says no."""
        raise NotImplementedError(f"{type(self).__name__} has no _ask_async")

    def _read(self, answer: Any) -> Reply[A]:
        """What the answer says, and what it cost; raises ``BadReply`` where it is none."""
        raise NotImplementedError(f"{type(self).__name__} has no _read")

    def _settings(self, model: Any) -> Mapping[str, Any] | None:  # noqa: ARG002
        """Every setting that can change an answer, for ``identity``; None where the model cannot say what it is."""
        return None

    # What a framework may have otherwise.

    @property
    def _model(self) -> Any:
        """The user's model, as it is now."""
        return self._given

    def _has_async(self, model: Any) -> bool:  # noqa: ARG002
        """Whether the model has asynchronous methods of its own."""
        return True

    def _ready(self, model: Any) -> Any:
        """What to call in the place of the user's model; an adapter may load or connect it here."""
        return self._stand_in.of(model)

    async def _ready_async(self, model: Any) -> Any:
        """The same before an asynchronous call."""
        return self._ready(model)

    @staticmethod
    def _unretrying(model: Any) -> Any:
        """The model, or a copy of it, that makes no lost call again itself."""
        return without_retries(model)

    def _inner(self, model: Any) -> Any:
        """The model itself, where the framework wraps settings around it."""
        return model

    def _name(self, model: Any) -> str:
        """What messages call the model: the name that it gives itself as ``model``, else that of its class."""
        return name_of(self._inner(model))

    def _secrets(self, model: Any) -> tuple[str, ...]:
        """The texts of the model that must never be shown."""
        return secret_texts(getattr(self._inner(model), "__dict__", {}))

    def _attempts(self, question: Q) -> Attempts:  # noqa: ARG002  of an LLM, the question tells
        """The forms of reply to try."""
        return PLAIN.attempts(None)

    # What is the same everywhere.

    @property
    def identity(self) -> dict[str, Any] | None:
        """Every setting that can change an answer, as JSON values and without secrets; None where the model does not tell."""
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
        """The same model without the retries of its own client, for ``evaluate``, which makes lost calls again itself."""
        return self._calling(self._unretrying)

    def _calling(self: B, change: Change) -> B:
        """The same model, of which a copy with this change is called."""
        other = self.__copy__()
        other._stand_in = self._stand_in.by(change)
        return other

    def _answered(self, question: Q) -> Reply[A]:
        """Ask synchronously."""
        return at_once(self._answer(question, waits=False))

    async def _answered_async(self, question: Q) -> Reply[A]:
        """Ask without blocking the running loop."""
        if self._has_async(self._model) and self._home.is_here():
            return await self._answer(question, waits=True)
        return await in_own_thread(partial(self._answered, question))

    async def _answer(self, question: Q, *, waits: bool) -> Reply[A]:
        model = self._model
        called = await self._ready_async(model) if waits else self._ready(model)
        attempts = self._attempts(question)
        for _ in attempts:
            failure = Explained(self._name(model), self._secrets(model), is_bug=self._is_bug)
            with nullcontext() if waits else self._turn(model), failure, judging():
                asked = partial(self._ask_async if waits else self._ask, called, question, attempts)
                answer = await asked() if waits else asked()
                attempts.answered()
                return self._read(answer)
            if waits and failure.is_of_other_loop:
                return await in_own_thread(partial(self._answered, question))
            attempts.failed(failure)
        raise attempts.problem

    def _turn(self, model: Any) -> AbstractContextManager[object]:
        may_overlap = self._has_async(model) if self._overlap is None else self._overlap
        return nullcontext() if may_overlap else Turn.with_model(model)

    def __copy__(self: B) -> B:
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)  # what is known of event loops and servers is shared
        return other

    def __deepcopy__(self: B, memo: Any) -> B:
        return self  # a handle to a server: copies of what holds it share its connections

    def __repr__(self) -> str:
        return f"{type(self).__name__}(<{type(self._given).__name__} {self._name(self._given)!r}>)"


class LLMBridge(Bridge[Ask, str]):
    """An LLM of the core that is one of a framework. What begins with ``_`` is for adapters to override.

    Args:
        model: the framework's model.
        forms: the forms of reply that its server may be asked for, ``FormsOfReply()`` by default.
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
        """Answer one question; lone surrogates, which no server can be sent, are written out as their code.

        Raises:
            ModelError: the model or its server failed; ``fatal``, ``transient``, ``rate_limited`` and ``retry_after`` follow from
                the HTTP status.
            BadReply: the model refused to answer, or a content filter stopped it, or there is no text.
        """
        return self._answered(sendable(ask))

    async def agenerate(self, ask: Ask) -> Reply[str]:
        """Answer one question without blocking the running loop; otherwise the same as ``generate``."""
        return await self._answered_async(sendable(ask))

    def _attempts(self, question: Ask) -> Attempts:
        return self._forms.attempts(question)


def sendable(ask: Ask) -> Ask:
    """The question as well as UTF-8 can carry it: what a model wrote may hold lone surrogates, and is sent back to it."""
    texts = [message.content.encode("utf-8", "backslashreplace").decode() for message in ask.messages]
    if texts == [message.content for message in ask.messages]:
        return ask
    messages = tuple(replace(message, content=text) for message, text in zip(ask.messages, texts, strict=True))
    return replace(ask, messages=messages)


class EmbeddingsBridge(Bridge[list[str], list[list[float]]]):
    """An embedding model of the core that is one of a framework. What begins with ``_`` is for adapters to override."""

    def embed(self, texts: Sequence[str]) -> Reply[list[list[float]]]:
        """One vector per text, in order; lone surrogates, which no model can read, count as U+FFFD.

        Raises:
            ModelError: the model or its server failed.
            InvalidInput: a lone text instead of a list, or an item that is no text.
        """
        items = readable_texts(texts)
        return self._answered(items) if items else Reply([], Usage())

    async def aembed(self, texts: Sequence[str]) -> Reply[list[list[float]]]:
        """One vector per text, without blocking the running loop; otherwise the same as ``embed``."""
        items = readable_texts(texts)
        return await self._answered_async(items) if items else Reply([], Usage())

    def _ask(self, model: Any, question: list[str], form: Attempts) -> Any:  # noqa: ARG002  vectors have one form
        return self._embed(model, question)

    async def _ask_async(self, model: Any, question: list[str], form: Attempts) -> Any:  # noqa: ARG002
        return await self._embed_async(model, question)

    def _embed(self, model: Any, texts: list[str]) -> Any:
        """Call the model synchronously with at least one text; what it answers goes to ``_read``."""
        raise NotImplementedError(f"{type(self).__name__} has no _embed")

    async def _embed_async(self, model: Any, texts: list[str]) -> Any:
        """Call the model without blocking the running loop; not needed where ``_has_async`` says no."""
        raise NotImplementedError(f"{type(self).__name__} has no _embed_async")

"""Wrap Haystack's chat generators and embedders as models of the core. Saved pipelines contain the name of this module.

Strategy. Every question goes through ``run`` or ``run_async`` of the component, so Haystack's tracing and streaming see the
calls of a judge like all other calls. The settings of a component are the parameters of its constructor, which it stores as
attributes. A component that does not store them, or that has a setting which is not a JSON value (a callable, an object), has no
identity; its answers are then never replayed in another run.

Generators that speak the OpenAI protocol are asked for JSON or for text, depending on the question. This replaces the form that
they were set up with, which may belong to another task. If the server refuses a form, the generator is called without it. All other
generators are called as they were set up.

A document embedder takes all texts of a request in one call and makes its own batches. A text embedder takes one text per call, so
the calls overlap if the embedder allows it. Both give the same vectors for the same text, unless they put different prefixes in
front of it. The name of the parameter of ``run`` shows which of the two an embedder is.
"""

from __future__ import annotations

import asyncio
import inspect
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from haystack.dataclasses import ChatMessage
from haystack.tracing.tracer import Span, tracer

from haystack import Document
from ragmetrics_core import Ask, BadReply, InvalidInput, Message, ModelError, Reply, Usage
from ragmetrics_core.adapters import (
    Attempts,
    Bridge,
    EmbeddingsBridge,
    Explained,
    FormsOfReply,
    LLMBridge,
    check_switch,
    finish_reason_of,
    in_threads,
    is_cut_off,
    kind_of,
    usage_of,
)

if TYPE_CHECKING:
    from haystack.components.generators.chat import OpenAIChatGenerator


Q = TypeVar("Q")
A = TypeVar("A")
C = TypeVar("C", bound="Component[Any, Any]")

OPERATIONAL = re.compile(
    r"client|(?:async_)?http_client|http_client_kwargs|batch_size|max_retries|progress_bar|streaming_callback|timeout"
)
"""Settings that decide how a component is called, not what it answers."""


class Component(Bridge[Q, A]):
    """A wrapper around a component of Haystack. The component is warmed up before it is called.

    Calls without retries use a copy of the warmed-up component. Its clients are made when it is warmed up, one for
    synchronous and one for asynchronous calls, and may be closed and made again.
    """

    _provider = "haystack"

    def __init__(self, component: Any, **settings: Any) -> None:
        super().__init__(component, **settings)
        self._lock = threading.Lock()
        self._is_warm = False

    def _has_async(self, model: Any) -> bool:
        return hasattr(model, "run_async")

    def _ready(self, model: Any) -> Any:
        failure = Explained(self._name(model), self._secrets(model), fatal=True)
        with self._lock, failure:
            if not self._is_warm:
                call_if_any(model, "warm_up")
                self._is_warm = True
            return self._model_to_call(model)
        raise failure.problem

    async def _ready_async(self, model: Any) -> Any:
        if not hasattr(model, "warm_up_async"):
            return self._ready(model)
        failure = Explained(self._name(model), self._secrets(model), fatal=True)
        with failure:
            await model.warm_up_async()
            with self._lock:
                return self._model_to_call(model)
        raise failure.problem

    def _model_to_call(self, model: Any) -> Any:
        return self._copy_with_changes(model, *(getattr(model, name, None) for name in ("client", "async_client")))

    def _settings(self, model: Any) -> Mapping[str, Any] | None:
        parameters = list(inspect.signature(type(model).__init__).parameters.values())[1:]
        named = [item.name for item in parameters if item.kind not in (item.VAR_KEYWORD, item.VAR_POSITIONAL)]
        if not all(hasattr(model, name) for name in named):
            return None
        settings = {name: getattr(model, name) for name in named if not OPERATIONAL.fullmatch(name)}
        connection = getattr(model, "http_client_kwargs", None)
        if "http_client_kwargs" in named and isinstance(connection, Mapping) and connection.get("headers"):
            settings["http_client_headers"] = connection["headers"]
        return {"settings": settings}

    def __copy__(self: C) -> C:
        other = super().__copy__()
        other._is_warm = False
        return other


def call_if_any(component: Any, method: str) -> None:
    """Call a method of the component's life cycle, ``warm_up`` or ``close``, if it has that method."""
    if hasattr(component, method):
        getattr(component, method)()


async def call_async_if_any(component: Any, method: str) -> None:
    """Call a method of the component's life cycle on the running loop, by its asynchronous version if there is one."""
    if hasattr(component, f"{method}_async"):
        await getattr(component, f"{method}_async")()
    else:
        call_if_any(component, method)


AT_ONCE = 16
"""The most calls to a text embedder that overlap."""


class Embedded(NamedTuple):
    """One vector per text (None if the embedder gave none), and the number of tokens."""

    vectors: list[Any]
    tokens: int


class HaystackEmbeddings(Component[list[str], list[list[float]]], EmbeddingsBridge):
    """An embedding model that is called through Haystack.

    Args:
        text_embedder: a text embedder, or a document embedder, which takes many texts in one call.

    Raises:
        InvalidInput: ``text_embedder`` is neither.
    """

    def __init__(self, text_embedder: Any) -> None:
        run = getattr(text_embedder, "run", None)
        known = set() if isinstance(text_embedder, type) or run is None else set(inspect.signature(run).parameters)
        if not known & {"text", "documents"}:
            raise InvalidInput(
                "HaystackEmbeddings takes a text embedder or a document embedder such as OpenAITextEmbedder(), "
                f"got {kind_of(text_embedder)}"
            )
        super().__init__(text_embedder)
        self.text_embedder = text_embedder
        self._takes_documents = "documents" in known

    def _embed(self, model: Any, texts: list[str]) -> Embedded:
        if self._takes_documents:
            return _of_documents(texts, model.run(documents=_documents(texts)))
        most = min(len(texts), AT_ONCE) if self._has_async(model) else 1
        if most == 1:
            return _of_texts([model.run(text=text) for text in texts])
        return _of_texts(in_threads([partial(model.run, text=text) for text in texts], most))

    async def _embed_async(self, model: Any, texts: list[str]) -> Embedded:
        if self._takes_documents:
            return _of_documents(texts, await model.run_async(documents=_documents(texts)))
        room = asyncio.Semaphore(AT_ONCE)

        async def one(text: str) -> Any:
            async with room:
                return await model.run_async(text=text)

        return _of_texts(await asyncio.gather(*map(one, texts)))

    def _read(self, answer: Embedded) -> Reply[list[list[float]]]:
        missing = sum(vector is None for vector in answer.vectors)
        if missing:
            raise ModelError(
                f"{self._name(self.text_embedder)}: {missing} of {len(answer.vectors)} texts came back without an embedding"
            )
        vectors = [[float(number) for number in vector] for vector in answer.vectors]
        return Reply(vectors, Usage(calls=1, prompt_tokens=answer.tokens))


def _documents(texts: list[str]) -> list[Document]:
    # without explicit ids, equal texts would get equal ids
    return [Document(id=str(index), content=text) for index, text in enumerate(texts)]


def _of_documents(texts: list[str], result: Any) -> Embedded:
    by_id = {document.id: document.embedding for document in _found(result, "documents") or ()}
    return Embedded([by_id.get(str(index)) for index in range(len(texts))], _tokens(result))


def _of_texts(results: list[Any]) -> Embedded:
    return Embedded([_found(result, "embedding") for result in results], sum(map(_tokens, results)))


def _tokens(result: Any) -> int:
    return usage_of(_found(result, "meta")).prompt_tokens


def _found(result: Any, name: str) -> Any:
    return result.get(name) if isinstance(result, Mapping) else None


OPENAI = "haystack.components.generators.chat.openai"
"""The module of the generator whose subclasses speak the OpenAI protocol."""


def default_generator() -> OpenAIChatGenerator:
    """Make the generator that is used if the user gives none: OpenAI in JSON mode, with a fixed seed, as in Haystack's own
    evaluators.
    """
    from haystack.components.generators.chat import OpenAIChatGenerator  # noqa: PLC0415  loads OpenAI's client

    return OpenAIChatGenerator(generation_kwargs={"response_format": {"type": "json_object"}, "seed": 42})


class HaystackLLM(Component[Ask, str], LLMBridge):
    """An LLM that is called through Haystack.

    Args:
        chat_generator: any chat generator.
        json_mode: whether to ask for JSON, with ``response_format`` in the ``generation_kwargs``, if the reply must be JSON. It
            replaces the form that the generator was set up with. If a server refuses it, later calls are made without it. None:
            only for generators of the OpenAI protocol; False: never.
        overlap: whether synchronous calls may overlap. None: only if the generator has a ``run_async``. A generator without it
            may compute in this process, and rarely survives overlapping calls.

    Raises:
        InvalidInput: ``chat_generator`` has no ``run``, or ``json_mode`` or ``overlap`` is not True, False or None.
    """

    def __init__(self, chat_generator: Any, *, json_mode: bool | None = None, overlap: bool | None = None) -> None:
        if isinstance(chat_generator, type) or not callable(getattr(chat_generator, "run", None)):
            raise InvalidInput(
                f"HaystackLLM takes a chat generator such as OpenAIChatGenerator(), got {kind_of(chat_generator)}"
            )
        check_switch("json_mode", json_mode)
        check_switch("overlap", overlap)
        self.chat_generator = chat_generator
        self.json_mode = json_mode
        self.overlap = overlap
        super().__init__(chat_generator, forms=FormsOfReply("json" if self._asks_for_form else "text"), overlap=overlap)

    def _ask(self, model: Any, question: Ask, form: Attempts) -> Any:
        return call(model, chat_messages(question.messages), **self._form_arguments(form.rung))

    async def _ask_async(self, model: Any, question: Ask, form: Attempts) -> Any:
        return await call_async(model, chat_messages(question.messages), **self._form_arguments(form.rung))

    def _read(self, answer: Any) -> Reply[str]:
        return read_answer(reply_of(answer))

    def _settings(self, model: Any) -> Mapping[str, Any] | None:
        settings = super()._settings(model)
        return None if settings is None else {**settings, "json_mode": self._asks_for_form}

    @property
    def _asks_for_form(self) -> bool:
        if self.json_mode is not None:
            return self.json_mode
        # recognized by name, because importing the class loads OpenAI's client
        return any(cls.__module__ == OPENAI for cls in type(self.chat_generator).__mro__)

    def _form_arguments(self, form: str) -> dict[str, Any]:
        """Return the arguments that ask the generator for this form of reply."""
        own = (getattr(self.chat_generator, "generation_kwargs", None) or {}).get("response_format")
        wanted = {"type": "json_object"} if form == "json" else None
        # a form for another task, such as the user's own schema, would change the reply
        return {"generation_kwargs": {"response_format": wanted}} if self._asks_for_form and own != wanted else {}


def chat_messages(messages: Iterable[Message]) -> list[ChatMessage]:
    """Convert messages of the core to messages of Haystack."""
    makers: dict[str, Callable[[str], ChatMessage]] = {
        "system": ChatMessage.from_system,
        "user": ChatMessage.from_user,
        "assistant": ChatMessage.from_assistant,
    }
    return [makers[message.role](message.content) for message in messages]


def call(generator: Any, messages: list[ChatMessage], **settings: Any) -> Any:
    """Run the generator inside a tracing span, as Haystack runs its own components."""
    with _span(generator, messages) as span:
        result = generator.run(messages=messages, **settings)
        span.set_content_tag("haystack.component.output", result)
    return result


async def call_async(generator: Any, messages: list[ChatMessage], **settings: Any) -> Any:
    """Run the generator's ``run_async`` inside a tracing span."""
    with _span(generator, messages) as span:
        result = await generator.run_async(messages=messages, **settings)
        span.set_content_tag("haystack.component.output", result)
    return result


@contextmanager
def _span(generator: Any, messages: list[ChatMessage]) -> Iterator[Span]:
    tags = {"haystack.component.name": "chat_generator", "haystack.component.type": type(generator).__name__}
    with tracer.trace("haystack.chat_generator.run", tags=tags, parent_span=tracer.current_span()) as span:
        span.set_content_tag("haystack.component.input", {"messages": messages})
        yield span


def reply_of(result: Any) -> ChatMessage | None:
    """Return the first reply of a generator; None if it gave none."""
    replies = result.get("replies") if isinstance(result, Mapping) else None
    return replies[0] if replies else None


def read_answer(reply: ChatMessage | None) -> Reply[str]:
    """Return the text of the reply and its usage.

    Raises:
        BadReply: there is no reply, or the reply has no text, for example because the model calls a tool instead.
    """
    if reply is None:
        raise BadReply("the chat generator gave no reply")
    if not hasattr(reply, "meta"):
        raise BadReply(f"the chat generator replied with a {type(reply).__name__}, not with a ChatMessage")
    meta = reply.meta or {}
    usage = usage_of(meta)
    if not isinstance(reply.text, str):
        other = "" if reply.text is None else f", but with a {type(reply.text).__name__}"
        problem = BadReply(f"the chat generator replied without any text{other}")
        problem.usage = usage
        raise problem
    return Reply(reply.text, usage, truncated=is_cut_off(finish_reason_of(meta)))


HOME = "haystack_integrations.components.evaluators.ragmetrics"

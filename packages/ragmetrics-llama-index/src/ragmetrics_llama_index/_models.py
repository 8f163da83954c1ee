"""Adapters that make LlamaIndex's LLMs and embedding models usable as models of the core."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, TypeVar

from llama_index.core import Settings
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse, LLMMetadata, MessageRole
from llama_index.core.embeddings.utils import resolve_embed_model
from llama_index.core.llms import LLM, CustomLLM
from llama_index.core.llms.utils import resolve_llm
from llama_index.core.prompts import ChatPromptTemplate

from ragmetrics_core import Ask, InvalidInput, Message, ModelError, Reply, Usage
from ragmetrics_core.adapters import (
    Attempts,
    Bridge,
    EmbeddingsBridge,
    FormsOfReply,
    LLMBridge,
    declared_settings,
    finish_reason_of,
    in_own_thread,
    is_cut_off,
    is_of_a_client,
    run_blocking,
    secret_texts,
    usage_of,
)
from ragmetrics_core.adapters import is_bug as is_error_of_programming

Q = TypeVar("Q")
A = TypeVar("A")

NO_CLIENTS = frozenset({"llama_index", "pydantic", "pydantic_core", "_pytest", "pytest"})

OPERATIONAL = re.compile(
    r"(?:embed_)?batch_size|callback_manager|embeddings_cache|(?:async_)?http_client|max_retries|num_workers|rate_limiter"
    r"|reuse_client|show_progress|(?:request_)?timeout|verbose"
)
"""A pattern for settings that affect how a model is called, not what it answers."""


def overrides(cls: type, base: type, name: str) -> bool:
    """Whether a class overrides a method of its base; wrappers that a framework puts around both methods are ignored."""
    return inspect.unwrap(getattr(cls, name)) is not inspect.unwrap(getattr(base, name))


def has_methods(model: Any, *methods: str) -> bool:
    """Whether an object has one of these methods; a mock, which has every method, does not count."""
    found = any(hasattr(model, name) for name in methods)
    return found and not hasattr(model, "an_attribute_that_no_model_has")


class Described(Bridge[Q, A]):
    """A bridge to a model of LlamaIndex, or to the model in its ``Settings``, which is looked up at every call and so may be set
    later.
    """

    _provider = "llama_index"
    _is_bug = staticmethod(lambda error: not is_of_a_client(error, NO_CLIENTS))
    _setting: ClassVar[str]
    _what: ClassVar[str]

    @property
    def _model(self) -> Any:
        if self._given is not None:
            return self._given
        try:
            return getattr(Settings, self._setting)
        except (ImportError, ValueError) as error:
            problem = (str(error).strip().strip("*").strip().splitlines() or [type(error).__name__])[0]
        raise ModelError(
            f"no {self._what} is set: give {self._setting}=... or set llama_index.core.Settings.{self._setting} "
            f"(its default cannot be loaded: {problem})",
            fatal=True,
        )

    def _stated_name(self, model: Any) -> str:
        return str(model.model_name)

    def _name(self, model: Any) -> str:
        return self._stated_name(model)

    def _secrets(self, model: Any) -> tuple[str, ...]:
        return secret_texts(declared_settings(model))

    def _settings(self, model: Any) -> Mapping[str, Any] | None:
        name = self._stated_name(model)
        if not name or name == "unknown":
            return None
        telling = {key: value for key, value in declared_settings(model).items() if not OPERATIONAL.fullmatch(key)}
        return {"model": name, "settings": telling}

    def __repr__(self) -> str:
        return f"{type(self).__name__}()" if self._given is None else super().__repr__()


DEFAULT_OUTPUT = 256
"""The number of tokens reserved for a reply if the metadata state no limit."""

PLAIN = FormsOfReply("text")

OWN = {name: inspect.unwrap(getattr(LLM, name)) for name in ("apredict", "predict")}


class LlamaIndexLLM(Described[Ask, str], LLMBridge):
    """An LLM that is called through LlamaIndex.

    Args:
        llm: an LLM of LlamaIndex, or what ``Settings.llm`` takes (a LangChain model, ``"local:..."``). None: ``Settings.llm``,
            looked up at every call, so that it may be set later.
        overlap: whether calls may overlap. None: only if the LLM has its own asynchronous methods, as one that computes in this
            process (llama.cpp, transformers) rarely survives overlapping calls.
        structured: whether to ask the server for the form of the reply, by a JSON schema, with ``response_format``. None: only if
            the LLM speaks the protocol of OpenAI; False: never.

    Raises:
        InvalidInput: ``llm`` is not an LLM.
    """

    _setting = "llm"
    _what = "LLM"
    _soft: LlamaIndexLLM | None = None

    def __init__(self, llm: Any = None, *, overlap: bool | None = None, structured: bool | None = None) -> None:
        if llm is not None and not isinstance(llm, LLM):
            llm = _resolve_llm(llm)
        super().__init__(llm, overlap=overlap)
        self._structured = structured

    def failing_softly(self) -> LlamaIndexLLM:
        """Return the same model, but with every exception except programming errors treated as a failure of the model.

        A model that computes in this process has no client library, and raises for instance a ``RuntimeError`` if it fails.
        """
        if self._soft is None:  # one copy for all evaluations, so that they share its calls and limits
            soft = self.__copy__()
            soft._is_bug = is_error_of_programming
            self._soft = soft._soft = soft
        return self._soft

    @property
    def llm(self) -> LLM:
        """The LLM that answers.

        Raises:
            ModelError: none was given, and ``Settings.llm`` is not set.
        """
        llm: LLM = self._model
        return llm

    @property
    def room(self) -> int:
        """The number of tokens in the context window that are left for a question, after those for its reply."""
        metadata = metadata_of(self.llm)
        output = metadata.num_output if metadata.num_output and metadata.num_output > 0 else DEFAULT_OUTPUT
        return metadata.context_window - output

    def _ask(self, model: Any, question: Ask, form: Attempts) -> Any:
        name, sent, settings = call_for(model, question, form.parameters())
        asked = partial(getattr(model, name), *sent, **settings)
        return run_blocking(asked) if name == "apredict" else asked()

    async def _ask_async(self, model: Any, question: Ask, form: Attempts) -> Any:
        name, sent, settings = call_for(model, question, form.parameters())
        if name == "predict":
            return await in_own_thread(partial(model.predict, **settings))
        return await getattr(model, name if name == "apredict" else f"a{name}")(*sent, **settings)

    def _read(self, answer: Any) -> Reply[str]:
        own = own_predict(self._model)
        if own is None:
            return read_answer(answer)
        if not isinstance(answer, str):
            raise InvalidInput(f"the {own} of an LLM must return a text, got {type(answer).__name__}")
        return Reply(answer)

    def _stated_name(self, model: Any) -> str:
        return metadata_of(model).model_name

    def _name(self, model: Any) -> str:
        name = self._stated_name(model)
        return type(model).__name__ if not name or name == "unknown" else name

    def _settings(self, model: Any) -> Mapping[str, Any] | None:
        settings = super()._settings(model)
        if settings is None or own_predict(model) is not None:
            return None  # it is unknown what an overridden predict does
        is_chat_model = metadata_of(model).is_chat_model
        found = {**settings, "is_chat_model": is_chat_model, "structured": self._asks_for_form(model)}
        if not is_chat_model:
            makers = (model.messages_to_prompt, model.completion_to_prompt)
            found["prompts"] = [getattr(maker, "__qualname__", maker) for maker in makers]
            if model.query_wrapper_prompt:
                found["wrapper"] = model.query_wrapper_prompt.get_template()
        return found

    def _has_async(self, model: Any) -> bool:
        """Whether the asynchronous methods do more than call the synchronous ones, as in ``CustomLLM``."""
        if not issubclass(type(model), CustomLLM) or own_predict(model) == "apredict":
            return True
        return overrides(type(model), CustomLLM, "achat" if model.metadata.is_chat_model else "acomplete")

    def _asks_for_form(self, llm: Any) -> bool:
        if own_predict(llm) is not None:
            return False  # it takes only a question
        return is_openai(llm) if self._structured is None else self._structured

    def _attempts(self, question: Ask) -> Attempts:
        """Return the forms of reply to try: only plain text if the user's template asks for a different form."""
        instructions = getattr(question.reply, "instructions", None)
        form = instructions() if instructions else ""
        is_described = bool(form) and any(form in message.content for message in question.messages)
        return (self._forms if is_described and self._asks_for_form(self._model) else PLAIN).attempts(question)


def _resolve_llm(llm: Any) -> LLM:
    try:
        return resolve_llm(llm)
    except AssertionError:
        kind = type(llm).__name__
    if callable(getattr(llm, "apredict", None)):
        found: LLM = llm  # it has all methods that LlamaIndex's evaluators use
        return found
    raise InvalidInput(
        f"LlamaIndexLLM takes an LLM of LlamaIndex, got {kind}: a model of ragmetrics_core needs no wrapper"
    )


def judge_of(llm: Any) -> Any:
    """Return the judge; an object that has the methods of the core's models is returned unchanged."""
    is_one = has_methods(llm, "generate", "agenerate") and not isinstance(llm, LLM)
    return llm if is_one else LlamaIndexLLM(llm)


def call_for(llm: Any, ask: Ask, parameters: dict[str, Any]) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    """Return the name of the method with which to ask an LLM, and its positional and keyword arguments. The method is the
    ``predict`` or ``apredict`` that the LLM's author has overridden, else ``chat`` or ``complete``. Only ``chat`` gets the
    ``parameters``.
    """
    own = own_predict(llm)
    if own is not None:
        return own, (), _prediction(ask)
    if metadata_of(llm).is_chat_model:
        return "chat", (_chat_messages(llm, ask.messages),), parameters
    return "complete", (_completion_prompt(llm, ask.messages),), {"formatted": True}


def own_predict(llm: Any) -> str | None:
    """Return the method with which the LLM's author has overridden LlamaIndex's ``apredict`` or ``predict``; None without one.
    An object that only has the methods of an LLM, such as a mock, has its own ``apredict``.
    """
    if not issubclass(type(llm), LLM):
        return "apredict"
    methods = (name for name in OWN if inspect.unwrap(getattr(type(llm), name)) is not OWN[name])
    return next(methods, None)


def metadata_of(llm: Any) -> LLMMetadata:
    """Return the metadata of an LLM; LlamaIndex's defaults if it has none."""
    found = getattr(llm, "metadata", None)
    return found if isinstance(found, LLMMetadata) else LLMMetadata()


def is_openai(llm: Any) -> bool:
    """Whether an LLM speaks OpenAI's chat protocol, with any server, and passes on the arguments of a call."""
    classes = {(cls.__module__, cls.__name__) for cls in type(llm).__mro__}
    return ("llama_index.llms.openai.base", "OpenAI") in classes and metadata_of(llm).is_chat_model


def _prediction(ask: Ask) -> dict[str, Any]:
    """Return the question as a template with its variables, so that a brace in the data does not become a variable."""
    texts = {f"message_{number}": message.content for number, message in enumerate(ask.messages, 1)}
    messages = [
        ChatMessage(role=MessageRole(message.role), content=f"{{{name}}}")
        for name, message in zip(texts, ask.messages, strict=True)
    ]
    return {"prompt": ChatPromptTemplate(message_templates=messages), **texts}


def _chat_messages(llm: LLM, messages: Sequence[Message]) -> list[ChatMessage]:
    """Return the messages of a question, with the LLM's own system prompt put before the text of the first system message. Both
    texts become one message, because many chat templates accept only one system message.
    """
    sent = [(message.role, message.content) for message in messages]
    if llm.system_prompt:
        if sent and sent[0][0] == "system":
            sent[0] = ("system", f"{llm.system_prompt}\n\n{sent[0][1]}")
        else:
            sent.insert(0, ("system", llm.system_prompt))
    return [ChatMessage(role=MessageRole(role), content=content) for role, content in sent]


def _completion_prompt(llm: LLM, messages: Sequence[Message]) -> str:
    """Return the messages of a question as one text for a completion model, formatted by the LLM's own function."""
    if len(messages) == 1 and not llm.system_prompt:
        assert llm.completion_to_prompt is not None
        prompt = llm.completion_to_prompt(messages[0].content)
    else:
        assert llm.messages_to_prompt is not None
        prompt = llm.messages_to_prompt(_chat_messages(llm, messages))
    return llm.query_wrapper_prompt.format(query_str=prompt) if llm.query_wrapper_prompt else prompt


def read_answer(answer: ChatResponse | CompletionResponse) -> Reply[str]:
    """Return the text, the token counts if the model reports them, and whether the model stopped at its token limit."""
    places: tuple[Any, ...] = (answer.additional_kwargs, answer.raw)
    if isinstance(answer, ChatResponse):
        text, places = answer.message.content, (answer.message.additional_kwargs, *places)
    else:
        text = answer.text
    return Reply(text or "", usage_of(*places), truncated=is_cut_off(finish_reason_of(*places)))


class LlamaIndexEmbeddings(Described[list[str], list[list[float]]], EmbeddingsBridge):
    """An embedding model that is called through LlamaIndex, so that its callbacks and caches take part.

    Args:
        embed_model: an embedding model of LlamaIndex, or what ``Settings.embed_model`` takes. None: ``Settings.embed_model``,
            looked up at every call.

    Raises:
        InvalidInput: ``embed_model`` is not an embedding model.
    """

    _setting = "embed_model"
    _what = "embedding model"

    def __init__(self, embed_model: Any = None) -> None:
        if embed_model is not None and not isinstance(embed_model, BaseEmbedding):
            embed_model = _resolve_embeddings(embed_model)
        super().__init__(embed_model, overlap=True)

    @property
    def embed_model(self) -> BaseEmbedding:
        """The model that embeds.

        Raises:
            ModelError: none was given, and ``Settings.embed_model`` is not set.
        """
        model: BaseEmbedding = self._model
        return model

    def _has_async(self, model: BaseEmbedding) -> bool:
        """Whether the asynchronous methods do more than call the synchronous ones, as in the base class."""
        names = ("_aget_text_embedding", "_aget_text_embeddings")
        return any(overrides(type(model), BaseEmbedding, name) for name in names)

    def _embed(self, model: BaseEmbedding, texts: list[str]) -> list[list[float]]:
        return model.get_text_embedding_batch(texts)

    async def _embed_async(self, model: BaseEmbedding, texts: list[str]) -> list[list[float]]:
        return await model.aget_text_embedding_batch(texts)

    def _read(self, answer: list[list[float]]) -> Reply[list[list[float]]]:
        return Reply(answer, Usage(calls=1))


def _resolve_embeddings(embed_model: Any) -> BaseEmbedding:
    try:
        return resolve_embed_model(embed_model)
    except (AssertionError, AttributeError):
        kind = type(embed_model).__name__
    raise InvalidInput(f"LlamaIndexEmbeddings takes an embedding model of LlamaIndex, got {kind}")


def scorer_of(embed_model: Any) -> Any:
    """Return the model that embeds or compares; an object that has the methods of the core's models is returned unchanged."""
    is_one = has_methods(embed_model, "embed", "aembed", "compare", "acompare")
    return embed_model if is_one and not isinstance(embed_model, BaseEmbedding) else LlamaIndexEmbeddings(embed_model)

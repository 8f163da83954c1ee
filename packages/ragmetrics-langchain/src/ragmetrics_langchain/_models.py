"""Wrap LangChain's LLMs and embedding models as models of the core, and choose the models of a metric.

Calls. An LLM is called through ``invoke`` and ``ainvoke``, as LangChain calls it, so it keeps its callbacks, tracing, cache, rate
limiter and retries. It gets the config of the current run in one of two ways: a ``MetricRunnable`` passes its config on
(``called_below``); otherwise LangChain finds the config in the context, which the core carries into its threads. Each call is
tagged as a judge's call. So a callback that evaluates live chains ignores it, and LangGraph does not stream it to the user of the
graph.

Forms of reply. Every provider asks for a schema in a different way, which its integration implements: ``with_structured_output``
binds the schema to the model and adds a parser. The core parses replies itself, so only the model with its bound arguments is
used. If an integration has no such method, the model is asked in plain text. All changes are made to the models inside ``bind``,
``with_retry`` and ``with_fallbacks``.

Identity. Chat and completion models state their parameters (``_identifying_params``, ``_llm_type``); LangChain itself
distinguishes models by these. They lack the address of the server, so it is added from the fields that contain one. Embedding
models state nothing, so their own fields are used. A model that states nothing, or states a value that is not JSON, has no
identity: its answers are never replayed in a later run. Secrets are left out, whether they are recognized by name or by value.

Event loops. Integrations share connections without saying so: langchain-openai keeps one asynchronous client per address in a
process, for all model objects. So all models with the same class and address share one home, the first loop in which one of them
was used.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import cache, partial
from typing import Any, Literal, TypeVar

from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel, BaseLanguageModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.utils import convert_to_messages
from langchain_core.runnables import Runnable, RunnableBinding, RunnableConfig, RunnableSequence, RunnableWithFallbacks
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.runnables.config import merge_configs

from ragmetrics_core import Ask, BadReply, InvalidInput, Metric, Models, Reply, Usage
from ragmetrics_core.adapters import (
    Attempts,
    Bridge,
    EmbeddingsBridge,
    FormsOfReply,
    HomeLoop,
    LLMBridge,
    asks_an_llm,
    declared_settings,
    finish_reason_of,
    is_cut_off,
    json_settings,
    secret_texts,
    strict_schema,
    usage_of,
    without_retries,
)

Q = TypeVar("Q")
A = TypeVar("A")

ADDRESS = re.compile(
    r"(?:^|_)(?:api_base|base_url|endpoint|endpoint_url|api_url|host|region|region_name|api_version|deployment|"
    r"deployment_name|project|location)$"
)
MODEL_NAMES = ("model_name", "model", "model_id", "deployment_name", "azure_deployment", "repo_id")


class Described(Bridge[Q, A]):
    """A wrapper around a model of LangChain."""

    _provider = "langchain"

    def _inner(self, model: Any) -> Any:
        return model_inside(model)

    def _name(self, model: Any) -> str:
        """Class and model name, such as ``ChatOpenAI 'gpt-4o-mini'``."""
        model = model_inside(model)
        names = (getattr(model, name, None) for name in MODEL_NAMES)
        name = next((name for name in names if isinstance(name, str) and name), None)
        return f"{type(model).__name__} {name!r}" if name else type(model).__name__

    def _secrets(self, model: Any) -> tuple[str, ...]:
        """Return the keys of the model, and bound values with names that keys have."""
        bound = secret_texts(model.kwargs) if isinstance(model, RunnableBinding) else ()
        return (*super()._secrets(model), *bound)

    def _settings(self, model: Any) -> Mapping[str, Any] | None:
        inner = model_inside(model)
        stated: Mapping[str, Any] = {}
        if isinstance(inner, BaseLanguageModel):
            stated = inner._identifying_params  # LangChain's name for everything that determines its answers
        elif isinstance(inner, Embeddings) and any(isinstance(getattr(inner, name, None), str) for name in MODEL_NAMES):
            settings = declared_settings(inner).items()
            stated = {name: value for name, value in settings if json_settings({name: value}) is not None}
        if not stated:
            return None
        kind = getattr(inner, "_llm_type", None)
        # a gateway may choose the model by a header
        headers = {
            name: value for name, value in held_by(inner) if name.endswith("headers") and isinstance(value, Mapping)
        }
        found = {"type": kind, "parameters": stated, "address": dict(addresses_of(inner)), **headers}
        if isinstance(model, RunnableBinding):
            found["bound"] = {"kwargs": model.kwargs, "configurable": model.config.get("configurable")}
        return found

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._name(self._given)})"


def model_inside(model: Any) -> Any:
    """Return the model inside ``bind`` and ``with_config``."""
    while isinstance(model, RunnableBinding):
        model = model.bound
    return model


def addresses_of(model: Any) -> tuple[tuple[str, str], ...]:
    """Return the fields of a model that contain the address of its server."""
    return tuple((name, value) for name, value in held_by(model) if ADDRESS.search(name) and isinstance(value, str))


def held_by(model: Any) -> tuple[tuple[str, Any], ...]:
    """Return a copy of a model's fields. The model may change them at the same time, on another thread."""
    return tuple(getattr(model, "__dict__", {}).items())


def home_of(model: Any) -> HomeLoop:
    """Return the home loop of a model's connections."""
    inner = model_inside(model)
    kind: Any = type(inner)
    return _shared_home(kind, addresses_of(inner))


@cache  # one small entry per key for the life of the process; the shared connections live as long
def _shared_home(kind: Hashable, addresses: Hashable) -> HomeLoop:  # noqa: ARG001  they are the keys of the cache
    return HomeLoop()


Model = Runnable[Any, Any]

MOST_FORMS = 64
"""The most cached models. A run has far fewer prompts, but a reply format may build its schema anew each time."""


class Shaped:
    """A cache of copies of models, each set up to reply in one form."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, str, str, int], tuple[Model, Any, Model]] = {}

    def model(self, model: Model, form: str, ask: Ask) -> Model:
        """Return the model that answers in a form: ``schema``, ``json`` or ``text``."""
        schema = ask.reply.schema
        if form == "text":
            return model
        key = (id(model), form, ask.prompt.name, id(schema))
        known = self._known.get(key)
        if known is None or known[0] is not model or known[1] is not schema:  # kept alive, so their ids stay unique
            if len(self._known) >= MOST_FORMS:
                self._known.clear()
            change = partial(_in_json, form=form, name=ask.prompt.name, schema=schema or {})
            known = self._known[key] = (model, schema, _change_models(model, change) or model)
        return known[2]


def drop_cache(model: Model) -> Model:
    """Return the same model without LangChain's cache."""
    return _change_models(model, lambda item: item.model_copy(update={"cache": False})) or model


def drop_retries(model: Model) -> Model:
    """Return the same model without the retries of its client. Models in ``with_fallbacks`` keep their retries; without them,
    one lost call would be enough to make another model answer.
    """
    if isinstance(model, RunnableBindingBase):
        inner = drop_retries(model.bound)
        return model if inner is model.bound else model.model_copy(update={"bound": inner})
    return without_retries(model) if isinstance(model, BaseLanguageModel) else model


def _change_models(model: Any, change: Callable[[Any], Model | None]) -> Model | None:
    """Apply a change to every model inside a model; None if one of them cannot be changed."""
    if isinstance(model, RunnableBindingBase):
        inner = _change_models(model.bound, change)
        return None if inner is None else model.model_copy(update={"bound": inner})
    if isinstance(model, RunnableWithFallbacks):
        first, *others = [_change_models(item, change) for item in (model.runnable, *model.fallbacks)]
        if first is None or None in others:
            return None
        return model.model_copy(update={"runnable": first, "fallbacks": others})
    return change(model) if isinstance(model, BaseLanguageModel) else None


def _in_json(model: Any, *, form: str, name: str, schema: Mapping[str, Any]) -> Model | None:
    if not isinstance(model, BaseChatModel):
        return None
    parameters = inspect.signature(model.with_structured_output).parameters
    settings: dict[str, Any] = {}
    if form == "json":
        if "method" not in parameters:
            return None
        settings["method"] = "json_mode"
    strict = strict_schema(schema) if schema else None
    if strict is not None and form == "schema" and "strict" in parameters:
        settings["strict"] = True
    title = "".join(sign if sign.isalnum() and sign.isascii() else "_" for sign in name)[:64] or "reply"
    shape = {"title": title, "description": "The reply.", **(strict or schema)}
    try:
        structured = model.with_structured_output(shape, **settings)
    except (NotImplementedError, ValueError):  # the integration has no such form
        return None
    first = structured.first if isinstance(structured, RunnableSequence) else None
    return first if isinstance(first, RunnableBindingBase | BaseChatModel) else None


_of_run: ContextVar[RunnableConfig | None] = ContextVar("ragmetrics_config_of_run", default=None)


@contextmanager
def called_below(config: RunnableConfig) -> Iterator[None]:
    """Give this config to each LLM of LangChain that is called in this block, so that its calls become children of a run. The LLM
    remains the same object, which runs of several metrics may share.
    """
    token = _of_run.set(config)
    try:
        yield
    finally:
        _of_run.reset(token)


TAGS = ["nostream", "ragmetrics"]
"""LangGraph does not stream the tokens of a model with the first tag. The second tag is for filtering traces and events."""


class LangChainLLM(Described[Ask, str], LLMBridge):
    """An LLM behind any LangChain chat or completion model.

    Its runs have the tag ``ragmetrics`` and the name of the prompt.

    Args:
        chat_model: a ``BaseChatModel``, a ``BaseLLM``, or one of these with ``bind``, ``with_config``, ``with_retry`` or
            ``with_fallbacks``.
        config: a LangChain config for every call: callbacks, tags, metadata.
        structured: the first form of reply to ask for: ``schema``, ``json`` (JSON without a schema) or ``text``. If the model or
            its server refuses a form, the next form is used from then on.

    Raises:
        InvalidInput: ``chat_model`` is not a LangChain model, or there is no such form.
    """

    def __init__(
        self,
        chat_model: Runnable[Any, Any],
        *,
        config: RunnableConfig | None = None,
        structured: Literal["schema", "json", "text"] = "schema",
    ) -> None:
        if not isinstance(chat_model, Runnable):
            raise InvalidInput(f"LangChainLLM takes a LangChain chat model, got {type(chat_model).__name__}")
        if structured not in ("schema", "json", "text"):
            raise InvalidInput(f"structured must be one of schema, json, text, got {structured!r}")
        super().__init__(chat_model, forms=FormsOfReply(structured), home=home_of(chat_model))
        self.config = config
        self._shaped = Shaped()

    @property
    def chat_model(self) -> Runnable[Any, Any]:
        """The model that answers."""
        model: Runnable[Any, Any] = self._ready(self._given)
        return model

    def with_config(self, config: RunnableConfig | None) -> LangChainLLM:
        """Return the same model, called with this config merged over the config of the model."""
        other = self.__copy__()
        other.config = merge_configs(self.config, config)
        return other

    def without_cache(self) -> LangChainLLM:
        """Return the same model without LangChain's cache, for ``evaluate(repeats=...)``: a cached answer is not an independent
        second answer.
        """
        return self._with_change(drop_cache)

    def without_retries(self) -> LangChainLLM:
        """Return the same model without the retries of its client. Retries of ``with_retry`` and of models in ``with_fallbacks``
        stay.
        """
        return self._with_change(drop_retries)

    def _ask(self, model: Any, question: Ask, form: Attempts) -> Any:
        try:
            return self._shaped.model(model, form.rung, question).invoke(*self._sent(question))
        except finish_errors() as error:
            return reply_in_error(error)

    async def _ask_async(self, model: Any, question: Ask, form: Attempts) -> Any:
        try:
            return await self._shaped.model(model, form.rung, question).ainvoke(*self._sent(question))
        except finish_errors() as error:
            return reply_in_error(error)

    def _sent(self, ask: Ask) -> tuple[list[BaseMessage], RunnableConfig]:
        own: RunnableConfig = {"tags": TAGS, "run_name": ask.prompt.name}
        messages = convert_to_messages([(message.role, message.content) for message in ask.messages])
        return messages, merge_configs(own, self.config, _of_run.get())

    def _read(self, answer: Any) -> Reply[str]:
        if isinstance(answer, Reply):
            return answer
        if isinstance(answer, str):
            return Reply(answer)
        if isinstance(answer, BaseMessage):
            return read_answer(answer, self._name(self._given))
        raise InvalidInput(
            f"LangChainLLM: {self._name(self._given)} answers with {type(answer).__name__} instead of a message: give the model "
            "itself, without an output parser and without structured output"
        )


class LangChainEmbeddings(Described[list[str], list[list[float]]], EmbeddingsBridge):
    """An embedding model behind any LangChain ``Embeddings``. The usage counts only calls, because LangChain reports no tokens.

    Args:
        embeddings: the model, such as ``OpenAIEmbeddings()`` of langchain-openai.

    Raises:
        InvalidInput: ``embeddings`` is not a LangChain embedding model.
    """

    def __init__(self, embeddings: Embeddings) -> None:
        if not isinstance(embeddings, Embeddings):
            raise InvalidInput(
                f"LangChainEmbeddings takes a LangChain embedding model, got {type(embeddings).__name__}"
            )
        super().__init__(embeddings, home=home_of(embeddings))

    @property
    def embeddings(self) -> Embeddings:
        """The model that embeds."""
        model: Embeddings = self._ready(self._given)
        return model

    def _embed(self, model: Embeddings, texts: list[str]) -> list[list[float]]:
        return model.embed_documents(texts)

    async def _embed_async(self, model: Embeddings, texts: list[str]) -> list[list[float]]:
        return await model.aembed_documents(texts)

    def _read(self, answer: Any) -> Reply[list[list[float]]]:
        return Reply(answer)


def models_of(metric: Metric, llm: Any, embeddings: Any) -> Models:
    """Return the models of a metric: the metric's own models, else the given ones.

    Raises:
        InvalidInput: an object given as a model is not one, or the metric asks an LLM and there is none.
    """
    own = metric.models
    llm = own.llm if own.llm is not None else llm
    embeddings = own.embeddings if own.embeddings is not None else embeddings
    if llm is None and asks_an_llm(metric):
        raise InvalidInput(
            f"{metric.name} asks an LLM, but none is set: give llm=..., a LangChain chat model such as ChatOpenAI(...), "
            "a LangChainLLM(...) with its own config, or any LLM of ragmetrics_core"
        )
    # a chat model's method `generate` means something else, so the model is wrapped before that method is called
    return replace(own, llm=wrapped(llm), embeddings=wrapped(embeddings)).each(
        lambda models: replace(models, llm=wrapped(models.llm))
    )


def wrapped(model: Any) -> Any:
    """Return a model of LangChain as a model of the core; any other object is returned unchanged."""
    if isinstance(model, Embeddings):
        return LangChainEmbeddings(model)
    return LangChainLLM(model) if isinstance(model, Runnable) else model


FILTERED = re.compile(
    "blocklist|content_filter(?:ed)?|error_toxic|guardrail_intervened|prohibited_content|recitation|safety|spii"
)
NO_ROOM = "model_context_window_exceeded"
"""Finish reasons of the providers for which there is no answer, in lower case."""


def read_answer(answer: BaseMessage, name: str) -> Reply[str]:
    """Read the answer of the model with this name.

    Raises:
        BadReply: the model refused to answer, a content filter stopped it, or its answer has no text.
    """
    counts = getattr(answer, "usage_metadata", None) or {}
    # LangChain marks an answer from its cache with a cost of 0
    usage = Usage(1, cached_calls=1) if counts.get("total_cost") == 0 else usage_of(counts)
    text, details = _text(answer), answer.response_metadata.get("incomplete_details")
    incomplete = {"finish_reason": details.get("reason")} if isinstance(details, Mapping) else {}
    reason = finish_reason_of(answer.response_metadata, incomplete)
    problem = _why_no_answer(name, text, reason, _refusal(answer))
    if problem is not None:
        problem.usage = usage  # a refusal costs tokens too
        raise problem
    return Reply(text, usage, truncated=is_cut_off(reason))


def _why_no_answer(model: str, text: str, reason: str | None, refusal: str) -> BadReply | None:
    """Return why a message is not an answer; None if it is one."""
    if refusal or reason == "refusal":
        return BadReply(f"{model} refuses to answer: {refusal or text or 'it gives no reason'}", refusal or text)
    if reason is not None and FILTERED.fullmatch(reason):
        return BadReply(f"a content filter stopped the answer of {model}", text)
    if reason == NO_ROOM:
        return BadReply(f"{model} has no room left for its answer: the question fills its context window", text)
    if not text and not is_cut_off(reason):
        return BadReply(f"{model} answered without any text (finish reason {reason!r})")
    return None


def _text(answer: BaseMessage) -> str:
    """Return the text of a message. If the provider uses a tool call for a schema, return the arguments of that call."""
    calls = [*getattr(answer, "tool_calls", ()), *getattr(answer, "invalid_tool_calls", ())]
    if not calls:
        return str(answer.text)
    said = calls[0]["args"]
    return said if isinstance(said, str) else json.dumps(said or {}, ensure_ascii=False)


def _refusal(answer: BaseMessage) -> str:
    """Return the text of a refusal, if the provider has a field for it."""
    blocks = answer.content if isinstance(answer.content, list) else []
    said = [block.get("refusal") for block in blocks if isinstance(block, Mapping) and block.get("type") == "refusal"]
    return str(answer.additional_kwargs.get("refusal") or "".join(filter(None, said)))


def finish_errors() -> tuple[type[Exception], ...]:
    """Return the openai package's exceptions for an unfinished answer in a schema. If the model uses the package, it is already
    imported.
    """
    openai = sys.modules.get("openai")
    names = ("LengthFinishReasonError", "ContentFilterFinishReasonError")
    return tuple(getattr(openai, name) for name in names if hasattr(openai, name))


def reply_in_error(error: Any) -> Reply[str] | AIMessage:
    """Return the answer that such an exception contains."""
    completion = getattr(error, "completion", None)
    if completion is None:
        return AIMessage("", response_metadata={"finish_reason": "content_filter"})
    return Reply(completion.choices[0].message.content or "", usage_of(completion), truncated=True)

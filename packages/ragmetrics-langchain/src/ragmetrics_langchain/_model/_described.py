"""What a LangChain model says about itself: its name for messages, its secrets, all that can change its answers, and its loop.

Strategy. Chat and completion models state their parameters (``_identifying_params``, ``_llm_type``); LangChain itself tells
models apart by these. The address of the server is missing there, so it is added from the fields that hold one. Embedding models
state nothing, so their own fields count. A model that states nothing, or anything that is no JSON value, has no identity: its
answers are never replayed in a later run. Secrets are left out, whether they are known by name or by value.

Integrations share connections without telling: langchain-openai keeps one asynchronous client per address in a process, whichever
model object asks. So all models of one class and one address have one home, the first loop in which one of them was used.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeVar

from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseLanguageModel
from langchain_core.runnables import RunnableBinding

from ragmetrics_core.adapters import Bridge, HomeLoop, declared_settings, json_settings, secret_texts, shared_home

Q = TypeVar("Q")
A = TypeVar("A")

ADDRESS = re.compile(
    r"(?:^|_)(?:api_base|base_url|endpoint|endpoint_url|api_url|host|region|region_name|api_version|deployment|"
    r"deployment_name|project|location)$"
)
MODEL_NAMES = ("model_name", "model", "model_id", "deployment_name", "azure_deployment", "repo_id")


class Described(Bridge[Q, A]):
    """A bridge to a model of LangChain."""

    _provider = "langchain"

    def _inner(self, model: Any) -> Any:
        return unbound(model)

    def _name(self, model: Any) -> str:
        """Class and model name, such as ``ChatOpenAI 'gpt-4o-mini'``."""
        model = unbound(model)
        names = (getattr(model, name, None) for name in MODEL_NAMES)
        name = next((name for name in names if isinstance(name, str) and name), None)
        return f"{type(model).__name__} {name!r}" if name else type(model).__name__

    def _secrets(self, model: Any) -> tuple[str, ...]:
        """Its keys, and what was bound to it under names such as a key has."""
        bound = secret_texts(model.kwargs) if isinstance(model, RunnableBinding) else ()
        return (*super()._secrets(model), *bound)

    def _settings(self, model: Any) -> Mapping[str, Any] | None:
        inner = unbound(model)
        stated = parameters_of(inner)
        if not stated:
            return None
        kind = getattr(inner, "_llm_type", None)
        found = {"type": kind, "parameters": stated, "address": dict(addresses_of(inner)), **headers_of(inner)}
        if isinstance(model, RunnableBinding):
            found["bound"] = {"kwargs": model.kwargs, "configurable": model.config.get("configurable")}
        return found

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._name(self._given)})"


def unbound(model: Any) -> Any:
    """The model inside ``bind`` and ``with_config``."""
    while isinstance(model, RunnableBinding):
        model = model.bound
    return model


def parameters_of(model: Any) -> Mapping[str, Any]:
    """What a model states about the causes of its answers."""
    if isinstance(model, BaseLanguageModel):
        return model._identifying_params  # LangChain's own name for what is asked here
    if isinstance(model, Embeddings) and any(isinstance(getattr(model, name, None), str) for name in MODEL_NAMES):
        settings = declared_settings(model)
        return {name: value for name, value in settings.items() if json_settings({name: value}) is not None}
    return {}


def addresses_of(model: Any) -> tuple[tuple[str, str], ...]:
    """The fields of a model that say where its server is."""
    return tuple((name, value) for name, value in own(model) if ADDRESS.search(name) and isinstance(value, str))


def headers_of(model: Any) -> dict[str, Mapping[str, Any]]:
    """The fields of a model with headers, by which a gateway may choose who answers."""
    return {name: value for name, value in own(model) if name.endswith("headers") and isinstance(value, Mapping)}


def own(model: Any) -> tuple[tuple[str, Any], ...]:
    """What a model holds now; it may note something about itself meanwhile, on another thread."""
    return tuple(getattr(model, "__dict__", {}).items())


def home_of(model: Any) -> HomeLoop:
    """The home of a model's connections."""
    kind: Any = type(unbound(model))
    return shared_home(kind, addresses_of(unbound(model)))

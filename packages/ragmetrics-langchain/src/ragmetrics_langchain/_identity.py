"""What a LangChain model says about itself: its name for messages, its secrets, and all that can change its answers.

Strategy. Chat and completion models state their parameters (``_identifying_params``, ``_llm_type``), which LangChain itself uses
to tell models apart. The address of the server is missing there, so it is added from the fields that hold one. Embedding models
state nothing, so their own fields count. A model that says nothing, or says what is no JSON value, has no identity: its answers
are never replayed in a later run. Secrets never take part, neither by name nor by value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseLanguageModel
from langchain_core.runnables import RunnableBinding

from ragmetrics_core.adapters import Explained, json_settings, secret_texts

__all__ = ["addresses_of", "explained", "identity_of", "name_of"]

ADDRESS = re.compile(
    r"(?:^|_)(?:api_base|base_url|endpoint|endpoint_url|api_url|host|region|region_name|api_version|deployment|"
    r"deployment_name|project|location)$"
)
MODEL_NAMES = ("model_name", "model", "model_id", "deployment_name", "azure_deployment", "repo_id")


def name_of(model: Any) -> str:
    """Class and model name, such as ``ChatOpenAI 'gpt-4o-mini'``."""
    model = _bound(model)
    names = (getattr(model, name, None) for name in MODEL_NAMES)
    name = next((name for name in names if isinstance(name, str) and name), None)
    return f"{type(model).__name__} {name!r}" if name else type(model).__name__


def identity_of(model: Any) -> dict[str, Any] | None:
    """Every setting that can change an answer, as JSON values without secrets; None for a model that does not state them."""
    if isinstance(model, RunnableBinding):
        inner = identity_of(model.bound)
        given = {"kwargs": model.kwargs, "configurable": model.config.get("configurable")}
        extra = json_settings(given, secrets_of(model))
        return None if inner is None or extra is None else {**inner, "bound": extra}
    stated = _stated(model)
    if not stated:
        return None
    given = {"parameters": stated, "address": dict(addresses_of(model)), **headers_of(model)}
    found = json_settings(given, secrets_of(model))
    if found is None:
        return None
    kind = getattr(model, "_llm_type", None)
    return {
        "provider": "langchain",
        "class": f"{type(model).__module__}.{type(model).__qualname__}",
        "type": kind,
        **found,
    }


def addresses_of(model: Any) -> tuple[tuple[str, str], ...]:
    """The fields of a model that say where its server is."""
    given = getattr(model, "__dict__", {})
    return tuple((name, value) for name, value in given.items() if ADDRESS.search(name) and isinstance(value, str))


def headers_of(model: Any) -> dict[str, Mapping[str, Any]]:
    """The fields of a model with headers, by which a gateway may choose who answers."""
    given = getattr(model, "__dict__", {})
    return {name: value for name, value in given.items() if name.endswith("headers") and isinstance(value, Mapping)}


def _stated(model: Any) -> Mapping[str, Any]:
    if isinstance(model, BaseLanguageModel):
        return model._identifying_params  # LangChain's own name for what is asked here
    if isinstance(model, Embeddings) and any(isinstance(getattr(model, name, None), str) for name in MODEL_NAMES):
        declared = getattr(type(model), "model_fields", {})
        fields = {name: getattr(model, name) for name, field in declared.items() if not field.exclude}
        return {name: value for name, value in fields.items() if json_settings({name: value}) is not None}
    return {}


def secrets_of(model: Any) -> tuple[str, ...]:
    """The texts of a model that must never be shown: its keys, and what stands below a name like that."""
    found = secret_texts(getattr(_bound(model), "__dict__", {}))
    return (*found, *secret_texts(model.kwargs)) if isinstance(model, RunnableBinding) else found


def explained(model: Any) -> Explained:
    """A block in which this model may fail."""
    return Explained(name_of(model), secrets_of(model))


def _bound(model: Any) -> Any:
    while isinstance(model, RunnableBinding):
        model = model.bound
    return model

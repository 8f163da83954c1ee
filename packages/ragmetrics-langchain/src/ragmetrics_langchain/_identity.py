"""What a LangChain model says about itself: its name for messages, its secrets, and all that can change its answers.

Strategy. Chat and completion models state their parameters (``_identifying_params``, ``_llm_type``), which LangChain itself uses
to tell models apart. The address of the server is missing there, so it is added from the fields that hold one. Embedding models
state nothing, so their own fields count. A model that says nothing, or says what is no JSON value, has no identity: its answers
are never replayed in a later run. Secrets never take part, neither by name nor by value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseLanguageModel
from langchain_core.runnables import RunnableBinding

from ._failures import MASKED, mask

__all__ = ["identity_of", "name_of", "secrets_of"]

WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
SECRET = ("key", "keys", "token", "secret", "secrets", "password", "authorization", "credential", "credentials")
ADDRESS = re.compile(
    r"(?:^|_)(?:api_base|base_url|endpoint|endpoint_url|api_url|host|region|region_name|api_version|deployment|"
    r"deployment_name|project|location)$"
)
MODEL_NAMES = ("model_name", "model", "model_id", "deployment_name", "azure_deployment", "repo_id")
UNSETTLED = object()
"""Stands for a value that is no JSON value."""


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
        extra = _plain({"kwargs": model.kwargs, "configurable": model.config.get("configurable")}, secrets_of(model))
        return None if inner is None or extra is UNSETTLED else {**inner, "bound": extra}
    stated = _stated(model)
    if not stated:
        return None
    fields = {name: value for name, value in vars(model).items() if ADDRESS.search(name) and isinstance(value, str)}
    found = _plain({"parameters": stated, "address": fields}, secrets_of(model))
    if found is UNSETTLED:
        return None
    kind = getattr(model, "_llm_type", None)
    return {
        "provider": "langchain",
        "class": f"{type(model).__module__}.{type(model).__qualname__}",
        "type": kind,
        **found,
    }


def _stated(model: Any) -> Mapping[str, Any]:
    if isinstance(model, BaseLanguageModel):
        return model._identifying_params  # LangChain's own name for what is asked here
    if isinstance(model, Embeddings) and any(isinstance(getattr(model, name, None), str) for name in MODEL_NAMES):
        declared = getattr(type(model), "model_fields", {})
        fields = {name: getattr(model, name) for name, field in declared.items() if not field.exclude}
        return {name: value for name, value in fields.items() if _plain(value, ()) is not UNSETTLED}
    return {}


def secrets_of(model: Any) -> tuple[str, ...]:
    """The texts of a model that must never be shown: its keys, and what stands below a name like that."""
    found = list(_secret_texts(getattr(_bound(model), "__dict__", {}), named=False))
    if isinstance(model, RunnableBinding):
        found += _secret_texts(model.kwargs, named=False)
    return tuple(dict.fromkeys(found))


def _secret_texts(value: Any, *, named: bool) -> Iterator[str]:
    if hasattr(value, "get_secret_value"):
        secret = value.get_secret_value()
        if isinstance(secret, str):
            yield secret
    elif isinstance(value, str):
        if named:
            yield value
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from _secret_texts(item, named=named or _is_secret(name))


def _plain(value: Any, secrets: tuple[str, ...]) -> Any:
    """The value as JSON values without secrets, or ``UNSETTLED``."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return mask(_without_credentials(value), secrets) if len(value) < 500 else value
    if isinstance(value, Mapping):
        found = {
            str(name): MASKED if _is_secret(name) and isinstance(item, str) else _plain(item, secrets)
            for name, item in value.items()
            if not hasattr(item, "get_secret_value")
        }
        return UNSETTLED if any(item is UNSETTLED for item in found.values()) else found
    if isinstance(value, list | tuple):
        items = [_plain(item, secrets) for item in value]
        return UNSETTLED if any(item is UNSETTLED for item in items) else items
    return UNSETTLED


def _without_credentials(text: str) -> str:
    """An address without user, password and query; any other text as it is."""
    if "://" not in text:
        return text
    parts = urlsplit(text)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _is_secret(name: object) -> bool:
    return any(word.lower().endswith(SECRET) for word in WORD.findall(str(name)))


def _bound(model: Any) -> Any:
    while isinstance(model, RunnableBinding):
        model = model.bound
    return model

"""What a model of LlamaIndex is: every setting that can change its replies, and no secret.

Strategy. The settings are the model's own pydantic fields. A model that names itself no further than "unknown", or that
holds a setting that is no JSON value (a callable, an object), cannot say what it is; its replies are then never replayed.
"""

from __future__ import annotations

from typing import Any

from ragmetrics_core.adapters import json_settings, secret_texts

__all__ = ["identity_of", "settings_of"]

OPERATIONAL = frozenset(
    {
        "batch_size",
        "callback_manager",
        "embed_batch_size",
        "embeddings_cache",
        "http_client",
        "async_http_client",
        "max_retries",
        "num_workers",
        "rate_limiter",
        "reuse_client",
        "show_progress",
        "timeout",
        "request_timeout",
        "verbose",
    }
)
"""Settings that decide how a model is called, not what it answers."""


def settings_of(model: Any) -> dict[str, Any]:
    """The fields of a model of LlamaIndex, which are its settings, without those that it excludes from its own record."""
    known = getattr(type(model), "model_fields", {})
    return {name: getattr(model, name, None) for name, field in known.items() if not field.exclude}


def identity_of(model: Any, name: str, **more: Any) -> dict[str, Any] | None:
    """The identity of a model with this name, as JSON values; None where the model cannot say what it is."""
    if not name or name == "unknown":
        return None
    settings = settings_of(model)
    secrets = secret_texts(settings)
    telling = {key: value for key, value in settings.items() if key not in OPERATIONAL}
    found = json_settings({"settings": telling, **more}, secrets)
    if found is None:
        return None
    cls = type(model)
    return {"provider": "llama_index", "class": f"{cls.__module__}.{cls.__qualname__}", "model": name, **found}

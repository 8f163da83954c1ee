"""What a model of LlamaIndex is: every setting that can change its replies, and no secret.

Strategy. The settings are the model's own pydantic fields. A model that names itself no further than "unknown", or that
holds a setting that is no JSON value (a callable, an object), cannot say what it is; its replies are then never replayed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._secrets import LOOKS_SECRET, is_secret, settings_of

__all__ = ["identity_of"]

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


class _NotJson(Exception):
    pass


def identity_of(model: Any, name: str, **more: Any) -> dict[str, Any] | None:
    """The identity of a model with this name, as JSON values; None where the model cannot say what it is."""
    if not name or name == "unknown":
        return None
    settings = {key: value for key, value in settings_of(model).items() if key not in OPERATIONAL}
    cls = type(model)
    try:
        return {
            "provider": "llama_index",
            "class": f"{cls.__module__}.{cls.__qualname__}",
            "model": name,
            "settings": _shown(settings),
            **_shown(more),
        }
    except _NotJson:
        return None


def _shown(value: Any) -> Any:
    if isinstance(value, Mapping):
        # numbers and switches are no secrets, whatever they are called
        return {
            str(key): _shown(item)
            for key, item in value.items()
            if not is_secret(key) or isinstance(item, int | float | None)
        }
    if isinstance(value, list | tuple):
        return [_shown(item) for item in value]
    if isinstance(value, str):
        return LOOKS_SECRET.sub("***", str(value))
    if value is None or isinstance(value, int | float):
        return value
    raise _NotJson

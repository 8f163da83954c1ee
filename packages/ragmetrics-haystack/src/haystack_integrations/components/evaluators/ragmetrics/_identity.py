"""What a component of Haystack is: every setting that can change what it answers, and no secret.

Strategy. Haystack's components keep the parameters of their constructor under the same names, which is how Haystack saves them.
So the parameters are the settings. ``to_dict`` would say the same, but it refuses a component whose key was given as a text. A
component that does not keep its parameters, or that has a setting which is no JSON value (a callable, an object), cannot say
what it is; its answers are then never replayed in another run.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from ragmetrics_core.adapters import Explained, json_settings, secret_texts

__all__ = ["explained", "identity_of", "name_of"]

OPERATIONAL = frozenset(
    {
        "async_http_client",
        "batch_size",
        "client",
        "http_client",
        "http_client_kwargs",
        "max_retries",
        "progress_bar",
        "streaming_callback",
        "timeout",
    }
)
"""Settings that decide how a component is called, not what it answers."""


def identity_of(model: Any) -> dict[str, Any] | None:
    """The settings of a component as JSON values; None where it cannot say them."""
    try:
        given = _settings(model)
    except AttributeError:
        return None
    settings = {name: value for name, value in given.items() if name not in OPERATIONAL}
    connection = given.get("http_client_kwargs")
    if isinstance(connection, Mapping) and connection.get("headers"):
        settings["http_client_headers"] = connection["headers"]
    shown = json_settings(settings, _secrets_of(model))
    cls = type(model)
    named = {"provider": "haystack", "class": f"{cls.__module__}.{cls.__qualname__}"}
    return None if shown is None else {**named, "settings": shown}


def name_of(model: Any) -> str:
    """The name to call a component by in messages: that of its model, where it has one."""
    name = getattr(model, "model", None)
    return name if isinstance(name, str) and name else type(model).__name__


def explained(model: Any, *, fatal: bool = False) -> Explained:
    """A block in which this component may fail."""
    return Explained(name_of(model), _secrets_of(model), fatal=fatal)


def _secrets_of(model: Any) -> tuple[str, ...]:
    return secret_texts(getattr(model, "__dict__", {}))


def _settings(model: Any) -> dict[str, Any]:
    parameters = list(inspect.signature(type(model).__init__).parameters.values())[1:]
    named = [item for item in parameters if item.kind not in (item.VAR_KEYWORD, item.VAR_POSITIONAL)]
    return {item.name: getattr(model, item.name) for item in named}

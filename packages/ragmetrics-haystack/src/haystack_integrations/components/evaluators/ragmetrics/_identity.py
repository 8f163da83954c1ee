"""What a component of Haystack is: every setting that can change what it answers, and no secret.

Strategy. Haystack's components keep the parameters of their constructor under the same names, which is how Haystack saves them.
So the parameters are the settings. ``to_dict`` would say the same, but it refuses a component whose key was given as a text. A
component that does not keep its parameters, or that has a setting which is no JSON value (a callable, an object), cannot say
what it is; its answers are then never replayed in another run.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping
from typing import Any

from haystack.utils.auth import Secret

__all__ = ["conceal", "identity_of", "name_of", "secrets_of"]

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

SECRET = re.compile(
    r"(?:^|_)(?:key|token|secret|password|authorization|credentials?|headers)(?:$|_(?!s))", re.IGNORECASE
)
LOOKS_SECRET = re.compile(
    r"(?:\b(?:sk|gsk|pk|key)-[\w*.-]{6,})|(?<=Bearer )\S+|[\w-]*\*{3,}[\w-]*|(?<=://)[^/\s@]+(?=@)"
)
SHORTEST = 8
"""Characters from which on a secret is looked for in texts: a shorter one is found in ordinary words too."""


class _NotJson(Exception):
    pass


def identity_of(model: Any) -> dict[str, Any] | None:
    """The settings of a component as JSON values; None where it cannot say them."""
    cls = type(model)
    try:
        settings = {name: _shown(value) for name, value in _settings(model).items() if name not in OPERATIONAL}
    except (_NotJson, AttributeError):
        return None
    return {"provider": "haystack", "class": f"{cls.__module__}.{cls.__qualname__}", "settings": settings}


def name_of(model: Any) -> str:
    """The name to call a component by in messages: that of its model, where it has one."""
    name = getattr(model, "model", None)
    return name if isinstance(name, str) and name else type(model).__name__


def secrets_of(model: Any) -> list[str]:
    """Every text that must not be shown."""
    found: list[str] = []
    for name, value in getattr(model, "__dict__", {}).items():
        if isinstance(value, Secret):
            found += _texts(_resolved(value))
        elif SECRET.search(name) or isinstance(value, Mapping):
            found += _secret_texts(value, named=bool(SECRET.search(name)))
    return [text for text in found if len(text) >= SHORTEST]


def conceal(text: str, secrets: Iterable[str]) -> str:
    """The text without the secrets and without anything shaped like a key."""
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, "***")
    return LOOKS_SECRET.sub("***", text)


def _settings(model: Any) -> dict[str, Any]:
    parameters = list(inspect.signature(type(model).__init__).parameters.values())[1:]
    named = [item for item in parameters if item.kind not in (item.VAR_KEYWORD, item.VAR_POSITIONAL)]
    values = {item.name: getattr(model, item.name) for item in named}
    return {name: value for name, value in values.items() if not isinstance(value, Secret)}


def _shown(value: Any) -> Any:
    if isinstance(value, Mapping):
        # numbers and switches are no secrets, whatever they are called
        return {
            str(name): _shown(item)
            for name, item in value.items()
            if isinstance(item, int | float | None) or not SECRET.search(str(name))
        }
    if isinstance(value, list | tuple):
        return [_shown(item) for item in value]
    if isinstance(value, str):
        return LOOKS_SECRET.sub("***", value)
    if value is None or isinstance(value, int | float):
        return value
    raise _NotJson


def _resolved(secret: Secret) -> Any:
    try:
        return secret.resolve_value()
    except ValueError:  # its environment variable is not set, so there is nothing to hide
        return None


def _texts(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else []


def _secret_texts(value: Any, *, named: bool) -> Iterable[str]:
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from _secret_texts(item, named=named or bool(SECRET.search(str(name))))
    elif named and isinstance(value, str):
        yield value

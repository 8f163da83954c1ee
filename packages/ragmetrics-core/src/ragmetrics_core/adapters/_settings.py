"""The settings of a model: its secrets, and all other settings as JSON values.

A framework knows the settings of a model. Which of them are secret is the same everywhere: those below a name such as
``api_key``, and those wrapped as a secret (pydantic's ``SecretStr``, Haystack's ``Secret``). A setting that is not a JSON value
(a callable, an object) may change the answers, so a model that has one has no identity.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from types import SimpleNamespace
from typing import Any

from .._support._secrets import conceal, is_secret, routing_digest
from .._values._plain import json_walk

OPENERS = ("get_secret_value", "resolve_value")
"""Methods of wrapped secrets that return the secret."""


HEADERS = re.compile(r"(?:^|_)headers$")
"""Names of settings with headers. A gateway may choose the model by them."""


NUMBERS: frozenset[type] = frozenset({int, bool, type(None)})
"""Types of values that are shown unchanged, as finite floats are."""


class _NoJson(Exception):
    pass


def json_settings(settings: Mapping[str, Any], secrets: Iterable[str] = ()) -> dict[str, Any] | None:
    """Return the settings as JSON values for an ``identity``; None if one of them is not a JSON value.

    Settings with a secret name are left out, so that another key is the same model, and so are wrapped secrets. Numbers and
    switches are not secret, whatever their names. Secrets inside of texts become ``***``. Headers that do not authorise are
    replaced by a digest.

    Args:
        settings: values by name, nested to any depth.
        secrets: texts that must never be shown, such as ``secret_texts(settings)``.
    """
    secret_values = tuple(secrets)
    try:
        return _json_items(settings, secret_values)
    except _NoJson:
        return None


def declared_settings(model: Any) -> dict[str, Any]:
    """Return the fields of a pydantic model by name, without those that it excludes when it is dumped; empty for any other
    object.
    """
    declared = getattr(type(model), "model_fields", {})
    return {name: getattr(model, name, None) for name, field in declared.items() if not field.exclude}


def name_of(model: Any) -> str:
    """Return the name of a model in messages: its attribute ``model``, else the name of its class."""
    name = getattr(model, "model", None)
    return name if isinstance(name, str) and name else type(model).__name__


def kind_of(given: Any) -> str:
    """Return the name of an unexpected object in messages: the name of a class, or the name of the object's class."""
    return given.__name__ if isinstance(given, type) else type(given).__name__


def secret_texts(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the texts among the settings that must never be shown: wrapped secrets, and texts under a secret name."""
    return tuple(dict.fromkeys(_secret_texts(settings, named=False)))


def _json_items(settings: Mapping[Any, Any], secrets: tuple[str, ...]) -> dict[str, Any]:
    def leaf(value: Any) -> Any:
        if isinstance(value, str):
            return conceal(value, secrets)
        if isinstance(value, int | float):
            return value
        raise _NoJson

    shown_value = json_walk(leaf, kept=NUMBERS, mapping=lambda inner: _json_items(inner, secrets))
    values = {
        str(name): shown_value(value)
        for name, value in settings.items()
        if not _is_wrapped(value) and (not is_secret(name) or isinstance(value, int | float | None))
    }
    for name, given in settings.items():
        if HEADERS.search(str(name)) and isinstance(given, Mapping):
            digest = routing_digest({str(key): value for key, value in given.items() if isinstance(value, str)})
            values |= {} if digest is None else {str(name): digest}
    return values


def _secret_texts(value: Any, *, named: bool) -> Iterator[str]:
    if _is_wrapped(value):
        yield from _secret_texts(_secret_in(value), named=True)
    elif isinstance(value, str):
        if named and value:
            yield value
    elif isinstance(value, Mapping):
        for name, item in tuple(value.items()):  # a copy, because the model may change in another thread
            yield from _secret_texts(item, named=named or is_secret(name))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _secret_texts(item, named=named)


def _is_wrapped(value: Any) -> bool:
    return not isinstance(value, type) and any(hasattr(value, name) for name in OPENERS)


def _secret_in(value: Any) -> Any:
    opener = next(getattr(value, name) for name in OPENERS if hasattr(value, name))
    try:
        return opener()
    except ValueError:  # the environment variable of the secret is not set, so there is nothing to hide
        return None


def blocking(model: Any, **methods: Any) -> Any:
    """Return a model of the core that can only block, so that each call gets a thread. Messages call it by the name of the given
    model.

    Args:
        model: a model of a framework.
        methods: the methods that the core may call: ``generate`` or ``embed``.
    """
    return SimpleNamespace(model=name_of(model), **methods)

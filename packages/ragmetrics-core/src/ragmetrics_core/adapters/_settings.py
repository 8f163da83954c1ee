"""The settings of a model: its secrets, and all the rest as JSON values.

Strategy. A framework knows which settings a model has; what is secret among them is the same everywhere: what stands below a name
such as ``api_key``, and what is wrapped as a secret (``SecretStr`` of pydantic, ``Secret`` of Haystack). A setting that is no JSON
value (a callable, an object) may change the answers, so a model that has one cannot say what it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from types import SimpleNamespace
from typing import Any

from .._support._secrets import conceal, is_secret, routing_digest
from .._values._plain import json_walk

OPENERS = ("get_secret_value", "resolve_value")
"""The methods of wrapped secrets that give the secret itself."""


HEADERS = re.compile(r"(?:^|_)headers$")
"""Names of settings with headers: a gateway may choose by them who answers."""


NUMBERS: frozenset[type] = frozenset({int, bool, type(None)})
"""Types of values that are shown as they are, as every finite float is."""


class _NoJson(Exception):
    pass


def json_settings(settings: Mapping[str, Any], secrets: Iterable[str] = ()) -> dict[str, Any] | None:
    """The settings as JSON values for an ``identity``; None where one of them is no JSON value.

    What is secret by its name is left out, so that another key is the same model, and so is what is wrapped as a secret;
    numbers and switches are no secrets, whatever they are called. What is secret in texts is ``***``. Of headers that do not
    authorise, a digest is given.

    Args:
        settings: values by name, nested as they like.
        secrets: texts that must never be shown, such as ``secret_texts(settings)``.
    """
    known = tuple(secrets)
    try:
        return _json_items(settings, known)
    except _NoJson:
        return None


def declared_settings(model: Any) -> dict[str, Any]:
    """The fields of a pydantic model, by name, without those that it excludes from its own record; none of any other object."""
    declared = getattr(type(model), "model_fields", {})
    return {name: getattr(model, name, None) for name, field in declared.items() if not field.exclude}


def name_of(model: Any) -> str:
    """What messages call a model: the name that it gives itself as ``model``, else the name of its class."""
    name = getattr(model, "model", None)
    return name if isinstance(name, str) and name else type(model).__name__


def kind_of(given: Any) -> str:
    """What messages call something that is not what was wanted: a class by its name, anything else by the name of its class."""
    return given.__name__ if isinstance(given, type) else type(given).__name__


def secret_texts(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """The texts among the settings that must never be shown: what is wrapped as a secret, and what stands below a secret name."""
    return tuple(dict.fromkeys(_secret_texts(settings, named=False)))


def _json_items(settings: Mapping[Any, Any], secrets: tuple[str, ...]) -> dict[str, Any]:
    def leaf(value: Any) -> Any:
        if isinstance(value, str):
            return conceal(value, secrets)
        if isinstance(value, int | float):
            return value
        raise _NoJson

    shown_value = json_walk(leaf, kept=NUMBERS, mapping=lambda inner: _json_items(inner, secrets))
    shown = {
        str(name): shown_value(value)
        for name, value in settings.items()
        if not _is_wrapped(value) and (not is_secret(name) or isinstance(value, int | float | None))
    }
    for name, given in settings.items():
        if HEADERS.search(str(name)) and isinstance(given, Mapping):
            digest = routing_digest({str(key): value for key, value in given.items() if isinstance(value, str)})
            shown |= {} if digest is None else {str(name): digest}
    return shown


def _secret_texts(value: Any, *, named: bool) -> Iterator[str]:
    if _is_wrapped(value):
        yield from _secret_texts(_secret_in(value), named=True)
    elif isinstance(value, str):
        if named and value:
            yield value
    elif isinstance(value, Mapping):
        for name, item in tuple(value.items()):  # a model may note something about itself meanwhile, on another thread
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
    except ValueError:  # its environment variable is not set, so there is nothing to hide
        return None


def blocking(model: Any, **methods: Any) -> Any:
    """A model of the core that can only block, so that each call gets a thread; messages call it as they call the given one.

    Args:
        model: a model of a framework.
        methods: what it can do for the core: ``generate``, or ``embed``.
    """
    return SimpleNamespace(model=name_of(model), **methods)

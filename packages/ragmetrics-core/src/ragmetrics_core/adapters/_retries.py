"""A framework's model without the retries of its own clients.

Strategy. Who makes many calls makes lost ones again itself, and paces them by what was lost. If the client of a model did so too,
six tries of three tries would be made, and most of the losses would never be seen. So such a driver is given a copy of the
model, whose clients are those of the original without their retries: they share its connections, and nothing of the user's object
changes. A model that cannot be told, as one with a client of an unknown kind, is left as it is.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from functools import cached_property
from typing import Any

MAKERS = ("_get_client", "_get_aclient")
"""Methods that make the clients of a model from its settings when they are needed, and keep them."""


def without_retries(model: Any) -> Any:
    """A copy of a model whose clients make no lost call again; the model itself where there is nothing to tell.

    Args:
        model: one of pydantic with a field ``max_retries``, or any other object with an attribute of this name, which holds its
            clients.
    """
    fields: Any = getattr(type(model), "model_fields", None)
    if fields is None:
        return _plain_without_retries(model)
    if "max_retries" not in fields or getattr(model, "max_retries", None) == 0:
        return model
    makes = _make_clients(model)
    held: Mapping[str, Any] = model.__dict__
    private: Mapping[str, Any] = getattr(model, "__pydantic_private__", None) or {}
    told = {name: _told(value) for name, value in (*held.items(), *private.items())}
    if not makes and not any(told.values()):
        return model
    # the setting is a part of what caches know a model by, so it changes only where it is looked at again
    changes = {"max_retries": 0} if makes else {}
    other = model.model_copy(update=changes)
    for name in [name for name in held if name not in fields and _is_made_of_settings(type(model), name)]:
        other.__dict__.pop(name, None)
    for place in (other.__dict__, other.__pydantic_private__ or {}):
        place.update({name: told[name] for name in place if told.get(name) is not None})
    return other


def _plain_without_retries(model: Any) -> Any:
    most = getattr(model, "max_retries", 0)
    clients = {name: value for name, value in getattr(model, "__dict__", {}).items() if _is_client(value)}
    if not clients or not (most is None or (isinstance(most, int) and most > 0)):
        return model
    other = copy.copy(model)
    other.__dict__.update({name: _told(client) for name, client in clients.items()}, max_retries=0)
    if hasattr(other, "raise_on_failure"):
        other.raise_on_failure = True  # a lost call that is only logged would not be made again
    return other


def _make_clients(model: object) -> bool:
    """Have the clients made that the model makes when it needs them, so that the copy shares them; whether it makes any."""
    makers = [getattr(type(model), name) for name in MAKERS if hasattr(type(model), name)]
    if getattr(model, "reuse_client", True):
        for make in makers:
            make(model)
    return bool(makers) or _is_made_of_settings(type(model), "_client")


def _is_made_of_settings(cls: type, name: str) -> bool:
    return any(isinstance(vars(base).get(name), cached_property) for base in cls.__mro__)


def _told(value: Any) -> Any:
    """A client, or a part of a client, that makes no lost call again; None for anything else."""
    if _is_client(value):
        return value.with_options(max_retries=0)
    held: Any = getattr(value, "__dict__", {}).get("_client")
    if _is_client(held):
        return type(value)(held.with_options(max_retries=0))
    return None


def _is_client(value: Any) -> bool:
    """Whether it is one of the clients that can be told (OpenAI, Anthropic, Groq and others have the same); no mock is one."""
    return hasattr(value, "with_options") and type(getattr(value, "max_retries", None)) is int

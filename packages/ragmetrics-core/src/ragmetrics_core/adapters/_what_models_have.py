"""Which methods a model has: some of its own, those of the core's models, or only some of these."""

from __future__ import annotations

import inspect
from types import SimpleNamespace
from typing import Any

from ._settings import name_of


def overrides(cls: type, base: type, name: str) -> bool:
    """Whether a class overrides a method of its base; what a framework wraps around both (``functools.wraps``) is ignored."""
    return inspect.unwrap(getattr(cls, name)) is not inspect.unwrap(getattr(base, name))


def has_methods(model: Any, *methods: str) -> bool:
    """Whether an object has one of these methods; a mock, which has every method, does not count."""
    found = any(hasattr(model, name) for name in methods)
    return found and not hasattr(model, "an_attribute_that_no_model_has")


def blocking(model: Any, **methods: Any) -> Any:
    """A model of the core that can only block, so that each call gets a thread; messages call it as they call the given one.

    Args:
        model: a model of a framework.
        methods: what it can do for the core: ``generate``, or ``embed``.
    """
    return SimpleNamespace(model=name_of(model), **methods)

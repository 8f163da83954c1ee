"""Makes one function of every kind of application: a function, its name, an address, an object of a framework."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._kernel._saved_settings import named_object
from .._values._errors import InvalidInput, Setting
from .._values._sample import Sample
from ._answers import readers_of
from ._http import asking

GIVEN = ("history", "id", "metadata", "retrieved_contexts", "retrieved_documents")
"""The fields that a function gets in addition to the question if it has parameters of these names."""


@dataclass(frozen=True)
class App:
    """An application that can be asked.

    Attributes:
        name: its name in messages and in the file of answers.
        ask: puts the question of a sample; what it returns may still have to be awaited or read.
        given: the fields of the sample that the application gets in addition to the question.
    """

    name: str
    ask: Callable[[Sample], Any]
    given: frozenset[str] = frozenset()


def app_of(app: Any, send: str | None, headers_from: str | None, timeout: float | None) -> App:
    """Return the application that a value stands for; ``send``, ``headers_from`` and ``timeout`` are for an address.

    Raises:
        InvalidInput: there is no such module or name, or the value cannot be asked.
    """
    name = app if isinstance(app, str) else ""
    if "://" in name:
        return App(name, asking(name, send or "user_input", headers_from, timeout))
    for setting, value in {"send": send, "headers_from": headers_from}.items():
        if value is not None:
            raise InvalidInput(Setting(setting, value), " only applies to the address of a server: leave it out")
    if isinstance(app, str):
        module, colon, function = app.rpartition(":")
        if module.endswith(".py"):
            right = f"{Path(module).with_suffix('').as_posix().replace('/', '.')}:{function}"
            raise InvalidInput(f"the application {app!r} names a file: write {right}, from the folder that it is in")
        if not colon or not all(part.isidentifier() for part in f"{module}.{function}".split(".")):
            forms = "module:function, or the address of a server, which starts with http:// or https://"
            raise InvalidInput(f"the application must be {forms}, got {app!r}")
        app = named_object(app, "application")
    if isinstance(app, type):
        raise InvalidInput(f"the application {name or app.__name__} is a class: give an object of it, or a function")
    kind = app if hasattr(app, "__qualname__") else type(app)
    name = name or f"{kind.__module__}:{kind.__qualname__}"
    for reader in readers_of(app):
        if (function := reader.function_of(app)) is not None:
            return App(name, lambda sample: function(sample.user_input))
    if not callable(app):
        why = "is no function, and no installed adapter of a framework knows it: write a function that asks it"
        raise InvalidInput(f"the application {name} {why}, and give that")
    return _function(name, app)


def _function(name: str, function: Callable[..., Any]) -> App:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some functions that are written in C have none
        return App(name, lambda sample: function(sample.user_input))
    given = frozenset(list(signature.parameters)[1:]).intersection(GIVEN)
    try:
        signature.bind("question", **dict.fromkeys(given))
    except TypeError as error:
        raise InvalidInput(
            f"the application {name} cannot be called with a question alone: {error} (further parameters may be "
            f"{', '.join(GIVEN)}, or have default values)"
        ) from None
    return App(
        name, lambda sample: function(sample.user_input, **{item: getattr(sample, item) for item in given}), given
    )

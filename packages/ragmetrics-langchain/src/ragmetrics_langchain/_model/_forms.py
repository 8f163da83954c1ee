"""A LangChain model that is asked for a form of reply, and one without its cache or its retries.

Strategy. Every provider has its own way to ask for a schema, and its integration knows it: ``with_structured_output`` binds the
schema to the model and adds a parser. The core parses replies itself, so only the model with what was bound to it is used. A
model whose integration has no such way is asked in plain text. All changes are made to the models inside ``bind``, ``with_retry``
and ``with_fallbacks``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from langchain_core.language_models import BaseChatModel, BaseLanguageModel
from langchain_core.runnables import Runnable, RunnableSequence, RunnableWithFallbacks
from langchain_core.runnables.base import RunnableBindingBase

from ragmetrics_core import Ask
from ragmetrics_core.adapters import strict_schema, without_retries

Model = Runnable[Any, Any]

MOST_FORMS = 64
"""Far more than one run has prompts; a bound, because a reply format may build its schema anew each time."""


class Shaped:
    """Models that are asked for a form of reply, each made once."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, str, str, int], tuple[Model, Any, Model]] = {}

    def model(self, model: Model, form: str, ask: Ask) -> Model:
        """The model that answers in a form: ``schema``, ``json`` or ``text``."""
        schema = ask.reply.schema
        if form == "text":
            return model
        key = (id(model), form, ask.prompt.name, id(schema))
        known = self._known.get(key)
        if known is None or known[0] is not model or known[1] is not schema:  # held, so that their ids stay their own
            if len(self._known) >= MOST_FORMS:
                self._known.clear()
            change = partial(_in_json, form=form, name=ask.prompt.name, schema=schema or {})
            known = self._known[key] = (model, schema, _changed(model, change) or model)
        return known[2]


def uncached(model: Model) -> Model:
    """The same model without LangChain's cache."""
    return _changed(model, lambda item: item.model_copy(update={"cache": False})) or model


def unretrying(model: Model) -> Model:
    """The same model without the retries of its client.

    Models in ``with_fallbacks`` keep theirs: otherwise another model would answer whatever one of them loses once.
    """
    if isinstance(model, RunnableBindingBase):
        inner = unretrying(model.bound)
        return model if inner is model.bound else model.model_copy(update={"bound": inner})
    return without_retries(model) if isinstance(model, BaseLanguageModel) else model


def _changed(model: Any, change: Callable[[Any], Model | None]) -> Model | None:
    """The model with a change to every model inside; None where one of them cannot be changed."""
    if isinstance(model, RunnableBindingBase):
        inner = _changed(model.bound, change)
        return None if inner is None else model.model_copy(update={"bound": inner})
    if isinstance(model, RunnableWithFallbacks):
        first, *others = [_changed(item, change) for item in (model.runnable, *model.fallbacks)]
        if first is None or None in others:
            return None
        return model.model_copy(update={"runnable": first, "fallbacks": others})
    return change(model) if isinstance(model, BaseLanguageModel) else None


def _in_json(model: Any, *, form: str, name: str, schema: Mapping[str, Any]) -> Model | None:
    if not isinstance(model, BaseChatModel):
        return None
    parameters = inspect.signature(model.with_structured_output).parameters
    settings: dict[str, Any] = {}
    if form == "json":
        if "method" not in parameters:
            return None
        settings["method"] = "json_mode"
    strict = strict_schema(schema) if schema else None
    if strict is not None and form == "schema" and "strict" in parameters:
        settings["strict"] = True
    title = "".join(sign if sign.isalnum() and sign.isascii() else "_" for sign in name)[:64] or "reply"
    shape = {"title": title, "description": "The reply.", **(strict or schema)}
    try:
        structured = model.with_structured_output(shape, **settings)
    except (NotImplementedError, ValueError):  # the integration has no such form
        return None
    first = structured.first if isinstance(structured, RunnableSequence) else None
    return first if isinstance(first, RunnableBindingBase | BaseChatModel) else None

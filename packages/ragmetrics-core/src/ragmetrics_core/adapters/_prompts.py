"""The prompts of a metric, and the metric with other ones."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cache
from typing import Any, TypeVar

from .._kernel._metric import Metric, prompts_of

M = TypeVar("M", bound=Metric)


def asks_an_llm(metric: Metric) -> bool:
    """Whether a metric has prompts, or a part of it that has no LLM. One that makes its prompts later fails only when it asks."""
    own = type(metric).calls != "none" and bool(prompts_of(metric))
    return own or any(part.llm is None and asks_an_llm(part) for part in metric.parts)


def with_prompts(metric: M, **changes: Any) -> M:
    """The metric with the same changes made to each of its prompts."""
    changed: dict[str, Any] = {name: replace(prompt, **changes) for name, prompt in prompts_of(metric).items()}
    return replace(metric, **changed)


def without_scale(metric: M) -> M:
    """The metric with any finite number for a score: only the author of a template or a parser knows its scale."""
    made: M = _class_without_scale(type(metric))(**{item.name: getattr(metric, item.name) for item in fields(metric)})
    return made


@cache
def _class_without_scale(cls: type[Metric]) -> Any:
    return type(cls.__name__, (cls,), {"scale": None, "__module__": cls.__module__})

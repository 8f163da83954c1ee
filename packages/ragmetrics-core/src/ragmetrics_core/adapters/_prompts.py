"""The prompts of a metric."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from .._kernel._metric import Metric
from .._kernel._prompt import Prompt

__all__ = ["prompts_of"]


def prompts_of(metric: Metric) -> dict[str, Prompt[Any]]:
    """The prompts among the settings of a metric, by the name of the field."""
    settings = {item.name: getattr(metric, item.name) for item in fields(metric)}
    return {name: value for name, value in settings.items() if isinstance(value, Prompt)}

"""How many tokens of context one call of a judge can hold, from the context window that its metadata states."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any, TypeVar

from ragmetrics_core import InvalidInput, Metric, Prompt
from ragmetrics_core.metrics.windows import tokens

from .._llm import LlamaIndexLLM
from ._templates import TemplatePrompt

__all__ = ["fit_window"]

M = TypeVar("M", bound=Metric)

PADDING = 200
"""Tokens for what frames the messages, and for the words of a second attempt."""

SHARE = 0.95
"""Of what is left: quotes and line breaks take more tokens inside JSON. The estimate of tokens is a high one already."""


def fit_window(metric: M, texts: Iterable[Any], judge: LlamaIndexLLM, *, fill: bool) -> M:
    """The metric with a window that the judge can read; as it is if it has no window.

    Args:
        metric: any metric; those that pack contexts have a setting ``window``, in tokens.
        texts: the inputs besides the contexts, which every call shows too.
        judge: tells how many tokens a question may take.
        fill: whether a smaller window grows to what the judge can read; else windows only shrink.

    Raises:
        InvalidInput: the context window leaves no tokens for contexts.
    """
    settings = {item.name: getattr(metric, item.name) for item in fields(metric)}
    if "window" not in settings:
        return metric
    room = judge.room
    overhead = PADDING + max((_size(item) for item in settings.values() if isinstance(item, Prompt)), default=0)
    # claims, reasons and earlier answers say the inputs once more
    overhead += 2 * sum(tokens(text) for text in texts if isinstance(text, str))
    window = int((room - overhead) * SHARE)
    if window < 1:
        raise InvalidInput(
            f"{metric.name}: the judge's context window leaves {room} tokens for a question, but the prompt and the inputs take "
            f"{overhead} without any context: give a judge with a longer context_window, or correct its metadata"
        )
    current = settings["window"]
    if current is not None and not fill:
        window = min(window, current)
    changes: dict[str, Any] = {"window": window}
    return replace(metric, **changes)


def _size(prompt: Prompt[Any]) -> int:
    return tokens(prompt.template.get_template() if isinstance(prompt, TemplatePrompt) else prompt.system)

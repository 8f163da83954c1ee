"""How many tokens of context fit into one call of a judge, by the context window in its metadata."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any, TypeVar

from ragmetrics_core import InvalidInput, Metric, Prompt
from ragmetrics_core.metrics.windows import tokens

from .._model._llm import LlamaIndexLLM
from ._templates import TemplatePrompt, prompts_of

__all__ = ["fit_window"]

M = TypeVar("M", bound=Metric)

PADDING = 200
"""Tokens for the frame of the messages and for the complaint of a second attempt."""

SHARE = 0.95
"""Of what is left, as quotes and line breaks take more tokens in JSON. No more is needed: tokens are estimated too high already."""


def fit_window(metric: M, texts: Iterable[Any], judge: LlamaIndexLLM, *, fill: bool) -> M:
    """The metric with a window that the judge can read; unchanged if it has no window.

    Args:
        metric: any metric; those that pack contexts have a setting ``window``, in tokens.
        texts: the inputs besides the contexts; every call shows them.
        judge: its ``room`` is the number of tokens that a question may take.
        fill: whether a smaller window grows to what the judge can read; otherwise windows only shrink.

    Raises:
        InvalidInput: the context window leaves no tokens for contexts.
    """
    if not any(item.name == "window" for item in fields(metric)):
        return metric
    room = judge.room
    overhead = PADDING + max(map(_size, prompts_of(metric).values()), default=0)
    # claims, reasons and earlier answers repeat the inputs
    overhead += 2 * sum(tokens(text) for text in texts if isinstance(text, str))
    window = int((room - overhead) * SHARE)
    if window < 1:
        raise InvalidInput(
            f"{metric.name}: the judge's context window leaves {room} tokens for a question, but the prompt and the inputs take "
            f"{overhead} without any context: give a judge with a longer context_window, or correct its metadata"
        )
    current: int | None = getattr(metric, "window", None)
    if current is not None and not fill:
        window = min(window, current)
    changes: dict[str, Any] = {"window": window}
    return replace(metric, **changes)


def _size(prompt: Prompt[Any]) -> int:
    return tokens(prompt.template.get_template() if isinstance(prompt, TemplatePrompt) else prompt.system)

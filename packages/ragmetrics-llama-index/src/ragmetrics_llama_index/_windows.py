"""Choose a window of contexts that fits the judge, from the size of the context window that LlamaIndex reports."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any

from ragmetrics_core import InvalidInput, Metric, Prompt
from ragmetrics_core.metrics.windows import tokens

PADDING = 200
"""The number of tokens reserved for the structure of the messages and for the complaint of a second attempt."""

SHARE = 0.95
"""The share of the remaining tokens that contexts may fill, because quotes and line breaks take more tokens in JSON. A larger
margin is not needed, because the estimates of tokens are high.
"""


def fit_window(metric: Metric, texts: Iterable[Any], room: int, *, fill: bool = False) -> Metric:
    """Return the metric with a window that fits its judge.

    Args:
        metric: a metric that packs contexts, and so has a setting ``window``.
        texts: the other inputs, which every call contains; values that are not text are left out.
        room: the number of tokens of the judge's context window that are left for a question.
        fill: whether a smaller window grows to the largest one that fits.

    Raises:
        InvalidInput: there are no tokens left for contexts.
    """
    settings = [getattr(metric, item.name) for item in fields(metric)]
    overhead = PADDING + max((tokens(item.system) for item in settings if isinstance(item, Prompt)), default=0)
    # claims, reasons and earlier answers repeat the inputs
    overhead += 2 * sum(tokens(text) for text in texts if isinstance(text, str))
    window = int((room - overhead) * SHARE)
    if window < 1:
        raise InvalidInput(
            f"{metric.name}: the judge's context window leaves {room} tokens for a question, but the prompt and the inputs take "
            f"{overhead} without any context: give a judge with a longer context_window, or correct its metadata"
        )
    current: int | None = getattr(metric, "window", None)
    changes: dict[str, Any] = {"window": window if current is None or fill else min(window, current)}
    return replace(metric, **changes)

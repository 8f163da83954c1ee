"""Checks of the settings of a callback: a wrong one is told where it is written, and not by a thread in the background."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ragmetrics_core import InvalidInput, Metric

from ._metric._runnable import MetricRunnable

__all__ = ["check_count", "check_function", "check_share", "runnables"]


def runnables(metrics: Any, llm: Any, embeddings: Any) -> list[MetricRunnable]:
    """The metrics, ready to judge.

    Raises:
        InvalidInput: it is no list of metrics, two have the same name, or one asks an LLM and there is none.
    """
    if isinstance(metrics, Metric):
        metrics = [metrics]
    if isinstance(metrics, str) or not isinstance(metrics, Iterable):
        raise InvalidInput(f"metrics must be a list of metrics such as [Faithfulness()], got {metrics!r}")
    found = [MetricRunnable(metric, llm=llm, embeddings=embeddings) for metric in metrics]
    names = [runnable.metric.name for runnable in found]
    for name in names:
        if names.count(name) > 1:
            raise InvalidInput(f"two metrics are named {name!r}: give one of them another name=...")
    return found


def check_share(name: str, value: Any) -> None:
    """Refuse what is no number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidInput(f"{name} is a share from 0 to 1, got {value!r}")


def check_count(name: str, value: Any) -> None:
    """Refuse what is no whole number from 1 up."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidInput(f"{name} must be a whole number, got {value!r}")
    if value < 1:
        raise InvalidInput(f"{name} must be at least 1, got {value!r}")


def check_function(name: str, value: Any, what: str) -> None:
    """Refuse what cannot be called."""
    if not callable(value):
        raise InvalidInput(f"{name} must be a function of {what}, got {value!r}")

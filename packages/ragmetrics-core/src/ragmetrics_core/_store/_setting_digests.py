"""The settings of a metric as digests: they tell which one differs between two runs, and give none away."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterable
from dataclasses import fields
from hashlib import blake2b
from typing import Any

from .._kernel._metric import Metric
from .._kernel._plain import plain
from .._kernel._prompt import Prompt

ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
"""The address of an object in memory, which differs from process to process."""


def digest_of(text: str) -> str:
    """A short digest of a text."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def setting_digests(metric: Metric) -> dict[str, str]:
    """By name a digest of each setting; of a prompt, of all the words that are sent."""
    found = {}
    for item in fields(metric):
        if item.compare:
            found[item.name] = digest_of(_setting(metric, getattr(metric, item.name)))
    for name, prompt in _prompts_beside(metric):
        found.setdefault(name, digest_of(prompt.system))
    return found


def _setting(metric: Metric, value: Any) -> str:
    if value and value == metric.parts:  # with the words of their prompts, as of any metric
        return json.dumps([[type(part).__name__, setting_digests(part)] for part in metric.parts])
    return value.system if isinstance(value, Prompt) else _as_text(value)


def _prompts_beside(metric: Metric) -> Iterable[tuple[str, Prompt[Any]]]:
    """Prompts that a metric of one's own takes from its module, by the name they have there; those of others are settings."""
    measure = getattr(type(metric), "measure", None)
    if inspect.isfunction(measure):
        for name in measure.__code__.co_names:
            prompt = measure.__globals__.get(name)
            if isinstance(prompt, Prompt):
                yield name, prompt


def _as_text(value: Any) -> str:
    try:
        return json.dumps(plain(value), sort_keys=True)
    except (TypeError, ValueError):  # JSON has no form for it, as for a function
        return ADDRESS.sub("", repr(value))

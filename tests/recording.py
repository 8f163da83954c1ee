"""What recorded exchanges are made of, and the texts that most of them share.

A recorded call is found by the exact text of its system and user messages, so the order of concurrent calls does not matter.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from ragmetrics_core import Example, Metric, Prompt

QUESTION = "Where and when was Ada Lovelace born?"
RESPONSE = "She was born in London in 1815 and died in 1852."
REFERENCE = "Ada Lovelace was born in London on 10 December 1815."
CONTEXTS = ["Ada Lovelace was born in London on 10 December 1815.", "Charles Babbage designed the Analytical Engine."]

VECTORS = {QUESTION: [1.0, 0.0], "When was she born?": [0.6, 0.8], "When did she die?": [0.0, 1.0]}
"""What the embedding model of the recording answers: the cosines of the second and the third with the first are 0.6 and 0."""

SAMPLE: Mapping[str, Any] = {
    "user_input": QUESTION,
    "response": RESPONSE,
    "retrieved_contexts": CONTEXTS,
    "reference": REFERENCE,
}


@dataclass(frozen=True)
class Call:
    """One call: the prompt's name, the data sent, the reply."""

    prompt: str
    data: Mapping[str, Any]
    reply: str


@dataclass(frozen=True)
class Exchange:
    """One metric on one sample: its calls, and the score they lead to."""

    metric: Metric
    calls: Sequence[Call]
    value: float
    sample: Mapping[str, Any] = field(default_factory=lambda: SAMPLE)
    passing: bool | None = None
    embedding_requests: int = 0

    @property
    def name(self) -> str:
        return self.metric.name

    def reply_to(self, system: str, user: str) -> str:
        """The recorded reply to these two messages."""
        prompts = {prompt.name: prompt for prompt in prompts_of(self.metric)}
        for call in self.calls:
            if prompts[call.prompt].system == system and json.dumps(call.data, ensure_ascii=False) == user:
                return call.reply
        raise AssertionError(f"{self.metric!r} was not expected to ask this:\n{system}\n---\n{user}")


def prompts_of(metric: Metric) -> list[Prompt[Any]]:
    """The prompts among the metric's settings, and among those of its jurors."""
    values = [getattr(metric, item.name) for item in fields(metric)]
    own = getattr(metric, "prompt", None)
    of_parts = [prompt for part in metric.parts for prompt in prompts_of(part)]
    return [*(value for value in [*values, own] if isinstance(value, Prompt)), *of_parts]


def versions_of(exchange: Exchange) -> dict[str, str]:
    """The versions of the prompts that are asked, by name, as a score records them."""
    versions = {prompt.name: prompt.version for prompt in prompts_of(exchange.metric)}
    return {call.prompt: versions[call.prompt] for call in exchange.calls}


def with_own_words(metric: Metric) -> Metric:
    """The metric with its prompts in other words, and an example whose keys no writer would put in this order."""
    example = Example(
        {"question": {"z": 1, "a": 2}, "data": "d", "b": 3}, {"why": "so", "c": "x", "aa": [{"y": 1, "b": 2}]}
    )
    own: dict[str, Any] = {
        item.name: prompt.replace(version="own", instructions=f"Own words: {prompt.instructions}", examples=(example,))
        for item in fields(metric)
        if isinstance(prompt := getattr(metric, item.name), Prompt)
    }
    if metric.parts:
        own["jurors"] = tuple(map(with_own_words, metric.parts))
    return replace(metric, **own)

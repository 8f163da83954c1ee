"""Records for the tests of sinks: one score in each state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ragmetrics_core import ModelError, Score, Usage

TRACE, SPAN = "ab" * 16, "cd" * 8


@dataclass(frozen=True)
class Judged:
    """A record with these scores, and this metadata of its sample."""

    scores: Mapping[str, Score]
    metadata: Mapping[str, Any] = field(default_factory=lambda: {"trace_id": TRACE, "span_id": SPAN})

    def to_dict(self) -> dict[str, Any]:
        return {"sample": {"metadata": dict(self.metadata)}}


SCORES = {
    "faithfulness": Score(0.5, passing=False, reason="1 of 2 claims", scale=(0, 1), usage=Usage(2, 30, 4)),
    "relevancy": Score.failed(ModelError("judge cannot be reached")),
    "recall": Score.unscored("no reference", label="no_reference"),
    "skipped": Score(None, reason="the run does not ask this metric about this row", label="not_asked"),
}

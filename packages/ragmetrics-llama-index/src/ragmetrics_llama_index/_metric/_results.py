"""How a ``Score`` becomes an ``EvaluationResult``.

* A score with a value is a valid result. ``passing`` is the metric's own verdict if it has one, else whether the value reaches
  a threshold; ``feedback`` is what the judge said, else one sentence about the evidence.
* A score without a value (nothing to score, an unreadable reply, a failing model) is an invalid result with the reason.
  LlamaIndex's retrying query engines write the feedback into the next question, so it never describes a failure.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llama_index.core.bridge.pydantic import Field
from llama_index.core.evaluation import EvaluationResult

from ragmetrics_core import Score
from ragmetrics_core.adapters import passes

NOT_JUDGED = "The answer could not be judged."
"""The feedback where the judge failed; ``invalid_reason`` says why."""


class MetricResult(EvaluationResult):
    """An ``EvaluationResult`` with the evidence for its score.

    Attributes:
        metric: name of the metric.
        scale: lowest and highest possible score; None where it has no bounds.
        details: the evidence, as plain JSON values: statements, verdicts, ratings, versions of the prompts.
        usage: how many calls and tokens the judge used.
        error: why the judge failed; None if it did not, even if there was nothing to score.
        label: what a result without a score stands for, such as ``no_retrieval``; None otherwise.
    """

    metric: str | None = None
    scale: tuple[float, float] | None = None
    details: dict[str, Any] = Field(default_factory=dict)
    usage: dict[str, int] = Field(default_factory=dict)
    error: str | None = None
    label: str | None = None


def result_of(
    score: Score, query: str | None, response: str | None, contexts: Sequence[str] | None, threshold: float | None
) -> MetricResult:
    """The result for a score, with what was judged.

    ``threshold`` is the lowest passing value, for metrics without a verdict of their own; None: the middle of the scale.
    """
    invalid = score.value is None
    return MetricResult(
        query=query,
        response=response,
        contexts=None if contexts is None else list(contexts),
        score=score.value,
        passing=passes(score, threshold),
        feedback=NOT_JUDGED if score.error else score.reason or score.explain(),
        invalid_result=invalid,
        invalid_reason=(score.error or score.reason or "there is no score") if invalid else None,
        pairwise_source=score.details.get("source") if "winner" in score.details else None,
        metric=score.metric,
        scale=score.scale,
        details=dict(score.details),
        usage=score.usage.to_dict(),
        error=score.error,
        label=score.label,
    )

"""What a ``RagEvaluationCallback`` hands out: one record per call of a chain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID

from ragmetrics_core import Sample, Score

__all__ = ["EvaluationRecord", "Status"]

Status = Literal["scored", "failed", "error", "incomplete", "interrupted", "skipped"]


@dataclass(frozen=True)
class EvaluationRecord:
    """One call of a chain, and what the metrics say about it.

    Attributes:
        run_id: LangChain's id of the root run.
        sample: what was recovered: question, response, contexts; a reference from the run's metadata.
        scores: by name of the metric; empty where none was asked. A metric that failed has a failed score.
        status: ``scored``: the metrics were asked; ``failed``: no metric came to a score, and not only for want of a field;
            ``error``: the chain itself failed; ``incomplete``: its answer is cut short, as a stream was closed or a task
            cancelled; ``interrupted``: a graph waits for somebody; ``skipped``: not in the share to judge.
        error: what the chain raised; what went wrong with the judging, where something did.
        name: name of the root run.
        tags, metadata: of the root run, from its config.
    """

    run_id: UUID
    sample: Sample
    scores: Mapping[str, Score] = field(default_factory=dict)
    status: Status = "scored"
    error: str | None = None
    name: str | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, ready for JSON as far as the metadata is."""
        return {
            "run_id": str(self.run_id),
            "name": self.name,
            "status": self.status,
            "error": self.error,
            "sample": self.sample.to_dict(),
            "scores": {name: score.to_dict() for name, score in self.scores.items()},
            "tags": list(self.tags),
            "metadata": dict(self.metadata),
        }

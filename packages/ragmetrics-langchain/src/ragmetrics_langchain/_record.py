"""What a ``RagEvaluationCallback`` hands out: one record per call of a chain."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Any, Literal
from uuid import UUID

from ragmetrics_core import InvalidInput, Metric, MissingInput, RagmetricsError, Sample, Score

from ._extractors import Reading
from ._live._recover import is_many
from ._metric._runnable import MetricRunnable, failed
from ._runs import FinishedRun

__all__ = ["EvaluationRecord", "Status", "record_of", "scored"]

logger = logging.getLogger("ragmetrics_langchain")

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
            cancelled; ``interrupted``: a graph waits for somebody; ``skipped``: not in the share to judge, or several questions
            in one run, as with ``map()``.
        error: what the chain raised; what went wrong with the judging, where something did.
        name: name of the root run.
        tags, metadata: of the root run, from its config.
        trace_id: the trace that the run belongs to, where that is known: it is the run's own, unless the run stands below another
            one, such as a traced function.
    """

    run_id: UUID
    sample: Sample
    scores: Mapping[str, Score] = field(default_factory=dict)
    status: Status = "scored"
    error: str | None = None
    name: str | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    trace_id: UUID | None = None

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


def record_of(run: FinishedRun, status: Status, reading: Reading) -> EvaluationRecord:
    """The record of a run that has finished, before anything is judged."""
    sample, problem = reading.sample()
    raised = None if run.error is None else f"{type(run.error).__name__}: {run.error}".removesuffix(": ")
    many = "one run stands for several questions and answers" if status == "skipped" and is_many(run) else None
    error = "; ".join(filter(None, [raised, problem, many])) or None
    trace = run.run_id if run.parent_run_id is None else None
    return EvaluationRecord(run.run_id, sample, {}, status, error, run.name, tuple(run.tags), dict(run.metadata), trace)


def scored(
    metrics: list[MetricRunnable], record: EvaluationRecord, outcomes: Mapping[str, Future[Score]]
) -> EvaluationRecord:
    """The record with its scores; a failed one for whatever goes wrong, as nobody stands here to catch it."""
    known = {runnable.metric.name: runnable.metric for runnable in metrics}
    scores = {name: _score(known[name], outcome) for name, outcome in outcomes.items()}
    failures = {name: score.error for name, score in scores.items() if score.error is not None}
    told = [record.error, *(f"{name}: {error}" for name, error in failures.items())]
    # where nothing but fields are missing, the judges may be well
    is_dead = any(not isinstance(outcomes[name].exception(), MissingInput | InvalidInput) for name in failures)
    status: Status = "failed" if metrics and len(failures) == len(scores) and (is_dead or not scores) else "scored"
    return replace(record, scores=scores, error="; ".join(filter(None, told)) or None, status=status)


def _score(metric: Metric, outcome: Future[Score]) -> Score:
    error = outcome.exception()
    if error is None:
        return outcome.result()
    if isinstance(error, RagmetricsError):
        return failed(metric, error)
    logger.error("%s cannot be judged", metric.name, exc_info=error)
    return failed(metric, f"{type(error).__name__}: {error}")

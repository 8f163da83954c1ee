"""What a ``RagEvaluationCallback`` hands out, one record per call of a chain, and how it comes to be.

Strategy. The built-in extractors read the run at once, because the caller may change the messages afterwards. An extractor of the
user's runs in the background, and may raise or return anything. If its result cannot be used, the field stays empty, and the
record says what it returned and what it should return.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal
from uuid import UUID

from langchain_core.messages import BaseMessage

from ragmetrics_core import InvalidInput, Metric, MissingInput, RagmetricsError, Sample, Score
from ragmetrics_core.adapters import settled

from .._metric._runnable import MetricRunnable, failed
from .._values import VALUES
from ._recover import Extractor, answer_of, contexts_of, is_many, question_of
from ._tree import FinishedRun

__all__ = ["Call", "EvaluationRecord", "Status"]

logger = logging.getLogger("ragmetrics_langchain")

Status = Literal["scored", "failed", "error", "incomplete", "interrupted", "skipped"]

FROM_METADATA = frozenset({*VALUES.references, *VALUES.expected})
BUILT_IN: Mapping[str, Extractor] = {"question": question_of, "answer": answer_of, "contexts": contexts_of}


@dataclass(frozen=True)
class EvaluationRecord:
    """One call of a chain, and what the metrics say about it.

    Attributes:
        run_id: LangChain's id of the root run.
        sample: what was recovered: question, response, contexts; a reference from the run's metadata.
        scores: by name of the metric; empty where none was asked. A metric that failed has a failed score.
        status: ``scored``: the metrics were asked; ``failed``: no metric came to a score, and not only because a field is
            missing; ``error``: the chain itself failed; ``incomplete``: its answer is cut short, because a stream was closed or a
            task cancelled; ``interrupted``: a graph waits for somebody; ``skipped``: not in the share to judge, or several
            questions in one run, as with ``map()``.
        error: what the chain raised, and what went wrong with the judging.
        name: name of the root run.
        tags, metadata: of the root run, from its config.
        trace_id: the trace that the run belongs to, if that is known: the run's own, unless it stands below another run, such as
            a traced function.
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


class Call:
    """A run that has finished, on its way to its record.

    Args:
        run: the run.
        status: what the record is to say of it.
        extractors: what finds question, answer and contexts in it; those of the user's are left to ``complete``.
        metrics: what to judge it by.
        score: scores a sample by one of them.
    """

    def __init__(
        self,
        run: FinishedRun,
        status: Status,
        extractors: Mapping[str, Extractor],
        metrics: Sequence[MetricRunnable],
        score: Callable[[MetricRunnable, Sample], Score],
    ) -> None:
        self.status: Status = status
        self._run = run
        self._metrics = metrics
        self._score = score
        self._record: EvaluationRecord | None = None
        metadata = {name: value for name, value in run.metadata.items() if name not in FROM_METADATA}
        references, self._problems = VALUES.references_in(run.metadata)
        example = run.metadata.get("example_id")
        self._known = Sample(metadata=metadata, id=None if example is None else str(example), **references)
        self._fields: dict[str, Any] = {}
        for name, extractor in extractors.items():
            if extractor is BUILT_IN[name]:
                self._read(name, extractor)
        self._missing = {name: item for name, item in extractors.items() if item is not BUILT_IN[name]}

    @property
    def is_complete(self) -> bool:
        """Whether every function of the user's has returned."""
        return not self._missing

    def complete(self) -> None:
        """Call the functions of the user's that have not been called."""
        for name in list(self._missing):
            self._read(name, self._missing[name])
            del self._missing[name]

    def _read(self, name: str, extractor: Extractor) -> None:
        outcome = settled(lambda: _field(name, extractor(self._run)))
        error = outcome.exception()
        if error is None:
            self._fields.update(outcome.result())
        else:
            told = str(error) if isinstance(error, Unusable) else f"raised {type(error).__name__}: {error}"
            self._problems.append(f"the extractor of the {name} {told}")

    def record(self) -> EvaluationRecord:
        """The record before anything is judged, as far as the run has been read."""
        if self._record is not None:
            return self._record
        run = self._run
        raised = None if run.error is None else f"{type(run.error).__name__}: {run.error}".removesuffix(": ")
        late = [f"the extractor of the {name} did not return in time" for name in list(self._missing)[:1]]
        many = "one run stands for several questions and answers" if self.status == "skipped" and is_many(run) else None
        record = EvaluationRecord(
            run.run_id,
            self._known.updated(self._fields),
            status=self.status,
            error=_together(raised, *self._problems, *late, many),
            name=run.name,
            tags=tuple(run.tags),
            metadata=dict(run.metadata),
            trace_id=run.run_id if run.parent_run_id is None else None,
        )
        self._record = record if self.is_complete else None
        return record

    def judgements(self) -> dict[str, Callable[[], Score]]:
        """What each metric is to do."""
        sample = self.record().sample
        return {metric.metric.name: partial(self._score, metric, sample) for metric in self._metrics}

    def judged(self, outcomes: Mapping[str, Future[Score]]) -> EvaluationRecord:
        """The record with its scores. Whatever goes wrong is a failed score, because nobody is there to catch it."""
        record = self.record()
        known = {runnable.metric.name: runnable.metric for runnable in self._metrics}
        scores = {name: _outcome(known[name], outcome) for name, outcome in outcomes.items()}
        failures = {name: score.error for name, score in scores.items() if score.error is not None}
        told = _together(record.error, *(f"{name}: {error}" for name, error in failures.items()))
        # if only fields are missing, nothing is wrong with the judges
        is_dead = any(not isinstance(outcomes[name].exception(), MissingInput | InvalidInput) for name in failures)
        has_failed = bool(known) and len(failures) == len(scores) and (is_dead or not scores)
        return replace(record, scores=scores, error=told, status="failed" if has_failed else "scored")


def _together(*problems: str | None) -> str | None:
    return "; ".join(filter(None, problems)) or None


def _outcome(metric: Metric, outcome: Future[Score]) -> Score:
    error = outcome.exception()
    if error is None:
        return outcome.result()
    if isinstance(error, RagmetricsError):
        return failed(metric, error)
    logger.error("%s cannot be judged", metric.name, exc_info=error)
    return failed(metric, f"{type(error).__name__}: {error}")


class Unusable(Exception):
    """What an extractor returned cannot be used, and what it should return."""


def _field(name: str, found: Any) -> dict[str, Any]:
    """What an extractor returned, as a field of the sample."""
    if name == "contexts":
        contexts = VALUES.contexts_in(found)
        if contexts is None and found is not None and not isinstance(found, str):
            raise Unusable(f"returned {type(found).__name__}: return texts, documents, a list of them or None")
        return {} if contexts is None else VALUES.with_contexts(contexts)
    if found is not None and not isinstance(found, str | BaseMessage):
        raise Unusable(f"returned {type(found).__name__}: return a text, a message or None")
    if name == "question":
        return {"user_input": VALUES.text_of(found)}
    return {"response": str(found.text) if isinstance(found, BaseMessage) else found}  # blank is not missing

"""The evaluation of one query: the judges by name, what each gets, and what they said."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import partial
from typing import Any

from llama_index.core.base.response.schema import Response
from llama_index.core.evaluation import BaseEvaluator, EvaluationResult
from llama_index.core.schema import MetadataMode

from ragmetrics_core import InvalidInput, Metric, RagmetricsError
from ragmetrics_core.adapters import judging

from .._data._responses import contexts_of
from .._metric._evaluator import MetricEvaluator
from .._metric._results import MetricResult

ARGUMENTS = frozenset({"query", "response", "contexts", "user_input", "retrieved_contexts"})
REFERENCES = frozenset({"reference", "second_response"})
Evaluators = Mapping[str, BaseEvaluator] | Iterable[Metric | BaseEvaluator]


@dataclass(frozen=True)
class QueryEvaluation:
    """One query and what the judges said.

    Attributes:
        query: the question.
        response: the answer.
        contexts: the texts of its source nodes.
        results: the results by the name of the metric; where a judge failed, an invalid one with the reason.
        errors: other exceptions by the name of the metric: those that are no failure of a model.
        tags: the instrument tags of the query, such as an identifier of the example.
        span_id: the span of the query, as tracing tools know it.
        timestamp: when the query had ended, with its time zone (UTC).
    """

    query: str
    response: str
    contexts: list[str]
    results: Mapping[str, EvaluationResult] = field(default_factory=dict)
    errors: Mapping[str, BaseException] = field(default_factory=dict)
    tags: Mapping[str, Any] = field(default_factory=dict)
    span_id: str | None = None
    timestamp: datetime = field(default_factory=partial(datetime.now, timezone.utc), compare=False)


@dataclass(frozen=True)
class Asked:
    """An answered query that the evaluators are to judge."""

    evaluators: Mapping[str, BaseEvaluator]
    mode: MetadataMode
    query: str
    answer: Response
    tags: Mapping[str, Any]
    span_id: str | None
    timestamp: datetime = field(default_factory=partial(datetime.now, timezone.utc))

    is_complete = True

    def complete(self) -> None:
        """Nothing to do: everything is known from the beginning."""

    def record(self) -> QueryEvaluation:
        """The evaluation without results yet."""
        return self.judged({})

    def judgements(self) -> dict[str, Callable[[], EvaluationResult]]:
        """The work of each evaluator, by name."""
        return {name: partial(self._judge, evaluator) for name, evaluator in self.evaluators.items()}

    def _judge(self, evaluator: BaseEvaluator) -> EvaluationResult:
        inputs = {key: value for key, value in self.tags.items() if key in _known(evaluator)}
        with judging():
            return evaluator.evaluate_response(query=self.query, response=self.answer, **inputs)

    def judged(self, outcomes: Mapping[str, Future[EvaluationResult]]) -> QueryEvaluation:
        """The evaluation with everything that the judges said."""
        contexts = contexts_of(self.answer.source_nodes, self.mode)
        results: dict[str, EvaluationResult] = {}
        errors: dict[str, BaseException] = {}
        for name, outcome in outcomes.items():
            problem = outcome.exception()
            if problem is None:
                results[name] = outcome.result()
            elif isinstance(problem, RagmetricsError):
                results[name] = self._failed(problem, contexts)
            else:
                errors[name] = problem
        return QueryEvaluation(
            self.query, self.answer.response or "", contexts, results, errors, self.tags, self.span_id, self.timestamp
        )

    def _failed(self, problem: RagmetricsError, contexts: list[str]) -> EvaluationResult:
        """An invalid result, whether a judge raised its failure or took too long."""
        return EvaluationResult(
            query=self.query,
            response=self.answer.response or "",
            contexts=contexts,
            invalid_result=True,
            invalid_reason=f"{type(problem).__name__}: {problem}",
        )


def problem_of(result: EvaluationResult) -> str | None:
    """Why a judgement failed; None if it did not, even if there was nothing to judge."""
    if isinstance(result, MetricResult) and result.error is None:
        return None
    return (result.invalid_reason or "there is no score") if result.invalid_result else None


def named(metrics: Evaluators, llm: Any, embed_model: Any, mode: MetadataMode) -> dict[str, BaseEvaluator]:
    """The evaluators by name; those made of metrics record the failures of their models.

    ``InvalidInput`` if there is none, an item is neither a metric nor an evaluator, or two have the same name.
    """
    if isinstance(metrics, Metric | BaseEvaluator):
        metrics = [metrics]
    given: Any = metrics
    pairs = given.items() if isinstance(given, Mapping) else ((_name(item), item) for item in given)
    found: dict[str, BaseEvaluator] = {}
    for name, item in pairs:
        if name in found:
            raise InvalidInput(
                f"QueryEvaluationHandler: two metrics are called {name!r}: give one of them another name=..."
            )
        if isinstance(item, Metric):
            item = MetricEvaluator(  # noqa: PLW2901
                item, llm=llm, embed_model=embed_model, on_error="record", metadata_mode=mode
            )
        if not isinstance(item, BaseEvaluator):
            raise InvalidInput(
                f"QueryEvaluationHandler takes metrics and evaluators, got {getattr(item, '__name__', type(item).__name__)}"
            )
        found[name] = item
    if not found:
        raise InvalidInput("QueryEvaluationHandler needs at least one metric")
    return found


def _known(evaluator: BaseEvaluator) -> frozenset[str]:
    """The tags that an evaluator takes as inputs; all others belong to the application."""
    inputs = evaluator.metric.inputs if isinstance(evaluator, MetricEvaluator) else REFERENCES
    return frozenset(inputs) - ARGUMENTS


def _name(item: Any) -> str:
    metric = getattr(item, "metric", item)
    return metric.name if isinstance(metric, Metric) else type(item).__name__

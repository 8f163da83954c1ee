"""Scorers for ``mlflow.genai.evaluate``.

MLflow calls a scorer for one row, in a thread, and takes a list of feedbacks from it. So one scorer judges a row by all metrics: it
submits them to one event loop, which serves the rows of all threads, and waits. Metrics of a row, and rows that are judged at the
same time, share equal calls and what was learnt about the servers.
"""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Callable, Coroutine, Iterable, Mapping
from concurrent.futures import Future
from typing import Any

import mlflow
from mlflow.entities import AssessmentError, AssessmentSource, AssessmentSourceType, Feedback
from mlflow.genai.scorers import Scorer
from mlflow.tracing.constant import AssessmentMetadataKey
from pydantic import PrivateAttr

from ragmetrics_core import InvalidInput, Metric, Models, RagmetricsError, Sample, Score, arun
from ragmetrics_core.adapters import (
    LiveJudging,
    asks_an_llm,
    cost_of,
    failed_score,
    judging,
    row_digest,
    score_of_outcome,
    with_models,
)

from ._samples import sample_of

MOST_ROWS = 1_000_000
"""The number of rows that may wait; MLflow has no more than one for each of its threads."""

POOL = "MLFLOW_SQLALCHEMYSTORE_POOL_SIZE", "MLFLOW_SQLALCHEMYSTORE_MAX_OVERFLOW"
WORKERS = "MLFLOW_GENAI_EVAL_MAX_WORKERS"

ENOUGH_CONNECTIONS = 200
"""The number of connections with which the store of ten rows at a time did not stall on a busy machine; with 40 it did."""

FEW_WORKERS = 4
"""The number of rows at a time for which the default pool is enough."""


class RagmetricsScorer(Scorer):  # type: ignore[misc]  # MLflow is absent from most environments
    """A scorer for ``mlflow.genai.evaluate`` that judges a row by all its metrics; ``scorers`` and ``scorer`` make it."""

    _metrics: dict[str, tuple[Metric, Models]] = PrivateAttr()
    _live: LiveJudging[Score] = PrivateAttr()
    _has_warned: bool = PrivateAttr(default=False)

    def __init__(self, name: str, metrics: Mapping[str, tuple[Metric, Models]], timeout: float | None) -> None:
        super().__init__(
            name=name, timeout=0
        )  # a metric that is too slow fails alone, and the row keeps its other scores
        self._metrics = dict(metrics)
        self._live = LiveJudging(
            logging.getLogger("ragmetrics.mlflow"),
            workers=1,
            max_pending=MOST_ROWS,
            problem_of=lambda score: score.error,
            timeout=timeout,
        )

    @property
    def counts(self) -> dict[str, int]:
        """The numbers of judgements so far: ``scored``, ``failed``, ``missing`` (a field of the row) and ``timed_out``."""
        return {name: self._live.counts[name] for name in ("scored", "failed", "missing", "timed_out")}

    def __call__(  # pyright: ignore[reportIncompatibleMethodOverride]  # MLflow passes what the signature names
        self, *, inputs: Any = None, outputs: Any = None, expectations: Any = None, trace: Any = None
    ) -> list[Feedback]:
        """Judge a row by all metrics, and return a feedback of each. A metric without a score has a feedback with an error."""
        self.warn_of_small_pool()
        return [
            feedback_of(*self._metrics[name], score)
            for name, score in self._scores(inputs, outputs, expectations, trace).items()
        ]

    def warn_of_small_pool(self) -> None:
        """Warn, once, if the store of MLflow is a SQLite file and would have too few connections."""
        if not self._has_warned and (problem := small_pool()) is not None:
            self._has_warned = True
            warnings.warn(problem, stacklevel=3)

    def _scores(self, *row: Any) -> dict[str, Score]:
        try:
            sample = sample_of(*row)
        except RagmetricsError as error:
            return {name: failed_score(metric, error) for name, (metric, _) in self._metrics.items()}
        judged: Future[Mapping[str, Future[Score]]] = Future()
        judgements = {name: _judgement(metric, models, sample) for name, (metric, models) in self._metrics.items()}
        is_begun = self._live.judge(
            judgements, judged.set_result, lambda name: row_digest(sample, self._metrics[name][0].inputs)
        )
        if not is_begun:
            lost = RagmetricsError("the row was not judged: the process is ending, or the system can start no thread")
            return {name: failed_score(metric, lost) for name, (metric, _) in self._metrics.items()}
        return {name: score_of_outcome(self._metrics[name][0], each) for name, each in judged.result().items()}


def _judgement(metric: Metric, models: Models, sample: Sample) -> Callable[[], Coroutine[Any, Any, Score]]:
    async def judge() -> Score:
        with judging():
            return await arun(metric.program(sample), models)

    return judge


def scorers(
    metrics: Metric | str | Iterable[Metric | str],
    *,
    llm: Any = None,
    embeddings: Any = None,
    timeout: float | None = 120.0,
) -> list[RagmetricsScorer]:
    """Return what ``mlflow.genai.evaluate(scorers=...)`` takes: one scorer that judges each row by all metrics at once. ::

        mlflow.genai.evaluate(data=rows, scorers=scorers([Faithfulness(), ContextRecall()], llm=judge))

    A row's inputs, outputs and expectations have the field names of ragmetrics or their other common names (``question``,
    ``contexts``, ``answer``, ``ground_truth``), or those of MLflow (``messages``, ``expected_response``). Contexts are also taken
    from the RETRIEVER spans of the trace.

    Each metric gives a ``Feedback`` with its name: the value; the rationale, with every claim and its verdict; as metadata the
    model, the versions of the prompts, tokens and dollars, where they are known. Unscored and failed scores are feedbacks with
    an error, so they are left out of MLflow's means.

    Args:
        metrics: metrics or their names, each with its own name.
        llm: a judge for metrics without one, or its name, such as ``"openai:gpt-4o-mini"``.
        embeddings: an embedding model for metrics without one, or its name.
        timeout: seconds that one metric may take for one row; None: no limit.

    Raises:
        InvalidInput: an item is not a metric, there is none, two have the same name, or a metric asks an LLM and has none.
    """
    given = with_models(metrics, llm, embeddings)
    if not given:
        raise InvalidInput("scorers needs at least one metric, such as Faithfulness()")
    made = RagmetricsScorer("ragmetrics", given, timeout)
    made.warn_of_small_pool()
    return [made]


def scorer(
    metric: Metric | str, *, llm: Any = None, embeddings: Any = None, timeout: float | None = 120.0
) -> RagmetricsScorer:
    """Return a metric as a scorer with its name. Several are faster as one: see ``scorers``, which has the same arguments.

    Raises:
        InvalidInput: ``metric`` is not a metric, or it asks an LLM and has none.
    """
    given = with_models([metric], llm, embeddings)
    name, *more = given
    if more:
        raise InvalidInput(f"scorer takes one metric, got {metric!r}: scorers takes several")
    made = RagmetricsScorer(name, given, timeout)
    made.warn_of_small_pool()
    return made


def small_pool() -> str | None:
    """Return a warning if MLflow's store is SQLite and has fewer connections than its threads use; None if not."""
    if not mlflow.get_tracking_uri().startswith("sqlite"):
        return None
    size, overflow, workers = (os.environ.get(name, "") for name in (*POOL, WORKERS))
    connections = int(size or 5) + int(overflow or 10)
    if connections >= ENOUGH_CONNECTIONS or 0 < int(workers or 0) <= FEW_WORKERS:
        return None
    return (
        f"MLflow's SQLite store has {connections} connections, too few for its threads: it may stall for 30 seconds and lose "
        f"traces. Before MLflow opens it, set the environment variables {POOL[0]}=100 and {POOL[1]}=100"
    )


def feedback_of(metric: Metric, models: Models, score: Score) -> Feedback:
    """Return a score as MLflow's feedback."""
    called = models.called if asks_an_llm(metric) or metric.calls != "none" else {}
    kind = AssessmentSourceType.LLM_JUDGE if called else AssessmentSourceType.CODE
    shared: dict[str, Any] = {
        "name": metric.name,
        "source": AssessmentSource(kind, called.get("llm") or called.get("embeddings") or "ragmetrics"),
        "metadata": _metadata(score, models, called),
    }
    if score.value is None:
        code, text = ("UNSCORED", score.reason) if score.error is None else ("FAILED", score.error)
        return Feedback(error=AssessmentError(error_code=code, error_message=text), **shared)
    evidence = score.text(width=100).partition("\n")[2]
    return Feedback(value=score.value, rationale=f"{score.explain()}\n\n{evidence}".strip(), **shared)


def _metadata(score: Score, models: Models, called: Mapping[str, str]) -> dict[str, str]:
    usage, prompts = score.usage, score.details.get("prompts") or {}
    has_one_llm = bool(called.get("llm")) and not models.members
    dollars = cost_of(models.llm, usage) if has_one_llm else None
    found = {
        "ragmetrics.label": score.label,
        "ragmetrics.passing": score.passing,
        "ragmetrics.prompts": ", ".join(f"{name} {version}" for name, version in prompts.items()) or None,
        **{f"ragmetrics.{kind}": name for kind, name in called.items()},
        "ragmetrics.calls": usage.calls or None,
        AssessmentMetadataKey.JUDGE_INPUT_TOKENS: usage.prompt_tokens or None,
        AssessmentMetadataKey.JUDGE_OUTPUT_TOKENS: usage.completion_tokens or None,
        AssessmentMetadataKey.JUDGE_COST: dollars,
    }
    return {name: str(value) for name, value in found.items() if value is not None}

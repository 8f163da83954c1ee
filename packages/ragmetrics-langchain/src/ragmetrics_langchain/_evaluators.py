"""Metrics as evaluators for LangSmith and openevals: both pass inputs, outputs and reference outputs, and expect a dict.

Strategy. An unscored sample has the score None and a comment with the reason. A failure is raised for openevals; for LangSmith it
becomes an error result like those that LangSmith makes from exceptions.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Protocol

from ragmetrics_core import InvalidInput, Metric, RagmetricsError, Score
from ragmetrics_core.adapters import failed_score, settled, with_arguments_of

from ._runnable import MetricRunnable, no_tracing
from ._samples import sample_of_example
from ._values import REFERENCES, messages_in

if TYPE_CHECKING:
    from ._callback import EvaluationRecord


def as_langsmith_evaluator(
    metric: Metric,
    *,
    llm: Any = None,
    embeddings: Any = None,
    key: str | None = None,
    question_key: str | None = None,
    answer_key: str | None = None,
    contexts_key: str | None = None,
    reference_key: str | None = None,
) -> Callable[..., dict[str, Any]]:
    """Make an evaluator for ``langsmith.evaluate(target, data=..., evaluators=[...])``. It also works with
    ``upload_results=False``.

    LangSmith passes no retrieved documents, so the target must return them, as ``context``, ``contexts`` or ``documents``.

    Args:
        metric: any metric.
        llm: a judge for a metric without an LLM.
        embeddings: an embedding model for a metric without one.
        key: name of the feedback; default: the metric's name.
        question_key: key of the question in the inputs, if it is unusual.
        answer_key: key of the answer in the outputs.
        contexts_key: key of the contexts in the outputs.
        reference_key: key of the reference in the reference outputs.
    """
    judge = Judge("record", **locals())

    def evaluator(inputs: Any, outputs: Any, reference_outputs: Any = None) -> dict[str, Any]:
        try:
            _check_one(judge.name, outputs)
            return judge.result(inputs, outputs, reference_outputs, {})
        except InvalidInput as error:  # LangSmith would file it under another name
            return _feedback(judge.name, failed_score(metric, error))

    evaluator.__name__ = evaluator.__qualname__ = judge.name
    return evaluator


def _check_one(name: str, outputs: Any) -> None:
    if isinstance(outputs, list) and messages_in(outputs) is None:
        raise InvalidInput(
            f"{name} judges one output, got a list of {len(outputs)}: pass it in evaluators=[...]; summary and comparative "
            "evaluators are not supported"
        )


def _feedback(name: str, score: Score) -> dict[str, Any]:
    evidence = {"state": score.state, "passing": score.passing, "scale": score.scale, "details": dict(score.details)}
    result = {"key": name, "score": score.value, "comment": _comment(score), "metadata": evidence}
    # LangSmith's form of an exception, but under the metric's own key
    return result if score.error is None else {**result, "extra": {"error": True}}


def _comment(score: Score) -> str | None:
    """Describe in a sentence what the score rests on, or why there is no score."""
    return score.explain() if score.value is not None else score.error or score.reason


class OpenEvals(Protocol):
    """The signature of an evaluator of openevals."""

    def __call__(
        self, *, inputs: Any = None, outputs: Any, reference_outputs: Any = None, **kwargs: Any
    ) -> dict[str, Any]:
        """Judge one output."""
        ...


@with_arguments_of(as_langsmith_evaluator)
def as_openevals(**arguments: Any) -> OpenEvals:
    """Make an evaluator with the keyword signature of openevals. The arguments are the same as for ``as_langsmith_evaluator``.

    ``evaluator(inputs=..., outputs=..., reference_outputs=..., context=...)`` gives ``{"key", "score", "comment", "metadata",
    "source_run_id"}``. Further keywords are fields of the sample, under any of their names.
    """
    judge = Judge("raise", **arguments)

    def evaluator(*, inputs: Any = None, outputs: Any, reference_outputs: Any = None, **kwargs: Any) -> dict[str, Any]:
        return {**judge.result(inputs, outputs, reference_outputs, kwargs), "source_run_id": None}

    evaluator.__name__ = evaluator.__qualname__ = judge.name
    return evaluator


def langsmith_feedback(
    client: Any, *, project: str | None = None, verdicts: Iterable[str] = (), patience: float = 10.0
) -> Callable[[EvaluationRecord], None]:
    """Make a sink, or an ``on_result``, for ``RagEvaluationCallback`` that posts every score as feedback to the run in LangSmith.

    It first waits until all runs are sent. Feedback has the score, with the scale of the metric as its configuration. Its value is
    the label of the score, else ``pass`` or ``fail``, else ``failed`` or ``unscored``. The comment says in a sentence what the
    score rests on, or why there is none. If one score cannot be posted, the others are still posted; the ``error`` of the record
    says which scores are missing.

    Args:
        client: a ``langsmith.Client``.
        project: name of the project that the runs are traced to; newer versions of LangSmith require it.
        verdicts: names of metrics whose feedback is categorical: ``pass`` or ``fail`` instead of the score.
        patience: seconds to wait, in all, for the project. LangSmith makes it some time after the first run was sent; it is never
            made here.
    """
    from langchain_core.tracers.langchain import wait_for_all_tracers  # noqa: PLC0415  loads LangSmith, which is slow

    categorical = frozenset(verdicts)
    sessions: dict[str, Any] = {}
    ends: list[float] = []

    def post(record: EvaluationRecord) -> None:
        wait_for_all_tracers()
        if project is not None and project not in sessions:
            ends.append(time.monotonic() + patience)
            sessions[project] = _project_id(client, project, ends[0])
        ids = {"trace_id": record.trace_id, "session_id": sessions.get(project or "")}
        trace = {name: value for name, value in ids.items() if value is not None}
        failures = []
        for name, score in record.scores.items():
            feedback = _feedback_fields(score, is_verdict=name in categorical)
            error = settled(partial(client.create_feedback, record.run_id, key=name, **feedback, **trace)).exception()
            if error is not None:
                failures.append(f"{name}: {type(error).__name__}: {error}")
        if failures:
            raise RagmetricsError(f"LangSmith did not accept this feedback: {'; '.join(failures)}")

    return post


PASS_OR_FAIL = {"type": "categorical", "categories": [{"value": 1, "label": "pass"}, {"value": 0, "label": "fail"}]}


def _feedback_fields(score: Score, *, is_verdict: bool) -> dict[str, Any]:
    """Return the arguments of ``create_feedback`` that say what the score is."""
    verdict = None if score.passing is None else "pass" if score.passing else "fail"
    low, high = score.scale or (None, None)
    fields = {
        "score": None if is_verdict and verdict is None else int(verdict == "pass") if is_verdict else score.value,
        "value": (verdict if is_verdict else score.label or verdict)
        or (None if score.state == "scored" else score.state),
        "comment": _comment(score),
        "feedback_source_type": "model",
        "feedback_config": PASS_OR_FAIL if is_verdict else {"type": "continuous", "min": low, "max": high},
        "error": True if score.error is not None else None,
    }
    return {name: value for name, value in fields.items() if value is not None or name == "score"}


def _project_id(client: Any, name: str, end: float) -> Any:
    """Return the id of a project. LangSmith makes a project some time after the first run was sent.

    Raises:
        RagmetricsError: there is no such project at ``end``, a time of ``time.monotonic``.
    """
    from langsmith.utils import LangSmithNotFoundError  # noqa: PLC0415  loaded by the client

    while True:
        try:
            return client.read_project(project_name=name).id
        except LangSmithNotFoundError:
            if time.monotonic() >= end:
                raise RagmetricsError(
                    f"LangSmith has no project {name!r}: give langsmith_feedback the project that the runs are traced to"
                ) from None
        time.sleep(min(0.5, max(0.01, end - time.monotonic())))


class Judge:
    """A metric that judges the values of LangSmith and openevals. The arguments are the same as for ``as_langsmith_evaluator``."""

    def __init__(
        self,
        on_error: Literal["raise", "record"],
        *,
        metric: Metric,
        llm: Any,
        embeddings: Any,
        key: str | None,
        **keys: str | None,
    ) -> None:
        self._runnable = MetricRunnable(metric, llm=llm, embeddings=embeddings, on_error=on_error)
        self._metric = metric
        self._keys = keys
        self.name = key or metric.name

    def result(self, inputs: Any, outputs: Any, reference_outputs: Any, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Judge one output. ``fields``: further fields of the sample.

        If LangSmith uploads no results (``upload_results=False``), the judging is not traced either. LangChain would treat that
        mode as enabled tracing, and would post every call. When LangSmith calls this method, it is already imported.
        """
        needs_reference = "reference" in self._metric.inputs and not any(fields.get(name) for name in REFERENCES)
        sample = sample_of_example(inputs, outputs, reference_outputs, self._keys, needs_reference=needs_reference)
        helpers = sys.modules.get("langsmith.run_helpers")
        is_local = helpers is not None and helpers.get_tracing_context().get("enabled") == "local"
        with no_tracing() if is_local else nullcontext():
            return _feedback(self.name, self._runnable.invoke(sample, **fields))

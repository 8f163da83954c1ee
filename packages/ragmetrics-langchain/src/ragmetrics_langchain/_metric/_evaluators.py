"""A metric as an evaluator of LangSmith and of openevals: both give inputs, outputs and reference outputs, and want a dict back.

Strategy. The three values are read as everywhere else in this package; what stands in the reference outputs under the name of
an answer is the reference. An unscored sample has the score None and says why. What fails is raised by the evaluator for openevals,
and is an error result, as LangSmith makes of an exception, in the one for LangSmith.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

from ragmetrics_core import InvalidInput, Metric, RagmetricsError, Sample, Score
from ragmetrics_core.adapters import settled

from .._reading._fields import CONTEXTS, MISSING, REFERENCES, Answer, find_answer, mapping_of, question_in
from .._reading._messages import turns_in
from .._reading._samples import reference_in, sample_of
from .._record import EvaluationRecord
from ._runnable import MetricRunnable, failed, untraced

__all__ = ["as_langsmith_evaluator", "as_openevals", "langsmith_feedback"]

KINDS: tuple[str, ...] = ("question", "answer", "contexts", "reference")
EXPECTED = ("reference_contexts", "reference_documents", "rubric")


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
    """An evaluator for ``langsmith.evaluate(target, data=..., evaluators=[...])``, also with ``upload_results=False``.

    LangSmith passes no retrieved documents, so the target has to return them, as ``context``, ``contexts`` or ``documents``.

    Args:
        metric: any metric.
        llm: a judge for a metric that has none of its own.
        embeddings: an embedding model for a metric that has none of its own.
        key: name of the feedback; default: the metric's name.
        question_key: key of the question in the inputs, if it is unusual.
        answer_key: key of the answer in the outputs.
        contexts_key: key of the contexts in the outputs.
        reference_key: key of the reference in the reference outputs.
    """
    runnable = MetricRunnable(metric, llm=llm, embeddings=embeddings, on_error="record")
    name = key or metric.name
    keys = dict(zip(KINDS, (question_key, answer_key, contexts_key, reference_key), strict=True))

    def evaluator(inputs: Any, outputs: Any, reference_outputs: Any = None) -> dict[str, Any]:
        try:
            _check_one(name, outputs)
            needed = "reference" in metric.inputs
            sample = _sample(inputs, outputs, reference_outputs, keys, needs_reference=needed)
        except InvalidInput as error:  # LangSmith would file it under a name of its own
            return _feedback(name, failed(metric, error))
        return _feedback(name, _judged(runnable, sample, {}))

    evaluator.__name__ = evaluator.__qualname__ = name
    return evaluator


def _feedback(name: str, score: Score) -> dict[str, Any]:
    result = {"key": name, "score": score.value, "comment": _comment(score), "metadata": _evidence(score)}
    # what LangSmith makes of an exception, but under the metric's own key
    return result if score.error is None else {**result, "extra": {"error": True}}


def _check_one(name: str, outputs: Any) -> None:
    if isinstance(outputs, list) and turns_in(outputs) is None:
        raise InvalidInput(
            f"{name} judges one output, got a list of {len(outputs)}: it belongs into evaluators=[...]; summary and comparative "
            "evaluators are not supported"
        )


def _comment(score: Score) -> str | None:
    """What the score rests on, in a sentence; why there is none."""
    return score.explain() if score.value is not None else score.error or score.reason


class OpenEvals(Protocol):
    """The signature of an evaluator of openevals."""

    def __call__(
        self, *, inputs: Any = None, outputs: Any, reference_outputs: Any = None, **kwargs: Any
    ) -> dict[str, Any]:
        """Judge one output."""
        ...


def as_openevals(
    metric: Metric,
    *,
    llm: Any = None,
    embeddings: Any = None,
    key: str | None = None,
    question_key: str | None = None,
    answer_key: str | None = None,
    contexts_key: str | None = None,
    reference_key: str | None = None,
) -> OpenEvals:
    """An evaluator with the keyword signature of openevals.

    ``evaluator(inputs=..., outputs=..., reference_outputs=..., context=...)`` gives ``{"key", "score", "comment", "metadata",
    "source_run_id"}``. Further keywords are fields of the sample, under any of their names.

    Args:
        metric: any metric.
        llm: a judge for a metric that has none of its own.
        embeddings: an embedding model for a metric that has none of its own.
        key: name of the result; default: the metric's name.
        question_key: key of the question in the inputs, if it is unusual.
        answer_key: key of the answer in the outputs.
        contexts_key: key of the contexts in the outputs.
        reference_key: key of the reference in the reference outputs.
    """
    runnable = MetricRunnable(metric, llm=llm, embeddings=embeddings)
    name = key or metric.name
    keys = dict(zip(KINDS, (question_key, answer_key, contexts_key, reference_key), strict=True))

    def evaluator(*, inputs: Any = None, outputs: Any, reference_outputs: Any = None, **kwargs: Any) -> dict[str, Any]:
        needed = "reference" in metric.inputs and not any(kwargs.get(name) for name in REFERENCES)
        sample = _sample(inputs, outputs, reference_outputs, keys, needs_reference=needed)
        score = _judged(runnable, sample, kwargs)
        return {**_feedback(name, score), "source_run_id": None}

    evaluator.__name__ = evaluator.__qualname__ = name
    return evaluator


def langsmith_feedback(client: Any, *, project: str | None = None) -> Callable[[EvaluationRecord], None]:
    """An ``on_result`` for ``RagEvaluationCallback`` that posts every score as feedback to the run in LangSmith.

    It first waits until the runs that wait to be sent are sent. The comment says in a sentence what the score rests on, also
    where it failed or there was nothing to score. What cannot be posted does not keep the other scores back; the record says in
    ``error`` what is missing.

    Args:
        client: a ``langsmith.Client``.
        project: name of the project that the runs are traced to; newer versions of LangSmith ask for it.
    """
    from langchain_core.tracers.langchain import wait_for_all_tracers  # noqa: PLC0415  loads LangSmith, which is slow

    sessions: dict[str, Any] = {}

    def post(record: EvaluationRecord) -> None:
        wait_for_all_tracers()
        if project is not None and project not in sessions:
            sessions[project] = client.read_project(project_name=project).id
        known = {"trace_id": record.trace_id, "session_id": sessions.get(project or "")}
        where = {name: value for name, value in known.items() if value is not None}
        failures = [
            f"{name}: {type(error).__name__}: {error}"
            for name, score in record.scores.items()
            if (error := settled(partial(_posted, client, record, name, score, where)).exception()) is not None
        ]
        if failures:
            raise RagmetricsError(f"feedback that LangSmith did not take: {'; '.join(failures)}")

    return post


def _posted(client: Any, record: EvaluationRecord, name: str, score: Score, where: Mapping[str, Any]) -> None:
    comment, source = _comment(score), "model"
    client.create_feedback(
        record.run_id, key=name, score=score.value, comment=comment, feedback_source_type=source, **where
    )


def _judged(runnable: MetricRunnable, sample: Sample, fields: Mapping[str, Any]) -> Score:
    """The score; where LangSmith keeps its results to itself (``upload_results=False``), nothing of the judging is sent either.

    LangChain takes that mode for tracing that is on, and would post every call. LangSmith is loaded where it is the one who calls.
    """
    helpers = sys.modules.get("langsmith.run_helpers")
    is_local = helpers is not None and helpers.get_tracing_context().get("enabled") == "local"
    with untraced() if is_local else nullcontext():
        return runnable.invoke(sample, **fields)


def _sample(
    inputs: Any, outputs: Any, reference_outputs: Any, keys: Mapping[str, str | None], *, needs_reference: bool
) -> Sample:
    says_no_more = outputs is None or isinstance(outputs, int | float)
    produced = Sample() if says_no_more else sample_of(_under(outputs, keys.get("contexts"), CONTEXTS[0]))
    question = question_in(_at(inputs, keys.get("question")))
    answer = find_answer(_at(outputs, keys.get("answer")), inputs) or MISSING
    asked = sample_of(inputs) if mapping_of(inputs) is not None else Sample()
    given = mapping_of(reference_outputs) or {}
    expected = sample_of({name: given[name] for name in EXPECTED if name in given})
    return replace(
        produced,
        user_input=question or produced.user_input,
        response=None if answer == MISSING else str(answer),
        reference=_reference(reference_outputs, keys, answer) if needs_reference else None,
        retrieved_contexts=produced.retrieved_contexts or asked.retrieved_contexts,
        retrieved_documents=produced.retrieved_documents or asked.retrieved_documents,
        reference_contexts=expected.reference_contexts,
        reference_documents=expected.reference_documents,
        rubric=expected.rubric,
        metadata={**asked.metadata, **produced.metadata},
    )


def _at(value: Any, key: str | None) -> Any:
    """What stands under the key; the whole value where no key is given."""
    if key is None:
        return value
    found = mapping_of(value)
    if found is None or key not in found:
        raise InvalidInput(f"there is no {key!r} in {sorted(found) if found else type(value).__name__}")
    return found[key]


def _under(value: Any, key: str | None, name: str) -> Any:
    """The value with what stands under the key put under a name that is known."""
    if key is None:
        return value
    found = _at(value, key)
    return {
        **{other: item for other, item in (mapping_of(value) or {}).items() if other not in (*CONTEXTS, key)},
        name: found,
    }


def _reference(value: Any, keys: Mapping[str, str | None], answer: Answer) -> str | None:
    value = _at(value, keys.get("reference"))
    found = mapping_of(value) or {}
    named = next((found[name] for name in REFERENCES if found.get(name) is not None), value)
    return reference_in("the reference outputs", named, answer)


def _evidence(score: Score) -> dict[str, Any]:
    return {"state": score.state, "passing": score.passing, "scale": score.scale, "details": dict(score.details)}

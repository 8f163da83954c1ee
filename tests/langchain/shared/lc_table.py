"""A table of scenarios: what is called with the callback, the records that must come of it, and the same rows from its traces."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any

from lc_parts import ANSWER, QUESTION
from openinference.instrumentation.langchain import LangChainInstrumentor
from opentelemetry.sdk.trace import ReadableSpan

from ragmetrics_core import Document, Sample, samples_from_traces
from ragmetrics_core.metrics import ExactMatch
from ragmetrics_langchain import EvaluationRecord, RagEvaluationCallback
from tracing import recorded

NEW_ENOUGH = tuple(map(int, version("openinference-instrumentation-langchain").split(".")[:3])) >= (0, 1, 80)
"""Older releases record less."""


@dataclass(frozen=True)
class Expected:
    """One record: ``ids`` are those of the documents, None where none were searched."""

    status: str = "scored"
    question: str | None = QUESTION
    ids: tuple[str, ...] | None = ("d1", "d2")
    answer: str | None = ANSWER
    error: str | None = None


@dataclass(frozen=True)
class Row:
    """``call`` gets the callback; ``expected`` are the records, in any order.

    ``any_order``: the searches are concurrent, so that their documents come in any order. ``untraced``: why the traces of
    OpenInference do not give the same rows.
    """

    name: str
    call: Callable[[RagEvaluationCallback], Any]
    expected: Sequence[Expected] = (Expected(),)
    any_order: bool = False
    untraced: str = ""


def seen(record: EvaluationRecord) -> Expected:
    sample = record.sample
    documents = sample.retrieved_documents
    ids = None if documents is None else tuple(getattr(item, "id", None) or str(item) for item in documents)
    if documents is not None:
        texts = [item if isinstance(item, str) else item.content for item in documents]
        assert list(sample.retrieved_contexts or ()) == texts
    return Expected(record.status, sample.user_input, ids, sample.response, record.error)


def check(row: Row) -> None:
    """Call it, and compare the records; afterwards nothing of it is left in the callback."""
    callback = RagEvaluationCallback([ExactMatch()])
    warnings.filterwarnings("ignore", message=r"Calling \.text\(\)")  # by OpenInference; pytest restores the filters
    with recorded(LangChainInstrumentor()) as exporter:
        row.call(callback)
        assert callback.flush(60)
    if NEW_ENOUGH:
        check_traces(row, callback.results, exporter.get_finished_spans())
    # the metric has no reference here, which is its problem and not the run's
    found = [seen(record) for record in callback.results]
    plain = [
        Expected(item.status, item.question, item.ids, item.answer, None if item.status == "scored" else item.error)
        for item in found
    ]
    if row.any_order:
        plain = [replace(item, ids=tuple(sorted(item.ids or ()))) for item in plain]
    key = repr
    assert sorted(plain, key=key) == sorted(row.expected, key=key)
    assert [bool(record.scores) for record in callback.results] == [
        record.status == "scored" for record in callback.results
    ]
    assert len(callback._runs) == 0
    assert callback.dropped == 0


def check_traces(row: Row, records: Sequence[EvaluationRecord], spans: Sequence[ReadableSpan]) -> None:
    """The traces give the samples of the complete calls."""
    live = [record.sample for record in records if record.status == "scored" and record.sample.response is not None]
    traced = list(samples_from_traces(spans, on_unreadable=lambda _: None))
    found = [
        sorted(repr(judged_fields(sample, in_order=not row.any_order)) for sample in samples)
        for samples in (live, traced)
    ]
    if row.untraced:
        assert found[0] != found[1]
    else:
        assert found[0] == found[1]


def judged_fields(sample: Sample, *, in_order: bool) -> tuple[Any, ...]:
    """What metrics read of a sample."""
    documents: list[Any] = list(sample.retrieved_documents or ())
    found = [(item.id, item.content, item.meta) if isinstance(item, Document) else item for item in documents]
    contexts = list(sample.retrieved_contexts or ())
    if not in_order:
        found, contexts = sorted(found, key=repr), sorted(contexts)
    is_searched = sample.retrieved_contexts is not None
    return sample.user_input, sample.response, is_searched, contexts, found, sample.history

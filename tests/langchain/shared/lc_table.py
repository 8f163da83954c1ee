"""A table of scenarios: what is called with the callback, and the records that must come of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lc_parts import ANSWER, QUESTION

from ragmetrics_core.metrics import ExactMatch
from ragmetrics_langchain import EvaluationRecord, RagEvaluationCallback


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

    ``any_order``: the searches are concurrent, so that their documents come in any order.
    """

    name: str
    call: Callable[[RagEvaluationCallback], Any]
    expected: Sequence[Expected] = (Expected(),)
    any_order: bool = False


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
    row.call(callback)
    assert callback.flush(60)
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

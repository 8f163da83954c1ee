"""Traces of an application in MLflow's store give samples."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import mlflow
from mlflow.entities import Document, SpanType

from ragmetrics_core import Document as CoreDocument
from ragmetrics_core import UnreadableTrace, samples_from_traces


@mlflow.trace(span_type=SpanType.RETRIEVER)
def search(question: str) -> list[Document]:
    if question == "Why?":
        raise ValueError("broken")
    return [Document("Ada was born in London.", {"page": 1}, id="d1")]


@mlflow.trace
def answer(question: str) -> str:
    mlflow.update_current_trace(metadata={"mlflow.trace.session": "s1", "lang": "en"})
    return search(question)[0].page_content


def test_traces_of_the_store(store: Path, tmp_path: Path) -> None:
    mlflow.set_experiment("traces")
    answer("Where was Ada born?")
    with suppress(ValueError):
        answer("Why?")
    mlflow.flush_trace_async_logging()
    traces = mlflow.search_traces(return_type="list")
    path = tmp_path / "traces.jsonl"
    path.write_text("".join(f"{trace.to_json()}\n" for trace in traces))
    for source in (traces, mlflow.search_traces(), path):
        unread: list[UnreadableTrace] = []
        (sample,) = samples_from_traces(source, on_unreadable=unread.append)
        assert (sample.user_input, sample.response) == ("Where was Ada born?", "Ada was born in London.")
        assert sample.retrieved_documents == [CoreDocument("Ada was born in London.", "d1", meta={"page": 1})]
        assert (sample.metadata["session_id"], sample.metadata["lang"]) == ("s1", "en")
        assert (
            sample.id
            == sample.metadata["trace_id"]
            == next(trace.info.trace_id for trace in traces if trace.info.state == "OK")
        )
        assert [(item.reason, item.detail) for item in unread] == [("the application failed", "ValueError: broken")]

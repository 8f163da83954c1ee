"""The spans of judges beside queries that OpenInference traces, and the span that sinks see."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from openinference.instrumentation.llama_index import LlamaIndexInstrumentor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from llama_index.doubles import Completions
from ragmetrics_core.adapters import current_span
from ragmetrics_core.metrics import RefineFaithfulness
from ragmetrics_llama_index import QueryEvaluationHandler
from tracing import recorded


@pytest.fixture
def spans() -> Iterator[InMemorySpanExporter]:
    with recorded(LlamaIndexInstrumentor()) as exporter:
        yield exporter


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # OpenInference reads deprecated fields of models
@pytest.mark.usefixtures("nothing_stays_attached")
@pytest.mark.parametrize("trace", [True, False])
def test_judges_are_marked_or_hidden(spans: InMemorySpanExporter, index: Any, trace: bool) -> None:
    seen: list[Any] = []
    judge = Completions("yes")
    sinks = [lambda _: seen.append(current_span())]
    with QueryEvaluationHandler([RefineFaithfulness()], llm=judge, trace=trace, sinks=sinks) as handler:
        index.as_query_engine(llm=Completions("London")).query("Where was Ada born?")
        assert handler.flush(60)
    assert handler.counts == {"evaluated": 1}
    found = spans.get_finished_spans()
    marks = {json.loads(str((span.attributes or {}).get("metadata", "{}"))).get("ragmetrics") for span in found}
    assert marks - {None} == ({"refine_faithfulness"} if trace else set())
    (query,) = [span for span in found if span.name == "RetrieverQueryEngine.query"]
    assert query.context is not None
    assert [span[0] for span in seen] == [f"{query.context.trace_id:032x}"]

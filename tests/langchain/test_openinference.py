"""The spans of judges beside a chain that OpenInference traces, and the span that sinks see."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from lc_models import chat
from lc_parts import QUESTION, lcel
from openinference.instrumentation.langchain import LangChainInstrumentor
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from loopback import OpenAIServer
from ragmetrics_core.adapters import current_span
from ragmetrics_core.metrics import Faithfulness
from ragmetrics_langchain import RagEvaluationCallback
from tracing import recorded


@pytest.fixture
def spans() -> Iterator[InMemorySpanExporter]:
    with recorded(LangChainInstrumentor()) as exporter:
        yield exporter


def marked(span: ReadableSpan) -> str | None:
    """What the metadata of a span says about ragmetrics."""
    found: str | None = json.loads(str((span.attributes or {}).get("metadata", "{}"))).get("ragmetrics")
    return found


@pytest.mark.parametrize("trace", [True, False])
def test_judges_are_marked_or_hidden(server: OpenAIServer, spans: InMemorySpanExporter, trace: bool) -> None:
    server.responder = lambda _: '{"claims": []}'
    with RagEvaluationCallback([Faithfulness()], llm=chat(server), trace=trace) as callback:
        lcel().invoke(QUESTION, {"callbacks": [callback]})
    assert callback.counts["scored"] == 1
    found = spans.get_finished_spans()
    roots = [span for span in found if span.parent is None]
    of_judges = [span for span in found if marked(span)]
    assert sorted(span.name for span in roots) == (
        ["RunnableSequence", "faithfulness"] if trace else ["RunnableSequence"]
    )
    assert {marked(span) for span in of_judges} == ({"faithfulness"} if trace else set())
    if trace:
        (judge,) = [span for span in roots if span.name == "faithfulness"]
        assert judge.context is not None
        in_its_trace = [span for span in found if span.context and span.context.trace_id == judge.context.trace_id]
        assert in_its_trace == of_judges


def test_sinks_are_called_in_the_span_of_the_request(spans: InMemorySpanExporter) -> None:
    seen: list[object] = []
    tracer = TracerProvider().get_tracer("app")
    callback = RagEvaluationCallback([], sinks=[lambda _: seen.append(current_span())])
    with callback, tracer.start_as_current_span("request") as span:
        lcel().invoke(QUESTION, {"callbacks": [callback]})
    ids = span.get_span_context()
    assert seen == [(f"{ids.trace_id:032x}", f"{ids.span_id:016x}")]
    assert spans.get_finished_spans()

"""Spans of Haystack give the samples that the live tracer recovers: its own, exported with its tags as attributes, and those that
OpenInference records.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import pytest
from haystack.components.builders import AnswerBuilder, ChatPromptBuilder
from haystack.components.joiners import DocumentJoiner
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.dataclasses import ChatMessage
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.tracing import tracer as proxy
from haystack.tracing.tracer import NullTracer, Span, Tracer
from haystack.tracing.utils import coerce_tag_value
from openinference.instrumentation.haystack import HaystackInstrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from haystack import Document, Pipeline, component
from ragmetrics_core import Sample, UnreadableTrace, samples_from_traces
from ragmetrics_core.metrics import ExactMatch
from ragmetrics_haystack import RagmetricsTracer
from tracing import recorded

QUESTION, ANSWER = "Where does the tower stand?", "It stands in Paris."
PAGES = ["The tower stands in Paris.", "The other tower stands in Rome.", "Berlin has a tower of television."]


class BridgeSpan(Span):
    def __init__(self, span: Any) -> None:
        self.span = span

    def set_tag(self, key: str, value: Any) -> None:
        self.span.set_attribute(key, coerce_tag_value(value))


class Bridge(Tracer):
    """Exports Haystack's spans with OpenTelemetry."""

    def __init__(self) -> None:
        self.exporter, provider = InMemorySpanExporter(), TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.tracer = provider.get_tracer("haystack")

    @contextmanager
    def trace(
        self, operation_name: str, tags: dict[str, Any] | None = None, parent_span: Span | None = None
    ) -> Iterator[Span]:
        with self.tracer.start_as_current_span(operation_name) as span:
            found = BridgeSpan(span)
            found.set_tags(tags or {})
            yield found

    def current_span(self) -> Span | None:
        return None


@pytest.fixture
def bridge(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bridge]:
    monkeypatch.setattr(proxy, "is_content_tracing_enabled", True)
    proxy.actual_tracer = made = Bridge()
    yield made
    proxy.actual_tracer = NullTracer()


@component
class Says:
    """A generator that says one thing, or raises it."""

    def __init__(self, says: Any) -> None:
        self.says = says

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage]) -> dict[str, Any]:
        if isinstance(self.says, BaseException):
            raise self.says
        return {"replies": [ChatMessage.from_assistant(self.says)]}

    @component.output_types(replies=list[ChatMessage])
    async def run_async(self, messages: list[ChatMessage]) -> dict[str, Any]:
        await asyncio.sleep(0)
        return self.run(messages)


@component
class SaysPlainly:
    @component.output_types(replies=list[str])
    def run(self, messages: list[ChatMessage]) -> dict[str, Any]:
        return {"replies": ["Paris"]}


@component
class LastOnly:
    """A reranker."""

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, Any]:
        return {"documents": documents[-1:]}


@component
class Inner:
    """A pipeline in a component."""

    @component.output_types(replies=list[ChatMessage])
    def run(self, query: str) -> dict[str, Any]:
        return dict(pipeline().run(asked(query))["llm"])


def pipeline(says: Any = ANSWER, *, middle: Any = None, answers: bool = False, pages: list[str] = PAGES) -> Pipeline:
    store = InMemoryDocumentStore()
    if pages:
        store.write_documents([Document(content=page, meta={"page": number}) for number, page in enumerate(pages)])
    made = Pipeline()
    made.add_component("retriever", InMemoryBM25Retriever(store, top_k=2))
    template = [ChatMessage.from_user("{{ documents }} {{ question }}")]
    made.add_component("prompt", ChatPromptBuilder(template, required_variables="*"))
    made.add_component("llm", Says(says))
    if middle is not None:
        made.add_component("middle", middle)
        made.connect("retriever.documents", "middle.documents")
    made.connect("middle.documents" if middle is not None else "retriever.documents", "prompt.documents")
    made.connect("prompt.prompt", "llm.messages")
    if answers:
        made.add_component("answers", AnswerBuilder(pattern="in (.*)\\."))
        made.connect("llm.replies", "answers.replies")
    return made


def asked(question: str = QUESTION, *, answers: bool = False) -> dict[str, Any]:
    inputs: dict[str, Any] = {"retriever": {"query": question}, "prompt": {"question": question}}
    return {**inputs, "answers": {"query": question}} if answers else inputs


def alone(generator: Any, *messages: ChatMessage) -> None:
    made = Pipeline()
    made.add_component("llm", generator)
    made.run({"llm": {"messages": [*messages]}})


def nested() -> None:
    made = Pipeline()
    made.add_component("inner", Inner())
    made.run({"inner": {"query": QUESTION}})


TALK = [
    ChatMessage.from_system("Be brief."),
    ChatMessage.from_user("What is there?"),
    ChatMessage.from_assistant("A tower."),
    ChatMessage.from_user("Where?"),
]
CALLS: Mapping[str, Callable[[], Any]] = {
    "a pipeline": lambda: pipeline().run(asked()),
    "asynchronous": lambda: asyncio.run(pipeline().run_async(asked())),
    "an answer builder": lambda: pipeline(answers=True).run(asked(answers=True)),
    "a reranker": lambda: pipeline(middle=LastOnly()).run(asked()),
    "a joiner": lambda: pipeline(middle=DocumentJoiner()).run(asked()),
    "nothing found": lambda: pipeline(pages=[]).run(asked()),
    "a chat": lambda: alone(Says("In Paris."), *TALK),
    "plain replies": lambda: alone(SaysPlainly(), TALK[0], TALK[3]),
    "a pipeline in a component": nested,
    "an answer that Python shows with escapes": lambda: pipeline('It\'s "in"\nParis \\ France.').run(asked()),
}


def judged_fields(sample: Sample) -> tuple[Any, ...]:
    return sample.user_input, sample.response, sample.retrieved_contexts, sample.history


def check(name: str, exporter: InMemorySpanExporter) -> None:
    tracer = RagmetricsTracer(ExactMatch()).enable()
    CALLS[name]()
    assert tracer.flush(60)
    unread: list[UnreadableTrace] = []
    traced = list(samples_from_traces(exporter.get_finished_spans(), on_unreadable=unread.append))
    live = [found.sample for found in tracer.results if found.sample is not None]
    assert live
    assert ([judged_fields(sample) for sample in traced], unread) == ([judged_fields(sample) for sample in live], [])


@pytest.mark.parametrize("name", CALLS)
def test_the_rows_of_traces_are_those_of_the_tracer(bridge: Bridge, name: str) -> None:
    check(name, bridge.exporter)


@pytest.mark.parametrize("name", CALLS)
def test_the_rows_of_openinference_are_those_of_the_tracer(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # the instrumentor looks every component up in its module, where those that other tests define in functions are not
    found = {
        path: each
        for path, each in component.registry.items()
        if getattr(sys.modules.get(each.__module__), each.__name__, None) is each
    }
    monkeypatch.setattr(component, "registry", found)
    with recorded(HaystackInstrumentor()) as exporter:
        check(name, exporter)


def test_documents_with_ids_scores_and_metadata(bridge: Bridge) -> None:
    pipeline().run(asked())
    (sample,) = samples_from_traces(bridge.exporter.get_finished_spans())
    documents: Any = sample.retrieved_documents
    assert [document.content for document in documents] == PAGES[:2]
    assert [document.meta for document in documents] == [{"page": 0}, {"page": 1}]
    assert all(len(document.id) == 64 and document.score > 0 for document in documents)


def test_runs_that_fail_and_contents_that_are_not_traced(bridge: Bridge, monkeypatch: pytest.MonkeyPatch) -> None:
    with suppress(Exception):
        pipeline(ValueError("no answer")).run(asked())
    monkeypatch.setattr(proxy, "is_content_tracing_enabled", False)
    pipeline().run(asked())
    unread: list[UnreadableTrace] = []
    assert list(samples_from_traces(bridge.exporter.get_finished_spans(), on_unreadable=unread.append)) == []
    assert [item.reason for item in unread] == ["the application failed", "no answer"]

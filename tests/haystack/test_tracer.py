"""``RagmetricsTracer``: runs of pipelines, recovered from Haystack's own spans and judged in the background."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from haystack.components.builders import AnswerBuilder, ChatPromptBuilder
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.dataclasses import ChatMessage, ToolCall
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.tracing import tracer as proxy
from haystack.tracing.tracer import NullTracer, Span, Tracer

from haystack import Document, Pipeline, component
from ragmetrics_core import InvalidInput
from ragmetrics_core.metrics import ExactMatch, Faithfulness
from ragmetrics_haystack import RagmetricsTracer, with_fields

PARIS = Document(content="The tower stands in Paris.")


@component
class Generator:
    """A chat generator that says one thing, or raises it."""

    def __init__(self, says: Any) -> None:
        self.says = says

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage], **_: Any) -> dict[str, Any]:
        if isinstance(self.says, BaseException):
            raise self.says
        return {"replies": [ChatMessage.from_assistant(self.says)]}

    @component.output_types(replies=list[ChatMessage])
    async def run_async(self, messages: list[ChatMessage], **_: Any) -> dict[str, Any]:
        await asyncio.sleep(0)
        return self.run(messages)


class Heard(Tracer):
    """A tracer that was there before."""

    def __init__(self) -> None:
        self.spans: list[tuple[str, bool]] = []
        self.tags: list[str] = []

    @contextmanager
    def trace(
        self, operation_name: str, tags: dict[str, Any] | None = None, parent_span: Span | None = None
    ) -> Iterator[Span]:
        self.spans.append((operation_name, parent_span is None or isinstance(parent_span, HeardSpan)))
        yield HeardSpan(self)

    def current_span(self) -> Span | None:
        return HeardSpan(self)


class HeardSpan(Span):
    def __init__(self, heard: Heard) -> None:
        self.heard = heard

    def set_tag(self, key: str, value: Any) -> None:
        self.heard.tags.append(key)

    def raw_span(self) -> Any:
        return "raw"


@pytest.fixture(autouse=True)
def untraced() -> Iterator[None]:
    yield
    proxy.actual_tracer = NullTracer()


def pipeline(says: Any = "It stands in Paris.", *, answers: bool = False) -> Pipeline:
    store = InMemoryDocumentStore()
    store.write_documents([PARIS, Document(content="Rome has no tower.")])
    made = Pipeline()
    made.add_component("retriever", InMemoryBM25Retriever(store, top_k=1))
    made.add_component(
        "prompt", ChatPromptBuilder([ChatMessage.from_user("{{ documents }} {{ question }}")], required_variables="*")
    )
    made.add_component("llm", Generator(says))
    made.connect("retriever.documents", "prompt.documents")
    made.connect("prompt.prompt", "llm.messages")
    if answers:
        made.add_component("answers", AnswerBuilder(pattern="in (.*)\\."))
        made.connect("llm.replies", "answers.replies")
    return made


def asked(question: str = "Where does the tower stand?", *, answers: bool = False) -> dict[str, Any]:
    inputs: dict[str, Any] = {"retriever": {"query": question}, "prompt": {"question": question}}
    return {**inputs, "answers": {"query": question}} if answers else inputs


def rows(tracer: RagmetricsTracer) -> list[tuple[Any, Any, Any]]:
    assert tracer.flush(60)
    samples = [found.sample for found in tracer.results if found.sample is not None]
    return [(sample.user_input, sample.retrieved_contexts, sample.response) for sample in samples]


ROW = ("Where does the tower stand?", [PARIS.content], "It stands in Paris.")


def test_a_run_of_a_pipeline_is_judged() -> None:
    judge = Generator('{"claims": []}')
    tracer = RagmetricsTracer([Faithfulness(), ExactMatch()], chat_generator=judge).enable()
    with with_fields(reference="It stands in Paris.", user="u1"):
        pipeline().run(asked())
    assert rows(tracer) == [ROW]
    (found,) = tracer.results
    assert found.sample is not None
    assert found.sample.metadata == {"user": "u1"}
    assert (found.scores["exact_match"].value, found.scores["faithfulness"].state) == (1.0, "unscored")
    pipeline().run(asked())
    assert tracer.flush(60)
    assert tracer.results[1].scores["exact_match"].state == "failed", "with_fields has ended"


TURNS = [{"role": "user", "content": "What is there?"}, {"role": "assistant", "content": "A tower."}]
TALK = [
    ChatMessage.from_system("Be brief."),
    ChatMessage.from_user("What is there?"),
    ChatMessage.from_assistant("I look.", tool_calls=[ToolCall("search", {"query": "tower"})]),
    ChatMessage.from_tool("found", origin=ToolCall("search", {"query": "tower"})),
    ChatMessage.from_assistant("A tower."),
]


@component
class Prompt:
    """Passes messages on, with a history that it is given."""

    @component.output_types(messages=list[ChatMessage])
    def run(self, question: str, chat_history: list[ChatMessage]) -> dict[str, Any]:
        return {"messages": [*chat_history, ChatMessage.from_user(question)]}


def test_the_messages_before_the_question_are_the_history() -> None:
    tracer = RagmetricsTracer(ExactMatch()).enable()
    chat = Pipeline()
    chat.add_component("llm", Generator("In Paris."))
    chat.run({"llm": {"messages": [*TALK, ChatMessage.from_user("Where?")]}})
    chat.run({"llm": {"messages": [TALK[0], ChatMessage.from_user("Where?")]}})
    assert rows(tracer) == [("Where?", None, "In Paris.")] * 2
    assert [found.sample and found.sample.history for found in tracer.results] == [TURNS, None]


def test_a_history_that_is_an_input_or_a_field() -> None:
    tracer = RagmetricsTracer(ExactMatch()).enable()
    chat = Pipeline()
    chat.add_component("prompt", Prompt())
    chat.add_component("llm", Generator("In Paris."))
    chat.connect("prompt.messages", "llm.messages")
    chat.run({"prompt": {"question": "Where?", "chat_history": TALK}})
    with with_fields(history=TURNS[:1]):
        chat.run({"prompt": {"question": "Where?", "chat_history": TALK}})
    assert rows(tracer) == [("Where?", None, "In Paris.")] * 2
    assert [found.sample and found.sample.history for found in tracer.results] == [TURNS, TURNS[:1]]


def test_the_answer_of_an_answer_builder_counts() -> None:
    tracer = RagmetricsTracer(ExactMatch()).enable()
    with with_fields(reference="Paris"):
        pipeline(answers=True).run(asked(answers=True))
    assert rows(tracer) == [(*ROW[:2], "Paris")]
    assert tracer.results[0].scores["exact_match"].value == 1.0


@pytest.mark.asyncio
async def test_runs_at_the_same_time_keep_apart() -> None:
    tracer = RagmetricsTracer(ExactMatch()).enable()

    async def ask(number: int) -> None:
        with with_fields(reference=f"answer {number}"):
            await pipeline(f"answer {number}").run_async(asked(f"question {number}"))

    await asyncio.gather(*map(ask, range(8)))
    assert await tracer.aclose(60)
    assert sorted((row[0], row[2]) for row in rows(tracer)) == [(f"question {n}", f"answer {n}") for n in range(8)]
    assert {found.scores["exact_match"].value for found in tracer.results} == {1.0}


def test_messages_and_plain_replies() -> None:
    @component
    class Plain:
        @component.output_types(replies=list[str])
        def run(self, messages: list[ChatMessage]) -> dict[str, Any]:
            return {"replies": ["Paris"]}

    made = Pipeline()
    made.add_component("llm", Plain())
    tracer = RagmetricsTracer(ExactMatch()).enable()
    given = [ChatMessage.from_system("Be brief."), ChatMessage.from_user("Where?"), ChatMessage.from_assistant("Hm.")]
    made.run({"llm": {"messages": given}})
    assert rows(tracer) == [("Where?", None, "Paris")]


def test_a_run_that_fails_is_not_judged() -> None:
    tracer = RagmetricsTracer(ExactMatch()).enable()
    with pytest.raises(Exception, match="no answer"):
        pipeline(ValueError("no answer")).run(asked())
    assert rows(tracer) == []
    pipeline().run(asked())
    assert rows(tracer) == [ROW]


def test_only_the_outermost_pipeline_is_judged() -> None:
    @component
    class Inner:
        @component.output_types(replies=list[ChatMessage])
        def run(self, query: str) -> dict[str, Any]:
            return dict(pipeline().run(asked(query))["llm"])

    made = Pipeline()
    made.add_component("inner", Inner())
    tracer = RagmetricsTracer(ExactMatch()).enable()
    made.run({"inner": {"query": "Where does the tower stand?"}})
    assert rows(tracer) == [ROW]


def test_the_tracer_that_was_there_before_gets_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    heard = Heard()
    proxy.actual_tracer = heard
    tracer = RagmetricsTracer(ExactMatch()).enable()
    assert tracer.enable() is tracer
    pipeline().run(asked())
    alone = Heard()
    tracer.disable()
    assert proxy.actual_tracer is heard
    proxy.actual_tracer = alone
    pipeline().run(asked())
    assert rows(tracer) == [ROW], "it no longer listens"
    assert heard.spans == alone.spans
    assert heard.tags == alone.tags
    assert all(known for _, known in heard.spans), "it sees its own spans as parents"
    assert "haystack.component.output" not in heard.tags
    monkeypatch.setattr(proxy, "is_content_tracing_enabled", True)
    proxy.actual_tracer = heard
    tracer.enable()
    pipeline().run(asked())
    assert "haystack.component.output" in heard.tags
    assert isinstance(tracer.current_span(), HeardSpan)
    with tracer.trace("haystack.pipeline.run") as span:
        assert span.raw_span() == "raw"
        assert span.get_correlation_data_for_logs() == {}
    tracer.disable()
    tracer.disable()
    assert proxy.actual_tracer is heard


def test_mistakes() -> None:
    with pytest.raises(InvalidInput, match="faithfulness asks an LLM, but none is set"):
        RagmetricsTracer(Faithfulness())
    assert RagmetricsTracer(ExactMatch()).current_span() is None

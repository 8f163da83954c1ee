"""``run_app`` asks pipelines of Haystack by their own objects."""

from __future__ import annotations

from typing import Any

import pytest
from haystack.components.builders import AnswerBuilder, ChatPromptBuilder
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.dataclasses import ChatMessage, GeneratedAnswer
from haystack.document_stores.in_memory import InMemoryDocumentStore

from haystack import Document, Pipeline, component
from ragmetrics_core import InvalidInput, Sample, run_app

PARIS, ANSWER = Document(content="The tower stands in Paris."), "It stands in Paris."


@component
class Generator:
    """A chat generator that says one thing, or raises it."""

    def __init__(self, says: Any = ANSWER) -> None:
        self.says = says

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage]) -> dict[str, Any]:
        if isinstance(self.says, BaseException):
            raise self.says
        return {"replies": [ChatMessage.from_assistant(self.says)]}


def pipeline(says: Any = ANSWER, *, answers: bool = False) -> Pipeline:
    store = InMemoryDocumentStore()
    store.write_documents([PARIS, Document(content="Rome has no such thing.")])
    made = Pipeline()
    made.add_component("retriever", InMemoryBM25Retriever(store, top_k=1))
    prompt = [ChatMessage.from_user("{{ documents }} {{ question }}")]
    made.add_component("prompt", ChatPromptBuilder(prompt, required_variables="*"))
    made.add_component("llm", Generator(says))
    made.connect("retriever.documents", "prompt.documents")
    made.connect("prompt.prompt", "llm.messages")
    if answers:
        made.add_component("answers", AnswerBuilder(pattern="in (.*)\\."))
        made.connect("llm.replies", "answers.replies")
    return made


def ask(app: Any) -> Sample:
    (row,) = run_app(app, [{"question": "Where does the tower stand?"}], timeout=30)
    return row


def by_hand(question: str) -> Any:
    return pipeline().run(
        {"retriever": {"query": question}, "prompt": {"question": question}}, include_outputs_from={"retriever"}
    )


@pytest.mark.parametrize(
    ("app", "answer"),
    [
        (pipeline(), ANSWER),
        (pipeline(answers=True), "Paris"),
        (by_hand, ANSWER),
        (lambda question: {"answer": ANSWER, "documents": [PARIS], "lang": "en"}, ANSWER),
        (lambda question: GeneratedAnswer(ANSWER, question, [PARIS]), ANSWER),
    ],
    ids=["generator", "answer builder", "a function", "documents", "an answer"],
)
def test_the_answer_and_the_documents(app: Any, answer: str) -> None:
    row = ask(app)
    assert row.metadata.get("app_error") is None
    assert (row.response, row.retrieved_contexts) == (answer, [PARIS.content])


def test_a_generator_and_a_message_alone() -> None:
    alone = Pipeline()
    alone.add_component("llm", Generator())
    assert ask(alone).response == ANSWER
    assert ask(lambda question: ChatMessage.from_assistant(ANSWER)).response == ANSWER


def test_an_exception_fails_its_row() -> None:
    assert "no index" in ask(pipeline(ValueError("no index"))).metadata["app_error"]


def test_inputs_that_cannot_be_filled() -> None:
    made = Pipeline()
    made.add_component("prompt", ChatPromptBuilder([ChatMessage.from_user("{{ topic }}")], required_variables="*"))
    with pytest.raises(InvalidInput) as raised:
        ask(made)
    assert str(raised.value) == (
        "the pipeline needs prompt.topic, so it cannot be asked with a question: write a function that runs it"
    )
    with pytest.raises(InvalidInput, match="^the pipeline has no input for a question, so it cannot be asked"):
        ask(Pipeline())

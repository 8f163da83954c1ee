"""``run_app`` asks chains, graphs and models of LangChain by their own objects, and finds the documents that they retrieved."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_classic.chains import create_retrieval_chain
from langchain_classic.chains.combine_documents import create_stuff_documents_chain
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda, RunnablePassthrough
from langgraph.graph import START, MessagesState, StateGraph
from typing_extensions import TypedDict

from ragmetrics_core import InvalidInput, Sample, run_app

DOCUMENT = Document("The tower stands in Paris.", metadata={"source": "a"})


class Retriever(BaseRetriever):
    def _get_relevant_documents(self, query: str, **_: Any) -> list[Document]:
        assert query == "Where?"
        return [DOCUMENT]


MODEL = FakeListChatModel(responses=["In Paris."])
PROMPT = ChatPromptTemplate.from_template("{context} {question}")
INPUT = ChatPromptTemplate.from_template("{context} {input}")


class State(TypedDict):
    question: str
    documents: list[Document]
    answer: str


def graph() -> Runnable[Any, Any]:
    built = StateGraph(State)
    built.add_node("answer", lambda state: {"answer": "In Paris.", "documents": [DOCUMENT]})
    built.add_edge(START, "answer")
    return built.compile()


async def answered(state: MessagesState) -> Any:
    await Retriever().ainvoke(state["messages"][-1].content)
    return {"messages": [AIMessage("In Paris.")]}


def conversation() -> Runnable[Any, Any]:
    built = StateGraph(MessagesState)
    built.add_node("answer", answered)
    built.add_edge(START, "answer")
    return built.compile()


def ask(app: Any) -> Sample:
    (row,) = run_app(app, [{"question": "Where?"}], timeout=30)
    return row


CHAIN = {"context": Retriever(), "question": RunnablePassthrough()} | PROMPT | MODEL


@pytest.mark.parametrize(
    "app",
    [
        CHAIN | StrOutputParser(),
        CHAIN,
        create_retrieval_chain(Retriever(), create_stuff_documents_chain(MODEL, INPUT)),
        RunnableLambda(lambda asked: asked["question"]) | CHAIN,
        graph(),
        conversation(),
        lambda question: {"answer": "In Paris.", "context": Retriever().invoke(question)},
        lambda question: {"answer": AIMessage("In Paris."), "source_documents": [DOCUMENT]},
    ],
    ids=["text", "message", "retrieval chain", "key", "graph", "messages", "a function", "a message in a mapping"],
)
def test_the_answer_and_the_documents(app: Any) -> None:
    row = ask(app)
    assert row.metadata.get("app_error") is None
    assert (row.user_input, row.response) == ("Where?", "In Paris.")
    assert list(row.retrieved_contexts or ()) == ["The tower stands in Paris."]


def test_a_model_and_a_message_alone() -> None:
    assert ask(MODEL).response == "In Paris."
    assert ask(MODEL.invoke).response == "In Paris."


def test_an_exception_in_a_chain_fails_its_row() -> None:
    def fails(question: str) -> str:
        raise ValueError("no index")

    assert ask(RunnableLambda(fails)).metadata["app_error"] == "ValueError: no index"


def test_columns_of_the_user_come_first() -> None:
    def app(question: str) -> Any:
        return {"answer": "wrong", "text": "In Paris.", "context": [DOCUMENT], "hits": ["mine"]}

    (row,) = run_app(app, [{"question": "Where?"}], columns={"answer": "text", "contexts": "hits"})
    assert (row.response, row.retrieved_contexts) == ("In Paris.", ["mine"])


def test_keys_that_cannot_be_filled() -> None:
    with_keys: Any = RunnableLambda(lambda asked: asked["subject"] + asked["language"])
    assert ask(with_keys).metadata["app_error"] == (
        "the input of the Runnable has the keys language, subject: write a function that fills them"
    )
    with pytest.raises(InvalidInput, match="is a class"):
        ask(Retriever)

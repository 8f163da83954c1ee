"""What counts as the answer and as the contexts of a run, where that is no plain text: structured output, states, texts, lists."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypedDict

import pytest
from langchain.agents import create_agent
from langchain.agents.structured_output import ToolStrategy
from langchain_core.documents import Document
from langchain_core.messages import AIMessage
from langchain_core.runnables import Runnable, RunnableLambda, RunnableParallel, RunnablePassthrough
from langgraph.graph import START, StateGraph
from lc_parts import ANSWER, D1, D2, PROMPT, QUESTION, Scripted, Shelf, calls, lcel
from pydantic import BaseModel

from ragmetrics_core import Sample
from ragmetrics_core.llms import LexicalJudge
from ragmetrics_core.metrics import ExactMatch, Faithfulness
from ragmetrics_langchain import EvaluationRecord, MetricRunnable, RagEvaluationCallback, as_openevals


class Kind(Enum):
    CITY = "city"


class Answer(BaseModel):
    """An answer with its source."""

    answer: str
    source: str


class Capital(BaseModel):
    """One text."""

    capital: str
    confidence: float = 1.0


class Report(BaseModel):
    """Two texts."""

    finding: str
    advice: str
    kind: Kind = Kind.CITY


@dataclass
class Pair:
    first: str
    second: list[int]


REPORT = {"finding": "f", "advice": "ä", "kind": "city"}


def record_of(chain: Runnable[Any, Any], value: Any = QUESTION) -> EvaluationRecord:
    callback = RagEvaluationCallback([ExactMatch()])
    with callback:
        chain.invoke(value, {"callbacks": [callback]})
    (record,) = callback.results
    return record


def ids(record: EvaluationRecord) -> list[Any] | None:
    documents = record.sample.retrieved_documents
    return None if documents is None else [getattr(item, "id", item) for item in documents]


@pytest.mark.parametrize(
    ("output", "answer"),
    [
        (Answer(answer="Paris", source="s"), "Paris"),
        (Capital(capital="Paris"), "Paris"),
        ({"capital": "Paris", "confidence": 1.0}, "Paris"),
        (Report(finding="f", advice="ä"), json.dumps(REPORT, ensure_ascii=False)),
        (Pair("a", [1]), "a"),
        ({"reasoning": "r", "final": "f"}, '{"reasoning": "r", "final": "f"}'),
        ({"numbers": [1, 2], "ok": True}, '{"numbers": [1, 2], "ok": true}'),
        ([Capital(capital="Paris")], '[{"capital": "Paris", "confidence": 1.0}]'),
        ({"raw": calls("Answer"), "parsed": Answer(answer="Paris", source="s"), "parsing_error": None}, "Paris"),
        ({"raw": AIMessage("no JSON"), "parsed": None, "parsing_error": ValueError("x")}, "no JSON"),
        ({"structured_response": Capital(capital="Paris"), "messages": [AIMessage("x")]}, "Paris"),
        ({"answer": Report(finding="f", advice="ä")}, json.dumps(REPORT, ensure_ascii=False)),
        ({"question": "q", "plan": ["a"], "notes": ["b"]}, None),
        ({"a": object(), "b": "x", "c": "y"}, None),
        ({"a": [D1], "b": "x", "c": "y"}, None),
        ({}, None),
    ],
)
def test_structured_output(output: Any, answer: str | None) -> None:
    assert record_of(RunnableLambda(lambda _: output)).sample.response == answer


def test_two_answers_side_by_side() -> None:
    chain = RunnableParallel(a=lcel(), b=lcel())
    assert record_of(chain).sample.response is None


def test_an_agent_with_structured_output() -> None:
    model = Scripted(says=[calls("Answer", answer="Paris", source="s")])
    agent = create_agent(model, [], response_format=ToolStrategy(Answer))
    assert record_of(agent, {"messages": [("user", QUESTION)]}).sample.response == "Paris"


class State(TypedDict, total=False):
    question: str
    documents: list[Document]
    generation: str


def graph(*steps: Any) -> Any:
    made = StateGraph(State)
    for number, step in enumerate(steps):
        made.add_node(str(number), step)
        made.add_edge(START if number == 0 else str(number - 1), str(number))
    return made.compile()


def test_a_context_that_was_emptied() -> None:
    """The chain says that the model saw nothing, whatever its retriever has found."""
    emptied = graph(
        lambda state: {"documents": Shelf().invoke(state["question"])},
        lambda state: {"documents": []},
        lambda state: {"generation": ANSWER},
    )
    assert ids(record_of(emptied, {"question": QUESTION})) == []
    assert ids(record_of(lcel() | (lambda text: {"answer": text, "context": []}))) == []


def test_a_context_that_was_never_filled() -> None:
    """An empty list in the input of a graph that no step has written is no statement about the context."""

    def answer(state: State) -> Any:
        return {"generation": str(len(Shelf().invoke(state["question"])))}

    assert ids(record_of(graph(answer), {"question": QUESTION, "documents": []})) == ["d1", "d2"]


def test_a_context_that_is_a_text() -> None:
    chain: Any = {"context": lambda _: "Some text", "question": RunnablePassthrough()} | PROMPT | Scripted()
    record = record_of(chain)
    assert (record.sample.retrieved_contexts, record.sample.response) == (["Some text"], ANSWER)
    nothing: Any = {"context": Shelf(documents=[]) | (lambda _: "nothing found"), "question": RunnablePassthrough()}
    assert ids(record_of(nothing | PROMPT | Scripted())) == []


def test_many_questions_in_one_run() -> None:
    record = record_of(lcel().map(), [QUESTION, "other"])
    assert (record.sample.user_input, record.sample.response, ids(record)) == (None, None, None)
    assert (record.status, record.error) == ("skipped", "one run stands for several questions and answers")
    assert record_of(lcel().map(), [QUESTION]).sample.user_input == QUESTION


def test_a_chain_that_ends_with_a_metric() -> None:
    judged = lcel() | MetricRunnable(ExactMatch(), on_error="record")
    assert record_of(judged).sample.response == ANSWER
    row = lcel() | (lambda text: {"answer": text, "reference": "x"}) | MetricRunnable(ExactMatch())
    assert record_of(row).sample.response == ANSWER


@pytest.mark.parametrize(
    "contexts",
    [
        {"documents": [D1, D2], "context": f"{D1.page_content}\n\n{D2.page_content}"},
        {"context": [D1, D2], "contexts": [D1.page_content]},
        {"context": {"documents": [D1, D2]}},
        {"context": {"retrieved_documents": [D1, D2]}},
        {"context": {"documents": [D1.page_content, D2.page_content]}},
        {"context": [D1, D2.page_content]},
        {"docs": (D1, D2)},
    ],
)
def test_documents_and_the_text_that_is_made_of_them(contexts: dict[str, Any]) -> None:
    row = {"question": QUESTION, "answer": ANSWER, **contexts}
    texts = [D1.page_content, D2.page_content]
    expected = Faithfulness(llm=LexicalJudge()).score(
        Sample(user_input=QUESTION, response=ANSWER, retrieved_contexts=texts)
    )
    assert MetricRunnable(Faithfulness(), llm=LexicalJudge()).invoke(row) == expected
    evaluator = as_openevals(Faithfulness(), llm=LexicalJudge())
    assert evaluator(inputs={"question": QUESTION}, outputs=row)["score"] == expected.value == 1.0


def test_one_document_as_context() -> None:
    score = MetricRunnable(Faithfulness(), llm=LexicalJudge()).invoke(
        {"input": QUESTION, "answer": ANSWER, "context": D1}
    )
    assert score.value == 1.0

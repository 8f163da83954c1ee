"""``run_app`` asks query engines, chat engines, retrievers and agents of LlamaIndex by their own objects."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.query_engine import CustomQueryEngine
from llama_index.core.tools import QueryEngineTool

from llama_index.doubles import Completions, openai_like
from loopback import OpenAIServer, Response
from ragmetrics_core import Sample, run_app

QUESTION, ANSWER, ADA = "Where was Ada born?", "In London.", "Ada Lovelace was born in London in 1815."


def ask(app: Any, *questions: str) -> list[Sample]:
    return run_app(app, [{"question": question} for question in questions or (QUESTION,)], timeout=30)


def engine(index: Any, **settings: Any) -> Any:
    return index.as_query_engine(llm=Completions(ANSWER), similarity_top_k=1, **settings)


@pytest.mark.parametrize("kind", ["query engine", "stream", "function", "nodes"])
def test_the_answer_and_the_sources(index: Any, kind: str) -> None:
    def nodes(question: str) -> Any:
        response = engine(index).query(question)
        return {"answer": str(response), "contexts": response.source_nodes, "lang": "en"}

    apps = {
        "query engine": engine(index),
        "stream": engine(index, streaming=True),
        "function": lambda question: engine(index).query(question),
        "nodes": nodes,
    }
    (row,) = ask(apps[kind])
    assert row.metadata.get("app_error") is None
    assert (row.response, row.retrieved_contexts) == (ANSWER, [ADA])
    assert [document.id for document in row.retrieved_documents or () if not isinstance(document, str)] == ["ada"]
    assert ("lang" in row.metadata) == (kind == "nodes")


def test_a_retriever(index: Any) -> None:
    (row,) = ask(index.as_retriever(similarity_top_k=1))
    assert (row.response, row.retrieved_contexts) == (None, [ADA])


def test_a_chat_engine_forgets_between_two_questions(index: Any) -> None:
    llm = Completions(ANSWER, is_chat=True)
    memory = ChatMemoryBuffer.from_defaults(token_limit=999)
    first, second = ask(index.as_chat_engine(chat_mode="simple", llm=llm, memory=memory), QUESTION, "And when?")
    assert (first.response, second.response) == (ANSWER, ANSWER)
    assert sorted(QUESTION in prompt for prompt in llm.prompts) == [False, True]


@pytest.mark.filterwarnings(
    "ignore::DeprecationWarning:pydantic", "ignore::DeprecationWarning:inspect"
)  # an agent looks at all of its own attributes
def test_an_agent(index: Any) -> None:
    def model(body: Any) -> Any:
        if body["messages"][-1]["role"] == "tool":
            return ANSWER
        call = {"name": "library", "arguments": '{"input": "Ada born"}'}
        message = {"role": "assistant", "content": None}
        return Response(message={**message, "tool_calls": [{"id": "c1", "type": "function", "function": call}]})

    with OpenAIServer(model) as server:
        llm = openai_like(server, is_function_calling_model=True)
        tool = QueryEngineTool.from_defaults(engine(index), name="library", description="Facts.")
        (row,) = ask(FunctionAgent(tools=[tool], llm=llm, streaming=False))
    assert row.metadata.get("app_error") is None
    assert (row.response, row.retrieved_contexts) == (ANSWER, [ADA])


class Broken(CustomQueryEngine):
    def custom_query(self, query_str: str) -> str:
        raise ValueError("no index")


def test_an_exception_fails_its_row() -> None:
    (row,) = ask(Broken())
    assert row.metadata["app_error"] == "ValueError: no index"

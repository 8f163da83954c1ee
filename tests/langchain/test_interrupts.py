"""A graph that waits for a person has no answer, however it was stopped; the answer of an earlier turn does not count."""

from __future__ import annotations

import asyncio
from typing import Any, TypedDict

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langchain_core.tools import create_retriever_tool
from langgraph.callbacks import GraphCallbackHandler
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import interrupt
from lc_parts import ANSWER, Scripted, Shelf, calls
from lc_table import Row, check_traces
from openinference.instrumentation.langchain import LangChainInstrumentor

from ragmetrics_core.metrics import ExactMatch
from ragmetrics_langchain import RagEvaluationCallback
from tracing import recorded


class State(TypedDict, total=False):
    question: str
    answer: str
    note: str


def config(callback: Any) -> Any:
    return {"callbacks": [callback], "configurable": {"thread_id": "1"}}


def rag(generate: Any, **settings: Any) -> Any:
    graph = StateGraph(State)
    graph.add_node("retrieve", lambda state: {"note": str(len(Shelf().invoke(state["question"])))})
    graph.add_node("generate", generate)
    graph.add_edge(START, "retrieve")
    graph.add_edge("retrieve", "generate")
    return graph.compile(checkpointer=InMemorySaver(), **settings)


def plain(state: State) -> Any:
    return {"answer": f"to {state['question']}"}


def asking(state: State) -> Any:
    return {"answer": f"to {state['question']}{interrupt('sure?') if state['question'] == 'second' else ''}"}


def silent(state: State) -> Any:
    """Answers the first question only."""
    return plain(state) if state["question"] == "first" else {"note": "no answer"}


def seen(callback: RagEvaluationCallback) -> list[tuple[str, str | None, str | None]]:
    assert callback.flush(10)
    return [(record.status, record.sample.user_input, record.sample.response) for record in callback.results]


FIRST = ("scored", "first", "to first")


@pytest.mark.parametrize(
    ("generate", "stop", "second"),
    [
        (plain, {"interrupt_before": ["generate"]}, ("interrupted", "second", None)),
        (plain, {"interrupt_after": ["retrieve"]}, ("interrupted", "second", None)),
        (asking, {}, ("interrupted", "second", None)),
        (silent, {}, ("scored", "second", None)),
        (plain, {}, ("scored", "second", "to second")),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_the_second_turn_stops(generate: Any, stop: Any, second: Any, stream: bool) -> None:
    callback = RagEvaluationCallback([ExactMatch()], workers=1)
    graph = rag(generate)
    with recorded(LangChainInstrumentor()) as exporter:
        graph.invoke({"question": "first"}, config(callback))
        if stream:
            list(graph.stream({"question": "second"}, config(callback), **stop))
        else:
            graph.invoke({"question": "second"}, config(callback), **stop)
    assert sorted(seen(callback), key=repr) == sorted([FIRST, second], key=repr)
    check_traces(Row("second turn", rag), callback.results, exporter.get_finished_spans())


def test_a_stop_in_an_asynchronous_graph_and_the_resumed_run() -> None:
    callback = RagEvaluationCallback([ExactMatch()])
    graph = rag(plain, interrupt_before=["generate"])

    async def main() -> None:
        await graph.ainvoke({"question": "x"}, config(callback))
        await graph.ainvoke(None, config(callback))

    asyncio.run(main())
    statuses = [(status, answer) for status, _, answer in seen(callback)]
    assert statuses == [("interrupted", None), ("scored", "to x")]


def test_an_agent_that_stops_after_its_tools() -> None:
    callback = RagEvaluationCallback([ExactMatch()])
    search = create_retriever_tool(Shelf(), "search", "Searches.")
    agent = create_agent(Scripted(says=[calls("search", query="x"), ANSWER]), [search], checkpointer=InMemorySaver())
    agent.invoke({"messages": [("user", "q")]}, config(callback), interrupt_after=["tools"])
    assert seen(callback) == [("interrupted", "q", None)]
    agent.invoke(None, config(callback))
    assert seen(callback)[1] == ("scored", "q", ANSWER)


def test_a_message_of_an_earlier_call_is_no_answer() -> None:
    """A run that goes on after the answer, and adds nothing to it, has not answered."""
    graph = StateGraph(MessagesState)
    graph.add_node("answer", lambda state: {"messages": [AIMessage(ANSWER)]})
    graph.add_node("check", lambda state: {"messages": []})
    graph.add_edge(START, "answer")
    graph.add_edge("answer", "check")
    made = graph.compile(checkpointer=InMemorySaver(), interrupt_before=["check"])
    callback = RagEvaluationCallback([ExactMatch()])
    made.invoke({"messages": [("user", "q")]}, config(callback))
    made.invoke(None, config(callback))
    assert seen(callback) == [("interrupted", "q", None), ("scored", "q", None)]


def test_the_handler_is_one_of_langgraph_too() -> None:
    callback = RagEvaluationCallback([ExactMatch()])
    assert isinstance(callback, GraphCallbackHandler)
    assert type(callback).__name__ == "RagEvaluationCallback"
    assert type(type(callback)([])) is type(callback)

"""Question, documents, answer and status of LangGraph's graphs and agents."""

from __future__ import annotations

import asyncio
import sys
from typing import Any, TypedDict

import pytest
from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import create_retriever_tool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command, interrupt
from lc_parts import ANSWER, D1, D3, QUESTION, Scripted, Shelf, calls, lcel
from lc_table import Expected, Row, check


def config(callback: Any, thread: str = "1") -> Any:
    return {"callbacks": [callback], "configurable": {"thread_id": thread}}


ASK: Any = {"messages": [{"role": "user", "content": QUESTION}]}


def search(documents: list[Document] | None = None) -> Any:
    shelf = Shelf() if documents is None else Shelf(documents=documents)
    return create_retriever_tool(shelf, "search", "Searches the library.")


@tool
def look(query: str) -> str:
    """Searches by a retriever inside a plain tool."""
    return str(len(Shelf().invoke(query)))


@tool(response_format="content_and_artifact")
def fetch(query: str) -> tuple[str, list[Document]]:
    """Searches without a retriever."""
    return "found one", [D3]


@tool
def clock(query: str) -> str:
    """Tells the time."""
    return "noon"


@tool(return_direct=True)
def direct(query: str) -> str:
    """Answers itself."""
    return f"Directly: {query}"


def agent(*tools: Any, says: Any = None, **settings: Any) -> Any:
    name = tools[0].name
    return create_agent(Scripted(says=says or [calls(name, query="birthplace"), ANSWER]), list(tools), **settings)


TWO_CALLS = AIMessage(
    "",
    tool_calls=[
        {"name": "search", "args": {"query": "birthplace"}, "id": "1"},
        {"name": "fetch", "args": {"query": "father"}, "id": "2"},
    ],
)


async def acollected(graph: Any, inputs: Any, callback: Any, **more: Any) -> None:
    async for _ in graph.astream(inputs, config(callback), **more):
        pass


def turns(callback: Any) -> None:
    """Two turns of one conversation: each is judged with its own question and documents."""
    chat = agent(
        search(), says=[calls("search", query="x"), "first answer", "second answer"], checkpointer=InMemorySaver()
    )
    chat.invoke({"messages": [("user", "first question")]}, config(callback))
    state = chat.invoke({"messages": [("user", "second question")]}, config(callback))
    state["messages"].append(HumanMessage("changed after the run"))


class RagState(TypedDict, total=False):
    question: str
    documents: list[Document]
    generation: str


def rag_graph() -> Any:
    """A graph with a node each for search, selection and answer, as in LangGraph's own tutorials."""
    graph = StateGraph(RagState)
    graph.add_node("retrieve", lambda state: {"documents": Shelf(documents=[D1, D3]).invoke(state["question"])})
    graph.add_node("grade", lambda state: {"documents": state["documents"][:1]})
    graph.add_node("generate", lambda state: {"generation": Scripted().invoke("x").content})
    for start, end in [(START, "retrieve"), ("retrieve", "grade"), ("grade", "generate"), ("generate", END)]:
        graph.add_edge(start, end)
    return graph.compile()


class Hidden(TypedDict):
    answer: str


class HiddenState(TypedDict, total=False):
    question: str
    found: list[Document]
    answer: str


def graph_that_hides_its_state() -> Any:
    graph = StateGraph(HiddenState, output_schema=Hidden)
    graph.add_node("find", lambda state: {"found": [D1]})
    graph.add_node("answer", lambda state: {"answer": ANSWER})
    graph.add_edge(START, "find")
    graph.add_edge("find", "answer")
    return graph.compile()


def handing_over() -> Any:
    """A subgraph answers by a command to the graph above."""
    inner = StateGraph(HiddenState)
    inner.add_node("answer", lambda state: Command(graph=Command.PARENT, goto=END, update={"answer": ANSWER}))
    inner.add_edge(START, "answer")
    graph = StateGraph(HiddenState)
    graph.add_node("find", lambda state: {"found": [D1]})
    graph.add_node("inner", inner.compile())
    graph.add_edge(START, "find")
    graph.add_edge("find", "inner")
    return graph.compile()


def subgraphs() -> Any:
    inner = agent(search())
    graph = StateGraph(MessagesState)
    graph.add_node("inner", inner)
    graph.add_edge(START, "inner")
    return graph.compile()


def asking() -> Any:
    """Searches, asks a person, answers."""

    def ask(state: MessagesState) -> Any:
        return {"messages": [AIMessage(f"{ANSWER} ({interrupt('sure?')})")]}

    graph = StateGraph(MessagesState)
    graph.add_node("find", lambda state: {"messages": Shelf().invoke("x")[:0]})
    graph.add_node("ask", ask)
    graph.add_edge(START, "find")
    graph.add_edge("find", "ask")
    return graph.compile(checkpointer=InMemorySaver())


def interrupted(callback: Any, *, stream: bool = False) -> None:
    graph = asking()
    for inputs in (ASK, Command(resume="yes")):
        if stream:
            list(graph.stream(inputs, config(callback)))
        else:
            graph.invoke(inputs, config(callback))


async def ainterrupted(callback: Any) -> None:
    graph = asking()
    await graph.ainvoke(ASK, config(callback))
    await graph.ainvoke(Command(resume="yes"), config(callback))


PAUSED = [
    Expected("interrupted", answer=None),
    Expected(ids=None, answer=f"{ANSWER} (yes)"),
]


def before_tools(callback: Any) -> None:
    chat = agent(fetch, checkpointer=InMemorySaver(), interrupt_before=["tools"])
    chat.invoke(ASK, config(callback))
    chat.invoke(None, config(callback))


def broken_node(callback: Any, error: Exception) -> None:
    def fail(state: MessagesState) -> Any:
        raise error

    graph = StateGraph(MessagesState)
    graph.add_node("find", lambda state: {"messages": Shelf().invoke("x")[:0]})
    graph.add_node("fail", fail)
    graph.add_edge(START, "find")
    graph.add_edge("find", "fail")
    with pytest.raises(type(error)):
        graph.compile().invoke(ASK, config(callback))


def left_early(callback: Any) -> None:
    for _ in agent(search()).stream(ASK, config(callback), stream_mode="updates"):
        break


def chain_in_a_node(callback: Any) -> None:
    graph = StateGraph(MessagesState)
    graph.add_node("rag", lambda state: {"messages": [AIMessage(lcel().invoke(state["messages"][-1].content))]})
    graph.add_edge(START, "rag")
    graph.compile().invoke(ASK, config(callback))


ROWS = [
    Row("agent", lambda cb: agent(search()).invoke(ASK, config(cb))),
    Row("agent, ainvoke", lambda cb: asyncio.run(agent(search()).ainvoke(ASK, config(cb)))),
    *(
        Row(
            f"agent, stream {mode}",
            lambda cb, mode=mode: list(agent(search()).stream(ASK, config(cb), stream_mode=mode)),
        )
        for mode in ("updates", "values", "messages")
    ),
    *(
        Row(
            f"agent, astream {mode}",
            lambda cb, mode=mode: asyncio.run(acollected(agent(search()), ASK, cb, stream_mode=mode)),
        )
        for mode in ("updates", "messages")
    ),
    Row("raw messages: a pair", lambda cb: agent(search()).invoke({"messages": ("user", QUESTION)}, config(cb))),
    Row("raw messages: a text", lambda cb: agent(search()).invoke({"messages": QUESTION}, config(cb))),
    Row(
        "raw messages: an object", lambda cb: agent(search()).invoke({"messages": [HumanMessage(QUESTION)]}, config(cb))
    ),
    Row("a retriever inside a plain tool", lambda cb: agent(look).invoke(ASK, config(cb))),
    Row("documents as artifact", lambda cb: agent(fetch).invoke(ASK, config(cb)), [Expected(ids=("d3",))]),
    Row(
        "two tools at once",
        lambda cb: agent(search(), fetch, says=[TWO_CALLS, ANSWER]).invoke(ASK, config(cb)),
        [Expected(ids=("d1", "d2", "d3"))],
        any_order=True,
    ),
    Row("a tool without documents", lambda cb: agent(clock).invoke(ASK, config(cb)), [Expected(ids=("noon",))]),
    Row(
        "a tool that answers directly",
        lambda cb: agent(direct).invoke(ASK, config(cb)),
        [Expected(ids=None, answer="Directly: birthplace")],
    ),
    Row("no tool was needed", lambda cb: agent(search(), says=ANSWER).invoke(ASK, config(cb)), [Expected(ids=None)]),
    Row(
        "two turns",
        turns,
        [
            Expected(question="first question", answer="first answer"),
            Expected(question="second question", answer="second answer", ids=None),
        ],
    ),
    Row(
        "graph with its own state",
        lambda cb: rag_graph().invoke({"question": QUESTION}, config(cb)),
        [Expected(ids=("d1",))],
    ),
    Row(
        "graph that hides its state",
        lambda cb: graph_that_hides_its_state().invoke({"question": QUESTION}, config(cb)),
        [Expected(ids=("d1",))],
    ),
    Row(
        "subgraph that hands over",
        lambda cb: handing_over().invoke({"question": QUESTION}, config(cb)),
        [Expected(ids=("d1",))],
    ),
    Row("subgraph", lambda cb: subgraphs().invoke(ASK, config(cb))),
    Row("chain in a node", chain_in_a_node),
    Row("interrupt and resume", interrupted, PAUSED),
    Row("interrupt and resume, stream", lambda cb: interrupted(cb, stream=True), PAUSED),
    Row("interrupt and resume, async", lambda cb: asyncio.run(ainterrupted(cb)), PAUSED),
    Row(
        "stopped before the tools",
        before_tools,
        [Expected("interrupted", ids=None, answer=None), Expected(ids=("d3",))],
    ),
    Row(
        "a node fails",
        lambda cb: broken_node(cb, KeyError("broken")),
        [Expected("error", answer=None, error="KeyError: 'broken'")],
    ),
    Row(
        "stream left early",
        left_early,
        [Expected("incomplete", ids=None, answer=None, error="GeneratorExit")],
    ),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_graph(row: Row) -> None:
    if row.name == "interrupt and resume, async" and sys.version_info < (3, 11):
        pytest.skip("LangGraph's interrupt() needs Python 3.11 in asynchronous nodes")
    check(row)

"""Question, documents, answer and status of every kind of chain."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_classic.chains import create_history_aware_retriever, create_retrieval_chain
from langchain_classic.chains.combine_documents import create_stuff_documents_chain
from langchain_classic.retrievers import EnsembleRetriever
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.output_parsers import JsonOutputParser, StrOutputParser
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import (
    Runnable,
    RunnableBranch,
    RunnableGenerator,
    RunnableLambda,
    RunnableParallel,
    RunnablePassthrough,
)
from lc_parts import D1, D2, D3, PROMPT, QUESTION, EchoShelf, Scripted, Shelf, format_docs, lcel, with_sources
from lc_table import Expected, Row, check


def config(callback: Any) -> Any:
    return {"callbacks": [callback]}


def run_async(make: Any) -> None:
    asyncio.run(make)


async def collected(stream: Any) -> list[Any]:
    return [item async for item in stream]


def classic() -> Runnable[Any, Any]:
    prompt = ChatPromptTemplate.from_template("{context}\n\n{input}")
    return create_retrieval_chain(Shelf(), create_stuff_documents_chain(Scripted(), prompt))


def history_aware() -> Runnable[Any, Any]:
    rewrite = ChatPromptTemplate.from_messages([MessagesPlaceholder("chat_history"), ("human", "{input}")])
    retriever = create_history_aware_retriever(Scripted(says="birthplace of Ada Lovelace"), Shelf(), rewrite)
    prompt = ChatPromptTemplate.from_messages([MessagesPlaceholder("chat_history"), ("human", "{context} {input}")])
    return create_retrieval_chain(retriever, create_stuff_documents_chain(Scripted(), prompt))


HISTORY = {
    "input": QUESTION,
    "chat_history": [HumanMessage("Who was she?"), AIMessage("A mathematician.")],
}


def without_retriever(question: str) -> dict[str, Any]:
    return {"context": [D1, D3], "question": question}


PLAIN_FUNCTION = (
    RunnableLambda(without_retriever)
    | RunnablePassthrough.assign(context=lambda row: format_docs(row["context"]))
    | PROMPT
    | Scripted()
    | StrOutputParser()
)

RERANKED = {
    "context": Shelf(documents=[D1, D2, D3]) | RunnableLambda(lambda found: [found[2], found[0]]),
    "question": RunnablePassthrough(),
} | RunnablePassthrough.assign(
    answer=RunnablePassthrough.assign(context=lambda row: "x") | PROMPT | Scripted() | StrOutputParser()
)

TWO_SEARCHES = (
    RunnableParallel(a=Shelf(documents=[D1, D2]) | RunnableLambda(format_docs), question=RunnablePassthrough())
    | RunnableLambda(lambda row: row["question"])
    | RunnableParallel(context=Shelf(documents=[D2, D3]) | RunnableLambda(format_docs), question=RunnablePassthrough())
    | PROMPT
    | Scripted()
    | StrOutputParser()
)

TOPIC = (
    {"context": (lambda row: row["topic"]) | Shelf() | format_docs, "question": lambda row: row["topic"]}
    | PROMPT
    | Scripted()
)

JSON = lcel(model=Scripted(says='{"answer": "Ada Lovelace was born in London.", "sources": [1]}')) | JsonOutputParser()


def nested(callback: Any) -> None:
    inner = lcel()
    outer = RunnableLambda(lambda question: f"{inner.invoke(question)}") | RunnableLambda(lambda text: text)
    outer.invoke(QUESTION, config(callback))


def passing_on(tokens: Any) -> Any:
    yield from tokens


ROWS = [
    Row("lcel", lambda cb: lcel().invoke(QUESTION, config(cb))),
    Row("lcel, stream", lambda cb: list(lcel().stream(QUESTION, config(cb)))),
    Row("lcel, ainvoke", lambda cb: run_async(lcel().ainvoke(QUESTION, config(cb)))),
    Row("lcel, astream", lambda cb: run_async(collected(lcel().astream(QUESTION, config(cb))))),
    Row(
        "lcel, astream_events",
        lambda cb: run_async(collected(lcel().astream_events(QUESTION, config(cb), version="v2"))),
    ),
    Row(
        "batch",
        lambda cb: lcel(EchoShelf()).batch(["q1", "q2", "q3"], config(cb)),
        [Expected(question=q, ids=(q,)) for q in ("q1", "q2", "q3")],
    ),
    Row(
        "abatch",
        lambda cb: run_async(lcel(EchoShelf()).abatch(["q1", "q2", "q3"], config(cb))),
        [Expected(question=q, ids=(q,)) for q in ("q1", "q2", "q3")],
    ),
    Row("chain that returns its sources", lambda cb: with_sources().invoke(QUESTION, config(cb))),
    Row("chain that returns its sources, stream", lambda cb: list(with_sources().stream(QUESTION, config(cb)))),
    Row("create_retrieval_chain", lambda cb: classic().invoke({"input": QUESTION}, config(cb))),
    Row("create_retrieval_chain, stream", lambda cb: list(classic().stream({"input": QUESTION}, config(cb)))),
    Row(
        "create_retrieval_chain, astream",
        lambda cb: run_async(collected(classic().astream({"input": QUESTION}, config(cb)))),
    ),
    Row("history-aware retriever", lambda cb: history_aware().invoke(HISTORY, config(cb))),
    Row("history-aware retriever, stream", lambda cb: list(history_aware().stream(HISTORY, config(cb)))),
    Row(
        "nested retriever: the outer one counts",
        lambda cb: lcel(Shelf(inner=Shelf())).invoke(QUESTION, config(cb)),
        [Expected(ids=("d1",))],
    ),
    Row(
        "ensemble of retrievers",
        lambda cb: lcel(EnsembleRetriever(retrievers=[Shelf(), Shelf(documents=[D3])], weights=[0.9, 0.1])).invoke(
            QUESTION, config(cb)
        ),
        [Expected(ids=("d1", "d2", "d3"))],
    ),
    Row(
        "two searches: each document once",
        lambda cb: TWO_SEARCHES.invoke(QUESTION, config(cb)),
        [Expected(ids=("d1", "d2", "d3"))],
    ),
    Row(
        "documents of a plain function",
        lambda cb: PLAIN_FUNCTION.invoke(QUESTION, config(cb)),
        [Expected(ids=("d1", "d3"))],
    ),
    Row("reranked, and returned", lambda cb: RERANKED.invoke(QUESTION, config(cb)), [Expected(ids=("d3", "d1"))]),
    Row("an unusual key", lambda cb: TOPIC.invoke({"topic": QUESTION, "top_k": 3}, config(cb))),
    Row(
        "messages as input",
        lambda cb: (RunnableLambda(lambda m: m[-1].content) | lcel()).invoke(
            [HumanMessage("Hi"), AIMessage("Hi"), HumanMessage(QUESTION)], config(cb)
        ),
    ),
    Row("a dict with an answer", lambda cb: JSON.invoke(QUESTION, config(cb))),
    Row("nested chains are one run", nested),
    Row(
        "a branch",
        lambda cb: RunnableBranch((lambda q: True, lcel()), RunnableLambda(str)).invoke(QUESTION, config(cb)),
    ),
    Row(
        "a generator at the end", lambda cb: list((lcel() | RunnableGenerator(passing_on)).stream(QUESTION, config(cb)))
    ),
    Row("nothing found", lambda cb: lcel(Shelf(documents=[])).invoke(QUESTION, config(cb)), [Expected(ids=())]),
    Row(
        "no search at all",
        lambda cb: (PROMPT | Scripted()).invoke({"question": QUESTION, "context": ""}, config(cb)),
        [Expected(ids=None)],
    ),
    Row(
        "context given by the caller",
        lambda cb: (PROMPT | Scripted()).invoke({"question": QUESTION, "context": [D1]}, config(cb)),
        [Expected(ids=("d1",))],
    ),
    Row("a renamed run", lambda cb: lcel().with_config(run_name="rag", tags=["x"]).invoke(QUESTION, config(cb))),
    Row(
        "concurrent runs",
        lambda cb: run_async(concurrent(cb)),
        [Expected(question=f"q{n}", ids=(f"q{n}",), answer=f"a{n}") for n in range(300)],
    ),
]


async def concurrent(callback: Any) -> None:
    """300 at once through one callback, a third of them each as invoke, stream and in threads."""

    def model(messages: Any) -> str:
        return "a" + messages[-1].content.rsplit("q", 1)[1]

    chain = lcel(EchoShelf(), Scripted(says=model))

    async def one(number: int) -> None:
        question = f"q{number}"
        if number % 3 == 0:
            await chain.ainvoke(question, config(callback))
        elif number % 3 == 1:
            await collected(chain.astream(question, config(callback)))
        else:
            await asyncio.to_thread(chain.invoke, question, config(callback))

    await asyncio.gather(*(one(number) for number in range(300)))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_chain(row: Row) -> None:
    check(row)

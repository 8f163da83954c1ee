"""Runs that fail, are cut short, are tried again, or are watched from somewhere in the middle."""

from __future__ import annotations

import asyncio
import threading
import uuid
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.runnables import Runnable, RunnableLambda, RunnablePassthrough
from lc_parts import ANSWER, D1, PROMPT, QUESTION, Hanging, Scripted, Shelf, format_docs, lcel, with_sources
from lc_table import Expected, Row, check

from waiting import until_async

WHOLE = "a trace is of the whole chain"


def config(callback: Any) -> Any:
    return {"callbacks": [callback]}


def first(stream: Any, count: int = 1) -> None:
    """Take the first pieces and close the stream."""
    for _ in range(count):
        next(stream)
    stream.close()


async def afirst(stream: Any, count: int = 1) -> None:
    for _ in range(count):
        await anext(stream)
    await stream.aclose()


async def begun(callback: Any) -> asyncio.Task[Any]:
    """A run whose model hangs by now."""
    model = Hanging()
    task = asyncio.create_task(lcel(model=model).ainvoke(QUESTION, config(callback)))
    assert await until_async(lambda: bool(model.hung))
    return task


async def broken_off(callback: Any) -> None:
    task = await begun(callback)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def timed_out(callback: Any) -> None:
    task = await begun(callback)
    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(task, 0.1)


async def stream_cancelled(callback: Any) -> None:
    model = Hanging()

    async def read() -> None:
        async for _ in lcel(model=model).astream(QUESTION, config(callback)):
            pass

    task = asyncio.create_task(read())
    assert await until_async(lambda: bool(model.hung))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def failing(chain: Runnable[Any, Any], callback: Any, *, stream: bool = False) -> None:
    call = chain.invoke if not stream else lambda *arguments: list(chain.stream(*arguments))
    with pytest.raises(ValueError, match="broken"):
        call(QUESTION, config(callback))


def flaky(times: int) -> Any:
    """Fails a few times, then answers."""
    left = [times]

    def say(messages: Any) -> Any:
        left[0] -= 1
        return ValueError("broken") if left[0] >= 0 else ANSWER

    return Scripted(says=say)


BROKEN = ValueError("broken")
FAILED = Expected("error", answer=None, error="ValueError: broken")
CANCELLED = Expected("incomplete", answer=None, error="CancelledError")


def batch_with_exceptions(callback: Any) -> None:
    def say(messages: Any) -> Any:
        return BROKEN if messages[-1].content.endswith("bad") else ANSWER

    lcel(model=Scripted(says=say)).batch(["good", "bad"], config(callback), return_exceptions=True)


async def gives_up_on_a_step(callback: Any) -> None:
    """A step that stops waiting for its model and answers otherwise: the run is complete."""

    async def answer(prompt: Any) -> str:
        try:
            await asyncio.wait_for(Hanging().ainvoke(prompt), 0.05)
        except asyncio.TimeoutError:
            return ANSWER
        raise AssertionError("the model cannot have answered")

    start: Any = {"context": Shelf() | format_docs, "question": RunnablePassthrough()}
    await (start | PROMPT | RunnableLambda(answer) | StrOutputParser()).ainvoke(QUESTION, config(callback))


def inner_separate(callback: Any) -> None:
    """An inner call with its own callbacks leaves the outer run: two roots for one handler."""
    inner = lcel().with_config(callbacks=[callback])
    RunnableLambda(lambda question: f"{inner.invoke(question)}").invoke("outer question", config(callback))


def late_child(callback: Any) -> None:
    """A child that starts when its root has ended is no root."""
    ended = threading.Event()
    later: list[threading.Thread] = []

    def answer(question: str) -> str:
        import contextvars

        context = contextvars.copy_context()

        def child() -> None:
            assert ended.wait(60)
            context.run(lcel().invoke, "late question")

        later.append(threading.Thread(target=child))
        later[0].start()
        return ANSWER

    (RunnableLambda(answer) | RunnableLambda(str)).invoke(QUESTION, config(callback))
    ended.set()
    later[0].join()


def twice(callback: Any) -> None:
    lcel().with_config(callbacks=[callback]).invoke(QUESTION, config(callback))


def same_id_again(callback: Any) -> None:
    run_id = uuid.uuid4()
    for _ in range(2):
        lcel().invoke(QUESTION, {"callbacks": [callback], "run_id": run_id})
    assert {record.run_id for record in callback.results} <= {run_id}


def step(callback: Any) -> Runnable[Any, Any]:
    """The handler sees one step of a longer chain."""
    return (
        RunnableLambda(lambda text: text.upper()) | RunnableLambda(str.title) | lcel().with_config(callbacks=[callback])
    )


def plain_thread(callback: Any) -> None:
    thread = threading.Thread(target=lcel().invoke, args=(QUESTION, config(callback)))
    thread.start()
    thread.join()


def nothing_returned(callback: Any) -> None:
    (Shelf() | RunnableLambda(lambda found: None)).invoke(QUESTION, config(callback))


FALLBACK = lcel(model=Scripted(says=BROKEN).with_fallbacks([Scripted()]))
RETRIEVER_FALLBACK = lcel(Shelf(error=BROKEN).with_fallbacks([Shelf(documents=[D1])]))
RETRIED = {"wait_exponential_jitter": False, "stop_after_attempt": 3}

ROWS = [
    Row(
        "stream closed after one piece",
        lambda cb: first(lcel().stream(QUESTION, config(cb))),
        [Expected("incomplete", answer=None)],
    ),
    Row(
        "stream closed in the middle",
        lambda cb: first(lcel().stream(QUESTION, config(cb)), 3),
        [Expected("incomplete", answer="Ada Lovelace")],
    ),
    Row(
        "stream without a parser closed",
        lambda cb: first((PROMPT | Scripted()).stream({"question": QUESTION, "context": [D1]}, config(cb)), 2),
        [Expected("incomplete", ids=("d1",), answer="Ada")],
    ),
    Row(
        "stream of a chain with sources closed",
        lambda cb: first(with_sources().stream(QUESTION, config(cb)), 4),
        [Expected("incomplete", answer="Ada")],
    ),
    Row(
        "astream closed",
        lambda cb: asyncio.run(afirst(lcel().astream(QUESTION, config(cb)), 2)),
        [Expected("incomplete", answer=None, error="GeneratorExit")],
    ),
    Row("cancelled task", lambda cb: asyncio.run(broken_off(cb)), [CANCELLED]),
    Row("timed out", lambda cb: asyncio.run(timed_out(cb)), [CANCELLED]),
    Row("cancelled stream", lambda cb: asyncio.run(stream_cancelled(cb)), [CANCELLED]),
    Row("a step gives up on its model", lambda cb: asyncio.run(gives_up_on_a_step(cb))),
    Row("model fails", lambda cb: failing(lcel(model=Scripted(says=BROKEN)), cb), [FAILED]),
    Row("model fails, stream", lambda cb: failing(lcel(model=Scripted(says=BROKEN)), cb, stream=True), [FAILED]),
    Row(
        "retriever fails",
        lambda cb: failing(lcel(Shelf(error=BROKEN)), cb),
        [Expected("error", ids=None, answer=None, error="ValueError: broken")],
    ),
    Row(
        "batch with exceptions",
        batch_with_exceptions,
        [Expected(question="good"), Expected("error", question="bad", answer=None, error="ValueError: broken")],
    ),
    Row("model with a fallback", lambda cb: FALLBACK.invoke(QUESTION, config(cb))),
    Row("model with a fallback, stream", lambda cb: list(FALLBACK.stream(QUESTION, config(cb)))),
    Row(
        "retriever with a fallback", lambda cb: RETRIEVER_FALLBACK.invoke(QUESTION, config(cb)), [Expected(ids=("d1",))]
    ),
    Row("model with retries", lambda cb: lcel(model=flaky(2).with_retry(**RETRIED)).invoke(QUESTION, config(cb))),
    Row(
        "chain with retries: one root",
        lambda cb: lcel(model=flaky(2)).with_retry(**RETRIED).invoke(QUESTION, config(cb)),
    ),
    Row(
        "chain with a fallback chain: its documents count",
        lambda cb: (
            lcel(Shelf(), Scripted(says=BROKEN))
            .with_fallbacks([lcel(Shelf(documents=[D1]))])
            .invoke(QUESTION, config(cb))
        ),
        [Expected(ids=("d1",))],
    ),
    Row(
        "chain with a fallback chain, async",
        lambda cb: asyncio.run(
            lcel(model=Scripted(says=BROKEN)).with_fallbacks([lcel()]).ainvoke(QUESTION, config(cb))
        ),
    ),
    Row(
        "chain with a fallback chain, stream",
        lambda cb: list(lcel(model=Scripted(says=BROKEN)).with_fallbacks([lcel()]).stream(QUESTION, config(cb))),
    ),
    Row(
        "chain with a fallback chain",
        lambda cb: lcel(model=Scripted(says=BROKEN)).with_fallbacks([lcel()]).invoke(QUESTION, config(cb)),
    ),
    Row("the same handler twice in a list", lambda cb: lcel().invoke(QUESTION, {"callbacks": [cb, cb]})),
    Row("the same handler twice, async", lambda cb: asyncio.run(lcel().ainvoke(QUESTION, {"callbacks": [cb, cb]}))),
    Row("the same handler by two ways", twice),
    Row("the same run id again", same_id_again, [Expected(), Expected()]),
    Row(
        "on an inner step",
        lambda cb: step(cb).invoke(QUESTION),
        [Expected(question=QUESTION.title())],
        untraced=WHOLE,
    ),
    Row(
        "on the retriever only",
        lambda cb: lcel(Shelf().with_config(callbacks=[cb])).invoke(QUESTION),
        [Expected(answer=None)],
        untraced=WHOLE,
    ),
    Row(
        "on the model only",
        lambda cb: lcel(model=Scripted(callbacks=[cb])).invoke(QUESTION),
        [
            Expected(
                question=PROMPT.invoke({"context": format_docs(Shelf().documents), "question": QUESTION})
                .to_messages()[0]
                .content,
                ids=None,
            )
        ],
        untraced=WHOLE,
    ),
    Row("a model alone", lambda cb: Scripted().invoke([HumanMessage(QUESTION)], config(cb)), [Expected(ids=None)]),
    Row(
        "a separate inner call",
        inner_separate,
        [Expected(question="outer question", ids=None), Expected(question="outer question")],
    ),
    Row("a late child", late_child, [Expected(ids=None)], untraced="it is a separate trace"),
    Row("in a plain thread", plain_thread),
    Row("nothing returned", nothing_returned, [Expected(answer=None)]),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_edge(row: Row) -> None:
    check(row)

"""Earlier turns, and the condensed question, of chat engines and agents."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from llama_index.core.agent.workflow import ReActAgent
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.base.response.schema import Response
from llama_index.core.instrumentation.dispatcher import instrument_tags
from llama_index.core.memory import ChatMemoryBuffer, Memory
from llama_index.core.query_engine import CustomQueryEngine, TransformQueryEngine
from llama_index.core.tools import QueryEngineTool

from llama_index.doubles import Completions
from ragmetrics_core import InvalidInput, Metric, Score
from ragmetrics_llama_index import QueryEvaluationHandler

pytestmark = pytest.mark.usefixtures("nothing_stays_attached")

SAID = "She was born in London"
TURNS = [{"role": "user", "content": "first"}, {"role": "assistant", "content": SAID}]
MESSAGES = [ChatMessage("first"), ChatMessage(SAID, role="assistant")]
MODES = ["context", "condense_question", "condense_plus_context", "simple"]
CONDENSING = MODES[1:3]


@dataclass(frozen=True)
class Turns(Metric):
    """The number of earlier turns."""

    scale = None

    def measure(self, user_input: str, history: Sequence[Mapping[str, Any]] = ()) -> Score:
        return Score(float(len(history)))


def chat_engine(index: Any, mode: str, **settings: Any) -> Any:
    return index.as_chat_engine(chat_mode=mode, llm=Completions(SAID, is_chat=True), **settings)


def buffered(index: Any, mode: str) -> Any:
    return chat_engine(index, mode, memory=ChatMemoryBuffer.from_defaults(token_limit=999))


async def two_turns(engine: Any, question: Any = "last", **second: Any) -> list[tuple[Any, Any, Any]]:
    with QueryEvaluationHandler([Turns()], question=question, workers=1) as handler:
        await engine.achat("first")
        await asyncio.to_thread(engine.chat, "second", **second)
        assert await asyncio.to_thread(handler.flush, 60)
    return [(item.query, item.history, item.results["turns"].score) for item in handler.results]


@pytest.mark.parametrize("mode", MODES)
async def test_the_history_is_the_memory_before_the_turn(index: Any, mode: str) -> None:
    assert await two_turns(buffered(index, mode)) == [("first", None, 0.0), ("second", TURNS, 2.0)]


@pytest.mark.parametrize("mode", MODES)
async def test_the_condensed_question_is_what_the_engine_searched_with(index: Any, mode: str) -> None:
    second = SAID if mode in CONDENSING else "second"
    assert await two_turns(buffered(index, mode), "condensed") == [("first", None, 0.0), (second, TURNS, 2.0)]


@pytest.mark.parametrize("mode", MODES)
async def test_a_memory_in_a_database_is_not_read_but_the_messages_of_the_llm_are(index: Any, mode: str) -> None:
    """The engine that gives its LLM the history as one text leaves no messages to read."""
    history = None if mode == "condense_question" else TURNS
    engine = chat_engine(index, mode)
    found = await two_turns(engine)
    await engine._memory.sql_store._async_engine.dispose()
    assert [(query, turns) for query, turns, _ in found] == [("first", None), ("second", history)]


@pytest.mark.parametrize("mode", MODES)
async def test_a_history_that_is_given_comes_first(index: Any, mode: str) -> None:
    given = [ChatMessage("Be brief.", role="system"), ChatMessage("third"), ChatMessage("found", role="tool")]
    found = await two_turns(buffered(index, mode), chat_history=given)
    assert found[1] == ("second", [{"role": "user", "content": "third"}], 1.0)


@pytest.mark.parametrize("mode", CONDENSING)
async def test_a_streaming_turn(index: Any, mode: str) -> None:
    engine = buffered(index, mode)
    engine._memory.set(list(MESSAGES))
    with QueryEvaluationHandler([Turns()], question="condensed", workers=1) as handler:
        answer = await asyncio.to_thread(engine.stream_chat, "second")
        assert await asyncio.to_thread(lambda: "".join(answer.response_gen)) == SAID
        assert await asyncio.to_thread(handler.flush, 60)
    assert [(item.query, item.history) for item in handler.results] == [(SAID, TURNS)]


class Library(CustomQueryEngine):
    def custom_query(self, query_str: str) -> Response:
        return Response(f"found {query_str}")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # LlamaIndex' own
@pytest.mark.parametrize("question", ["last", "condensed"])
@pytest.mark.parametrize("in_database", [False, True])
async def test_an_agent_with_a_memory(question: str, in_database: bool) -> None:
    """What its LLM thinks in this turn is no earlier turn, but an agent writes its thoughts into its memory."""
    says = [
        'Thought: I look.\nAction: library\nAction Input: {"input": "Ada"}',
        f"Thought: I know.\nAnswer: {SAID}",
        'Thought: I look.\nAction: library\nAction Input: {"input": "the birth of Ada"}',
        "Thought: I know.\nAnswer: In 1815.",
    ]
    tool = QueryEngineTool.from_defaults(Library(), name="library", description="Books.")
    agent = ReActAgent(tools=[tool], llm=Completions(says, is_chat=True))
    memory: Any = Memory.from_defaults() if in_database else ChatMemoryBuffer.from_defaults(token_limit=999)
    with QueryEvaluationHandler([Turns()], question=question, workers=1) as handler:
        await agent.run("first", memory=memory)
        await agent.run("second", memory=memory)
        assert await asyncio.to_thread(handler.flush, 60)
    queries = ["first", "second"] if question == "last" else ["Ada", "the birth of Ada"]
    assert [item.query for item in handler.results] == queries
    if in_database:
        await memory.sql_store._async_engine.dispose()
    first, second = (item.history for item in handler.results)
    assert first is None
    assert [turn["role"] for turn in second] == ["user", "assistant"]
    assert second[0]["content"] == "first"
    assert second[1]["content"].endswith(f"Answer: {SAID}")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # LlamaIndex' own
async def test_an_agent_that_is_given_its_history() -> None:
    agent = ReActAgent(tools=[], llm=Completions([f"Thought: I know.\nAnswer: {SAID}"], is_chat=True))
    with QueryEvaluationHandler([Turns()], workers=1) as handler:
        await agent.run("second", chat_history=[*MESSAGES, ChatMessage("second")])
        assert await asyncio.to_thread(handler.flush, 60)
    assert [(item.query, item.history) for item in handler.results] == [("second", TURNS)]


def judged(run: Any, **settings: Any) -> QueryEvaluationHandler:
    with QueryEvaluationHandler([Turns()], workers=1, **settings) as handler:
        run()
        assert handler.flush(60)
    return handler


class Wordy:
    """A transformation that makes another question for the retrieval."""

    def __call__(self, query: Any, **_: Any) -> Any:
        return f"{query} in detail"

    run = __call__


def test_the_question_of_a_query_engine_is_never_another_one() -> None:
    engine = TransformQueryEngine(Library(), Wordy())  # type: ignore[arg-type]
    (found,) = judged(lambda: engine.query("first"), question="condensed").results
    assert (found.query, found.history, found.queries, found.response) == ("first", None, (), "found first in detail")


def test_the_history_in_the_tags_comes_first_and_is_no_metadata(index: Any) -> None:
    engine = buffered(index, "simple")
    with instrument_tags({"history": TURNS, "user": "u1"}):
        (found,) = judged(lambda: engine.chat("second")).results
    assert (found.history, found.results["turns"].score) == (TURNS, 2.0)
    assert found.to_dict()["sample"] == {
        "user_input": "second",
        "response": SAID,
        "retrieved_contexts": [],
        "metadata": {"user": "u1"},
        "history": TURNS,
    }


def test_a_function_finds_the_question(index: Any) -> None:
    def question(found: Any) -> str:
        return f"{found.query} < {', '.join(found.queries)} < {len(found.history or ())}"

    engine = buffered(index, "condense_question")
    handler = judged(lambda: [engine.chat("first"), engine.chat("second")], question=question)
    assert [item.query for item in handler.results] == ["first < first, first < 0", f"second < {SAID}, {SAID} < 2"]


@pytest.mark.parametrize("wrong", [lambda _: 1 / 0, lambda _: None], ids=["raises", "returns nothing"])
def test_a_function_that_fails_is_logged_and_the_query_is_not_judged(
    wrong: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        (found,) = judged(lambda: Library().query("first"), question=wrong).results
    assert (found.query, found.results) == ("first", {})
    assert any(word in caplog.text for word in ("division by zero", "question returned NoneType: return a text"))


def test_an_unknown_way() -> None:
    with pytest.raises(InvalidInput, match="question must be 'last', 'condensed' or a function, got 'first'"):
        QueryEvaluationHandler([Turns()], question="first")  # type: ignore[arg-type]

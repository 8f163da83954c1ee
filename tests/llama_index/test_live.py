"""A running application with chat engines and agents, and judges that fail, hang or come too late."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import threading
from typing import Any

import pytest
from llama_index.core.agent.workflow import AgentOutput, AgentWorkflow
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.base.response.schema import Response
from llama_index.core.evaluation import EvaluationResult, RelevancyEvaluator
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.dispatcher import instrument_tags
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.query_engine import CustomQueryEngine
from llama_index.core.schema import NodeWithScore, TextNode

from llama_index.doubles import Completions
from ragmetrics_core import ModelError
from ragmetrics_core.metrics import ExactMatch, RefineFaithfulness
from ragmetrics_core.testing import ScriptedLLM
from ragmetrics_llama_index import CorrectnessEvaluator, FaithfulnessEvaluator, QueryEvaluation, QueryEvaluationHandler
from waiting import HeldClock

YES = Completions("yes")

pytestmark = pytest.mark.usefixtures("nothing_stays_attached")


class Engine(CustomQueryEngine):
    def custom_query(self, query_str: str) -> Response:
        node = NodeWithScore(node=TextNode(text="context", id_="c", metadata={"author": "Ann"}), score=0.5)
        return Response(f"answer to {query_str}", source_nodes=[node])


def chat_engine(index: Any, mode: str, said: Any = "She was born in London") -> Any:
    llm = Completions(said, is_chat=True)
    return index.as_chat_engine(chat_mode=mode, llm=llm, memory=ChatMemoryBuffer.from_defaults(token_limit=999))


@pytest.mark.parametrize("mode", ["context", "condense_question", "condense_plus_context", "simple"])
async def test_turns_of_chat_engines(index: Any, mode: str) -> None:
    """With the user's own message, also where a chat engine makes another question of it."""
    engine = chat_engine(index, mode)
    with (
        QueryEvaluationHandler([ExactMatch()], workers=1) as handler,
        instrument_tags({"reference": "She was born in London"}),
    ):
        await engine.achat("first")
        await asyncio.to_thread(engine.chat, "second")
        assert await asyncio.to_thread(handler.flush, 60)
    assert [(item.query, item.response) for item in handler.results] == [
        ("first", "She was born in London"),
        ("second", "She was born in London"),
    ]
    assert [item.results["exact_match"].score for item in handler.results] == [1.0, 1.0]
    assert all(bool(item.contexts) == (mode != "simple") for item in handler.results)
    nested = {"nested": 2} if mode == "condense_question" else {}
    assert handler.counts == {"evaluated": 2, **nested}


@pytest.mark.parametrize("mode", ["context", "condense_question"])
async def test_streaming_turns_of_chat_engines(index: Any, mode: str) -> None:
    engine = chat_engine(index, mode)
    with QueryEvaluationHandler([RefineFaithfulness()], llm=YES, workers=1) as handler:
        response = await engine.astream_chat("first")
        assert [token async for token in response.async_response_gen()] == ["She", " was", " born", " in", " London"]
        again = await asyncio.to_thread(engine.stream_chat, "second")
        assert await asyncio.to_thread(lambda: "".join(again.response_gen)) == "She was born in London"
        assert await asyncio.to_thread(handler.flush, 60)
    assert [(item.query, item.response) for item in handler.results] == [
        ("first", "She was born in London"),
        ("second", "She was born in London"),
    ]
    assert all(item.contexts and item.results["refine_faithfulness"].score == 1.0 for item in handler.results)
    assert handler.counts.get("unread", 0) == 0


class Agent(AgentWorkflow):
    """The spans of an agent, without its steps."""

    def __init__(self, work: Any) -> None:
        self.work = work

    async def run(self, user_msg: str) -> Any:  # type: ignore[override]
        span_id = f"Agent.run-{id(object())}"
        dispatcher = get_dispatcher()
        arguments = contextlib.nullcontext()
        carried = {"init_state": None, "start_event": Started(user_msg), "tags": {"instrument_tags": {"example_id": 7}}}
        arguments.arguments = carried  # type: ignore[attr-defined]
        options: dict[str, Any] = {"bound_args": arguments, "instance": self}
        dispatcher.span_enter(span_id, **options)
        output = await self.work()
        dispatcher.span_exit(span_id, **options, result=Stopped(output))
        return output


class Started:
    def __init__(self, user_msg: Any) -> None:
        self.user_msg = user_msg


class Stopped:
    def __init__(self, result: Any) -> None:
        self.result = result


@pytest.mark.parametrize("message", ["Where?", ChatMessage(content="Where?")], ids=["text", "message"])
async def test_runs_of_agents(message: Any) -> None:
    async def work() -> AgentOutput:
        await Engine().aquery("a question of the agent")
        return AgentOutput(response=ChatMessage(content="In London."), current_agent_name="a")

    with QueryEvaluationHandler([ExactMatch()], workers=1) as handler:
        await asyncio.create_task(Agent(work).run(message))
        await Engine().aquery("afterwards")
        assert await asyncio.to_thread(handler.flush, 60)
    assert [(item.query, item.response) for item in handler.results] == [
        ("Where?", "In London."),
        ("afterwards", "answer to afterwards"),
    ]
    assert [item.tags for item in handler.results] == [{"example_id": 7}, {}]
    assert handler.counts["nested"] == 1


@pytest.mark.parametrize("way", ["metric", "recording drop-in", "raising drop-in"])
def test_a_dead_judge_is_seen(way: str, caplog: pytest.LogCaptureFixture) -> None:
    """In the same way, whether an evaluator records its failures or raises them."""
    dead = ScriptedLLM(lambda ask: ModelError("the judge cannot be reached"))
    judges = {
        "metric": RefineFaithfulness(name="x"),
        "recording drop-in": FaithfulnessEvaluator(dead, on_error="record"),
        "raising drop-in": FaithfulnessEvaluator(dead),
    }
    with caplog.at_level(logging.WARNING), QueryEvaluationHandler([judges[way]], llm=dead) as handler:
        for number in range(3):
            Engine().query(str(number))
        assert handler.flush(60)
    assert handler.counts == {"evaluated": 3, "invalid": 3}
    assert handler.errors == []
    for evaluation in handler.results:
        (result,) = evaluation.results.values()
        assert (result.score, result.passing, result.invalid_result) == (None, None, True)
        assert result.invalid_reason == "ModelError: the judge cannot be reached"
        assert result.response == evaluation.response
    (message,) = caplog.messages
    assert message.endswith("the judge cannot be reached; further failures are only counted, see counts")


def test_nothing_to_judge_is_no_failure(caplog: pytest.LogCaptureFixture) -> None:
    class Silent(CustomQueryEngine):
        def custom_query(self, query_str: str) -> Response:
            return Response("", source_nodes=[])

    with (
        caplog.at_level(logging.WARNING),
        QueryEvaluationHandler([RefineFaithfulness()], llm=YES, workers=1) as handler,
    ):
        Silent().query("?")
        assert handler.flush(60)
    assert (handler.counts, caplog.messages) == ({"evaluated": 1}, [])
    assert handler.results[0].results["refine_faithfulness"].label in ("no_answer", "no_retrieval")  # type: ignore[attr-defined]


def test_a_judge_that_hangs_loses_its_place(held_clock: HeldClock) -> None:
    release, hung = threading.Event(), threading.Event()

    def reply(ask: Any) -> str:
        if "hang" in str(ask.messages[-1].content):
            hung.set()
            release.wait(60)
        return "yes"

    llm = ScriptedLLM(reply)
    with QueryEvaluationHandler([RefineFaithfulness()], llm=llm, workers=1, timeout=3) as handler:
        Engine().query("hang")
        Engine().query("go on")
        assert hung.wait(60)
        held_clock.move(3)
        assert handler.flush(60)
    release.set()
    fine, hanging = sorted(handler.results, key=lambda item: item.query)
    assert "no answer within 3 seconds" in str(hanging.results["refine_faithfulness"].invalid_reason)
    assert fine.results["refine_faithfulness"].score == 1.0
    assert handler.counts == {"evaluated": 2, "timed_out": 1}


def test_equal_questions_of_two_metrics_are_one_call() -> None:
    """Also if they are given one LLM of LlamaIndex, which has no asynchronous methods. An equal query is judged once."""
    llm = Completions("yes", delay=0.3)
    metrics = [RefineFaithfulness(name="one"), RefineFaithfulness(name="other")]
    with QueryEvaluationHandler(metrics, llm=llm) as handler:
        for _ in range(2):
            Engine().query("Where?")
            assert handler.flush(60)
            assert len(llm.prompts) == 1
    assert [result.score for item in handler.results for result in item.results.values()] == [1.0] * 4


def test_an_evaluator_of_llama_index_runs_in_a_thread() -> None:
    threads: list[str] = []

    class Own(RelevancyEvaluator):
        def evaluate_response(self, *_: Any, **__: Any) -> EvaluationResult:
            threads.append(threading.current_thread().name)
            return EvaluationResult(score=0.5, passing=True)

    with QueryEvaluationHandler([Own(llm=YES)]) as handler:
        Engine().query("Where?")
        assert handler.flush(60)
    assert threads == ["ragmetrics-call"]
    assert handler.results[0].results["Own"].score == 0.5


async def test_an_asynchronous_on_result_runs_to_its_end() -> None:
    options: list[str] = []

    async def tell(evaluation: QueryEvaluation) -> None:
        await asyncio.sleep(0)
        options.append(evaluation.query)
        if evaluation.query == "bad":
            raise ValueError("no such row")
        handler.flush()  # does not wait for itself

    with QueryEvaluationHandler([CorrectnessEvaluator(Completions("4\nok"))], on_result=tell) as handler:
        Engine().query("good")
        Engine().query("bad")
        assert await asyncio.to_thread(handler.flush, 60)
    assert sorted(options) == ["bad", "good"]
    assert [str(error) for error in handler.errors] == ["no such row"]
    assert handler.counts == {"evaluated": 2, "failed": 1}


def test_streams_that_are_not_read_are_counted(index: Any) -> None:
    engine = index.as_query_engine(llm=Completions("She was born"), streaming=True)
    with QueryEvaluationHandler([RefineFaithfulness()], llm=YES, workers=1) as handler:
        unread = engine.query("Where?")
        begun = engine.query("When?")
        next(begun.response_gen)
        assert handler.counts == {"unread": 2}
        begun.response_gen.close()
        assert handler.counts == {"unread": 1, "abandoned": 1}
        unread.response_gen.close()  # never begun
        del unread
        gc.collect()
        assert handler.counts == {"unread": 1, "abandoned": 1}
        assert str(engine.query("Who?")) == "She was born"
        assert handler.flush(60)
    assert handler.counts == {"unread": 1, "abandoned": 1, "evaluated": 1}


async def test_a_task_that_outlives_its_query_is_not_nested() -> None:
    tasks: list[Any] = []

    async def later() -> None:
        await asyncio.sleep(0.01)
        await Engine().aquery("later")

    class Starting(CustomQueryEngine):
        def custom_query(self, query_str: str) -> Response:
            raise NotImplementedError

        async def acustom_query(self, query_str: str) -> Response:
            tasks.append(asyncio.create_task(later()))
            return Response("at once", source_nodes=[])

    with QueryEvaluationHandler([ExactMatch()], workers=1) as handler, instrument_tags({"reference": "x"}):
        await Starting().aquery("now")
        await tasks[0]
        assert await asyncio.to_thread(handler.flush, 60)
    assert [item.query for item in handler.results] == ["now", "later"]
    assert handler.counts == {"evaluated": 2}


def test_the_judges_read_the_metadata_by_default() -> None:
    for settings, context in [({}, "author: Ann\n\ncontext"), ({"metadata_mode": "none"}, "context")]:
        made: dict[str, Any] = {"llm": Completions("yes"), **settings}
        with QueryEvaluationHandler([RefineFaithfulness()], **made) as handler:
            Engine().query("?")
            assert handler.flush(60)
        (evaluation,) = handler.results
        assert evaluation.contexts == evaluation.results["refine_faithfulness"].contexts == [context]

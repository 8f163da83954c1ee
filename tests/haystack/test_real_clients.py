"""The evaluators with the client of OpenAI against a server on this machine, in several event loops and in a pipeline."""

from __future__ import annotations

import asyncio
from typing import Any

from haystack import Pipeline
from loopback import OpenAIServer
from ragmetrics_core import Ask, Prompt
from ragmetrics_core.metrics import ExactMatch
from ragmetrics_core.replies import YesNoReply
from ragmetrics_haystack import FaithfulnessEvaluator, HaystackLLM, MetricEvaluator
from waiting import Crowd

QUESTION = Prompt("Is it so?", YesNoReply(), name="is_it_so")


def ask(prompt: Prompt[Any] = QUESTION, text: str = "yes?") -> Ask:
    return Ask(prompt.messages({"text": text}), prompt.reply, prompt, {"text": text})


def test_a_generator_of_another_loop(judge: Any) -> None:
    class Generator(judge):  # type: ignore[misc,valid-type]
        async def run_async(self, messages: list[Any]) -> dict[str, Any]:
            raise RuntimeError("<Lock> is bound to a different event loop")

    assert asyncio.run(HaystackLLM(Generator("YES")).agenerate(ask())).value == "YES"
    evaluator = FaithfulnessEvaluator(chat_generator=Generator('{"statements": ["s"], "statement_scores": [1]}'))
    assert asyncio.run(evaluator.run_async(**ROWS))["score"] == 1.0


ROWS = {"questions": [f"q{n}" for n in range(24)], "contexts": [["c"]] * 24, "predicted_answers": ["a"] * 24}


def test_an_evaluator_with_a_real_client(server: OpenAIServer, openai: Any) -> None:
    """Several event loops and no loop, one generator: its asynchronous client belongs to the first loop alone."""
    crowd = Crowd(4)
    server.responder = lambda body: '{"statements": ["s"], "statement_scores": [1]}' if crowd.wait() else "alone"
    evaluator = FaithfulnessEvaluator(chat_generator=openai(server), progress_bar=False)
    for outputs in (
        asyncio.run(evaluator.run_async(**ROWS)),
        evaluator.run(**ROWS),
        asyncio.run(evaluator.run_async(**ROWS)),
        asyncio.run(FaithfulnessEvaluator(chat_generator=evaluator._chat_generator).run_async(**ROWS)),
    ):
        assert outputs["individual_scores"] == [1.0] * 24
        assert len(outputs["meta"]) == 24
        assert outputs["meta"][0]["usage"]["prompt_tokens"] > 0
    assert len(server.chats) == 4 * 24
    assert 4 <= server.max_in_flight <= 16


def test_an_evaluator_in_an_asynchronous_pipeline(server: OpenAIServer, openai: Any) -> None:
    server.responder = lambda body: '{"statements": ["s"], "statement_scores": [1]}'
    pipeline = Pipeline()
    pipeline.add_component("faithful", FaithfulnessEvaluator(chat_generator=openai(server), progress_bar=False))
    pipeline.add_component("match", MetricEvaluator(ExactMatch()))
    data = {"faithful": ROWS, "match": {"response": ["a"], "reference": ["a"]}}
    outputs = asyncio.run(pipeline.run_async(data))
    assert (outputs["faithful"]["score"], outputs["match"]["score"]) == (1.0, 1.0)

"""The evaluators in every place of LlamaIndex that takes one."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from llama_index.core import Settings
from llama_index.core.callbacks import CallbackManager, TokenCountingHandler
from llama_index.core.evaluation import BatchEvalRunner
from llama_index.core.query_engine import RetryGuidelineQueryEngine, RetryQueryEngine
from llama_index.core.tools.eval_query_engine import EvalQueryEngineTool

from llama_index.doubles import Completions, openai_like
from loopback import OpenAIServer, server_error
from ragmetrics_core.metrics import Correctness, ExactMatch, RefineFaithfulness
from ragmetrics_llama_index import (
    CorrectnessEvaluator,
    FaithfulnessEvaluator,
    GuidelineEvaluator,
    MetricEvaluator,
    RelevancyEvaluator,
)

QUERIES = ["Where was Ada born?", "What did Mendel breed?"]
runner_warns = pytest.mark.filterwarnings("ignore:asyncio_module:DeprecationWarning")  # LlamaIndex's own


@runner_warns
async def test_batch_runner_with_one_form_of_arguments() -> None:
    evaluators = {
        "exact": MetricEvaluator(ExactMatch()),
        "faithful": FaithfulnessEvaluator(Completions("yes")),
        "correct": CorrectnessEvaluator(Completions("2\nWrong.")),
    }
    results = await BatchEvalRunner(evaluators, workers=4).aevaluate_response_strs(
        queries=QUERIES,
        response_strs=["London", "cats"],
        contexts_list=[["London"], ["peas"]],
        reference=["London", "peas"],
    )
    assert [item.score for item in results["exact"]] == [1.0, 0.0]
    assert [item.score for item in results["faithful"]] == [1.0, 1.0]
    assert [item.score for item in results["correct"]] == [2.0, 2.0]


@runner_warns
async def test_batch_runner_with_arguments_by_evaluator(index: Any) -> None:
    evaluators = {"exact": MetricEvaluator(ExactMatch()), "faithful": FaithfulnessEvaluator(Completions("yes"))}
    engine = index.as_query_engine(llm=Completions("London"))
    responses = [await engine.aquery(query) for query in QUERIES]
    results = await BatchEvalRunner(evaluators).aevaluate_responses(
        queries=QUERIES, responses=responses, exact={"reference": ["London", "peas"]}
    )
    assert [item.score for item in results["exact"]] == [1.0, 0.0]
    assert [item.passing for item in results["faithful"]] == [True, True]


@runner_warns
def test_batch_runner_over_queries_synchronously(index: Any) -> None:
    engine = index.as_query_engine(llm=Completions("London"))
    runner = BatchEvalRunner({"faithful": FaithfulnessEvaluator(Completions("yes"))})
    results = runner.evaluate_queries(engine, QUERIES)
    assert [item.query for item in results["faithful"]] == QUERIES


@runner_warns
async def test_one_failure_costs_no_batch(server: OpenAIServer, llm: Any) -> None:
    server.queue.append(server_error())
    evaluator = MetricEvaluator(RefineFaithfulness(), llm=llm, on_error="record")
    results = await BatchEvalRunner({"faithful": evaluator}, workers=1).aevaluate_response_strs(
        queries=QUERIES, response_strs=["London", "peas"], contexts_list=[["London"], ["peas"]]
    )
    first, second = results["faithful"]
    assert first.invalid_result
    assert second.score == 1.0


@pytest.mark.parametrize("feedback", ["NO", '{"reason": "it is not there", "answer": "no"}'])
def test_retry_query_engine(index: Any, feedback: str) -> None:
    Settings.llm = Completions("unused")
    engine = index.as_query_engine(llm=Completions(["Paris", "London"]))
    judge = Completions([feedback, "YES"])
    response = RetryQueryEngine(engine, RelevancyEvaluator(judge)).query(QUERIES[0])
    assert str(response) == "London"
    assert len(judge.prompts) == 2
    assert "Here is a previous bad answer.\\nParis" in judge.prompts[1]


def test_retry_query_engine_with_any_metric_and_an_unreadable_judge(index: Any) -> None:
    Settings.llm = Completions("unused")
    engine = index.as_query_engine(llm=Completions(["Paris", "London"]))
    judge = Completions(["Hm.", "Hm.", "5\nRight."])
    response = RetryQueryEngine(engine, MetricEvaluator(Correctness(), llm=judge)).query(QUERIES[0])
    assert str(response) == "London"


def test_retry_guideline_query_engine(index: Any) -> None:
    Settings.llm = Completions("unused")
    answers = Completions(["Paris", "London"])
    judge = Completions(['{"passing": false, "feedback": "Name the right city."}', '{"passing": true, "feedback": ""}'])
    engine = RetryGuidelineQueryEngine(index.as_query_engine(llm=answers), GuidelineEvaluator(judge))
    assert str(engine.query(QUERIES[0])) == "London"
    assert "Name the right city." in answers.prompts[1]


@pytest.mark.parametrize(("verdict", "output"), [("yes", "London"), ("no", "Could not use tool")])
async def test_eval_query_engine_tool(index: Any, verdict: str, output: str) -> None:
    engine = index.as_query_engine(llm=Completions("London"))
    evaluator = FaithfulnessEvaluator(Completions(verdict))
    tool = EvalQueryEngineTool.from_defaults(engine, name="ada", description="About Ada.", evaluator=evaluator)
    assert str(tool.call(input=QUERIES[0]).content).startswith(output)
    assert str((await tool.acall(input=QUERIES[0])).content).startswith(output)


def test_callbacks_and_token_counters_see_the_judge(server: OpenAIServer) -> None:
    counter = TokenCountingHandler(tokenizer=str.split)
    llm = openai_like(server, "sk-secret-4711-abcdefghijklmnop", callback_manager=CallbackManager([counter]))
    evaluator = FaithfulnessEvaluator(llm)
    evaluator.evaluate(response="x", contexts=["y"])
    asyncio.run(evaluator.aevaluate(response="x", contexts=["y"]))
    assert len(counter.llm_token_counts) == 2
    assert counter.total_llm_token_count > 0

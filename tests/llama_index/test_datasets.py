"""Query engines, chat engines and retrievers that are asked every question of a data set."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import pytest
from llama_index.core.base.response.schema import Response
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.query_engine import CustomQueryEngine
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from llama_index.doubles import Completions
from ragmetrics_core import InvalidInput, Sample
from ragmetrics_core.metrics import ExactMatch, HitRate, RefineFaithfulness
from ragmetrics_llama_index import (
    aevaluate_query_engine,
    aevaluate_retriever,
    evaluate_query_engine,
    evaluate_retriever,
)

SAMPLES = [Sample(user_input=name, reference=f"answer to {name}", id=name) for name in ("one", "two", "three", "four")]


class Sometimes(CustomQueryEngine):
    """A query engine that fails on one question."""

    error: Any
    asked: Any = None
    awaited: Any = None

    def custom_query(self, query_str: str) -> Response:
        if self.asked is not None:
            self.asked.append(query_str)
        if query_str == "two":
            raise self.error
        node = NodeWithScore(node=TextNode(text="context", id_=query_str, metadata={"author": "Ann"}), score=0.5)
        return Response(f"answer to {query_str}", source_nodes=[node])

    async def acustom_query(self, query_str: str) -> Response:
        self.awaited.append(query_str)
        return self.custom_query(query_str)


@pytest.mark.parametrize("form", ["blocking", "awaited"])
@pytest.mark.parametrize("error", [RuntimeError("no answer, key=sk-secret-4711-abcdefghijklmnop"), KeyError("choices")])
async def test_a_query_that_fails_costs_only_its_row(form: str, error: Exception) -> None:
    engine = Sometimes(error=error, awaited=[])
    if form == "awaited":
        evaluation = await aevaluate_query_engine(SAMPLES, engine, ExactMatch(), progress=False)
        assert sorted(engine.awaited) == ["four", "one", "three", "two"]
    else:
        evaluation = evaluate_query_engine(SAMPLES, engine, ExactMatch(), progress=False)
        assert engine.awaited == []
    scores = evaluation.scores["exact_match"]
    assert [score.value for score in scores] == [1.0, None, 1.0, 1.0]
    assert [(row.id, row.user_input) for row in evaluation.rows] == [(item.id, item.id) for item in SAMPLES]
    assert str(scores[1].error).startswith(f"InvalidInput: row 2: the query engine failed: {type(error).__name__}: ")
    assert "sk-secret" not in str(scores[1].error)


@pytest.mark.parametrize("form", ["blocking", "awaited"])
async def test_a_query_that_fails_ends_the_run_where_that_is_asked_for(form: str) -> None:
    engine = Sometimes(error=RuntimeError("no answer"), asked=[], awaited=[])
    run: Any = aevaluate_query_engine if form == "awaited" else partial(asyncio.to_thread, evaluate_query_engine)
    with pytest.raises(RuntimeError, match="^no answer$"):
        await run(SAMPLES, engine, ExactMatch(), on_error="raise", workers=1)
    assert "four" not in engine.asked


def test_the_judge_reads_the_metadata_by_default() -> None:
    engine = Sometimes(error=None)
    for settings, context in [({}, "author: Ann\n\ncontext"), ({"metadata_mode": "none"}, "context")]:
        made: dict[str, Any] = {"llm": Completions("yes"), "progress": False, **settings}
        evaluation = evaluate_query_engine(SAMPLES[:1], engine, RefineFaithfulness(), **made)
        assert evaluation.rows[0].retrieved_contexts == [context]
        assert evaluation.rows[0].retrieved_documents[0].content == "context"  # type: ignore[index]
    with pytest.raises(InvalidInput, match="evaluate_query_engine: metadata_mode must be"):
        evaluate_query_engine(SAMPLES, engine, ExactMatch(), metadata_mode="every")


@pytest.mark.parametrize("mode", ["context", "condense_question"])
@pytest.mark.parametrize("form", ["blocking", "awaited"])
async def test_a_chat_engine_answers_every_question_without_the_others(index: Any, mode: str, form: str) -> None:
    llm = Completions("London", is_chat=True)
    memory = ChatMemoryBuffer.from_defaults(token_limit=999)
    engine = index.as_chat_engine(chat_mode=mode, llm=llm, memory=memory)
    samples = [Sample(user_input=f"question {number}?", reference="London") for number in range(3)]
    run = aevaluate_query_engine if form == "awaited" else evaluate_query_engine
    outcome: Any = run(samples, engine, ExactMatch(), workers=3, progress=False)
    evaluation = await outcome if asyncio.iscoroutine(outcome) else outcome
    assert [score.value for score in evaluation.scores["exact_match"]] == [1.0] * 3
    assert all(row.retrieved_contexts for row in evaluation.rows)
    for prompt in llm.prompts:
        assert sum(f"question {number}?" in prompt for number in range(3)) == 1


class Found(BaseRetriever):
    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        if query_bundle.query_str == "two":
            raise TimeoutError
        return [NodeWithScore(node=TextNode(text="text", id_=query_bundle.query_str), score=1.0)]


@pytest.mark.parametrize("form", ["blocking", "awaited"])
async def test_a_retriever_that_fails_costs_only_its_row(form: str) -> None:
    samples = [Sample(user_input=item.user_input, reference_documents=["one"]) for item in SAMPLES]
    run = aevaluate_retriever if form == "awaited" else evaluate_retriever
    outcome: Any = run(samples, Found(), HitRate(field="id"), progress=False)
    evaluation = await outcome if asyncio.iscoroutine(outcome) else outcome
    scores = evaluation.scores["hit_rate"]
    assert [score.value for score in scores] == [1.0, None, 0.0, 0.0]
    assert str(scores[1].error).startswith("InvalidInput: row 2: the retriever failed: TimeoutError")


def test_nothing_is_asked_where_something_is_wrong() -> None:
    engine = Sometimes(error=None, asked=[])
    with pytest.raises(InvalidInput, match="sample 's1' has no user_input to ask"):
        evaluate_query_engine([*SAMPLES, Sample(id="s1")], engine, ExactMatch())
    with pytest.raises(InvalidInput, match="workers must be a whole number from 1, got 0"):
        evaluate_query_engine(SAMPLES, engine, ExactMatch(), workers=0)
    with pytest.raises(InvalidInput, match="takes a query engine or a chat engine, got str"):
        evaluate_query_engine(SAMPLES, "engine", ExactMatch())  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="two metrics are named 'exact_match'"):
        evaluate_query_engine(SAMPLES, engine, [ExactMatch(), ExactMatch()])
    with pytest.raises(InvalidInput, match="max_concurrency must be a whole number from 1, got 0"):
        evaluate_query_engine(SAMPLES, engine, ExactMatch(), max_concurrency=0)
    assert engine.asked == []


def test_no_more_is_asked_than_is_scored(tmp_path: Any) -> None:
    engine = Sometimes(error=None, asked=[])
    options: dict[str, Any] = {"limit": 1, "run_dir": tmp_path / "run", "progress": False}
    evaluation = evaluate_query_engine(SAMPLES, engine, iter([ExactMatch()]), **options)
    assert ([score.value for score in evaluation.scores["exact_match"]], engine.asked) == ([1.0], ["one"])


@pytest.mark.parametrize("form", ["blocking", "awaited"])
async def test_rows_may_be_mappings(form: str) -> None:
    rows: list[Any] = [
        {"question": "one", "reference": "answer to one"},
        Sample(user_input="three", reference="no", id="s"),
    ]
    engine = Sometimes(error=None, awaited=[])
    if form == "awaited":
        evaluation = await aevaluate_query_engine(rows, engine, ExactMatch(), progress=False)
    else:
        evaluation = evaluate_query_engine(rows, engine, ExactMatch(), progress=False)
    assert list(evaluation["exact_match"]) == [1.0, 0.0]
    assert [row.id for row in evaluation.rows] == [None, "s"]
    with pytest.raises(
        InvalidInput, match="^row 1: a row must be a Sample or a mapping from column names to values, got str$"
    ):
        evaluate_query_engine(["one"], engine, ExactMatch(), progress=False)  # type: ignore[list-item]

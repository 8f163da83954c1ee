"""Metrics as evaluators of LangSmith (offline) and of openevals."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

import pytest
import requests
from langchain_core.documents import Document
from langchain_core.load import dumpd
from langchain_core.messages import AIMessage, HumanMessage
from langsmith import Client, aevaluate, evaluate
from langsmith.run_helpers import tracing_context
from langsmith.schemas import Example
from lc_parts import ANSWER, D1, D2, QUESTION, with_sources
from openevals.types import SimpleEvaluator

from ragmetrics_core import BadReply, InvalidInput, MissingInput
from ragmetrics_core.llms import LexicalJudge
from ragmetrics_core.metrics import ExactMatch, Faithfulness, Recall
from ragmetrics_core.testing import ScriptedLLM
from ragmetrics_langchain import MetricRunnable, as_langsmith_evaluator, as_openevals

BETA = pytest.mark.filterwarnings("ignore:'upload_(results|runs)' parameter is in beta")

FAITHFUL = as_langsmith_evaluator(Faithfulness(), llm=LexicalJudge())
MATCH = as_langsmith_evaluator(ExactMatch())


@pytest.mark.parametrize(
    "outputs",
    [
        {"answer": ANSWER, "context": [D1, D2]},
        {"output": ANSWER, "contexts": [D1.page_content]},
        {"result": ANSWER, "source_documents": [D1]},
        {"answer": AIMessage(ANSWER), "documents": dumpd([D1])},
        {"messages": [HumanMessage(QUESTION), AIMessage(ANSWER)], "docs": [D1]},
    ],
)
def test_outputs_in_every_dialect(outputs: Any) -> None:
    result = FAITHFUL(inputs={"question": QUESTION}, outputs=outputs)
    assert (result["key"], result["score"]) == ("faithfulness", 1.0)
    assert result["metadata"]["details"]["verdicts"][0]["supported"] is True


def test_contexts_in_the_inputs_count_too() -> None:
    assert FAITHFUL({"question": QUESTION, "context": [D1]}, ANSWER)["score"] == 1.0


@pytest.mark.parametrize(
    "reference",
    [{"answer": ANSWER}, {"reference": ANSWER}, {"ground_truth": ANSWER, "answer": "x"}, {"output": ANSWER}, ANSWER],
)
def test_references_in_every_dialect(reference: Any) -> None:
    assert MATCH({"input": QUESTION}, {"answer": ANSWER}, reference)["score"] == 1.0


def test_unusual_keys() -> None:
    evaluator = as_langsmith_evaluator(
        Faithfulness(), llm=LexicalJudge(), key="grounded", question_key="q", answer_key="a", contexts_key="found"
    )
    result = evaluator({"q": QUESTION, "n": "1"}, {"a": ANSWER, "b": "x", "found": [D1], "context": ["nothing"]})
    assert (result["key"], result["score"], evaluator.__name__) == ("grounded", 1.0, "grounded")
    wrong = evaluator({"question": "x"}, {"a": ANSWER, "found": [D1]})
    assert (wrong["key"], wrong["score"], wrong["extra"]) == ("grounded", None, {"error": True})
    assert wrong["comment"] == "InvalidInput: there is no 'q' in ['question']"
    by_key = as_langsmith_evaluator(ExactMatch(), reference_key="gold")
    assert by_key({"question": "x"}, {"answer": "a"}, {"gold": "a", "silver": "b"})["score"] == 1.0


def test_references_that_are_documents() -> None:
    evaluator = as_langsmith_evaluator(Recall(field="id"))
    assert evaluator({"question": "x"}, {"context": [D1]}, {"reference_documents": [D1, D2]})["score"] == 0.5


def test_unscored_and_failed() -> None:
    silent = as_langsmith_evaluator(Faithfulness(llm=ScriptedLLM('{"claims": []}')))
    result = silent({"question": QUESTION}, {"answer": ANSWER, "context": [D1]})
    assert (result["score"], result["comment"]) == (None, "the response makes no claims")
    failed = FAITHFUL({"question": QUESTION}, {"answer": ANSWER})
    assert (failed["score"], failed["extra"]) == (None, {"error": True})
    assert failed["comment"].startswith("MissingInput: faithfulness needs 'retrieved_contexts'")
    with pytest.raises(MissingInput, match="faithfulness needs 'retrieved_contexts'"):
        as_openevals(Faithfulness(), llm=LexicalJudge())(inputs=QUESTION, outputs=ANSWER)


def examples() -> list[Example]:
    from uuid import uuid4

    rows = [(QUESTION, ANSWER), ("Who was Lord Byron?", "A poet.")]
    dataset = uuid4()
    return [
        Example(id=uuid4(), dataset_id=dataset, inputs={"question": question}, outputs={"answer": answer})
        for question, answer in rows
    ]


def target(inputs: dict[str, Any]) -> dict[str, Any]:
    with tracing_context(enabled=False):  # LangChain itself would send the chain's trace
        found: dict[str, Any] = with_sources().invoke(inputs["question"])
    return found


def client() -> Client:
    return Client(api_url="http://127.0.0.1:9", api_key="none", session=Offline())


class Offline(requests.Session):
    def request(self, method: Any, url: Any, *args: Any, **kwargs: Any) -> Any:
        sent.append(url)
        raise requests.ConnectionError("there is no network here")


sent: list[Any] = []


def scores(results: Any) -> dict[str, dict[str, Any]]:
    return {
        row["example"].inputs["question"]: {item.key: item for item in row["evaluation_results"]["results"]}
        for row in results
    }


@BETA
def test_langsmith_offline() -> None:
    refused = ScriptedLLM(lambda ask: BadReply("the judge refuses"))
    broken = as_langsmith_evaluator(Faithfulness(llm=refused), key="a judge that refuses")
    results = evaluate(
        target, data=examples(), evaluators=[FAITHFUL, MATCH, broken], upload_results=False, client=client()
    )
    found = scores(results)
    assert {name: item.score for name, item in found[QUESTION].items()} == {
        "faithfulness": 1.0,
        "exact_match": 1.0,
        "a judge that refuses": None,
    }
    assert found["Who was Lord Byron?"]["exact_match"].score == 0.0
    assert [url for url in sent if "/runs" in url or "/feedback" in url] == []
    failed = found[QUESTION]["a judge that refuses"]
    assert failed.extra == {"error": True}
    assert failed.comment == "BadReply: the judge refuses"


def test_other_kinds_of_evaluators_are_not_supported() -> None:
    """LangSmith hands the outputs of all rows to one of a summary, and those of several experiments to one that compares."""
    result = MATCH([{"question": "q"}] * 2, [{"answer": "a"}] * 2, [{"answer": "a"}] * 2)
    assert result["comment"] == (
        "InvalidInput: exact_match judges one output, got a list of 2: pass it in evaluators=[...]; summary and comparative "
        "evaluators are not supported"
    )
    assert MATCH({"question": "q"}, [HumanMessage("q"), AIMessage("a")], "a")["score"] == 1.0


def test_comments_are_sentences() -> None:
    row: dict[str, Any] = {"inputs": QUESTION, "outputs": {"answer": "Ada. " + ANSWER, "context": [D1]}}
    judge = ScriptedLLM(
        {
            "extract_claims": '{"claims": ["A is B.", "C is D."]}',
            "verify_claims": '{"verdicts": [{"number": 1, "reason": "so", "supported": true}, '
            '{"number": 2, "reason": "nothing about C", "supported": false}]}',
        }
    )
    comment = "1 of 2 claims supported; not supported: 'C is D.' (nothing about C)"
    for make in (as_langsmith_evaluator, as_openevals):
        assert make(Faithfulness(llm=judge))(**row)["comment"] == comment  # type: ignore[operator]


def test_a_missing_judge_is_found_at_once() -> None:
    makers: list[Any] = [as_langsmith_evaluator, as_openevals, MetricRunnable]
    for make in makers:
        with pytest.raises(InvalidInput) as caught:
            make(Faithfulness())
        assert str(caught.value) == (
            "faithfulness asks an LLM, but none is set: give llm=..., a LangChain chat model such as ChatOpenAI(...), "
            "a LangChainLLM(...) with its own config, or any LLM of ragmetrics_core"
        )
        assert make(Faithfulness(), llm=LexicalJudge())
        assert make(ExactMatch())


@BETA
def test_langsmith_offline_async() -> None:
    async def run() -> dict[str, dict[str, Any]]:
        async def atarget(inputs: dict[str, Any]) -> dict[str, Any]:
            return target(inputs)

        results = await aevaluate(
            atarget, data=examples(), evaluators=[FAITHFUL], upload_results=False, client=client()
        )
        return scores([row async for row in results])

    assert asyncio.run(run())[QUESTION]["faithfulness"].score == 1.0


def test_openevals() -> None:
    evaluator: SimpleEvaluator = as_openevals(Faithfulness(), llm=LexicalJudge())  # type: ignore[assignment]
    for context in ([D1, D2], [D1.page_content], D1.page_content, [Document(ANSWER)]):
        result: Any = evaluator(inputs=QUESTION, outputs=ANSWER, context=context)
        assert set(result) == {"key", "score", "comment", "metadata", "source_run_id"}
        assert (result["key"], result["score"], result["source_run_id"]) == ("faithfulness", 1.0, None)
    parameters = inspect.signature(as_openevals(ExactMatch())).parameters
    assert [(name, parameter.kind.name) for name, parameter in parameters.items()] == [
        ("inputs", "KEYWORD_ONLY"),
        ("outputs", "KEYWORD_ONLY"),
        ("reference_outputs", "KEYWORD_ONLY"),
        ("kwargs", "VAR_KEYWORD"),
    ]
    match = as_openevals(ExactMatch(), key="same")
    assert match(inputs={"question": "q"}, outputs={"answer": "a"}, reference_outputs={"answer": "a"})["score"] == 1.0
    assert match(outputs=[HumanMessage("q"), AIMessage("a")], reference_outputs="a")["key"] == "same"
    assert match(outputs={"role": "assistant", "content": "a"}, reference_outputs="a")["score"] == 1.0


@BETA
def test_openevals_in_langsmith() -> None:
    results = evaluate(
        target, data=examples(), evaluators=[as_openevals(ExactMatch())], upload_results=False, client=client()
    )
    assert scores(results)[QUESTION]["exact_match"].score == 1.0

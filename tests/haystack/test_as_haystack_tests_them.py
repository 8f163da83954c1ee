"""The drop-in classes in the ways in which Haystack's own tests use its classes: patched generators, doubles, examples."""

from __future__ import annotations

import asyncio
import math
from typing import Any
from unittest.mock import AsyncMock, MagicMock, Mock

import pytest
from haystack.components.generators.chat.openai import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage

from haystack import Document, Pipeline
from ragmetrics_haystack import (
    AnswerExactMatchEvaluator,
    ContextRelevanceEvaluator,
    DocumentMAPEvaluator,
    DocumentMRREvaluator,
    DocumentNDCGEvaluator,
    DocumentRecallEvaluator,
    FaithfulnessEvaluator,
    LLMEvaluator,
    RecallMode,
)

QUESTIONS = ["Which is the most popular global sport?", "Who created the Python language?"]
CONTEXTS = [["The popularity of sports can be measured in various ways."], ["Python was created by Guido van Rossum."]]
ANSWERS = ["Football is the most popular sport.", "Python was created by George Lucas."]
OWN = {
    "instructions": "test-instruction",
    "inputs": [("predicted_answers", list[str])],
    "outputs": ["score"],
    "examples": [{"inputs": {"predicted_answers": "Football is popular."}, "outputs": {"score": 0}}],
}


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "test-api-key")


def patched(monkeypatch: pytest.MonkeyPatch, football: Any, python: Any) -> None:
    """OpenAI's generator answers by what the first message is about."""

    def run(self: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
        reply = (
            football if "Football" in kwargs["messages"][0].text or "sport?" in kwargs["messages"][0].text else python
        )
        if isinstance(reply, Exception):
            raise reply
        return {"replies": [ChatMessage.from_assistant(reply)]}

    monkeypatch.setattr("haystack.components.generators.chat.openai.OpenAIChatGenerator.run", run)


def test_faithfulness(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluator = FaithfulnessEvaluator()
    patched(
        monkeypatch,
        '{"statements": ["a", "b"], "statement_scores": [1, 0]}',
        '{"statements": ["c", "d"], "statement_scores": [1, 1]}',
    )
    results = evaluator.run(questions=QUESTIONS, contexts=CONTEXTS, predicted_answers=ANSWERS)
    assert results == {
        "individual_scores": [0.5, 1],
        "results": [
            {"score": 0.5, "statement_scores": [1, 0], "statements": ["a", "b"], "status": "evaluated"},
            {"score": 1, "statement_scores": [1, 1], "statements": ["c", "d"], "status": "evaluated"},
        ],
        "score": 0.75,
        "meta": None,
    }


def test_faithfulness_without_statements(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluator = FaithfulnessEvaluator()
    patched(
        monkeypatch,
        '{"statements": ["a", "b"], "statement_scores": [1, 0]}',
        '{"statements": [], "statement_scores": []}',
    )
    results = evaluator.run(questions=QUESTIONS, contexts=CONTEXTS, predicted_answers=ANSWERS)
    assert (results["individual_scores"], results["score"]) == ([0.5, 0], 0.25)
    assert results["results"][1] == {"statements": [], "statement_scores": [], "score": 0, "status": "evaluated"}


def test_context_relevance(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluator = ContextRelevanceEvaluator()
    patched(monkeypatch, '{"relevant_statements": ["a", "b"], "score": 1}', '{"relevant_statements": [], "score": 0}')
    results = evaluator.run(questions=QUESTIONS, contexts=CONTEXTS)
    assert results == {
        "results": [
            {"score": 1, "relevant_statements": ["a", "b"], "status": "evaluated"},
            {"score": 0, "relevant_statements": [], "status": "evaluated"},
        ],
        "score": 0.5,
        "individual_scores": [1, 0],
        "meta": None,
    }


def test_a_row_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluator, raising = ContextRelevanceEvaluator(raise_on_failure=False), ContextRelevanceEvaluator()
    patched(monkeypatch, '{"relevant_statements": ["c", "d"], "score": 1}', Exception("OpenAI API request failed."))
    results = evaluator.run(questions=QUESTIONS, contexts=CONTEXTS)
    assert results["score"] == results["individual_scores"][0] == 1
    assert math.isnan(results["individual_scores"][1])
    assert results["results"][1]["status"] == "error"
    with pytest.raises(ValueError, match="Error while generating response for prompt"):
        raising.run(questions=QUESTIONS, contexts=CONTEXTS)


def test_missing_parameters() -> None:
    with pytest.raises(ValueError, match="LLM evaluator expected input parameter"):
        FaithfulnessEvaluator().run()
    with pytest.raises(ValueError, match="LLM evaluator expected input parameter 'contexts' but received only"):
        ContextRelevanceEvaluator().run(questions=QUESTIONS)


def test_own_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluator = LLMEvaluator(**OWN)  # type: ignore[arg-type]
    patched(monkeypatch, '{"score": 0.5}', '{"score": 1}')
    assert isinstance(evaluator._chat_generator, OpenAIChatGenerator)
    assert evaluator._chat_generator.generation_kwargs == {"response_format": {"type": "json_object"}, "seed": 42}
    assert evaluator.run(predicted_answers=["Football", "x"])["results"] == [{"score": 0.5}] * 2  # its example says so
    assert evaluator.prepare_template().startswith(
        "Instructions:\ntest-instruction\n\nGenerate the response in JSON format"
    )


def test_a_key_that_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    for evaluator in (FaithfulnessEvaluator(), ContextRelevanceEvaluator(), LLMEvaluator(**OWN)):  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="None of the following authentication environment variables are set"):
            evaluator.warm_up()
        with pytest.raises(ValueError, match="None of the following authentication environment variables are set"):
            evaluator.run(questions=["q"], contexts=[["c"]], predicted_answers=["a"])


def test_doubles_of_unittest() -> None:
    reply = {"replies": [ChatMessage.from_assistant('{"score": 1}', meta={"usage": {"prompt_tokens": 3}})]}
    generator = MagicMock()
    generator.run.return_value = reply
    evaluator = LLMEvaluator(**OWN, chat_generator=generator, progress_bar=False)  # type: ignore[arg-type]
    outputs = {"results": [{"score": 1}], "meta": [{"usage": {"prompt_tokens": 3}}]}
    assert evaluator.run(predicted_answers=["a"]) == outputs
    generator.warm_up.assert_called_once_with()
    (messages,) = [call.kwargs["messages"] for call in generator.run.call_args_list]
    assert [message.role.value for message in messages] == ["user"]

    generator = Mock(spec=["run", "run_async"], run_async=AsyncMock(return_value=reply))
    evaluator = LLMEvaluator(**OWN, chat_generator=generator, progress_bar=False)  # type: ignore[arg-type]
    assert asyncio.run(evaluator.run_async(predicted_answers=["a"])) == outputs
    generator.run.assert_not_called()


def test_life_cycle() -> None:
    bare = Mock(spec=["run"])
    evaluator = FaithfulnessEvaluator(chat_generator=bare)
    evaluator.warm_up()
    evaluator.close()
    asyncio.run(evaluator.warm_up_async())
    asyncio.run(evaluator.close_async())

    sync = Mock(spec=["run", "warm_up", "close"])
    evaluator = FaithfulnessEvaluator(chat_generator=sync)
    asyncio.run(evaluator.warm_up_async())
    asyncio.run(evaluator.close_async())
    sync.warm_up.assert_called_once_with()
    sync.close.assert_called_once_with()

    names = ["run", "warm_up", "close", "warm_up_async", "close_async"]
    full = Mock(spec=names, warm_up_async=AsyncMock(), close_async=AsyncMock())
    evaluator = FaithfulnessEvaluator(chat_generator=full)
    asyncio.run(evaluator.warm_up_async())
    asyncio.run(evaluator.close_async())
    full.warm_up_async.assert_awaited_once_with()
    full.close_async.assert_awaited_once_with()
    full.warm_up.assert_not_called()


def test_in_a_pipeline() -> None:
    generator = MagicMock()
    generator.run.return_value = {"replies": [ChatMessage.from_assistant('{"score": 1}')]}
    pipeline = Pipeline()
    pipeline.add_component("own", LLMEvaluator(**OWN, chat_generator=generator, progress_bar=False))  # type: ignore[arg-type]
    assert pipeline.run({"own": {"predicted_answers": ["a"]}}) == {"own": {"results": [{"score": 1}], "meta": None}}


def documents(*rows: str) -> list[list[Document]]:
    return [[Document(content=text) for text in row.split(", ")] for row in rows]


TRUTHS = documents(
    "France",
    "9th century, 9th",
    "classical music, classical",
    "11th century, the 11th",
    "Denmark, Iceland and Norway",
    "10th century, 10th",
)
FOUND = documents(
    "France",
    "9th century, 10th century, 9th",
    "classical, rock music, dubstep",
    "11th, the 11th, 11th century",
    "Denmark, Norway, Iceland",
    "10th century, the first half of the 10th century, 10th, 10th",
)


def test_retrieval() -> None:
    outputs = DocumentMAPEvaluator().run(TRUTHS, FOUND)
    assert outputs["individual_scores"] == pytest.approx([1.0, 5 / 6, 0.5, 7 / 12, 0.5, 5 / 6])
    assert outputs["score"] == pytest.approx(sum([1.0, 5 / 6, 0.5, 7 / 12, 0.5, 5 / 6]) / 6)
    outputs = DocumentMRREvaluator().run(TRUTHS, FOUND)
    assert outputs == {"individual_scores": [1.0, 1.0, 1.0, 0.5, 1.0, 1.0], "score": pytest.approx(5.5 / 6)}
    outputs = DocumentRecallEvaluator(mode=RecallMode.MULTI_HIT).run(TRUTHS, FOUND)
    assert outputs == {"individual_scores": [1.0, 1.0, 0.5, 1.0, 0.5, 1.0], "score": pytest.approx(5 / 6)}
    assert DocumentRecallEvaluator().run(TRUTHS, FOUND) == {"individual_scores": [1.0] * 6, "score": 1.0}


def test_the_example_of_ndcg_with_the_right_number() -> None:
    outputs = DocumentNDCGEvaluator().run(
        ground_truth_documents=[[Document(content="France", score=1.0), Document(content="Paris", score=0.5)]],
        retrieved_documents=[[Document(content="France"), Document(content="Germany"), Document(content="Paris")]],
    )
    assert outputs == {"individual_scores": [pytest.approx(0.9502, abs=5e-5)], "score": pytest.approx(0.9502, abs=5e-5)}


def test_negative_grades_are_refused() -> None:
    truths = [[Document(content="A", score=1.0), Document(content="B", score=-1.0)]]
    with pytest.raises(ValueError, match="has the score -1.0: give 0 or more"):
        DocumentNDCGEvaluator().run(truths, [[Document(content="A")]])


def test_exact_match() -> None:
    outputs = AnswerExactMatchEvaluator().run(["Berlin", "Paris"], ["Berlin", "Lyon"])
    assert outputs == {"individual_scores": [1, 0], "score": 0.5}


def test_warnings_of_recall(caplog: pytest.LogCaptureFixture) -> None:
    outputs = DocumentRecallEvaluator().run([[Document(content="")]], [[Document(content="")]])
    assert outputs == {"individual_scores": [0.0], "score": 0.0}
    ending = "documents or none of them contain a valid comparison value. Score will be set to 0."
    assert f"There are no ground truth {ending}" in caplog.text
    assert f"There are no retrieved {ending}" in caplog.text

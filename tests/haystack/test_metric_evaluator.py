"""Any metric as a component: sockets, scores, failures, and pipelines that are saved and loaded."""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from haystack.components.embedders import MockDocumentEmbedder, MockTextEmbedder
from haystack.components.generators.chat import MockChatGenerator
from haystack.core.errors import SerializationError
from haystack.dataclasses import ChatMessage
from haystack.evaluation import EvaluationRunResult

from exchanges import EXCHANGES, VECTORS, WITH_EMBEDDINGS, Exchange, versions_of
from haystack import Document, Pipeline
from ragmetrics_core import InvalidInput, Metric, MissingInput, ModelError, Score
from ragmetrics_core.llms import LexicalJudge
from ragmetrics_core.metrics import (
    NDCG,
    AnswerRelevancy,
    ExactMatch,
    FactualCorrectness,
    Faithfulness,
    Recall,
    Relevancy,
    RubricScore,
)
from ragmetrics_haystack import FaithfulnessEvaluator, HaystackLLM, MetricEvaluator
from waiting import until_async


class Recorded:
    """A chat generator that answers from a recording."""

    def __init__(self, exchange: Exchange) -> None:
        self.exchange = exchange
        self.calls = 0

    def run(self, messages: list[Any]) -> dict[str, Any]:
        self.calls += 1
        system, user = messages
        return {"replies": [ChatMessage.from_assistant(self.exchange.reply_to(system.text, user.text))]}

    async def run_async(self, messages: list[Any]) -> dict[str, Any]:
        return self.run(messages)


def vector(text: str) -> list[float]:
    return VECTORS[text]


@pytest.mark.parametrize("exchange", [*EXCHANGES, WITH_EMBEDDINGS], ids=lambda exchange: exchange.name)
@pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])
def test_every_metric_scores_as_the_core_does(exchange: Exchange, *, asynchronous: bool) -> None:
    generator = Recorded(exchange)
    embedder = MockTextEmbedder(embedding_fn=vector)
    component = MetricEvaluator(exchange.metric, chat_generator=generator, embedder=embedder, progress_bar=False)  # type: ignore[arg-type]
    known = set(exchange.metric.inputs)
    inputs = {name: [value] for name, value in exchange.sample.items() if name in known}
    outputs = asyncio.run(component.run_async(**inputs)) if asynchronous else component.run(**inputs)
    assert outputs["individual_scores"] == [outputs["score"]] == [pytest.approx(exchange.value, abs=1e-12)]
    assert generator.calls == len(exchange.calls)
    (result,) = outputs["results"]
    score = Score.from_dict(result)
    assert (score.value, score.passing, score.metric) == (outputs["score"], exchange.passing, exchange.name)
    assert score.details["prompts"] == versions_of(exchange)


def test_reasons_and_costs(judge: Any) -> None:
    """The judge's own words are in the evidence, a sentence for people beside it, and the cost of all rows in ``meta``."""
    reply = ChatMessage.from_assistant(
        '{"reason": "because", "answer": "yes"}', meta={"usage": {"prompt_tokens": 7, "completion_tokens": 2}}
    )
    component = MetricEvaluator(Relevancy(), chat_generator=judge(reply), progress_bar=False)
    outputs = component.run(user_input=["q", "r"], response=["a", "a"], retrieved_contexts=[["c"], ["c"]])
    assert [row["details"]["reasons"] for row in outputs["results"]] == [["because"]] * 2
    assert [row["explanation"] for row in outputs["results"]] == [
        Score.from_dict(row).explain() for row in outputs["results"]
    ]
    assert outputs["meta"]["usage"] == {
        **outputs["results"][0]["usage"],
        "calls": 2,
        "prompt_tokens": 14,
        "completion_tokens": 4,
    }
    assert (
        MetricEvaluator(Relevancy()).run(user_input=[], response=[], retrieved_contexts=[])["meta"]["usage"]["calls"]
        == 0
    )


def sockets(component: Any) -> dict[str, tuple[Any, bool]]:
    return {name: (item.type, item.is_mandatory) for name, item in component.__haystack_input__._sockets_dict.items()}


def test_the_sockets_are_the_inputs_of_the_metric() -> None:
    assert sockets(MetricEvaluator(Faithfulness())) == {
        "user_input": (list[str], True),
        "response": (list[str], True),
        "retrieved_contexts": (list[list[str]] | list[list[Document]], True),
    }
    assert sockets(MetricEvaluator(Recall())) == {
        "retrieved_documents": (list[list[Document]], True),
        "reference_documents": (list[list[Document]], True),
    }
    assert sockets(MetricEvaluator(FactualCorrectness()))["user_input"] == (list[str] | None, False)
    assert all(not mandatory for _, mandatory in sockets(MetricEvaluator(RubricScore({1: "bad", 2: "good"}))).values())
    outputs = MetricEvaluator(NDCG()).__haystack_output__._sockets_dict  # type: ignore[attr-defined]
    assert {name: item.type for name, item in outputs.items()} == {
        "score": float,
        "individual_scores": list[float],
        "results": list[dict[str, Any]],
        "meta": dict[str, Any],
    }


@dataclass(frozen=True)
class Length(Metric):
    """Whether the response is as short as wished for."""

    most: int = 10

    def measure(self, response: str, wishes: Sequence[str], tone: Any = None) -> Score:
        return Score(float(len(response) <= self.most), details={"wishes": list(wishes), "tone": tone})


def test_a_metric_of_ones_own() -> None:
    component = MetricEvaluator(Length(most=3))
    assert sockets(component) == {
        "response": (list[str], True),
        "wishes": (list[list[str]] | list[list[Document]], True),
        "tone": (list[Any] | None, False),
    }
    outputs = component.run(response=["abc", "abcd"], wishes=[["short"], ["long"]], tone=[None, "harsh"])
    assert outputs["individual_scores"] == [1.0, 0.0]
    assert [row["details"] for row in outputs["results"]] == [
        {"wishes": ["short"], "tone": None},
        {"wishes": ["long"], "tone": "harsh"},
    ]


def test_documents_of_haystack() -> None:
    truths = [[Document(content="France", score=1.0), Document(content="Paris", score=0.5)], [Document(content="x")]]
    found = [[Document(content=name) for name in ("France", "Germany", "Paris")], []]
    outputs = MetricEvaluator(NDCG()).run(retrieved_documents=found, reference_documents=truths)
    assert outputs["individual_scores"] == [pytest.approx(0.9502344), 0.0]
    assert outputs["score"] == pytest.approx(0.9502344 / 2)


def test_a_metric_without_questions_needs_no_key() -> None:
    pipeline = Pipeline()
    pipeline.add_component("match", MetricEvaluator(ExactMatch()))
    outputs = pipeline.run({"match": {"response": ["a", "b"], "reference": ["a", "c"]}})["match"]
    assert (outputs["score"], outputs["individual_scores"]) == (0.5, [1.0, 0.0])


def test_a_metric_uses_its_own_models() -> None:
    component = MetricEvaluator(
        Faithfulness(llm=LexicalJudge()), chat_generator=MockChatGenerator("no question is expected")
    )
    outputs = component.run(user_input=["q"], response=["Paris is big."], retrieved_contexts=[["Paris is big."]])
    assert outputs["score"] == 1.0
    with pytest.raises(
        SerializationError, match="^faithfulness has its own llm, which cannot be saved: leave them out, and"
    ):
        component.to_dict()


def test_no_key_is_a_model_error() -> None:
    with pytest.raises(ModelError, match="OPENAI_API_KEY"):
        MetricEvaluator(Faithfulness()).run(user_input=["q"], response=["a"], retrieved_contexts=[["c"]])


@pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])
def test_rows_that_fail_and_rows_without_a_score(judge: Any, caplog: Any, *, asynchronous: bool) -> None:
    replies = {"none": '{"claims": []}', "bad": "dunno"}

    class Answers(judge):  # type: ignore[misc,valid-type]
        def _reply(self, messages: list[Any]) -> dict[str, Any]:
            data = messages[1].text
            if "lost" in data:
                raise RuntimeError("the line is dead")
            text = next((reply for word, reply in replies.items() if word in data), None)
            if text is None:
                text = '{"claims": ["c"]}' if '"claims"' not in data else json.dumps(VERDICT)
            return {"replies": [ChatMessage.from_assistant(text)]}

    VERDICT = {"verdicts": [{"number": 1, "reason": "r", "supported": True}]}
    responses: list[Any] = ["fine", "none", "lost", "bad", None, "  ", 5]
    inputs = {
        "user_input": ["q"] * len(responses),
        "response": responses,
        "retrieved_contexts": [["c"]] * len(responses),
    }
    component = MetricEvaluator(
        Faithfulness(), chat_generator=Answers("unused"), raise_on_failure=False, progress_bar=False
    )
    outputs = asyncio.run(component.run_async(**inputs)) if asynchronous else component.run(**inputs)
    assert outputs["score"] == 1.0
    assert outputs["individual_scores"][0] == 1.0
    assert all(map(math.isnan, outputs["individual_scores"][1:]))
    assert [row["state"] for row in outputs["results"]] == ["scored", "unscored"] + ["failed"] * 3 + [
        "unscored",
        "failed",
    ]
    assert (outputs["results"][5]["label"], outputs["results"][5]["reason"]) == ("no_answer", "response is blank")
    errors = [row["error"] for row in outputs["results"] if row["state"] == "failed"]
    assert errors[0] == "ModelError: Answers failed: RuntimeError: the line is dead"
    assert [error.partition(":")[0] for error in errors] == [
        "ModelError",
        "BadReply",
        "MissingInput",
        "InvalidInput",
    ]
    assert (
        "faithfulness failed for 4 out of 7 rows, which are left out of the score. The first error: ModelError"
        in caplog.text
    )
    EvaluationRunResult("run", {"question": inputs["user_input"]}, {"faithfulness": outputs}).aggregated_report()

    raising = MetricEvaluator(Faithfulness(), chat_generator=Answers("unused"), progress_bar=False)
    for response, expected in [("lost", ModelError), ("bad", ModelError), (None, MissingInput), (5, InvalidInput)]:
        with pytest.raises(expected):
            raising.run(user_input=["q"], response=[response], retrieved_contexts=[["c"]])


def test_inputs_that_are_refused() -> None:
    component = MetricEvaluator(ExactMatch())
    for inputs, message in [
        ({"response": ["a"]}, "exact_match needs the input 'reference': give a list with one item per row."),
        (
            {"response": ["a"], "reference": "a"},
            "exact_match: 'reference' must be a list with one item per row, got str.",
        ),
        (
            {"response": ["a"], "reference": ["a", "b"]},
            "exact_match: all inputs must be lists of the same length, got {'response': 1, 'reference': 2}.",
        ),
        (
            {"response": ["a"], "reference": ["a"], "x": [1]},
            "exact_match has no input 'x'; it has reference, response.",
        ),
    ]:
        with pytest.raises(ValueError) as caught:
            component.run(**inputs)
        assert str(caught.value) == message
    for wrong, name in [(ExactMatch, "ExactMatch"), ("exact_match", "str")]:
        with pytest.raises(
            InvalidInput, match=rf"^MetricEvaluator takes a metric such as Faithfulness\(\), got {name}$"
        ):
            MetricEvaluator(wrong)  # type: ignore[arg-type]


def test_no_rows() -> None:
    outputs = MetricEvaluator(ExactMatch()).run(response=[], reference=[])
    assert math.isnan(outputs["score"])
    assert outputs["individual_scores"] == outputs["results"] == []


def test_rows_run_side_by_side(judge: Any, sync_judge: Any) -> None:
    inputs = {"user_input": ["q"] * 24, "response": [f"a{n}" for n in range(24)], "retrieved_contexts": [["c"]] * 24}

    class Gathering(judge):  # type: ignore[misc,valid-type]
        async def run_async(self, messages: list[Any]) -> dict[str, Any]:
            self._enter(messages)
            try:
                assert await until_async(lambda: self.most_at_once >= 4)
                await asyncio.sleep(self._seconds)
                return self._reply(messages)
            finally:
                self._leave()

    for cls, least, most in [(Gathering, 4, 6), (sync_judge, 1, 1)]:
        generator = cls('{"claims": []}', seconds=0.01)
        component = MetricEvaluator(Faithfulness(), chat_generator=generator, max_concurrency=6, progress_bar=False)
        component.run(**inputs)
        asyncio.run(component.run_async(**inputs))
        assert least <= generator.most_at_once <= most


def test_a_generator_that_hangs_is_called_by_its_name(judge: Any) -> None:
    generator = judge('{"claims": []}', seconds=1.0)
    generator.model = "judge-1"
    component = MetricEvaluator(
        Faithfulness(),
        chat_generator=generator,
        progress_bar=False,
        raise_on_failure=False,
        max_retries=0,
        timeout=0.05,
    )
    (result,) = component.run(user_input=["q"], response=["a"], retrieved_contexts=[["c"]])["results"]
    assert re.fullmatch(r"ModelError: judge-1: no answer within 0\.\d+ seconds", result["error"])


def test_an_embedding_metric(judge: Any) -> None:
    generator = judge('{"questions": ["a", "b", "c"], "noncommittal": false}')
    for embedder in (MockTextEmbedder([1.0, 0.0]), MockDocumentEmbedder([1.0, 0.0])):
        component = MetricEvaluator(AnswerRelevancy(), chat_generator=generator, embedder=embedder, progress_bar=False)
        assert component.run(user_input=["q", "r"], response=["a", "b"])["individual_scores"] == [1.0, 1.0]
    with pytest.raises(ModelError, match="embedding model"):
        MetricEvaluator(AnswerRelevancy(), chat_generator=generator).run(user_input=["q"], response=["a"])


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"max_concurrency": 0}, "max_concurrency must be a whole number from 1, got 0"),
        ({"max_retries": -1}, "max_retries must be a whole number from 0, got -1"),
        ({"max_retries": True}, "max_retries must be a whole number from 0, got True"),
        ({"timeout": 0}, "timeout must be a positive number of seconds, got 0"),
        ({"timeout": "3"}, "timeout must be a positive number of seconds, got '3'"),
        ({"timeout": math.nan}, "timeout must be a positive number of seconds, got nan"),
        ({"json_mode": "json"}, "json_mode must be True, False or None, got 'json'"),
    ],
    ids=str,
)
def test_how_calls_are_made_is_checked_when_the_component_is_made(settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        MetricEvaluator(NDCG(), **settings)
    assert str(caught.value) == problem


def test_the_settings_of_drop_ins_and_bridges_are_checked_when_they_are_made() -> None:
    generator = MockChatGenerator("{}")
    with pytest.raises(InvalidInput, match="max_concurrency must be a whole number from 1, got 0"):
        FaithfulnessEvaluator(chat_generator=generator, max_concurrency=0)
    for setting in ("json_mode", "overlap"):
        with pytest.raises(InvalidInput, match=f"{setting} must be True, False or None, got 1"):
            HaystackLLM(generator, **{setting: 1})

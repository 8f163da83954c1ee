"""The offline judge answers every built-in prompt through the same reply formats as any model, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from ragmetrics_core import Metric, ModelError, Prompt, Score, run
from ragmetrics_core.embeddings import HashingEmbeddings
from ragmetrics_core.llms import LLM, LexicalJudge
from ragmetrics_core.metrics import (
    AnswerAccuracy,
    AnswerCorrectness,
    AnswerOrAbstain,
    AnswerRelevancy,
    ContextPrecision,
    ContextRecall,
    ContextRelevance,
    ContextUtilization,
    Correctness,
    CustomJudge,
    FactualCorrectness,
    Faithfulness,
    RefineFaithfulness,
    Relevancy,
    RelevantStatements,
    ResponseGroundedness,
    RubricScore,
    SinglePassFaithfulness,
)
from ragmetrics_core.replies import YesNoReply

JUDGE = LexicalJudge()

GOOD: Mapping[str, Any] = {
    "user_input": "What is the capital of France?",
    "response": "The capital of France is Paris.",
    "reference": "Paris is the capital of France.",
    "retrieved_contexts": ["Paris is the capital of France.", "Bananas are yellow."],
}
BAD: Mapping[str, Any] = {
    "user_input": "What is the capital of France?",
    "response": "Napoleon loved 12 horses.",
    "reference": "Paris is the capital of France.",
    "retrieved_contexts": ["Bananas are yellow.", "Grass is green."],
}


def score(metric: Metric, sample: Mapping[str, Any]) -> Score:
    for name, model in [("llm", JUDGE), ("embeddings", HashingEmbeddings())]:
        object.__setattr__(metric, name, model)
    return metric.score(sample)


@pytest.mark.parametrize(
    ("metric", "best", "worst"),
    [
        (Faithfulness(), 1.0, 0.0),
        (SinglePassFaithfulness(), 1.0, 0.0),
        (RefineFaithfulness(), 1.0, 0.0),
        (RefineFaithfulness(window=12), 1.0, 0.0),
        (ContextRecall(), 1.0, 0.0),
        (ContextPrecision(), 1.0, 0.0),
        (ContextUtilization(), 1.0, 0.0),
        (FactualCorrectness(), 1.0, 0.0),
        (AnswerCorrectness((1, 0)), 1.0, 0.0),
        (RelevantStatements(), 1.0, 0.0),
        (ContextRelevance(), 1.0, 0.0),
        (ResponseGroundedness(), 1.0, 0.0),
        (AnswerAccuracy(), 1.0, 0.0),
        (Correctness(), 5.0, 1.0),
    ],
    ids=lambda value: repr(value) if isinstance(value, Metric) else None,
)
def test_the_extremes_of_every_metric(metric: Metric, best: float, worst: float) -> None:
    assert (score(metric, GOOD).value, score(metric, BAD).value) == (best, worst)


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        (RefineFaithfulness(), 1.0),
        (ResponseGroundedness(), 1.0),
        (Relevancy(), 0.0),
        (Correctness(), 1.0),
        (Faithfulness(), None),
        (SinglePassFaithfulness(), None),
        (ContextUtilization(), 0.0),
    ],
    ids=lambda value: value.name if isinstance(value, Metric) else None,
)
def test_a_response_that_says_that_it_does_not_know(metric: Metric, value: float | None) -> None:
    """Nothing in it is made up, and nothing is answered, as the prompts have it."""
    assert score(metric, {**GOOD, "response": "I don't know."}).value == value


def test_ratings_and_answers_give_reasons() -> None:
    assert score(ContextRelevance(), GOOD).explain() == (
        "ratings 2 (the contexts hold 100% of the words of the question), 2 (the contexts hold 100% of the words of the question)"
    )
    assert score(RefineFaithfulness(), BAD).explain() == (
        "NO: no part of the context supports the response: the context holds 0% of the parts of the information"
    )


def test_answer_relevancy() -> None:
    good, bad = score(AnswerRelevancy(), GOOD), score(AnswerRelevancy(), BAD)
    assert good.value is not None
    assert bad.value is not None
    assert good.value > 0.5 > bad.value
    evasive = score(AnswerRelevancy(), {**GOOD, "response": "I don't know."})
    assert (evasive.value, evasive.reason) == (0.0, "the response is noncommittal")


def test_a_grade_without_a_reference_says_so() -> None:
    graded = score(Correctness(), {"user_input": GOOD["user_input"], "response": GOOD["response"]})
    assert graded.reason is not None
    assert graded.reason.startswith("without a reference, the answer holds words of the query to ")


def test_it_is_a_deterministic_instant_model_with_an_identity() -> None:
    assert isinstance(JUDGE, LLM)
    assert JUDGE.instant
    assert dict(JUDGE.identity) == {"provider": "lexical", "version": "7"}
    assert JUDGE.caveat.startswith("These scores are a lexical baseline")
    metric = Faithfulness(llm=JUDGE)
    assert asyncio.run(metric.ascore(GOOD)) == metric.score(GOOD)


@pytest.mark.parametrize(
    "metric",
    [
        RubricScore({1: "bad", 2: "good"}),
        CustomJudge("Polite?", ["response"], ["score"]),
        CustomJudge("Polite?", ["response"], ["score"], name="rate_answer"),
    ],
    ids=lambda metric: metric.name,
)
def test_what_it_cannot_answer_is_an_error_and_never_a_guess(metric: Metric) -> None:
    with pytest.raises(ModelError, match="the offline LexicalJudge cannot answer the prompt") as caught:
        score(metric, GOOD)
    assert caught.value.fatal


def test_a_prompt_of_ones_own_with_a_built_in_name() -> None:
    with pytest.raises(ModelError, match="cannot answer the prompt 'extract_claims'"):
        run(Prompt("Is it so?", YesNoReply(), name="extract_claims").ask(text="x"), JUDGE)


@pytest.mark.parametrize(
    ("response", "declines"),
    [
        ("In 1889.", "no"),
        ("I do not know.", "wholly"),
        ("It opened in 1889. I do not know who built it.", "partly"),
        ("  ", "wholly"),
        ("Ich weiß es nicht.", "wholly"),
    ],
)
def test_refusals_are_recognised(response: str, declines: str) -> None:
    contexts = ["The tower opened in 1889."]
    score = AnswerOrAbstain(llm=JUDGE).score(
        user_input="When was the tower opened?", response=response, retrieved_contexts=contexts
    )
    assert (score.details["contexts_suffice"], score.details["response_declines"]) == ("yes", declines)
    score = AnswerOrAbstain(llm=JUDGE).score(
        user_input="Who is the mayor of Lyon?", response=response, retrieved_contexts=contexts
    )
    assert score.details["contexts_suffice"] == "no"
    score = AnswerOrAbstain(llm=JUDGE).score(user_input="Who?", response=response, retrieved_contexts=[])
    assert score.details["contexts_suffice"] == "no"


@pytest.mark.parametrize("mark", ["[1]", "[^2]", "[1, 3]", "[1][2]", "【4†source】"])
def test_a_citation_is_no_fact_that_needs_support(mark: str) -> None:
    fields = {"user_input": "When was it built?", "retrieved_contexts": ["The lighthouse was built in 1874."]}
    cited = Faithfulness(llm=JUDGE).score(response=f"The lighthouse was built in 1874 {mark}.", **fields)
    assert cited.value == 1.0
    invented = Faithfulness(llm=JUDGE).score(response=f"The lighthouse was built in 1847 {mark}.", **fields)
    assert invented.value == 0.0

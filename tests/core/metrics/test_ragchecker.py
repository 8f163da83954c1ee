"""The eleven metrics of RAGChecker: its authors' example replayed through our formulas, and what a row of all of them costs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.metrics.of_eight_calls import EVERYTHING
from ragmetrics_core import Ask, Metric, evaluate
from ragmetrics_core.metrics import (
    NoiseSensitivity,
    ragchecker_metrics,
)

NAMES = {
    "factual_precision": "precision",
    "factual_recall": "recall",
    "factual_f1": "f1",
    "context_recall": "claim_recall",
    "passage_precision": "context_precision",
    "claim_utilization": "context_utilization",
    "noise_sensitivity_relevant": "noise_sensitivity_in_relevant",
    "noise_sensitivity_irrelevant": "noise_sensitivity_in_irrelevant",
    "hallucination": "hallucination",
    "self_knowledge": "self_knowledge",
    "faithfulness": "faithfulness",
}
"""Our names of the eleven, and those of RAGChecker."""


class Checked:
    """A judge that knows the verdicts on one row: claims by text, verdicts by claim and by context."""

    instant = True

    def __init__(self, claims: Mapping[str, Sequence[str]], supports: Mapping[tuple[str, str], str]) -> None:
        self.claims, self.supports = claims, supports
        self.asks = 0

    def generate(self, ask: Ask) -> str:
        self.asks += 1
        if ask.prompt.name == "extract_claims":
            return json.dumps({"claims": self.claims[ask.inputs["answer"]]})
        contexts = list(enumerate(ask.inputs["contexts"], 1))
        rows = []
        for number, claim in enumerate(ask.inputs["claims"], 1):
            said = {at: self.supports.get((claim, context), "Neutral") for at, context in contexts}
            by = [at for at, verdict in said.items() if verdict == "Entailment"]
            against = [at for at, verdict in said.items() if verdict == "Contradiction"]
            rows.append(
                {"number": number, "reason": "", "supported_by": by, "contradicted_by": against, "supported": bool(by)}
            )
        return json.dumps({"verdicts": rows})


def judge_of(result: Mapping[str, Any]) -> Checked:
    said = [f"{' '.join(claim)} (response, {at})" for at, claim in enumerate(result["response_claims"])]
    wanted = [f"{' '.join(claim)} (reference, {at})" for at, claim in enumerate(result["gt_answer_claims"])]
    response, reference = result["response"], result["gt_answer"]
    passages = [passage["text"] for passage in result["retrieved_context"]]
    supports = {
        **{(claim, reference): verdict for claim, verdict in zip(said, result["answer2response"], strict=True)},
        **{(claim, response): verdict for claim, verdict in zip(wanted, result["response2answer"], strict=True)},
    }
    for claims, tables in ((said, result["retrieved2response"]), (wanted, result["retrieved2answer"])):
        for claim, verdicts in zip(claims, tables, strict=True):
            supports |= {(claim, passage): verdict for passage, verdict in zip(passages, verdicts, strict=True)}
    return Checked({response: said, reference: wanted}, supports)


def row_of(result: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "user_input": result["query"],
        "response": result["response"],
        "reference": result["gt_answer"],
        "retrieved_contexts": [passage["text"] for passage in result["retrieved_context"]],
    }


def values(metrics: Sequence[Metric], row: Mapping[str, Any], judge: Checked) -> dict[str, float | None]:
    evaluation = evaluate([row], metrics, llm=judge, progress=False)
    return {metric.name: evaluation.scores[metric.name][0].value for metric in metrics}


@pytest.mark.parametrize("per_passage", [False, True])
def test_the_authors_example_has_the_authors_values(shared_data: Path, *, per_passage: bool) -> None:
    text = (shared_data / "ragchecker_example" / "checking_outputs.json").read_text(encoding="utf-8")
    published = json.loads(text)
    metrics = ragchecker_metrics(per_passage=per_passage)
    found: list[dict[str, float | None]] = []
    for result in published["results"]:
        judge = judge_of(result)
        scores = values(metrics, row_of(result), judge)
        assert judge.asks == (4 + 2 * len(result["retrieved_context"]) if per_passage else 6)
        assert {NAMES[name]: value for name, value in scores.items()} == pytest.approx(result["metrics"], abs=1e-12)
        found.append(scores)
    printed = {name: value for part in published["metrics"].values() for name, value in part.items()}
    assert printed.keys() == set(NAMES.values())
    for ours, theirs in NAMES.items():
        mean = sum(scores[ours] or 0.0 for scores in found) / len(found)
        assert round(100 * mean, 1) == printed[theirs]


@pytest.mark.parametrize("alone", range(11))
def test_a_score_does_not_depend_on_what_runs_beside_it(alone: int) -> None:
    row = {"user_input": "q", "response": "said", "reference": "wanted", "retrieved_contexts": ["one", "two"]}
    claims = {"said": ["a", "b", "c"], "wanted": ["d", "e"]}
    supports = {("a", "one"): "Entailment", ("a", "wanted"): "Entailment", ("b", "two"): "Entailment"}
    supports |= {("d", "one"): "Entailment", ("d", "said"): "Entailment", ("c", "one"): "Contradiction"}
    together = values(ragchecker_metrics(), row, Checked(claims, supports))
    metric = ragchecker_metrics()[alone]
    assert values([metric], row, Checked(claims, supports)) == {metric.name: together[metric.name]}


ENTAILED = st.sampled_from(["Entailment", "Neutral", "Contradiction"])


@given(st.data())
def test_one_call_windows_and_single_passages_mean_the_same(data: st.DataObject) -> None:
    said, wanted = ["a", "b", "c"], ["d", "e"]
    passages = ["one one", "two two", "three three"]
    supports = {
        (claim, text): data.draw(ENTAILED)
        for claims, other in ((said, "wanted"), (wanted, "said"))
        for claim in claims
        for text in (*passages, other)
    }
    row = {"user_input": "q", "response": "said", "reference": "wanted", "retrieved_contexts": passages}
    settings: list[dict[str, Any]] = [{}, {"per_passage": True}, {"window": 4}, {"window": 4, "per_passage": True}]
    first, *others = (
        values(ragchecker_metrics(**setting), row, Checked({"said": said, "wanted": wanted}, supports))
        for setting in settings
    )
    assert all(other == first for other in others)


def test_where_there_is_nothing_to_count_there_is_no_score() -> None:
    row = {"user_input": "q", "response": "said", "reference": "wanted", "retrieved_contexts": ["one"]}
    claims: dict[str, list[str]] = {"said": [], "wanted": ["d"]}
    evaluation = evaluate([row], ragchecker_metrics(), llm=Checked(claims, {}), progress=False)
    reasons = {name: (scores[0].value, scores[0].reason) for name, scores in evaluation.scores.items()}
    silent = (None, "the response makes no claims")
    assert reasons == {
        "factual_precision": silent,
        "factual_recall": (0.0, None),
        "factual_f1": (0.0, "the response makes no claims"),
        "context_recall": (0.0, None),
        "passage_precision": (0.0, None),
        "claim_utilization": (None, "the contexts support no claim of the reference"),
        "noise_sensitivity_relevant": silent,
        "noise_sensitivity_irrelevant": silent,
        "hallucination": silent,
        "self_knowledge": silent,
        "faithfulness": silent,
    }
    claims = {"said": ["a"], "wanted": []}
    evaluation = evaluate([row], ragchecker_metrics(), llm=Checked(claims, {}), progress=False)
    unknown = (None, "the reference makes no claims")
    reasons = {name: (scores[0].value, scores[0].reason) for name, scores in evaluation.scores.items()}
    assert reasons == {
        "factual_precision": (0.0, None),
        "factual_recall": unknown,
        "factual_f1": unknown,
        "context_recall": unknown,
        "passage_precision": unknown,
        "claim_utilization": unknown,
        "noise_sensitivity_relevant": unknown,
        "noise_sensitivity_irrelevant": unknown,
        "hallucination": (1.0, None),
        "self_knowledge": (0.0, None),
        "faithfulness": (0.0, None),
    }


def test_low_is_good_where_it_is() -> None:
    lower = [metric.name for metric in ragchecker_metrics() if metric.higher_is_better is False]
    assert lower == ["noise_sensitivity_relevant", "noise_sensitivity_irrelevant", "hallucination", "self_knowledge"]


def test_each_kind_of_noise_has_its_own_column() -> None:
    assert NoiseSensitivity().name == "noise_sensitivity_relevant"
    assert NoiseSensitivity(relevant=False).name == "noise_sensitivity_irrelevant"
    assert NoiseSensitivity(relevant=False).to_dict()["settings"] == {"relevant": False}
    assert NoiseSensitivity.from_dict(NoiseSensitivity(relevant=False).to_dict()) == NoiseSensitivity(relevant=False)


def test_everything_about_claims_declining_and_citations_costs_eight_calls() -> None:
    row = {
        "user_input": "q",
        "response": "It is said [1]. It is not said [2].",
        "reference": "wanted",
        "retrieved_contexts": ["one", "two"],
    }
    statements = ["It is said.", "It is not said."]
    claims = {row["response"]: ["a"], "wanted": ["d"]}
    supports = {(statements[0], "one"): "Entailment", ("a", "one"): "Entailment", ("a", "wanted"): "Entailment"}

    class Judge(Checked):
        def generate(self, ask: Ask) -> str:
            if ask.prompt.name != "judge_abstention":
                return super().generate(ask)
            self.asks += 1
            return '{"reason": "", "contexts_suffice": "yes", "response_declines": "no"}'

    judge = Judge(claims, supports)  # type: ignore[arg-type]
    found = values(EVERYTHING, row, judge)
    assert judge.asks == 8
    assert (found["faithfulness"], found["citation_recall"], found["answer_or_abstain"]) == (1.0, 0.5, 1.0)

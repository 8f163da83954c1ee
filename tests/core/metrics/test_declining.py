"""The table of what metrics make of an answer that declines: all metrics are in it, and another judge comes to the same."""

from __future__ import annotations

import pytest
from declining import NOTES, ROW, SET_UP, treatment

from ragmetrics_core import evaluate
from ragmetrics_core.llms import LexicalJudge
from ragmetrics_core.metrics import AnswerOrAbstain, catalogue

ENTRIES = {entry.name: entry for entry in catalogue()}


def test_every_metric_is_treated_and_no_note_is_left_over() -> None:
    assert {*NOTES, *SET_UP} <= {*ENTRIES}
    kinds = {name: treatment(entry).split(":")[0].split(",")[0] for name, entry in ENTRIES.items()}
    assert {*kinds.values()} == {
        "0",
        "1",
        "unscored",
        "the judge decides",
        "as its jurors decide",
        "does not look at the response",
    }


def test_metrics_of_the_claims_citations_and_quotations_of_the_response_are_unscored() -> None:
    unscored = {name for name, entry in ENTRIES.items() if treatment(entry).startswith("unscored")}
    assert unscored >= {
        "citation_precision",
        "fabricated_citations",
        "faithfulness",
        "hallucination",
        "misattribution",
        "noise_sensitivity",
        "quote_accuracy",
        "self_knowledge",
        "single_pass_faithfulness",
    }


RULED = [
    name
    for name, entry in ENTRIES.items()
    # the offline judge cannot tell whether contexts suffice
    if treatment(entry)[0] in "0u" and name != "answer_or_abstain"
]


@pytest.mark.parametrize("name", RULED)
def test_where_a_rule_decides_the_offline_judge_comes_to_the_same(name: str) -> None:
    metric = ENTRIES[name].cls()
    result = evaluate([ROW], metric, llm=LexicalJudge(), embeddings="hashing", progress=False)
    result.raise_for_errors()
    (value,) = result[metric]
    assert ("unscored" if value is None else f"{value:g}") == treatment(ENTRIES[name]).split(":")[0]


def test_the_response_that_is_asked_about_declines() -> None:
    assert AnswerOrAbstain(llm=LexicalJudge()).score(ROW).details["response_declines"] == "wholly"

"""Citation recall: its recorded exchange, the words it asks with, and its edges."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from core.metrics.citation_calls import CHECKED, CITING, WORDS
from core.metrics.claim_calls import sides
from core.metrics.contract import MetricContract
from ragmetrics_core import Document, InvalidInput, evaluate
from ragmetrics_core.metrics import (
    CitationPrecision,
    CitationRecall,
    FabricatedCitations,
    Misattribution,
    UncitedClaims,
)
from ragmetrics_core.testing import ScriptedLLM
from recording import Exchange

EXCHANGES = [
    # of four statements only the first cites a passage that supports it
    Exchange(CitationRecall(), [CHECKED], 1 / 4, sample=CITING),
]


class TestCitationRecall(MetricContract):
    exchanges = EXCHANGES
    words = WORDS
    judges_as_a_whole = False


def test_a_response_that_cites_nothing_is_the_worst_and_costs_nothing() -> None:
    score = CitationRecall(llm=ScriptedLLM({})).score({**CITING, "response": "She was born in London. Where else?"})
    assert (score.value, score.reason, score.usage.calls) == (0.0, "the response cites nothing", 0)
    assert score.details["statements"] == [{"claim": "She was born in London.", "citations": [], "span": [0, 23]}]


def test_a_response_without_statements_is_unscored() -> None:
    score = CitationRecall(llm=ScriptedLLM({})).score({**CITING, "response": "# Who knows?"})
    assert (score.value, score.reason) == (None, "the response makes no statements")


def test_the_evidence_tells_what_is_cited_and_where() -> None:
    score = CitationRecall(llm=ScriptedLLM({"verify_claims": [CHECKED.reply]})).score(CITING)
    third = score.details["verdicts"][2]
    assert third == {
        "claim": "Babbage built an engine.",
        "supported": False,
        "reason": "reason 3",
        "verdict": "not stated",
        "supported_by": [],
        "contradicted_by": [],
        "citations": [{"marker": "1", "passages": [1]}, {"marker": "3", "passages": []}],
        "span": [54, 85],
    }


def test_ids_of_documents_are_citations() -> None:
    documents = [Document("one", id="doc-1"), Document("two", id="doc-2")]
    row = {**CITING, "response": "She was born in London [doc-1].", "retrieved_documents": documents}
    assert CitationRecall(llm=ScriptedLLM({"verify_claims": [sides([1])]})).score(row).value == 1.0
    with pytest.raises(
        InvalidInput, match=r"^citation_recall: retrieved_documents has 1 items, but retrieved_contexts has 2: "
    ):
        CitationRecall(llm=ScriptedLLM({})).score({**row, "retrieved_documents": documents[:1]})


def test_passage_by_passage_and_in_windows_the_score_is_the_same() -> None:
    halves = [sides([1], [1], [], []), sides([], [], [], [])]
    for metric in (CitationRecall(per_passage=True), CitationRecall(window=21)):
        judge = ScriptedLLM({"verify_claims": list(halves)})
        score = replace(metric, llm=judge).score(CITING)
        assert (score.value, score.usage.calls) == (1 / 4, 2)


def test_all_metrics_of_citations_cost_one_call() -> None:
    judge = ScriptedLLM({"verify_claims": [CHECKED.reply]})
    metrics = [CitationRecall(), CitationPrecision(), Misattribution(), FabricatedCitations(), UncitedClaims()]
    found = evaluate([CITING], metrics, llm=judge, progress=False)
    assert len(judge.asks) == 1
    assert [found.scores[metric.name][0].value for metric in metrics] == [1 / 4, 1 / 5, 1 / 3, 1 / 5, 1 / 4]


def test_settings_are_checked() -> None:
    with pytest.raises(InvalidInput, match=r"^citation_recall: the pattern for citations '\\\\d' has 0 groups: put "):
        CitationRecall(pattern=r"\d")
    with pytest.raises(InvalidInput, match="citation_recall: per_passage must be True or False, got 1"):
        CitationRecall(per_passage=1)  # type: ignore[arg-type]
    again = CitationRecall.from_dict(CitationRecall(pattern=r"<(\d)>").to_dict())
    assert again == CitationRecall(pattern=r"<(\d)>")


def test_scores_say_what_was_counted() -> None:
    """That all statements are supported says nothing of the passages that they cite."""
    row = {
        "user_input": "What is there?",
        "response": "The tower is red [2]. Lyon is a city [1]. The tower is old.",
        "retrieved_contexts": ["The tower is red and old.", "Lyon is a city."],
    }
    sides = [(1, 1), (2, 2), (3, 1)]
    verdicts = [{"number": number, "reason": "", "for": [by], "against": []} for number, by in sides]
    judge = ScriptedLLM(*[json.dumps({"verdicts": verdicts})] * 3)
    scores = [metric(llm=judge).score(row) for metric in (CitationRecall, CitationPrecision, Misattribution)]
    assert [(score.value, score.explain()) for score in scores] == [
        (0.0, "0 of 3 statements supported by a passage that they cite"),
        (0.0, "0 of 2 citations of a passage that supports their statement"),
        (1.0, "2 of 2 statements with citations supported by other passages only"),
    ]

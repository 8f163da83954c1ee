"""The guide for users of LlamaIndex's evaluators: no name is missing, and what it says of the same replies is so."""

from __future__ import annotations

import re
from typing import Any

import llama_index.core.evaluation as theirs
import pytest
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata
from llama_index.core.llms.callbacks import llm_completion_callback

import ragmetrics_core.metrics
import ragmetrics_llama_index as ours
from source_tree import ROOT

PAGE = (ROOT / "docs" / "coming-from-llama-index.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `(\w+)` \| `(\w+)` \| (.+) \|$", PAGE[: PAGE.index("What the inputs are called")], re.MULTILINE)


class Says(CustomLLM):
    """A judge that always replies with the same text."""

    text: str

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata()

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **settings: Any) -> CompletionResponse:
        return CompletionResponse(text=self.text)

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **settings: Any) -> Any:
        raise NotImplementedError


def test_every_name_is_on_the_page() -> None:
    assert {name for name, *_ in ROWS} == set(theirs.__all__) - {"RelevanceEvaluator"}
    assert not hasattr(theirs, "RelevanceEvaluator")


@pytest.mark.parametrize(("name", "here", "plain"), ROWS)
def test_every_name_on_the_page_exists(name: str, here: str, plain: str) -> None:
    assert here in ours.__all__
    own = plain.startswith("LlamaIndex's own")
    assert (getattr(ours, here) is getattr(theirs, name)) is own
    if not own:
        assert plain.strip("`") in ragmetrics_core.metrics.__all__
    for code in re.findall(r"; `(\w+)`", plain):
        assert code in ours.__all__


GIVEN = {"query": "q", "response": "a", "contexts": ["c"], "reference": "r", "second_response": "b"}


@pytest.mark.parametrize(
    ("name", "reply", "score", "passing"),
    [
        ("FaithfulnessEvaluator", "YES", 1.0, True),
        ("FaithfulnessEvaluator", "No, this was announced yesterday", 0.0, False),
        ("FaithfulnessEvaluator", "Partially", None, None),
        ("CorrectnessEvaluator", "4.5", 4.5, True),
        ("CorrectnessEvaluator", "Score: 4\nGood", 4.0, True),
        ("CorrectnessEvaluator", "9\nGood", None, None),
        ("AnswerRelevancyEvaluator", "ok\n[RESULT] 2", 1.0, True),
        ("ContextRelevancyEvaluator", "ok\n[RESULT] 8", None, None),
        ("GuidelineEvaluator", "It passes.", None, None),
        ("PairwiseComparisonEvaluator", "He wrote [[A]] but [[B]]", None, None),
    ],
)
def test_the_same_reply(name: str, reply: str, score: float | None, passing: bool | None) -> None:
    result = getattr(ours, name)(llm=Says(text=reply)).evaluate(**GIVEN)
    assert (result.score, result.passing, result.invalid_result) == (score, passing, score is None)


def test_nothing_retrieved() -> None:
    result = ours.FaithfulnessEvaluator(llm=Says(text="YES")).evaluate(**{**GIVEN, "contexts": []})
    assert (result.score, result.invalid_result, result.label) == (None, True, "no_retrieval")
    for metric in (ours.HitRate(), ours.MRR()):
        assert metric.compute(expected_ids=["1"], retrieved_ids=[]).score == 0.0
